// SPDX-License-Identifier: Apache-2.0
#include "bandgp/fit/differences.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "support/random.hpp"

namespace {

using namespace bandgp;

/// ½ Σ cᵢ (xᵢ − mᵢ)², off by up to `rounding` either way.
struct Bowl {
  std::vector<double> curvature, minimum;
  double rounding;
  mutable support::Random random{1};
  mutable int evaluations = 0;
  double operator()(std::span<const double> x) const {
    ++evaluations;
    double sum = rounding * random.uniform(-1, 1);
    for (std::size_t i = 0; i < x.size(); ++i)
      sum += 0.5 * curvature[i] * (x[i] - minimum[i]) * (x[i] - minimum[i]);
    return sum;
  }
};

TEST(Differences, of_a_loss_with_rounding_find_curvatures_at_the_first_call) {
  // A variable of curvature 25 rises by 1e-4 nats over the first step, less than the rounding.
  for (std::uint64_t trial = 0; trial < 20; ++trial) {
    const Bowl bowl{{25, 1e4, 40}, {0.001, -0.002, 0.003}, 3e-4, support::Random(1 + trial)};
    Differences differences;
    const std::vector<double> x = {0, 0, 0};
    ASSERT_TRUE(difference(std::cref(bowl), x, bowl(x), {}, differences));
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double h = differences.measured[i];
      // Three values, each off by the rounding, and that twice where it is the middle one.
      EXPECT_NEAR(differences.curvature[i], bowl.curvature[i], 4 * bowl.rounding / (h * h)) << i;
      EXPECT_NEAR(differences.gradient[i], -bowl.curvature[i] * bowl.minimum[i], bowl.rounding / h) << i;
      EXPECT_NEAR(differences.curvature[i], bowl.curvature[i], 0.1 * bowl.curvature[i]) << i;
    }
  }
}

TEST(Differences, are_measured_again_where_the_third_derivative_would_decide) {
  // The curvature is 6·10⁴: the first step of 3e-3 raises the loss by 0.27 on either side.
  const auto loss = [](std::span<const double> x) { return 3e4 * (x[0] * x[0] + 5 * x[0] * x[0] * x[0]); };
  Differences differences;
  differences.largest_rise = 0.4;
  ASSERT_TRUE(difference(loss, std::vector<double>{0}, 0, {}, differences));
  EXPECT_LT(differences.measured[0], 2e-3);
  EXPECT_NEAR(differences.gradient[0], 0, 1.5e5 * 2e-3 * 2e-3);
}

TEST(Differences, with_steps_that_suit_take_two_evaluations_a_variable) {
  const Bowl bowl{{25, 1e4}, {0, 0}, 0, support::Random(1)};
  Differences differences;
  const std::vector<double> x = {0.001, 0.002};
  ASSERT_TRUE(difference(std::cref(bowl), x, bowl(x), {}, differences));
  const int before = bowl.evaluations;
  ASSERT_TRUE(difference(std::cref(bowl), x, bowl(x), {}, differences));
  EXPECT_EQ(bowl.evaluations, before + 1 + 4);
}

TEST(Differences, keep_to_where_the_loss_has_a_value) {
  // No value beyond 0.001: the step is shortened, and not lengthened again.
  const auto loss = [](std::span<const double> x) {
    return x[0] > 0.001 ? std::numeric_limits<double>::infinity() : 0.5 * 25 * x[0] * x[0];
  };
  Differences differences;
  ASSERT_TRUE(difference(loss, std::vector<double>{0}, 0, {}, differences));
  EXPECT_LE(differences.measured[0], 0.001);
  EXPECT_NEAR(differences.curvature[0], 25, 1e-6);
}

}  // namespace
