// SPDX-License-Identifier: Apache-2.0
// Triangular solves with a factored matrix, for one or many right-hand sides (columns `stride` apart, padded
// size).
#pragma once
#include "bandgp/band/panel_band.hpp"
#include "bandgp/base/right_hand_sides.hpp"

namespace bandgp {

/// b ← L⁻¹ b, the rows of `range`; earlier rows are solved already.
void solve_lower(PanelBand& factor, PanelRange range, RightHandSides b);
/// b ← L⁻ᵀ b, the rows of `range` from the last to the first; later rows are solved already.
void solve_upper(PanelBand& factor, PanelRange range, RightHandSides b);

/// b ← (LLᵀ)⁻¹ b, all rows.
inline void solve(PanelBand& factor, RightHandSides b) {
  solve_lower(factor, factor.all(), b);
  solve_upper(factor, factor.all(), b);
}

}  // namespace bandgp
