// SPDX-License-Identifier: Apache-2.0
// Sines and damped waves, for doubles and for vectors (T): what oscillating covariances are made of, whether
// they are filled in as matrices or followed by a filter.                                      [math.md §12]
#pragma once
#include <cmath>
#include <numbers>

namespace bandgp {

/// A number in every lane.
template <class T>
T constant(double x) {
  if constexpr (requires { T::all(x); })
    return T::all(x);
  else
    return x;
}
inline double nearest(double x) { return std::nearbyint(x); }
/// a where key ≤ bound, else b.
inline double select_le(double key, double bound, double a, double b) { return key <= bound ? a : b; }

template <class T>
struct Turn {
  T cos, sin;
};

/// cos 2πx and sin 2πx, each to 4e-16; near 0 the sine is good to a few units of its own last place.
template <class T>
Turn<T> turn(const T& x) {
  using std::abs;
  const T part = x - nearest(x);                                  // of one turn, exactly
  const T quarters = nearest(4.0 * part);                         // −2 … 2
  const T z = (2 * std::numbers::pi) * (part - 0.25 * quarters);  // |z| ≤ π/4
  const T z2 = z * z;
  // Taylor's series; what follows the last terms is below 5e-17.
  T s = -1.0 / 1307674368000.0 * z2;
  for (const double next :
       {1.0 / 6227020800.0, -1.0 / 39916800.0, 1.0 / 362880.0, -1.0 / 5040.0, 1.0 / 120.0, -1.0 / 6.0})
    s = z2 * (next + s);
  T c = 1.0 / 20922789888000.0 * z2;
  for (const double next : {-1.0 / 87178291200.0, 1.0 / 479001600.0, -1.0 / 3628800.0, 1.0 / 40320.0,
                            -1.0 / 720.0, 1.0 / 24.0, -0.5})
    c = z2 * (next + c);
  const T sine = z + z * s, cosine = 1.0 + c;
  // cos and sin of the quarters: 1, 0, −1 and 0, ±1, 0.
  const T by_cos = 1.0 - abs(quarters), by_sin = quarters * (2.0 - abs(quarters));
  return {by_cos * cosine - by_sin * sine, by_sin * cosine + by_cos * sine};
}

/// Of a damped oscillator after a time, s = 2π·time/period, a = s/2Q and b² = s² − a²: with C = cos b and
/// S = sin b/b (cosh and sinh where b² < 0), each times e^{−a}: C, S and (C − S)/b².
template <class T>
struct Waves {
  T c, s, t;
};
template <class T>
Waves<T> damped_waves(const T& time, double inverse_period, double quality) {
  using std::exp, std::expm1, std::max, std::min;
  constexpr double kForgotten = 1500;  // decay times after which nothing is left, and no product meets ∞
  const double damping = 0.5 / quality, square = 1 - damping * damping, root = std::sqrt(std::abs(square));
  const double slowest = square > 0 ? damping : 1 / (damping + root);  // of the decays damping ± root
  const double rate = 2 * std::numbers::pi * inverse_period;
  const T used = min(time, constant<T>(kForgotten / (rate * slowest)));
  const T s = rate * used;
  const T b = max(root * s, constant<T>(1e-150)), b2 = square * (s * s), one = constant<T>(1.0);
  Waves<T> w;
  if (square > 0) {
    const Turn<T> t = turn((root * inverse_period) * used);
    const T decay = exp(-damping * s);
    w.c = decay * t.cos;
    w.s = decay * select_le(b, 1e-8, one, t.sin / b);
  } else {
    const T slow = exp(-slowest * s), back = expm1(-2.0 * b);  // e^{−2b} − 1
    w.c = 0.5 * (slow * (2.0 + back));
    w.s = -0.5 * (slow * back) / b;
  }
  // (C − S)/b² cancels for small b: there it is Σ (−1)ᵏ 2k b^{2k−2}/(2k+1)!, k ≥ 1.
  constexpr int kTerms = 11;
  double factorial = 1;  // (2k + 1)!
  for (int k = 1; k <= kTerms; ++k) factorial *= 2.0 * k * (2.0 * k + 1);
  T series = constant<T>(0.0);
  for (int k = kTerms; k >= 1; --k) {
    series = (k % 2 == 0 ? 2.0 * k : -2.0 * k) / factorial + b2 * series;
    factorial /= 2.0 * k * (2.0 * k + 1);
  }
  w.t = select_le(b, 1.0, exp(-damping * s) * series, (w.c - w.s) / select_le(b, 1.0, one, b2));
  return w;
}

}  // namespace bandgp
