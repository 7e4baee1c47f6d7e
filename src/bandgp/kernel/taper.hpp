// SPDX-License-Identifier: Apache-2.0
// Covariance tapers in one dimension: Wendland's functions, positive definite on the line, 0 from the range
// on. A covariance times a taper is a covariance with a band for a matrix. [Furrer, Genton & Nychka 2006]
#pragma once
#include <algorithm>
#include <cmath>

#include "bandgp/base/index.hpp"

namespace bandgp {

struct Taper {
  enum class Smoothness { c0, c2, c4 };
  double range = 0;  // 0: none
  Smoothness smoothness = Smoothness::c2;

  double operator()(double lag) const {
    const double r = std::abs(lag) / range, s = std::max(0.0, 1 - r);
    switch (smoothness) {
      case Smoothness::c0:
        return s;
      case Smoothness::c2:
        return s * s * s * (3 * r + 1);
      case Smoothness::c4:
        break;
    }
    return s * s * s * s * s * ((8 * r + 5) * r + 1);
  }
  /// tile[8c + r] *← T(rows[r] − columns[c]), c < count.
  void apply(const double* rows, const double* columns, Index count, double* tile) const {
    for (Index c = 0; c < count; ++c) {
      for (Index r = 0; r < 8; ++r) tile[8 * c + r] *= (*this)(rows[r] - columns[c]);
    }
  }
};

}  // namespace bandgp
