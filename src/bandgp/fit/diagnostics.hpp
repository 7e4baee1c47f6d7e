// SPDX-License-Identifier: Apache-2.0
// How well a fit describes its own data: every observation against its prediction from all the others.
#pragma once
#include <span>
#include <vector>

#include "bandgp/gp/posterior.hpp"

namespace bandgp {

struct Diagnostics {
  double loo_nmse = kUnset;     // Σ(y − μ)² / Σ(y − ȳ)²: 0 is perfect, 1 no better than the average
  double loo_nlpd = kUnset;     // mean of −log N(y; μ, v), nats an observation
  double coverage_95 = kUnset;  // share of the observations inside μ ± 1.96 √v
  std::vector<double> standardised;  // (y − μ)/√v, in the order of Series::value
};

/// `left_out` is what Posterior::leave_one_out() says about this series.
Diagnostics diagnose(const Series& series, const LeaveOneOut& left_out);

/// How many of the Φ(z) fall into each of `bins` equal parts of [0, 1]: a flat histogram where z is standard
/// normal.
std::vector<Index> pit_histogram(std::span<const double> z, Index bins);

/// Sample autocorrelation at lags 1 … `lags` (fewer where z is shorter): 0 ± 1.96/√n for white noise.
std::vector<double> autocorrelation(std::span<const double> z, Index lags);

}  // namespace bandgp
