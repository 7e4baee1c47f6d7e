// SPDX-License-Identifier: Apache-2.0
// What several benchmarks share: the series they run on, and the peer they are measured against.
#pragma once
#include <benchmark/benchmark.h>

#include <cmath>
#include <random>
#include <vector>

#include "bandgp/base/aligned.hpp"
#include "bandgp/series/series.hpp"

extern "C" void dpbtrf_(const char* uplo, const int* n, const int* k, double* ab, const int* ld, int* info);

namespace bench {

using bandgp::Index;

/// Irregular times at mean spacing 1, a curve and noise of 0.3.
template <class Curve>
bandgp::Series irregular_series(Index n, Curve curve) {
  std::mt19937_64 generator(1);
  std::uniform_real_distribution<double> gap(0.5, 1.5);
  std::normal_distribution<double> normal;
  std::vector<double> time, value;
  double t = 0;
  for (Index i = 0; i < n; ++i) {
    time.push_back(t += gap(generator));
    value.push_back(curve(t) + 0.3 * normal(generator));
  }
  return bandgp::make_series(time, value);
}

/// Entry at distance `lag` of a well-conditioned banded matrix: an SE kernel that fits the band, plus noise.
inline double entry(Index lag, Index k) {
  const double r = 6.0 * static_cast<double>(lag) / static_cast<double>(k);
  return lag == 0 ? 1.5 : 0.5 * std::exp(-0.5 * r * r);
}

/// LAPACK's band Cholesky of such a matrix; filling it is not counted.
inline void dpbtrf(benchmark::State& state, Index n, Index k) {
  const int rows = static_cast<int>(n), width = static_cast<int>(k), ld = width + 1;
  bandgp::AlignedBuffer ab;  // huge pages for LAPACK too
  ab.reserve(n * (k + 1));
  for (auto _ : state) {
    state.PauseTiming();
    for (Index j = 0; j < n; ++j) {
      for (Index lag = 0; lag <= k; ++lag) ab.data()[j * (k + 1) + lag] = entry(lag, k);
    }
    state.ResumeTiming();
    int info = 0;
    dpbtrf_("L", &rows, &width, ab.data(), &ld, &info);
    if (info != 0) state.SkipWithError("dpbtrf failed");
  }
}

}  // namespace bench
