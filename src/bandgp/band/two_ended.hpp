// SPDX-License-Identifier: Apache-2.0
// A banded matrix factored from both ends at once: two threads, or one, with the same bits.
// Rows [0, s) are eliminated from the front, rows after s + e from the back, and the e ≥ b rows between them,
// which alone know both halves, last:
//   C = M_ss − L_s0 L_s0ᵀ − L_s1 L_s1ᵀ.
// Each half is an ordinary PanelBand that ends with the rows between; the second one counts them from the
// back.  With chol(C) in its last rows a half is solved with and inverted as if the other were not there.
#pragma once
#include <functional>
#include <optional>
#include <span>

#include "bandgp/band/cholesky.hpp"
#include "bandgp/band/selected_inverse.hpp"
#include "bandgp/band/solve.hpp"
#include "bandgp/base/worker.hpp"

namespace bandgp {

class TwoEnded {
 public:
  struct Half {
    Envelope envelope;
    PanelBand matrix;
    SelectedInverse inversion;
    Index own = 0;  // rows before those between, whole pairs of panels
  };

  explicit TwoEnded(Worker& worker) : worker_(worker) {}

  /// first[i]: first column of row i, not decreasing.
  void shape(std::span<const Index> first);
  Half& half(int which) { return half_[which]; }
  /// Row `row` of half 1 is row mirrored(row) of the matrix, and the other way round; rows from size() on are
  /// padding.
  Index mirrored(Index row) const { return padded_ - 1 - row; }
  Index size() const { return size_; }
  Index padded_size() const { return padded_; }

  /// work(0) and work(1), side by side where there is a thread.
  template <class Work>
  void in_both(const Work& work) {
    worker_.start([&work] { work(1); });
    work(0);
    worker_.wait();
  }

  /// fill(which) writes the entries of a half: padding is 1 on the diagonal.
  [[nodiscard]] std::optional<NotPositiveDefinite> factor(const std::function<void(int)>& fill);
  double log_determinant();
  /// column ← M⁻¹column, padded_size() long, 0 in the padding.
  void solve(double* column);
  /// In place of the factor: M⁻¹ on the envelope; the rows between stand in both halves.
  void invert();

 private:
  PanelRange own(int which) { return {0, half_[which].own / simd::kPanel}; }
  PanelRange between(int which) { return {half_[which].own / simd::kPanel, half_[which].envelope.panels()}; }
  /// Entry (i, j) of the rows between in a half's matrix, counted from their first; null where it has none.
  double* entry(int which, Index i, Index j);
  double value(int which, Index i, Index j) {
    const double* at = entry(which, i, j);
    return at != nullptr ? *at : 0.0;
  }
  bool join();

  Worker& worker_;
  Half half_[2];
  Index size_ = 0, padded_ = 0, between_ = 0;
  std::vector<Index> first_;
  std::vector<double> given_, joined_;  // M_ss and C, row-major
  AlignedBuffer mirrored_;
};

}  // namespace bandgp
