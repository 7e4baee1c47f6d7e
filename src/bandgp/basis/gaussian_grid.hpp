// SPDX-License-Identifier: Apache-2.0
// Where the points lie on the grid, and which nodes there are: those within a window of some point.   [theory
// §10] Nodes are numbered 0 … m−1 in order of position.  A gap longer than window + b starts a new run: no
// node lies in it, and the runs do not know of each other.
#pragma once
#include <span>
#include <vector>

#include "bandgp/base/aligned.hpp"
#include "bandgp/basis/grid_design.hpp"
#include "bandgp/basis/grid_kernels.hpp"

namespace bandgp {

class GaussianGrid {
 public:
  /// Consecutive nodes: grid positions [begin, end), numbered from `number` on.
  struct Run {
    double begin, end;
    Index number;
  };

  /// Places n increasing times (padded to a multiple of 8) on the grid of `design`.
  void place(const GridDesign& design, const double* x, Index n);
  /// Takes runs as they are, for prediction without points.
  void restore(const GridDesign& design, std::vector<Run> runs);

  const GridDesign& design() const { return design_; }
  Index nodes() const { return nodes_; }
  std::span<const Run> runs() const { return runs_; }
  GridPoints points() const {
    return {offset_.data(), first_.data(), design_.g, design_.vectors, table_.data()};
  }
  HalfGridPoints half_points() const { return {points(), design_.half_vectors, half_table_.data()}; }
  /// Half nodes, with room for whole panels.
  Index half_nodes() const { return 2 * round_up(nodes_, 8) + 16; }
  /// lags()[k] = s²·e^{−gk²/2}, −8 ≤ k ≤ b + 24; slopes()[k] = that · (−½ + gk²/2).
  const double* lags() const { return lags_.data() + 8; }
  const double* slopes() const { return slopes_.data() + 8; }
  /// First node (a number) that node j is coupled to: b before it, in its own run.
  std::span<const Index> first_coupled() const { return coupled_; }

  /// Windows of other points x (increasing): where each begins on the grid, and its values, 8·vectors each.
  struct Windows {
    std::vector<double> begin;  // grid position of the first node
    std::vector<double> value;
  };
  Windows windows_at(std::span<const double> x) const;

 private:
  void tabulate();
  void couple();

  GridDesign design_;
  Index nodes_ = 0;
  std::vector<Run> runs_;
  AlignedBuffer offset_, node_;
  std::vector<std::int32_t> first_;
  AlignedBuffer table_, half_table_;
  std::vector<double> lags_, slopes_;
  std::vector<Index> coupled_;
};

}  // namespace bandgp
