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
/// `reach`, expanded in so many polynomials on every cell.
struct Gaussians {
  double spacing = 1, lengthscale = 1, amplitude = 1, reach = 1;
  Index polynomials = 2;
};

/// A cell's polynomials are good for so much of its length beyond either end.
inline constexpr double kBeyond = 0.05;
/// Half of the length on which a cell of so many spacings is expanded.
inline double expanded_half(Index spacings, double spacing) {
  return (0.5 + kBeyond) * static_cast<double>(spacings) * spacing;
}

/// Nodes of one basis that a chunk sees, both ends included.
struct Range {
  Index first = 0, last = -1;
  Index number = 0;  // of the first one among all nodes of all bases
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
/// moves; behind the rings are the states of two chunks, and the multipliers of one.
class Layout {
 public:
  /// Increasing times, which must stay where they are.  The last basis must be the finest one.
  void lay_out(const double* time, Index n, const std::vector<Gaussians>& bases, Index spacings,
               Index states) {
    time_ = time;
    n_ = n;
    bases_ = std::ssize(bases);
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
  Index node_count(std::size_t t) const {
    const Range& last = nodes(chunks() - 1, t);
    return last.number + last.count() - nodes(0, t).number;
  }
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
  Index ring(std::size_t t) const { return ring_[t]; }
  Index ring_begin(std::size_t t) const { return ring_begin_[t]; }
  /// Whole lanes around a ring.
  Index lanes_begin(std::size_t t) const { return ring_begin_[t] / 8 * 8; }
  Index lanes_end(std::size_t t) const { return round_up(ring_begin_[t] + ring_[t], 8); }
  Index node_slot(std::size_t t, Index j) const {
    const Index ring = ring_[t];
    return ring_begin_[t] + ((j % ring) + ring) % ring;
  }
  Index state_begin() const { return state_begin_; }
  Index state_slot(Index c) const { return state_begin_ + (c % 2) * states_; }
  Index multiplier_slot() const { return state_begin_ + 2 * states_; }
  /// visit(slot, j, number of the weight) for the nodes of a basis that chunk c sees.
  template <class Visit>
  void for_nodes(Index c, std::size_t t, const Visit& visit) const {
    const Range& here = nodes(c, t);
    Index slot = node_slot(t, here.first);
    for (Index j = here.first; j <= here.last; ++j) {
      visit(slot, j, here.number + (j - here.first));
      if (++slot == ring_begin_[t] + ring_[t]) slot = ring_begin_[t];
    }
  }
  /// visit(slot) for the slots of a basis that chunk c does not see.
  template <class Visit>
  void for_unseen(Index c, std::size_t t, const Visit& visit) const {
    const Range& here = nodes(c, t);
    for (Index j = here.last + 1; j < here.first + ring_[t]; ++j) visit(node_slot(t, j));
  }
  /// Slots in the order in which they go when chunk c is done: weights, states, multipliers.
  void ending(Index c, std::vector<Index>& slots) const {
    slots.clear();
    for (std::size_t t = 0; t < ring_.size(); ++t) {
      const Index first = nodes(c, t).first, stays = first_staying(c, t);
      Index slot = node_slot(t, first);
      for (Index j = first; j < stays; ++j) {
        slots.push_back(slot);
        if (++slot == ring_begin_[t] + ring_[t]) slot = ring_begin_[t];
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
    Index cell = std::numeric_limits<Index>::min();
    for (Index begin = 0; begin < n_;) {
      const auto at = endless ? Index{0} : static_cast<Index>(std::floor(time_[begin] / cell_length_));
      cell = std::max(cell, at);
      const double edge = endless ? cell_length_ : static_cast<double>(cell + 1) * cell_length_;
      Index end = begin + 1;
      while (end < n_ && end - begin < kMostPoints && time_[end] < edge) ++end;
      const bool whole = end == n_ || time_[end] >= edge;
      const double low = whole ? edge - kBeyond * cell_length_ : time_[end - 1 - (end - 1 - begin) / 5],
                   high = whole ? edge + kBeyond * cell_length_ : time_[end];
      Index best = end;
      const auto look_at = [&](Index i) {
        if (time_[i] - time_[i - 1] > time_[best] - time_[best - 1]) best = i;
      };
      for (Index i = end - 1; end < n_ && i > begin && time_[i - 1] >= low; --i) look_at(i);
      for (Index i = end + 1; i < n_ && i - begin <= kMostPoints && time_[i] <= high; ++i) look_at(i);
      end = best;
      Chunk chunk;
      chunk.begin = begin;
      chunk.end = end;
      chunk.from = begin == 0 ? time_[0] : 0.5 * (time_[begin - 1] + time_[begin]);
      chunk.to = end == n_ ? time_[n_ - 1] : 0.5 * (time_[end - 1] + time_[end]);
      chunk.cell = cell;
      // Polynomials come from a table, columns of their own from an exponential each.
      chunk.identity = endless || 3 * (end - begin) <= 2 * bases.back().polynomials;
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
        here.number = nodes_ - known;
        nodes_ += here.count() - known;
      }
      ring_.push_back(ring);
      ring_begin_.push_back(slots_);
      slots_ += ring;
    }
    state_begin_ = slots_;
    slots_ = round_up(slots_ + 3 * states_, 8);
  }

  const double* time_ = nullptr;
  Index n_ = 0, bases_ = 0, states_ = 0;
  double cell_length_ = 0;
  std::vector<Chunk> chunks_;
  std::vector<Range> ranges_;  // by chunk and basis
  std::vector<Index> ring_, ring_begin_;
  Index slots_ = 0, state_begin_ = 0, nodes_ = 0;
};

}  // namespace bandgp::front
