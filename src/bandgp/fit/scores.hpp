// SPDX-License-Identifier: Apache-2.0
// Predictions against what was observed: on held-out folds, and leaving out one by one.
#pragma once
#include <span>

#include "bandgp/kernel/kernel.hpp"

namespace bandgp {

/// Errors of predictions.  Lower is better but for the coverage, which should be 0.95.
struct Scores {
  double nmse = kUnset;           // Σ(y − ŷ)² / Σ(y − ȳ)², ȳ of the held-out values
  double nlpd_joint = kUnset;     // −log N(y; ŷ, Cov + noise) of all held-out values together
  double nlpd_marginal = kUnset;  // the same of each by itself, on average
  double crps = kUnset;           // in the values' unit, on average
  double coverage_95 = kUnset;    // share inside the 95 % intervals
};
/// `covariance` of the observations, row-major, or empty: no joint density then.
Scores score(std::span<const double> truth, std::span<const double> mean, std::span<const double> variance,
             std::span<const double> covariance);

}  // namespace bandgp
