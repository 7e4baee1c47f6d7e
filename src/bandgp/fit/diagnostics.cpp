// SPDX-License-Identifier: Apache-2.0
#include "bandgp/fit/diagnostics.hpp"

#include <cmath>
#include <numbers>
#include <numeric>

namespace bandgp {

Diagnostics diagnose(const Series& series, const LeaveOneOut& left_out) {
  constexpr double kQuantile = 1.959963984540054;  // Φ(1.96) = 0.975
  const auto count = static_cast<double>(series.value.size());
  const double average =
      series.units.value_out(std::accumulate(series.value.begin(), series.value.end(), 0.0) / count);
  double squares = 0, total = 0, nlpd = 0, inside = 0;
  for (std::size_t i = 0; i < series.value.size(); ++i) {
    const double y = series.units.value_out(series.value[i]);
    const double residual = y - left_out.mean[i], variance = left_out.variance[i];
    squares += residual * residual;
    total += (y - average) * (y - average);
    nlpd += 0.5 * (std::log(2 * std::numbers::pi * variance) + residual * residual / variance);
    inside += std::abs(residual) <= kQuantile * std::sqrt(variance) ? 1 : 0;
  }
  return {squares / total, nlpd / count, inside / count};
}

}  // namespace bandgp
