// SPDX-License-Identifier: Apache-2.0
#include "bandgp/band/solve.hpp"

#include "bandgp/simd/dispatch.hpp"

namespace bandgp {

void solve_lower(PanelBand& factor, PanelRange range, RightHandSides b) {
  const auto solve = simd::panel_kernels().solve_lower;
  const simd::Panels panels = factor.panels();
  for (Index p = range.begin; p < range.end; ++p) {
    solve(panels, p, factor.inverse_diagonal(), b.data, b.columns, b.stride);
  }
}

void solve_upper(PanelBand& factor, PanelRange range, RightHandSides b) {
  const auto solve = simd::panel_kernels().solve_upper;
  const simd::Panels panels = factor.panels();
  for (Index p = range.end - 1; p >= range.begin; --p) {
    solve(panels, p, factor.envelope().last_panel(p), factor.inverse_diagonal(), b.data, b.columns, b.stride);
  }
}

}  // namespace bandgp
