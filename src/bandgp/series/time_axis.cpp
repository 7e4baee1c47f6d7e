// SPDX-License-Identifier: Apache-2.0
#include "bandgp/series/time_axis.hpp"

#include <fast_float/fast_float.h>
#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <optional>
#include <stdexcept>

#include "bandgp/base/quote.hpp"
#include "bandgp/series/time_pattern.hpp"

namespace bandgp {
namespace {

constexpr std::int64_t kNanos = 1'000'000'000;
constexpr double kMostTimes = 1e8;

[[noreturn]] void refuse(const std::string& what) { throw std::invalid_argument(what); }

std::string_view trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

std::optional<double> finite_number(std::string_view text) {
  if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);
  double value = 0;
  const auto [end, error] = fast_float::from_chars(text.data(), text.data() + text.size(), value);
  if (end != text.data() + text.size() || text.empty() || !std::isfinite(value)) return {};
  if (error != std::errc() && error != std::errc::result_out_of_range) return {};
  return value;
}

/// The form of a file, and the same with seconds.
struct Forms {
  TimePattern own, fine;
};

/// Compiling a pattern costs as much as printing a time, and times come by the million in one form.
const Forms& compiled(const std::string& format) {
  thread_local Forms last;
  if (last.own.text() != format) {
    const TimePattern own(format);
    last = {own, TimePattern(own.with_seconds())};
  }
  return last;
}

/// File units in an axis unit: 3600 for epoch-s in hours, 1 where they are the same.
double epoch_scale(const TimeAxis& axis) {
  const bool millis = axis.format == "epoch-ms";
  if (axis.unit == "ms") return 1;
  return static_cast<double>(unit_seconds(axis.unit)) * (millis ? 1000 : 1);
}
double epoch_origin(const TimeAxis& axis) {
  return static_cast<double>(axis.origin) * (axis.format == "epoch-ms" ? 1000 : 1);
}

/// The moment nearest to a time, to some nanoseconds.
Moment moment_of(const TimeAxis& axis, double time) {
  const auto unit = static_cast<double>(unit_seconds(axis.unit));
  const double whole = std::trunc(time);
  // No year within 1 to 9999 is further from another than 10⁴ years.
  if (!(std::abs(whole) * unit <= 4e11))
    refuse(fmt::format("time {:g} {} is beyond the calendar", time, axis.unit));
  std::int64_t seconds = axis.origin + static_cast<std::int64_t>(whole) * unit_seconds(axis.unit);
  const std::int64_t nanos = std::llround((time - whole) * unit * 1e9);  // below 3.2e16 in size
  seconds += nanos / kNanos;
  std::int64_t rest = nanos % kNanos;
  if (rest < 0) rest += kNanos, --seconds;
  if (seconds < kEarliest || seconds >= kLatest)
    refuse(fmt::format("time {:g} {} is not within the years 1 to 9999", time, axis.unit));
  return {seconds, static_cast<std::int32_t>(rest)};
}

/// To the nearest multiple of `step` nanoseconds in the zone of the axis.
Moment rounded(Moment moment, std::int64_t step, int zone) {
  if (step <= kNanos) {
    std::int64_t nanos = (moment.nanos + step / 2) / step * step;
    if (nanos == kNanos) nanos = 0, ++moment.seconds;
    return {moment.seconds, static_cast<std::int32_t>(nanos)};
  }
  const std::int64_t unit = step / kNanos, shift = 60 * zone - kEarliest;  // positive from here
  const std::int64_t seconds = moment.seconds + shift + unit / 2;
  return {seconds / unit * unit - shift, 0};
}

/// What a pattern can tell apart, in nanoseconds.
std::int64_t resolution(const TimePattern& pattern, int digits) {
  if (!pattern.has('H') && !pattern.has('I')) return 86400 * kNanos;
  if (!pattern.has('M')) return 3600 * kNanos;
  if (!pattern.has('S')) return 60 * kNanos;
  std::int64_t step = kNanos;
  for (int i = 0; i < digits; ++i) step /= 10;
  return step;
}

bool in_calendar(const Moment& moment, int zone) {
  return moment.seconds + 60 * zone >= kEarliest && moment.seconds + 60 * zone < kLatest &&
         moment.seconds >= kEarliest && moment.seconds < kLatest;
}

std::string calendar_text(const TimeAxis& axis, double time) {
  const Moment near = moment_of(axis, time);
  const auto try_out = [&](const TimePattern& pattern, const Moment& moment, int digits, std::string& text) {
    if (!in_calendar(moment, pattern.has('z') ? axis.zone : 0)) return false;
    text = pattern.print(moment, axis.zone, digits);
    const std::optional<Moment> back = pattern.parse(text);
    return back && time_of(axis, *back) == time;
  };
  std::string text;
  const auto& [own, fine] = compiled(axis.format);
  const int zone = own.has('z') ? axis.zone : 0;
  if (try_out(own, rounded(near, resolution(own, axis.digits), zone), axis.digits, text)) return text;
  for (int digits = 0; digits <= 9; ++digits)
    if (try_out(fine, rounded(near, resolution(fine, digits), zone), digits, text)) return text;
  for (const int away : {1, -1, 2, -2, 3, -3, 4, -4, 5, -5, 6, -6, 7, -7, 8, -8}) {
    Moment moment = near;  // the product with the unit was rounded
    std::int64_t nanos = moment.nanos + away;
    if (nanos < 0) nanos += kNanos, --moment.seconds;
    if (nanos >= kNanos) nanos -= kNanos, ++moment.seconds;
    moment.nanos = static_cast<std::int32_t>(nanos);
    if (try_out(fine, moment, 9, text)) return text;
  }
  // Between two nanoseconds: the nearest.
  return in_calendar(near, zone) ? fine.print(near, axis.zone, 9) : fine.print(near, 0, 9);
}

std::string epoch_text(const TimeAxis& axis, double time) {
  const double number = epoch_origin(axis) + time * epoch_scale(axis);
  double up = number, down = number;
  for (int i = 0; i < 4; ++i) {
    if (time_of_epoch(axis, up) == time) return fmt::format("{}", up);
    if (time_of_epoch(axis, down) == time) return fmt::format("{}", down);
    up = std::nextafter(up, std::numeric_limits<double>::infinity());
    down = std::nextafter(down, -std::numeric_limits<double>::infinity());
  }
  return fmt::format("{}", number);
}

std::optional<Moment> parse_moment(const TimeAxis& axis, std::string_view text) {
  const auto& [own, fine] = compiled(axis.format);
  if (const auto moment = own.parse(text)) return moment;
  if (const auto moment = fine.parse(text)) return moment;
  const DateOrder order = own.order();
  const std::optional<Written> written = read_timestamp(text);
  if (!written) return {};
  // Without the year in front, day and month are only told apart where the file's own form says how.
  if (!written->year_first && !written->month_named && order == DateOrder::year_first) return {};
  return to_moment(*written, order);
}

struct Duration {
  double number;
  std::int64_t seconds;  // of its unit; 0: milliseconds
};

Duration read_duration(const TimeAxis& axis, std::string_view given) {
  const std::string_view text = trim(given);
  const std::size_t end = text.find_last_of("0123456789.") + 1;  // 0 where there is none
  const std::optional<double> number = finite_number(trim(text.substr(0, end)));
  const std::string_view unit = trim(text.substr(end));
  if (!number || (!unit.empty() && unit != "ms" && unit_seconds(unit) == 0))
    refuse(fmt::format("{} is not a duration such as 30min (units: ms, s, min, h, d, y)", quote(given)));
  if (!unit.empty() && axis.unit.empty())
    refuse(fmt::format("{} has a unit, but the times of the series are plain numbers", quote(given)));
  return {*number, unit_seconds(unit.empty() ? std::string_view(axis.unit) : unit)};
}

}  // namespace

std::int64_t unit_seconds(std::string_view unit) {
  if (unit == "s") return 1;
  if (unit == "min") return 60;
  if (unit == "h") return 3600;
  if (unit == "d") return 86400;
  if (unit == "y") return 31557600;
  return 0;
}

bool TimeAxis::is_zoned() const {
  const auto ends_in = [this](std::string_view name) { return format.ends_with(name); };
  return is_epoch() || (is_calendar() &&
                        (TimePattern(format).has('z') || ends_in("Z") || ends_in("UTC") || ends_in("GMT")));
}

void require_valid(const TimeAxis& axis) {
  const bool known = unit_seconds(axis.unit) > 0;
  if (axis.zone < -18 * 60 - 59 || axis.zone > 18 * 60 + 59) refuse("zone is not within 19 hours of UTC");
  if (axis.digits < 0 || axis.digits > 9) refuse("digits is not within 0 to 9");
  if (axis.is_plain()) {
    if (!known && !axis.unit.empty() && axis.unit != "ms")
      refuse(fmt::format("unit {} is not known", quote(axis.unit)));
    if (axis.origin != 0 || axis.zone != 0 || axis.digits != 0)
      refuse("plain numbers have no origin or zone");
    return;
  }
  if (axis.origin < kEarliest || axis.origin >= kLatest) refuse("origin is not within the years 1 to 9999");
  if (axis.is_epoch()) {
    if (!known && !(axis.unit == "ms" && axis.format == "epoch-ms" && axis.origin == 0))
      refuse(fmt::format("unit {} does not fit {}", quote(axis.unit), axis.format));
    if (axis.zone != 0 || axis.digits != 0) refuse("epoch numbers have no zone");
    return;
  }
  if (!known) refuse(fmt::format("unit {} is not known", quote(axis.unit)));
  const TimePattern pattern(axis.format);
  if (pattern.text() != axis.format) refuse("format is not in its full form");
  if (axis.zone != 0 && !pattern.has('z')) refuse("zone is not written by the format");
  if (axis.digits != 0 && !pattern.has('S')) refuse("digits of a second without seconds");
}

double time_of(const TimeAxis& axis, const Moment& moment) {
  const std::int64_t unit = unit_seconds(axis.unit);
  std::int64_t seconds = moment.seconds - axis.origin, nanos = moment.nanos;
  const bool negative = seconds < 0;
  if (negative) {  // by size, so that times just before the origin keep their digits
    seconds = -seconds;
    if (nanos > 0) nanos = kNanos - nanos, --seconds;
  }
  const std::int64_t whole = seconds / unit;
  const std::int64_t rest = (seconds - whole * unit) * kNanos + nanos;  // below 3.2e16
  const double time =
      static_cast<double>(whole) + static_cast<double>(rest) / static_cast<double>(unit * kNanos);
  return negative ? -time : time;
}

double time_of_epoch(const TimeAxis& axis, double number) {
  return (number - epoch_origin(axis)) / epoch_scale(axis);
}

std::string to_text(const TimeAxis& axis, double time) {
  if (axis.is_plain() || !std::isfinite(time)) return fmt::format("{}", time);
  return axis.is_epoch() ? epoch_text(axis, time) : calendar_text(axis, time);
}

double parse_time(const TimeAxis& axis, std::string_view given) {
  const std::string_view text = trim(given);
  if (!axis.is_calendar()) {
    const std::optional<double> number = finite_number(text);
    if (number && axis.is_plain()) return *number;
    if (number) return time_of_epoch(axis, *number);
    refuse(fmt::format("{} is not a time: the times of the series are numbers", quote(given)));
  }
  const std::optional<Moment> moment = parse_moment(axis, text);
  if (!moment) refuse(fmt::format("{} is not a time such as {}", quote(given), to_text(axis, 0)));
  return time_of(axis, *moment);
}

double parse_duration(const TimeAxis& axis, std::string_view text) {
  const Duration duration = read_duration(axis, text);
  const bool millis = duration.seconds == 0 && !axis.unit.empty();
  if (axis.unit.empty() || (millis && axis.unit == "ms")) return duration.number;
  const double unit = axis.unit == "ms" ? 0.001 : static_cast<double>(unit_seconds(axis.unit));
  return duration.number * (millis ? 0.001 : static_cast<double>(duration.seconds)) / unit;
}

std::vector<double> parse_grid(const TimeAxis& axis, std::string_view text) {
  const std::size_t one = text.find(','), two = one == text.npos ? one : text.find(',', one + 1);
  if (two == text.npos || text.find(',', two + 1) != text.npos)
    refuse(fmt::format("{} is not of the form FIRST,LAST,STEP", quote(text)));
  const double first = parse_time(axis, text.substr(0, one));
  const double last = parse_time(axis, text.substr(one + 1, two - one - 1));
  const std::string_view step_text = text.substr(two + 1);
  const double step = parse_duration(axis, step_text);
  if (!(step > 0) || !std::isfinite(step)) refuse(fmt::format("step {} is not positive", quote(step_text)));
  if (last < first) refuse(fmt::format("{} is earlier than {}", to_text(axis, last), to_text(axis, first)));
  const double steps = std::floor((last - first) / step * (1 + 1e-12) + 1e-9);
  if (!(steps < kMostTimes)) refuse("the grid has more than 100 million times; take a longer step");

  std::vector<double> times(static_cast<std::size_t>(steps) + 1);
  const Duration duration = read_duration(axis, step_text);
  const double nanos =
      duration.number * (duration.seconds == 0 ? 1e6 : 1e9 * static_cast<double>(duration.seconds));
  if (axis.is_calendar() && nanos == std::floor(nanos) && nanos * (steps + 1) < 9e18) {
    const Moment start = *parse_moment(axis, trim(text.substr(0, one)));
    for (std::size_t i = 0; i < times.size(); ++i) {
      const std::int64_t away = static_cast<std::int64_t>(nanos) * static_cast<std::int64_t>(i) + start.nanos;
      times[i] = time_of(axis, {start.seconds + away / kNanos, static_cast<std::int32_t>(away % kNanos)});
    }
    return times;
  }
  for (std::size_t i = 0; i < times.size(); ++i) times[i] = first + step * static_cast<double>(i);
  return times;
}

}  // namespace bandgp
