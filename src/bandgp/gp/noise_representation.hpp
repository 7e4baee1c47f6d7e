// SPDX-License-Identifier: Apache-2.0
// The noise by itself, A = D: what is left of a kernel all of whose terms are global columns.  [math.md §12]
#pragma once
#include "bandgp/gp/representation.hpp"

namespace bandgp {

class NoiseRepresentation final : public Representation {
 public:
  Cost cost(const Kernel& kernel, const Observations& points, double q_bound) override;
  std::optional<Failure> choose(const Kernel& kernel, const Observations& points, double q_bound) override;
  Index reduced_size() const override { return points_->padded_size(); }
  std::optional<Failure> factor(RightHandSides b) override;
  bool reduce(RightHandSides b) override;
  double log_determinant() override;
  void finish(RightHandSides b) override { (void)reduce(b); }
  void gradient(RightHandSides b, const double* noise_slope, std::span<double> out) override;
  void inverse_diagonal(std::span<double> out) override;
  void whiten(double*, std::uint64_t) override {}  // D^{−½}b is white already
  double rounding(double* column, const double* b) override;
  Certificate certificate(CertificateInputs inputs) const override;
  std::string_view name() const override { return "noise"; }
  Index bandwidth() const override { return 0; }
  double reach() const override { return 0; }
  double condition() override;
  std::optional<Failure> predict(std::span<const double> x, unsigned terms, RightHandSides solved,
                                 double* projection, double* variance) override;
  void covariance(std::span<const double> x, double* out) override;

 private:
  const Observations* points_ = nullptr;
};

}  // namespace bandgp
