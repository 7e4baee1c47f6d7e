// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cmath>
#include <numbers>

#include "bandgp/base/index.hpp"

namespace bandgp {

/// Σ log x for positive x, by products: the mantissa is brought back to [½, 1) before it can leave the range
/// of a double, so that there is one logarithm and not n.
inline double sum_of_logs(const double* x, Index n) {
  double mantissa = 1;
  Index exponent = 0;
  for (Index i = 0; i < n; ++i) {
    mantissa *= x[i];  // |log₁₀ x| up to 150
    if (mantissa > 1e150 || mantissa < 1e-150) {
      int e = 0;
      mantissa = std::frexp(mantissa, &e);
      exponent += e;
    }
  }
  return std::log(mantissa) + static_cast<double>(exponent) * std::numbers::ln2;
}

}  // namespace bandgp
