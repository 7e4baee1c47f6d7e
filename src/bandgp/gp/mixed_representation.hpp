// SPDX-License-Identifier: Apache-2.0
// The general form A = ΦΦᵀ + B: long SE terms in Gaussians on grids, the others and the noise in a band.
// [dual.md] Φ = WC, local polynomials W times what the Gaussians are in them
// (basis/local_polynomials.hpp). With B = LLᵀ, V = L⁻¹W, N = VᵀV, M = I + CᵀNC, S = M⁻¹:
//   w = S CᵀVᵀ(L⁻¹y),   r' = L⁻¹y − VCw,   α = L⁻ᵀr',   log|A| = log|B| + log|M|,   yᵀA⁻¹y = r'ᵀr' + wᵀw
//   Y = L⁻ᵀV,   A⁻¹ = B⁻¹ − Y Σ Yᵀ,   Σ = CSCᵀ.
// V dies away behind a chunk, and Y before it as well: both are held a little beyond it, and no farther.
// Nodes go in panels of eight of one term, columns of W in panels of eight of one chunk, and a panel of
// columns is a row panel below B's: the band engine's own layout. mixed_layout.cpp chooses and lays out,
// mixed_representation.cpp factors, mixed_gradient.cpp and mixed_prediction.cpp are what they say.
#pragma once
#include "bandgp/band/forward_squares.hpp"
#include "bandgp/basis/gaussian_grid.hpp"
#include "bandgp/basis/local_polynomials.hpp"
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
  void gradient(RightHandSides b, const double* noise_slope, std::span<double> out) override;
  void inverse_diagonal(std::span<double> out) override;
  void whiten(double* column, std::uint64_t seed) override;
  double rounding(double* column, const double* b) override;
  bool can_whiten() const override { return !transposed_; }
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
  /// How often the last factorisation was laid out before it suited.
  Index attempts() const { return attempts_; }

 private:
  /// Eight consecutive nodes of one term.
  struct NodePanel {
    alignas(64) double position[8];
    std::size_t term;  // among the long ones
    Index count;       // nodes; the rest of the eight are 0
  };
  struct LongTerm {
    std::size_t index;  // in the kernel
    GridDemand demand;
    GridDesign design;
    GaussianGrid grid;
    std::vector<Index> row;     // of M, for every node number
    std::vector<Index> panels;  // of nodes, in order
  };
  /// Eight columns of W, those of a chunk's part, held at the points [first, last) around the chunk.
  struct ColumnPanel {
    Index chunk = 0, part = 0;
    Index begin = 0, end = 0;  // the chunk's own points
    Index first = 0, last = 0;
    Index settled = 0;         // behind it V is no more than what cutting B left: the gradient does without
    double* values = nullptr;  // column c of the panel lies at values + 8c: Wᵀ, then Vᵀ, then Yᵀ
    double norm[8] = {};       // of its rows of C
    Index low = 0, high = 0, sigma = 0;  // blocks of −Σ with panels low … high−1, from number `sigma` on
  };
  /// The nodes within a window of some point of a chunk, and where its blocks of C begin: part a of the k-th
  /// panel of nodes is block number `block + k·parts + a`.
  struct ChunkNodes {
    std::vector<Index> panels;
    Index block;
  };
  struct Range {
    Index first, last;
  };
  /// ‖r'‖² and ‖w‖²: what an error of Φ is multiplied by in yᵀA⁻¹y.
  struct Squares {
    double residual, weights;
  };

  // Choosing and laying out.
  Index behind() const { return points_->padded_size(); }
  InternalCut band_cut(bool keep) const;
  void split(const Kernel& kernel);
  /// How far an entry of B⁻¹ dies away to the share that cutting V may cost: an estimate.
  double decay_length() const;
  /// What the errors of the polynomials, of V's cut and of Y's may be together.
  double allowance(const Squares& squares) const;
  /// Of which V's cut may take so much, and the polynomials and Y's cut this each.
  static constexpr double kCutPart = 0.6, kSharePart = 0.2;
  void lay_out();  // for share_, all of the following
  void choose_extensions();
  void choose_chunks();
  void lay_out_nodes();
  void lay_out_columns();
  void lay_out_pairs();
  /// Doubles that the layout needs, and whether that many are too many.
  double doubles() const;
  std::optional<Failure> too_large(double doubles) const;
  Index held_doubles() const;  // of V alone
  /// C, what every Gaussian is in the polynomials of the chunks that see it, block by block and row by row;
  /// or C', the same of Ψ = ∂Φ/∂log ℓ = WC' with the nodes held fixed: Ψ_ij = Φ_ij (2(xᵢ − u_j)²/ℓ² − ½).
  void expand(bool slopes, double* rows);
  void take_coefficients();
  /// Values of eight Gaussians at a chunk's stations, in between_.
  void fill_stations(const NodePanel& nodes, const LocalPolynomials::Chunk& chunk,
                     const LocalPolynomials::Stations& at);
  const LocalPolynomials::Chunk& chunk_of(const ColumnPanel& panel) const {
    return polynomials_.chunks()[static_cast<std::size_t>(panel.chunk)];
  }
  const ChunkNodes& nodes_of(const ColumnPanel& panel) const {
    return nodes_[static_cast<std::size_t>(panel.chunk)];
  }
  Index block_of(const ColumnPanel& panel, std::size_t k) const {
    return nodes_of(panel).block + static_cast<Index>(k) * chunk_of(panel).panels + panel.part;
  }
  /// Panels a and a + 1 where both are of one chunk and before `end`, else a alone: how many.
  Index take_two(Index a, Index end, double** rows);
  ColumnPanel& column_panel(Index a) { return columns_[static_cast<std::size_t>(a)]; }
  /// Panels of columns that are held at panel p of points, and those that the gradient takes into account
  /// there.
  Range held(Index p) const { return held_[static_cast<std::size_t>(p)]; }
  Range felt(Index p) const { return felt_[static_cast<std::size_t>(p)]; }

  // Factoring.
  void subtract_basis(RightHandSides w, RightHandSides columns);  // columns −← VCw
  void add_transposed(const double* column, double* w);           // w +← CᵀVᵀcolumn
  void add_coefficients_transposed(const ColumnPanel& panel, const double* z, double* w) const;
  std::optional<Failure> factor_parts(RightHandSides b);
  void after_factor(PanelRange range, RightHandSides b) override;
  /// Adds the rows of a point panel to ‖D^{−½}RC‖_F² of every chunk, the error of cutting V behind its last
  /// point.
  void measure_cut(Index p);
  /// ≥ ‖D^{−½}RC‖ for all chunks together.
  double cut_error() const;
  /// The most that is left of a ±1 in the rows after a chunk's first one where Y of that chunk is cut.
  double measure_decay();
  /// ‖r'‖² and ‖w‖² of the first column, profiled over the others.
  Squares squares_of(RightHandSides b) const;
  /// Whether Y is held as far as it takes.
  bool reaches_back() const;
  /// Whether the chunks and what is held beyond them suit the columns; if not, they are laid out anew.
  bool suits(RightHandSides b);
  std::optional<Failure> solve_nodes(RightHandSides b);
  void add_nodes(RightHandSides b);
  /// block ← Σ xyᵀ over pairs of blocks, as add_outers() adds them.
  static void sum_outers(const std::vector<const double*>& x, const std::vector<const double*>& y,
                         double* block);
  /// (column panel a's rows, b's columns) of N, a and b in any order: block[8·column + row].
  const double* gram_block(Index a, Index b, double* scratch);

  // The gradient, and what corrects the inverse of the band.
  void before_inversion(PanelRange range, const double* column) override;
  /// The same before Y's first point: ‖RC‖_F² of what LᵀY leaves there.
  void measure_back(Index p);
  /// Y at the points of panel p, from V that ends where it is held or where the gradient takes it to end.
  void solve_back(Index p, bool whole);
  [[nodiscard]] std::optional<Failure> whiten_back();  // V → Y, unless that has been done
  void mirror_inverse();                               // S in full blocks, for products from both sides
  const double* inverse_block(Index q, Index r);
  void start_corrections(bool with_slopes);
  void add_slopes(Index a, Index b);
  void take_slopes();
  void correct(Index j, Index last, double* blocks) override;

  /// p = φ* − CᵀYᵀκ of up to eight test points, in the columns of forward_; the panels of M that it touches.
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
  const Kernel* kernel_ = nullptr;  // all terms
  Kernel short_kernel_;
  std::vector<std::size_t> short_index_;
  std::vector<LongTerm> long_;
  BandRepresentation band_;
  GridErrors errors_;
  bool reached_ = true;

  LocalPolynomials polynomials_;
  std::vector<NodePanel> panels_;
  std::vector<ColumnPanel> columns_;
  std::vector<ChunkNodes> nodes_;   // of every chunk
  std::vector<Range> held_, felt_;  // for every panel of points
  Index blocks_ = 0, pairs_ = 0;    // of C, of Σ
  AlignedBuffer values_, rows_of_c_, columns_of_c_;
  Envelope gram_envelope_, envelope_;  // of N and M
  PanelBand gram_, matrix_;
  SelectedInverse inversion_;
  double largest_ = 1;
  /// How far V goes beyond its chunk and Y before it: an estimate, and by how much that has been too short.
  struct Extension {
    double distance = 0, growth = 1;
  };
  void hold_farther(Extension& extension, Index attempt) const;
  Extension forward_extension_, back_extension_;
  /// What cutting B leaves of V reaches as far as B does: V goes beyond that where it would cost too much.
  static constexpr double kPastBand = 1.1;
  bool past_band_ = false;
  double left_per_rho_ = 0;      // the error of V's cut beside ρ, as it was where V ended within the band
  std::optional<Squares> seen_;  // in the last evaluation
  Index attempts_ = 0;
  double share_ = 0;             // what the polynomials and either cut may cost
  UpperBound polynomial_error_;  // ≥ ‖D^{−½}(Φ − WC)‖
  AlignedBuffer given_;          // the columns as they came, for another attempt
  Index given_columns_ = 0, given_stride_ = 0;
  AlignedBuffer projected_;          // Vᵀ(L⁻¹b)
  std::vector<double> cut_squares_;  // ‖D^{−½}RC‖_F² of V's cut, for every chunk
  Index most_ended_ = 0;             // chunks with a part in one row of R
  Index still_felt_ = 0;             // the first panel of columns that has not ended before a row of L begins
  Index most_seeing_ = 0;            // chunks that see one node
  double decay_ = 0;        // what is left where the gradient takes V to end, and of a probe where Y is cut
  double back_square_ = 0;  // ‖RC‖_F² of Y's cut
  AlignedBuffer projected_residual_;  // Vᵀr', gathered while V turns into Y
  bool transposed_ = false;
  std::vector<Index> mirror_start_;
  AlignedBuffer mirror_;

  // The gradient under way.
  Index ring_ = 1, most_held_ = 1;
  std::vector<const double*> x_, y_, slope_x_, slope_y_, gram_row_;
  AlignedBuffer sigma_, slopes_of_c_, transposed_y_, product_, step_, between_, probe_;
  std::vector<double> slope_sums_;
  std::vector<double> band_gradient_;
  ForwardSquares forward_;
  // The terms that are being predicted, and those of them that are in the band.
  unsigned predicted_ = kAllTerms;
  Kernel cross_kernel_;
};

}  // namespace bandgp
