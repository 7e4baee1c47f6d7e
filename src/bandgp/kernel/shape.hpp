// SPDX-License-Identifier: Apache-2.0
// Shapes: correlation functions of the lag |τ| with the value 1 at 0.
// Every shape states
//   name, aliases, title  how it is written, what else is read for it, and what people call it
//   parameters            which parameters a term of this shape has
//   bends_at_data         whether curves have kinks where the data are, so that a plot must not skip data
// and either of
//   at(r)                 a shape that only stretches: ρ(r), r = |τ|/ℓ ≥ 0, and its slope −r ρ'(r) = ∂ρ/∂log
//   ℓ,
//                         sharing one exp; for doubles and for vectors (T)
//   at_lag(lag, numbers)  a shape that oscillates (oscillation.hpp): its value and its slopes
// and, each where it is true of it, what a term can be held in:
//   support, tail(r)      a band: ρ decreases, vanishes from `support` on (∞ where it does not), and
//                         tail(r) ≥ ∫ᵣ^∞ ρ bounds every row sum over points that were left out
//   states                a state-space form with so many states
//   basis                 columns of a basis
// To add one: write the struct, add it to AnyShape.  Nothing else changes, unless it has states: these need a
// form in gp/state_form.cpp and loops in markov/, and without them the library does not compile.
#pragma once
#include <algorithm>
#include <array>
#include <cmath>
#include <concepts>
#include <limits>
#include <numbers>
#include <string_view>
#include <variant>

#include "bandgp/base/upper_bound.hpp"
#include "bandgp/kernel/oscillation.hpp"
#include "bandgp/kernel/parameter.hpp"

namespace bandgp {

template <class T>
struct ShapeValue {
  T value;  // ρ(r)
  T slope;  // −r ρ'(r)
};

/// The basis whose columns sum up to a shape.
enum class Basis { gaussian_grid };

/// The parameters of a shape that only stretches: σ² ρ(|τ|/ℓ).
inline constexpr std::array kVarianceAndLengthscale = {Quantity::variance, Quantity::lengthscale};

/// exp(−r²/2)
struct Se {
  static constexpr std::string_view name = "se";
  static constexpr std::array<std::string_view, 1> aliases = {"rbf"};
  static constexpr std::string_view title = "Squared exponential";
  static constexpr auto parameters = kVarianceAndLengthscale;
  static constexpr bool bends_at_data = false;
  static constexpr Basis basis = Basis::gaussian_grid;
  static constexpr double support = std::numeric_limits<double>::infinity();
  template <class T>
  static ShapeValue<T> at(const T& r) {
    using std::exp;
    const T square = r * r;
    const T value = exp(-0.5 * square);
    return {value, square * value};
  }
  /// √(π/2) erfc(r/√2); erfc is good to 5 ulps, the scaled argument adds r² more.
  static UpperBound tail(double r) {
    r = std::min(r, 36.0);  // tails decrease: a capped r still bounds, and no factor underflows or meets ∞
    return UpperBound::of(std::sqrt(std::numbers::pi / 2) * std::erfc(r / std::numbers::sqrt2),
                          16 + 4 * r * r);
  }
};

/// exp(−r)
struct Matern12 {
  static constexpr std::string_view name = "matern12";
  static constexpr std::array<std::string_view, 5> aliases = {"matern1/2", "matern-1/2", "matern_1/2",
                                                              "matern-12", "matern_12"};
  static constexpr std::string_view title = "Matérn 1/2";
  static constexpr auto parameters = kVarianceAndLengthscale;
  static constexpr bool bends_at_data = true;
  static constexpr int states = 1;
  static constexpr double support = std::numeric_limits<double>::infinity();
  template <class T>
  static ShapeValue<T> at(const T& r) {
    using std::exp;
    const T value = exp(-1.0 * r);
    return {value, r * value};
  }
  static UpperBound tail(double r) { return UpperBound::of(std::exp(-r), 8); }
};

/// (1 + a) exp(−a), a = √3 r
struct Matern32 {
  static constexpr std::string_view name = "matern32";
  static constexpr std::array<std::string_view, 5> aliases = {"matern3/2", "matern-3/2", "matern_3/2",
                                                              "matern-32", "matern_32"};
  static constexpr std::string_view title = "Matérn 3/2";
  static constexpr auto parameters = kVarianceAndLengthscale;
  static constexpr bool bends_at_data = false;
  static constexpr int states = 2;
  static constexpr double support = std::numeric_limits<double>::infinity();
  template <class T>
  static ShapeValue<T> at(const T& r) {
    using std::exp;
    const T a = std::numbers::sqrt3 * r;
    const T e = exp(-1.0 * a);
    return {(1.0 + a) * e, a * a * e};
  }
  static UpperBound tail(double r) {
    const double a = std::numbers::sqrt3 * std::min(r, 300.0);  // capped as in Se
    return UpperBound::of((2 + a) * std::exp(-a) / std::numbers::sqrt3, 16 + 4 * a);
  }
};

/// (1 + a + a²/3) exp(−a), a = √5 r
struct Matern52 {
  static constexpr std::string_view name = "matern52";
  static constexpr std::array<std::string_view, 5> aliases = {"matern5/2", "matern-5/2", "matern_5/2",
                                                              "matern-52", "matern_52"};
  static constexpr std::string_view title = "Matérn 5/2";
  static constexpr auto parameters = kVarianceAndLengthscale;
  static constexpr bool bends_at_data = false;
  static constexpr double sqrt5 = 2.23606797749978969641;
  static constexpr int states = 3;
  static constexpr double support = std::numeric_limits<double>::infinity();
  template <class T>
  static ShapeValue<T> at(const T& r) {
    using std::exp;
    const T a = sqrt5 * r;
    const T e = exp(-1.0 * a);
    return {(1.0 + a * (1.0 + (1.0 / 3.0) * a)) * e, (1.0 / 3.0) * (a * a) * (1.0 + a) * e};
  }
  static UpperBound tail(double r) {
    const double a = sqrt5 * std::min(r, 300.0);  // capped as in Se
    return UpperBound::of((8 + a * (5 + a)) * std::exp(-a) / (3 * sqrt5), 16 + 4 * a);
  }
};

/// (1 − r)₊⁴ (4r + 1)
struct Wendland2 {
  static constexpr std::string_view name = "wendland2";
  static constexpr std::array<std::string_view, 0> aliases = {};
  static constexpr std::string_view title = "Wendland 2";
  static constexpr auto parameters = kVarianceAndLengthscale;
  static constexpr bool bends_at_data = true;
  static constexpr double support = 1;
  template <class T>
  static ShapeValue<T> at(const T& r) {
    using std::max;
    const T s = max(1.0 - r, 0.0 * r);
    const T cube = s * s * s;
    return {cube * s * (1.0 + 4.0 * r), 20.0 * (r * r) * cube};
  }
  static UpperBound tail(double r) {
    if (r >= 1) return UpperBound::exactly(0);
    const double s = 1 - r;  // ∫ s⁴(5 − 4s) = s⁵ − ⅔ s⁶
    return UpperBound::of(std::pow(s, 5) * (1 - 2 * s / 3), 32);
  }
};

/// (1 − r)₊⁶ (35r² + 18r + 3)/3
struct Wendland4 {
  static constexpr std::string_view name = "wendland4";
  static constexpr std::array<std::string_view, 0> aliases = {};
  static constexpr std::string_view title = "Wendland 4";
  static constexpr auto parameters = kVarianceAndLengthscale;
  static constexpr bool bends_at_data = false;
  static constexpr double support = 1;
  template <class T>
  static ShapeValue<T> at(const T& r) {
    using std::max;
    const T s = max(1.0 - r, 0.0 * r);
    const T fourth = (s * s) * (s * s);
    return {(1.0 / 3.0) * (fourth * (s * s)) * (3.0 + r * (18.0 + 35.0 * r)),
            (56.0 / 3.0) * (r * r) * (fourth * s) * (1.0 + 5.0 * r)};
  }
  static UpperBound tail(double r) {
    if (r >= 1) return UpperBound::exactly(0);
    const double s = 1 - r;  // ∫ s⁶(56 − 88s + 35s²)/3 = s⁷(8 − 11s + 35s²/9)/3
    return UpperBound::of(std::pow(s, 7) * (8 - 11 * s + 35 * s * s / 9) / 3, 64);
  }
};

template <class S>
concept Shape = requires {
  { S::name } -> std::convertible_to<std::string_view>;
  { S::aliases.size() } -> std::convertible_to<std::size_t>;
  { S::title } -> std::convertible_to<std::string_view>;
  { S::parameters.front() } -> std::convertible_to<Quantity>;
  { S::bends_at_data } -> std::convertible_to<bool>;
};
template <class S>
concept Stretches = Shape<S> && requires(double r) {
  { S::at(r) } -> std::same_as<ShapeValue<double>>;
};
template <class S>
concept Oscillates = Shape<S> && requires(double lag, const TermNumbers& numbers) {
  { S::at_lag(lag, numbers) } -> std::same_as<Oscillation<double>>;
};
template <class S>
concept HasTail = Stretches<S> && requires(double r) {
  { S::support } -> std::convertible_to<double>;
  { S::tail(r) } -> std::same_as<UpperBound>;
};
template <class S>
concept HasStates = Shape<S> && requires {
  { S::states } -> std::convertible_to<int>;
};
template <class S>
concept HasBasis = Shape<S> && requires {
  { S::basis } -> std::convertible_to<Basis>;
};

/// Whether a term of this shape may have a factor: what has states or a basis by itself has them with one.
template <class S>
concept TakesFactors = Stretches<S> && (HasStates<S> || HasBasis<S>);

template <Shape... S>
using AnyOf = std::variant<S...>;

using AnyShape = AnyOf<Se, Matern12, Matern32, Matern52, Wendland2, Wendland4, Sho, Periodic>;
inline constexpr std::size_t kShapes = std::variant_size_v<AnyShape>;

inline std::string_view shape_name(const AnyShape& shape) {
  return std::visit([](auto s) { return decltype(s)::name; }, shape);
}
inline std::string_view shape_title(const AnyShape& shape) {
  return std::visit([](auto s) { return decltype(s)::title; }, shape);
}

/// The parameters of a term of shape S with factor F, in the order of Quantity.
template <class S, class F>
inline constexpr auto parameters_of = [] {
  std::array<Quantity, S::parameters.size() + F::parameters.size()> all{};
  std::ranges::copy(S::parameters, all.begin());
  std::ranges::copy(F::parameters, all.begin() + S::parameters.size());
  std::ranges::sort(all);
  return all;
}();
template <class S, class F>
inline constexpr bool has_parameter(Quantity quantity) {
  return std::ranges::count(parameters_of<S, F>, quantity) > 0;
}

/// The correlation of a term at a lag ≥ 0 and its slopes by the logs of its parameters.
template <class T>
struct LagValue {
  T value, by_lengthscale, by_period, by_smoothness, by_quality;
};
template <class S, class F, class T>
LagValue<T> at_lag(const T& lag, const TermNumbers& numbers) {
  using std::min;
  const T none = constant<T>(0.0);
  if constexpr (!Stretches<S>) {
    const Oscillation<T> own = S::at_lag(lag, numbers);
    return {own.value, none, own.by_period, own.by_smoothness, own.by_quality};
  } else {
    // A shape with a tail is 0 (or below e^{−708}) from 10⁴ on; a longer lag would make ∞·0 of its slope.
    const T r = min(numbers.inverse_lengthscale * lag, constant<T>(1e4));
    const ShapeValue<T> shape = S::at(r);
    if constexpr (F::parameters.size() == 0) {
      return {shape.value, shape.slope, none, none, none};
    } else {
      const Oscillation<T> factor = F::at(lag, numbers);
      return {shape.value * factor.value, shape.slope * factor.value, shape.value * factor.by_period,
              shape.value * factor.by_smoothness, none};
    }
  }
}

}  // namespace bandgp
