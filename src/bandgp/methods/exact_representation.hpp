// SPDX-License-Identifier: Apache-2.0
// The dense covariance: A = LLᵀ through LAPACK, everything in O(n³).  Nothing is left out; n is what memory
// allows.
#pragma once
#include "bandgp/base/aligned.hpp"
#include "bandgp/gp/representation.hpp"

namespace bandgp {

class ExactRepresentation final : public Representation {
 public:
  explicit ExactRepresentation(double max_bytes) : max_bytes_(max_bytes) {}

  Cost cost(const Kernel& kernel, const Observations& points, double q_bound) override;
  std::optional<Failure> choose(const Kernel& kernel, const Observations& points, double q_bound) override;
  Index reduced_size() const override { return points_->padded_size(); }
  std::optional<Failure> factor(RightHandSides b) override;
  double log_determinant() override;
  bool reduce(RightHandSides b) override;
  void finish(RightHandSides b) override;
  void gradient(RightHandSides b, const double* noise_slope, std::span<double> out) override;
  void inverse_diagonal(std::span<double> out) override;
  void whiten(double*, std::uint64_t) override {}  // L⁻¹b is white already
  double rounding(double* column, const double* b) override;
  Certificate certificate(CertificateInputs inputs) const override;
  std::string_view name() const override { return "exact"; }
  Index bandwidth() const override { return points_->size() - 1; }
  double reach() const override { return 0; }
  double condition() override;
  std::optional<Failure> predict(std::span<const double> x, unsigned terms, RightHandSides solved,
                                 double* projection, double* variance) override;
  void covariance(std::span<const double> x, double* out) override;

 private:
  Index n() const { return points_->size(); }
  double diagonal(Index i) const { return matrix_.data()[i * (n() + 1)]; }
  void fill();

  double max_bytes_;
  const Kernel* kernel_ = nullptr;
  const Observations* points_ = nullptr;
  AlignedBuffer matrix_;  // n × n, the lower half
  AlignedBuffer panel_;   // eight rows of it, as tiles have them
};

}  // namespace bandgp
