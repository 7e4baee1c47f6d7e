// SPDX-License-Identifier: Apache-2.0
#include "bandgp/fit/diagnostics.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "bandgp/fit/scores.hpp"

namespace bandgp {
namespace {

double average(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

}  // namespace

Diagnostics diagnose(const Series& series, const LeaveOneOut& left_out) {
  Diagnostics result;
  std::vector<double> observed(series.value.size());
  result.standardised.resize(observed.size());
  for (std::size_t i = 0; i < observed.size(); ++i) {
    observed[i] = series.units.value_out(series.value[i]);
    result.standardised[i] = (observed[i] - left_out.mean[i]) / std::sqrt(left_out.variance[i]);
  }
  const Scores scores = score(observed, left_out.mean, left_out.variance, {});
  result.loo_nmse = scores.nmse;
  result.loo_nlpd = scores.nlpd_marginal;
  result.coverage_95 = scores.coverage_95;
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
