// SPDX-License-Identifier: Apache-2.0
// The Cholesky factor of a window that moves along a series: a row joins at the end or leaves at the front in
// O(w²) instead of the O(w³) of a new factorisation.
#pragma once
#include <vector>

#include "bandgp/base/index.hpp"

namespace bandgp {

class SlidingFactor {
 public:
  /// Room for windows of `most` rows; empty to begin with.
  void start(Index most);
  Index size() const { return size_; }

  /// Appends a row: its covariances with the rows there (in order) and with itself.  False: not positive
  /// definite.
  [[nodiscard]] bool push_back(const double* covariances, double own);
  /// Removes the first row: LLᵀ of the others is L₂₂L₂₂ᵀ + l l ᵀ with the column that goes.
  void pop_front();

  /// b ← L⁻¹b, b ← L⁻ᵀb.
  void solve_lower(double* b) const;
  void solve_upper(double* b) const;

 private:
  // Column j of L, from its diagonal at + j on.
  double* column(Index j) { return columns_.data() + j * most_; }
  const double* column(Index j) const { return columns_.data() + j * most_; }

  Index most_ = 0, size_ = 0;
  std::vector<double> columns_, row_;
};

}  // namespace bandgp
