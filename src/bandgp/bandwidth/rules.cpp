// SPDX-License-Identifier: Apache-2.0
#include "bandgp/bandwidth/rules.hpp"

#include <algorithm>
#include <cmath>

namespace bandgp {
namespace {

/// ⌈√radicand⌉ clipped to n − 1 before the cast: δ → 0 overflows every integer.
Index ceil_root(double radicand, Index n) {
  if (!(radicand > 0)) return 0;
  const double k = std::ceil(std::sqrt(radicand));
  const auto most = static_cast<double>(std::max<Index>(0, n - 1));
  return k >= most ? static_cast<Index>(most) : static_cast<Index>(k);
}

template <class Rule>
std::optional<Index> for_single_se(const Kernel& kernel, Rule rule) {
  if (!kernel.is_single_se()) return std::nullopt;
  return rule(kernel.terms[0].variance, kernel.terms[0].lengthscale);
}

}  // namespace

Index corollary_bandwidth(double variance, double lengthscale, double noise, double gap, Index n) {
  const double ratio = (lengthscale / gap) * (lengthscale / gap);
  const double argument = 2 * variance * ratio / (3 * noise);
  if (!(argument > 1)) return std::clamp<Index>(n - 1, 0, 2);
  return ceil_root(1.5 + 2 * ratio * std::log(argument), n);
}

Index theorem_bandwidth(double variance, double lengthscale, double noise, double gap, Index n) {
  const double ratio = (lengthscale / gap) * (lengthscale / gap);
  return ceil_root(3 + 2 * ratio * std::log(4 * variance * ratio / (3 * noise)), n);
}

std::optional<Index> corollary_bandwidth(const Kernel& kernel, double noise, double gap, Index n) {
  return for_single_se(kernel, [&](double v, double l) { return corollary_bandwidth(v, l, noise, gap, n); });
}

std::optional<Index> theorem_bandwidth(const Kernel& kernel, double noise, double gap, Index n) {
  return for_single_se(kernel, [&](double v, double l) { return theorem_bandwidth(v, l, noise, gap, n); });
}

}  // namespace bandgp
