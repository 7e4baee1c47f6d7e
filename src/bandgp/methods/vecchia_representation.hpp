// SPDX-License-Identifier: Apache-2.0
// Vecchia's likelihood (1988), the NNGP of Datta et al. (2016): each observation given the m before it,
//   p(y) ≈ Π p(yᵢ | y_{i−m} … y_{i−1}),   yᵢ | … ~ N(bᵢᵀy_N, vᵢ),  A_NN bᵢ = a_Ni,  vᵢ = aᵢᵢ − a_Niᵀbᵢ.
// A⁻¹ = FᵀF with F = V^{−½}(I − B), a lower band of m: a factor of the precision for the band engine.
#pragma once
#include "bandgp/band/solve.hpp"
#include "bandgp/gp/representation.hpp"
#include "bandgp/methods/sliding_factor.hpp"

namespace bandgp {

class VecchiaRepresentation final : public Representation {
 public:
  VecchiaRepresentation(Index neighbours, double max_bytes)
      : neighbours_(neighbours), max_bytes_(max_bytes) {}

  Cost cost(const Kernel& kernel, const Observations& points, double q_bound) override;
  std::optional<Failure> choose(const Kernel& kernel, const Observations& points, double q_bound) override;
  Index reduced_size() const override { return envelope_.padded_size(); }
  std::optional<Failure> factor(RightHandSides b) override;
  double log_determinant() override;
  void finish(RightHandSides b) override;
  void gradient(RightHandSides b, const double* noise_slope, std::span<double> out) override;
  void inverse_diagonal(std::span<double> out) override;
  void whiten(double*, std::uint64_t) override {}  // Fb is white already
  double rounding(double*, const double*) override { return 0; }
  Certificate certificate(CertificateInputs) const override { return Certificate::of_another_model(); }
  std::string_view name() const override { return "vecchia"; }
  std::vector<BandShape> shapes() const override { return {{"points", &envelope_}}; }
  Index bandwidth() const override { return envelope_.bandwidth(); }
  double reach() const override { return 0; }
  double condition() override;
  std::optional<Failure> predict(std::span<const double> x, unsigned terms, RightHandSides solved,
                                 double* projection, double* variance) override;
  /// Test points are independent of each other given the data: the model's own word, not the process's.
  void covariance(std::span<const double> x, double* out) override;

 private:
  Index n() const { return points_->size(); }
  Index before(Index i) const { return std::max<Index>(0, i - neighbours_); }
  /// covariances[j] ← k(x − x_{first+j}), j < count.
  void cross(const Kernel& kernel, double x, Index first, Index count, double* covariances) const;
  /// Moves the window on so that it ends before point `end` and begins at `first`.  False: not positive
  /// definite.
  bool slide(Index first, Index end);
  /// b ← Fb and b ← Fᵀb, rows of n.
  void apply(double* b) const;
  void apply_transposed(double* b) const;

  Index neighbours_;
  double max_bytes_;
  const Kernel* kernel_ = nullptr;
  const Observations* points_ = nullptr;
  Envelope envelope_;
  PanelBand factor_;  // F, as the engine's L
  SlidingFactor window_;
  Index window_first_ = 0;
  std::vector<double> variance_;      // vᵢ
  std::vector<double> coefficients_;  // bᵢ, m a row
  mutable std::vector<double> scratch_;
};

}  // namespace bandgp
