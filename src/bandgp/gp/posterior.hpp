// SPDX-License-Identifier: Apache-2.0
// What the data say about the curve: mean, variance, covariance, samples anywhere, and leave-one-out.
// [math.md §4] Takes and returns the user's units.  Variances include the uncertainty of estimated mean
// coefficients.
#pragma once
#include <cstdint>
#include <functional>

#include "bandgp/gp/auto_representation.hpp"
#include "bandgp/gp/likelihood.hpp"
#include "bandgp/gp/posterior_function.hpp"

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

/// One term's share of the curve, without the mean: the slow or the fast part of the series.
struct Component {
  std::vector<double> mean, variance;
};

class Posterior {
 public:
  /// The model in the user's units.  Throws std::runtime_error when A is not positive definite or too large
  /// at θ.
  Posterior(const std::shared_ptr<const Series>& series, const Model& model,
            std::unique_ptr<Representation> representation);

  /// With an evaluator of the series that has its memory already, such as that which training ends with:
  /// factors at θ once.
  Posterior(std::shared_ptr<const Series> series, const Model& model, std::unique_ptr<Evaluator> evaluator);

  /// From what a model file holds of a fit in its dual form.  `series` lends its units and has no points;
  /// such a posterior predicts, but has no leave-one-out.
  Posterior(std::shared_ptr<const Series> series, const Model& model, const DualState& state);

  /// At any finite times, in any order.
  Prediction predict(std::span<const double> times, bool with_variance = true);
  /// Every term of the kernel by itself; their means add up to the curve less the mean function.
  std::vector<Component> components(std::span<const double> times, bool with_variance = true);
  /// Whether whole curves can be drawn: all terms are SE, and this is the exact GP's posterior to within a
  /// certificate, which methods with a model of their own and bands that are too narrow are not.
  bool has_functions() const;
  /// Whether sample() takes linear time: it has functions, or it moves draws of the prior.
  bool samples_in_linear_time() const { return has_functions() || simulates_prior(); }
  /// Is told how many draws are done.
  using Drawn = std::function<void(Index done)>;
  /// Draws of the whole latent curve, to be evaluated anywhere and any number of times, consistently.
  std::vector<PosteriorFunction> functions(Index count, std::uint64_t seed, const Drawn& drawn = {});
  /// Latent covariance, row-major; memory is times² doubles, and too much of it throws
  /// std::invalid_argument.
  std::vector<double> covariance(std::span<const double> times);
  /// `count` draws of the latent curve, one row each; the same seed gives the same draws.  Those of
  /// functions() where there are such; else draws of the prior at data and times, moved by what the data say
  /// about them, O(n) each; and from the covariance of all times where a representation has neither.
  std::vector<double> sample(std::span<const double> times, Index count, std::uint64_t seed,
                             const Drawn& drawn = {});
  /// Computed once and kept.  The first call uses the factor up: what is asked for after it factors again.
  const LeaveOneOut& leave_one_out();
  /// A number for every distinct time: independent standard normal ones if the model holds, whatever the
  /// representation. In a band they are L⁻¹(y − Hβ); long terms take one draw of theirs off first, by seed.
  std::vector<double> whitened_residuals(std::uint64_t seed = 1);
  /// About how many nats rounding adds to the certificate's error of the NLL; not a bound.
  double rounding();
  /// How often the covariance was factored by the evaluator in use; 0 where there is none.
  Index factorizations() const { return evaluator_ ? evaluator_->factorizations() : 0; }

  const Likelihood& likelihood() const { return likelihood_; }  // nll in the user's units, the rest internal
  const Model& model() const { return model_; }
  const Series& series() const { return *series_; }
  /// Mean coefficients in the user's units: value at time 0, then slope.
  std::vector<double> mean_coefficients() const;
  /// The banded matrices in use; they live as long as the posterior.
  std::vector<BandShape> shapes() { return representation().shapes(); }
  /// What a model file needs to predict without the data, if the dual is in use.
  std::optional<DualState> dual_state();

 private:
  void draw(const Weights& weights, std::uint64_t seed, PosteriorFunction& f);
  void factor();  // unless it is there: the columns become α, A⁻¹H
  void project(std::span<const double> x, unsigned terms, std::vector<double>& projection,
               std::vector<double>* variance);
  Representation& representation() { return evaluator_ ? evaluator_->representation() : *restored_; }
  RightHandSides columns() {
    return evaluator_ ? evaluator_->columns()
                      : RightHandSides{weights_.data(), 1 + column_weights_.count, stride_};
  }
  const ColumnWeights& column_weights() const {
    return evaluator_ ? evaluator_->column_weights() : column_weights_;
  }
  const GlobalColumns& global_columns() const {
    return evaluator_ ? evaluator_->global_columns() : global_columns_;
  }
  /// The mean and, unless null, the variance of a curve at increasing times (internal units): `terms` of the
  /// kernel, with the global columns where `with_columns`.
  struct Curve {
    std::vector<double> mean, variance;
  };
  Curve curve(const std::vector<double>& x, unsigned terms, bool with_columns, bool with_variance);
  bool simulates_prior() const;
  std::vector<double> draws_from_simulation(std::span<const double> times, Index count, std::uint64_t seed,
                                            const Drawn& drawn);
  std::vector<double> draws_from_covariance(std::span<const double> times, Index count, std::uint64_t seed);

  std::shared_ptr<const Series> series_;
  Model model_;
  std::unique_ptr<Evaluator> evaluator_;  // null when restored
  Likelihood likelihood_;
  bool factored_ = false;
  std::optional<LeaveOneOut> left_out_;
  // Restored: a dual that can predict, and what an evaluator would know.
  std::unique_ptr<DualRepresentation> restored_;
  AlignedBuffer weights_;
  Index stride_ = 0;
  ColumnWeights column_weights_;
  GlobalColumns global_columns_{Mean::zero, 0, 1};
};

}  // namespace bandgp
