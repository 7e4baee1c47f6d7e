// SPDX-License-Identifier: Apache-2.0
#include "bandgp/band/selected_inverse.hpp"

#include "bandgp/simd/dispatch.hpp"

namespace bandgp {

void SelectedInverse::start(PanelBand& factor, PanelBand& inverse) {
  factor_ = &factor;
  inverse_ = &inverse;
  // The upper half of the window, transposed: every product then reads columns.
  ring_ = inverse.envelope().window();
  mirror_.reserve(mirror_doubles(inverse.envelope()));
  scratch_.reserve(factor.envelope().window() * simd::kBlock);
}

void SelectedInverse::run(PanelRange range) {
  const auto invert = simd::panel_kernels().invert;
  const simd::Panels l = factor_->panels(), z = inverse_->panels();
  for (Index j = range.end - 1; j >= range.begin; --j) {
    invert(l, z, j, factor_->envelope().last_panel(j), inverse_->envelope().last_panel(j),
           factor_->inverse_diagonal(), mirror_.data(), ring_, scratch_.data());
  }
}

}  // namespace bandgp
