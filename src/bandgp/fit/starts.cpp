// SPDX-License-Identifier: Apache-2.0
#include "bandgp/fit/starts.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "bandgp/gp/elements_representation.hpp"
#include "bandgp/gp/markov_representation.hpp"

namespace bandgp {

DataScale data_scale(const Series& series, Mean mean) {
  DataScale scale;
  if (series.size() > 1) {
    std::vector<double> gaps(series.time.size() - 1);
    for (std::size_t i = 0; i < gaps.size(); ++i) gaps[i] = series.time[i + 1] - series.time[i];
    const auto middle = gaps.begin() + static_cast<std::ptrdiff_t>(gaps.size() / 2);
    std::nth_element(gaps.begin(), middle, gaps.end());
    scale.gap = *middle;
    const auto near = gaps.begin() + static_cast<std::ptrdiff_t>(gaps.size() / 20);
    std::nth_element(gaps.begin(), near, gaps.end());
    scale.near_gap = *near;
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

double longest_start(const Kernel& kernel, const Term& term, const InternalCut& cut, const DataScale& scale) {
  // Some 450 neighbours for most shapes, and every candidate costs a dozen evaluations.  Training itself may
  // go farther.
  constexpr double kLongestInBand = 60;
  const bool automatic = cut.method == Method::automatic || cut.method == Method::dual;
  Kernel others = kernel;  // strictly periodic terms are columns beside whatever holds these
  std::erase_if(others.terms, is_strictly_periodic);
  const bool has_other_form = has_basis(term) || has_elements(others) || is_markov(others);
  const bool in_band = cut.method == Method::band ||
                       (automatic && (cut.rule != CutRule::tolerance || cut.index_band || !has_other_form));
  return in_band ? std::min(scale.span, kLongestInBand * scale.mean_gap) : scale.span;
}

namespace {

/// A term of the form of another, with this variance and a memory of about `memory`: the length-scale, or the
/// quality of an oscillator.  The period is that of the form, and the smoothness starts at 1.
Term started(const Term& form, double variance, double memory) {
  Term term = form;
  for (const Parameter& own : form.parameters()) {
    if (own.member == &Term::variance) term.variance = variance;
    if (own.member == &Term::lengthscale) term.lengthscale = memory;
    if (own.member == &Term::smoothness) term.smoothness = 1;
    if (own.member == &Term::quality) term.quality = std::max(0.7, std::numbers::pi * memory / form.period);
  }
  return term;
}

/// The time over which a term forgets itself; of one that never does, its period.
double memory_of(const Term& term) {
  const double time = memory(term);
  return std::isfinite(time) ? time : term.period;
}

}  // namespace

InternalModel paper_start(const Kernel& kernel, Mean mean, const DataScale& scale) {
  InternalModel model{kernel, 0.5 * scale.variance, mean};
  double lengthscale = 1.5 * scale.gap;
  for (Term& term : model.kernel.terms) {
    term = started(term, 0.5 * scale.variance / static_cast<double>(kernel.terms.size()), lengthscale);
    lengthscale *= 5;  // equal terms would stay equal
  }
  return model;
}

std::vector<double> grid_lengthscales(const DataScale& scale, double longest) {
  constexpr double kFirst = 0.8, kFactor = 2, kMost = 16;
  const double first = kFirst * scale.gap;
  // Where points come in clusters the span has many spacings: no more length-scales, but farther apart.
  const double factor = std::max(kFactor, std::pow(std::max(1.0, longest / first), 1 / kMost));
  std::vector<double> lengthscales;
  for (double lengthscale = first; lengthscale <= std::max(first, longest); lengthscale *= factor)
    lengthscales.push_back(lengthscale);
  return lengthscales;
}

InternalModel one_term_start(const Kernel& kernel, Mean mean, const DataScale& scale, double lengthscale,
                             double noise_ratio) {
  const double variance = scale.variance / (1 + noise_ratio);
  InternalModel model{kernel, noise_ratio * variance, mean};
  model.kernel.terms[0] = started(kernel.terms[0], variance, lengthscale);
  return model;
}

std::vector<std::vector<InternalModel>> split_starts(const InternalModel& smaller, const Kernel& kernel,
                                                     std::size_t added, const DataScale& scale,
                                                     double longest_allowed) {
  double shortest = scale.span, longest = 0;
  bool same_shape = false;
  for (const Term& term : smaller.kernel.terms) {
    if (has_vanished(term, scale)) continue;
    shortest = std::min(shortest, memory_of(term));
    longest = std::max(longest, memory_of(term));
    same_shape = same_shape || term.same_form(kernel.terms[added]);
  }
  const double variance = smaller.kernel.variance();
  std::vector<std::vector<InternalModel>> starts;
  const auto add = [&](double lengthscale, double term_variance, double keep, double noise) {
    InternalModel model = smaller;
    for (Term& term : model.kernel.terms) term.variance *= keep;
    const auto at = model.kernel.terms.begin() + static_cast<std::ptrdiff_t>(added);
    model.kernel.terms.insert(at, started(kernel.terms[added], term_variance, lengthscale));
    model.noise = noise;
    starts.back().push_back(model);
  };
  // Faster than what is there: takes from the noise.  Where gaps differ, the shortest ones tell a term that
  // is faster than most of them from noise.
  std::vector<double> faster;
  for (const double factor : {0.5, 0.25, 0.1, 0.03}) {
    if (factor * shortest >= 0.5 * scale.gap) faster.push_back(factor * shortest);
  }
  const double fastest = faster.empty() ? shortest : faster.back();
  if (scale.near_gap < 0.7 * scale.gap && fastest > 1.5 * scale.near_gap) faster.push_back(scale.near_gap);
  if (fastest > 3 * scale.gap) faster.push_back(scale.gap);  // what looks like noise may last a gap or so
  for (const double lengthscale : faster) {
    starts.emplace_back();
    add(lengthscale, 0.5 * smaller.noise, 1, 0.5 * smaller.noise);
    if (lengthscale <= scale.gap) add(lengthscale, smaller.noise, 1, 0.01 * smaller.noise);
    add(lengthscale, 0.1 * variance, 0.9, 0.5 * smaller.noise);
    add(lengthscale, 0.01 * variance, 1, 0.1 * smaller.noise);
    if (!same_shape)
      add(lengthscale, 0.2 * variance, 0.8, 1e-3 * smaller.noise);  // a rougher term is all noise
  }
  if (smaller.noise < 1e-5 * variance) {  // there is room between noise and variance: a ripple on the curve
    starts.emplace_back();
    for (const double factor : {0.7, 0.4})
      add(factor * shortest, std::sqrt(smaller.noise * variance), 1, smaller.noise);
  }
  if (!same_shape) {  // as fast, and of another smoothness
    starts.emplace_back();
    add(shortest, 0.5 * variance, 0.5, smaller.noise);
    add(shortest, 0.1 * variance, 0.9, 0.1 * smaller.noise);
  }
  for (const double factor : {2.0, 4.0, 10.0, 30.0}) {  // slower: takes from the variance
    const double lengthscale = factor * longest;
    if (factor > 2 && lengthscale > std::min(scale.span / 2, longest_allowed)) break;
    starts.emplace_back();
    add(lengthscale, 0.5 * variance, 0.5, smaller.noise);
    add(lengthscale, variance, 0.03, 0.3 * smaller.noise);
  }
  const double slowest = std::min(scale.span, longest_allowed);
  if (slowest > 2 * longest) {  // a drift beside what is there
    starts.emplace_back();
    add(slowest, variance, 1, smaller.noise);
  }
  return starts;
}

InternalModel with_vanishing_term(const InternalModel& smaller, const Kernel& kernel, std::size_t added,
                                  const DataScale& scale) {
  InternalModel model = smaller;
  const auto at = model.kernel.terms.begin() + static_cast<std::ptrdiff_t>(added);
  const double variance = kVanishingVariance * (scale.variance > 0 ? scale.variance : 1);
  model.kernel.terms.insert(at,
                            started(kernel.terms[added], variance, memory_of(smaller.kernel.terms.front())));
  return model;
}

bool has_vanished(const Term& term, const DataScale& scale) {
  return term.variance <= kVanishedVariance * (scale.variance > 0 ? scale.variance : 1);
}

}  // namespace bandgp
