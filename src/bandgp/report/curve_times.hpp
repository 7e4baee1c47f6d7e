// SPDX-License-Identifier: Apache-2.0
// Where the curve is evaluated so that an eye sees it whole at any zoom, without evaluating it where nothing
// happens.
#pragma once
#include <span>
#include <vector>

#include "bandgp/kernel/kernel.hpp"

namespace bandgp {

/// Times (user's units, increasing) at most a twelfth of the shortest length-scale apart near data, and a
/// little beyond both ends.  Data closer together than half of that are passed over where the kernel is
/// smooth. Few points follow a long gap's middle, where the curve has come to rest.  When that takes more
/// than `kMostCurveTimes` (a million on a series longer than that), the steps are wider; when it takes more
/// than four fifths of the points of a long series, its own times are taken.
constexpr std::size_t kMostCurveTimes = 400'000;
std::vector<double> curve_times(std::span<const double> data, const Kernel& kernel);

/// The same where the data's times are not known, only where they begin and end.
std::vector<double> curve_times(double first, double last, const Kernel& kernel);

}  // namespace bandgp
