// SPDX-License-Identifier: Apache-2.0
#include "bandgp/io/read_table.hpp"

#include <fmt/format.h>

#include <array>
#include <stdexcept>
#include <string_view>

#include "bandgp/base/error.hpp"
#include "bandgp/io/byte_source.hpp"
#include "bandgp/io/csv.hpp"
#include "bandgp/io/edf.hpp"
#include "bandgp/io/npy.hpp"

namespace bandgp {
namespace {

struct Foreign {
  std::string_view magic, what;
};
constexpr std::array<Foreign, 11> kForeign{{
    {"PK\x03\x04", "is a zip archive (.npz, .xlsx?): extract the array or export the sheet as CSV"},
    {"\x89HDF", "is an HDF5 file: export the columns as CSV or NPY"},
    {"PAR1", "is a Parquet file: export the columns as CSV or NPY"},
    {"\xFD"
     "7zXZ",
     "is compressed by xz: pipe it through xz -dc"},
    {"BZh", "is compressed by bzip2: pipe it through bzip2 -dc"},
    {"\x28\xB5\x2F\xFD", "is compressed by zstd: pipe it through zstd -dc"},
    {"\xFF\xFE", "is text in UTF-16: save it as UTF-8, or pipe it through iconv -f utf-16 -t utf-8"},
    {"\xFE\xFF", "is text in UTF-16: save it as UTF-8, or pipe it through iconv -f utf-16 -t utf-8"},
    {"\xD0\xCF\x11\xE0", "is an old Excel workbook: export the sheet as CSV"},
    {"SIMPLE  =", "is a FITS file: export its table as CSV"},
    {"{\"format\"", "is JSON: a table of numbers is needed"},
}};

void refuse_foreign(ByteSource& source) {
  for (const auto& [magic, what] : kForeign)
    if (source.head().starts_with(magic))
      throw std::invalid_argument(fmt::format("{}: {}", source.name(), what));
}

}  // namespace

Table read_table(const std::string& path, const ReadOptions& options) {
  ByteSource source(path);
  if (is_edf(source.head())) return read_edf(source, options);
  if (!options.channel.empty())
    throw InvalidArgument({MessageCode::channel_of_table, {{"place", source.name()}}});
  if (source.head().starts_with(kNpyMagic)) return read_npy(source, options);
  refuse_foreign(source);
  return read_csv(source, options);
}

Times read_times(const std::string& path, const ReadOptions& options, const TimeAxis& axis) {
  ByteSource source(path);
  Times times;
  if (is_edf(source.head()))
    throw std::invalid_argument(source.name() + ": is a recording; a column of times is needed");
  if (source.head().starts_with(kNpyMagic)) {
    times.time = read_npy_times(source, options, axis, times.bad_lines);
    return times;
  }
  refuse_foreign(source);
  times.time = read_csv_times(source, options, axis, times.bad_lines);
  return times;
}

}  // namespace bandgp
