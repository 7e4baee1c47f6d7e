// SPDX-License-Identifier: Apache-2.0
#include "bandgp/io/npy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <stdexcept>

#include "bandgp/base/error.hpp"
#include "bandgp/base/quote.hpp"
#include "bandgp/io/cells.hpp"
#include "bandgp/io/columns.hpp"
#include "bandgp/io/csv.hpp"
#include "bandgp/io/time_column.hpp"

namespace bandgp {
namespace {

constexpr std::size_t kLongestHeader = 1 << 16;  // NumPy itself refuses more than 10,000 characters

[[noreturn]] void refuse(const std::string& file, const std::string& what) {
  throw std::invalid_argument(fmt::format("{}: {}", file, what));
}

struct Array {
  std::size_t rows = 0, columns = 1;
  bool one_dimension = true, fortran = false, swapped = false;
  char kind = 'f';  // f, i, u
  std::size_t bytes = 8;
  std::string content;

  template <class T>
  double as(std::size_t at) const {
    std::array<char, sizeof(T)> raw;
    std::memcpy(raw.data(), content.data() + at, sizeof(T));
    if (swapped) std::ranges::reverse(raw);
    return static_cast<double>(std::bit_cast<T>(raw));
  }
  double at(std::size_t row, std::size_t column) const {
    const std::size_t at = bytes * (fortran ? column * rows + row : row * columns + column);
    switch (kind) {
      case 'f':
        return bytes == 4 ? as<float>(at) : as<double>(at);
      case 'i':
        switch (bytes) {
          case 1:
            return as<std::int8_t>(at);
          case 2:
            return as<std::int16_t>(at);
          case 4:
            return as<std::int32_t>(at);
          default:
            return as<std::int64_t>(at);
        }
      default:
        switch (bytes) {
          case 1:
            return as<std::uint8_t>(at);
          case 2:
            return as<std::uint16_t>(at);
          case 4:
            return as<std::uint32_t>(at);
          default:
            return as<std::uint64_t>(at);
        }
    }
  }
};

/// What stands behind `'key':` in the header, blanks skipped.
std::string_view field(std::string_view header, std::string_view key, const std::string& file) {
  for (const char quotes : {'\'', '"'}) {
    const std::string name = quotes + std::string(key) + quotes;
    std::size_t at = header.find(name);
    if (at == header.npos) continue;
    at = header.find_first_not_of(' ', at + name.size());
    if (at == header.npos || header[at] != ':') break;
    at = header.find_first_not_of(' ', at + 1);
    if (at != header.npos) return header.substr(at);
  }
  refuse(file, fmt::format("has a damaged NumPy header: no {}", key));
}

void read_type(Array& array, std::string_view text, const std::string& file) {
  if (text.front() == '[')
    refuse(file, "is a structured NumPy array: save its columns as a plain array, as of numpy.column_stack");
  const std::size_t end = text.find(text.front(), 1);
  if ((text.front() != '\'' && text.front() != '"') || end == text.npos)
    refuse(file, "has a damaged NumPy header: descr");
  const std::string_view type = text.substr(1, end - 1);
  std::size_t bytes = 0;
  if (type.size() > 2) std::from_chars(type.data() + 2, type.data() + type.size(), bytes);
  const bool known =
      type.size() == 3 && std::string_view("<>|=").find(type[0]) != std::string_view::npos &&
      ((type[1] == 'f' && (bytes == 4 || bytes == 8)) ||
       ((type[1] == 'i' || type[1] == 'u') && (bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8)));
  if (!known)
    refuse(file, fmt::format(
                     "holds NumPy numbers of type {}; f4, f8, i1 to i8 and u1 to u8 are read (astype(float))",
                     quote(type)));
  array.kind = type[1];
  array.bytes = bytes;
  array.swapped =
      (type[0] == '>') != (std::endian::native == std::endian::big) && type[0] != '|' && type[0] != '=';
}

void read_shape(Array& array, std::string_view text, const std::string& file) {
  std::vector<std::size_t> shape;
  const std::size_t end = text.find(')');
  if (text.front() != '(' || end == text.npos) refuse(file, "has a damaged NumPy header: shape");
  const char* at = text.data() + 1;
  const char* stop = text.data() + end;
  while (at < stop) {
    if (*at == ' ' || *at == ',') {
      ++at;
      continue;
    }
    std::size_t length = 0;
    const auto [next, error] = std::from_chars(at, stop, length);
    if (error != std::errc()) refuse(file, "has a damaged NumPy header: shape");
    shape.push_back(length);
    at = next;
  }
  if (shape.empty() || shape.size() > 2)
    refuse(file,
           fmt::format("is a NumPy array of {} dimensions; one (values) or two (rows of columns) are read",
                       shape.size()));
  array.one_dimension = shape.size() == 1;
  array.rows = shape[0];
  array.columns = array.one_dimension ? 1 : shape[1];
  if (array.rows == 0 || array.columns == 0) refuse(file, "no data rows");
}

Array read_array(ByteSource& source) {
  const std::string& file = source.name();
  const auto take = [&](std::size_t count) {
    std::string bytes(count, '\0');
    if (source.read(bytes.data(), count) != count) refuse(file, "is cut off within its NumPy header");
    return bytes;
  };
  const std::string version = take(kNpyMagic.size() + 2).substr(kNpyMagic.size());
  const int major = static_cast<unsigned char>(version[0]);
  if (major < 1 || major > 3) refuse(file, fmt::format("is of NumPy's format {}; 1 to 3 are read", major));
  const std::string length = take(major == 1 ? 2 : 4);
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < length.size(); ++i)
    bytes |= static_cast<std::size_t>(static_cast<unsigned char>(length[i])) << (8 * i);
  if (bytes > kLongestHeader)
    refuse(file, fmt::format("has a NumPy header of {} bytes, more than any array needs", bytes));
  const std::string header = take(bytes);

  Array array;
  read_type(array, field(header, "descr", file), file);
  array.fortran = field(header, "fortran_order", file).starts_with("True");
  read_shape(array, field(header, "shape", file), file);
  const double size =
      static_cast<double>(array.rows) * static_cast<double>(array.columns) * static_cast<double>(array.bytes);
  if (size > largest_content())
    refuse(file,
           fmt::format("announces {:.1f} GB, more than a quarter of this machine's memory", size / 1e9));
  array.content = source.read_all();
  const std::size_t wanted = array.rows * array.columns * array.bytes;
  if (array.content.size() != wanted)
    refuse(file,
           fmt::format("has {} bytes of numbers, its header announces {}", array.content.size(), wanted));
  return array;
}

Columns columns_of(const Array& array, const std::string& file) {
  Columns columns;
  columns.count = array.columns;
  if (array.columns > 1000 && array.columns > array.rows)
    refuse(file, fmt::format("has {} rows of {} columns: is it transposed?", array.rows, array.columns));
  columns.is_stamp.assign(columns.count, false);
  columns.is_clock_of.assign(columns.count, false);
  return columns;
}

/// Calls use(row) for each row; where that throws Malformed the row is counted, or refuse_row(malformed,
/// place) is called, which names it (from 1).
Index for_each_row(const Array& array, const std::string& file, bool skip_bad, auto refuse_row, auto use) {
  if (array.rows > most_rows())
    refuse(file, fmt::format("has {} rows: too many for this machine's memory", array.rows));
  Index bad = 0;
  for (std::size_t row = 0; row < array.rows; ++row) {
    try {
      use(row);
    } catch (const Malformed& malformed) {
      if (!skip_bad) refuse_row(malformed, fmt::format("{}: row {}", file, row + 1));
      ++bad;
    }
  }
  return bad;
}

double finite_or_missing(double value) { return std::isfinite(value) ? value : NAN; }

}  // namespace

Table read_npy(ByteSource& source, const ReadOptions& options) {
  require_valid(options);
  TimeColumn times(options.time_format, options.time_unit);
  const Array array = read_array(source);
  Columns columns = columns_of(array, source.name());
  if (array.one_dimension && options.step == 0)
    throw InvalidArgument({MessageCode::one_dimension, {{"place", source.name()}}});
  choose_columns(columns, options, source.name());
  Table table;
  describe(table, columns);
  table.bad_lines = for_each_row(array, source.name(), options.skip_bad, refuse_line, [&](std::size_t row) {
    const double error = columns.yerr ? finite_or_missing(array.at(row, *columns.yerr)) : 0;
    if (error < 0 || std::isinf(error * error))
      throw Malformed{
          fmt::format("error {} {}", error, error < 0 ? "is negative" : "overflows when squared")};
    if (columns.x)
      times.add(finite_or_missing(array.at(row, *columns.x)));
    else
      table.time.push_back(options.step * static_cast<double>(row));
    table.value.push_back(finite_or_missing(array.at(row, *columns.y)));
    if (columns.yerr) table.variance.push_back(error * error);
  });
  if (table.value.empty()) refuse(source.name(), "no data rows");
  if (columns.x)
    table.time = times.finish(fmt::format("{}: column {}", source.name(), table.time_column), table.axis);
  return table;
}

std::vector<double> read_npy_times(ByteSource& source, const ReadOptions& options, const TimeAxis& axis,
                                   Index& bad_lines) {
  const Array array = read_array(source);
  Columns columns = columns_of(array, source.name());
  choose_time_column(columns, options, source.name());
  std::vector<double> times;
  const auto refuse_row = [](const Malformed& malformed, std::string place) {
    bandgp::refuse(malformed, std::move(place));
  };
  bad_lines = for_each_row(array, source.name(), options.skip_bad, refuse_row, [&](std::size_t row) {
    const double number = array.at(row, *columns.x);
    if (!std::isfinite(number)) throw Malformed{"has no time"};
    try {
      times.push_back(axis.is_plain() ? number : parse_time(axis, fmt::format("{}", number)));
    } catch (const std::invalid_argument& error) {
      throw Malformed{error.what()};
    }
  });
  if (times.empty()) refuse(source.name(), "no times");
  return times;
}

}  // namespace bandgp
