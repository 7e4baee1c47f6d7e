// SPDX-License-Identifier: Apache-2.0
// How many neighbours each rule keeps of the covariance, side by side.                          [math.md §6,
// §5]
#pragma once
#include <optional>

#include "bandgp/gp/model.hpp"

namespace bandgp {

struct BandwidthRules {
  Index n = 0;                              // distinct times
  double min_gap = 0;                       // user's units; NaN with one point
  std::optional<Index> corollary, theorem;  // none unless the kernel is one SE term
  Index lemma = 0;
  Index tolerance = 0;  // what `nats` of NLL need
};

/// On n equally spaced points, n as large as you like; without data yᵀD⁻¹y is taken to be n.  Throws
/// std::invalid_argument: n, gap or noise is not positive.
BandwidthRules bandwidth_rules(const Model& model, double gap, Index n, double nats);
BandwidthRules bandwidth_rules(const Model& model, const Series& series, double nats);

}  // namespace bandgp
