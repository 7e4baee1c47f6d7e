// SPDX-License-Identifier: Apache-2.0
// Which points make a chunk, which Gaussians a chunk sees, and where in the front every unknown is.
// [math.md §11]
#pragma once
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "bandgp/base/index.hpp"
#include "bandgp/front/loops.hpp"

namespace bandgp::front {

/// Gaussians amplitude·exp(−(x − j·spacing)²/lengthscale²) for those nodes j that have a point within
/// `reach`, expanded in so many polynomials on every cell.  Where `harmonic` is k > 0 every node has two
/// columns: its Gaussian times cos and times sin of 2πk·turns·x.
struct Gaussians {
  double spacing = 1, lengthscale = 1, amplitude = 1, reach = 1;
  Index polynomials = 2;
  double turns = 0;  // in a unit of time
  Index harmonic = 0;
  bool oscillates() const { return harmonic > 0; }
  Index columns() const { return oscillates() ? 2 : 1; }
};

/// A cell's polynomials are good for so much of its length beyond either end.
inline constexpr double kBeyond = 0.05;
/// Where a basis oscillates: points of a chunk that are their own columns, and points for each polynomial of
/// a cell that are not.
inline constexpr Index kMostOwnColumns = 96, kPointsOfWaves = 3;
/// Half of the length on which a cell of so many spacings is expanded.
inline double expanded_half(Index spacings, double spacing) {
  return (0.5 + kBeyond) * static_cast<double>(spacings) * spacing;
}

/// Nodes of one basis that a chunk sees, both ends included.
struct Range {
  Index first = 0, last = -1;
  Index number = 0;  // of the first one's first weight among all weights of all bases
  Index count() const { return last - first + 1; }
};

struct Chunk {
  Index begin = 0, end = 0;  // points
  double from = 0, to = 0;   // where its states begin, and where the next one's do
  Index cell = 0;            // the points are within kBeyond of this one
  bool identity = false;     // so few points that they are their own columns, instead of polynomials
  Index count() const { return end - begin; }
};

/// Cells are as long as a whole number of the finest basis's spacings.  A chunk is what a cell has of points.
/// In the front every basis has a ring of slots, node j in slot j mod the ring's size, so that no row ever
/// moves, and behind it one more where nodes have two columns; behind all rings are the states of two chunks,
/// and the multipliers of one.
class Layout {
 public:
  /// Increasing times, which must stay where they are.  The last basis must be the finest one.
  void lay_out(const double* time, Index n, const std::vector<Gaussians>& bases, Index spacings,
               Index states) {
    time_ = time;
    n_ = n;
    bases_ = std::ssize(bases);
    columns_.clear();
    for (const Gaussians& basis : bases) columns_.push_back(basis.columns());
    states_ = states;
    cell_length_ = bases.empty() ? std::numeric_limits<double>::infinity()
                                 : static_cast<double>(spacings) * bases.back().spacing;
    make_chunks(bases);
    make_slots();
  }

  Index chunks() const { return std::ssize(chunks_); }
  const Chunk& chunk(Index c) const { return chunks_[static_cast<std::size_t>(c)]; }
  bool is_last(Index c) const { return c + 1 == chunks(); }
  double cell_length() const { return cell_length_; }

  /// Weights of all bases.
  Index nodes() const { return nodes_; }
  const Range& nodes(Index c, std::size_t t) const {
    return ranges_[static_cast<std::size_t>(c * bases_) + t];
  }
  /// The first of these nodes that chunk c sees and no chunk before it.
  Index first_new(Index c, std::size_t t) const {
    return c == 0 ? nodes(c, t).first : std::max(nodes(c, t).first, nodes(c - 1, t).last + 1);
  }
  /// Nodes before this one end with chunk c.
  Index first_staying(Index c, std::size_t t) const {
    const Index end = nodes(c, t).last + 1;
    return is_last(c) ? end : std::min(end, nodes(c + 1, t).first);
  }
  /// Weights of one basis: as many of every node as it has columns, one behind the other.
  Index weight_count(std::size_t t) const {
    const Range& last = nodes(chunks() - 1, t);
    return last.number + last.count() * columns(t) - nodes(0, t).number;
  }
  Index columns(std::size_t t) const { return columns_[t]; }
  /// A basis's nodes as runs (first, count) of consecutive ones.
  std::vector<std::pair<Index, Index>> runs(std::size_t t) const {
    std::vector<std::pair<Index, Index>> result;
    for (Index c = 0; c < chunks(); ++c) {
      const Range& here = nodes(c, t);
      if (result.empty() || here.first > result.back().first + result.back().second)
        result.emplace_back(here.first, here.count());
      else
        result.back().second = std::max(result.back().second, here.last + 1 - result.back().first);
    }
    return result;
  }

  /// All slots: a multiple of 8.
  Index slots() const { return slots_; }
  /// Nodes that a ring has room for, and the slots of all rings of a basis.
  Index ring(std::size_t t) const { return ring_[t]; }
  Index width(std::size_t t) const { return ring_[t] * columns(t); }
  Index ring_begin(std::size_t t) const { return ring_begin_[t]; }
  /// Whole lanes around the slots of a basis.
  Index lanes_begin(std::size_t t) const { return ring_begin_[t] / 8 * 8; }
  Index lanes_end(std::size_t t) const { return round_up(ring_begin_[t] + width(t), 8); }
  /// That of a node's first column; the second one is ring(t) behind it.
  Index node_slot(std::size_t t, Index j) const {
    const Index ring = ring_[t];
    return ring_begin_[t] + ((j % ring) + ring) % ring;
  }
  /// visit(slot) for every column of nodes first ≤ j < end.
  template <class Visit>
  void for_columns(std::size_t t, Index first, Index end, const Visit& visit) const {
    for (Index j = first; j < end; ++j) {
      for (Index k = 0; k < columns(t); ++k) visit(node_slot(t, j) + k * ring_[t]);
    }
  }
  Index state_begin() const { return state_begin_; }
  Index state_slot(Index c) const { return state_begin_ + (c % 2) * states_; }
  Index multiplier_slot() const { return state_begin_ + 2 * states_; }
  /// visit(slot, j, number of the weight) for the columns of the nodes of a basis that chunk c sees.
  template <class Visit>
  void for_nodes(Index c, std::size_t t, const Visit& visit) const {
    const Range& here = nodes(c, t);
    const Index columns = this->columns(t), ring = ring_[t];
    Index slot = node_slot(t, here.first), number = here.number;
    for (Index j = here.first; j <= here.last; ++j, number += columns) {
      for (Index k = 0; k < columns; ++k) visit(slot + k * ring, j, number + k);
      if (++slot == ring_begin_[t] + ring) slot = ring_begin_[t];
    }
  }
  /// visit(slot) for the slots of a basis that chunk c does not see.
  template <class Visit>
  void for_unseen(Index c, std::size_t t, const Visit& visit) const {
    const Range& here = nodes(c, t);
    for_columns(t, here.last + 1, here.first + ring_[t], visit);
  }
  /// Slots in the order in which they go when chunk c is done: weights, states, multipliers.
  void ending(Index c, std::vector<Index>& slots) const {
    slots.clear();
    for (std::size_t t = 0; t < ring_.size(); ++t) {
      const Index first = nodes(c, t).first, stays = first_staying(c, t), ring = ring_[t];
      Index slot = node_slot(t, first);
      for (Index j = first; j < stays; ++j) {
        for (Index k = 0; k < columns(t); ++k) slots.push_back(slot + k * ring);
        if (++slot == ring_begin_[t] + ring) slot = ring_begin_[t];
      }
    }
    for (Index i = 0; c > 0 && i < states_; ++i) slots.push_back(state_slot(c) + i);
    for (Index i = 0; !is_last(c) && i < states_; ++i) slots.push_back(multiplier_slot() + i);
  }

 private:
  /// Chunks are cut at the widest gap near the cell's end: a state between two points that almost coincide
  /// has no room.
  void make_chunks(const std::vector<Gaussians>& bases) {
    chunks_.clear();
    ranges_.clear();
    const bool endless = bases.empty();
    const bool oscillates = std::ranges::any_of(bases, &Gaussians::oscillates);
    Index polynomials = 0;  // the most that a basis has
    for (const Gaussians& basis : bases) polynomials = std::max(polynomials, basis.polynomials);
    Index cell = std::numeric_limits<Index>::min();
    for (Index begin = 0; begin < n_;) {
      const auto at = endless ? Index{0} : static_cast<Index>(std::floor(time_[begin] / cell_length_));
      cell = std::max(cell, at);
      const double edge = endless ? cell_length_ : static_cast<double>(cell + 1) * cell_length_;
      // Where bases oscillate, polynomials times waves cost as much as some points that are their own
      // columns. Without states a chunk may have any number of points.
      const bool waves =
          oscillates && states_ == 0 &&
          std::lower_bound(time_ + begin, time_ + n_, edge) - (time_ + begin) > kPointsOfWaves * polynomials;
      const Index most = waves ? n_ : oscillates ? kMostOwnColumns : kMostPoints;
      Index end = begin + 1;
      while (end < n_ && end - begin < most && time_[end] < edge) ++end;
      const bool whole = end == n_ || time_[end] >= edge;
      const double low = whole ? edge - kBeyond * cell_length_ : time_[end - 1 - (end - 1 - begin) / 5],
                   high = whole ? edge + kBeyond * cell_length_ : time_[end];
      Index best = end;
      const auto look_at = [&](Index i) {
        if (time_[i] - time_[i - 1] > time_[best] - time_[best - 1]) best = i;
      };
      for (Index i = end - 1; end < n_ && i > begin && time_[i - 1] >= low; --i) look_at(i);
      for (Index i = end + 1; i < n_ && i - begin <= most && time_[i] <= high; ++i) look_at(i);
      end = best;
      Chunk chunk;
      chunk.begin = begin;
      chunk.end = end;
      chunk.from = begin == 0 ? time_[0] : 0.5 * (time_[begin - 1] + time_[begin]);
      chunk.to = end == n_ ? time_[n_ - 1] : 0.5 * (time_[end - 1] + time_[end]);
      chunk.cell = cell;
      // Polynomials come from a table, columns of their own from an exponential each.
      chunk.identity = endless || (oscillates ? !waves : 3 * (end - begin) <= 2 * polynomials);
      for (const Gaussians& basis : bases)
        ranges_.push_back({static_cast<Index>(std::ceil((time_[begin] - basis.reach) / basis.spacing)),
                           static_cast<Index>(std::floor((time_[end - 1] + basis.reach) / basis.spacing)),
                           0});
      chunks_.push_back(chunk);
      begin = end;
      if (whole) ++cell;
    }
  }
  void make_slots() {
    slots_ = nodes_ = 0;
    ring_.clear();
    ring_begin_.clear();
    for (std::size_t t = 0; t < static_cast<std::size_t>(bases_); ++t) {
      Index ring = 1;
      for (Index c = 0; c < chunks(); ++c) {
        Range& here = ranges_[static_cast<std::size_t>(c * bases_) + t];
        ring = std::max(ring, here.count());
        const Index known = first_new(c, t) - here.first;
        here.number = nodes_ - known * columns_[t];
        nodes_ += (here.count() - known) * columns_[t];
      }
      ring_.push_back(ring);
      ring_begin_.push_back(slots_);
      slots_ += ring * columns_[t];
    }
    state_begin_ = slots_;
    slots_ = round_up(slots_ + 3 * states_, 8);
  }

  const double* time_ = nullptr;
  Index n_ = 0, bases_ = 0, states_ = 0;
  double cell_length_ = 0;
  std::vector<Chunk> chunks_;
  std::vector<Range> ranges_;                       // by chunk and basis
  std::vector<Index> columns_, ring_, ring_begin_;  // by basis
  Index slots_ = 0, state_begin_ = 0, nodes_ = 0;
};

}  // namespace bandgp::front
