// SPDX-License-Identifier: Apache-2.0
// Where a series has no points: how regular its times are, and which spacings stand out.
#pragma once
#include "bandgp/series/series.hpp"

namespace bandgp {

/// In the user's units.  A gap is a spacing longer than `limit`: 1.5 times the median where nine spacings in
/// ten are the median to 20 % (a missing sample is a gap then), 5 times the median in irregular series.
struct Gaps {
  bool regular = true;
  double usual = 0, limit = 0;  // median spacing; 0 with fewer than three times
  Index count = 0;
  double largest = 0, largest_from = 0;  // the longest gap and the time it begins; 0 without gaps
};

Gaps find_gaps(const Series& series);

}  // namespace bandgp
