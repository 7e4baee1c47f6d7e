// SPDX-License-Identifier: Apache-2.0
// A periodic correlation as a sum of cosines: exp(−2 sin²(πτ/P)/λ²) = Σ_k c_k cos(2πkτ/P).     [math.md §12]
#pragma once
#include <vector>

#include "bandgp/base/index.hpp"
#include "bandgp/base/upper_bound.hpp"

namespace bandgp {

/// The harmonics 0 … K that are kept, and a bound of what the others amount to.
struct Harmonics {
  std::vector<double> coefficient;  // c_k > 0
  std::vector<double> slope;        // ∂log c_k/∂log λ
  UpperBound rest;                  // ≥ Σ_{k>K} c_k
};

/// As few harmonics as leave no more than `most` of the sum, which is 1.  At least one is kept.
Harmonics harmonics(double smoothness, double most);
/// The first `count` of them.
Harmonics first_harmonics(double smoothness, std::size_t count);

}  // namespace bandgp
