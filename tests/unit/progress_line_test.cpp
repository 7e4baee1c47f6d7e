// SPDX-License-Identifier: Apache-2.0
#include "bandgp/cli/progress_line.hpp"

#include <gtest/gtest.h>

namespace bandgp::cli {
namespace {

TraceEntry at(int evaluation, int stage, Index n, const char* kernel, double seconds) {
  const std::vector<double> parameters(parameter_names(kernel).size(), 1.0);
  return {evaluation, stage, n, 1.0, parameters, 10, seconds, kernel};
}

FitOptions of(const char* kernel) {
  FitOptions options;
  options.kernel = kernel;
  return options;
}

const TraceEntry kOneTerm{12, 2, 300000, 141314.5, {1.01, 9.99, 0.1}, 61, 3, "se"};
const TraceEntry kSum{130, 2, 300000, -141314.5, {1.01, 9.99, 0.123, 1230, 0.1}, 61, 3, "se + se"};

TEST(ProgressLine, everything_fits_on_eighty_columns) {
  EXPECT_EQ(progress_line(kOneTerm, Forecast::Left{12.3, false}, 79),
            "NLL 141314.5, ~12 s left, k 61, var 1.01, len 9.99, noise 0.1, eval 12");
  EXPECT_EQ(progress_line(kOneTerm, Forecast::Left{12.3, false}, 200),
            "300000 points, NLL 141314.5, about 12 s left, bandwidth 61, variance 1.01, lengthscale 9.99, "
            "noise 0.1, evaluation 12");
}

TEST(ProgressLine, parameters_are_left_out_before_the_time_left) {
  for (const std::size_t width : {79U, 60U, 40U, 35U}) {
    const std::string line = progress_line(kSum, Forecast::Left{600, false}, width);
    EXPECT_LE(line.size(), width);
    EXPECT_TRUE(line.starts_with("NLL -141314.5, ~10 min left, k 61")) << line;
  }
  for (std::size_t width = 0; width < 130; ++width)
    EXPECT_LE(progress_line(kSum, Forecast::Left{600, false}, width).size(), width);
}

TEST(ProgressLine, names_are_those_of_the_kernel_being_trained) {
  EXPECT_EQ(names_of(kOneTerm, false), (std::vector<std::string>{"variance", "lengthscale", "noise"}));
  EXPECT_EQ(names_of(kSum, false), parameter_names("se + se"));
  EXPECT_EQ(names_of(at(1, 0, 10, "se + se + matern32", 1), false), parameter_names("se + se + matern32"));
  EXPECT_NE(progress_line(kOneTerm, {}, 200).find("noise 0.1"), std::string::npos);
}

TEST(ProgressLine, short_times_are_not_told) {
  EXPECT_EQ(left_text(Forecast::Left{885e-6, false}, false), "under 1 s left");
  EXPECT_EQ(left_text(Forecast::Left{0.5, true}, false), "");
  EXPECT_EQ(left_text(Forecast::Left{12, true}, false), "over 12 s left");
  EXPECT_EQ(left_text(Forecast::Left{600, false}, false), "about 10 min left");
  EXPECT_EQ(left_text({}, false), "");
}

/// A fit of two terms on few points as they go: 75 evaluations of one term, 223 of both, 13 to end with.
TEST(Forecast, the_search_is_not_the_last_stage) {
  Forecast forecast(2820, of("se + se"));
  double seconds = 0;
  int evaluation = 0;
  for (int i = 0; i < 75; ++i) {
    const auto left = forecast.after(at(++evaluation, 0, 2820, "se", seconds += 0.001));
    ASSERT_EQ(left.has_value(), evaluation >= 24);
    EXPECT_TRUE(!left || left->at_least);
  }
  for (int i = 0; i < 223; ++i) {
    const auto left = forecast.after(at(++evaluation, 0, 2820, "se + se", seconds += 0.1));
    if (i < 3) continue;
    ASSERT_TRUE(left);
    EXPECT_FALSE(left->at_least);
    EXPECT_NEAR(left->seconds, 0.1 * (222 - i + 13), 1.5) << i;
  }
  for (int i = 0; i < 13; ++i) {
    const auto left = forecast.after(at(++evaluation, 1, 2820, "se + se", seconds += 0.1));
    if (i > 0) {
      ASSERT_TRUE(left);
      EXPECT_NEAR(left->seconds, 0.1 * (14 - i), 1e-9);
    }
  }
}

TEST(Forecast, the_search_on_a_part_foretells_the_whole) {
  Forecast forecast(40960, of("se"));
  for (int i = 1; i < 80; ++i) {
    const auto left = forecast.after(at(i, 0, 4096, "se", 0.1 * i));
    ASSERT_EQ(left.has_value(), i >= 24);
    if (i < 24) continue;
    EXPECT_NEAR(left->seconds, 0.1 * (std::max(80 - i, 3) + 10 * 9), 1e-9);
  }
}

/// 15 s in all, of which a search without gradients on a part tells a second: the cost of an evaluation does.
TEST(Forecast, the_cost_of_an_evaluation_foretells_a_whole_that_the_part_does_not) {
  Forecast forecast(1'000'000, of("matern32"));
  forecast.set_cost(1.4);
  for (int i = 1; i < 80; ++i) {
    const auto left = forecast.after(at(i, 0, 4096, "matern32", 1e-4 * i));
    if (i < 24) continue;
    ASSERT_TRUE(left);
    EXPECT_NEAR(left->seconds, 9 * 1.4, 0.1);
  }
  EXPECT_FALSE(forecast.after(at(80, 1, 65536, "matern32", 0.1)).has_value());
  const auto first = forecast.after(at(81, 2, 1'000'000, "matern32", 1.6));
  ASSERT_TRUE(first);
  EXPECT_NEAR(first->seconds, 8 * 1.4, 1e-9) << "before there are two to tell by";
  EXPECT_NEAR(forecast.after(at(82, 2, 1'000'000, "matern32", 3.6))->seconds, 7 * 2.0, 1e-9);
}

TEST(Forecast, nothing_is_told_where_there_is_no_telling) {
  FitOptions dense = of("se");
  dense.cut.method = Method::exact;  // searches in the band
  Forecast forecast(3000, dense);
  for (int i = 1; i < 60; ++i) EXPECT_FALSE(forecast.after(at(i, 0, 3000, "se", 0.001 * i)));
  for (int i = 0; i < 20; ++i)  // the first also makes what all need, and past what is expected none is left
    EXPECT_EQ(forecast.after(at(60 + i, 1, 3000, "se", 1 + 5 * i)).has_value(), i > 0 && i < 8) << i;
}

TEST(Forecast, fixed_parameters_take_no_evaluations) {
  FitOptions options = of("se");
  EXPECT_EQ(Forecast(100, options).expected(), 9);
  options.fix = {{"variance", 1}, {"noise", 1}};
  EXPECT_EQ(Forecast(100, options).expected(), 3);
  options.fix["lengthscale"] = 1;
  EXPECT_EQ(Forecast(100, options).expected(), 2);
}

}  // namespace
TEST(Announcements, come_before_long_work_once_it_is_known_to_be_long_and_every_minute) {
  Announcements expected;
  EXPECT_FALSE(expected.due(0, 10.0));
  EXPECT_TRUE(expected.due(0, 10.5)) << "before it starts, where there is an estimate";
  EXPECT_FALSE(expected.due(59, 100.0));
  EXPECT_TRUE(expected.due(60, 100.0));
  EXPECT_FALSE(expected.due(119, {}));
  EXPECT_TRUE(expected.due(121, {}));

  Announcements unexpected;
  EXPECT_FALSE(unexpected.due(9.9, {}));
  EXPECT_TRUE(unexpected.due(10.1, {})) << "once it has taken long";

  Announcements nearly_done;
  EXPECT_FALSE(nearly_done.due(14, 0.9)) << "what is about to end";
  EXPECT_TRUE(nearly_done.due(14.1, 1.1));
}

}  // namespace bandgp::cli
