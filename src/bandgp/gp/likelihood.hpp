// SPDX-License-Identifier: Apache-2.0
// The loss and its exact gradient:  NLL = ½ yᵀA⁻¹y + ½ log|A| + (n/2) log 2π, profiled over the mean.
// [math.md §3]
#pragma once
#include <memory>

#include "bandgp/gp/global_columns.hpp"
#include "bandgp/gp/representation.hpp"

namespace bandgp {

/// All in the internal units of the series, except where `to_user` has been applied.
struct Likelihood {
  double nll = 0;
  std::vector<double> gradient;  // by the logs of the parameters, in the order of parameter_names()
  double q = 0;                  // yᵀA⁻¹y, profiled
  double log_determinant = 0;
  std::vector<double> coefficients;  // of the mean's columns 1, (x − middle)/half span
  std::string_view method = "band";  // the representation in use
  Index bandwidth = 0;
  double reach = 0;
  double condition = 1;
  Certificate certificate;
};

/// The series at work: evaluates the loss at any θ with the memory of the first evaluation.
class Evaluator {
 public:
  /// The series must outlive this.
  Evaluator(const Series& series, Mean mean, std::unique_ptr<Representation> representation);
  Evaluator(const Evaluator&) =
      delete;  // the representation refers to the kernel and the observations in here
  Evaluator& operator=(const Evaluator&) = delete;

  /// What an evaluation with gradient at θ takes; the representation may decide what to keep.
  Cost cost(const InternalModel& model);
  /// The loss at θ and, where asked for, its gradient.  The result's vector is reused.
  [[nodiscard]] std::optional<Failure> evaluate(const InternalModel& model, bool with_gradient,
                                                Likelihood& out);

  /// After an evaluation without gradient: the reduced columns become A⁻¹ columns, for prediction.  That of
  /// the data is kept aside as it was, for rounding() and whitened().
  void finish();
  /// After an evaluation without gradient, while its factor is there: about how many nats rounding costs.
  double rounding();
  /// Likewise: one draw of L_B⁻¹(y − Hβ − Φw), white noise where the model holds (representation.hpp).
  std::vector<double> whitened(std::uint64_t seed);
  /// How often a covariance was factored since this was made.
  Index factorizations() const { return factorizations_; }

  Representation& representation() { return *representation_; }
  const Series& series() const { return series_; }
  const Observations& observations() const { return observations_; }
  Mean mean() const { return global_.mean(); }
  const GlobalColumns& global_columns() const { return global_; }

  /// What evaluate() without gradient leaves behind: the reduced columns y − Hβ, H and β; after finish() A⁻¹
  /// times the columns.
  RightHandSides columns() { return {columns_.data(), 1 + global_.count(), stride_}; }
  const ColumnWeights& column_weights() const { return weights_; }
  /// The reduced columns anew, from the factor that is there; false where the representation cannot.
  [[nodiscard]] bool reduce_again();
  /// The posterior mean at increasing x that these values would have in the place of y, the columns' weights
  /// included; after reduce_again().  Uses the column up.
  std::vector<double> posterior_mean(RightHandSides value, std::span<const double> x);
  /// Makes room for `count` columns of the length that the representation's columns have, all zeros.
  RightHandSides more_columns(AlignedBuffer& memory, Index count) const;

 private:
  double move_to(const InternalModel& model);  // kernel and noise; returns a bound of yᵀA⁻¹y
  void load_columns();
  void weigh();
  AlignedBuffer reduced_data() const;  // a copy of the reduced column of the data

  const Series& series_;
  std::unique_ptr<Representation> representation_;
  Observations observations_;
  Kernel kernel_;                   // the one the representation refers to
  Index stride_ = 0, reduced_ = 0;  // of a column, and how much of it counts in products
  GlobalColumns global_;
  AlignedBuffer columns_;
  AlignedBuffer kept_;  // the reduced column of the data, once finished
  bool finished_ = false;
  Index factorizations_ = 0;
  ColumnWeights weights_;
};

/// Coefficients of the mean's columns as the user knows them: the mean at time 0, then its slope.
std::vector<double> mean_in_user_units(const std::vector<double>& coefficients, const Units& units,
                                       const GlobalColumns& columns);

/// The NLL of the user's data from that of the scaled: y = unit·y', so each of m observations adds log unit.
double nll_to_user(double nll, const Series& series);

}  // namespace bandgp
