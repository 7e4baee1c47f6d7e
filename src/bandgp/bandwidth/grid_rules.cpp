// SPDX-License-Identifier: Apache-2.0
#include "bandgp/bandwidth/grid_rules.hpp"

#include <algorithm>

namespace bandgp {

// With F(m) = Σ_{h=k+1}^m k(hδ), row i leaves out F(i) + F(n−1−i).  F is 0 up to k and concave from there on,
// so the largest such sum is at an end, F(n−1), or in the middle.  Lags are added from the far end until a
// sum is too large.
Index grid_bandwidth(const Kernel& kernel, double gap, Index n, double limit) {
  const auto at = [&](Index h) { return kernel(static_cast<double>(h) * gap); };
  // From lag `far` on all n lags together are 1e-9 of the limit at most: they enter as that.
  const double negligible = 1e-9 * limit;
  Index near = 0, far = n;
  while (far - near > 1) {
    const Index middle = near + (far - near) / 2;
    (static_cast<double>(n) * at(middle) <= negligible ? far : near) = middle;
  }
  const Index shorter = (n - 1) / 2, longer = n - 1 - shorter;
  double end_row = negligible, middle_row = negligible;
  for (Index h = far - 1; h > 0; --h) {
    const double value = at(h);
    end_row += value;
    if (h <= longer) middle_row += value;
    if (h <= shorter) middle_row += value;
    const double largest = std::max(end_row, middle_row) * (1 + 1e-9);  // more than the sums' rounding
    if (largest >= limit) return h;
  }
  return 0;
}

}  // namespace bandgp
