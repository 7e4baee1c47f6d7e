// SPDX-License-Identifier: Apache-2.0
// The general form A = ΦΦᵀ + B: long SE terms in Gaussians on grids, the others and the noise in a band.
// [theory §13] With B = LLᵀ, V = L⁻¹Φ (a row of V has about as many entries that count as a row of Φ), M = I
// + VᵀV, S = M⁻¹:
//   w = S Vᵀ(L⁻¹y),   r' = L⁻¹y − Vw,   α = L⁻ᵀr',   log|A| = log|B| + log|M|,   yᵀA⁻¹y = r'ᵀr' + wᵀw
//   Y = L⁻ᵀV,   A⁻¹ = B⁻¹ − Y S Yᵀ.
// Nodes go in panels of eight of one term, and a panel of nodes is a row panel below B's: the band engine's
// own layout.
#pragma once
#include "bandgp/band/forward_squares.hpp"
#include "bandgp/basis/gaussian_grid.hpp"
#include "bandgp/gp/band_representation.hpp"

namespace bandgp {

class MixedRepresentation final : public Representation, private BandPartner {
 public:
  MixedRepresentation(double tolerance, double max_bytes, Index threads = 1);

  /// Which terms (a bit each) go into Φ; they must be SE.  For choices from now on.
  void set_long_terms(unsigned terms) { long_terms_ = terms; }

  /// Later choices keep the entries of the band (or, with false, choose them anew).
  void keep_entries(bool keep) { band_.set_cut(band_cut(keep)); }

  Cost cost(const Kernel& kernel, const Observations& points, double q_bound) override;
  std::optional<Failure> choose(const Kernel& kernel, const Observations& points, double q_bound) override;
  Index reduced_size() const override { return behind() + envelope_.padded_size(); }
  std::optional<Failure> factor(RightHandSides b) override;
  double log_determinant() override;
  void finish(RightHandSides b) override { band_.finish(b); }
  void gradient(double* column, const double* noise_slope, std::span<double> out) override;
  void inverse_diagonal(std::span<double> out) override;
  void whiten(double* column, std::uint64_t seed) override;
  double rounding(double* column, const double* b) override;
  Certificate certificate(CertificateInputs inputs) const override;
  std::string_view name() const override { return short_kernel_.terms.empty() ? "dual" : "mixed"; }
  Index bandwidth() const override { return std::max(band_.bandwidth(), envelope_.bandwidth()); }
  double reach() const override { return 0; }
  double condition() override;
  std::vector<BandShape> shapes() const override {
    return {{"points", &band_.envelope()}, {"nodes", &envelope_}};
  }
  std::optional<Failure> predict(std::span<const double> x, unsigned terms, RightHandSides solved,
                                 double* projection, double* variance) override;
  void covariance(std::span<const double> x, double* out) override;
  std::optional<Weights> weights() override;
  bool reaches_tolerance() const { return reached_; }

 private:
  /// Eight consecutive nodes of one term, and the points [begin, end) (whole panels) that they see.
  struct NodePanel {
    alignas(64) double position[8];
    std::size_t term;  // among the long ones
    Index count;       // nodes; the rest of the eight are 0
    Index begin, end;  // points
    double* values;    // column c of the panel lies at values + 8c: Φᵀ, then Vᵀ, then Yᵀ
  };
  struct LongTerm {
    std::size_t index;  // in the kernel
    GridDemand demand;
    GridDesign design;
    GaussianGrid grid;
    std::vector<Index> row;  // of M, for every node number
  };

  Index behind() const { return points_->padded_size(); }
  Cut band_cut(bool keep) const;
  void split(const Kernel& kernel);
  void lay_out_nodes();
  void subtract_basis(const double* w, double* column);  // column −← Vw
  void add_transposed(const double* column, double* w);  // w +← Vᵀcolumn
  std::optional<Failure> factor_parts(RightHandSides b);
  /// No two panels share a point whose first nodes are farther apart.
  double widest_overlap() const;
  /// Points of `range` in the panel q of nodes, empty where it sees none of them.
  IndexRange shared(Index q, PanelRange range) const;
  void after_factor(PanelRange range, RightHandSides b) override;
  void before_inversion(PanelRange range) override;
  void fill_basis(NodePanel& panel, IndexRange points);
  /// Adds the rows of a point panel to ‖D^{−½}R‖_F², the error of cutting V behind each panel's last point.
  void measure_cut(Index p);
  void whiten_back();     // V → Y, unless that has been done
  void mirror_inverse();  // S in full blocks, for products from both sides
  const double* inverse_block(Index q, Index r);
  /// Panels of nodes that see point panel p: [first, last), some of them perhaps not.
  struct Active {
    Index first, last;
  };
  Active active(Index p) const;
  void subtract(Index i, Index j, double* block) override;
  void prepare_column(Index j);
  void start_corrections();

  /// p = φ* − Yᵀκ of up to eight test points, in the columns of forward_; the panels of M that it touches.
  struct Stretch {
    Index begin, end;
  };
  Stretch load_tests(std::span<const double> x, std::span<const GaussianGrid::Windows> windows, Index from,
                     Index count, double* missing);
  std::vector<GaussianGrid::Windows> windows_at(std::span<const double> x) const;
  double missing_overlap(std::span<const GaussianGrid::Windows> windows, Index s, Index t) const;

  double tolerance_, max_bytes_;
  unsigned long_terms_ = 0;
  const Observations* points_ = nullptr;
  Kernel short_kernel_;
  std::vector<std::size_t> short_index_;
  std::vector<LongTerm> long_;
  BandRepresentation band_;
  GridErrors errors_;
  bool reached_ = true;

  std::vector<NodePanel> panels_;
  std::vector<Active> active_;  // for every panel of points
  AlignedBuffer values_;
  Envelope envelope_;
  PanelBand matrix_;
  SelectedInverse inversion_;
  double largest_ = 1;
  std::vector<std::pair<Index, Index>> ends_;  // (end of its points, panel of nodes), in order
  double extension_ = 0, share_ = 0;  // how far V goes beyond the windows; what cutting it there may cost
  AlignedBuffer given_;               // the columns as they came, for another attempt
  double cut_square_ = 0;             // ‖D^{−½}R‖_F²
  bool transposed_ = false;
  std::vector<Index> mirror_start_;
  AlignedBuffer mirror_;

  // The gradient under way.
  const double* alpha_ = nullptr;
  const double* w_ = nullptr;
  bool with_slopes_ = false;
  Index prepared_ = -1, ring_ = 1, most_seen_ = 1;
  std::vector<std::vector<Index>> seen_;  // panels of nodes, for the panels of points in the ring
  std::vector<const double*> x_, y_;
  AlignedBuffer transposed_y_, product_, step_;
  std::vector<double> slope_sums_;
  std::vector<double> band_gradient_;
  ForwardSquares forward_;
  // The terms that are being predicted, and those of them that are in the band.
  unsigned predicted_ = kAllTerms;
  Kernel cross_kernel_;
};

}  // namespace bandgp
