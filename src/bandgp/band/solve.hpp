// SPDX-License-Identifier: Apache-2.0
// Triangular solves with a factored matrix, for one or many right-hand sides (columns `stride` apart, padded
// size).
#pragma once
#include "bandgp/band/panel_band.hpp"

namespace bandgp {

/// Right-hand sides: `columns` vectors of padded_size() doubles, 64-byte aligned, `stride` doubles apart;
/// rows past n must be 0 and stay 0.
struct RightHandSides {
  double* data;
  Index columns, stride;
};

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
