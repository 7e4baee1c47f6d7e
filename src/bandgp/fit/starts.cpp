// SPDX-License-Identifier: Apache-2.0
#include "bandgp/fit/starts.hpp"

#include <algorithm>
#include <cmath>

namespace bandgp {

/// Length-scale, in gaps, up to which a slower term that only a band can hold is looked for: some 450
/// neighbours for most shapes, and every candidate costs a dozen evaluations.  Training itself may go
/// farther.
constexpr double kLongestInBand = 60;

DataScale data_scale(const Series& series, Mean mean) {
  DataScale scale;
  if (series.size() > 1) {
    std::vector<double> gaps(series.time.size() - 1);
    for (std::size_t i = 0; i < gaps.size(); ++i) gaps[i] = series.time[i + 1] - series.time[i];
    const auto middle = gaps.begin() + static_cast<std::ptrdiff_t>(gaps.size() / 2);
    std::nth_element(gaps.begin(), middle, gaps.end());
    scale.gap = *middle;
    scale.span = series.time.back() - series.time.front();
    scale.mean_gap = scale.span / static_cast<double>(gaps.size());
  }
  double center = 0, square = 0;
  const auto m = static_cast<double>(series.value.size());
  if (mean != Mean::zero) {
    for (const double y : series.value) center += y / m;
  }
  for (const double y : series.value) square += (y - center) * (y - center) / m;
  scale.variance = square;
  return scale;
}

Model paper_start(const Kernel& kernel, Mean mean, const DataScale& scale) {
  Model model{kernel, 0.5 * scale.variance, mean};
  double lengthscale = 1.5 * scale.gap;
  for (Term& term : model.kernel.terms) {
    term.variance = 0.5 * scale.variance / static_cast<double>(kernel.terms.size());
    term.lengthscale = lengthscale;
    lengthscale *= 5;  // equal terms would stay equal
  }
  return model;
}

std::vector<Model> grid_starts(const Kernel& kernel, Mean mean, const DataScale& scale) {
  std::vector<Model> starts;
  std::vector<double> lengthscales;
  for (const double gap : {scale.gap, scale.mean_gap}) {
    if (gap == scale.mean_gap && gap < 4 * scale.gap) break;  // no clusters
    for (const double gaps : {1.0, 3.0, 8.0, 20.0, 50.0}) {
      if (gaps == 1 || gaps * gap <= scale.span / 3) lengthscales.push_back(gaps * gap);
    }
  }
  for (const double lengthscale : lengthscales) {
    for (const double share : {0.5, 0.1, 0.01, 1e-4}) {
      Model model{kernel, share * scale.variance, mean};
      model.kernel.terms[0].variance = (1 - share) * scale.variance;
      model.kernel.terms[0].lengthscale = lengthscale;
      starts.push_back(model);
    }
  }
  return starts;
}

std::vector<Model> split_starts(const Model& smaller, const Kernel& kernel, std::size_t added,
                                const DataScale& scale) {
  double shortest = scale.span, longest = 0;
  for (const Term& term : smaller.kernel.terms) {
    shortest = std::min(shortest, term.lengthscale);
    longest = std::max(longest, term.lengthscale);
  }
  const double variance = smaller.kernel.variance();
  std::vector<Model> starts;
  const auto add = [&](double lengthscale, double term_variance, double keep, double noise) {
    Model model = smaller;
    for (Term& term : model.kernel.terms) term.variance *= keep;
    const auto at = model.kernel.terms.begin() + static_cast<std::ptrdiff_t>(added);
    model.kernel.terms.insert(at, Term{kernel.terms[added].shape, term_variance, lengthscale});
    model.noise = noise;
    starts.push_back(model);
  };
  for (const double factor : {0.5, 0.25, 0.1, 0.03}) {  // faster than what is there: takes from the noise
    const double lengthscale = factor * shortest;
    if (lengthscale < 0.5 * scale.gap) continue;
    add(lengthscale, 0.5 * smaller.noise, 1, 0.5 * smaller.noise);
    add(lengthscale, 0.1 * variance, 0.9, 0.5 * smaller.noise);
  }
  for (const double factor : {2.0, 4.0, 10.0, 30.0}) {  // slower: takes from the variance
    const double lengthscale = factor * longest;
    const bool in_band = !has_basis(kernel.terms[added]);
    if (factor > 2 &&
        lengthscale > std::min(scale.span / 2, in_band ? kLongestInBand * scale.gap : scale.span))
      break;
    add(lengthscale, 0.5 * variance, 0.5, smaller.noise);
    add(lengthscale, variance, 0.03, 0.3 * smaller.noise);
  }
  return starts;
}

}  // namespace bandgp
