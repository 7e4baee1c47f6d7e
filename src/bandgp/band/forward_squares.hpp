// SPDX-License-Identifier: Apache-2.0
// bᵀ(LLᵀ)⁻¹b = ‖L⁻¹b‖² for columns b that are 0 before and behind a stretch of rows: a sum of squares, which
// keeps its digits however small it is.  L⁻¹b begins with the stretch and dies away behind it.
#pragma once
#include "bandgp/band/panel_band.hpp"

namespace bandgp {

class ForwardSquares {
 public:
  /// Room for eight columns of a factored matrix with LLᵀ ⪰ I whose diagonal entries are at most `largest`.
  void start(PanelBand& factor, double largest);
  /// Column c of eight: rows of panels [begin, end) are to be filled by the caller, all others count as 0.
  void clear(Index begin, Index end);
  double* column(Index c) { return columns_.data() + c * stride_; }
  /// out[c] ← ‖L⁻¹b_c‖², up to 1e-10 of itself.
  void run(Index begin, Index end, double* out);

 private:
  PanelBand* factor_ = nullptr;
  Index stride_ = 0;
  double largest_ = 1;
  AlignedBuffer columns_;
};

}  // namespace bandgp
