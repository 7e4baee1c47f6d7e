// SPDX-License-Identifier: Apache-2.0
#include "bandgp/io/time_column.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <utility>

#include "bandgp/base/error.hpp"
#include "bandgp/base/quote.hpp"
#include "bandgp/io/cells.hpp"

namespace bandgp {
namespace {

constexpr Moment kMissing{std::numeric_limits<std::int64_t>::min(), 0};
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

enum Reading : unsigned { kDate8 = 1, kDate12 = 2, kDate14 = 4, kEpochS = 8, kEpochMs = 16, kAny = 31 };

/// 19580329, 195803291200 or 19580329120059, as a date.
std::optional<Moment> digits_as_date(double number, Reading reading) {
  const double least = reading == kDate8 ? 1e7 : reading == kDate12 ? 1e11 : 1e13;
  if (!(number >= least && number < 10 * least) || number != std::floor(number)) return {};
  auto digits = static_cast<std::int64_t>(number);
  const auto take = [&](std::int64_t base) {
    const auto field = static_cast<int>(digits % base);
    digits /= base;
    return field;
  };
  DateTime f;
  if (reading == kDate14) f.second = take(100);
  if (reading != kDate8) f.minute = take(100), f.hour = take(100);
  f.day = take(100);
  f.month = take(100);
  f.year = static_cast<int>(digits);
  return to_moment(f);
}

/// Which of the readings still open a number allows.  Unix times are told by their size: 2001-09-09 to 2103.
unsigned readings_of(double number, unsigned open) {
  for (const Reading reading : {kDate8, kDate12, kDate14})
    if ((open & reading) != 0 && !digits_as_date(number, reading)) open &= ~reading;
  if (!(number >= 1e9 && number < 4.2e9)) open &= ~kEpochS;
  if (!(number >= 1e12 && number < 4.2e12)) open &= ~kEpochMs;
  return open;
}

/// Digits in three fields, perhaps with more behind them: 01/02/03.
bool looks_like_date(std::string_view cell) {
  const std::size_t end = cell.find_first_not_of("0123456789/.-");
  const std::string_view date = cell.substr(0, end);
  return !date.empty() && date.front() >= '0' && date.front() <= '9' &&
         std::ranges::count_if(date, [](char c) { return c < '0' || c > '9'; }) == 2;
}

std::int64_t midnight_before(std::int64_t seconds) {
  const std::int64_t from = seconds - kEarliest;  // not negative
  return kEarliest + from / 86400 * 86400;
}

/// The longest unit that is no longer than 30 typical gaps: hourly values are told in days, daily ones too,
/// monthly ones in years.  Typical is the median distance of neighbours in the file.
std::string readable_unit(const std::vector<Moment>& moments) {
  std::vector<double> gaps;
  const Moment* before = nullptr;
  for (const Moment& moment : moments) {
    if (moment == kMissing) continue;
    if (before != nullptr && moment != *before)
      gaps.push_back(std::abs(static_cast<double>(moment.seconds - before->seconds) +
                              1e-9 * static_cast<double>(moment.nanos - before->nanos)));
    before = &moment;
  }
  if (gaps.empty()) return "d";
  const auto middle = gaps.begin() + static_cast<std::ptrdiff_t>(gaps.size() / 2);
  std::ranges::nth_element(gaps, middle);
  for (const char* unit : {"y", "d", "h", "min"})
    if (static_cast<double>(unit_seconds(unit)) <= 30 * *middle) return unit;
  return "s";
}

}  // namespace

TimeColumn::TimeColumn(const std::string& format, const std::string& unit) : format_(format), unit_(unit) {
  if (!unit.empty() && unit_seconds(unit) == 0)
    throw InvalidArgument({MessageCode::unknown_time_unit, {{"given", quote(unit)}}});
  if (format.empty()) {
    readings_ = kAny;
  } else if (format == "number" || format == "epoch-s" || format == "epoch-ms") {
    kind_ = Kind::numbers;
  } else {
    if (format.find('%') == format.npos)
      throw InvalidArgument({MessageCode::unknown_time_format, {{"given", quote(format)}}});
    kind_ = Kind::patterned;
    pattern_ = TimePattern(format);
  }
}

void TimeColumn::add(double number) {
  if (std::isnan(number)) return add_missing();
  if (kind_ == Kind::open) kind_ = Kind::numbers;
  if (kind_ == Kind::numbers) return add_number(number);
  add(fmt::format("{}", number));
}

void TimeColumn::add(std::string_view cell) {
  if (is_missing(cell)) return add_missing();
  const bool may_be_number = kind_ == Kind::numbers || kind_ == Kind::open;
  if (const auto value = may_be_number ? number(cell) : std::nullopt) {
    if (std::isinf(*value)) throw Malformed{fmt::format("{} overflows", quote(cell))};
    kind_ = Kind::numbers;
    return add_number(*value);
  }
  if (kind_ == Kind::numbers)
    throw Malformed{
        fmt::format("{} is not a number{}", quote(cell),
                    !numbers_.empty() && read_timestamp(cell) ? ", as the times before it are" : "")};
  if (kind_ != Kind::patterned) return add_written(cell);
  const auto moment = pattern_.parse(cell);
  if (!moment) throw Malformed{fmt::format("{} does not fit the time format {}", quote(cell), format_)};
  moments_.push_back(*moment);
}

void TimeColumn::add_missing() {
  if (kind_ == Kind::open)
    ++missing_;
  else if (kind_ == Kind::numbers)
    numbers_.push_back(kNan);
  else
    moments_.push_back(kMissing);
  if (kind_ == Kind::written && !order_) month_first_.push_back(kMissing);
}

void TimeColumn::add_number(double number) {
  if (missing_ > 0) numbers_.assign(std::exchange(missing_, 0), kNan);
  if (readings_ != 0) readings_ = readings_of(number, readings_);
  numbers_.push_back(number);
}

void TimeColumn::add_written(std::string_view cell) {
  const std::optional<Written> written = read_timestamp(cell);
  if (!written && looks_like_date(cell))
    throw Malformed(Message{MessageCode::unknown_date, {{"cell", quote(cell)}}});
  if (!written && kind_ == Kind::open)  // the column may be another one
    throw Malformed(Message{MessageCode::not_a_time, {{"cell", quote(cell)}}});
  if (!written) throw Malformed{fmt::format("{} is neither a number nor a date", quote(cell))};
  const bool first = kind_ == Kind::open;
  if (!first &&
      (written->year_first != form_.year_first || written->month_named != form_.month_named ||
       written->separator != form_.separator || (written->zone_form == 0) != (form_.zone_form == 0)))
    throw Malformed{fmt::format("{} is not written as the times before it", quote(cell))};
  std::optional<DateOrder> order = order_;
  if (first && written->year_first) order = DateOrder::year_first;
  if (first && written->month_named) order = DateOrder::day_first;

  const auto day_first = to_moment(*written, order.value_or(DateOrder::day_first));
  const auto month_first = order ? day_first : to_moment(*written, DateOrder::month_first);
  if (!day_first && !month_first)
    throw Malformed{fmt::format("{} is not a date of the calendar", quote(cell))};
  if (first) {
    kind_ = Kind::written;
    moments_.assign(missing_, kMissing);
    if (!order) month_first_.assign(missing_, kMissing);
    form_ = *written;
  }
  if (!order && (!day_first || !month_first)) {  // this cell tells
    if (!day_first) moments_.swap(month_first_);
    order = day_first ? DateOrder::day_first : DateOrder::month_first;
    month_first_ = {};
  }
  order_ = order;
  moments_.push_back(day_first ? *day_first : *month_first);
  if (!order) {
    month_first_.push_back(*month_first);
    if (doubtful_.empty() && day_first != month_first) doubtful_ = cell;
  }
  note_form(*written);
}

void TimeColumn::note_form(const Written& written) {
  form_.has_day = form_.has_day || written.has_day;
  form_.padded = form_.padded && written.padded;
  if (written.between == 0) return;
  if (form_.between == 0) {  // the first clock
    form_.between = written.between;
    form_.clock_colons = written.clock_colons;
    form_.half = written.half;
    form_.hour_padded = written.hour_padded;
  }
  form_.has_seconds = form_.has_seconds || written.has_seconds;
  form_.hour_padded = form_.hour_padded && written.hour_padded;
  form_.fraction = std::max(form_.fraction, written.fraction);
  if (written.fields.zone != form_.fields.zone) zones_differ_ = true;
  if (written.zone_form != form_.zone_form) form_.zone_form = ':';
}

std::vector<double> TimeColumn::finish(const std::string& place, TimeAxis& axis) {
  axis = {};
  if (kind_ == Kind::open) return std::vector<double>(missing_, kNan);
  if (kind_ == Kind::numbers) return finish_numbers(place, axis);
  if (kind_ == Kind::patterned) {
    for (const Moment& moment : moments_)
      for (std::int64_t unit = 1'000'000'000, digits = 0; moment != kMissing && moment.nanos % unit != 0;
           unit /= 10)
        axis.digits = std::max(axis.digits, static_cast<int>(++digits));
    return finish_moments(axis, pattern_.text());
  }
  if (!order_ && !doubtful_.empty()) {
    const auto pattern = [&](DateOrder order) { return pattern_of(form_, order); };
    throw InvalidArgument({MessageCode::day_or_month_first,
                           {{"place", place},
                            {"cell", doubtful_},
                            {"day_first", pattern(DateOrder::day_first)},
                            {"month_first", pattern(DateOrder::month_first)}}});
  }
  axis.digits = form_.fraction;
  if ((form_.zone_form == ':' || form_.zone_form == '+') && !zones_differ_) axis.zone = form_.fields.zone;
  return finish_moments(axis, pattern_of(form_, order_.value_or(DateOrder::day_first)));
}

std::vector<double> TimeColumn::finish_moments(TimeAxis& axis, const std::string& format) const {
  Moment earliest{kLatest, 0};
  for (const Moment& moment : moments_)
    if (moment != kMissing) earliest = std::min(earliest, moment);
  axis.format = format;
  axis.origin = earliest.seconds == kLatest ? 0 : midnight_before(earliest.seconds);
  axis.unit = unit_.empty() ? readable_unit(moments_) : unit_;
  std::vector<double> times;
  times.reserve(moments_.size());
  for (const Moment& moment : moments_) times.push_back(moment == kMissing ? kNan : time_of(axis, moment));
  return times;
}

std::vector<double> TimeColumn::finish_numbers(const std::string& place, TimeAxis& axis) {
  const bool any = std::ranges::any_of(numbers_, [](double number) { return !std::isnan(number); });
  constexpr std::array<std::pair<Reading, const char*>, 3> kDates{
      {{kDate8, "%Y%m%d"}, {kDate12, "%Y%m%d%H%M"}, {kDate14, "%Y%m%d%H%M%S"}}};
  for (const auto& [reading, format] : kDates) {
    if (!any || (readings_ & reading) == 0) continue;
    for (const double number : numbers_)
      moments_.push_back(std::isnan(number) ? kMissing : *digits_as_date(number, reading));
    return finish_moments(axis, format);
  }
  if (format_ == "epoch-s" || (any && (readings_ & kEpochS) != 0)) axis.format = "epoch-s";
  if (format_ == "epoch-ms" || (any && (readings_ & kEpochMs) != 0)) axis.format = "epoch-ms";
  if (axis.is_plain()) {
    if (unit_.empty()) return std::move(numbers_);
    throw InvalidArgument({MessageCode::time_unit_of_numbers, {{"place", place}}});
  }
  const bool millis = axis.format == "epoch-ms";
  axis.unit = !unit_.empty() ? unit_ : millis ? "ms" : "s";
  if (unit_.empty() || (!millis && unit_ == "s") || !any) return std::move(numbers_);
  double earliest = std::numeric_limits<double>::infinity();
  for (const double number : numbers_)
    if (number < earliest) earliest = number;
  const double seconds = std::floor(earliest / (millis ? 1000 : 1));
  if (!(seconds >= static_cast<double>(kEarliest) && seconds < static_cast<double>(kLatest)))
    throw std::invalid_argument(
        fmt::format("{}: {} as a Unix time is not within the years 1 to 9999", place, earliest));
  axis.origin = midnight_before(static_cast<std::int64_t>(seconds));
  for (double& number : numbers_) number = time_of_epoch(axis, number);
  return std::move(numbers_);
}

}  // namespace bandgp
