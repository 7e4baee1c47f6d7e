// SPDX-License-Identifier: Apache-2.0
#include "bandgp/io/cells.hpp"

#include <fast_float/fast_float.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "bandgp/base/error.hpp"

namespace bandgp {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\t'; }

bool equals_ignoring_case(std::string_view text, std::string_view lower) {
  return std::ranges::equal(text, lower,
                            [](char a, char b) { return (a >= 'A' && a <= 'Z' ? a - 'A' + 'a' : a) == b; });
}

}  // namespace

void refuse(const Malformed& malformed, std::string place) {
  Message message = malformed.message;
  Field& field = message.fields.emplace_back();
  field.name = "place";
  field.value = std::move(place);
  throw InvalidArgument(std::move(message));
}

void refuse_line(Malformed malformed, std::string place) {
  std::vector<Message>& advice = malformed.message.advice;
  if (advice.empty() && malformed.message.code != MessageCode::unknown_date)
    advice.emplace_back().code = MessageCode::skip_bad_lines;
  refuse(malformed, std::move(place));
}

std::string_view trim(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

bool is_missing(std::string_view cell) {
  if (cell.empty() || cell == "-") return true;
  if (cell.front() == '+' || cell.front() == '-') cell.remove_prefix(1);
  return std::ranges::any_of(std::initializer_list<std::string_view>{"na", "nan", "inf", "infinity"},
                             [&](std::string_view mark) { return equals_ignoring_case(cell, mark); });
}

std::optional<double> number(std::string_view cell) {
  const bool digit = !cell.empty() && cell.front() >= '0' && cell.front() <= '9';
  if (!digit && is_missing(cell)) return std::numeric_limits<double>::quiet_NaN();
  if (cell.size() > 1 && cell[0] == '+' && cell[1] != '-') cell.remove_prefix(1);
  double value = 0;
  const auto [end, error] = fast_float::from_chars(cell.data(), cell.data() + cell.size(), value);
  if (end != cell.data() + cell.size() || std::isnan(value)) return std::nullopt;
  // Out of range: the value is ±inf or 0, and `error` differs between versions of fast_float.
  if (error != std::errc() && error != std::errc::result_out_of_range) return std::nullopt;
  return value;
}

void split(std::string_view line, char delimiter, std::vector<std::string_view>& cells) {
  cells.clear();
  if (delimiter == kBlanks) line = trim(line);
  std::size_t at = 0;
  for (;;) {
    while (at < line.size() && is_blank(line[at]) && line[at] != delimiter) ++at;
    if (at < line.size() && line[at] == '"') {
      std::size_t close = line.find('"', at + 1);
      while (close != line.npos && close + 1 < line.size() && line[close + 1] == '"')
        close = line.find('"', close + 2);
      if (close == line.npos) throw Malformed{"has a quote that is not closed"};
      cells.push_back(trim(line.substr(at + 1, close - at - 1)));
      at = close + 1;
      while (at < line.size() && is_blank(line[at]) && line[at] != delimiter) ++at;
      const bool ends =
          at == line.size() || line[at] == delimiter || (delimiter == kBlanks && is_blank(line[at - 1]));
      if (!ends) throw Malformed{"has text after a closing quote"};
    } else {
      std::size_t end = at;
      while (end < line.size() && line[end] != delimiter && !(delimiter == kBlanks && line[end] == '\t'))
        ++end;
      cells.push_back(trim(line.substr(at, end - at)));
      at = end;
    }
    if (at == line.size()) return;
    if (delimiter == kBlanks)
      while (is_blank(line[at])) ++at;  // the line is trimmed: a cell follows
    else
      ++at;
  }
}

char guess_delimiter(std::string_view line) {
  std::string outside_quotes;
  bool quoted = false;
  for (const char c : trim(line)) {
    if (c == '"') quoted = !quoted;
    if (!quoted) outside_quotes += c;
  }
  for (const char delimiter : {'\t', ';', ','})
    if (outside_quotes.find(delimiter) != std::string::npos) return delimiter;
  return kBlanks;
}

}  // namespace bandgp
