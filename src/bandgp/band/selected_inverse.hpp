// SPDX-License-Identifier: Apache-2.0
// The entries of Z = A⁻¹ on an envelope, from the factor: Z L = L⁻ᵀ, block column by block column from the
// last to the first (Takahashi; Erisman & Tinney).  On the factor's own envelope Z may overwrite L; on a
// wider one it may not.
#pragma once
#include "bandgp/band/panel_band.hpp"

namespace bandgp {

class SelectedInverse {
 public:
  /// Z takes the place of L (inverse == factor), or a matrix shaped on an envelope that contains the
  /// factor's.
  void start(PanelBand& factor, PanelBand& inverse);
  /// What it needs besides, in doubles: the upper half of the widest window.
  static Index mirror_doubles(const Envelope& inverse) {
    return inverse.window() * inverse.window() * simd::kBlock;
  }
  /// Block columns of `range`, from the last to the first; all later ones are done already.
  void run(PanelRange range);

 private:
  PanelBand* factor_ = nullptr;
  PanelBand* inverse_ = nullptr;
  Index ring_ = 0;
  AlignedBuffer mirror_, scratch_;
};

}  // namespace bandgp
