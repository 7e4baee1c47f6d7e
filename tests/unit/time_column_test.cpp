// SPDX-License-Identifier: Apache-2.0
// What a whole column decides: which number is the day, whether digits are a date, which unit is readable.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "bandgp/io/csv.hpp"
#include "bandgp/io/read_table.hpp"

namespace {

using namespace bandgp;
using Values = std::vector<double>;

/// How a message ends where the line can be left out.
const std::string kSkip = "; skip_bad drops such lines and counts them";

Table read(const std::vector<std::string>& times, const ReadOptions& options = {}) {
  std::string text = "t;y\n";
  for (const std::string& time : times) text += time + ";1\n";
  std::istringstream in(text);
  return read_csv(in, "data.csv", options);
}

std::string error_of(const std::vector<std::string>& times, const ReadOptions& options = {}) {
  try {
    read(times, options);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "no error";
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(TimeColumn, one_row_tells_day_from_month_for_all) {
  const Table day_first = read({"01/02/2003", "02/02/2003", "13/02/2003"});
  EXPECT_EQ(day_first.axis.format, "%d/%m/%Y");
  EXPECT_EQ(day_first.time, (Values{0, 1, 12}));
  const Table month_first = read({"01/02/2003", "02/02/2003", "02/13/2003"}, {.time_unit = "d"});
  EXPECT_EQ(month_first.axis.format, "%m/%d/%Y");
  EXPECT_EQ(month_first.time, (Values{0, 31, 42}));
  const Table late = read({"", "01-02-2003", "NA", "31-12-2002 01:00"}, {.time_unit = "h"});
  EXPECT_EQ(late.axis.format, "%d-%m-%Y %H:%M");
  ASSERT_EQ(late.time.size(), 4u);
  EXPECT_TRUE(std::isnan(late.time[0]) && std::isnan(late.time[2]));
  EXPECT_EQ(late.time[1], 32 * 24);
  EXPECT_EQ(late.time[3], 1);
}

TEST(TimeColumn, an_order_that_no_row_tells_is_an_error_that_names_the_flag) {
  EXPECT_EQ(error_of({"01/02/2003 10:00", "02/02/2003 11:00"}),
            "data.csv: column t: 01/02/2003 10:00 may have the day or the month first, and no row tells "
            "which: give "
            "time_format '%d/%m/%Y %H:%M' or '%m/%d/%Y %H:%M'");
  EXPECT_EQ(read({"01/02/2003", "02/02/2003"}, {.time_format = "%m/%d/%Y", .time_unit = "d"}).time,
            (Values{0, 31}));
  EXPECT_EQ(read({"01/02/2003", "02/02/2003"}, {.time_format = "%d/%m/%Y"}).time, (Values{0, 1}));
  EXPECT_EQ(read({"01.01.2003", "02.02.2003"}, {.time_unit = "d"}).time,
            (Values{0, 32}));  // both readings agree
}

TEST(TimeColumn, rows_that_contradict_each_other_are_malformed) {
  EXPECT_EQ(error_of({"13/02/2003", "02/13/2003"}),
            "data.csv:3: \"02/13/2003\" is not a date of the calendar (column t)" + kSkip);
  EXPECT_EQ(error_of({"2003-01-01", "01-02-2003"}),
            "data.csv:3: \"01-02-2003\" is not written as the times before it (column t)" + kSkip);
  EXPECT_EQ(error_of({"2003-01-01", "2003-02-30"}),
            "data.csv:3: \"2003-02-30\" is not a date of the calendar (column t)" + kSkip);
  EXPECT_EQ(error_of({"2003-01-01 00:00Z", "2003-01-01 01:00"}),
            "data.csv:3: \"2003-01-01 01:00\" is not written as the times before it (column t)" + kSkip);
  EXPECT_EQ(error_of({"2003-01-01", "5"}),
            "data.csv:3: \"5\" is neither a number nor a date (column t)" + kSkip);
  EXPECT_EQ(error_of({"5", "2003-01-01"}),
            "data.csv:3: \"2003-01-01\" is not a number, as the times before it are (column t)" + kSkip);
  const Table skipped = read({"13/02/2003", "02/13/2003", "14/02/2003"}, {.skip_bad = true});
  EXPECT_EQ(skipped.time, (Values{0, 1}));
  EXPECT_EQ(skipped.value.size(), 2u);
  EXPECT_EQ(skipped.bad_lines, 1);
}

TEST(TimeColumn, digits_that_are_dates_throughout_are_dates) {
  const Table table = read({"19580329", "19580405", ""});
  EXPECT_EQ(table.axis.format, "%Y%m%d");
  EXPECT_EQ(table.axis.unit, "d");
  EXPECT_EQ(to_text(table.axis, table.time[1]), "19580405");
  EXPECT_EQ(table.time[1], 7);
  EXPECT_TRUE(std::isnan(table.time[2]));
  EXPECT_EQ(read({"19580329", "19580431"}).time, (Values{19580329, 19580431}));  // 31 April
  EXPECT_EQ(read({"19580329", "5"}).time, (Values{19580329, 5}));
  EXPECT_EQ(read({"19580329", "19580405"}, {.time_format = "number"}).time, (Values{19580329, 19580405}));
  EXPECT_EQ(read({"200212310100", "200212310200"}, {.time_unit = "h"}).time, (Values{1, 2}));
  EXPECT_EQ(read({"20021231010005", "20021231010006"}, {.time_unit = "s"}).time, (Values{3605, 3606}));
}

TEST(TimeColumn, unix_times_stay_numbers_and_have_a_unit) {
  const Table seconds = read({"1700000000", "1700000060.5"});
  EXPECT_EQ(seconds.time, (Values{1700000000, 1700000060.5}));
  EXPECT_EQ(seconds.axis, (TimeAxis{"s", "epoch-s", 0, 0, 0}));
  EXPECT_EQ(read({"1700000000000"}).axis, (TimeAxis{"ms", "epoch-ms", 0, 0, 0}));
  EXPECT_TRUE(read({"1700000000", "5"}).axis.is_plain());
  EXPECT_TRUE(read({"1700000000"}, {.time_format = "number"}).axis.is_plain());
  const Table hours = read({"1699923600", "1699927200"}, {.time_unit = "h"});
  EXPECT_EQ(hours.time, (Values{1, 2}));
  EXPECT_EQ(to_text(hours.axis, hours.time[1]), "1699927200");
  EXPECT_EQ(read({"0", "86400"}, {.time_format = "epoch-s", .time_unit = "d"}).time, (Values{0, 1}));
  EXPECT_TRUE(has(error_of({"1", "2"}, {.time_unit = "h"}), "time_unit is for timestamps"));
  EXPECT_TRUE(
      has(error_of({"1e18", "2e18"}, {.time_format = "epoch-s", .time_unit = "h"}), "years 1 to 9999"));
}

TEST(TimeColumn, the_unit_is_the_longest_within_thirty_gaps) {
  EXPECT_EQ(read({"2003-01-01 00:00:00.000", "2003-01-01 00:00:00.004"}).axis.unit, "s");
  EXPECT_EQ(read({"2003-01-01 00:00", "2003-01-01 00:01"}).axis.unit, "min");
  EXPECT_EQ(read({"2003-01-01 00:00", "2003-01-01 00:05"}).axis.unit, "h");
  EXPECT_EQ(read({"2003-01-01 00:00", "2003-01-01 01:00"}).axis.unit, "d");
  EXPECT_EQ(read({"2003-01-01", "2003-01-08"}).axis.unit, "d");
  EXPECT_EQ(read({"1749-01", "1749-02", "1749-03"}).axis.unit, "y");
  EXPECT_EQ(read({"2003-01-01"}).axis.unit, "d");
  EXPECT_EQ(read({"2003-01-01", "2003-01-02"}, {.time_unit = "min"}).time, (Values{0, 1440}));
  EXPECT_EQ(error_of({"2003-01-01"}, {.time_unit = "week"}), "time_unit is s, min, h, d or y, not \"week\"");
}

TEST(TimeColumn, the_form_is_the_fullest_in_the_column) {
  const Table table = read({"2003-01-01T00:00:00+02:00", "2003-01-01T00:00:00.500+02:00"});
  EXPECT_EQ(to_text(table.axis, table.time[0]), "2003-01-01T00:00:00.000+02:00");
  EXPECT_EQ(to_text(table.axis, table.time[1]), "2003-01-01T00:00:00.500+02:00");
  EXPECT_EQ(table.time[1] - table.time[0], 0.5);
  const Table summer = read({"2003-03-30T01:00+01:00", "2003-03-30T03:00+02:00"}, {.time_unit = "h"});
  EXPECT_EQ(summer.time, (Values{0, 1}));
  EXPECT_EQ(to_text(summer.axis, 1), "2003-03-30T01:00+00:00");
  const Table midnight = read({"2003-01-01", "2003-01-01 06:00:00"}, {.time_unit = "h"});
  EXPECT_EQ(midnight.time, (Values{0, 6}));
  EXPECT_EQ(to_text(midnight.axis, 0), "2003-01-01 00:00:00");
}

TEST(TimeColumn, a_time_format_is_held_to) {
  EXPECT_EQ(error_of({"31/12/02", "5"}, {.time_format = "%d/%m/%y"}),
            "data.csv:3: \"5\" does not fit the time format %d/%m/%y (column t)" + kSkip);
  EXPECT_EQ(read({"31/12/02", "NA"}, {.time_format = "%d/%m/%y"}).time[0], 0);
  EXPECT_TRUE(has(error_of({"1"}, {.time_format = "%d/%m"}), "needs one year"));
  EXPECT_TRUE(has(error_of({"1"}, {.time_format = "iso"}), "time_format is a pattern"));
  EXPECT_TRUE(
      has(error_of({"31/12/02"}), "neither a number nor a date in a form that is known; time_format"));
  EXPECT_TRUE(has(error_of({"1"}, {.step = 1, .time_unit = "h"}), "step says there is none"));
}

TEST(TimeColumn, date_and_time_of_day_in_two_columns_are_one_time) {
  std::istringstream blanks("2003-01-01 00:30:00 5\n2003-01-01 01:00:00 6\n");
  const Table table = read_csv(blanks, "data.txt", {.time_unit = "h"});
  EXPECT_EQ(table.time, (Values{0.5, 1}));
  EXPECT_EQ(table.value, (Values{5, 6}));
  EXPECT_EQ(table.time_column, "1 2");
  std::istringstream named("Date;Time;a;b\n31/12/2003;0:30;5;7\n31/12/2003;1:00;6;8\n");
  const Table both = read_csv(named, "data.csv", {.y = "a", .time_unit = "h"});
  EXPECT_EQ(both.time, (Values{0.5, 1}));
  EXPECT_EQ(both.time_name, "Date Time");
  EXPECT_EQ(both.unused, (std::vector<std::string>{"b"}));
  std::istringstream short_years("31/12/03 0:30 5\n31/12/03 1:00 6\n");
  EXPECT_EQ(read_csv(short_years, "data.txt", {.time_format = "%d/%m/%y %H:%M", .time_unit = "h"}).time,
            (Values{0.5, 1}));
  std::istringstream dates("Date;Time;a\n31/12/2003;0:30;5\n30/12/2003;1:00;6\n");
  EXPECT_EQ(read_csv(dates, "data.csv", {.y = "a", .time_format = "%d/%m/%Y", .time_unit = "d"}).time,
            (Values{1, 0}));
}

TEST(TimeColumn, times_to_predict_at_are_read_on_the_axis_of_the_series) {
  const TimeAxis days{"d", "%d-%m-%Y", 1041379200, 0, 0};  // 2003-01-01
  const std::string path = testing::TempDir() + "bandgp_times_test." + std::to_string(getpid());
  const auto times = [&](const std::string& text, const ReadOptions& options = {},
                         const TimeAxis& axis = {}) {
    std::ofstream(path) << text;
    return read_times(path, options, axis);
  };
  EXPECT_EQ(times("02-01-2003\n2003-01-01T12:00\n", {}, days).time, (Values{1, 0.5}));
  EXPECT_EQ(times("2003-01-01 06:00\n2003-01-01 06:00\n", {}, days).time, (Values{0.25, 0.25}));
  EXPECT_EQ(times("1\n2.5\n").time, (Values{1, 2.5}));
  EXPECT_EQ(times("a,b,c,time\n1,2,3,4\n").time, (Values{4}));
  EXPECT_EQ(times("a,b\n1,2\n", {.x = "b"}).time, (Values{2}));
  EXPECT_EQ(times("03/01/2003\n", {.time_format = "%m/%d/%Y"}, days).time, (Values{59}));
  EXPECT_EQ(times("1\nx\n2\n\n", {.skip_bad = true}).bad_lines, 1);
  for (const std::string text : {"1\nNA\n", "1\nx\n", "", "2003-01-01\n", "a,b,c,d\n1,2,3,4\n"})
    EXPECT_THROW(times(text), std::invalid_argument) << text;
  std::remove(path.c_str());
}

}  // namespace
