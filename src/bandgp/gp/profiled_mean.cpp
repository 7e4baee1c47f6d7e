// SPDX-License-Identifier: Apache-2.0
#include "bandgp/gp/profiled_mean.hpp"

#include <cmath>

#include "bandgp/base/dot.hpp"

namespace bandgp {

ProfiledMean profile_mean(RightHandSides reduced) {
  const auto gram = [&](Index a, Index b) {
    return dot(reduced.data + a * reduced.stride, reduced.data + b * reduced.stride, reduced.stride);
  };
  ProfiledMean mean;
  mean.count = reduced.columns - 1;
  auto& covariance = mean.covariance;
  if (mean.count == 1) {
    covariance[0] = 1 / gram(1, 1);
    mean.beta[0] = covariance[0] * gram(1, 0);
    mean.largest_variance = covariance[0];
  } else if (mean.count == 2) {
    const double a = gram(1, 1), b = gram(1, 2), d = gram(2, 2), determinant = a * d - b * b;
    covariance = {d / determinant, -b / determinant, -b / determinant, a / determinant};
    const double u = gram(1, 0), v = gram(2, 0);
    mean.beta = {covariance[0] * u + covariance[1] * v, covariance[2] * u + covariance[3] * v};
    // Convex in x, so largest at an end of the span, where the basis is (1, ±1).
    mean.largest_variance = covariance[0] + covariance[3] + 2 * std::abs(covariance[1]);
  }
  return mean;
}

}  // namespace bandgp
