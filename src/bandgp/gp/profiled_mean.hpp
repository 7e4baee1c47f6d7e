// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>

#include "bandgp/band/solve.hpp"
#include "bandgp/base/index.hpp"

namespace bandgp {

/// Mean coefficients β = (HᵀA⁻¹H)⁻¹HᵀA⁻¹y, from the Gram matrix of (y, H) in A⁻¹.
struct ProfiledMean {
  Index count = 0;  // columns of H
  std::array<double, 2> beta{};
  std::array<double, 4> covariance{};  // (HᵀA⁻¹H)⁻¹, row-major 2×2
  double largest_variance = 0;         // max of hᵀ(HᵀA⁻¹H)⁻¹h over the span
};

/// From the reduced columns of y and H (representation.hpp); the columns of a linear mean are 1 and −1 … 1.
ProfiledMean profile_mean(RightHandSides reduced);

}  // namespace bandgp
