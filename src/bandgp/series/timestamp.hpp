// SPDX-License-Identifier: Apache-2.0
// Dates and times as people write them.  The calendar is the proleptic Gregorian one, years 1 to 9999; what
// has no zone is UTC.
#pragma once
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace bandgp {

/// Seconds since 1970-01-01 00:00 UTC, and nanoseconds within them.
struct Moment {
  std::int64_t seconds = 0;
  std::int32_t nanos = 0;  // 0 … 999,999,999
  auto operator<=>(const Moment&) const = default;
};

inline constexpr std::int64_t kEarliest = -62135596800;  // 0001-01-01 00:00:00
inline constexpr std::int64_t kLatest = 253402300800;    // one second after 9999-12-31 23:59:59

/// The fields of a date and time of day.
struct DateTime {
  int year = 1970, month = 1, day = 1, hour = 0, minute = 0, second = 0;
  std::int32_t nanos = 0;
  int zone = 0;  // minutes east of UTC
};

/// None where a field is out of its range.  24:00 is the end of the day, a leap second (:60) the second
/// after.
std::optional<Moment> to_moment(const DateTime& fields);
/// The fields of a moment within kEarliest … kLatest, in a zone.
DateTime to_fields(const Moment& moment, int zone);

enum class DateOrder { year_first, day_first, month_first };

/// A timestamp as it is written; which of two numbers is the day may be open.
struct Written {
  int first = 0, second = 0;  // month and day where the year comes first, else in the order written
  bool year_first = false;    // 2002-12-31
  bool month_named = false;   // 31-Dec-2002: first is the day
  bool has_day = true;        // false: 2002-12
  bool padded = true;         // both numbers have two digits
  char separator = 0;         // of the date; 0: 20021231
  char between = 0;           // of date and clock; 0: no clock
  bool clock_colons = true;   // false: 235959
  bool has_seconds = false;
  int fraction = 0;  // digits of a second
  char half = 0;     // 'a', 'p': a clock of twelve hours
  bool hour_padded = true;
  bool zone_apart = false;  // a blank before the zone
  char zone_form = 0;       // 'Z', 'U' (UTC), 'G' (GMT), ':' (+02:00), '+' (+0200, +02); 0: none
  DateTime fields;          // year, clock and zone
};

/// Recognises 2002-12-31, 2002/12/31, 20021231, 2002-12, 31-12-2002, 12/31/2002, 31.12.2002, 31-Dec-2002,
/// each with or without a clock (T or a blank before 1:00, 01:00:59.25, 1:00 PM) and a zone.  Ranges are not
/// checked yet.
std::optional<Written> read_timestamp(std::string_view text);
/// The same moment under one reading of its numbers; none where that is no date.
std::optional<Moment> to_moment(const Written& written, DateOrder order);
/// Is it a time of day alone, 01:00 or 1:00:59.5?
bool is_clock(std::string_view text);

/// The strptime pattern under which `written` would be printed the same (fractions of a second apart).
std::string pattern_of(const Written& written, DateOrder order);

}  // namespace bandgp
