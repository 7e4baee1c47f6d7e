// SPDX-License-Identifier: Apache-2.0
// The paper's closed rules for one SE term: how many neighbours keep the cut matrix positive definite.
// [math.md §6] δ is the smallest gap; both are hopeless for irregular times (δ → 0 gives k → ∞), where row
// sums are not.
#pragma once
#include <optional>

#include "bandgp/base/index.hpp"
#include "bandgp/kernel/kernel.hpp"

namespace bandgp {

/// Corollary 3.3 as printed: ⌈√(3/2 + 2ℓ²/δ² log(2σ²ℓ²/(3σₙ²δ²)))⌉, or 2 where the log's argument is ≤ 1.
Index corollary_bandwidth(double variance, double lengthscale, double noise, double gap, Index n);
/// Theorem 3.2: smallest k with σ² exp(−(kδ)²/2ℓ²) ≤ (3σₙ²δ²/4ℓ²) exp(−3δ²/2ℓ²); 0 where the radicand is
/// negative.
Index theorem_bandwidth(double variance, double lengthscale, double noise, double gap, Index n);

/// The same for a kernel; none unless it is a single SE term.  `noise` is the smallest dᵢ.  Clipped to n − 1.
std::optional<Index> corollary_bandwidth(const Kernel& kernel, double noise, double gap, Index n);
std::optional<Index> theorem_bandwidth(const Kernel& kernel, double noise, double gap, Index n);

}  // namespace bandgp
