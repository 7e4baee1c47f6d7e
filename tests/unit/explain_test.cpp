// SPDX-License-Identifier: Apache-2.0
// Terms in words, and their shares of the data.
#include "bandgp/fit/explain.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "support/random.hpp"

namespace {

using namespace bandgp;

/// A fit as training would leave it: the kernel, standard errors of a tenth of each value, a series of 100
/// units.
FitResult made(const char* kernel, const std::string& unit = "") {
  std::vector<double> time, value;
  support::Random random(3);
  for (int i = 0; i <= 200; ++i) {
    time.push_back(0.5 * i);
    value.push_back(random.normal());
  }
  Series series = make_series(time, value);
  series.axis.unit = unit;
  FitResult fit;
  fit.series = std::make_shared<const Series>(std::move(series));
  fit.model = {kernel, 0.1, Mean::constant};
  for (const auto& parameter : parameters(fit.model)) fit.standard_errors.push_back(0.1 * *parameter.value);
  return fit;
}

std::string told(const char* kernel, const std::string& unit = "") {
  const ComponentStory story = describe_components(made(kernel, unit)).at(0);
  return story.kind + ": " + story.sentence;
}

TEST(Explain, every_kind_of_term_has_its_sentence) {
  EXPECT_EQ(told("1*se(lengthscale=30)"), "trend: a smooth curve that forgets itself over 30.0 ± 3.0");
  EXPECT_EQ(told("1*matern12(lengthscale=2)"),
            "short-term: a jagged curve that forgets itself over 2.00 ± 0.20");
  EXPECT_EQ(told("1*se(lengthscale=35)*periodic(period=11, smoothness=1)", "y"),
            "season: repeats every 11.0 ± 1.1 years, forgetting its shape over 35.0 ± 3.5 years");
  EXPECT_EQ(told("1*periodic(period=24, smoothness=3)", "h"),
            "season: repeats every 24.0 ± 2.4 hours, always in the same shape, nearly a sine");
  EXPECT_EQ(told("1*periodic(period=168, smoothness=0.3)", "h"),
            "season: repeats every 7.00 ± 0.70 days, always in the same shape, with sharp features");
  EXPECT_EQ(told("1*matern32(lengthscale=40)*cos(period=10)", "d"),
            "oscillation: swings with a period of 10.0 ± 1.0 days, losing its phase over 40.0 ± 4.0 days");
  EXPECT_EQ(told("1*sho(period=10, quality=30)"),
            "oscillation: swings with a period of 10.0 ± 1.0, losing its phase over 95.5");
  EXPECT_EQ(told("1*sho(period=10, quality=0.5)"),
            "short-term: returns to the mean without swinging, within about 3.18");
  EXPECT_EQ(told("1*matern12(lengthscale=3)*periodic(period=11, smoothness=1)"),
            "short-term: forgets itself over 3.00 ± 0.30, too soon to repeat after its period of 11.0 ± 1.1");
  EXPECT_EQ(told("1e-30*se(lengthscale=3)"),
            "unsupported: the data do not support it: its variance ended at zero");
}

TEST(Explain, errors_have_two_digits_and_values_as_many) {
  EXPECT_EQ(time_with_error(0.9999612, 3.21e-5, "d"), "23.99907 ± 0.00077 hours");
  EXPECT_EQ(time_with_error(11.0216, 0.131, "y"), "11.02 ± 0.13 years");
  EXPECT_EQ(time_with_error(11.0216, kUnset, "y"), "11.0 years");
  EXPECT_EQ(time_with_error(1234.7, 67, ""), "1235 ± 67");
  EXPECT_EQ(time_with_error(12347, 673, ""), "12350 ± 670");
  EXPECT_EQ(time_with_error(3990.2, kUnset, ""), "3990");
  EXPECT_EQ(time_with_error(0.01234, kUnset, ""), "0.0123");
  EXPECT_EQ(time_with_error(0.5, 0.1, "s"), "0.50 ± 0.10 seconds");
  EXPECT_EQ(time_with_error(3, 0.1, "turns"), "3.00 ± 0.10 turns");
}

/// Known curves in known proportions: ½·4² for the wave, ½·1² for the slow one, 0.25 of noise.
TEST(Explain, shares_are_those_of_the_curves_that_the_data_are_made_of) {
  std::vector<double> time, value;
  support::Random random(5);
  for (int i = 0; i < 3000; ++i) {
    time.push_back(i);
    value.push_back(4 * std::sin(2 * std::numbers::pi * i / 20) + std::sin(2 * std::numbers::pi * i / 1500) +
                    0.5 * random.normal());
  }
  FitResult fit;
  fit.series = std::make_shared<const Series>(make_series(time, value));
  fit.model = {"8*periodic(period=20, smoothness=2) + 1*se(lengthscale=300)", 0.25, Mean::constant};
  const auto stories =
      fit.with_posterior([&](Posterior& posterior) { return describe_components(fit, posterior); });
  const double all = 8 + 0.5 + 0.25;
  ASSERT_EQ(stories.size(), 2U);
  EXPECT_NEAR(stories[0].share, 8 / all, 0.02);
  EXPECT_NEAR(stories[1].share, 0.5 / all, 0.01);
}

}  // namespace
