// SPDX-License-Identifier: Apache-2.0
#include "bandgp/fit/differences.hpp"

#include <algorithm>
#include <cmath>

namespace bandgp {

bool gradient_is_doubtful(const Likelihood& likelihood) {
  if (likelihood.method == "dual" || likelihood.method == "elements") return likelihood.condition > 6e7;
  return likelihood.method == "band" && likelihood.condition > 5e6;
}

bool difference(const std::function<double(std::span<const double>)>& loss, std::span<const double> x,
                double value, const std::function<bool()>& cancelled, Differences& differences) {
  // Both sides of x lie 0.05 nats above it, where the loss is quadratic: many times its rounding, and little
  // enough for the third derivative not to matter.
  constexpr double kRise = 0.1, kShortest = 1e-5, kLongest = 0.03, kTooShort = 1.0 / 3;
  const std::size_t p = x.size();
  if (differences.step.empty()) differences.step.assign(p, 3e-3);
  differences.gradient.assign(p, 0.0);
  differences.curvature.assign(p, 0.0);
  differences.measured.assign(p, 0.0);
  std::vector<double> moved(x.begin(), x.end());
  for (std::size_t i = 0; i < p; ++i) {
    bool shortened = false;
    for (int attempt = 0;; ++attempt) {
      const double h = differences.step[i];
      double sides[2];
      for (const int side : {0, 1}) {
        if (cancelled && cancelled()) return false;
        moved[i] = side == 0 ? x[i] - h : x[i] + h;
        sides[side] = loss(moved);
      }
      moved[i] = x[i];
      if (!std::isfinite(sides[0] + sides[1])) {
        if (attempt == 4) return false;
        shortened = true;
        differences.step[i] = std::max(kShortest, 0.2 * h);
        continue;
      }
      const double rise = sides[0] + sides[1] - 2 * value;
      differences.gradient[i] = (sides[1] - sides[0]) / (2 * h);
      differences.curvature[i] = rise / (h * h);
      differences.measured[i] = h;
      const double better = h * std::sqrt(kRise / std::max(std::abs(rise), 1e-3 * kRise));
      differences.step[i] = std::clamp(better, kShortest, kLongest);
      // Both sides of a step that is too short differ from x by little more than rounding, and the curvature
      // may then have either sign.
      const bool too_long = std::abs(rise) > differences.largest_rise && h > kShortest;
      const bool too_short = !shortened && h < kTooShort * differences.step[i];
      if (!(too_long || too_short) || attempt == 4) break;
      shortened = shortened || too_long;
    }
  }
  return true;
}

}  // namespace bandgp
