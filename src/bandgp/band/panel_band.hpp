// SPDX-License-Identifier: Apache-2.0
// A symmetric matrix on an envelope, in row panels; after factorize() its Cholesky factor, after
// SelectedInverse its inverse on the envelope.  Memory is kept from one use to the next.
#pragma once
#include <cassert>
#include <vector>

#include "bandgp/band/envelope.hpp"
#include "bandgp/base/aligned.hpp"

namespace bandgp {

/// Consecutive panels [begin, end): the algorithms run range by range, so that a range stays in cache from
/// one step of the likelihood to the next.
struct PanelRange {
  Index begin, end;
};

class PanelBand {
 public:
  /// Takes the shape of the envelope, which must outlive this matrix's use.  Contents are undefined
  /// afterwards.
  void shape(const Envelope& envelope) {
    envelope_ = &envelope;
    start_ = envelope.panel_start();
    data_.reserve(envelope.doubles());
    inverse_diagonal_.reserve(envelope.padded_size());
  }
  /// The same for a matrix of which only the last window() panels are looked at while a sweep goes over them:
  /// panel p lies where panel p + window() was.  Memory is window()² blocks instead of the whole envelope.
  void shape_window(const Envelope& envelope) {
    envelope_ = &envelope;
    const Index window = envelope.window(), slot = simd::kBlock * envelope.widest_panel();
    window_start_.resize(static_cast<std::size_t>(envelope.panels()));
    for (Index p = 0; p < envelope.panels(); ++p) {
      window_start_[static_cast<std::size_t>(p)] =
          p % window * slot - simd::kPanel * envelope.panel_first()[p];
    }
    start_ = window_start_.data();
    data_.reserve(window * slot);
  }
  const Envelope& envelope() const { return *envelope_; }
  simd::Panels panels() { return {data_.data(), envelope_->panel_first(), start_}; }
  /// Column c of panel p, 8 entries.
  double* column(Index p, Index c) { return panels().column(p, c); }
  /// Entry (i, j), first column of i's panel ≤ j ≤ i.
  double& operator()(Index i, Index j) {
    assert(envelope_->panel_first()[i / simd::kPanel] <= j && j <= i && i < envelope_->padded_size());
    return column(i / simd::kPanel, j)[i % simd::kPanel];
  }
  /// 1/L_ii once factored.
  double* inverse_diagonal() { return inverse_diagonal_.data(); }
  PanelRange all() const { return {0, envelope_->panels()}; }

 private:
  const Envelope* envelope_ = nullptr;
  const Index* start_ = nullptr;
  std::vector<Index> window_start_;
  AlignedBuffer data_, inverse_diagonal_;
};

}  // namespace bandgp
