// SPDX-License-Identifier: Apache-2.0
// What the data say about the curve: mean, variance, covariance, samples anywhere, and leave-one-out. [theory
// §2] Takes and returns the user's units.  Variances include the uncertainty of estimated mean coefficients.
#pragma once
#include <cstdint>

#include "bandgp/gp/likelihood.hpp"

namespace bandgp {

struct Prediction {
  std::vector<double> mean;
  std::vector<double> variance;           // of the latent curve
  std::vector<double> variance_observed;  // of a new observation: latent + noise
};

/// For each observation, in the order of Series::value: its prediction from all the others.
struct LeaveOneOut {
  std::vector<double> mean, variance;  // variance of the observation itself, its own error included
};

class Posterior {
 public:
  /// The model in the user's units.  Throws std::runtime_error when A is not positive definite or too large
  /// at θ.
  Posterior(std::shared_ptr<const Series> series, const Model& model,
            std::unique_ptr<Representation> representation);

  /// At any finite times, in any order.
  Prediction predict(std::span<const double> times, bool with_variance = true);
  /// Latent covariance, row-major; memory is times² doubles.
  std::vector<double> covariance(std::span<const double> times);
  /// `count` draws of the latent curve, one row each; the same seed gives the same draws.
  std::vector<double> sample(std::span<const double> times, Index count, std::uint64_t seed);
  LeaveOneOut leave_one_out();

  const Likelihood& likelihood() const { return likelihood_; }  // nll in the user's units, the rest internal
  const Model& model() const { return model_; }
  const Series& series() const { return *series_; }
  /// Mean coefficients in the user's units: value at time 0, then slope.
  std::vector<double> mean_coefficients() const {
    return evaluator_.mean_in_user_units(likelihood_.coefficients);
  }

 private:
  void factor();  // unless it is there: the columns become α, A⁻¹H

  std::shared_ptr<const Series> series_;
  Model model_;
  Evaluator evaluator_;
  Likelihood likelihood_;
  bool factored_ = false;
};

}  // namespace bandgp
