// SPDX-License-Identifier: Apache-2.0
// A bound is a type, not a double: what is certified is computed in UpperBound, whose arithmetic rounds
// outward.
#pragma once
#include <cmath>
#include <limits>

namespace bandgp {

/// A double known to be no smaller than the non-negative real number it stands for.
class UpperBound {
 public:
  constexpr UpperBound() = default;
  /// Wraps a computed value that is off by at most `ulps` units in its last place.  The last place of a
  /// denormal number (or of a result that underflowed to 0) is denorm_min.
  static UpperBound of(double computed, double ulps = 4) {
    if (!(computed >= 0)) return infinite();  // NaN bounds nothing
    if (computed == 0 && ulps == 0) return UpperBound(0.0);
    constexpr double u = std::numeric_limits<double>::epsilon();
    return outward(computed * (1 + ulps * u) + ulps * std::numeric_limits<double>::denorm_min());
  }
  /// A number that is itself the bound: exact, or a bound that was written down before.
  static UpperBound exactly(double value) { return value >= 0 ? UpperBound(value) : infinite(); }
  static UpperBound infinite() { return UpperBound(std::numeric_limits<double>::infinity()); }

  double value() const { return value_; }
  bool is_finite() const { return std::isfinite(value_); }

  friend UpperBound operator+(UpperBound a, UpperBound b) {
    if (a.value_ == 0) return b;  // exact, and 0 + 0 stays 0
    return b.value_ == 0 ? a : outward(a.value_ + b.value_);
  }
  friend UpperBound operator*(UpperBound a, UpperBound b) {
    if (a.value_ == 0 || b.value_ == 0) return UpperBound(0.0);  // 0 · ∞ = 0 here: nothing was left out
    return outward(a.value_ * b.value_);  // a product that underflows is denorm_min, not 0
  }
  friend UpperBound sqrt(UpperBound a) { return a.value_ == 0 ? a : outward(std::sqrt(a.value_)); }
  /// x / (1 − x) and −log(1 − x), both increasing; infinite from x = 1 on.
  friend UpperBound over_one_minus(UpperBound x) {
    return x.value_ >= 1 ? infinite() : of(x.value_ / (1 - x.value_), x.value_ > 0 ? 4 / (1 - x.value_) : 0);
  }
  friend UpperBound minus_log_one_minus(UpperBound x) {
    return x.value_ >= 1 ? infinite() : (x.value_ == 0 ? UpperBound(0.0) : of(-std::log1p(-x.value_), 4));
  }
  friend UpperBound max(UpperBound a, UpperBound b) { return a.value_ >= b.value_ ? a : b; }

 private:
  explicit constexpr UpperBound(double value) : value_(value) {}
  static UpperBound outward(double computed) {
    return UpperBound(std::nextafter(computed, std::numeric_limits<double>::infinity()));
  }
  double value_ = 0;
};

}  // namespace bandgp
