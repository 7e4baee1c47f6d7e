// SPDX-License-Identifier: Apache-2.0
// What repeats: the factors of a term, and the shapes that oscillate by themselves.            [math.md §12]
// Every formula is written once, for doubles and for vectors (T), in the lag |τ| ≥ 0.
#pragma once
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <string_view>
#include <variant>

#include "bandgp/base/oscillator.hpp"
#include "bandgp/kernel/parameter.hpp"

namespace bandgp {

/// The parameters of a term as the loops over lags use them; those that the term does not have are not read.
struct TermNumbers {
  double variance = 1;
  double inverse_lengthscale = 1;
  double inverse_period = 1;
  double inverse_square_smoothness = 1;
  double quality = 1;
};

/// A correlation at one lag and its slopes by the logs of period, smoothness and quality.  Those of
/// parameters that it does not have are 0.
template <class T>
struct Oscillation {
  T value, by_period, by_smoothness, by_quality;
};

/// exp(−2 sin²(πτ/P)/λ²): repeats exactly; small λ makes what repeats rough.
template <class T>
Oscillation<T> repeating(const T& lag, const TermNumbers& numbers) {
  using std::exp;
  const T turns = numbers.inverse_period * lag;
  const Turn<T> half = turn(0.5 * turns);
  const double z = 2 * numbers.inverse_square_smoothness;
  const T square = half.sin * half.sin;
  const T value = exp(-z * square);
  return {value, (2 * std::numbers::pi * z) * (turns * half.sin * half.cos * value),
          (2 * z) * (square * value), constant<T>(0.0)};
}

// Factors.  Each multiplies a shape by a correlation function of its own, so that |factor| ≤ 1, and a bound
// of the shape's tail bounds the tail of the product.

struct NoFactor {
  static constexpr std::string_view name = "", title = "";
  static constexpr std::array<Quantity, 0> parameters = {};
};

/// cos(2πτ/P)
struct CosFactor {
  static constexpr std::string_view name = "cos";
  static constexpr std::string_view title = "cosine";
  static constexpr std::array parameters = {Quantity::period};
  template <class T>
  static Oscillation<T> at(const T& lag, const TermNumbers& numbers) {
    const T turns = numbers.inverse_period * lag;
    const Turn<T> t = turn(turns);
    const T none = constant<T>(0.0);
    return {t.cos, (2 * std::numbers::pi) * (turns * t.sin), none, none};
  }
};

/// exp(−2 sin²(πτ/P)/λ²)
struct PeriodicFactor {
  static constexpr std::string_view name = "periodic";
  static constexpr std::string_view title = "periodic";
  static constexpr std::array parameters = {Quantity::period, Quantity::smoothness};
  template <class T>
  static Oscillation<T> at(const T& lag, const TermNumbers& numbers) {
    return repeating(lag, numbers);
  }
};

using AnyFactor = std::variant<NoFactor, CosFactor, PeriodicFactor>;
inline constexpr std::size_t kFactors = std::variant_size_v<AnyFactor>;

inline std::string_view factor_name(const AnyFactor& factor) {
  return std::visit([](auto f) { return decltype(f)::name; }, factor);
}

// Shapes that oscillate.

/// exp(−2 sin²(πτ/P)/λ²) by itself: what repeats never changes.
struct Periodic {
  static constexpr std::string_view name = "periodic";
  static constexpr std::array<std::string_view, 0> aliases = {};
  static constexpr std::string_view title = "Periodic";
  static constexpr std::array parameters = {Quantity::variance, Quantity::period, Quantity::smoothness};
  static constexpr bool bends_at_data = false;
  template <class T>
  static Oscillation<T> at_lag(const T& lag, const TermNumbers& numbers) {
    return repeating(lag, numbers);
  }
};

/// A damped oscillator driven by white noise: e^{−a}(cos b + a·sin b/b) with s = 2π|τ|/P, a = s/2Q,
/// b² = s² − a², and cosh, sinh where b² < 0.  Q = ½ is matern32 with ℓ = √3·P/2π.
struct Sho {
  static constexpr std::string_view name = "sho";
  static constexpr std::array<std::string_view, 0> aliases = {};
  static constexpr std::string_view title = "Damped oscillator";
  static constexpr std::array parameters = {Quantity::variance, Quantity::period, Quantity::quality};
  static constexpr bool bends_at_data = false;
  static constexpr int states = 2;

  template <class T>
  static Oscillation<T> at_lag(const T& lag, const TermNumbers& numbers) {
    using std::min;
    const Waves<T> w = damped_waves(lag, numbers.inverse_period, numbers.quality);
    const T s = min(2 * std::numbers::pi * numbers.inverse_period * lag, constant<T>(1e100));
    const T a = (0.5 / numbers.quality) * s, square = s * s;
    return {w.c + a * w.s, square * w.s, constant<T>(0.0), a * square * w.t};
  }
};

}  // namespace bandgp
