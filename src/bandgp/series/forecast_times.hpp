// SPDX-License-Identifier: Apache-2.0
// The times that come after a series: where a forecast is asked for.
#pragma once
#include <vector>

#include "bandgp/series/series.hpp"

namespace bandgp {

/// The median spacing of the distinct times (user's units, to twelve digits), the mean one of a series that
/// is known by its report alone, and 0 of a single time.
double typical_spacing(const Series& series);

/// Last time + step, + 2 step, … up to last time + horizon (user's units), at least one; on a calendar the
/// times are exact, not sums.  `step` 0 means typical_spacing().  Throws std::invalid_argument where one of
/// them is not positive and finite, where the horizon is shorter than a step, or holds more than 10⁸.
std::vector<double> times_after(const Series& series, double horizon, double step = 0);

}  // namespace bandgp
