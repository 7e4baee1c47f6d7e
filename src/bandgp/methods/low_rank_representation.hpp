// SPDX-License-Identifier: Apache-2.0
// FITC (Snelson & Ghahramani 2006) and VFE (Titsias 2009): the curve is seen through m inducing inputs z.
//   Q = K_nm K_mm⁻¹ K_mn = ΦΦᵀ,  Φ = K_nm L_m⁻ᵀ,  A = Q + Λ:   Λ = diag(K − Q) + D (fitc),  Λ = D (vfe)
// and vfe adds ½ Σ (k(0) − qᵢᵢ)/dᵢ, which makes its loss a bound: never less than the exact NLL.
// Through M = I + ΦᵀΛ⁻¹Φ everything is O(nm²), with the same reduced columns (Λ^{−½}r, w) as the dual band.
#pragma once
#include <vector>

#include "bandgp/base/aligned.hpp"
#include "bandgp/gp/representation.hpp"
#include "bandgp/kernel/tiles.hpp"
#include "bandgp/methods/inducing_inputs.hpp"

namespace bandgp {

class LowRankRepresentation final : public Representation, public InducingInputs {
 public:
  enum class Kind { fitc, vfe };
  /// Starts with `inducing` inputs at quantiles of the times (all times where there are fewer), unless they
  /// are given.
  LowRankRepresentation(Kind kind, Index inducing, double max_bytes, std::vector<double> inputs = {});

  Cost cost(const Kernel& kernel, const Observations& points, double q_bound) override;
  std::optional<Failure> choose(const Kernel& kernel, const Observations& points, double q_bound) override;
  Index reduced_size() const override { return behind() + round_up(m(), 8); }
  std::optional<Failure> factor(RightHandSides b) override;
  double log_determinant() override;
  double extra_loss() override { return extra_; }
  void finish(RightHandSides b) override;
  void gradient(RightHandSides b, const double* noise_slope, std::span<double> out) override;
  void inverse_diagonal(std::span<double> out) override;
  void whiten(double* column, std::uint64_t seed) override;
  double rounding(double*, const double*) override { return 0; }
  Certificate certificate(CertificateInputs) const override { return Certificate::of_another_model(); }
  std::string_view name() const override { return kind_ == Kind::fitc ? "fitc" : "vfe"; }
  Index bandwidth() const override { return m(); }
  double reach() const override { return 0; }
  double condition() override;
  std::optional<Failure> predict(std::span<const double> x, unsigned terms, RightHandSides solved,
                                 double* projection, double* variance) override;
  void covariance(std::span<const double> x, double* out) override;

  std::span<double> inputs() override { return inputs_; }
  std::span<const double> input_gradient() const override { return input_gradient_; }

 private:
  Index n() const { return points_->size(); }
  Index m() const { return static_cast<Index>(inputs_.size()); }
  Index behind() const { return points_->padded_size(); }
  void place_inputs();
  /// tests × m: L_m⁻¹k_m*, a row for each test point.
  void fill_basis(const Kernel& kernel, std::span<const double> x, double* out) const;
  /// Adds Σ weightsᵢⱼ ∂k(xᵢ − z_j) to the gradient's sums, and by z_j to the inputs' gradient.
  void contract(const double* x, Index rows, const double* weights, bool both_move, std::span<TileSums> sums);

  Kind kind_;
  Index wanted_;
  double max_bytes_;
  const Kernel* kernel_ = nullptr;
  const Observations* points_ = nullptr;
  std::vector<double> inputs_, input_gradient_;
  double extra_ = 0;
  AlignedBuffer inducing_;       // m × m: L_m
  AlignedBuffer basis_;          // n × m: Φ
  AlignedBuffer matrix_;         // m × m: L of M
  AlignedBuffer scaled_;         // n × m: scratch, Λ^{−½}Φ
  std::vector<double> lambda_;   // (n,)
  std::vector<double> missing_;  // (n,) k(0) − qᵢᵢ
};

}  // namespace bandgp
