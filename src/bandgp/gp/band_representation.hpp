// SPDX-License-Identifier: Apache-2.0
// The paper's representation: Ã keeps the entries of K inside a band or a reach, the rest are 0. [math.md §3]
#pragma once
#include "bandgp/band/cholesky.hpp"
#include "bandgp/band/selected_inverse.hpp"
#include "bandgp/bandwidth/choose.hpp"
#include "bandgp/base/worker.hpp"
#include "bandgp/gp/cut.hpp"
#include "bandgp/gp/representation.hpp"
#include "bandgp/kernel/tiles.hpp"

namespace bandgp {

/// The band may take this share of the machine's memory unless the caller says otherwise.
double default_max_bytes();

class BandRepresentation final : public Representation {
 public:
  /// max_bytes 0: default_max_bytes().  With two threads the second one fills and contracts while the first
  /// factors and inverts; more are not used.  Results are the same bit for bit.
  BandRepresentation(const InternalCut& cut, double max_bytes, Index threads = 1)
      : cut_(cut), max_bytes_(max_bytes > 0 ? max_bytes : default_max_bytes()), worker_(threads > 1) {
    require_valid(cut);
  }

  /// Later factorisations use this cut; rule `envelope` keeps whatever the last one kept.
  void set_cut(const InternalCut& cut) { cut_ = cut; }

  Cost cost(const Kernel& kernel, const Observations& points, double q_bound) override;
  std::optional<Failure> choose(const Kernel& kernel, const Observations& points, double q_bound) override;
  Index reduced_size() const override { return envelope_.padded_size(); }
  std::optional<Failure> factor(RightHandSides b) override;
  bool reduce(RightHandSides b) override {
    solve_lower(matrix_, matrix_.all(), b);
    return true;
  }
  double log_determinant() override { return bandgp::log_determinant(matrix_); }
  void finish(RightHandSides b) override { solve_upper(matrix_, matrix_.all(), b); }
  void gradient(RightHandSides b, const double* noise_slope, std::span<double> out) override;
  void inverse_diagonal(std::span<double> out) override;
  void whiten(double*, std::uint64_t) override {}  // L⁻¹b is white already
  double rounding(double* column, const double* b) override;
  Certificate certificate(CertificateInputs inputs) const override;
  std::string_view name() const override { return tapered() ? "taper" : "band"; }
  Index bandwidth() const override { return envelope_.bandwidth(); }
  double reach() const override { return reach_; }
  double condition() override;
  std::vector<BandShape> shapes() const override { return {{"points", &envelope_}}; }
  std::optional<Failure> predict(std::span<const double> x, unsigned terms, RightHandSides solved,
                                 double* projection, double* variance) override;
  void covariance(std::span<const double> x, double* out) override;

 private:
  void decide(const Kernel& kernel, const Observations& points, double q_bound);
  std::optional<Failure> too_large(const Envelope& envelope, double evaluations) const;
  void fill(PanelRange range);
  void fill_panel(Index p, double* tile) const;
  /// out ← Ãx from the kernel, the matrix being a factor by now.
  void multiply(RightHandSides x, RightHandSides out) const;
  /// Adds the block columns of `range` to the gradient's sums.
  void contract(PanelRange range);
  PanelRange chunk_from(Index begin) const;
  /// Up to 8 test points [begin, end) whose windows start in the same panel: they see panels [first, last).
  struct Group {
    Index begin, end, first, last;
  };
  std::vector<Group> group(std::span<const double> x) const;
  /// k(x*_t − xᵢ) for a group: cross[8(i − 8·first) + t].
  void fill_cross(std::span<const double> x, const Group& group, double* cross) const;
  /// projection[c·count + t] ← k*ᵀ(solved column c) for the points t of a group.
  void project(const Group& group, const double* cross, RightHandSides solved, Index count,
               double* projection) const;
  std::optional<Failure> start_wide_inverse(const std::vector<Group>& groups);
  /// Moves a window to the points within the prediction's reach of x; x must not decrease from call to call.
  void advance(IndexRange& rows, double x) const;

  bool tapered() const { return cut_.method == Method::taper; }
  double covariance_at(double lag) const {
    return tapered() ? cut_.taper(lag) * (*kernel_)(lag) : (*kernel_)(lag);
  }

  InternalCut cut_;
  double max_bytes_;
  const Kernel* kernel_ = nullptr;
  const Observations* points_ = nullptr;
  WeightedPoints weighted_{};
  Envelope envelope_;
  std::vector<double> choice_scratch_;
  PanelBand matrix_;
  SelectedInverse inversion_;
  Worker worker_;
  PanelRange task_{};  // what the worker was asked to fill or contract
  // The gradient under way: α, ∂d/∂σₙ², Σ w ρ and Σ w (−rρ') of every term, Σ ½ w ∂d; and Σ wᵢᵢ, w = Z − ααᵀ.
  RightHandSides alpha_{};
  const double* noise_slope_ = nullptr;
  std::vector<TileSums> sums_;  // one for each term
  double trace_ = 0, by_noise_ = 0;
  UpperBound rho_ = UpperBound::infinite();
  double reach_ = 0;
  // Prediction: entries of K*f beyond this distance are left out; ε bounds ‖D^{−½}e‖₂ of them.
  double prediction_reach_ = 0;
  UpperBound left_out_;
  Kernel cross_kernel_;  // the terms that are being predicted
  Envelope wide_envelope_;
  PanelBand wide_;
};

}  // namespace bandgp
