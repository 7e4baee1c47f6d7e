// SPDX-License-Identifier: Apache-2.0
#include "bandgp/series/series.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using namespace bandgp;
using Values = std::vector<double>;
using Rows = std::vector<Index>;
using Real = long double;
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kUlp = std::numeric_limits<double>::epsilon();

std::string error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "no error";
}

bool is_power_of_two(double value) {
  int exponent;
  return std::frexp(value, &exponent) == 0.5;
}

/// Values in the user's units again.
Values values_out(const Series& series) {
  Values out;
  for (const double y : series.value) out.push_back(series.units.value_out(y));
  return out;
}
Values times_out(const Series& series) {
  Values out;
  for (const double x : series.time) out.push_back(series.units.time_out(x));
  return out;
}

TEST(Series, keeps_rows_in_order_and_says_what_they_are) {
  const Series series = make_series(Values{10, 12, 13, 17}, Values{1, 2, 3, 6});
  EXPECT_EQ(series.size(), 4);
  EXPECT_EQ(series.observations(), 4);
  EXPECT_FALSE(series.has_ties());
  EXPECT_TRUE(series.variance.empty());
  EXPECT_EQ(times_out(series), (Values{10, 12, 13, 17}));
  EXPECT_EQ(values_out(series), (Values{1, 2, 3, 6}));
  EXPECT_EQ(series.row, (Rows{0, 1, 2, 3}));
  const SeriesReport& report = series.report;
  EXPECT_EQ(report.rows, 4);
  EXPECT_EQ(report.dropped, 0);
  EXPECT_EQ(report.thinned, 0);
  EXPECT_EQ(report.merged, 0);
  EXPECT_EQ(report.used, 4);
  EXPECT_TRUE(report.was_sorted);
  EXPECT_EQ(report.min_gap, 1);
  EXPECT_EQ(report.max_gap, 4);
  EXPECT_EQ(report.span, 7);
  EXPECT_DOUBLE_EQ(report.mean_gap, 7.0 / 3);
  EXPECT_EQ(report.first_time, 10);
  EXPECT_EQ(report.last_time, 17);
}

TEST(Series, sorts_stably_and_takes_values_and_variances_along) {
  const Series series = make_series(Values{3, 1, 2, 1}, Values{30, 10, 20, 11}, Values{0.3, 0.1, 0.2, 0.11});
  EXPECT_FALSE(series.report.was_sorted);
  EXPECT_EQ(series.row, (Rows{1, 3, 2, 0}));
  EXPECT_EQ(series.size(), 3);
  EXPECT_EQ(series.group, (Rows{0, 2, 3, 4}));
  EXPECT_EQ(series.report.merged, 1);
  EXPECT_EQ(values_out(series), (Values{10, 11, 20, 30}));
  const double square = series.units.value_unit * series.units.value_unit;
  EXPECT_EQ(series.variance, (Values{0.1 / square, 0.11 / square, 0.2 / square, 0.3 / square}));
}

TEST(Series, rows_of_equal_time_stay_in_the_order_given_however_many) {
  Values time, value;
  for (int i = 0; i < 1000; ++i) time.push_back(-(i % 3)), value.push_back(i);
  const Series series = make_series(time, value);
  ASSERT_EQ(series.size(), 3);
  for (std::size_t g = 0; g < 3; ++g)
    EXPECT_TRUE(
        std::is_sorted(series.row.begin() + series.group[g], series.row.begin() + series.group[g + 1]));
}

TEST(Series, drops_rows_with_anything_that_is_not_finite_and_counts_them) {
  const Series series =
      make_series(Values{kNaN, 1, 2, 3, kInf, 5}, Values{0, kNaN, 1, -kInf, 1, 2}, Values{1, 1, 1, 1, 1, 2});
  EXPECT_EQ(series.row, (Rows{2, 5}));
  EXPECT_EQ(series.report.rows, 6);
  EXPECT_EQ(series.report.dropped, 4);
  EXPECT_EQ(series.report.used, 2);
  EXPECT_TRUE(series.report.was_sorted);
  const Series without = make_series(Values{1, 2, 3}, Values{1, 2, 3}, Values{1, kNaN, -kInf});
  EXPECT_EQ(without.row, (Rows{0}));
}

TEST(Series, groups_only_times_that_are_exactly_equal) {
  const double next = std::nextafter(1.0, 2.0);
  const Series close = make_series(Values{1, next, 2}, Values{1, 2, 3});
  EXPECT_EQ(close.size(), 3);
  EXPECT_FALSE(close.has_ties());
  const Series zeros = make_series(Values{0.0, -0.0, 1}, Values{1, 2, 3});
  EXPECT_EQ(zeros.size(), 2);
  EXPECT_EQ(zeros.group, (Rows{0, 2, 3}));
  EXPECT_TRUE(zeros.report.was_sorted);
  const Series same = make_series(Values{4, 4, 4}, Values{1, 2, 3});
  EXPECT_EQ(same.size(), 1);
  EXPECT_EQ(same.group, (Rows{0, 3}));
  EXPECT_EQ(same.report.merged, 2);
  EXPECT_EQ(same.units.time_unit, 1);
  EXPECT_EQ(same.report.mean_gap, 0);
}

TEST(Series, thinning_keeps_the_first_and_measures_from_the_point_kept_last) {
  const Values time = {0, 0, 0.4, 0.9, 1.0, 1.5, 2.5}, value = {1, 2, 3, 4, 5, 6, 7};
  const Series series = make_series(time, value, {}, {.thin = 1});
  EXPECT_EQ(series.row, (Rows{0, 4, 6}));  // a gap of exactly `thin` is kept
  EXPECT_EQ(series.report.thinned, 4);
  EXPECT_EQ(series.report.used, 3);
  EXPECT_EQ(series.report.merged, 0);
  EXPECT_EQ(make_series(time, value, {}, {.thin = 1e-300}).report.thinned,
            1);  // equal times go with any thin > 0
  EXPECT_EQ(make_series(time, value, {}, {.thin = 0}).report.thinned, 0);
}

TEST(Series, internal_times_are_exact_for_epoch_seconds_and_for_any_other_times) {
  std::mt19937_64 random(3);
  const auto check = [&](double low, double high) {
    std::uniform_real_distribution<double> uniform(low, high);
    Values time(200), value(200, 1.0);
    for (double& t : time) t = uniform(random);
    const Series series = make_series(time, value);
    std::ranges::sort(time);
    time.erase(std::ranges::unique(time).begin(), time.end());  // at 1.7e9 doubles are 2.4e-7 apart
    ASSERT_EQ(series.time.size(), time.size());
    ASSERT_TRUE(is_power_of_two(series.units.time_unit));
    for (std::size_t i = 0; i < time.size(); ++i) {
      const Real exact = (Real{time[i]} - Real{series.units.time_origin}) / Real{series.units.time_unit};
      EXPECT_EQ(Real{series.time[i]}, exact) << low << " " << high;
      EXPECT_EQ(series.units.time_out(series.time[i]), time[i]);
    }
    const double gap = (time.back() - time.front()) / static_cast<double>(time.size() - 1);
    EXPECT_LE(series.units.time_unit, gap);
    EXPECT_GT(series.units.time_unit, gap / 2);
    // and an offset costs no size: nothing is far from 0 beside the span
    EXPECT_LE(std::abs(series.time.front()), 2.01 * 400);
    EXPECT_LE(std::abs(series.time.back()), 2.01 * 400);
  };
  check(1.7e9, 1.7e9 + 3600);
  check(1.7e9, 1.7e9 + 1e-3);
  check(-1.7e9 - 100, -1.7e9);
  check(0, 1);
  check(-5, 5);
  check(-1, 1000);
  check(3, 5);
  check(1, 3.9);
  check(-3.9, -1);
  check(-7, -3);
  check(1749, 2025.3);
  check(1e-300, 2e-300);
  check(1e307, 1.5e308);
}

TEST(Series, times_of_very_different_size_stay_distinct) {
  const Series tiny = make_series(Values{-5, 0, 1e-20, 2e-20, 5}, Values{1, 2, 3, 4, 5});
  const Series extreme = make_series(Values{0, 5e-324, 1e-300, 1e300}, Values{1, 2, 3, 4});
  for (const Series& series : {tiny, extreme})
    for (Index i = 1; i < series.size(); ++i)
      EXPECT_LT(series.time[static_cast<std::size_t>(i - 1)], series.time[static_cast<std::size_t>(i)]);
  EXPECT_EQ(tiny.report.min_gap, 1e-20);
}

TEST(Series, values_become_numbers_near_one_whatever_their_size_and_offset) {
  std::mt19937_64 random(5);
  std::normal_distribution<double> normal;
  for (const double size : {1e-300, 1e-21, 1e-6, 1.0, 1e9, 1e300})
    for (const double offset : {0.0, 3.0, -1e6}) {
      Values time(500), value(500);
      for (std::size_t i = 0; i < 500; ++i) {
        time[i] = static_cast<double>(i);
        value[i] = size * (offset + normal(random));
      }
      const Series series = make_series(time, value);
      Real mean = 0, square = 0;
      for (const double y : series.value) mean += Real{y} / 500;
      for (const double y : series.value) square += (y - mean) * (y - mean) / 500;
      EXPECT_TRUE(is_power_of_two(series.units.value_unit));
      EXPECT_NEAR(static_cast<double>(mean), 0, 500 * kUlp * (1 + std::abs(offset)));
      EXPECT_GE(square, 0.99L);
      EXPECT_LE(square, 4.01L);
      for (std::size_t i = 0; i < 500; ++i)
        EXPECT_NEAR(series.units.value_out(series.value[i]) / size, value[i] / size,
                    2 * kUlp * (4 + std::abs(offset)));
    }
}

TEST(Series, a_large_offset_does_not_cost_digits_of_the_values) {
  const Values time = {0, 1, 2, 3}, value = {1e9 + 0.25, 1e9 + 0.5, 1e9 - 0.125, 1e9 + 1};
  const Series series = make_series(time, value);
  for (std::size_t i = 0; i < 4; ++i)
    EXPECT_EQ(Real{series.value[i]} * Real{series.units.value_unit} + Real{series.units.value_origin},
              Real{value[i]});
}

TEST(Series, without_centring_values_are_only_divided) {
  const Series series = make_series(Values{0, 1, 2}, Values{100, 101, 102}, {}, {.center = false});
  EXPECT_EQ(series.units.value_origin, 0);
  EXPECT_EQ(series.units.value_unit, 64);  // the power of two at or below the root mean square
  EXPECT_EQ(series.value, (Values{100.0 / 64, 101.0 / 64, 102.0 / 64}));
  const Series zero = make_series(Values{0, 1}, Values{0, 0}, {}, {.center = false});
  EXPECT_EQ(zero.units.value_unit, 1);
}

TEST(Series, equal_values_have_unit_one_and_no_rounding_left) {
  const Series series = make_series(Values{0, 1, 2}, Values{0.1, 0.1, 0.1}, Values{1e-4, 4, 9});
  EXPECT_EQ(series.units.value_unit, 1);
  EXPECT_EQ(series.units.value_origin, 0.1);
  EXPECT_EQ(series.value, (Values{0, 0, 0}));
  EXPECT_EQ(series.variance, (Values{1e-4, 4, 9}));
}

TEST(Series, variances_are_scaled_by_the_square_of_the_unit_even_where_that_square_underflows) {
  const Series small = make_series(Values{0, 1}, Values{-1e-21, 1e-21}, Values{1e-44, 4e-44});
  const Real unit = small.units.value_unit;
  EXPECT_EQ(Real{small.variance[0]} * unit * unit, Real{1e-44});
  EXPECT_EQ(Real{small.variance[1]} * unit * unit, Real{4e-44});
  const Series smallest = make_series(Values{0, 1}, Values{-1e-200, 1e-200}, Values{1e-300, 0});
  EXPECT_GT(smallest.variance[0], 1e99);
  EXPECT_EQ(smallest.variance[1], 0);
}

TEST(Series, one_row_is_a_series) {
  const Series series = make_series(Values{1.7e9}, Values{5});
  EXPECT_EQ(series.size(), 1);
  EXPECT_EQ(series.units.time_unit, 1);
  EXPECT_EQ(series.time[0], 0);
  EXPECT_EQ(series.report.min_gap, 0);
  EXPECT_EQ(series.report.span, 0);
  EXPECT_EQ(times_out(series), (Values{1.7e9}));
}

TEST(Series, every_mistake_of_the_caller_is_told) {
  const auto error = [](const Values& t, const Values& y, const Values& v = {}, SeriesOptions options = {}) {
    return error_of([&] { make_series(t, y, v, options); });
  };
  EXPECT_EQ(error({1, 2}, {1}), "time has 2 values, value has 1");
  EXPECT_EQ(error({1, 2}, {1, 2}, {1}), "time has 2 values, variance has 1");
  EXPECT_EQ(error({1, 2}, {1, 2}, {1, -0.5}), "variance[1] is -0.5, must not be negative");
  EXPECT_EQ(error({1, 2}, {1, 2}, {}, {.thin = -1}), "thin is -1, must be finite and not negative");
  EXPECT_EQ(error({1, 2}, {1, 2}, {}, {.thin = kNaN}), "thin is nan, must be finite and not negative");
  EXPECT_EQ(error({1, 2}, {1, 2}, {}, {.thin = kInf}), "thin is inf, must be finite and not negative");
  EXPECT_EQ(error({}, {}), "none of the 0 rows has finite numbers only");
  EXPECT_EQ(error({1, kNaN}, {kNaN, 1}), "none of the 2 rows has finite numbers only");
  EXPECT_EQ(error({-1e308, 1e308}, {1, 2}), "times from -1e+308 to 1e+308: their difference overflows");
  EXPECT_EQ(error({1, 2}, {1e308, -1e308}), "values from -1e+308 to 1e+308: their difference overflows");
  EXPECT_EQ(error({1, 2}, {1e308, -1e308}, {}, {.center = false}), "no error");
  EXPECT_EQ(error({1, 2}, {1e-200, 2e-200}, {1, 1}).substr(0, 28), "variance[0] is 1: overflows ");
}

TEST(Subseries, takes_ranges_of_distinct_times_with_all_their_observations) {
  const Series series = make_series(Values{10, 10, 11, 12, 13, 13, 15}, Values{1, 2, 3, 4, 5, 6, 7},
                                    Values{1, 2, 3, 4, 5, 6, 7});
  const std::vector<IndexRange> ranges = {{0, 1}, {3, 5}};
  const Series part = subseries(series, ranges);
  EXPECT_EQ(times_out(part), (Values{10, 13, 15}));
  EXPECT_EQ(values_out(part), (Values{1, 2, 5, 6, 7}));
  EXPECT_EQ(part.group, (Rows{0, 2, 4, 5}));
  EXPECT_EQ(part.row, (Rows{0, 1, 4, 5, 6}));
  EXPECT_EQ(part.variance.size(), 5u);
  EXPECT_EQ(part.variance[4], series.variance[6]);
  EXPECT_EQ(part.units.time_origin, series.units.time_origin);
  EXPECT_EQ(part.units.time_unit, series.units.time_unit);
  EXPECT_EQ(part.units.value_origin, series.units.value_origin);
  EXPECT_EQ(part.units.value_unit, series.units.value_unit);
  EXPECT_EQ(part.report.rows, 5);
  EXPECT_EQ(part.report.used, 5);
  EXPECT_EQ(part.report.merged, 2);
  EXPECT_EQ(part.report.min_gap, 2);
  EXPECT_EQ(part.report.max_gap, 3);
  EXPECT_EQ(part.report.span, 5);
  EXPECT_EQ(part.report.first_time, 10);
  EXPECT_EQ(part.report.last_time, 15);
}

TEST(Subseries, without_ties_has_no_groups_and_the_whole_is_the_series) {
  const Series series = make_series(Values{0, 1, 1, 3, 4}, Values{1, 2, 3, 4, 6});
  const std::vector<IndexRange> loose = {{0, 1}, {2, 4}}, whole = {{0, 2}, {2, 4}};
  EXPECT_FALSE(subseries(series, loose).has_ties());
  EXPECT_EQ(subseries(series, loose).row, (Rows{0, 3, 4}));
  const Series all = subseries(series, whole);
  EXPECT_EQ(all.time, series.time);
  EXPECT_EQ(all.value, series.value);
  EXPECT_EQ(all.group, series.group);
  EXPECT_EQ(all.report.mean_gap, series.report.mean_gap);
  EXPECT_EQ(subseries(series, {}).size(), 0);
}

TEST(Subseries, ranges_must_increase_and_lie_within) {
  const Series series = make_series(Values{0, 1, 2}, Values{1, 2, 3});
  for (const std::vector<IndexRange>& ranges : std::vector<std::vector<IndexRange>>{
           {{-1, 1}}, {{0, 4}}, {{2, 1}}, {{1, 2}, {0, 1}}, {{0, 2}, {1, 3}}})
    EXPECT_THROW(subseries(series, ranges), std::invalid_argument);
}

TEST(Series, thinning_by_the_spacing_of_a_grid_keeps_the_grid) {
  std::vector<double> time, value;
  for (int i = 0; i < 100; ++i) {
    time.push_back(0.1 * i);
    value.push_back(i % 7);
  }
  EXPECT_EQ(make_series(time, value, {}, {.thin = 0.1}).size(), 100);
  EXPECT_EQ(make_series(time, value, {}, {.thin = 0.3}).size(), 34);
  EXPECT_EQ(make_series(time, value, {}, {.thin = 0.1001}).size(), 50);
}

}  // namespace
