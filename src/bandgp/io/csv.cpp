// SPDX-License-Identifier: Apache-2.0
// One pass over the text, a window of it at a time; only the columns asked for become numbers.
#include "bandgp/io/csv.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <stdexcept>
#include <string_view>

#include "bandgp/base/error.hpp"
#include "bandgp/base/quote.hpp"
#include "bandgp/io/cells.hpp"
#include "bandgp/io/columns.hpp"
#include "bandgp/io/lines.hpp"
#include "bandgp/io/time_column.hpp"

namespace bandgp {
namespace {

using Cells = std::vector<std::string_view>;

bool is_stamp(std::string_view cell) { return !number(cell) && read_timestamp(cell).has_value(); }

/// A date without its time of day; with a pattern given, whatever is not a number may be one.
bool is_date(std::string_view cell, bool patterned) {
  if (number(cell)) return false;
  const std::optional<Written> written = read_timestamp(cell);
  return written ? written->between == 0 : patterned;
}

/// A header is a first line with text in it and numbers or dates in less than half of its cells; a line of
/// numbers in which one cell is text is data, and malformed.
std::vector<std::string> header_of(const Cells& cells) {
  const auto is_value = [](std::string_view cell) {
    return std::isfinite(number(cell).value_or(NAN)) || is_stamp(cell) || is_clock(cell);
  };
  const auto is_text = [&](std::string_view cell) { return !number(cell) && !is_value(cell); };
  if (std::ranges::none_of(cells, is_text) || 2 * std::ranges::count_if(cells, is_value) >= std::ssize(cells))
    return {};
  std::vector<std::string> names(cells.begin(), cells.end());
  for (std::string& name : names)  // inside quotes a quote is written twice
    for (std::size_t at = 0; (at = name.find("\"\"", at)) != name.npos; ++at) name.erase(at, 1);
  return names;
}

/// What is wrong with a cell of a column.
Malformed malformed_cell(std::string what, const std::string& label, std::vector<Message> advice = {}) {
  return Malformed(
      Message{MessageCode::text, {{"text", std::move(what)}, {"column", label}}, std::move(advice)});
}

/// What may be meant by a text that is not a number.
std::vector<Message> advice(std::string_view cell) {
  std::string mended(cell);
  const auto commas = std::ranges::count(cell, ',');
  std::ranges::replace(mended, ',', '.');
  if (commas == 1 && cell.find('.') == cell.npos && number(mended))
    return {text_message(
        fmt::format("decimal commas are not read: write {}, for example by  tr , . < FILE", mended))};
  std::erase(mended = cell, ',');
  if (commas > 0 && number(mended))
    return {text_message("thousands separators are not read: write " + mended)};
  return {};
}

double cell_number(const Cells& cells, std::size_t column, const Columns& columns) {
  const std::string_view cell = cells[column];
  const std::optional<double> value = number(cell);
  if (!value) throw malformed_cell(quote(cell) + " is not a number", columns.label(column), advice(cell));
  if (std::isinf(*value)) throw malformed_cell(quote(cell) + " overflows", columns.label(column));
  return *value;
}

/// The lines of a table, cut into cells; the first has told how many and which columns there are.
class TextRows {
 public:
  TextRows(ByteSource& source, const ReadOptions& options) : lines_(source), file_(source.name()) {
    if (!lines_.next(line_)) throw std::invalid_argument(file_ + ": no data rows");
    delimiter_ = guess_delimiter(line_);
    try {
      split(line_, delimiter_, cells_);
    } catch (const Malformed& malformed) {  // the line that says how many columns there are cannot be skipped
      refuse(malformed, place());
    }
    columns.count = cells_.size();
    columns.names = header_of(cells_);
    if (!columns.names.empty() && !lines_.next(line_)) throw std::invalid_argument(file_ + ": no data rows");
    // A lone column of timestamps: the blank inside them separates nothing.
    if (delimiter_ == kBlanks && columns.count == 1 && is_stamp(trim(line_))) delimiter_ = kNothing;
    columns.is_stamp.assign(columns.count, false);
    columns.is_clock_of.assign(columns.count, false);
    try {
      split(line_, delimiter_, cells_);
      for (std::size_t i = 0; i < std::min(columns.count, cells_.size()); ++i) {
        columns.is_stamp[i] = is_stamp(cells_[i]);
        columns.is_clock_of[i] =
            i > 0 && is_clock(cells_[i]) && is_date(cells_[i - 1], !options.time_format.empty());
      }
    } catch (const Malformed&) {  // will be met again
    }
  }

  /// Calls use(cells, position) for each line of data; where that throws Malformed the line is counted, or
  /// refuse(malformed, place) is called.
  Index for_each(bool skip_bad, auto refuse, auto use) {
    Index bad = 0, position = 0;
    do {
      if (static_cast<std::size_t>(position) >= most_rows())
        throw std::invalid_argument(
            fmt::format("{}: has more than {} rows: too many for this machine's memory", file_, position));
      try {
        split(line_, delimiter_, cells_);
        if (cells_.size() != columns.count)
          throw Malformed{fmt::format("has {} {}, the first line has {}", cells_.size(),
                                      cells_.size() == 1 ? "cell" : "cells", columns.count)};
        use(cells_, position);
      } catch (const Malformed& malformed) {
        if (!skip_bad) refuse(malformed, place());
        ++bad;
      }
      ++position;
    } while (lines_.next(line_));
    return bad;
  }

  /// The cell of the time, joined with its time of day where that has a column of its own.
  std::string_view time_cell(const Cells& cells) {
    if (!columns.has_clock || is_missing(cells[*columns.x])) return cells[*columns.x];
    joined_ = cells[*columns.x];
    joined_ += ' ';
    joined_ += cells[*columns.x + 1];
    return joined_;
  }

  Columns columns;

 private:
  std::string place() const { return fmt::format("{}:{}", file_, lines_.number()); }

  Lines lines_;
  std::string file_, joined_;
  std::string_view line_;
  char delimiter_ = ',';
  Cells cells_;
};

/// Malformed with the column's name, and how to name another one where this one was not asked for.
void in_column(const std::string& label, bool asked_for, auto work) {
  try {
    work();
  } catch (const Malformed& malformed) {
    Message message = malformed.message;
    message.fields.push_back({"column", label});
    if (message.code == MessageCode::not_a_time && !asked_for)
      message.advice.push_back({MessageCode::name_time_column});
    throw Malformed(std::move(message));
  }
}

/// The square of a known error, checked.
double error_variance(const Cells& cells, const Columns& columns) {
  const double error = cell_number(cells, *columns.yerr, columns);
  if (error < 0 || std::isinf(error * error))
    throw malformed_cell(fmt::format("error {} {}", quote(cells[*columns.yerr]),
                                     error < 0 ? "is negative" : "overflows when squared"),
                         columns.label(*columns.yerr));
  return error * error;
}

}  // namespace

void require_valid(const ReadOptions& options) {
  if (!std::isfinite(options.step) || options.step < 0)
    throw std::invalid_argument(fmt::format("step is {}, must be finite and positive", options.step));
  if (options.step > 0 && !options.x.empty()) throw InvalidArgument({MessageCode::time_column_and_step});
  if (options.step > 0 && (!options.time_format.empty() || !options.time_unit.empty()))
    throw InvalidArgument({MessageCode::time_options_without_column});
}

std::size_t most_rows() {
  constexpr double kBytesARow =
      32;  // of a quarter of the memory: time, value, variance, and a timestamp on the way
  return static_cast<std::size_t>(largest_content() / kBytesARow);
}

Table read_csv(ByteSource& source, const ReadOptions& options) {
  require_valid(options);
  Table table;
  TimeColumn times(options.time_format, options.time_unit);
  TextRows rows(source, options);
  Columns& columns = rows.columns;
  choose_columns(columns, options, source.name());
  describe(table, columns);
  table.bad_lines = rows.for_each(options.skip_bad, refuse_line, [&](const Cells& cells, Index position) {
    const double value = cell_number(cells, *columns.y, columns);  // a line is taken whole or not at all
    const double variance = columns.yerr ? error_variance(cells, columns) : 0;
    if (columns.x)
      in_column(table.time_column, !options.x.empty(), [&] { times.add(rows.time_cell(cells)); });
    else
      table.time.push_back(options.step * static_cast<double>(position));
    table.value.push_back(value);
    if (columns.yerr) table.variance.push_back(variance);
  });
  if (table.value.empty()) throw std::invalid_argument(source.name() + ": no data rows");
  if (columns.x)
    table.time = times.finish(fmt::format("{}: column {}", source.name(), table.time_column), table.axis);
  return table;
}

Table read_csv(std::istream& in, const std::string& name, const ReadOptions& options) {
  ByteSource source(in, name);
  return read_csv(source, options);
}

Table read_csv(const std::string& path, const ReadOptions& options) {
  ByteSource source(path);
  return read_csv(source, options);
}

std::vector<double> read_csv_times(ByteSource& source, const ReadOptions& options, const TimeAxis& axis,
                                   Index& bad_lines) {
  std::vector<double> times;
  TextRows rows(source, options);
  choose_time_column(rows.columns, options, source.name());
  const std::string label = rows.columns.label(*rows.columns.x);
  const bool patterned =
      options.time_format.find('%') != std::string::npos;  // the words say what the axis knows
  const TimePattern pattern = patterned ? TimePattern(options.time_format) : TimePattern();
  bad_lines = rows.for_each(options.skip_bad, refuse, [&](const Cells& cells, Index) {
    const std::string_view cell = rows.time_cell(cells);
    in_column(label, !options.x.empty(), [&] {
      if (is_missing(cell)) throw Malformed{"has no time"};
      try {
        const auto moment = patterned && axis.is_calendar() ? pattern.parse(cell) : std::nullopt;
        if (patterned && !moment)
          throw Malformed{
              fmt::format("{} does not fit the time format {}", quote(cell), options.time_format)};
        times.push_back(moment ? time_of(axis, *moment) : parse_time(axis, cell));
      } catch (const std::invalid_argument& error) {
        throw Malformed{error.what()};
      }
    });
  });
  if (times.empty()) throw std::invalid_argument(source.name() + ": no times");
  return times;
}

}  // namespace bandgp
