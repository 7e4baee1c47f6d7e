// SPDX-License-Identifier: Apache-2.0
#include "bandgp/fit/spectrum.hpp"

#include <algorithm>
#include <cmath>

namespace bandgp {
namespace {

/// What a chart shows of a periodogram: peaks by name, and stretches of periods.
constexpr std::size_t kPeaks = 8, kPeaksOfMany = 3, kStretches = 600;
constexpr Index kMany = 200'000;  // observations, beyond which every peak takes a second

Spectrum drawn(const Samples& samples) {
  Periods found = find_periods(samples, {.most_peaks = samples.size() > kMany ? kPeaksOfMany : kPeaks});
  Spectrum spectrum;
  if (found.power.empty()) return spectrum;
  const FrequencyGrid& grid = found.grid;
  const double shortest = 1 / grid.at(grid.count - 1), longest = 1 / grid.at(0);
  const double width = std::log(longest / shortest) / static_cast<double>(kStretches);
  Index stretch = -1;
  for (Index i = grid.count; i-- > 0;) {
    const auto k = static_cast<std::size_t>(i);
    const double period = 1 / grid.at(i);
    const Index own = width > 0 ? static_cast<Index>(std::log(period / shortest) / width) : 0;
    if (own != stretch) {
      spectrum.period.push_back(period);
      spectrum.power.push_back(found.power[k]);
      spectrum.noise.push_back(found.level[k]);
      stretch = own;
    } else if (found.power[k] > spectrum.power.back()) {
      spectrum.period.back() = period;
      spectrum.power.back() = found.power[k];
    }
  }
  spectrum.peaks = std::move(found.peaks);
  return spectrum;
}

}  // namespace

Spectrum spectrum_of(const Series& series) { return drawn(samples_of(series)); }

Spectrum spectrum_of_residuals(const Series& series, std::span<const double> standardised) {
  Samples samples = samples_of(series);
  if (standardised.size() != samples.value.size() ||
      !std::ranges::all_of(standardised, [](double z) { return std::isfinite(z); }))
    return {};
  samples.value.assign(standardised.begin(), standardised.end());
  // What is known of the errors is in the residuals already.
  std::ranges::fill(samples.weight, 1 / static_cast<double>(samples.value.size()));
  return drawn(samples);
}

}  // namespace bandgp
