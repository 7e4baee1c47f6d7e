// SPDX-License-Identifier: Apache-2.0
// The file is read into memory once and cut into views; only the columns asked for become numbers.
#include "bandgp/io/csv.hpp"

#include <fast_float/fast_float.h>
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <fstream>
#include <iostream>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string_view>

#include "bandgp/base/quote.hpp"

namespace bandgp {
namespace {

constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();
constexpr char kBlanks = ' ';  // as a delimiter: any run of blanks and tabs

/// What is wrong with one line; becomes the user's error, or one of bad_lines.
struct Malformed {
  std::string reason;
};

[[noreturn]] void refuse(const std::string& name, const std::string& what) {
  throw std::invalid_argument(fmt::format("{}: {}", name, what));
}

bool is_blank(char c) { return c == ' ' || c == '\t'; }

std::string_view trim(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

bool equals_ignoring_case(std::string_view text, std::string_view lower) {
  return std::ranges::equal(text, lower,
                            [](char a, char b) { return (a >= 'A' && a <= 'Z' ? a - 'A' + 'a' : a) == b; });
}

bool is_missing(std::string_view cell) {
  if (cell.empty() || cell == "-") return true;
  if (cell.front() == '+' || cell.front() == '-') cell.remove_prefix(1);
  return std::ranges::any_of(std::initializer_list<std::string_view>{"na", "nan", "inf", "infinity"},
                             [&](std::string_view mark) { return equals_ignoring_case(cell, mark); });
}

/// The number a cell spells, NaN for a missing mark, nothing for any other text.  Overflow gives ±inf.
std::optional<double> number(std::string_view cell) {
  if (is_missing(cell)) return kMissing;
  if (cell.size() > 1 && cell[0] == '+' && cell[1] != '-') cell.remove_prefix(1);
  double value = 0;
  const auto [end, error] = fast_float::from_chars(cell.data(), cell.data() + cell.size(), value);
  if (end != cell.data() + cell.size() || std::isnan(value)) return std::nullopt;
  // Out of range: the value is ±inf or 0, and `error` differs between versions of fast_float.
  if (error != std::errc() && error != std::errc::result_out_of_range) return std::nullopt;
  return value;
}

/// Cuts a line into cells, trimmed and without their quotes; throws Malformed where a quote is not closed.
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

/// Tab before semicolon before comma: each may occur as text in a file that is separated by one named earlier
/// (decimal commas in a semicolon file above all).
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

/// The lines that carry data: not blank, no comments, without line ends.
class Lines {
 public:
  explicit Lines(std::string_view text) : rest_(text) {
    if (rest_.starts_with("\xEF\xBB\xBF")) rest_.remove_prefix(3);  // byte order mark
  }
  bool next(std::string_view& line) {
    while (!rest_.empty()) {
      ++number_;
      const std::size_t end = std::min(rest_.find('\n'), rest_.size());
      line = rest_.substr(0, end);
      rest_.remove_prefix(std::min(end + 1, rest_.size()));
      while (line.ends_with('\r')) line.remove_suffix(1);
      const std::string_view content = trim(line);
      if (!content.empty() && content.front() != '#') return true;
    }
    return false;
  }
  Index number() const { return number_; }  // of the line given last, from 1

 private:
  std::string_view rest_;
  Index number_ = 0;
};

struct Columns {
  std::size_t count = 0;
  std::vector<std::string> names;  // empty without a header
  std::optional<std::size_t> x, y, yerr;

  std::string label(std::size_t column) const {
    return names.empty() || names[column].empty() ? fmt::format("{}", column + 1) : names[column];
  }
};

/// The column `wanted` names, or else numbers from 1.
std::size_t find_column(const Columns& columns, const std::string& wanted, const std::string& file) {
  const auto named = std::ranges::find(columns.names, wanted);
  if (named != columns.names.end()) {
    if (std::find(named + 1, columns.names.end(), wanted) != columns.names.end())
      refuse(file, fmt::format("column {} is there twice; give its number", quote(wanted)));
    return static_cast<std::size_t>(named - columns.names.begin());
  }
  std::size_t position = 0;
  const auto [end, error] = std::from_chars(wanted.data(), wanted.data() + wanted.size(), position);
  if (error == std::errc() && end == wanted.data() + wanted.size() && position >= 1 &&
      position <= columns.count)
    return position - 1;
  std::string list;
  for (std::size_t i = 0; i < columns.count; ++i) list += (i == 0 ? "" : ", ") + columns.label(i);
  refuse(file, fmt::format("no column {}; columns: {}", quote(wanted), list));
}

void choose_columns(Columns& columns, const CsvOptions& options, const std::string& file) {
  const bool has_times = options.step == 0;
  if (has_times && columns.count == 1)
    refuse(file, "has one column only; give the spacing of its values by --step");
  if (!has_times && columns.count > 1 && options.y.empty())
    refuse(file, "has several columns; with --step, name the values by --y");
  if (!options.x.empty() && has_times) columns.x = find_column(columns, options.x, file);
  if (!options.y.empty()) columns.y = find_column(columns, options.y, file);
  if (!options.yerr.empty()) columns.yerr = find_column(columns, options.yerr, file);
  const auto first_free = [&] {  // what was not named is the first column that nothing else uses
    std::size_t column = 0;
    while (columns.x == column || columns.y == column || columns.yerr == column) ++column;
    if (column >= columns.count) refuse(file, "has no column left for the values; name them by --x and --y");
    return column;
  };
  if (has_times && !columns.x) columns.x = first_free();
  if (!columns.y) columns.y = first_free();
  if (columns.x == columns.y || columns.y == columns.yerr || (columns.x && columns.x == columns.yerr))
    refuse(file, "one column cannot serve as two of time, value and error (--x, --y, --yerr)");
}

/// A header is a first line with text in it and numbers in less than half of its cells; a line of numbers in
/// which one cell is text is data, and malformed.
std::vector<std::string> header_of(const std::vector<std::string_view>& cells) {
  const auto is_text = [](std::string_view cell) { return !number(cell).has_value(); };
  const auto is_number = [](std::string_view cell) { return std::isfinite(number(cell).value_or(NAN)); };
  if (std::ranges::none_of(cells, is_text) ||
      2 * std::ranges::count_if(cells, is_number) >= std::ssize(cells))
    return {};
  std::vector<std::string> names(cells.begin(), cells.end());
  for (std::string& name : names)  // inside quotes a quote is written twice
    for (std::size_t at = 0; (at = name.find("\"\"", at)) != name.npos; ++at) name.erase(at, 1);
  return names;
}

double cell_number(const std::vector<std::string_view>& cells, std::size_t column, const Columns& columns) {
  const std::string_view cell = cells[column];
  const std::optional<double> value = number(cell);
  if (!value)
    throw Malformed{fmt::format("{} is not a number (column {})", quote(cell), columns.label(column))};
  if (std::isinf(*value))
    throw Malformed{fmt::format("{} overflows (column {})", quote(cell), columns.label(column))};
  return *value;
}

/// Appends one line to the table, whole or not at all; `position` counts lines of data and gives stepped
/// times.
void add_row(Table& table, const std::vector<std::string_view>& cells, const Columns& columns, double step,
             Index position) {
  if (cells.size() != columns.count)
    throw Malformed{fmt::format("has {} cells, the first line has {}", cells.size(), columns.count)};
  const double time =
      columns.x ? cell_number(cells, *columns.x, columns) : step * static_cast<double>(position);
  const double value = cell_number(cells, *columns.y, columns);
  if (columns.yerr) {
    const double error = cell_number(cells, *columns.yerr, columns);
    if (error < 0 || std::isinf(error * error))
      throw Malformed{fmt::format("error {} {} (column {})", quote(cells[*columns.yerr]),
                                  error < 0 ? "is negative" : "overflows when squared",
                                  columns.label(*columns.yerr))};
    table.variance.push_back(error * error);
  }
  table.time.push_back(time);
  table.value.push_back(value);
}

Table parse(std::string_view text, const std::string& file, const CsvOptions& options) {
  if (!std::isfinite(options.step) || options.step < 0)
    throw std::invalid_argument(fmt::format("step is {}, must be finite and positive", options.step));
  if (options.step > 0 && !options.x.empty())
    throw std::invalid_argument("a time column and a step are given; only one of them can hold");

  Table table;
  Lines lines(text);
  std::string_view line;
  if (!lines.next(line)) refuse(file, "no data rows");
  const auto place = [&] { return fmt::format("{}:{}", file, lines.number()); };
  const char delimiter = guess_delimiter(line);
  std::vector<std::string_view> cells;
  try {
    split(line, delimiter, cells);
  } catch (const Malformed& malformed) {  // the line that says how many columns there are cannot be skipped
    throw std::invalid_argument(fmt::format("{}: {}", place(), malformed.reason));
  }

  Columns columns{cells.size(), header_of(cells), {}, {}, {}};
  choose_columns(columns, options, file);
  if (!columns.names.empty()) {
    if (columns.x) table.time_name = columns.names[*columns.x];
    table.value_name = columns.names[*columns.y];
  }
  bool more = columns.names.empty() || lines.next(line);
  for (Index position = 0; more; ++position, more = lines.next(line)) {
    try {
      split(line, delimiter, cells);
      add_row(table, cells, columns, options.step, position);
    } catch (const Malformed& malformed) {
      if (!options.skip_bad) throw std::invalid_argument(fmt::format("{}: {}", place(), malformed.reason));
      ++table.bad_lines;
    }
  }
  if (table.value.empty()) refuse(file, "no data rows");
  return table;
}

std::string read_all(std::istream& in) {
  std::string text;
  for (std::size_t chunk = 1 << 20;; chunk *= 2) {
    const std::size_t size = text.size();
    text.resize(size + chunk);
    const auto got = in.rdbuf()->sgetn(text.data() + size, static_cast<std::streamsize>(chunk));
    text.resize(size + static_cast<std::size_t>(got));
    if (static_cast<std::size_t>(got) < chunk) return text;
  }
}

}  // namespace

Table read_csv(std::istream& in, const std::string& name, const CsvOptions& options) {
  return parse(read_all(in), name, options);
}

Table read_csv(const std::string& path, const CsvOptions& options) {
  if (path == "-") return read_csv(std::cin, "standard input", options);
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error(fmt::format("cannot open {}: {}", path, std::strerror(errno)));
  std::string text;
  try {
    text = read_all(file);
  } catch (const std::ios_base::failure& failure) {  // a folder opens, but cannot be read
    throw std::runtime_error(fmt::format("cannot read {}: {}", path, failure.code().message()));
  }
  return parse(text, path, options);
}

}  // namespace bandgp
