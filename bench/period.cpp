// SPDX-License-Identifier: Apache-2.0
// A periodogram of a million irregular times, and the peaks of a hundred thousand.  tools/bench_astropy.py
// sets the first against astropy.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <cmath>

#include "bandgp/period/periods.hpp"
#include "support.hpp"

namespace {

using namespace bandgp;

Samples irregular_samples(Index n) {
  return samples_of(
      bench::irregular_series(n, [](double t) { return std::sin(0.01 * t) + std::sin(0.3 * t); }));
}

void periodogram(benchmark::State& state) {
  const Samples samples = irregular_samples(state.range(0));
  const FrequencyGrid grid = grid_for(samples, {});
  const BaselineColumns columns(samples, Baseline::constant);
  const std::vector<double> residual = columns.remove_from(samples, samples.value);
  for (auto _ : state) benchmark::DoNotOptimize(Periodogram(samples, columns, grid).gains(residual));
  state.SetLabel(fmt::format("{} frequencies", grid.count));
}

void period_peaks(benchmark::State& state) {
  const Samples samples = irregular_samples(state.range(0));
  for (auto _ : state) benchmark::DoNotOptimize(find_periods(samples));
}

BENCHMARK(periodogram)->ArgName("n")->Arg(1'000'000)->Unit(benchmark::kMillisecond);
BENCHMARK(period_peaks)->ArgName("n")->Arg(100'000)->Unit(benchmark::kMillisecond);

}  // namespace
