// SPDX-License-Identifier: Apache-2.0
// What rounding did to a factorisation, as residuals show it: estimates, not bounds.
#pragma once
#include <cmath>

#include "bandgp/band/solve.hpp"
#include "bandgp/base/normal_at.hpp"

namespace bandgp {

/// Random vectors that a trace is estimated with.
constexpr Index kProbes = 3;

/// About |log|A| − log|LLᵀ|| ≈ |tr(A(LLᵀ)⁻¹ − I)|: the root mean square of xᵀ(As − x), s = (LLᵀ)⁻¹x, over
/// vectors x of random signs, which is the trace or more.  `solve(x)` is x ← (LLᵀ)⁻¹x, `multiply(s, out)` is
/// out ← As for kProbes columns by a route of its own, so that rounding in A's entries shows as well; rows
/// from `size` to `padded` are padding.
template <class Solve, class Multiply>
double log_determinant_residual(Index size, Index padded, Solve&& solve, Multiply&& multiply) {
  AlignedBuffer solved, product;
  solved.reserve(kProbes * padded);
  product.reserve(kProbes * padded);
  const auto x = [&](Index c, Index i) { return sign_at(static_cast<std::uint64_t>(c), i); };
  for (Index c = 0; c < kProbes; ++c) {
    for (Index i = 0; i < padded; ++i) solved.data()[c * padded + i] = i < size ? x(c, i) : 0.0;
  }
  const RightHandSides s{solved.data(), kProbes, padded}, out{product.data(), kProbes, padded};
  solve(s);
  multiply(s, out);
  double squares = 0;
  for (Index c = 0; c < kProbes; ++c) {
    double sum = 0;
    for (Index i = 0; i < size; ++i) sum += x(c, i) * (product.data()[c * padded + i] - x(c, i));
    squares += sum * sum;
  }
  return std::sqrt(squares / static_cast<double>(kProbes));
}

template <class Multiply>
double log_determinant_residual(PanelBand& factor, Index size, Multiply&& multiply) {
  return log_determinant_residual(
      size, factor.envelope().padded_size(), [&](RightHandSides x) { solve(factor, x); }, multiply);
}

}  // namespace bandgp
