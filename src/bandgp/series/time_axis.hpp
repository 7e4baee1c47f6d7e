// SPDX-License-Identifier: Apache-2.0
// What the numbers of a time axis mean, and how its times are written in the user's file.
//
// A time is a double: units since `origin`.  For timestamps the origin is the midnight (UTC) before the first
// of them, so that no digit is lost to the years before; lengthscale, reach, step and gaps are in the same
// unit.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "bandgp/series/timestamp.hpp"

namespace bandgp {

struct TimeAxis {
  std::string unit = {};    // s, min, h, d, y (365.25 days); ms with epoch-ms; empty: not known
  std::string format = {};  // empty: plain numbers; epoch-s, epoch-ms; else a pattern as of time_pattern.hpp
  std::int64_t origin = 0;  // of time 0, in seconds since 1970-01-01 00:00 UTC; 0 for plain numbers
  int zone = 0;             // minutes east of UTC in which times are written
  int digits = 0;           // of a second's fraction, as in the file

  bool is_plain() const { return format.empty(); }
  bool is_epoch() const { return format == "epoch-s" || format == "epoch-ms"; }
  bool is_calendar() const { return !is_plain() && !is_epoch(); }
  /// Whether the file says in which zone its times are: seconds since 1970, an offset, Z, UTC or GMT.
  bool is_zoned() const;
  bool operator==(const TimeAxis&) const = default;
};

/// Seconds in a unit of the command line (s, min, h, d, y); 0 for any other text.
std::int64_t unit_seconds(std::string_view unit);
/// Throws std::invalid_argument unless the fields fit each other.
void require_valid(const TimeAxis& axis);

/// A moment on a calendar axis, correctly to the last digit but one: whole units and the rest are divided
/// apart.
double time_of(const TimeAxis& axis, const Moment& moment);
/// A number of the file on an epoch axis.
double time_of_epoch(const TimeAxis& axis, double number);

/// A time in the form of the file.  The text of a time that was in the file parses back to the same double; a
/// time that the form cannot hold (noon, in a file of dates) gets a clock and as many digits as it needs.
/// Throws std::invalid_argument beyond the years 1 to 9999.
std::string to_text(const TimeAxis& axis, double time);

/// A time given by the user: in the form of the file, or ISO 8601.  Throws std::invalid_argument.
double parse_time(const TimeAxis& axis, std::string_view text);
/// `1h`, `30min`, `0.5d`, or a number of the axis' own units.  Throws std::invalid_argument.
double parse_duration(const TimeAxis& axis, std::string_view text);
/// `A,B,STEP`: A, A + STEP, … up to and with B; on a calendar the times are exact, not sums.
/// Throws std::invalid_argument, also for more than 10⁸ times.
std::vector<double> parse_grid(const TimeAxis& axis, std::string_view text);

}  // namespace bandgp
