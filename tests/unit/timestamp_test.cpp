// SPDX-License-Identifier: Apache-2.0
#include "bandgp/series/timestamp.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

#include "bandgp/series/time_pattern.hpp"

namespace {

using namespace bandgp;

constexpr std::int64_t kDay = 86400;

/// The moment under one order of day and month; seconds −1 and nanos −1 where there is none.
Moment read(const std::string& text, DateOrder order = DateOrder::day_first) {
  const auto written = read_timestamp(text);
  return written ? to_moment(*written, order).value_or(Moment{-1, -1}) : Moment{-1, -1};
}

const Moment kNone{-1, -1};

TEST(Timestamp, the_calendar_agrees_with_known_days) {
  EXPECT_EQ(read("1970-01-01"), (Moment{0, 0}));
  EXPECT_EQ(read("2000-03-01"), (Moment{11017 * kDay, 0}));
  EXPECT_EQ(read("1749-01-15"), (Moment{-80704 * kDay, 0}));
  EXPECT_EQ(read("0001-01-01"), (Moment{kEarliest, 0}));
  EXPECT_EQ(read("9999-12-31 23:59:59.999999999"), (Moment{kLatest - 1, 999999999}));
  EXPECT_EQ(read("2001-09-09T01:46:40Z"), (Moment{1000000000, 0}));
}

TEST(Timestamp, every_way_of_writing_is_the_same_moment) {
  const Moment moment{1041296400, 0};  // 2002-12-31 01:00 UTC
  for (const std::string text :
       {"2002-12-31 01:00",      "2002-12-31T01:00:00",    "2002-12-31T01:00:00.000",
        "2002-12-31t01:00Z",     "2002/12/31 1:00",        "2002.12.31 01:00",
        "20021231T0100",         "20021231T010000Z",       "20021231 01:00",
        "31-12-2002 01:00",      "31/12/2002 1:00",        "31.12.2002 01:00:00",
        "31-Dec-2002 01:00",     "31 December 2002 01:00", "31-12-2002 1:00 AM",
        "31-12-2002 01:00:00am", "2002-12-31T02:00+01:00", "2002-12-31T02:00:00 +0100",
        "2002-12-30T20:00-05",   "2002-12-31 01:00 UTC",   "2002-12-31  01:00:00 GMT",
        "2002-12-31T03:30+02:30"})
    EXPECT_EQ(read(text), moment) << text;
  EXPECT_EQ(read("12/31/2002 1:00:00 PM", DateOrder::month_first).seconds, moment.seconds + 12 * 3600);
  EXPECT_EQ(read("31-12-2002 12:00 AM").seconds, moment.seconds - 3600);
  EXPECT_EQ(read("31-12-2002 12:00 PM").seconds, moment.seconds + 11 * 3600);
  EXPECT_EQ(read("2002-12"), (Moment{1041296400 - 3600 - 30 * kDay, 0}));
}

TEST(Timestamp, fractions_keep_nine_digits) {
  EXPECT_EQ(read("1970-01-01 00:00:00.5"), (Moment{0, 500000000}));
  EXPECT_EQ(read("1970-01-01 00:00:00,000000001"), (Moment{0, 1}));
  EXPECT_EQ(read("1969-12-31 23:59:59.999999999"), (Moment{-1, 999999999}));
  EXPECT_EQ(read("1970-01-01 00:00:00.0000000001"), kNone);  // not cut off silently
}

TEST(Timestamp, leap_seconds_and_the_end_of_a_day) {
  EXPECT_EQ(read("2016-12-31T23:59:60Z"), read("2017-01-01T00:00:00Z"));
  EXPECT_EQ(read("2016-12-31T24:00"), read("2017-01-01"));
  EXPECT_EQ(read("2016-12-31T24:00:01"), kNone);
  EXPECT_EQ(read("2016-12-31T23:59:61"), kNone);
}

TEST(Timestamp, what_is_no_date_is_none) {
  for (const std::string text : {"",
                                 "2002",
                                 "2002-",
                                 "2002-13-01",
                                 "2002-02-29",
                                 "1900-02-29",
                                 "2002-00-01",
                                 "2002-01-00",
                                 "0000-01-01",
                                 "32-01-2002",
                                 "2002-01-01T",
                                 "2002-01-01 25:00",
                                 "2002-01-01 1:0",
                                 "2002-01-01 01:60",
                                 "2002-01-01T01:00+",
                                 "2002-01-01T01:00+1",
                                 "2002-01-01T01:00+19:00",
                                 "2002-01-01T01:00+01:60",
                                 "2002-01-01T01:00Zulu",
                                 "2002-01-01x",
                                 "2002-01/01",
                                 "1-2-3",
                                 "01/02/03",
                                 "31-Foo-2002",
                                 "20021231",
                                 "12345678901",
                                 "-2002-01-01",
                                 "+002002-01-01",
                                 "2002-01-01 00:00:00 PM",
                                 "2002-01-01 13:00 PM",
                                 "9999-12-31T24:00",
                                 "0001-01-01T00:00+01:00",
                                 "2002-01-01 01:00:00.",
                                 "a-b-2002",
                                 "2002-01-01 01:00 "})
    EXPECT_EQ(read(text), kNone) << text;
  EXPECT_NE(read("2000-02-29"), kNone);
}

TEST(Timestamp, a_pattern_writes_what_was_read) {
  for (const std::string text : {"2002-12-31", "2002-12", "2002-12-31 01:00", "2002-12-31T01:00:05Z",
                                 "2002/2/1 1:00", "20021231T010000", "31-12-2002 01:00",
                                 "5/7/2002 1:05:00 PM", "31-Dec-2002", "2002-12-31 01:00:00 +02:00",
                                 "2002-12-31T01:00+0530", "2002-12-31 01:00 UTC", "31.12.2002 23:59:59"}) {
    const auto written = read_timestamp(text);
    ASSERT_TRUE(written) << text;
    const TimePattern pattern(pattern_of(*written, DateOrder::day_first));
    const auto moment = to_moment(*written, DateOrder::day_first);
    ASSERT_TRUE(moment) << text;
    EXPECT_EQ(pattern.print(*moment, written->fields.zone, 0), text) << pattern.text();
    EXPECT_EQ(pattern.parse(text), moment) << pattern.text();
  }
}

TEST(TimePattern, reads_and_writes_every_field) {
  const auto both = [](const std::string& pattern, const std::string& text, Moment moment, int zone = 0,
                       int digits = 0) {
    const TimePattern compiled(pattern);
    EXPECT_EQ(compiled.parse(text), moment) << pattern << " " << text;
    EXPECT_EQ(compiled.print(moment, zone, digits), text) << pattern;
  };
  const Moment moment{1041296705, 250000000};  // 2002-12-31 01:05:05.25
  both("%Y-%m-%dT%H:%M:%S", "2002-12-31T01:05:05.25", moment, 0, 2);
  both("%F %T.%f", "2002-12-31 01:05:05.250", moment, 0, 3);
  both("%d %b %Y, %I:%M:%S.%f %p", "31 Dec 2002, 01:05:05.25 AM", moment, 0, 2);
  both("%B %-d %Y %R", "December 31 2002 01:05", {1041296700, 0});
  both("%y%j", "02365", {1041292800, 0});
  both("%Y", "1749", {-6974035200, 0});
  both("%m/%d/%y %H h", "12/31/02 01 h", {1041296400, 0});
  both("%Y%m%d%H%M%S", "20021231010505", {1041296705, 0});
  both("%Y-%m-%d %H:%M %z", "2002-12-31 03:05 +0200", {1041296700, 0}, 120);
  both("%Y-%m-%d %H:%M%:z", "2002-12-30 20:05-05:00", {1041296700, 0}, -300);
  both("100%% %Y", "100% 1970", {0, 0});
  EXPECT_EQ(TimePattern("%y").parse("68"), (Moment{3092601600, 0}));
  EXPECT_EQ(TimePattern("%y").parse("69"), (Moment{-31536000, 0}));
  EXPECT_EQ(TimePattern("%d/%m/%Y").parse("1/2/2003"), TimePattern("%F").parse("2003-02-01"));
  EXPECT_EQ(TimePattern("%F %R").parse("2003-02-01 \t 00:00"), TimePattern("%F").parse("2003-02-01"));
}

TEST(TimePattern, what_does_not_match_is_none) {
  for (const auto& [pattern, text] :
       std::initializer_list<std::pair<const char*, const char*>>{{"%d/%m/%Y", "31-12-2002"},
                                                                  {"%d/%m/%Y", "31/12/02"},
                                                                  {"%d/%m/%Y", "31/12/2002 "},
                                                                  {"%d/%m/%Y", "12/31/2002"},
                                                                  {"%Y%j", "2002366"},
                                                                  {"%Y %I %p", "2002 13 PM"},
                                                                  {"%Y %I %p", "2002 00 AM"},
                                                                  {"%Y %b", "2002 Foo"},
                                                                  {"%F %T", "2002-01-01"},
                                                                  {"%F %T.%f", "2002-01-01 01:00:00"},
                                                                  {"%Y", ""},
                                                                  {"%Y", "0000"}})
    EXPECT_EQ(TimePattern(pattern).parse(text), std::nullopt) << pattern << " " << text;
}

TEST(TimePattern, a_pattern_that_cannot_work_is_refused) {
  for (const std::string pattern :
       {"", "%H:%M", "%Y %Q", "%Y %", "%Y %Y", "%Y %d", "%Y %j %m", "%Y %I", "%Y %H %p", "%Y %M", "%Y %H %S",
        "%Y %f", "%Y%-Y", "%:m", "%Y\t%m", "%Y\xC3\xA9", "%Y %m %b", "%Y-%", "%-"})
    EXPECT_THROW(TimePattern{pattern}, std::invalid_argument) << pattern;
}

}  // namespace
