// SPDX-License-Identifier: Apache-2.0
// Which entries of a symmetric matrix are kept: row i keeps columns first(i) … i, with first(i) not
// decreasing. The paper's index band |i−j| ≤ k and the distance cut |xᵢ−xⱼ| ≤ R are both such envelopes.
// [math.md §5] Rows are stored in panels of 8 (simd/panel.hpp); a panel starts at its first row's first
// column, rounded down to 8.
#pragma once
#include <span>
#include <vector>

#include "bandgp/base/index.hpp"
#include "bandgp/simd/panel.hpp"

namespace bandgp {

class Envelope {
 public:
  /// |i − j| ≤ k; k ≥ n − 1 keeps everything.
  void keep_band(Index n, Index k);
  /// x[i] − x[j] ≤ reach, for increasing x.
  void keep_reach(std::span<const double> x, double reach);
  /// Any first columns, not decreasing, first[i] ≤ i.
  void keep(std::span<const Index> first);

  Index size() const { return n_; }
  Index panels() const { return static_cast<Index>(panel_first_.size()); }
  Index padded_size() const { return panels() * simd::kPanel; }
  /// The widest row, diagonal excluded.
  Index bandwidth() const { return bandwidth_; }
  Index first(Index row) const { return static_cast<Index>(row_first_[static_cast<std::size_t>(row)]); }
  /// Storage of the panels, in doubles.
  Index doubles() const { return doubles_; }
  /// Last panel that reaches block column j.
  Index last_panel(Index j) const { return panel_last_[static_cast<std::size_t>(j)]; }
  /// The widest block column, in panels, and the widest panel, in blocks.
  Index window() const { return window_; }
  Index widest_panel() const { return widest_panel_; }

  /// First columns as doubles, for comparison inside vectors; rows past n keep only their diagonal.
  const double* row_first() const { return row_first_.data(); }
  const Index* panel_first() const { return panel_first_.data(); }
  const Index* panel_start() const { return panel_start_.data(); }

  /// Multiply-adds of one Cholesky on the panels (what is really done, padding included).
  double cholesky_work() const;

 private:
  void resize(Index n);
  void lay_out();

  Index n_ = 0, bandwidth_ = 0, doubles_ = 0, window_ = 0, widest_panel_ = 0;
  std::vector<double> row_first_;
  std::vector<Index> panel_first_, panel_start_, panel_last_;
};

}  // namespace bandgp
