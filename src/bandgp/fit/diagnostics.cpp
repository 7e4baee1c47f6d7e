// SPDX-License-Identifier: Apache-2.0
#include "bandgp/fit/diagnostics.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

namespace bandgp {
namespace {

constexpr double kQuantile = 1.959963984540054;  // Φ(1.96) = 0.975

double average(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

}  // namespace

Diagnostics diagnose(const Series& series, const LeaveOneOut& left_out) {
  const std::size_t m = series.value.size();
  Diagnostics result;
  result.standardised.resize(m);
  const double middle = series.units.value_out(average(series.value));
  double squares = 0, total = 0, nlpd = 0;
  std::size_t inside = 0;
  for (std::size_t i = 0; i < m; ++i) {
    const double y = series.units.value_out(series.value[i]);
    const double residual = y - left_out.mean[i], variance = left_out.variance[i];
    const double z = residual / std::sqrt(variance);
    result.standardised[i] = z;
    squares += residual * residual;
    total += (y - middle) * (y - middle);
    nlpd += 0.5 * (z * z + std::log(2 * std::numbers::pi * variance));
    inside += std::abs(z) <= kQuantile;
  }
  const auto count = static_cast<double>(m);
  result.loo_nmse = squares / total;
  result.loo_nlpd = nlpd / count;
  result.coverage_95 = static_cast<double>(inside) / count;
  return result;
}

std::vector<Index> pit_histogram(std::span<const double> z, Index bins) {
  std::vector<Index> counts(static_cast<std::size_t>(bins));
  for (const double value : z) {
    const double p = 0.5 * std::erfc(-value / std::numbers::sqrt2);
    const auto bin = static_cast<Index>(p * static_cast<double>(bins));
    ++counts[static_cast<std::size_t>(std::clamp<Index>(bin, 0, bins - 1))];
  }
  return counts;
}

std::vector<double> autocorrelation(std::span<const double> z, Index lags) {
  if (z.empty()) return {};
  const double middle = average(z);
  const auto product = [&](std::size_t lag) {
    double sum = 0;
    for (std::size_t i = lag; i < z.size(); ++i) sum += (z[i] - middle) * (z[i - lag] - middle);
    return sum;
  };
  const double variance = product(0);
  std::vector<double> result;
  for (std::size_t lag = 1; lag <= static_cast<std::size_t>(lags) && lag < z.size(); ++lag)
    result.push_back(variance > 0 ? product(lag) / variance : 0);
  return result;
}

}  // namespace bandgp
