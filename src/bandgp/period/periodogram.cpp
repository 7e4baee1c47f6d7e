// SPDX-License-Identifier: Apache-2.0
#include "bandgp/period/periodogram.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace bandgp {
namespace {

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

void scale_to_one(std::vector<double>& weight) {
  double sum = 0;
  for (const double w : weight) sum += w;
  for (double& w : weight) w /= sum;
}

/// Weights 1/(variance + added), largest about 1 so that none overflows.
std::vector<double> weights_of(const Series& series) {
  const std::size_t m = series.value.size();
  if (series.variance.empty()) return std::vector<double>(m, 1 / static_cast<double>(m));
  double added = 0;
  const auto [least, most] = std::ranges::minmax(series.variance);
  if (least == 0) {
    double mean = 0, square = 0, known = 0;
    for (std::size_t i = 0; i < m; ++i) {
      mean += series.value[i] / static_cast<double>(m);
      known += series.variance[i] / static_cast<double>(m);
    }
    for (const double y : series.value) square += (y - mean) * (y - mean) / static_cast<double>(m);
    added = std::max(square - known, 1e-6 * std::max(square, known));
    if (added == 0) added = 1;
  }
  std::vector<double> weight(m);
  for (std::size_t i = 0; i < m; ++i) weight[i] = (least + added) / (series.variance[i] + added);
  scale_to_one(weight);
  return weight;
}

}  // namespace

Samples samples_of(const Series& series) {
  Samples samples;
  const std::size_t m = series.value.size();
  samples.time.reserve(m);
  for (Index i = 0; i < series.size(); ++i) {
    const Index times = series.has_ties() ? series.group[at(i) + 1] - series.group[at(i)] : 1;
    const double time = series.units.time_unit * (series.time[at(i)] - series.time.front());
    samples.time.insert(samples.time.end(), at(times), time);
  }
  samples.value.reserve(m);
  for (const double y : series.value) samples.value.push_back(series.units.value_unit * y);
  samples.weight = weights_of(series);
  samples.span = samples.time.back();
  if (series.size() > 1) {
    std::vector<double> spacing(series.time.size() - 1);
    for (std::size_t i = 0; i < spacing.size(); ++i) spacing[i] = series.time[i + 1] - series.time[i];
    const auto middle = spacing.begin() + static_cast<std::ptrdiff_t>(spacing.size() / 2);
    std::nth_element(spacing.begin(), middle, spacing.end());
    samples.spacing = series.units.time_unit * *middle;
  }
  return samples;
}

BaselineColumns::BaselineColumns(const Samples& samples, Baseline baseline) {
  for (std::size_t i = 0; i < samples.time.size(); ++i) centre_ += samples.weight[i] * samples.time[i];
  if (baseline == Baseline::constant) return;
  double square = 0;
  for (std::size_t i = 0; i < samples.time.size(); ++i) {
    const double t = samples.time[i] - centre_;
    square += samples.weight[i] * t * t;
  }
  if (square > 0) inverse_deviation_ = 1 / std::sqrt(square);
}

std::vector<double> BaselineColumns::remove_from(const Samples& samples,
                                                 std::span<const double> value) const {
  std::vector<double> rest(value.begin(), value.end());
  for (int pass = 0; pass < 2; ++pass) {  // the second takes what rounding left
    double level = 0;
    for (std::size_t i = 0; i < rest.size(); ++i) level += samples.weight[i] * rest[i];
    double slope = 0;
    for (std::size_t i = 0; i < rest.size(); ++i) {
      rest[i] -= level;
      slope += samples.weight[i] * rest[i] * slope_at(samples.time[i]);
    }
    for (std::size_t i = 0; i < rest.size(); ++i) rest[i] -= slope * slope_at(samples.time[i]);
  }
  return rest;
}

double gain(const Gram& gram, double c, double s) {
  constexpr double kLeastRatio = 1e-6;  // of the eigenvalues: below it the two functions are one
  const double trace = gram.cc + gram.ss;
  if (!(trace > 1e-9)) return 0;  // the baseline takes both
  const double det = gram.cc * gram.ss - gram.cs * gram.cs;
  if (det > kLeastRatio * 0.25 * trace * trace)
    return std::max(0.0, (c * c * gram.ss - 2 * c * s * gram.cs + s * s * gram.cc) / det);
  const double largest = 0.5 * (trace + std::sqrt(std::max(0.0, trace * trace - 4 * det)));
  // The eigenvector of the largest eigenvalue, from the longer row of G − (trace − largest) I.
  const double other = trace - largest;
  double u = gram.cc - other, v = gram.cs;
  if (gram.ss - other > u) u = gram.cs, v = gram.ss - other;
  const double projected = c * u + s * v;
  return projected * projected / ((u * u + v * v) * largest);
}

Periodogram::Periodogram(const Samples& samples, const BaselineColumns& baseline, const FrequencyGrid& grid)
    : samples_(samples), grid_(grid), transform_(grid.last()) {
  assert(samples.span * grid.step < 1);
  place_.reserve(samples.time.size());
  for (const double t : samples.time) place_.push_back(t * grid.step);
  std::vector<std::complex<double>> weights = NonuniformFft(2 * grid.last())(place_, samples.weight);
  gram_.resize(at(grid.count));
  for (Index i = 0; i < grid.count; ++i) {
    const std::complex<double> one = weights[at(grid.first + i)], two = weights[at(2 * (grid.first + i))];
    // e^{−iωt} = cos − i sin, and the products of two are sums over twice the frequency.
    const double c = one.real(), s = -one.imag();
    gram_[at(i)] = {0.5 * (1 + two.real()) - c * c, -0.5 * two.imag() - c * s,
                    0.5 * (1 - two.real()) - s * s};
  }
  window_.reserve(weights.size());
  for (const std::complex<double>& w : weights) window_.push_back(std::norm(w));
  if (!baseline.has_slope()) return;
  std::vector<double> slope(samples.time.size());
  for (std::size_t i = 0; i < slope.size(); ++i)
    slope[i] = samples.weight[i] * baseline.slope_at(samples.time[i]);
  weights = transform_(place_, slope);
  for (Index i = 0; i < grid.count; ++i) {
    const double c = weights[at(grid.first + i)].real(), s = -weights[at(grid.first + i)].imag();
    Gram& gram = gram_[at(i)];
    gram = {gram.cc - c * c, gram.cs - c * s, gram.ss - s * s};
  }
}

std::vector<double> Periodogram::gains(std::span<const double> residual) {
  std::vector<double> weighted(residual.size());
  for (std::size_t i = 0; i < weighted.size(); ++i) weighted[i] = samples_.weight[i] * residual[i];
  const std::vector<std::complex<double>> sums = transform_(place_, weighted);
  std::vector<double> result(at(grid_.count));
  for (Index i = 0; i < grid_.count; ++i) {
    const std::complex<double>& sum = sums[at(grid_.first + i)];
    result[at(i)] = gain(gram_[at(i)], sum.real(), -sum.imag());
  }
  return result;
}

}  // namespace bandgp
