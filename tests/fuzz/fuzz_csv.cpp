// SPDX-License-Identifier: Apache-2.0
// The first byte chooses options, the rest is the file.  Refused with one line, or a table that becomes a
// series whose counts add up.
#include <cstdint>
#include <cstdlib>
#include <sstream>
#include <stdexcept>

#include "bandgp/io/csv.hpp"
#include "bandgp/series/series.hpp"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

void check(const bandgp::Table& table) {
  require(!table.value.empty() && table.time.size() == table.value.size());
  require(table.variance.empty() || table.variance.size() == table.value.size());
  for (const double thin : {0.0, 1.0}) {
    try {
      const bandgp::Series series =
          bandgp::make_series(table.time, table.value, table.variance, {.thin = thin});
      const bandgp::SeriesReport& report = series.report;
      require(report.rows == static_cast<bandgp::Index>(table.time.size()));
      require(report.rows == report.used + report.dropped + report.thinned);
      require(report.used == series.observations() && report.used == series.size() + report.merged);
      for (std::size_t i = 1; i < series.time.size(); ++i) require(series.time[i] > series.time[i - 1]);
      // The text of a time of the file is that time.
      require_valid(table.axis);
      for (const double time : {report.first_time, report.last_time})
        require(parse_time(table.axis, to_text(table.axis, time)) == time);
    } catch (const std::invalid_argument&) {  // nothing finite, or numbers too far apart
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  bandgp::CsvOptions options;
  if (data[0] & 1) options.skip_bad = true;
  if (data[0] & 2) options.yerr = "3";
  if (data[0] & 4) options.y = "y";
  if (data[0] & 8) options.step = 0.5;
  if (data[0] & 16) options.time_format = "%d-%m-%Y %H:%M";
  if (data[0] & 32) options.time_format = "epoch-ms";
  if (data[0] & 64) options.time_unit = "h";
  std::istringstream in(std::string(reinterpret_cast<const char*>(data + 1), size - 1));
  try {
    check(bandgp::read_csv(in, "f.csv", options));
  } catch (const std::invalid_argument& error) {
    require(std::string(error.what()).find('\n') == std::string::npos);
  }
  return 0;
}
