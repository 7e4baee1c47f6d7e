// SPDX-License-Identifier: Apache-2.0
// The cells of a line of text.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bandgp/base/message.hpp"

namespace bandgp {

/// What is wrong with one line; becomes the user's error, or one of bad_lines.
struct Malformed {
  explicit Malformed(std::string reason) : message(text_message(std::move(reason))) {}
  explicit Malformed(Message reason) : message(std::move(reason)) {}
  Message message;
};

/// The error that it is where lines are not skipped.
[[noreturn]] void refuse(const Malformed& malformed, std::string place);
/// The same where lines can be skipped: says so, unless what is wrong has better advice.
[[noreturn]] void refuse_line(Malformed malformed, std::string place);

inline constexpr char kBlanks = ' ';    // as a delimiter: any run of blanks and tabs
inline constexpr char kNothing = '\n';  // as a delimiter: a line is one cell

std::string_view trim(std::string_view text);

/// The number a cell spells, NaN for a missing mark (empty, NA, NaN, inf, -), nothing for any other text.
/// Overflow gives ±inf.
std::optional<double> number(std::string_view cell);
bool is_missing(std::string_view cell);

/// Cuts a line into cells, trimmed and without their quotes; throws Malformed where a quote is not closed.
void split(std::string_view line, char delimiter, std::vector<std::string_view>& cells);

/// Tab before semicolon before comma: each may occur as text in a file that is separated by one named earlier
/// (decimal commas in a semicolon file above all).
char guess_delimiter(std::string_view line);

}  // namespace bandgp
