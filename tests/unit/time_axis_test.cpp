// SPDX-License-Identifier: Apache-2.0
#include "bandgp/series/time_axis.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "bandgp/series/time_pattern.hpp"

namespace {

using namespace bandgp;
using Values = std::vector<double>;

constexpr std::int64_t kYear2002 = 1009843200;

TimeAxis axis(const std::string& unit, const std::string& format, std::int64_t origin = kYear2002,
              int zone = 0, int digits = 0) {
  return {unit, format, origin, zone, digits};
}

std::string error_of(auto work) {
  try {
    work();
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "no error";
}

TEST(TimeAxis, plain_numbers_are_themselves) {
  const TimeAxis plain;
  for (const double time : {0.0, -1.5, 1e-300, 0.1, 1700000000.123, 5e15})
    EXPECT_EQ(parse_time(plain, to_text(plain, time)), time);
  EXPECT_EQ(to_text(plain, 2.0), "2");
  EXPECT_EQ(parse_time(plain, " +2.5 "), 2.5);
  EXPECT_EQ(error_of([&] { parse_time(plain, "2002-01-01"); }),
            "\"2002-01-01\" is not a time: the times of the series are numbers");
  for (const std::string text : {"", "x", "1e999", "nan"})
    EXPECT_THROW(parse_time(plain, text), std::invalid_argument);
}

TEST(TimeAxis, times_are_units_since_the_origin) {
  EXPECT_EQ(parse_time(axis("d", "%Y-%m-%d"), "2002-01-03"), 2);
  EXPECT_EQ(parse_time(axis("h", "%d-%m-%Y %H:%M"), "01-01-2002 01:30"), 1.5);
  EXPECT_EQ(parse_time(axis("min", "%d-%m-%Y %H:%M"), "2002-01-01T01:30"), 90);
  EXPECT_EQ(parse_time(axis("s", "%d-%m-%Y %H:%M"), "31-12-2001 23:59:59.75"), -0.25);
  EXPECT_EQ(parse_time(axis("y", "%Y"), "2006"), 1461 / 365.25);
  EXPECT_EQ(parse_time(axis("d", "%m/%d/%Y"), "2/1/2002"), 31);  // the file's own order
  EXPECT_EQ(parse_time(axis("d", "%d/%m/%Y"), "2/1/2002"), 1);
  EXPECT_NE(
      error_of([] { parse_time(axis("d", "%Y-%m-%d"), "2/1/2002"); }).find("not a time such as 2002-01-01"),
      std::string::npos);
  EXPECT_NE(error_of([] { parse_time(axis("d", "%Y-%m-%d"), "17"); }).find("not a time"), std::string::npos);
}

TEST(TimeAxis, a_time_is_the_quotient_of_whole_numbers_rounded_once) {
  // long double has 64 bits here: enough for seconds and milliseconds over the whole calendar.
  std::mt19937_64 random(11);
  for (const std::string unit : {"s", "min", "h", "d", "y"})
    for (int i = 0; i < 2000; ++i) {
      const std::int64_t origin = static_cast<std::int64_t>(random() % 300000000000) + kEarliest;
      const Moment moment{static_cast<std::int64_t>(random() % 300000000000) + kEarliest,
                          static_cast<std::int32_t>(random() % 1000) * 1000000};
      const long double millis =
          static_cast<long double>((moment.seconds - origin) * 1000 + moment.nanos / 1000000);
      const auto truth =
          static_cast<double>(millis / (1000.0L * static_cast<long double>(unit_seconds(unit))));
      const double time = time_of(axis(unit, "%Y", origin), moment);
      EXPECT_LE(std::abs(time - truth), std::abs(truth) * std::numeric_limits<double>::epsilon());
    }
}

TEST(TimeAxis, the_text_of_a_time_of_the_file_is_what_the_file_said_and_parses_to_the_same_double) {
  struct Form {
    const char* format;
    std::int64_t resolution;  // nanoseconds
    int zone, digits;
  };
  constexpr std::int64_t kSecond = 1000000000;
  std::mt19937_64 random(5);
  for (const Form& form : std::initializer_list<Form>{{"%Y-%m-%d", 86400 * kSecond, 0, 0},
                                                      {"%Y%m%d", 86400 * kSecond, 0, 0},
                                                      {"%d-%m-%Y %H:%M", 60 * kSecond, 0, 0},
                                                      {"%m/%d/%Y %I:%M:%S %p", kSecond, 0, 0},
                                                      {"%Y-%m-%dT%H:%M:%SZ", kSecond, 0, 0},
                                                      {"%Y-%m-%dT%H:%M:%S%:z", kSecond / 1000, 330, 3},
                                                      {"%Y-%m-%d %H:%M:%S%z", kSecond / 1000000, -480, 6},
                                                      {"%j/%Y %H:%M", 60 * kSecond, 0, 0},
                                                      {"%Y-%m-%d %H:%M:%S.%f", kSecond / 1000000, 0, 6}})
    for (const std::string unit : {"s", "min", "h", "d", "y"})
      for (int i = 0; i < 300; ++i) {
        // Over 30 years a microsecond is still some units in the last place apart from the next one.
        const auto span = static_cast<std::int64_t>(random() % (30ULL * 31557600));
        const TimeAxis own = axis(unit, form.format, kYear2002, form.zone, form.digits);
        const std::int64_t local = span + 60 * form.zone;
        Moment moment{kYear2002 + span, 0};
        if (form.resolution > kSecond) moment.seconds -= local % (form.resolution / kSecond);
        if (form.resolution < kSecond)
          moment.nanos = static_cast<std::int32_t>(random() % static_cast<std::uint64_t>(kSecond) /
                                                   static_cast<std::uint64_t>(form.resolution) *
                                                   static_cast<std::uint64_t>(form.resolution));
        const std::string text = TimePattern(form.format).print(moment, form.zone, form.digits);
        const double time = parse_time(own, text);
        EXPECT_EQ(time, time_of(own, moment)) << text;
        EXPECT_EQ(to_text(own, time), text) << unit;
      }
}

TEST(TimeAxis, nanoseconds_over_centuries_still_parse_to_the_same_double) {
  std::mt19937_64 random(6);
  for (const std::string unit : {"s", "min", "h", "d", "y"})
    for (int i = 0; i < 3000; ++i) {
      const TimeAxis own = axis(unit, "%Y-%m-%dT%H:%M:%S", -6974121600, 0, 9);
      const Moment moment{-6974121600 + static_cast<std::int64_t>(random() % 9000000000),
                          static_cast<std::int32_t>(random() % 1000000000)};
      const double time = time_of(own, moment);
      EXPECT_EQ(parse_time(own, to_text(own, time)), time) << unit << " " << to_text(own, time);
    }
}

TEST(TimeAxis, a_time_that_the_form_cannot_hold_gets_more_digits) {
  EXPECT_EQ(to_text(axis("d", "%Y-%m-%d"), 1.5), "2002-01-02 12:00:00");
  EXPECT_EQ(to_text(axis("d", "%Y-%m"), 31.0), "2002-02");
  EXPECT_EQ(to_text(axis("d", "%Y-%m"), 1.0), "2002-01-02T00:00:00");
  EXPECT_EQ(to_text(axis("min", "%d-%m-%Y %H:%M"), 1.5), "01-01-2002 00:01:30");
  EXPECT_EQ(to_text(axis("s", "%d-%m-%Y %H:%M"), 0.125), "01-01-2002 00:00:00.125");
  EXPECT_EQ(to_text(axis("s", "%Y%m%dT%H%M"), 1), "20020101T000001");
  EXPECT_EQ(to_text(axis("s", "%I:%M %p %d/%m/%Y"), 1), "12:00:01 AM 01/01/2002");
  for (const double time : {1.5, 0.1, 1 / 3.0, -7.123456789, 1e-9, 12345.678901234}) {
    const TimeAxis own = axis("s", "%Y-%m-%d");
    EXPECT_NEAR(parse_time(own, to_text(own, time)), time, 0.6e-9);
  }
}

TEST(TimeAxis, beyond_the_calendar_is_an_error) {
  const TimeAxis own = axis("y", "%Y-%m-%d");
  for (const double time : {9000.0, -3000.0, 1e300, -1e18})
    EXPECT_THROW(to_text(own, time), std::invalid_argument) << time;
  EXPECT_EQ(to_text(own, NAN), "nan");
}

TEST(TimeAxis, epoch_numbers_keep_their_form_in_any_unit) {
  const TimeAxis seconds{"s", "epoch-s", 0, 0, 0}, millis{"ms", "epoch-ms", 0, 0, 0};
  EXPECT_EQ(parse_time(seconds, "1700000000.5"), 1700000000.5);
  EXPECT_EQ(to_text(millis, 1700000000123), "1700000000123");
  const TimeAxis hours{"h", "epoch-s", 1699920000, 0, 0}, days{"d", "epoch-ms", 1699920000, 0, 0};
  EXPECT_EQ(parse_time(hours, "1699923600"), 1);
  EXPECT_EQ(parse_time(days, "1699963200000"), 0.5);
  std::mt19937_64 random(7);
  for (int i = 0; i < 5000; ++i) {
    const double number = 1.7e9 + static_cast<double>(random() % 1000000000000) / 1000;
    const double time = time_of_epoch(hours, number);
    EXPECT_EQ(parse_time(hours, to_text(hours, time)), time) << number;
    const double whole = std::floor(number * 1000);
    EXPECT_EQ(to_text(days, time_of_epoch(days, whole)), std::to_string(static_cast<long long>(whole)));
  }
}

TEST(TimeAxis, knows_whether_its_file_names_a_zone) {
  for (const char* zoned : {"epoch-s", "%FT%T%z", "%F %R%:z", "%FT%TZ", "%F %T UTC", "%d-%m-%Y %H:%M GMT"})
    EXPECT_TRUE(axis("s", zoned).is_zoned()) << zoned;
  for (const char* bare : {"", "%F %T", "%Y%m%d", "%d/%m/%Y %H:%M"})
    EXPECT_FALSE(axis("s", bare).is_zoned()) << bare;
}

TEST(TimeAxis, durations) {
  const TimeAxis days = axis("d", "%Y-%m-%d");
  EXPECT_EQ(parse_duration(days, "2"), 2);
  EXPECT_EQ(parse_duration(days, "12h"), 0.5);
  EXPECT_EQ(parse_duration(days, " 36 h "), 1.5);
  EXPECT_EQ(parse_duration(days, "1y"), 365.25);
  EXPECT_EQ(parse_duration(axis("s", "%Y"), "250ms"), 0.25);
  EXPECT_EQ(parse_duration({"ms", "epoch-ms", 0, 0, 0}, "2s"), 2000);
  EXPECT_EQ(parse_duration({}, "0.5"), 0.5);
  EXPECT_EQ(parse_duration({"s", "", 0, 0, 0}, "1min"), 60);
  for (const std::string text : {"", "h", "1w", "1 2", "x1", "1e999", "2002-01-01"})
    EXPECT_THROW(parse_duration(days, text), std::invalid_argument) << text;
  EXPECT_NE(error_of([] { parse_duration({}, "1h"); }).find("plain numbers"), std::string::npos);
}

TEST(TimeAxis, grids_on_a_calendar_are_exact) {
  const TimeAxis days = axis("d", "%Y-%m-%d");
  const Values grid = parse_grid(days, "2002-01-01,2003-01-01,1h");
  ASSERT_EQ(grid.size(), 365u * 24 + 1);
  EXPECT_EQ(grid.back(), 365);
  for (const std::size_t i : {1u, 7u, 1001u, 8759u}) {
    EXPECT_EQ(grid[i], parse_time(days, to_text(days, grid[i])));
    EXPECT_EQ(to_text(days, grid[i]).substr(13), i % 24 == 0 ? "" : ":00:00") << to_text(days, grid[i]);
  }
  EXPECT_EQ(parse_grid(days, "2002-01-01, 2002-01-02, 0.25"), (Values{0, 0.25, 0.5, 0.75, 1}));
  EXPECT_EQ(parse_grid({}, "0,1,0.25"), (Values{0, 0.25, 0.5, 0.75, 1}));
  EXPECT_EQ(parse_grid({}, "0,0.3,0.1").size(), 4u);
  EXPECT_EQ(parse_grid({}, "5,5,1"), (Values{5}));
  for (const std::string text :
       {"", "0,1", "0,1,2,3", "0,1,0", "0,1,-1", "1,0,1", "0,1e9,1", "a,b,c", "0,1e300,1e-300"})
    EXPECT_THROW(parse_grid({}, text), std::invalid_argument) << text;
}

TEST(TimeAxis, fields_that_do_not_fit_are_refused) {
  EXPECT_NO_THROW(require_valid(TimeAxis{}));
  EXPECT_NO_THROW(require_valid({"s", "", 0, 0, 0}));
  EXPECT_NO_THROW(require_valid({"ms", "epoch-ms", 0, 0, 0}));
  EXPECT_NO_THROW(require_valid(axis("d", "%Y-%m-%d %H:%M:%S%z", kYear2002, -480, 9)));
  for (const TimeAxis& bad : std::vector<TimeAxis>{{"parsec", "", 0, 0, 0},
                                                   {"", "", 1, 0, 0},
                                                   {"", "", 0, 5, 0},
                                                   {"", "%Y", 0, 0, 0},
                                                   {"ms", "%Y", 0, 0, 0},
                                                   {"d", "%Q", 0, 0, 0},
                                                   {"d", "%F", 0, 0, 0},
                                                   {"d", "%Y", kLatest, 0, 0},
                                                   {"d", "%Y", kEarliest - 1, 0, 0},
                                                   {"d", "%Y", 0, 60, 0},
                                                   {"d", "%Y", 0, 0, 3},
                                                   {"d", "%Y-%m-%d %H:%M%z", 0, 5000, 0},
                                                   {"d", "%Y-%m-%d %H:%M:%S", 0, 0, 10},
                                                   {"", "epoch-s", 0, 0, 0},
                                                   {"ms", "epoch-s", 0, 0, 0},
                                                   {"ms", "epoch-ms", 60, 0, 0},
                                                   {"h", "epoch-s", 0, 60, 0}})
    EXPECT_THROW(require_valid(bad), std::invalid_argument) << bad.unit << " " << bad.format;
}

}  // namespace
