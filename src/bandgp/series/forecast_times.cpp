// SPDX-License-Identifier: Apache-2.0
#include "bandgp/series/forecast_times.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <stdexcept>

namespace bandgp {
namespace {

/// Times have been scaled: what was 0.1 apart may be 0.10000000000000003 apart by now.
double twelve_digits(double value) { return std::strtod(fmt::format("{:.12g}", value).c_str(), nullptr); }

}  // namespace

double typical_spacing(const Series& series) {
  if (series.size() < 2) return twelve_digits(series.report.mean_gap);
  std::vector<double> gaps(series.time.size() - 1);
  for (std::size_t i = 0; i < gaps.size(); ++i) gaps[i] = series.time[i + 1] - series.time[i];
  const auto middle = gaps.begin() + static_cast<std::ptrdiff_t>(gaps.size() / 2);
  std::ranges::nth_element(gaps, middle);
  return twelve_digits(series.units.time_unit * *middle);
}

std::vector<double> times_after(const Series& series, double horizon, double step) {
  constexpr double kMostTimes = 1e8;
  if (step == 0) step = typical_spacing(series);
  if (!(step > 0 && std::isfinite(step)))
    throw std::invalid_argument(step == 0 ? "a single time has no spacing: a step is needed"
                                          : fmt::format("the step must be positive, not {}", step));
  if (!(horizon > 0 && std::isfinite(horizon)))
    throw std::invalid_argument(fmt::format("the horizon must be positive, not {}", horizon));
  const double steps = std::floor(horizon / step * (1 + 1e-12) + 1e-9);
  if (steps < 1)
    throw std::invalid_argument(
        fmt::format("the horizon of {:.6g} is shorter than a step of {:.6g}", horizon, step));
  if (!(steps < kMostTimes))
    throw std::invalid_argument("the horizon has more than 100 million times; take a longer step");
  const double last = series.report.last_time;
  const auto unit = static_cast<double>(unit_seconds(series.axis.unit));
  if (series.axis.is_calendar() && unit > 0) {
    std::vector<double> grid =
        parse_grid(series.axis, fmt::format("{},{},{:.12g}s", to_text(series.axis, last),
                                            to_text(series.axis, last + steps * step), step * unit));
    grid.erase(grid.begin());
    return grid;
  }
  std::vector<double> times(static_cast<std::size_t>(steps));
  // In the longer format multiples of 0.1 round to the numbers that people write.
  const long double first = std::strtold(fmt::format("{}", last).c_str(), nullptr),
                    by = std::strtold(fmt::format("{}", step).c_str(), nullptr);
  for (std::size_t i = 0; i < times.size(); ++i)
    times[i] = static_cast<double>(first + static_cast<long double>(i + 1) * by);
  return times;
}

}  // namespace bandgp
