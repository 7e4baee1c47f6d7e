// SPDX-License-Identifier: Apache-2.0
// The lemma's rule on n equally spaced points, n as large as you like: the row sums are known without the
// points.
#pragma once
#include "bandgp/kernel/kernel.hpp"

namespace bandgp {

/// Smallest k with maxᵢ Σ_{|i−j|>k} k(xᵢ−xⱼ) below `limit`.  O(k) time, no
/// memory.
Index grid_bandwidth(const Kernel& kernel, double gap, Index n, double limit);

}  // namespace bandgp
