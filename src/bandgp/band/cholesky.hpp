// SPDX-License-Identifier: Apache-2.0
// A = L Lᵀ on an envelope: the envelope of L is that of A.
#pragma once
#include <optional>

#include "bandgp/band/panel_band.hpp"

namespace bandgp {

/// The matrix is not positive definite: the first pivot that is not positive stands in this row.
struct NotPositiveDefinite {
  Index row;
};

/// Factors the panels of `range` in place; all panels before it must be factored already.  Panels go in
/// pairs, so a range begins at an even panel: whatever the ranges, the bits are then the same.
[[nodiscard]] std::optional<NotPositiveDefinite> factorize(PanelBand& matrix, PanelRange range);

/// log|A| = −2 Σ log(1/L_ii) of a factored matrix.
double log_determinant(PanelBand& factor);

}  // namespace bandgp
