// SPDX-License-Identifier: Apache-2.0
#include "bandgp/band/cholesky.hpp"

#include <algorithm>
#include <cassert>

#include "bandgp/base/sum_of_logs.hpp"
#include "bandgp/simd/dispatch.hpp"

namespace bandgp {

std::optional<NotPositiveDefinite> factorize(PanelBand& matrix, PanelRange range) {
  assert(range.begin % 2 == 0);
  const auto factor = simd::panel_kernels().factor;
  const simd::Panels panels = matrix.panels();
  for (Index p = range.begin; p < range.end; p += 2) {
    const Index bad = factor(panels, p, std::min<Index>(2, range.end - p), matrix.inverse_diagonal());
    if (bad >= 0) return NotPositiveDefinite{bad};
  }
  return std::nullopt;
}

double log_determinant(PanelBand& factor) {
  return -2 * sum_of_logs(factor.inverse_diagonal(), factor.envelope().size());
}

}  // namespace bandgp
