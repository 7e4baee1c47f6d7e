// SPDX-License-Identifier: Apache-2.0
#include "bandgp/series/series.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace bandgp {
namespace {

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

/// The power of two at or below size > 0; normal, and so is its reciprocal.
double power_of_two(double size) {
  return std::ldexp(1.0, std::clamp(std::ilogb(size), std::numeric_limits<double>::min_exponent,
                                    std::numeric_limits<double>::max_exponent - 2));
}

void require_lengths(std::size_t time, std::size_t value, std::size_t variance) {
  if (time != value)
    throw std::invalid_argument(fmt::format("time has {} values, value has {}", time, value));
  if (variance != 0 && variance != time)
    throw std::invalid_argument(fmt::format("time has {} values, variance has {}", time, variance));
}

/// Rows without NaN or ±inf, in the order given.
std::vector<Index> finite_rows(std::span<const double> time, std::span<const double> value,
                               std::span<const double> variance) {
  std::vector<Index> rows;
  rows.reserve(time.size());
  for (std::size_t i = 0; i < time.size(); ++i) {
    if (!std::isfinite(time[i]) || !std::isfinite(value[i])) continue;
    if (!variance.empty() && !std::isfinite(variance[i])) continue;
    rows.push_back(static_cast<Index>(i));
  }
  return rows;
}

/// Keeps the first row and every row at least `thin` after the one kept before; returns how many it dropped.
Index thin_rows(std::vector<Index>& rows, std::span<const double> time, double thin) {
  if (thin == 0) return 0;
  double kept = -std::numeric_limits<double>::infinity();
  return static_cast<Index>(std::erase_if(rows, [&](Index row) {
    // Times 0.1, 0.2, 0.3 are 0.1 apart up to rounding, and a thinning by 0.1 keeps them all.
    const double rounding = 4 * std::numeric_limits<double>::epsilon() * std::abs(time[at(row)]);
    if (time[at(row)] - kept < thin * (1 - 1e-9) - rounding) return true;
    kept = time[at(row)];
    return false;
  }));
}

/// Gaps and ends of distinct times; `units` says how they become the user's.
void report_times(SeriesReport& report, std::span<const double> time, const Units& units = {}) {
  report.merged = report.used - static_cast<Index>(time.size());
  if (time.empty()) return;
  report.first_time = units.time_out(time.front());
  report.last_time = units.time_out(time.back());
  if (time.size() == 1) return;
  report.min_gap = std::numeric_limits<double>::infinity();
  for (std::size_t i = 1; i < time.size(); ++i) {
    const double gap = (time[i] - time[i - 1]) * units.time_unit;
    report.min_gap = std::min(report.min_gap, gap);
    report.max_gap = std::max(report.max_gap, gap);
  }
  report.span = (time.back() - time.front()) * units.time_unit;
  report.mean_gap = report.span / static_cast<double>(time.size() - 1);
}

/// The origin is the first time where all times lie within a factor of two of each other: t − origin is then
/// exact (Sterbenz).  Otherwise it is 0, and no time exceeds twice the span.  Internal times are always
/// exact.
void choose_time_units(Units& units, const SeriesReport& report) {
  const double first = report.first_time, last = report.last_time;
  const bool far_from_zero = (first > 0 && last / 2 <= first) || (last < 0 && first / 2 >= last);
  if (far_from_zero) units.time_origin = first;
  if (report.mean_gap > 0) units.time_unit = power_of_two(report.mean_gap);
  // A gap 300 decades below the mean one would underflow: such times keep their own unit.
  if (report.min_gap / units.time_unit < std::numeric_limits<double>::min()) units.time_unit = 1;
}

/// value ← (value − origin) / unit with the mean as origin (0 unless `center`) and a unit near the standard
/// deviation (the root mean square unless `center`); unit 1 where that is 0.
void scale_values(std::vector<double>& value, Units& units, bool center) {
  const auto count = static_cast<double>(value.size());
  const auto [low, high] = std::ranges::minmax(value);
  if (center) {
    if (!std::isfinite(high - low))
      throw std::invalid_argument(fmt::format("values from {} to {}: their difference overflows", low, high));
    // The mean of y − low, each term divided first: no overflow, and no digits lost to a common offset.
    double mean = 0;
    for (const double y : value) mean += (y - low) / count;
    units.value_origin = std::min(low + mean, high);  // low itself where all are equal
    for (double& y : value) y -= units.value_origin;
  }
  double largest = 0;
  for (const double y : value) largest = std::max(largest, std::abs(y));
  if (largest == 0) return;
  double squares = 0;
  for (const double y : value) squares += (y / largest) * (y / largest);
  units.value_unit = power_of_two(largest * std::sqrt(squares / count));
  for (double& y : value) y /= units.value_unit;
}

void scale_variances(std::vector<double>& variance, std::span<const Index> row, double value_unit) {
  for (std::size_t i = 0; i < variance.size(); ++i) {
    const double given = variance[i];
    variance[i] = given / value_unit / value_unit;
    if (!std::isfinite(variance[i]))
      throw std::invalid_argument(
          fmt::format("variance[{}] is {}: overflows beside values of size {}", row[i], given, value_unit));
  }
}

void require_ranges(std::span<const IndexRange> ranges, Index size) {
  Index end = 0;
  for (const IndexRange& range : ranges) {
    if (range.begin < end || range.end < range.begin || range.end > size)
      throw std::invalid_argument(fmt::format("range {}:{} is not within {}:{} (ranges increase)",
                                              range.begin, range.end, end, size));
    end = range.end;
  }
}

}  // namespace

Series make_series(std::span<const double> time, std::span<const double> value,
                   std::span<const double> variance, const SeriesOptions& options) {
  require_lengths(time.size(), value.size(), variance.size());
  for (std::size_t i = 0; i < variance.size(); ++i)
    if (std::isfinite(variance[i]) && variance[i] < 0)
      throw std::invalid_argument(fmt::format("variance[{}] is {}, must not be negative", i, variance[i]));
  if (!std::isfinite(options.thin) || options.thin < 0)
    throw std::invalid_argument(fmt::format("thin is {}, must be finite and not negative", options.thin));

  Series series;
  SeriesReport& report = series.report;
  series.row = finite_rows(time, value, variance);
  report.rows = static_cast<Index>(time.size());
  report.dropped = report.rows - static_cast<Index>(series.row.size());
  if (series.row.empty())
    throw std::invalid_argument(fmt::format("none of the {} rows has finite numbers only", report.rows));

  const auto earlier = [&](Index a, Index b) { return time[at(a)] < time[at(b)]; };
  report.was_sorted = std::ranges::is_sorted(series.row, earlier);
  if (!report.was_sorted) std::ranges::stable_sort(series.row, earlier);
  report.thinned = thin_rows(series.row, time, options.thin);
  report.used = static_cast<Index>(series.row.size());

  series.value.reserve(series.row.size());
  for (const Index row : series.row) {
    const double t = time[at(row)];
    if (series.time.empty() || t != series.time.back()) {
      series.group.push_back(static_cast<Index>(series.value.size()));
      series.time.push_back(t);
    }
    series.value.push_back(value[at(row)]);
    if (!variance.empty()) series.variance.push_back(variance[at(row)]);
  }
  series.group.push_back(report.used);
  report_times(report, series.time);
  if (!std::isfinite(report.span))
    throw std::invalid_argument(
        fmt::format("times from {} to {}: their difference overflows", report.first_time, report.last_time));
  if (report.merged == 0) series.group.clear();

  choose_time_units(series.units, report);
  for (double& t : series.time) t = series.units.time_in(t);
  scale_values(series.value, series.units, options.center);
  scale_variances(series.variance, series.row, series.units.value_unit);
  return series;
}

Series make_series(const Table& table, const SeriesOptions& options) {
  Series series = make_series(table.time, table.value, table.variance, options);
  series.axis = table.axis;
  return series;
}

Series subseries(const Series& series, std::span<const IndexRange> ranges) {
  require_ranges(ranges, series.size());
  Series part;
  part.units = series.units;
  part.axis = series.axis;
  for (const IndexRange& range : ranges)
    for (Index i = range.begin; i < range.end; ++i) {
      const Index first = series.has_ties() ? series.group[at(i)] : i;
      const Index last = series.has_ties() ? series.group[at(i) + 1] : i + 1;
      part.time.push_back(series.time[at(i)]);
      part.group.push_back(part.observations());
      for (Index o = first; o < last; ++o) {
        part.value.push_back(series.value[at(o)]);
        part.row.push_back(series.row[at(o)]);
        if (!series.variance.empty()) part.variance.push_back(series.variance[at(o)]);
      }
    }
  part.group.push_back(part.observations());
  part.report.rows = part.report.used = part.observations();
  report_times(part.report, part.time, part.units);
  if (part.report.merged == 0) part.group.clear();
  return part;
}

}  // namespace bandgp
