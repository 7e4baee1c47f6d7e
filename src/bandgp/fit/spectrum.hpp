// SPDX-License-Identifier: Apache-2.0
// The periodograms of a fit, as they are drawn.                                               [math.md §13]
#pragma once
#include <span>
#include <vector>

#include "bandgp/period/periods.hpp"

namespace bandgp {

/// The highest power of every stretch of periods, the stretches equally long on a logarithmic scale.
struct Spectrum {
  std::vector<double> period, power, noise;  // ascending periods (user's units); shares of the variance
  std::vector<Peak> peaks;
};

/// Of the observations; beside a trend.  Empty where there are too few.
Spectrum spectrum_of(const Series& series);
/// Of leave-one-out residuals in standard deviations, one for each observation: the periods that a model
/// leaves.
Spectrum spectrum_of_residuals(const Series& series, std::span<const double> standardised);

}  // namespace bandgp
