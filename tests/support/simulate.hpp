// SPDX-License-Identifier: Apache-2.0
// Long simulated series in O(n): no matrix is factored.
#pragma once
#include <cmath>
#include <cstddef>
#include <numbers>
#include <vector>

#include "support/random.hpp"

namespace support {

/// n times with a mean gap of 1: all equal, or uniform between 0.1 and 1.9.
inline std::vector<double> gaps_of_one(Random& random, std::size_t n, bool regular) {
  std::vector<double> time;
  double t = 0;
  for (std::size_t i = 0; i < n; ++i) {
    time.push_back(t);
    t += regular ? 1 : random.uniform(0.1, 1.9);
  }
  return time;
}

/// An SE process at increasing times ≥ 0: white noise on a grid of step h = 0.4 ℓ, smoothed by
/// exp(−(x−u)²/ℓ²). Its covariance is variance·exp(−τ²/2ℓ²) to a relative 1e-13. [dual.md]
inline std::vector<double> draw_se(Random& random, const std::vector<double>& time, double variance,
                                   double lengthscale) {
  constexpr double kStep = 0.4;
  constexpr std::size_t kSide = 16;  // nodes on each side: 6.4 ℓ, where the smoothing has fallen to 1e-18
  const double h = kStep * lengthscale, scale = std::sqrt(variance * kStep * std::sqrt(2 / std::numbers::pi));
  const std::vector<double> nodes = random.normals(static_cast<std::size_t>(time.back() / h) + 2 * kSide +
                                                   1);  // node j is at (j − kSide) h
  std::vector<double> values;
  for (const double x : time) {
    const auto first = static_cast<std::size_t>(x / h);
    double sum = 0;
    for (std::size_t j = first; j <= first + 2 * kSide; ++j) {
      const double d = (x - (static_cast<double>(j) - kSide) * h) / lengthscale;
      sum += std::exp(-d * d) * nodes[j];
    }
    values.push_back(scale * sum);
  }
  return values;
}

inline void add_noise(Random& random, std::vector<double>& values, double variance) {
  for (double& y : values) y += std::sqrt(variance) * random.normal();
}

}  // namespace support
