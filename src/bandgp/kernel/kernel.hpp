// SPDX-License-Identifier: Apache-2.0
// A covariance function is a flat sum of terms, each a variance times a shape times, perhaps, a factor:
// k(τ) = Σ variance · shape(τ) · factor(τ).                                                    [math.md §3]
#pragma once
#include <functional>
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
  AnyFactor factor = NoFactor{};
  double period = kUnset, smoothness = kUnset, quality = kUnset;

  /// The parameters that a term of this shape and factor has, in the order of Quantity; the others stay
  /// unset.
  std::span<const Parameter> parameters() const;
  /// Whether a parameter, such as &Term::period, is one of them.
  bool has(double Term::*member) const;
  bool has_factor() const { return factor.index() != 0; }
  /// Whether two terms differ in their parameters' values alone.
  bool same_form(const Term& other) const {
    return shape.index() == other.shape.index() && factor.index() == other.factor.index();
  }
  /// The numbers that the loops over lags use.
  TermNumbers numbers() const {
    return {variance, 1 / lengthscale, 1 / period, 1 / (smoothness * smoothness), quality};
  }
};

/// Whether terms of this shape may have a factor.
inline bool takes_factors(const AnyShape& shape) {
  return std::visit([](auto s) { return TakesFactors<decltype(s)>; }, shape);
}
/// body(shape, factor) with the types of a term's shape and factor.
template <class Body>
auto visit_term(const Term& term, Body&& body) {
  return std::visit(
      [&]<class S, class F>(S shape, F factor) {
        if constexpr (TakesFactors<S> || std::is_same_v<F, NoFactor>)
          return body(shape, factor);
        else
          return body(shape, NoFactor{});  // the parser refuses such terms
      },
      term.shape, term.factor);
}
/// What people call the term: its shape and, where it has one, its factor.
std::string term_title(const Term& term);
/// The time over which a term forgets itself: its length-scale, Q/π periods of an oscillator; ∞ where it
/// repeats for ever.
double memory(const Term& term);
/// The shortest time over which a term's curve changes: what a plot must resolve.
double shortest_time(const Term& term);

/// `variance`, `time` or `none`.
std::string_view unit_name(Unit unit);

/// The noise as a parameter.  It belongs to no term and comes after the parameters of all of them.
const Parameter& noise_parameter();

inline bool is_se(const Term& term) { return std::holds_alternative<Se>(term.shape) && !term.has_factor(); }

/// Whether a term repeats for ever without a change: it is columns over the whole series.
inline bool is_strictly_periodic(const Term& term) { return std::holds_alternative<Periodic>(term.shape); }

/// Whether the covariance of a term can be cut to a band with a bound on what was left out.
inline bool can_be_banded(const Term& term) {
  return std::visit([](auto shape) { return HasTail<decltype(shape)>; }, term.shape);
}
/// The number of states of the shape's state-space form; 0 where it has none.
inline int state_count(const AnyShape& shape) {
  return std::visit(
      []<class S>(S) {
        if constexpr (HasStates<S>) return int{S::states};
        return 0;
      },
      shape);
}
/// Whether a term has a state-space form: a shape's own, turning where it has a factor.
inline bool has_states(const Term& term) { return state_count(term.shape) > 0; }
/// The number of states of a Matérn term without a factor; 0 for every other.
inline int matern_states(const Term& term) {
  return term.has_factor() || std::holds_alternative<Sho>(term.shape) ? 0 : state_count(term.shape);
}
/// Whether a term is a sum of the columns of a grid: Gaussians, which oscillate where it has a factor.
inline bool has_grid(const Term& term) {
  return std::visit([](auto shape) { return HasBasis<decltype(shape)>; }, term.shape);
}
/// Whether a term is a sum of the columns of a basis that does not oscillate.
inline bool has_basis(const Term& term) { return has_grid(term) && !term.has_factor(); }

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

/// The names of all factors, likewise.
std::span<const std::string_view> factor_names();

/// What a duration such as `24h` is in the unit of the times; throws std::invalid_argument.
using ReadDuration = std::function<double(std::string_view)>;
/// For text that belongs to no series: throws.
double no_duration(std::string_view text);

/// Reads `0.8*se(lengthscale=20) + matern12*cos(period=3)`, in any case and with a shape's aliases; throws
/// std::invalid_argument naming the place and what was expected.  Times may be durations.
Kernel parse_kernel(std::string_view text, const ReadDuration& duration = no_duration);

/// The text form; parse_kernel(to_text(k)) gives k back, bit by bit.
std::string to_text(const Kernel& kernel);
/// The text form without any values: `se + matern12*cos`.
std::string shapes_text(const Kernel& kernel);

/// The parameters of each term, then noise: `variance, lengthscale, noise` for one term; `variance_1,
/// lengthscale_1, variance_2, …, noise` for several.
std::vector<std::string> parameter_names(const Kernel& kernel);

/// Throws std::invalid_argument unless every parameter is set, finite and positive.
void require_valid(const Kernel& kernel);

}  // namespace bandgp
