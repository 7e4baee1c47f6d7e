// SPDX-License-Identifier: Apache-2.0
#include "bandgp/band/cholesky.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numbers>

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
  // Σ log by products: the mantissa is brought back to [½, 1) before it can leave the range of a double.
  const double* inverse = factor.inverse_diagonal();
  double mantissa = 1;
  Index exponent = 0;
  for (Index i = 0; i < factor.envelope().size(); ++i) {
    mantissa *= inverse[i];
    if (mantissa > 1e150 || mantissa < 1e-150) {
      int e = 0;
      mantissa = std::frexp(mantissa, &e);
      exponent += e;
    }
  }
  return -2 * (std::log(mantissa) + static_cast<double>(exponent) * std::numbers::ln2);
}

}  // namespace bandgp
