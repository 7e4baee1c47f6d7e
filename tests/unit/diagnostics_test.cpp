// SPDX-License-Identifier: Apache-2.0
#include "bandgp/fit/diagnostics.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <numeric>

#include "support/random.hpp"

namespace {

using namespace bandgp;
using Values = std::vector<double>;

TEST(Diagnostics, equal_hand_values) {
  const Values time = {0, 1, 2, 3}, value = {1, 2, 3, 6};
  const Series series = make_series(time, value);
  const LeaveOneOut left_out{{1.5, 2, 2, 3}, {1, 4, 0.25, 1}};
  const Diagnostics found = diagnose(series, left_out);
  // Residuals −0.5, 0, 1, 3; the average is 3, the squares around it 4 + 1 + 0 + 9.
  EXPECT_DOUBLE_EQ(found.loo_nmse, (0.25 + 0 + 1 + 9) / 14);
  EXPECT_DOUBLE_EQ(found.coverage_95, 0.5);  // 1/0.5 = 2 and 3 are outside
  const Values z = {-0.5, 0, 2, 3};
  double nlpd = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_DOUBLE_EQ(found.standardised[i], z[i]);
    nlpd += 0.5 * (z[i] * z[i] + std::log(2 * std::numbers::pi * left_out.variance[i])) / 4;
  }
  EXPECT_DOUBLE_EQ(found.loo_nlpd, nlpd);
}

TEST(Diagnostics, a_true_model_is_found_true) {
  support::Random random(5);
  Values time, value;
  for (int i = 0; i < 4000; ++i) {
    time.push_back(i);
    value.push_back(random.normal());
  }
  const auto series = std::make_shared<const Series>(make_series(time, value));
  Model model{Kernel("1e-6*se(lengthscale=5)"), 1.0, Mean::constant};
  Posterior posterior(series, model, std::make_unique<AutoRepresentation>(InternalCut{}, 0));
  const Diagnostics found = diagnose(*series, posterior.leave_one_out());
  // White noise: nothing can be predicted, and the bounds are five standard deviations wide.
  EXPECT_NEAR(found.loo_nmse, 1, 0.01);
  EXPECT_NEAR(found.coverage_95, 0.95, 5 * std::sqrt(0.95 * 0.05 / 4000));
  EXPECT_NEAR(found.loo_nlpd, 0.5 * std::log(2 * std::numbers::pi * std::numbers::e),
              5 * std::sqrt(0.5 / 4000));
  for (const double r : autocorrelation(found.standardised, 20)) EXPECT_LT(std::abs(r), 5 / std::sqrt(4000));
  for (const Index count : pit_histogram(found.standardised, 20))
    EXPECT_NEAR(static_cast<double>(count), 200, 5 * std::sqrt(200 * 0.95));
}

TEST(Diagnostics, histogram_counts_everything_once) {
  const Values z = {-40, -1.0, -1e-9, 1e-9, 1.0, 40};
  const std::vector<Index> counts = pit_histogram(z, 4);
  EXPECT_EQ(counts, (std::vector<Index>{2, 1, 1, 2}));  // Φ(±1) = 0.16, 0.84
  EXPECT_EQ(std::accumulate(counts.begin(), counts.end(), Index{0}), 6);
}

TEST(Diagnostics, autocorrelation_equals_hand_values) {
  const Values z = {1, -1, 1, -1};
  const Values found = autocorrelation(z, 10);
  ASSERT_EQ(found.size(), 3U);
  EXPECT_DOUBLE_EQ(found[0], -0.75);
  EXPECT_DOUBLE_EQ(found[1], 0.5);
  EXPECT_DOUBLE_EQ(found[2], -0.25);
  EXPECT_TRUE(autocorrelation(Values{}, 5).empty());
  EXPECT_EQ(autocorrelation(Values{2, 2, 2}, 1), Values{0});
}

}  // namespace
