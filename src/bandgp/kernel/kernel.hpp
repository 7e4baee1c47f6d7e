// SPDX-License-Identifier: Apache-2.0
// A covariance function is a flat sum of terms  k(τ) = Σ variance · ρ(|τ|/lengthscale).            [math.md
// §3]
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bandgp/base/index.hpp"
#include "bandgp/kernel/shape.hpp"

namespace bandgp {

/// A parameter that the text form left open: `se` says neither variance nor length-scale.
inline constexpr double kUnset = std::numeric_limits<double>::quiet_NaN();

struct Term {
  AnyShape shape;
  double variance = kUnset;
  double lengthscale = kUnset;

  /// The parameters that a term of this shape has, in the order of Quantity; the others stay unset.
  std::span<const Parameter> parameters() const;
};

/// `variance`, `time` or `none`.
std::string_view unit_name(Unit unit);

/// The noise as a parameter.  It belongs to no term and comes after the parameters of all of them.
const Parameter& noise_parameter();

inline bool is_se(const Term& term) { return std::holds_alternative<Se>(term.shape); }

/// Whether the covariance of a term can be cut to a band with a bound on what was left out.
inline bool can_be_banded(const Term& term) {
  return std::visit([](auto shape) { return HasTail<decltype(shape)>; }, term.shape);
}
/// The number of states of the term's state-space form; 0 where it has none.
inline int state_count(const Term& term) {
  return std::visit(
      []<class S>(S) {
        if constexpr (HasStates<S>) return int{S::states};
        return 0;
      },
      term.shape);
}
/// Whether a term is a sum of the columns of a basis.
inline bool has_basis(const Term& term) {
  return std::visit([](auto shape) { return HasBasis<decltype(shape)>; }, term.shape);
}

struct Kernel {
  std::vector<Term> terms;

  Kernel() = default;
  Kernel(std::vector<Term> sum) : terms(std::move(sum)) {}  // NOLINT implicit
  /// The text form: `"se + se"` can stand wherever a kernel is wanted.  Throws as parse_kernel does.
  Kernel(const char* text);  // NOLINT implicit

  /// k(0) = Σ variance: the prior variance of the latent curve.
  double variance() const;
  /// k(τ), one lag at a time; the fast paths are in tiles.hpp.
  double operator()(double lag) const;
  /// The |τ| from which every term vanishes; ∞ unless all are compactly supported.
  double support() const;
  /// One SE term and nothing else: what the paper's closed rules and the dual band are for.
  bool is_single_se() const { return terms.size() == 1 && is_se(terms.front()); }
  /// The terms whose bit is set, in order.
  Kernel subset(unsigned bits) const;
  /// True when every parameter of every term has a value.
  bool complete() const;

  /// Number of the parameters of all terms.  Whatever lists the parameters of a model (names, values, a
  /// gradient) has those of each term in turn and then the noise: one more than this.
  std::size_t parameter_count() const;
  /// The index of a term's first parameter in such a list.
  std::size_t first_parameter(std::size_t term) const;
  /// The index of the parameter that a term holds in `member`, such as &Term::lengthscale; the term has it.
  std::size_t parameter_index(std::size_t term, double Term::*member) const;
};

/// The names of all shapes, in the order of AnyShape: whatever lists shapes for people asks here.
std::span<const std::string_view> shape_names();

/// Reads `0.8*se(lengthscale=20) + matern12`, in any case and with a shape's aliases; throws
/// std::invalid_argument naming the place and what was expected.
Kernel parse_kernel(std::string_view text);

/// The text form; parse_kernel(to_text(k)) gives k back, bit by bit.
std::string to_text(const Kernel& kernel);
/// The text form without any values: `se + matern12`.
std::string shapes_text(const Kernel& kernel);

/// The parameters of each term, then noise: `variance, lengthscale, noise` for one term; `variance_1,
/// lengthscale_1, variance_2, …, noise` for several.
std::vector<std::string> parameter_names(const Kernel& kernel);

/// Throws std::invalid_argument unless every parameter is set, finite and positive.
void require_valid(const Kernel& kernel);

}  // namespace bandgp
