// SPDX-License-Identifier: Apache-2.0
// A strptime-like pattern such as `%d-%m-%Y %H:%M`, compiled once, for reading and for writing.
//
//   %Y %y  year of four, of two digits (69–99: 1969–1999)     %H %I  hour of 24, of 12 (with %p)
//   %m     month            %b %B  its English name           %M %S  minute, second (a fraction may follow
//   %S) %d     day of the month     %j  day of the year           %f     fraction of a second, up to nine
//   digits %z %:z zone, written +0200, +02:00                        %p     AM or PM %F %T %R  %Y-%m-%d,
//   %H:%M:%S, %H:%M                       %%     a per cent sign
//
// `%-d` and the like are written without a leading 0; both forms are read.  A blank stands for any number of
// blanks.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bandgp/series/timestamp.hpp"

namespace bandgp {

class TimePattern {
 public:
  TimePattern() = default;
  /// Throws std::invalid_argument: what in the pattern is not known, missing or there twice.
  explicit TimePattern(std::string_view pattern);

  /// The moment a text spells, all of it; none where it does not match or is no date.
  std::optional<Moment> parse(std::string_view text) const;
  /// In a zone, with `digits` digits of a second's fraction where seconds are written; the rest is cut off.
  std::string print(const Moment& moment, int zone, int digits) const;

  const std::string& text() const { return text_; }
  bool has(char letter) const { return fields_.find(letter) != std::string::npos; }
  DateOrder order() const;
  /// The same with a clock of hours, minutes and seconds, where there is less.
  std::string with_seconds() const;

 private:
  struct Token {
    char letter;  // of the field; 0: a literal, ' ' blanks
    char flag;    // '-', ':' or 0; the literal itself
  };
  std::string text_;
  std::vector<Token> tokens_;
  std::string fields_;  // letters in their order
};

}  // namespace bandgp
