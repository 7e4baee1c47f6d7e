// SPDX-License-Identifier: Apache-2.0
// The loss and its exact gradient:  NLL = ½ yᵀA⁻¹y + ½ log|A| + (n/2) log 2π, profiled over the mean. [theory
// §1]
#pragma once
#include <array>
#include <memory>

#include "bandgp/gp/profiled_mean.hpp"
#include "bandgp/gp/representation.hpp"

namespace bandgp {

/// All in the internal units of the series, except where `to_user` has been applied.
struct Likelihood {
  double nll = 0;
  std::vector<double> gradient;  // by the logs of the parameters, in the order of parameter_names()
  double q = 0;                  // yᵀA⁻¹y, profiled
  double log_determinant = 0;
  std::array<double, 2> coefficients{};  // of the basis 1, (x − middle)/half span
  std::string_view method = "band";      // the representation in use
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

  /// The loss at θ (internal units) and, where asked for, its gradient.  The result's vector is reused.
  [[nodiscard]] std::optional<Failure> evaluate(const Model& model, bool with_gradient, Likelihood& out);

  /// After an evaluation without gradient, whose columns it uses up: about how many nats rounding costs.
  double rounding();
  /// Likewise: one draw of L_B⁻¹(y − Hβ − Φw), white noise where the model holds (representation.hpp).
  std::vector<double> whitened(std::uint64_t seed);

  Representation& representation() { return *representation_; }
  const Series& series() const { return series_; }
  const Observations& observations() const { return observations_; }
  Mean mean() const { return mean_; }
  /// Column c of H at internal time x: 1, (x − middle)/half span.
  double middle() const { return middle_; }
  double half_span() const { return half_span_; }
  double basis(Index c, double x) const { return c == 0 ? 1.0 : (x - middle_) / half_span_; }

  /// Coefficients of that basis as the user knows them: the mean at time 0, then its slope.
  std::vector<double> mean_in_user_units(const std::array<double, 2>& coefficients) const;

  /// What evaluate() without gradient leaves behind, for prediction: the reduced columns y, H and the mean.
  RightHandSides columns() { return {columns_.data(), 1 + coefficient_count(mean_), stride_}; }
  const ProfiledMean& profiled() const { return profiled_; }

 private:
  void load_columns();
  void profile();

  const Series& series_;
  Mean mean_;
  std::unique_ptr<Representation> representation_;
  Observations observations_;
  Kernel kernel_;  // the one the representation refers to
  Index stride_ = 0;
  double middle_ = 0, half_span_ = 1;
  AlignedBuffer columns_;
  ProfiledMean profiled_;
};

/// Coefficients of 1, (x − middle)/half span as the user knows them: the mean at time 0, then its slope.
std::vector<double> mean_in_user_units(const ProfiledMean& mean, const Units& units, double middle,
                                       double half_span);

/// The NLL of the user's data from that of the scaled: y = unit·y', so each of m observations adds log unit.
double nll_to_user(double nll, const Series& series);

}  // namespace bandgp
