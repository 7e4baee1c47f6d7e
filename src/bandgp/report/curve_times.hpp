// SPDX-License-Identifier: Apache-2.0
// Where the curve is evaluated so that an eye sees it whole at any zoom, without evaluating it where nothing
// happens.
#pragma once
#include <span>
#include <vector>

#include "bandgp/kernel/kernel.hpp"

namespace bandgp {

/// Times (user's units, increasing) a twelfth of the shortest length-scale apart wherever data are near, a
/// little beyond both ends, and few through the middle of a long gap, where the curve has come to rest.
/// Kernels whose curves bend at data have the data's times among them.  The steps are wider when there would
/// be more than `kMostCurveTimes`, or on a long series more than four fifths of its points (rough: eleven
/// tenths).
constexpr std::size_t kMostCurveTimes = 400'000;
std::vector<double> curve_times(std::span<const double> data, const Kernel& kernel);

/// The same where the data's times are not known, only where they begin and end.
std::vector<double> curve_times(double first, double last, const Kernel& kernel);

}  // namespace bandgp
