// SPDX-License-Identifier: Apache-2.0
// Which entries to keep so that the row sums of the rest stay below a target: the smallest reach or index
// band. [math.md §5]
#pragma once
#include "bandgp/band/envelope.hpp"
#include "bandgp/bandwidth/row_sums.hpp"

namespace bandgp {

struct Choice {
  double reach = 0;     // the distance cut, when that was asked for
  Index bandwidth = 0;  // widest row
  UpperBound row_sum;   // of what is left out; ≤ target
};

/// Smallest reach (to 0.5 %) with every row sum at most `target`; `envelope` is set to it.
Choice choose_reach(const Kernel& kernel, const WeightedPoints& points, const TailBound& tail, double target,
                    Envelope& envelope);

/// Smallest k with every row sum below `target`; `envelope` is set to it.  `scratch` is memory to be used
/// again.
Choice choose_band(const Kernel& kernel, const WeightedPoints& points, const TailBound& tail, double target,
                   Envelope& envelope, std::vector<double>& scratch);
inline Choice choose_band(const Kernel& kernel, const WeightedPoints& points, double target,
                          Envelope& envelope) {
  std::vector<double> scratch;
  return choose_band(kernel, points, TailBound(kernel, points), target, envelope, scratch);
}

/// The row sums of a given envelope; infinite when they exceed 1, where no certificate exists.
UpperBound certify(const Kernel& kernel, const WeightedPoints& points, const TailBound& tail,
                   const Envelope& envelope, double negligible);

/// The ρ that keeps ½[ρq/(1−ρ) − n log(1−ρ)] within `nats`: with x = 2·nats/(q+n) it is x/(1+x).
double rho_for_tolerance(double nats, double q, Index n);

}  // namespace bandgp
