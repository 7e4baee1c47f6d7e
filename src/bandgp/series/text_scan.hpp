// SPDX-License-Identifier: Apache-2.0
// A position in a short text, and the pieces of dates that can be taken from there.  Each either takes what
// it names or says false; what was taken on the way to a false is lost.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

namespace bandgp {

inline constexpr std::array<std::string_view, 12> kMonths{"January",   "February", "March",    "April",
                                                          "May",       "June",     "July",     "August",
                                                          "September", "October",  "November", "December"};

class TextScan {
 public:
  explicit TextScan(std::string_view text) : text_(text) {}

  std::size_t at() const { return at_; }
  std::string_view rest() const { return text_.substr(at_); }
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  void skip(std::size_t count) { at_ = std::min(at_ + count, text_.size()); }
  bool take(char c) {
    if (peek() != c || at_ == text_.size()) return false;
    ++at_;
    return true;
  }
  std::size_t blanks() {
    const std::size_t from = at_;
    while (peek() == ' ' || peek() == '\t') ++at_;
    return at_ - from;
  }
  std::size_t digits_ahead() const {
    std::size_t end = at_;
    while (end < text_.size() && is_digit(text_[end])) ++end;
    return end - at_;
  }

  /// A whole number of `least` to `most` digits; takes as many as there are.
  bool number(int& value, std::size_t least, std::size_t most) {
    const std::size_t digits = std::min(digits_ahead(), most);
    if (digits < least) return false;
    value = 0;
    for (std::size_t i = 0; i < digits; ++i) value = 10 * value + (text_[at_ + i] - '0');
    at_ += digits;
    return true;
  }
  /// Up to nine digits behind a decimal point.
  bool fraction(std::int32_t& nanos, int& digits) {
    const std::size_t count = digits_ahead();
    if (count < 1 || count > 9) return false;
    digits = static_cast<int>(count);
    nanos = 0;
    for (std::size_t i = 0; i < 9; ++i) nanos = 10 * nanos + (i < count ? text_[at_ + i] - '0' : 0);
    at_ += count;
    return true;
  }
  /// The sign between the parts of a date, or 0.
  char separator() {
    const char c = peek();
    if (c != '-' && c != '/' && c != '.') return 0;
    ++at_;
    return c;
  }
  /// An English name, whole or its first three letters.
  bool month_name(int& month) {
    const std::size_t letters = letters_ahead();
    for (std::size_t i = 0; i < kMonths.size(); ++i) {
      if (letters != 3 && letters != kMonths[i].size()) continue;
      if (!same_letters(rest().substr(0, letters), kMonths[i].substr(0, letters))) continue;
      month = static_cast<int>(i) + 1;
      at_ += letters;
      return true;
    }
    return false;
  }
  /// AM or PM: 'a' or 'p', else 0.
  char half_day() {
    if (letters_ahead() != 2) return 0;
    const bool before = same_letters(rest().substr(0, 2), "AM");
    if (!before && !same_letters(rest().substr(0, 2), "PM")) return 0;
    at_ += 2;
    return before ? 'a' : 'p';
  }
  /// Z, UTC, GMT, +02:00, +0200 or +02, as minutes east.
  bool zone(int& minutes) {
    minutes = 0;
    if (const std::size_t letters = letters_ahead(); letters > 0) {
      const std::string_view name = rest().substr(0, letters);
      if (!same_letters(name, "Z") && !same_letters(name, "UTC") && !same_letters(name, "GMT")) return false;
      at_ += letters;
      return true;
    }
    const char sign = peek();
    if (sign != '+' && sign != '-') return false;
    ++at_;
    int hours = 0, rest_minutes = 0;
    if (!number(hours, 2, 2)) return false;
    if (peek() == ':' || digits_ahead() > 0) {
      take(':');
      if (!number(rest_minutes, 2, 2)) return false;
    }
    if (hours > 18 || rest_minutes > 59) return false;
    minutes = (sign == '-' ? -1 : 1) * (60 * hours + rest_minutes);
    return true;
  }

 private:
  static bool is_digit(char c) { return c >= '0' && c <= '9'; }
  static char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }
  static bool same_letters(std::string_view a, std::string_view b) {
    return std::ranges::equal(a, b, [](char x, char y) { return lower(x) == lower(y); });
  }
  std::size_t letters_ahead() const {
    std::size_t end = at_;
    while (end < text_.size() && lower(text_[end]) >= 'a' && lower(text_[end]) <= 'z') ++end;
    return end - at_;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace bandgp
