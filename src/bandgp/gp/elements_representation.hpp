// SPDX-License-Identifier: Apache-2.0
// Sums of SE and Markov terms, of any lengths, by elements and the front.                 [math.md §11, §12]
// An SE term that oscillates is a sum of terms, one for each harmonic, each with a grid of its own: the
// variances of high harmonics are small, and small variances need few nodes.
#pragma once
#include <memory>
#include <vector>

#include "bandgp/basis/grid_design.hpp"
#include "bandgp/gp/representation.hpp"
#include "bandgp/gp/state_form.hpp"

namespace bandgp {

/// Whether every term is SE, oscillating or not, or has states, and no more states than the front takes.
bool has_elements(const Kernel& kernel);

class ElementsRepresentation final : public Representation {
 public:
  /// With two threads the second one takes what chunks need no other chunk for; more are not used.
  ElementsRepresentation(double tolerance, double max_bytes, Index threads = 1);
  ~ElementsRepresentation() override;

  Cost cost(const Kernel& kernel, const Observations& points, double q_bound) override;
  std::optional<Failure> choose(const Kernel& kernel, const Observations& points, double q_bound) override;
  void freeze() override { frozen_ = true; }
  void thaw() override { frozen_ = false; }
  Index basis_size() const override;
  bool choose_again(const CertificateInputs& inputs) override;
  Index reduced_size() const override;
  Index carried_size() const override;
  std::optional<Failure> factor(RightHandSides b) override;
  bool reduce(RightHandSides b) override;
  double log_determinant() override;
  void finish(RightHandSides b) override;
  void gradient(RightHandSides b, const double* noise_slope, std::span<double> out) override;
  void inverse_diagonal(std::span<double> out) override;
  void whiten(double* column, std::uint64_t seed) override;
  double rounding(double* column, const double* b) override;
  Certificate certificate(CertificateInputs inputs) const override;
  std::string_view name() const override { return "elements"; }
  Index bandwidth() const override { return 0; }
  double reach() const override { return 0; }
  double condition() override;
  std::optional<Failure> predict(std::span<const double> x, unsigned terms, RightHandSides solved,
                                 double* projection, double* variance) override;
  void covariance(std::span<const double> x, double* out) override;
  std::optional<Weights> weights() override;
  void draw_weights(std::span<double> white, std::uint64_t seed) override;
  bool reaches_tolerance() const { return reached_; }

 private:
  /// An SE term with its grid, or a harmonic of one.
  struct SmoothTerm {
    std::size_t index = 0;  // in the kernel
    Index harmonic = 0;
    double share = 1;          // of the term's variance
    double by_smoothness = 0;  // ∂log share/∂log smoothness
    GridDemand demand{};
    GridDesign design{};
    Index polynomials = 2;
  };
  /// The two parts of q: what the data leave, and the weights.
  struct Squares {
    double residual = 0, weights = 0;
  };
  struct Parts;  // the front and what goes with it
  struct Selection;
  Selection selection(unsigned terms) const;
  double weigh_points();
  void make_smooth(double q_bound, double tolerance, bool keep);
  void design(double q_bound, double tolerance, bool keep);
  static void shorten_windows(SmoothTerm& term, double allowed);
  void choose_cells(double allowed);
  double cost_of_cells() const;
  double cost_of_waves(double cell) const;
  UpperBound error_of_polynomials(const SmoothTerm& term) const;
  Certificate certificate_for(const CertificateInputs& inputs, Index nodes) const;
  double farthest() const;  // from 0, of the points
  /// Of a front that is laid out, with what the representation holds beside it for each of n points.
  double bytes(const Parts& parts, Index n) const;

  double tolerance_, max_bytes_;
  bool frozen_ = false, reached_ = true;
  const Kernel* kernel_ = nullptr;
  const Observations* points_ = nullptr;
  std::vector<std::size_t> grids_;   // indices of the SE terms
  std::vector<GridDemand> demands_;  // of each of these as a whole
  std::vector<SmoothTerm> smooth_;
  GridErrors rest_errors_;          // of the harmonics that are left out
  std::vector<std::size_t> rough_;  // indices of the Markov terms
  StateForm form_;                  // of these
  WeightedPoints weighted_{};
  std::vector<double> weights_;
  double nodes_ = 0;         // weights, at most
  double rho_ = 0;           // what the tolerance allows, about
  double share_ = 1;         // of the tolerance that the design was made for
  Index spacings_ = 4;       // of the finest grid in a cell
  Squares expected_, seen_;  // what the design was made for, and what the last θ made
  GridErrors errors_;
  UpperBound polynomial_error_;
  std::unique_ptr<Parts> parts_;
};

}  // namespace bandgp
