// SPDX-License-Identifier: Apache-2.0
#include "bandgp/series/gaps.hpp"

#include <cmath>

namespace bandgp {

Gaps find_gaps(const Series& series) {
  Gaps gaps;
  const std::vector<double>& time = series.time;
  if (time.size() < 3) return gaps;
  std::vector<double> spacing;
  spacing.reserve(time.size() - 1);
  for (std::size_t i = 1; i < time.size(); ++i) spacing.push_back(time[i] - time[i - 1]);
  const auto middle = spacing.begin() + static_cast<std::ptrdiff_t>(spacing.size() / 2);
  std::nth_element(spacing.begin(), middle, spacing.end());
  const double usual = *middle;
  const auto close =
      std::ranges::count_if(spacing, [&](double s) { return std::abs(s - usual) <= 0.2 * usual; });
  gaps.regular = 10 * close >= 9 * std::ssize(spacing);
  const double limit = (gaps.regular ? 1.5 : 5) * usual;
  const double unit = series.units.time_unit;
  for (std::size_t i = 1; i < time.size(); ++i) {
    const double length = time[i] - time[i - 1];
    if (!(length > limit)) continue;
    ++gaps.count;
    if (unit * length > gaps.largest) {
      gaps.largest = unit * length;
      gaps.largest_from = series.units.time_out(time[i - 1]);
    }
  }
  gaps.usual = unit * usual;
  gaps.limit = unit * limit;
  return gaps;
}

}  // namespace bandgp
