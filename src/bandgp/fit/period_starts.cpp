// SPDX-License-Identifier: Apache-2.0
#include "bandgp/fit/period_starts.hpp"

#include <algorithm>
#include <cmath>

namespace bandgp {
namespace {

/// Candidates for one term: each is a start in many places.
constexpr std::size_t kMostCandidates = 4;

/// Whether a term has all multiples of its frequency, and not the one alone.
bool has_harmonics(const Term& term) { return term.has(&Term::smoothness); }

void append_new(std::vector<double>& frequencies, double frequency, double resolution) {
  const bool is_new = std::ranges::none_of(
      frequencies, [&](double other) { return std::abs(other - frequency) < resolution; });
  if (is_new) frequencies.push_back(frequency);
}

}  // namespace

PeriodStarts::PeriodStarts(const Series& series)
    : time_unit_(series.units.time_unit), samples_(samples_of(series)) {}

std::vector<double> PeriodStarts::candidates(const Kernel& others, const Term& term) const {
  constexpr int kHarmonics = 6;
  constexpr double kNear = 0.1;  // an oscillation that wanders has peaks this close to each other
  PeriodOptions options{.most_peaks = 6};
  std::vector<double> taken;
  for (const Term& other : others.terms) {
    if (!other.has(&Term::period)) continue;
    const double frequency = 1 / (other.period * time_unit_);
    taken.push_back(frequency);
    for (int k = 1; k <= (has_harmonics(other) ? kHarmonics : 1); ++k)
      options.without.push_back(k * frequency);
  }
  const double resolution = samples_.span > 0 ? 1 / samples_.span : 0;
  std::vector<double> frequencies, harmonics, near;
  const auto take = [&](const Periods& found) {
    for (const Peak& peak : found.peaks) {
      const bool is_near =
          std::ranges::any_of(taken, [&](double f) { return std::abs(peak.frequency - f) < kNear * f; });
      append_new(is_near ? near : peak.fundamental ? harmonics : frequencies, peak.frequency, resolution);
      for (const Alias& alias : peak.aliases) {
        if (!is_near && !peak.fundamental) append_new(frequencies, alias.frequency, resolution);
      }
    }
  };
  take(find_periods(samples_, options));
  if (frequencies.empty()) {
    // Nothing stands out: what does so most.
    options.false_alarm = 0.9999;
    Periods found = find_periods(samples_, options);
    std::ranges::stable_sort(found.peaks, {}, &Peak::log10_false_alarm);
    take(found);
  }
  // A pulse may have less power at its own frequency than at twice that.
  if (has_harmonics(term) && !frequencies.empty() && frequencies.front() > 4 * resolution)
    harmonics.insert(harmonics.begin(), 0.5 * frequencies.front());
  for (const std::vector<double>* list : {&harmonics, &near}) {
    for (const double frequency : *list) append_new(frequencies, frequency, resolution);
  }
  std::vector<double> periods;
  for (const double frequency : frequencies) periods.push_back(1 / (frequency * time_unit_));
  if (periods.empty()) periods.push_back(samples_.span > 0 ? 0.25 * samples_.span / time_unit_ : 1);
  if (periods.size() > kMostCandidates) periods.resize(kMostCandidates);
  return periods;
}

std::vector<double> PeriodStarts::beside(const Kernel& others, const Term& term) {
  std::vector<double> key = {has_harmonics(term) ? 1.0 : 0.0};
  for (const Term& other : others.terms) {
    if (!other.has(&Term::period)) continue;
    key.push_back(has_harmonics(other) ? 1 : 0);
    key.push_back(other.period);
  }
  const auto at = known_.find(key);
  if (at != known_.end()) return at->second;
  return known_[key] = candidates(others, term);
}

}  // namespace bandgp
