// SPDX-License-Identifier: Apache-2.0
#include "bandgp/io/columns.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>

#include "bandgp/base/error.hpp"
#include "bandgp/base/quote.hpp"

namespace bandgp {
namespace {

constexpr std::size_t kConventional = 3;  // up to here the order time, value, other is what people mean

[[noreturn]] void refuse(const std::string& file, const std::string& what) {
  throw InvalidArgument({MessageCode::text, {{"place", file}, {"text", what}}});
}
[[noreturn]] void refuse(const std::string& file, MessageCode code, std::vector<Field> fields = {}) {
  fields.push_back({"place", file});
  throw InvalidArgument({code, std::move(fields)});
}

std::string lower(std::string text) {
  for (char& c : text)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return text;
}

bool is_time_name(const std::string& name) {
  constexpr std::array<std::string_view, 7> kNames{"t", "x", "time", "date", "datetime", "timestamp", "ts"};
  return std::ranges::find(kNames, lower(name)) != kNames.end();
}
bool begins_as_time(const std::string& name) {
  return lower(name).starts_with("time") || lower(name).starts_with("date");
}
bool is_value_name(const std::string& name) { return lower(name) == "y" || lower(name) == "value"; }
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
  refuse(file, fmt::format("no column {}; columns: {}", quote(wanted), columns.list()));
}

/// The one free column for which `holds`; none where there are none or several.
std::optional<std::size_t> only(const Columns& columns, auto holds) {
  std::optional<std::size_t> found;
  for (std::size_t i = 0; i < columns.count; ++i) {
    if (columns.y == i || columns.yerr == i || columns.x == i || columns.is_clock_of[i] || !holds(i))
      continue;
    if (found) return std::nullopt;
    found = i;
  }
  return found;
}

/// A timestamp is a time; else the name says so; else it is the first of two or three columns.
std::optional<std::size_t> time_column(const Columns& columns) {
  const auto named = [&](auto test) {
    return [&columns, test](std::size_t i) { return !columns.names.empty() && test(columns.names[i]); };
  };
  const auto stamped = [&](std::size_t i) { return columns.is_stamp[i]; };
  if (const auto column = only(columns, stamped)) return column;
  if (const auto column = only(columns, [&](std::size_t i) { return stamped(i) && named(is_time_name)(i); }))
    return column;
  if (std::ranges::count(columns.is_stamp, true) > 1) return std::nullopt;
  if (const auto column = only(columns, named(is_time_name))) return column;
  if (const auto column = only(columns, named(begins_as_time))) return column;
  if (columns.count > kConventional) return std::nullopt;
  for (std::size_t i = 0; i < columns.count; ++i)
    if (columns.y != i && columns.yerr != i) return i;
  return std::nullopt;
}

std::optional<std::size_t> value_column(const Columns& columns) {
  std::vector<std::size_t> open;
  for (std::size_t i = 0; i < columns.count; ++i) {
    const bool taken = columns.x == i || columns.yerr == i || columns.is_clock_of[i];
    if (!taken && (columns.names.empty() || !is_error_name(columns.names[i]))) open.push_back(i);
  }
  if (open.size() == 1) return open.front();
  if (!columns.names.empty())
    if (const auto named = only(columns, [&](std::size_t i) { return is_value_name(columns.names[i]); }))
      return named;
  const bool conventional =
      open.size() < kConventional && columns.x && !open.empty() && *columns.x < open.front();
  return conventional ? std::optional(open.front()) : std::nullopt;
}

/// A pattern without hours says that the dates are all that is wanted.
void set_clock(Columns& columns, const std::string& format) {
  const bool dates_only = !format.empty() && format.find("%H") == format.npos &&
                          format.find("%-H") == format.npos && format.find('I') == format.npos &&
                          format.find("%T") == format.npos && format.find("%R") == format.npos;
  if (dates_only) return;
  columns.has_clock = columns.x && *columns.x + 1 < columns.count && columns.is_clock_of[*columns.x + 1] &&
                      columns.y != *columns.x + 1 && columns.yerr != *columns.x + 1;
}

}  // namespace

bool is_error_name(const std::string& name) {
  constexpr std::array<std::string_view, 8> kWords{"err", "error",  "sigma", "sd",
                                                   "std", "stderr", "unc",   "uncertainty"};
  const std::string given = lower(name);
  const std::string_view word = std::string_view(given).substr(given.rfind('_') + 1);  // flux_err: err
  return given == "e" || given == "yerr" || given.ends_with("uncertainty") ||
         std::ranges::find(kWords, word) != kWords.end();
}

std::string Columns::label(std::size_t column) const {
  return names.empty() || names[column].empty() ? fmt::format("{}", column + 1) : names[column];
}

std::string Columns::list() const {
  constexpr std::size_t kLongest = 200;
  std::string text;
  for (std::size_t i = 0; i < count; ++i) {
    const std::string next = (i == 0 ? "" : ", ") + label(i);
    if (text.size() + next.size() > kLongest) return fmt::format("{}, ... ({} in all)", text, count);
    text += next;
  }
  return text;
}

void choose_columns(Columns& columns, const ReadOptions& options, const std::string& file) {
  const bool has_times = options.step == 0;
  if (has_times && columns.count == 1) refuse(file, MessageCode::one_column);
  if (!has_times && columns.count > 1 && options.y.empty()) refuse(file, MessageCode::several_columns);
  if (!options.x.empty() && has_times) columns.x = find_column(columns, options.x, file);
  if (!options.y.empty()) columns.y = find_column(columns, options.y, file);
  if (!options.yerr.empty()) columns.yerr = find_column(columns, options.yerr, file);
  if (has_times && !columns.x) columns.x = time_column(columns);
  if (has_times && !columns.x)
    refuse(file, MessageCode::which_time_column,
           {{"values_too", Index{columns.y ? 0 : 1}}, {"columns", columns.list()}});
  if (!columns.y) {
    const std::size_t taken = (columns.x ? 1U : 0U) + (columns.yerr ? 1U : 0U);
    if (taken >= columns.count) refuse(file, MessageCode::no_value_column);
    columns.y = value_column(columns);
  }
  if (!columns.y) refuse(file, MessageCode::which_value_column, {{"columns", columns.list()}});
  if (columns.x == columns.y || columns.y == columns.yerr || (columns.x && columns.x == columns.yerr))
    refuse(file, MessageCode::column_serves_twice);
  set_clock(columns, options.time_format);
}

void choose_time_column(Columns& columns, const ReadOptions& options, const std::string& file) {
  if (!options.x.empty()) columns.x = find_column(columns, options.x, file);
  if (!columns.x) columns.x = columns.count == 1 ? 0 : time_column(columns);
  if (!columns.x)
    refuse(file, MessageCode::which_time_column, {{"values_too", Index{0}}, {"columns", columns.list()}});
  set_clock(columns, options.time_format);
}

void describe(Table& table, const Columns& columns) {
  const auto name = [&](std::optional<std::size_t> i) {
    return i && !columns.names.empty() ? columns.names[*i] : std::string();
  };
  const auto with_clock = [&](const std::string& text, std::size_t clock) {
    return columns.has_clock && !text.empty() ? text + " " + columns.label(clock) : text;
  };
  const std::size_t clock = columns.has_clock ? *columns.x + 1 : columns.count;
  table.time_name = with_clock(name(columns.x), clock);
  table.value_name = name(columns.y);
  if (columns.x) table.time_column = with_clock(columns.label(*columns.x), clock);
  table.value_column = columns.label(*columns.y);
  if (columns.yerr) table.error_column = columns.label(*columns.yerr);
  for (std::size_t i = 0; i < columns.count; ++i)
    if (columns.x != i && columns.y != i && columns.yerr != i && i != clock)
      table.unused.push_back(columns.label(i));
}

}  // namespace bandgp
