// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "bandgp/base/index.hpp"

namespace bandgp {

/// Σ aᵢbᵢ, n a multiple of 8.  Eight partial sums: short chains, and an error that grows with n/8.
inline double dot(const double* a, const double* b, Index n) {
  double sum[8] = {};
  for (Index i = 0; i < n; i += 8) {
    for (Index r = 0; r < 8; ++r) sum[r] += a[i + r] * b[i + r];
  }
  return ((sum[0] + sum[1]) + (sum[2] + sum[3])) + ((sum[4] + sum[5]) + (sum[6] + sum[7]));
}

}  // namespace bandgp
