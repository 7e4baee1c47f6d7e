// SPDX-License-Identifier: Apache-2.0
// A representation of the covariance A = K + D: one way of holding it in which solves, log|A| and traces are
// cheap. Likelihood, prediction, leave-one-out and training are written against this interface and know no
// other. The paper's band (band_representation.hpp) is the first; the general form is A = ΦΦᵀ + B, of which
// it is B. [dual.md]
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "bandgp/band/envelope.hpp"
#include "bandgp/band/solve.hpp"
#include "bandgp/bandwidth/certificate.hpp"
#include "bandgp/base/dot.hpp"
#include "bandgp/gp/dual_state.hpp"
#include "bandgp/gp/model.hpp"
#include "bandgp/gp/observations.hpp"

namespace bandgp {

/// Why there is no value at this θ: an outcome, not an error.
struct Failure {
  enum class Kind { not_positive_definite, too_large };
  Kind kind;
  Index row = 0;       // not_positive_definite: where the pivot failed
  double bytes = 0;    // too_large: what the matrix would need
  double seconds = 0;  // too_large: what one evaluation would roughly take
};

/// Where a term is held, and in how many rows: neighbours of a band, nodes of a grid, states, or columns over
/// the whole series.
struct TermPlace {
  std::string_view where;  // band, grid, states, columns
  Index rows = 0;
};

/// What one evaluation with gradient takes, roughly; known before anything is spent.
struct Cost {
  double bytes = 0, seconds = 0;
  Index bandwidth = 0;
  double reach = 0;                    // distance that the widest row spans
  std::string_view method = {};        // what would be in use
  std::vector<TermPlace> places = {};  // of every term; empty for the methods with a model of their own
};

/// The weights that the whole curve is made of, where every term is in a basis: f = Σ_j φ_j w_j.
struct Weights {
  struct Part {
    GridDesign design;
    std::vector<GaussianGrid::Run> runs;  // numbered from 0 on
    Index first;                          // number of its first weight among all
  };
  std::vector<Part> parts;  // one for each term
  Index count;              // of all weights
  Index offset;             // of their means in a solved column
};

/// A banded matrix that is factored: the covariance of the points, or the matrix of the nodes of a grid.
struct BandShape {
  std::string_view rows;  // points or nodes
  const Envelope* entries;
};

class Representation {
 public:
  virtual ~Representation() = default;

  /// What an evaluation with gradient at θ takes; may decide what to keep, as choose() does.
  virtual Cost cost(const Kernel& kernel, const Observations& points, double q_bound) = 0;
  /// From now on, or no longer: the form and the entries of the last evaluation, so that differences of the
  /// gradient are differences of one function.
  virtual void freeze() {}
  virtual void thaw() {}
  /// Decides what to keep at θ.  q_bound ≥ yᵀD⁻¹y (profiled over the mean where there is one).  Kernel and
  /// points must stay as they are until the next choice.
  [[nodiscard]] virtual std::optional<Failure> choose(const Kernel& kernel, const Observations& points,
                                                      double q_bound) = 0;
  /// Length of a reduced column, from choose() on; the first entries are the n of the column.
  virtual Index reduced_size() const = 0;
  /// Doubles that each column carries behind its reduced ones (from a multiple of 8 on): they belong to the
  /// column in every linear combination.
  virtual Index carried_size() const { return 0; }
  /// aᵀA⁻¹b of two reduced columns, whose first `length` entries, a multiple of 8, are the reduced ones.
  virtual double product(const double* a, const double* b, Index length) const { return dot(a, b, length); }
  /// Weights of a basis, which are what comes first behind the points in a reduced column.
  virtual Index basis_size() const { return 0; }
  /// After factor(): whether what was left out was chosen for other data than those that make these squares,
  /// so that choosing and factoring once more will leave out less.
  [[nodiscard]] virtual bool choose_again(const CertificateInputs&) { return false; }
  /// Holds and factors A, and reduces the columns b in place: afterwards bᵢᵀA⁻¹bⱼ is their product().
  [[nodiscard]] virtual std::optional<Failure> factor(RightHandSides b) = 0;
  /// Reduces further columns with the factor that is there; false where a representation cannot.
  [[nodiscard]] virtual bool reduce(RightHandSides) { return false; }
  virtual double log_determinant() = 0;
  /// What the loss has besides the likelihood of N(Hβ, A), once factored; its slope is in gradient().
  virtual double extra_loss() { return 0; }

  /// Reduced columns → A⁻¹ columns (the first n entries; what lies behind them is the representation's own).
  /// Keeps the factor.
  virtual void finish(RightHandSides b) = 0;
  /// Reduced columns → α_c = A⁻¹b_c, and ½ tr[(A⁻¹ − Σ α_cα_cᵀ) ∂A] for the logs of all terms' parameters
  /// (Kernel::first_parameter says where) and, last, for ∂A = diag(noise_slope).  Uses the factor up.
  virtual void gradient(RightHandSides b, const double* noise_slope, std::span<double> out) = 0;
  /// diag A⁻¹.  Uses the factor up.
  virtual void inverse_diagonal(std::span<double> out) = 0;

  /// One reduced column of b → L_B⁻¹(b − Φw̃) with weights w̃ drawn around their mean: if b ~ N(0, A), white
  /// noise, because (b, w̃) is then distributed as (b, w).  Keeps the factor.
  virtual void whiten(double* column, std::uint64_t seed) = 0;
  /// About how many nats rounding has added to the error of the NLL, from residuals computed by another
  /// route: not a bound.  `column` is the reduced column of `b` and is used up; the factor is kept.
  virtual double rounding(double* column, const double* b) = 0;

  /// The bounds of what was left out, once factored; `inputs` lacks only what the representation knows
  /// itself.
  virtual Certificate certificate(CertificateInputs inputs) const = 0;
  /// What is in use: band, dual, markov, elements, columns.
  virtual std::string_view name() const = 0;
  /// Width of the banded matrix in use, and the distance cut (0: an index band).
  virtual Index bandwidth() const = 0;
  virtual double reach() const = 0;
  /// An estimate, from below, of the condition number that rounding is magnified by: the ratio of pivots of a
  /// band, the largest entry of the dual's matrix.
  virtual double condition() = 0;
  /// Which entries are kept, from choose() on.
  virtual std::vector<BandShape> shapes() const { return {}; }

  /// For increasing x* (internal), after factor(), which it keeps: projection[c·m + t] = k*ᵀ(solved column c)
  /// and, unless null, the variance k(0) − k*ᵀA⁻¹k* with the mean known.  k* and k(0) are those of `terms` (a
  /// bit for each term of the kernel): the whole curve, or a component of it.
  static constexpr unsigned kAllTerms = ~0U;
  [[nodiscard]] virtual std::optional<Failure> predict(std::span<const double> x, unsigned terms,
                                                       RightHandSides solved, double* projection,
                                                       double* variance) = 0;
  /// K** − K*f A⁻¹ Kf*, row-major, mean known.
  virtual void covariance(std::span<const double> x, double* out) = 0;

  /// After factor(), which it keeps; none where a term is not in a basis.
  virtual std::optional<Weights> weights() { return std::nullopt; }
  /// Where there are weights: independent normal numbers, one a weight, → a draw from N(0, their covariance),
  /// which may take further numbers from `seed`.
  virtual void draw_weights(std::span<double>, std::uint64_t) {}
  /// What a model file needs to predict without the data, of solved columns; none but from the dual.
  virtual std::optional<DualState> state(RightHandSides) { return std::nullopt; }
};

}  // namespace bandgp
