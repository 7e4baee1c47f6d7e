// SPDX-License-Identifier: Apache-2.0
#include "bandgp/series/time_pattern.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <stdexcept>

#include "bandgp/base/quote.hpp"
#include "bandgp/series/text_scan.hpp"

namespace bandgp {
namespace {

constexpr std::string_view kFields = "YymbBdjHIMSfzp";

std::string expand(std::string_view pattern) {
  std::string text;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    const std::string_view two = pattern.substr(i, 2);
    if (two == "%F")
      text += "%Y-%m-%d";
    else if (two == "%T")
      text += "%H:%M:%S";
    else if (two == "%R")
      text += "%H:%M";
    else if (two[0] == '%' && two.size() == 2)
      text += two;
    else
      text += two[0];
    if (two[0] == '%' && two.size() == 2) ++i;
  }
  return text;
}

int day_of_year(const DateTime& f) {
  using namespace std::chrono;
  const year y(f.year);
  const year_month_day date(y, month(static_cast<unsigned>(f.month)), day(static_cast<unsigned>(f.day)));
  return static_cast<int>((sys_days(date) - sys_days(y / January / 1)).count()) + 1;
}

bool set_day_of_year(DateTime& f, int day) {
  using namespace std::chrono;
  const year y(f.year);
  if (day < 1 || day > (y.is_leap() ? 366 : 365)) return false;
  const year_month_day date(sys_days(y / January / 1) + days(day - 1));
  f.month = static_cast<int>(unsigned(date.month()));
  f.day = static_cast<int>(unsigned(date.day()));
  return true;
}

}  // namespace

TimePattern::TimePattern(std::string_view pattern) : text_(expand(pattern)) {
  const auto refuse = [&](const std::string& why) {
    throw std::invalid_argument(fmt::format("time format {}: {}", quote(pattern), why));
  };
  for (std::size_t i = 0; i < text_.size(); ++i) {
    const char c = text_[i];
    if (c == ' ') {
      if (tokens_.empty() || tokens_.back().letter != ' ') tokens_.push_back({' ', ' '});
      continue;
    }
    if (c < ' ' || c > '~') refuse("only printable ASCII characters can be in it");
    if (c != '%') {
      tokens_.push_back({0, c});
      continue;
    }
    char letter = ++i < text_.size() ? text_[i] : '\0', flag = 0;
    if (letter == '%') {
      tokens_.push_back({0, '%'});
      continue;
    }
    if ((letter == '-' || letter == ':') && i + 1 < text_.size()) flag = letter, letter = text_[++i];
    const bool known = letter != '\0' && kFields.find(letter) != kFields.npos &&
                       (flag == 0 || (flag == ':') == (letter == 'z')) &&
                       (flag != '-' || std::string_view("mdHIMSj").find(letter) != std::string_view::npos);
    if (!known)
      refuse(fmt::format("{} is not known; %Y %y %m %b %d %j %H %I %p %M %S %f %z %F %T %R are",
                         quote(text_.substr(flag != 0 ? i - 2 : i - 1, flag != 0 ? 3 : 2))));
    if (has(letter)) refuse(fmt::format("%{} is there twice", letter));
    fields_ += letter;
    tokens_.push_back({letter, flag});
  }
  const auto count = [&](std::string_view letters) {
    int found = 0;
    for (const char letter : letters) found += has(letter) ? 1 : 0;
    return found;
  };
  if (count("Yy") != 1 || count("mbB") > 1 || count("HI") > 1) refuse("needs one year, and each field once");
  if (has('d') && count("mbB") == 0) refuse("has a day and no month");
  if (has('j') && (has('d') || count("mbB") > 0)) refuse("has a day of the year and a month or day as well");
  if (has('I') != has('p')) refuse("%I and %p belong together");
  if (count("M") > count("HI") || count("S") > count("M") || count("f") > count("S"))
    refuse("has minutes without hours, seconds without minutes or a fraction without seconds");
}

std::optional<Moment> TimePattern::parse(std::string_view text) const {
  TextScan in(text);
  DateTime f;
  int day = 0, digits = 0;
  char half = 0;
  const bool own_fraction = has('f');
  const auto take = [&](const Token& token) {
    switch (token.letter) {
      case 0:
        return in.take(token.flag);
      case ' ':
        return in.blanks() > 0;
      case 'Y':
        return in.number(f.year, 4, 4);
      case 'y':
        if (!in.number(f.year, 2, 2)) return false;
        f.year += f.year < 69 ? 2000 : 1900;
        return true;
      case 'm':
        return in.number(f.month, 1, 2);
      case 'b':
      case 'B':
        return in.month_name(f.month);
      case 'd':
        return in.number(f.day, 1, 2);
      case 'j':
        return in.number(day, 1, 3);
      case 'H':
      case 'I':
        return in.number(f.hour, 1, 2);
      case 'M':
        return in.number(f.minute, 1, 2);
      case 'S':
        if (!in.number(f.second, 1, 2)) return false;
        if (own_fraction || (in.peek() != '.' && in.peek() != ',')) return true;
        in.skip(1);
        return in.fraction(f.nanos, digits);
      case 'f':
        return in.fraction(f.nanos, digits);
      case 'z':
        return in.zone(f.zone);
      default:
        return (half = in.half_day()) != 0;
    }
  };
  for (const Token& token : tokens_)
    if (!take(token)) return {};
  if (!in.rest().empty()) return {};
  if (half != 0) {
    if (f.hour < 1 || f.hour > 12) return {};
    f.hour = f.hour % 12 + (half == 'p' ? 12 : 0);
  }
  if (f.year < 1 || (has('j') && !set_day_of_year(f, day))) return {};
  return to_moment(f);
}

std::string TimePattern::print(const Moment& moment, int zone, int digits) const {
  const DateTime f = to_fields(moment, has('z') ? zone : 0);
  const std::string fraction = fmt::format("{:09}", f.nanos).substr(0, static_cast<std::size_t>(digits));
  std::string text;
  const auto two = [&](const Token& token, int value) {
    text += token.flag == '-' ? fmt::format("{}", value) : fmt::format("{:02}", value);
  };
  for (const Token& token : tokens_) {
    switch (token.letter) {
      case 0:
      case ' ':
        text += token.flag;
        break;
      case 'Y':
        text += fmt::format("{:04}", f.year);
        break;
      case 'y':
        text += fmt::format("{:02}", f.year % 100);
        break;
      case 'm':
        two(token, f.month);
        break;
      case 'b':
        text += kMonths[static_cast<std::size_t>(f.month - 1)].substr(0, 3);
        break;
      case 'B':
        text += kMonths[static_cast<std::size_t>(f.month - 1)];
        break;
      case 'd':
        two(token, f.day);
        break;
      case 'j':
        text += token.flag == '-' ? fmt::format("{}", day_of_year(f)) : fmt::format("{:03}", day_of_year(f));
        break;
      case 'H':
        two(token, f.hour);
        break;
      case 'I':
        two(token, f.hour % 12 == 0 ? 12 : f.hour % 12);
        break;
      case 'M':
        two(token, f.minute);
        break;
      case 'S':
        two(token, f.second);
        if (!has('f') && digits > 0) text += "." + fraction;
        break;
      case 'f':
        text += digits > 0 ? fraction : "0";
        break;
      case 'z':
        text += fmt::format("{}{:02}{}{:02}", zone < 0 ? '-' : '+', std::abs(zone) / 60,
                            token.flag == ':' ? ":" : "", std::abs(zone) % 60);
        break;
      default:
        text += f.hour < 12 ? "AM" : "PM";
    }
  }
  return text;
}

DateOrder TimePattern::order() const {
  const std::size_t day = fields_.find('d'), month = fields_.find_first_of("mbB");
  if (day == fields_.npos || fields_.find_first_of("Yy") < std::min(day, month)) return DateOrder::year_first;
  return day < month ? DateOrder::day_first : DateOrder::month_first;
}

std::string TimePattern::with_seconds() const {
  if (has('S')) return text_;
  if (!has('M')) {
    const bool date_only = has('d') && !has('H') && !has('I') && !has('z');
    return date_only ? text_ + " %H:%M:%S" : "%Y-%m-%dT%H:%M:%S";
  }
  std::string text;
  char before = 0;  // the literal in front of the minutes
  for (const Token& token : tokens_) {
    if (token.letter == 0 || token.letter == ' ') {
      text += token.flag == '%' ? "%%" : std::string(1, token.flag);
      before = token.flag;
      continue;
    }
    text += '%';
    if (token.flag != 0) text += token.flag;
    text += token.letter;
    if (token.letter == 'M') text += before == ':' ? ":%S" : "%S";
    before = 0;
  }
  return text;
}

}  // namespace bandgp
