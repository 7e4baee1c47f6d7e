// SPDX-License-Identifier: Apache-2.0
#include "bandgp/basis/local_polynomials.hpp"

#include <cmath>
#include <numbers>

namespace bandgp {

/// Rows of D^{−½}|Φ − WC| sum to at most w β s (1 + (√2π + 4a) ℓ/h), columns to β s W (2 + 2√2π + 8a) with
/// W over windows of ℓ/2, a = r/ℓ: a point up to 2r away from the node may share its chunk, so e^{−z²/2}
/// counts as 1 on a length of 4r and is Gaussian beside it.
UpperBound polynomial_error(const GridDesign& design, const GridDemand& demand, Index columns, double half) {
  const auto of = [](double x) { return UpperBound::of(x, 16); };
  const double a = half / demand.lengthscale, root_two_pi = std::sqrt(2 * std::numbers::pi);
  // √q! as a product: std::lgamma may write a global variable, and evaluations run on several threads.
  double power_over_root = 1;
  for (Index k = 1; k <= columns; ++k)
    power_over_root *= a / std::numbers::sqrt2 / std::sqrt(static_cast<double>(k));
  const UpperBound beta = UpperBound::of(2.173 * power_over_root, 64 + 32 * static_cast<double>(columns));
  const UpperBound nodes = of(1 + (root_two_pi + 4 * a) / std::sqrt(design.g));
  const UpperBound points = of(2 + 2 * root_two_pi + 8 * a) * demand.heaviest;
  return beta * of(design.amplitude) * sqrt(of(demand.largest_weight) * nodes * points);
}

}  // namespace bandgp
