// SPDX-License-Identifier: Apache-2.0
// Where the points lie on the grid, and which nodes there are: those within a window of some point. [dual.md]
// Nodes are numbered 0 … m−1 in order of position.  A gap longer than window + b starts a new run: no node
// lies in it, and the runs do not know of each other.
#pragma once
#include <algorithm>
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
    Index length() const { return static_cast<Index>(end - begin); }
    Index last() const { return number + length(); }  // one past it
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
  /// first[j] ← the first node at most `distance` before node j in its own run: the rows of an envelope.
  void couple(Index distance, std::vector<Index>& first) const;

  /// Windows of other points x (increasing): where each begins on the grid, and its values, 8·vectors each.
  struct Windows {
    std::vector<double> begin;  // grid position of the first node
    std::vector<double> value;
  };
  Windows windows_at(std::span<const double> x) const;
  Index window() const { return 8 * design_.vectors; }
  /// A window that begins at a grid position, in order: present(p, length, number) for stretches of nodes
  /// that are there, missing(p, length) for the others; p counts from the window's first node.
  template <class Present, class Missing>
  void split_window(double begin, Present present, Missing missing) const {
    const double end = begin + static_cast<double>(window());
    double covered = begin;
    const auto miss = [&](double to) {
      if (covered < to) missing(static_cast<Index>(covered - begin), static_cast<Index>(to - covered));
    };
    auto run = std::ranges::partition_point(runs_, [&](const Run& r) { return r.end <= begin; });
    for (; run != runs_.end() && run->begin < end; ++run) {
      const double from = std::max(begin, run->begin), to = std::min(end, run->end);
      miss(from);
      present(static_cast<Index>(from - begin), static_cast<Index>(to - from),
              run->number + static_cast<Index>(from - run->begin));
      covered = to;
    }
    miss(end);
  }

 private:
  void tabulate();

  GridDesign design_;
  Index nodes_ = 0;
  std::vector<Run> runs_;
  AlignedBuffer offset_, node_;
  std::vector<std::int32_t> first_;
  AlignedBuffer table_, half_table_;
  std::vector<double> lags_, slopes_;
};

}  // namespace bandgp
