// SPDX-License-Identifier: Apache-2.0
// An element: what a chunk of points says about the unknowns that it sees.                     [math.md §11]
// Its columns are (x | β | b): the states at the chunk's beginning, the coefficients of local polynomials,
// and right-hand sides.  The filter runs over the points with all of them at once, P = 0 at the beginning,
// and leaves
//   G = Σ vᵀv/S over the points,  v = Wβ + (sum of the states) − b,     E: the states at the end by column,
//   P: what the chunk adds to their covariance,     Σ log S.
// Without states G = WᵀD⁻¹W, and there is no end.
#pragma once
#include <cmath>

#include "bandgp/front/front_kernels.hpp"
#include "bandgp/front/states.hpp"
#include "bandgp/front/table.hpp"

namespace bandgp::front {

/// A chunk of points.
template <class Real>
struct ChunkPoints {
  Index count = 0;
  const Real* steps = nullptr;  // of the states, to every point and then to where the next chunk begins
  const Real* noise = nullptr;
  Index polynomials = 0;             // q, columns of W:
  const Real* at = nullptr;          // Chebyshev's polynomials at this place of [−1, 1] of every point,
  bool identity = false;             // or one column for each point
  bool first = false, last = false;  // of the series: no states before, none after
};

template <class Real>
class Element {
 public:
  /// (x, β, b) by (x, β, b); (states, columns); (states, states).
  Table<Real> gram, end;
  Numbers<Real> covariance;
  Real log_pivots = 0;
  bool failed = false;

  /// x and β: the columns before the right-hand sides.
  Index unknowns() const { return unknowns_; }
  Index width() const { return rows_.width; }

  /// With right-hand sides: right(i, c).
  template <class Right>
  void make(const States<Real>& states, const ChunkPoints<Real>& chunk, Index columns, const Right& right) {
    start(states, chunk, columns);
    for (Index i = 0; i < chunk.count; ++i) {
      for (Index c = 0; c < columns; ++c) rows_[i][unknowns_ + c] = -right(i, c);
    }
    run(false);
  }
  /// With columns of which the solution is known: −v/√S at every point, and their states at the beginning.
  template <class Right>
  void make_solved(const States<Real>& states, const ChunkPoints<Real>& chunk, Index columns,
                   const Right& reduced, const Table<Real>& begin) {
    start(states, chunk, columns);
    for (Index i = 0; i < chunk.count; ++i) {
      for (Index c = 0; c < columns; ++c) rows_[i][unknowns_ + c] = -reduced(i, c);
    }
    for (int s = 0; s < states.size(); ++s) {
      for (Index c = 0; c < columns; ++c) end[s][unknowns_ + c] = begin[s][c];
    }
    given_not_.assign(static_cast<std::size_t>(width()), Real(1));
    given_.assign(static_cast<std::size_t>(width()), Real(0));
    for (Index c = 0; c < columns; ++c) {
      given_not_[static_cast<std::size_t>(unknowns_ + c)] = 0;
      given_[static_cast<std::size_t>(unknowns_ + c)] = 1;
    }
    block_.given_not = given_not_.data();
    block_.given = given_.data();
    run(true);
  }

  /// Back through the points, after make_solved(): from the loss's slopes by G, by the states at the end and
  /// by P, the last two of which change, to those by the terms' log variances and log length-scales, and by
  /// every point's noise.
  void pull(const Table<Real>& by_gram, Table<Real>& by_end, Numbers<Real>& by_covariance, Real* by_variance,
            Real* by_lengthscale, Real* by_noise) {
    rows_by_.resize(block_.count, width());
    kernels<Real>().multiply(false, rows_.data(), width(), 1, block_.count, width(), by_gram.data(), width(),
                             width(), rows_by_.data(), width());
    kernels<Real>().pull(block_, {rows_by_.data(), by_end.data(), by_covariance.data(), by_noise, by_variance,
                                  by_lengthscale});
  }

  /// After make_solved() without right-hand sides, for what is known of the states at the points: goes back
  /// through them with visit(i, m, P, Λ, cross), the states being mρ + e at point i before it is seen, e ~
  /// N(0, P), of which everything else leaves the covariance P − 2PΛP and, with the unknowns z, −P·cross.
  /// `expansion` is ρ = Rz and `inverse` the unknowns' covariance; Λ and cross are those at the end.
  template <class Visit>
  void look_back(const Table<Real>& expansion, const Table<Real>& inverse, Numbers<Real> by_covariance,
                 Table<Real> cross, const Visit& visit) {
    const int p = block_.places.states;
    const Index z = expansion.width;
    const auto& loops = kernels<Real>();
    const auto move = [&](Index i) {
      const Move<Plain<Real>, 0> step(block_.places, block_.steps, i);
      step.template backward<Plain<Real>>(cross.data(), z);
      step.backward_both_sides(by_covariance.data());
    };
    if (p > 0 && block_.has_end) move(block_.count);
    seen_.resize(block_.count, z);  // v/√S of the unknowns
    solved_.resize(block_.count, z);
    loops.multiply(false, rows_.data(), width(), 1, block_.count, unknowns_, expansion.data(), z, z,
                   seen_.data(), z);
    loops.multiply(false, seen_.data(), z, 1, block_.count, z, inverse.data(), z, z, solved_.data(), z);
    Numbers<Real> by_first(static_cast<std::size_t>(p));
    for (Index i = block_.count - 1; i >= 0; --i) {
      const Real* m = block_.kept + i * p * (width() + p);
      visit(i, m, m + p * width(), by_covariance.data(), cross);
      if (p == 0) continue;
      using std::sqrt;
      const Real s = pivot(i), root = sqrt(s);
      const Real* k = block_.gains + i * p;
      Real by_s = (1 - loops.dot(seen_[i], solved_[i], z)) / (2 * s);
      for (int r = 0; r < p; ++r) {
        const Real by_gain = -root * loops.dot(cross[r], seen_[i], z);
        Real moved = 0;
        for (int c = 0; c < p; ++c) moved += by_covariance[static_cast<std::size_t>(r * p + c)] * k[c];
        by_s += k[r] * (moved - by_gain / s);
        by_first[static_cast<std::size_t>(r)] = by_gain / s - 2 * moved;
      }
      Real* row = solved_[i];
      for (Index c = 0; c < z; ++c) row[c] /= root;
      for (int r = 0; r < p; ++r) loops.add(-k[r], cross[r], z, row);
      loops.add(1, row, z, cross[0]);
      for (int r = 0; r < p; ++r) {
        by_covariance[static_cast<std::size_t>(r * p)] += by_first[static_cast<std::size_t>(r)] / 2;
        by_covariance[static_cast<std::size_t>(r)] += by_first[static_cast<std::size_t>(r)] / 2;
      }
      by_covariance[0] += by_s;
      move(i);
    }
  }

  Real pivot(Index i) const { return block_.pivots[i]; }
  Real inverse_root(Index i) const { return block_.inverse_roots[i]; }
  const Real* gain(Index i) const { return block_.gains + i * block_.places.states; }

 private:
  void start(const States<Real>& states, const ChunkPoints<Real>& chunk, Index columns) {
    const int p = states.size();
    unknowns_ = p + chunk.polynomials;
    rows_.set_zero(chunk.count, round_up(unknowns_ + columns, 8));
    if (chunk.identity) {
      for (Index i = 0; i < chunk.polynomials; ++i) rows_[i][p + i] = 1;
    } else if (chunk.polynomials > 0) {
      kernels<Real>().polynomials(chunk.at, chunk.count, chunk.polynomials, p, width(), rows_.data());
    }
    end.set_zero(p, width());
    for (int s = 0; s < p && !chunk.first; ++s) end[s][s] = 1;
    covariance.assign(static_cast<std::size_t>(p * p), Real(0));
    pivots_.resize(static_cast<std::size_t>(chunk.count));
    inverse_roots_.resize(static_cast<std::size_t>(chunk.count));
    gains_.resize(static_cast<std::size_t>(chunk.count * p));
    block_ = {};
    block_.places = states.places();
    block_.count = chunk.count;
    block_.width = width();
    block_.steps = chunk.steps;
    block_.noise_scale = states.noise_scale();
    block_.noise = chunk.noise;
    block_.rows = rows_.data();
    block_.mean = end.data();
    block_.covariance = covariance.data();
    block_.pivots = pivots_.data();
    block_.inverse_roots = inverse_roots_.data();
    block_.gains = gains_.data();
    block_.has_end = !chunk.last;
  }
  void run(bool keep) {
    const int p = block_.places.states;
    if (keep) {
      kept_.resize(static_cast<std::size_t>((block_.count + 1) * p * (width() + p)));
      block_.kept = kept_.data();
    }
    kernels<Real>().filter(block_);
    log_pivots = block_.log_pivots;
    failed = block_.failed;
    gram.resize(width(), width());
    kernels<Real>().multiply(false, rows_.data(), 1, width(), width(), block_.count, rows_.data(), width(),
                             width(), gram.data(), width());
  }

  Index unknowns_ = 0;
  ElementBlock<Real> block_;
  Table<Real> rows_, rows_by_, seen_, solved_;  // rows_: v/√S of every point
  Numbers<Real> pivots_, inverse_roots_, gains_, kept_, given_, given_not_;
};

}  // namespace bandgp::front
