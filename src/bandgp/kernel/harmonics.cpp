// SPDX-License-Identifier: Apache-2.0
#include "bandgp/kernel/harmonics.hpp"

#include <algorithm>
#include <cmath>

namespace bandgp {
namespace {

/// Σ_{k>K} c_k ≤ c_{K+1}/(1 − r): ratios of successive modified Bessel functions decrease, and r bounds the
/// first of them (Amos 1974).  c itself is good to 1e-13.
UpperBound rest_after(double z, double next, std::size_t kept) {
  const double m = static_cast<double>(kept) + 0.5, r = z / (m + std::sqrt(m * m + z * z));
  return UpperBound::of(next / (1 - r) * (1 + 1e-12), 16);
}

/// c₀ = e^{−z}I₀(z), c_k = 2e^{−z}I_k(z) with z = 1/λ².  The ratios I_{k+1}/I_k come from their continued
/// fraction, downwards, where errors die out; the scale from Σ c_k = 1.  Keeps them while goes_on(kept,
/// rest).
template <class GoesOn>
Harmonics kept_while(double smoothness, const GoesOn& goes_on) {
  const double z = 1 / (smoothness * smoothness);
  // Beyond this many I_k is below 1e-30 of the largest.
  const auto all = static_cast<std::size_t>(24 + 12 * std::sqrt(z) + std::min(2 * z, 40.0));
  std::vector<double> ratio(all + 1, 0.0), c(all + 1);
  for (std::size_t k = all; k-- > 0;) ratio[k] = 1 / (2 * static_cast<double>(k + 1) / z + ratio[k + 1]);
  c[0] = 1;
  for (std::size_t k = 0; k < all; ++k) c[k + 1] = (k == 0 ? 2 : 1) * c[k] * ratio[k];
  double sum = 0;
  for (std::size_t k = all + 1; k-- > 0;) sum += c[k];
  for (double& value : c) value /= sum;
  std::size_t kept = 1;
  while (kept < all && goes_on(kept, rest_after(z, c[kept], kept).value())) ++kept;
  Harmonics result;
  result.rest = rest_after(z, c[kept], kept);
  result.coefficient.assign(c.begin(), c.begin() + static_cast<std::ptrdiff_t>(kept));
  for (std::size_t k = 0; k < kept; ++k)
    result.slope.push_back(-2 * (z * ratio[k] + static_cast<double>(k) - z));
  return result;
}

}  // namespace

Harmonics harmonics(double smoothness, double most) {
  return kept_while(smoothness, [most](std::size_t, double rest) { return rest > most; });
}

Harmonics first_harmonics(double smoothness, std::size_t count) {
  return kept_while(smoothness, [count](std::size_t kept, double) { return kept < count; });
}

}  // namespace bandgp
