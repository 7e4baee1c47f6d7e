// SPDX-License-Identifier: Apache-2.0
// Digits are read by hand: a column of 600,000 timestamps takes some 30 ms.
#include "bandgp/series/timestamp.hpp"

#include <chrono>

#include "bandgp/series/text_scan.hpp"

namespace bandgp {
namespace {

/// [T or blanks] 1:00[:59[.25]] [AM] [zone], or 0100[59] after T.
bool read_clock(TextScan& in, Written& out) {
  DateTime& f = out.fields;
  const std::size_t start = in.at();
  if (!in.number(f.hour, 1, 2)) return false;
  out.hour_padded = in.at() - start == 2;
  if (in.take(':')) {
    if (!in.number(f.minute, 2, 2)) return false;
    if (in.take(':')) {
      if (!in.number(f.second, 2, 2)) return false;
      out.has_seconds = true;
    }
  } else {
    out.clock_colons = false;
    if (!out.hour_padded || !in.number(f.minute, 2, 2)) return false;
    out.has_seconds = in.number(f.second, 2, 2);
  }
  if (out.has_seconds && (in.peek() == '.' || in.peek() == ',')) {
    in.skip(1);
    if (!in.fraction(f.nanos, out.fraction)) return false;
  }
  TextScan ahead = in;
  ahead.blanks();
  out.half = ahead.half_day();
  if (out.half != 0) {
    in = ahead;
    if (f.hour < 1 || f.hour > 12) return false;
    f.hour = f.hour % 12 + (out.half == 'p' ? 12 : 0);
  }
  return true;
}

bool read_zone(TextScan& in, Written& out) {
  const bool apart = in.blanks() > 0;
  const std::string_view zone = in.rest();
  if (zone.empty()) return !apart;
  if (!in.zone(out.fields.zone) || !in.rest().empty()) return false;
  out.zone_apart = apart;
  const char first = zone.front();
  if (first == '+' || first == '-')
    out.zone_form = zone.find(':') != zone.npos ? ':' : '+';
  else
    out.zone_form = first >= 'a' ? static_cast<char>(first - 'a' + 'A') : first;
  return true;
}

bool read_year_first(TextScan& in, Written& out) {
  out.year_first = true;
  if (in.digits_ahead() == 8 && in.rest().size() > 8 && (in.rest()[8] == 'T' || in.rest()[8] == ' ')) {
    return in.number(out.fields.year, 4, 4) && in.number(out.first, 2, 2) && in.number(out.second, 2, 2);
  }
  if (!in.number(out.fields.year, 4, 4)) return false;
  out.separator = in.separator();
  const std::size_t month = in.at();
  if (out.separator == 0 || !in.number(out.first, 1, 2)) return false;
  out.padded = in.at() - month == 2;
  if (out.separator == '-' && out.padded && in.rest().empty()) {
    out.has_day = false;
    out.second = 1;
    return true;
  }
  const std::size_t day = in.at();
  if (!in.take(out.separator) || !in.number(out.second, 1, 2)) return false;
  out.padded = out.padded && in.at() - day == 3;
  return true;
}

bool read_year_last(TextScan& in, Written& out) {
  const std::size_t start = in.at();
  if (!in.number(out.first, 1, 2)) return false;
  out.padded = in.at() - start == 2;
  out.separator = in.separator();
  if (out.separator == 0 && in.take(' ')) out.separator = ' ';
  const std::size_t second = in.at();
  if (out.separator == 0) return false;
  if (in.month_name(out.second))
    out.month_named = true;
  else if (out.separator == ' ' || !in.number(out.second, 1, 2))
    return false;
  else
    out.padded = out.padded && in.at() - second == 2;
  return in.take(out.separator) && in.number(out.fields.year, 4, 4);
}

}  // namespace

std::optional<Moment> to_moment(const DateTime& f) {
  using namespace std::chrono;
  const bool end_of_day = f.hour == 24 && f.minute == 0 && f.second == 0 && f.nanos == 0;
  if (f.year < 1 || f.year > 9999 || f.month < 1 || f.month > 12 || f.day < 1 || f.day > 31) return {};
  if (f.hour < 0 || (f.hour > 23 && !end_of_day) || f.minute < 0 || f.minute > 59) return {};
  if (f.second < 0 || f.second > 60 || f.nanos < 0 || f.nanos > 999'999'999) return {};
  const year_month_day date(year(f.year), month(static_cast<unsigned>(f.month)),
                            day(static_cast<unsigned>(f.day)));
  if (!date.ok()) return {};
  const std::int64_t days = sys_days(date).time_since_epoch().count();
  const Moment moment{days * 86400 + f.hour * 3600 + (f.minute - f.zone) * 60 + f.second, f.nanos};
  if (moment.seconds < kEarliest || moment.seconds >= kLatest) return {};
  return moment;
}

DateTime to_fields(const Moment& moment, int zone) {
  using namespace std::chrono;
  const std::int64_t local = moment.seconds + 60 * zone;
  const std::int64_t days = local >= 0 ? local / 86400 : -((86399 - local) / 86400);
  const auto within = static_cast<int>(local - days * 86400);
  const year_month_day date{sys_days{std::chrono::days{days}}};
  return {int(date.year()),
          static_cast<int>(unsigned(date.month())),
          static_cast<int>(unsigned(date.day())),
          within / 3600,
          within / 60 % 60,
          within % 60,
          moment.nanos,
          zone};
}

std::optional<Written> read_timestamp(std::string_view text) {
  if (text.size() < 7 || text.size() > 48) return {};
  TextScan in(text);
  Written out;
  const bool date = in.digits_ahead() >= 4 ? read_year_first(in, out) : read_year_last(in, out);
  if (!date) return {};
  if (in.rest().empty()) return out.separator != 0 ? std::optional(out) : std::nullopt;
  if (in.peek() != 'T' && in.peek() != 't' && in.peek() != ' ') return {};
  out.between = in.peek() == ' ' ? ' ' : 'T';
  in.skip(1);
  if (out.between == ' ') in.blanks();
  if (!read_clock(in, out) || !read_zone(in, out)) return {};
  return out;
}

std::optional<Moment> to_moment(const Written& written, DateOrder order) {
  DateTime fields = written.fields;
  const bool day_comes_first = !written.year_first && (written.month_named || order == DateOrder::day_first);
  fields.day = day_comes_first ? written.first : written.second;
  fields.month = day_comes_first ? written.second : written.first;
  return to_moment(fields);
}

bool is_clock(std::string_view text) {
  TextScan in(text);
  Written out;
  return read_clock(in, out) && out.clock_colons && in.rest().empty();
}

std::string pattern_of(const Written& written, DateOrder order) {
  const std::string flag = written.padded ? "%" : "%-",
                    separator(written.separator == 0 ? 0 : 1, written.separator);
  const std::string day = flag + "d", month = flag + "m";
  std::string text;
  if (!written.has_day)
    text = "%Y-%m";
  else if (written.year_first)
    text = "%Y" + separator + month + separator + day;
  else if (written.month_named)
    text = day + separator + "%b" + separator + "%Y";
  else if (order == DateOrder::day_first)
    text = day + separator + month + separator + "%Y";
  else
    text = month + separator + day + separator + "%Y";
  if (written.between == 0) return text;
  const std::string colon = written.clock_colons ? ":" : "";
  text += written.between + std::string(written.hour_padded ? "%" : "%-") + (written.half != 0 ? "I" : "H");
  text += colon + "%M" + (written.has_seconds ? colon + "%S" : "") + (written.half != 0 ? " %p" : "");
  if (written.zone_apart) text += ' ';
  switch (written.zone_form) {
    case 'Z':
      return text + "Z";
    case 'U':
      return text + "UTC";
    case 'G':
      return text + "GMT";
    case ':':
      return text + "%:z";
    case '+':
      return text + "%z";
    default:
      return text;
  }
}

}  // namespace bandgp
