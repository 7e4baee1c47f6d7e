// SPDX-License-Identifier: Apache-2.0
// The dense answer to a problem, with the errors that double may make on the way to it, and where to ask for
// it.
#pragma once
#include <algorithm>
#include <cmath>
#include <iostream>
#include <optional>
#include <vector>

#include "support/analytic_gradient.hpp"
#include "support/isa.hpp"
#include "support/problems.hpp"

namespace support {

/// The dense model, solved, with the errors that double may make in it.
struct Truth {
  dense::Problem problem;
  std::optional<dense::Solved> solved;
  Real condition, prior;

  explicit Truth(const Case& c)
      : problem(cut_problem(c)),
        solved(dense::solve_gls(problem)),
        condition(support::condition(dense::covariance(problem))),
        prior(dense::kernel(problem, 0)) {}
  /// Positive definite, and clearly so.
  bool usable() const { return solved && condition < 1e12L; }
  Real mean_error(Real mean) const {
    const Real spread = std::sqrt(prior * (static_cast<Real>(problem.size()) + solved->quadratic));
    return std::max(1e-8L * (std::abs(mean) + std::sqrt(prior)),
                    4 * u * (condition * spread + 8 * std::abs(mean)));
  }
  Real variance_error(Real variance) const {
    return std::max(1e-8L, 16 * u * condition) * std::max(prior, std::abs(variance));
  }
};

/// At, between, just outside and far outside the data, in no order.
std::vector<double> test_times(Random& random, const Case& c);

/// The largest error / allowance seen, worth knowing when all is well.
struct Used {
  Real nll = 0, gradient = 0, mean = 0, variance = 0, loo = 0;
  int compared = 0;
  /// `problems` is how many the loop was over.
  void report(int problems) const {
    std::cout << compared << " compared; used of the allowance: loss " << static_cast<double>(nll)
              << ", gradient " << static_cast<double>(gradient) << ", mean " << static_cast<double>(mean)
              << ", variance " << static_cast<double>(variance) << ", leave-one-out "
              << static_cast<double>(loo) << '\n';
    expect_seen(compared, problems);
  }
};

/// |actual − expected| ≤ allowed, noted in `used`.
void expect_within(Real actual, Real expected, Real allowed, Real& used);

/// Loss (user's units) and gradient against the dense ones: 1e-10 and 1e-8, or a backward error of u ‖A‖.
void expect_likelihood(double nll, const std::vector<double>& gradient, const Truth& truth, Used& used);

/// Mean, variance, covariance and, where there is one, leave-one-out against the dense ones.
void expect_posterior(bandgp::Posterior& posterior, const Truth& truth, const std::vector<double>& times,
                      const dense::Prediction& expected, const std::optional<dense::LeaveOneOut>& loo,
                      Used& used);

/// The same likelihood from two representations, each within `nats` of the exact one.
void expect_same_likelihood(const bandgp::EvaluationResult& a, const bandgp::EvaluationResult& b,
                            double nats);

}  // namespace support
