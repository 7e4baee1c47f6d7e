// SPDX-License-Identifier: Apache-2.0
// Truth: the same operation on the same doubles in long double (64-bit mantissa, far wider exponent).
#include "bandgp/base/upper_bound.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace {

using bandgp::UpperBound;
using Limits = std::numeric_limits<double>;
using Real = long double;

static_assert(std::numeric_limits<Real>::digits >= 64, "the oracle needs more digits than double has");

/// Non-negative doubles of every kind: 0, denormal, ordinary, huge, ∞.
std::vector<double> samples() {
  std::vector<double> values = {
      0, Limits::denorm_min(), Limits::min(), 1 - Limits::epsilon() / 2, 0.5, 1, 1.5, 1 + Limits::epsilon(),
      3, Limits::max(),        1e-200,        Limits::infinity()};
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> mantissa(1, 2), unit(0, 1);
  std::uniform_int_distribution<int> exponent(-1074, 1023), small(-40, 3);
  for (int i = 0; i < 300; ++i) {
    values.push_back(std::ldexp(mantissa(random), exponent(random)));
    values.push_back(std::ldexp(mantissa(random), small(random)));
    values.push_back(unit(random));
    values.push_back(std::ldexp(mantissa(random), -1060));
  }
  return values;
}

/// `bound` is not below `exact`, and above it by no more than `ulps` and one denormal step each.
void expect_tight(UpperBound bound, Real exact, double ulps) {
  EXPECT_GE(static_cast<Real>(bound.value()), exact);
  const Real slack = static_cast<Real>(ulps) * (exact * Limits::epsilon() + Limits::denorm_min());
  if (exact + slack > Limits::max()) return;
  EXPECT_LE(static_cast<Real>(bound.value()), exact + slack);
}

TEST(UpperBound, sums_and_products_are_never_below_the_exact_ones_and_at_most_two_ulps_above) {
  for (const double a : samples())
    for (const double b : samples()) {
      // what the bounds hold, not what went in: `exactly` may step outward
      const UpperBound x = UpperBound::exactly(a), y = UpperBound::exactly(b);
      ASSERT_NO_FATAL_FAILURE(expect_tight(x + y, Real{x.value()} + Real{y.value()}, 2));
      const Real product = a == 0 || b == 0 ? 0 : Real{x.value()} * Real{y.value()};
      ASSERT_NO_FATAL_FAILURE(expect_tight(x * y, product, 2));
      ASSERT_EQ(max(x, y).value(), std::max(x.value(), y.value()));
      ASSERT_FALSE(HasFailure()) << "a " << a << " b " << b;
    }
}

TEST(UpperBound, functions_of_one_bound_are_never_below_the_exact_ones) {
  for (const double a : samples()) {
    const UpperBound x = UpperBound::exactly(a);
    const Real exact = x.value();
    expect_tight(sqrt(x), std::sqrt(exact), 2);
    if (exact < 1) {
      expect_tight(over_one_minus(x), exact / (1 - exact), 8 / (1 - x.value()));
      expect_tight(minus_log_one_minus(x), -std::log1p(-exact), 8);
    } else {
      EXPECT_FALSE(over_one_minus(x).is_finite());
      EXPECT_FALSE(minus_log_one_minus(x).is_finite());
    }
    ASSERT_FALSE(HasFailure()) << "a " << a;
  }
}

TEST(UpperBound, of_covers_the_stated_number_of_units_in_the_last_place) {
  for (const double a : samples())
    for (const double ulps : {0.0, 1.0, 4.0, 100.5}) {
      double furthest = a;  // the largest number that `a` may stand for
      for (int step = 0; step < static_cast<int>(ulps); ++step)
        furthest = std::nextafter(furthest, Limits::infinity());
      EXPECT_GE(UpperBound::of(a, ulps).value(), furthest) << "a " << a << " ulps " << ulps;
      expect_tight(UpperBound::of(a, ulps), a, ulps + 2);
    }
}

TEST(UpperBound, nothing_left_out_stays_nothing) {
  const UpperBound zero = UpperBound::exactly(0), some = UpperBound::exactly(0.25);
  EXPECT_EQ(UpperBound().value(), 0);
  EXPECT_EQ(zero.value(), 0);
  EXPECT_EQ((zero + zero).value(), 0);
  EXPECT_EQ((zero * UpperBound::infinite()).value(), 0);
  EXPECT_EQ(sqrt(zero).value(), 0);
  EXPECT_EQ(over_one_minus(zero).value(), 0);
  EXPECT_EQ(minus_log_one_minus(zero).value(), 0);
  EXPECT_EQ((zero + some).value(), some.value());
}

TEST(UpperBound, a_product_that_underflows_is_not_zero) {
  EXPECT_GT((UpperBound::exactly(1e-200) * UpperBound::exactly(1e-200)).value(), 0);
  EXPECT_GT(UpperBound::of(0).value(), 0);  // a computed 0 may have been a little more
}

TEST(UpperBound, what_is_not_a_number_or_negative_bounds_nothing) {
  EXPECT_FALSE(UpperBound::of(Limits::quiet_NaN()).is_finite());
  EXPECT_FALSE(UpperBound::of(-1).is_finite());
  EXPECT_FALSE(UpperBound::of(Limits::infinity()).is_finite());
  EXPECT_FALSE((UpperBound::infinite() + UpperBound::exactly(1)).is_finite());
  EXPECT_FALSE((UpperBound::exactly(Limits::max()) + UpperBound::exactly(Limits::max())).is_finite());
}

}  // namespace
