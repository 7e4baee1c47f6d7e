// SPDX-License-Identifier: Apache-2.0
// The dual band: one SE term as A = ΦΦᵀ + D with Gaussians on a grid, worked on through          [dual.md]
//   M = I + ΦᵀD⁻¹Φ (m × m, b off-diagonals, both independent of ℓ/δ),   w = M⁻¹ΦᵀD⁻¹y,   r = y − Φw,
//   A⁻¹y = D⁻¹r,   log|A| = log|D| + log|M|,   yᵀA⁻¹y = rᵀD⁻¹r + wᵀw.
// A reduced column is (D^{−½}r, w): its square is the quadratic form, and nothing cancels.
// dual_representation.cpp factors and differentiates, dual_prediction.cpp predicts and keeps.
#pragma once
#include "bandgp/band/cholesky.hpp"
#include "bandgp/band/forward_squares.hpp"
#include "bandgp/band/selected_inverse.hpp"
#include "bandgp/band/two_ended.hpp"
#include "bandgp/base/worker.hpp"
#include "bandgp/basis/gaussian_grid.hpp"
#include "bandgp/gp/dual_state.hpp"
#include "bandgp/gp/representation.hpp"

namespace bandgp {

class DualRepresentation final : public Representation {
 public:
  /// The kernel must have one SE term.  max_bytes as for a band.  With two threads each takes half of the
  /// points.
  DualRepresentation(double tolerance, double max_bytes, Index threads = 1);

  /// What a basis for θ takes in memory, and what an evaluation takes; sets demand, design and errors.
  Cost cost(const Kernel& kernel, const Observations& points, double q_bound) override;
  std::optional<Failure> choose(const Kernel& kernel, const Observations& points, double q_bound) override;
  Index reduced_size() const override { return behind() + padded_nodes(); }
  std::optional<Failure> factor(RightHandSides b) override;
  bool reduce(RightHandSides b) override;
  double log_determinant() override;
  void finish(RightHandSides b) override;
  void gradient(RightHandSides b, const double* noise_slope, std::span<double> out) override;
  void inverse_diagonal(std::span<double> out) override;
  void whiten(double* column, std::uint64_t seed) override;
  double rounding(double* column, const double* b) override;
  Certificate certificate(CertificateInputs inputs) const override;
  std::string_view name() const override { return "dual"; }
  Index bandwidth() const override { return envelope_.bandwidth(); }
  double reach() const override { return 0; }
  double condition() override;
  std::vector<BandShape> shapes() const override { return {{"nodes", &envelope_}}; }
  std::optional<Failure> predict(std::span<const double> x, unsigned terms, RightHandSides solved,
                                 double* projection, double* variance) override;
  void covariance(std::span<const double> x, double* out) override;

  std::optional<Weights> weights() override;
  void draw_weights(std::span<double> white, std::uint64_t seed) override;
  Index basis_size() const override { return grid_.nodes(); }
  std::optional<DualState> state(RightHandSides solved) override;
  /// From then on this can predict and draw, and nothing else.
  void restore(const DualState& state);

  /// Whether the basis that was chosen keeps the tolerance, in exact arithmetic and in double.
  bool reaches_tolerance() const { return design_.reached && errors_.fit_double(); }

 private:
  /// Where w begins in a reduced column.
  Index behind() const { return points_ == nullptr ? 0 : points_->padded_size(); }
  /// The two parts that the points are summed in, whatever the number of threads.
  PointRange part(int which) const;
  /// What one part adds up: ΦᵀD⁻¹b of every column and the half-step sums.
  struct Sums {
    AlignedBuffer z, h0, h2, noise;
    std::vector<const double*> from;  // the columns that are summed, and where to
    std::vector<double*> to;
  };
  void clear(Sums& sums, Index columns) const;
  template <class Work>  // work(part), the second one on the other thread where there is one
  void in_two_parts(const Work& work);
  void accumulate(int which, RightHandSides b);
  void weigh(RightHandSides b);
  /// M on a half of the two-ended matrix, or whole; natural(row): which node a row is.
  template <class Natural>
  void fill(PanelBand& matrix, const double* h0, const Natural& natural);
  /// M's factor in the order of the nodes, which predictions and draws want: made anew from H₀ where the
  /// likelihood's two-ended one is all there is.
  PanelBand& natural();
  /// Half-step sums as the second half of M counts them: flipped_[which].
  void flip(int which, const double* half);
  void contract(int which, const double* const* half, double* sums);
  Index padded_nodes() const { return round_up(grid_.nodes(), 2 * simd::kPanel); }
  /// fitted_c ← Φw_c.
  void apply_basis(int columns, const double* const* w);
  /// sums_[0].z ← Φᵀfitted_c; the columns of z are padded nodes apart.
  void apply_transposed(Index columns);
  double* fitted(Index c) { return scratch_.data() + c * points_->padded_size(); }

  /// A stretch of present nodes that one test point's window covers.
  struct Piece {
    Index test, number, count;
    const double* value;
  };
  /// Splits windows into pieces; missing[t] ← Σ φ² over the nodes that no data touch.
  void cut_into_pieces(const GaussianGrid::Windows& windows, Index count, std::vector<Piece>& pieces,
                       std::vector<double>& missing) const;
  void start_variances();
  /// out[t] ← φᵀSφ for tests [0, count) of `windows`; pieces must not lie above those of the call before.
  void quadratic_forms(const GaussianGrid::Windows& windows, Index count, double* out);

  double tolerance_, max_bytes_;
  const Observations* points_ = nullptr;
  GaussianGrid grid_;
  GridDemand demand_;
  GridDesign design_;
  GridErrors errors_;
  Worker worker_;
  TwoEnded ends_{worker_};
  AlignedBuffer flipped_[3];  // H₀, H₂ and the noise's sums as the second half counts them
  Envelope envelope_;
  PanelBand matrix_;
  bool natural_ = false;  // matrix_ holds the factor
  SelectedInverse inversion_;
  Sums sums_[2];
  AlignedBuffer precision_, scratch_;  // dᵢ⁻¹; a number a point for every column
  std::vector<double*> fitted_;        // the columns of scratch_
  std::vector<const double*> weights_;
  double largest_ = 1;  // diagonal entry of M: ‖M‖ up to a factor of b
  ForwardSquares forward_;
  Envelope wide_envelope_;
  PanelBand wide_;
  Index done_ = 0;            // block columns of the wide inverse from here on are there
  std::vector<Index> first_;  // of an envelope in the making
  std::vector<Piece> pieces_;
  std::vector<double> missing_;
};

}  // namespace bandgp
