// SPDX-License-Identifier: Apache-2.0
#include "bandgp/band/forward_squares.hpp"

#include <algorithm>

#include "bandgp/band/solve.hpp"

namespace bandgp {

using simd::kPanel;

void ForwardSquares::start(PanelBand& factor, double largest) {
  factor_ = &factor;
  largest_ = largest;
  stride_ = factor.envelope().padded_size();
  columns_.reserve(stride_ * kPanel);
}

void ForwardSquares::clear(Index begin, Index end) {
  // Rows before the stretch that its own rows look back at must be 0 as well.
  const Index from = std::min(begin, factor_->envelope().panel_first()[begin] / kPanel);
  for (Index c = 0; c < kPanel; ++c) std::fill(column(c) + kPanel * from, column(c) + kPanel * end, 0.0);
}

void ForwardSquares::run(Index begin, Index end, double* out) {
  constexpr double kNegligible = 1e-10;
  const Envelope& envelope = factor_->envelope();
  const Index lookback = envelope.widest_panel();
  std::fill_n(out, kPanel, 0.0);
  // Since LLᵀ ⪰ I, what follows a stretch t of L⁻¹b as long as the band adds at most ‖LLᵀ‖‖t‖².
  Index quiet = 0;  // panels since the last one that counted
  for (Index p = begin; p < envelope.panels() && quiet < lookback; ++p) {
    if (p >= end) {
      for (Index c = 0; c < kPanel; ++c) std::fill_n(column(c) + kPanel * p, kPanel, 0.0);
    }
    solve_lower(*factor_, {p, p + 1}, {columns_.data(), kPanel, stride_});
    bool counts = p < end;
    for (Index c = 0; c < kPanel; ++c) {
      double square = 0;
      for (Index i = kPanel * p; i < kPanel * (p + 1); ++i) square += column(c)[i] * column(c)[i];
      out[c] += square;
      counts = counts || square * largest_ > kNegligible * out[c];
    }
    quiet = counts ? 0 : quiet + 1;
  }
}

}  // namespace bandgp
