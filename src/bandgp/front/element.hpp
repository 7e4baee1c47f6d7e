// SPDX-License-Identifier: Apache-2.0
// An element: what a chunk of points says about the unknowns that it sees.                     [math.md §11]
// Its columns are (x | β | b): the states at the chunk's beginning, the coefficients of local polynomials,
// and right-hand sides.  It is
//   G = Σ vᵀv/S over the points,  v = Wβ + (sum of the states) − b,     E: the states at the end by column,
//   P: what the chunk adds to their covariance,     Σ log S.
// With states the filter runs over the points with all columns at once, P = 0 at the beginning.  Without
// states G = WᵀD⁻¹W, which the sums Σ T_k(xᵢ)/dᵢ, k ≤ 2q − 2, are enough for:
// T_mT_n = ½(T_{m+n} + T_{|m−n|}).
#pragma once
#include <algorithm>
#include <cmath>
#include <vector>

#include "bandgp/front/front_kernels.hpp"
#include "bandgp/front/states.hpp"
#include "bandgp/front/table.hpp"
#include "bandgp/front/waves.hpp"

namespace bandgp::front {

/// A chunk of points.
template <class Real>
struct ChunkPoints {
  Index count = 0;
  const Real* steps = nullptr;  // of the states, to every point and then to where the next chunk begins
  const Real* noise = nullptr;
  Index polynomials = 0;                 // q, columns of W:
  const Real* at = nullptr;              // Chebyshev's polynomials at this place of [−1, 1] of every point,
  bool identity = false;                 // or one column for each point
  const WavePlan<Real>* plan = nullptr;  // with these waves at the points, where bases oscillate
  const Table<Real>* waves = nullptr;
  bool first = false, last = false;  // of the series: no states before, none after
  // Where they are known: Σ T_k(xᵢ)/dᵢ, without states alone; S^{−½} and k of every point.
  const Real* sums = nullptr;
  const Real* inverse_roots = nullptr;
  const Real* gains = nullptr;
};

/// Where the loss's slopes by the logs of the terms' parameters are added up, by term.
template <class Real>
struct StateSlopes {
  Real *variance, *lengthscale, *period, *quality;
};

template <class Real>
class Element {
 public:
  /// (x, β) by (x, β, b); (states, columns); (states, states).
  Table<Real> gram, end;
  Numbers<Real> covariance;
  Real log_pivots = 0;
  bool failed = false;

  /// x and β: the columns before the right-hand sides.
  Index unknowns() const { return unknowns_; }
  Index width() const { return width_; }

  /// With right-hand sides: right(i, c).
  template <class Right>
  void make(const States<Real>& states, const ChunkPoints<Real>& chunk, Index columns, const Right& right) {
    start(states, chunk, columns);
    if (states.size() == 0) {
      weigh();
      if (chunk.sums == nullptr && chunk.plan != nullptr) {
        chunk.plan->make_sums(chunk.at, *chunk.waves, weights_, chunk.count, sums_);
      } else if (chunk.sums == nullptr && !chunk.identity) {
        sums_.resize(static_cast<std::size_t>(2 * chunk.polynomials - 1));
        kernels<Real>().sums(chunk.at, weights_.data(), chunk.count, std::ssize(sums_), sums_.data());
      }
      make_gram([&](Index i, Index c) { return right(i, c) * weights_[static_cast<std::size_t>(i)]; });
      return;
    }
    find_constant(columns, right);
    start_filter(states, columns, right);
    filter(false);
    add_constant();
  }
  /// With columns of which the solution is known: −v/√S at every point, and their states at the beginning.
  template <class Right>
  void make_solved(const States<Real>& states, const ChunkPoints<Real>& chunk, Index columns,
                   const Right& reduced, const Table<Real>& begin) {
    start(states, chunk, columns);
    if (states.size() == 0) {
      weigh();
      make_gram(
          [&](Index i, Index c) { return reduced(i, c) * inverse_roots_[static_cast<std::size_t>(i)]; });
      squares_.assign(static_cast<std::size_t>(chunk.count), Real(0));
      for (Index c = 0; c < columns; ++c) {
        for (Index i = 0; i < chunk.count; ++i)
          squares_[static_cast<std::size_t>(i)] += reduced(i, c) * reduced(i, c);
      }
      return;
    }
    start_filter(states, columns, reduced);
    for (int s = 0; s < states.size(); ++s) {
      for (Index c = 0; c < columns; ++c) end[s][unknowns_ + c] = begin[s][c];
    }
    given_not_.assign(static_cast<std::size_t>(width_), Real(1));
    given_.assign(static_cast<std::size_t>(width_), Real(0));
    for (Index c = 0; c < columns; ++c) {
      given_not_[static_cast<std::size_t>(unknowns_ + c)] = 0;
      given_[static_cast<std::size_t>(unknowns_ + c)] = 1;
    }
    block_.given_not = given_not_.data();
    block_.given = given_.data();
    filter(true);
  }
  /// After make() without states: Σ T_k(xᵢ)/dᵢ, which a later ChunkPoints may be given.
  const Numbers<Real>& sums() const { return sums_; }

  /// Back through the points, after make_solved(): from the loss's slopes by G, by the states at the end and
  /// by P to those by the terms' log variances and log length-scales, and by every point's noise.
  void pull(const Table<Real>& by_gram, const Table<Real>& by_end, const Numbers<Real>& by_covariance,
            const StateSlopes<Real>& by_terms, Real* by_noise) {
    if (block_.places.states == 0) {
      pull_noise(by_gram, by_noise);
      return;
    }
    rows_by_.resize(block_.count, width_);
    kernels<Real>().multiply({{rows_.data(), width_, 1},
                              {by_gram.data(), width_},
                              {rows_by_.data(), width_},
                              block_.count,
                              unknowns_ + columns_,
                              width_});
    kernels<Real>().pull(block_,
                         {rows_by_.data(), by_end.data(), by_covariance.data(), by_noise, by_terms.variance,
                          by_terms.lengthscale, by_terms.period, by_terms.quality});
  }

  /// After pull(), of every right-hand side b: to(column)[i] ← (A⁻¹b)ᵢ, which is what the loss is by −b.
  template <class To>
  void solved(const To& to) const {
    for (Index c = 0; c < columns_; ++c) {
      Real* out = to(c);
      if (block_.places.states == 0) {
        for (Index i = 0; i < block_.count; ++i) out[i] *= inverse_roots_[static_cast<std::size_t>(i)];
      } else {
        for (Index i = 0; i < block_.count; ++i) out[i] = -rows_by_[i][unknowns_ + c];
      }
    }
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
    if (p > 0) {
      loops.multiply(
          {{rows_.data(), width_, 1}, {expansion.data(), z}, {seen_.data(), z}, block_.count, unknowns_, z});
      loops.multiply({{seen_.data(), z, 1}, {inverse.data(), z}, {solved_.data(), z}, block_.count, z, z});
    }
    Numbers<Real> by_first(static_cast<std::size_t>(p));
    for (Index i = block_.count - 1; i >= 0; --i) {
      visit(i, block_.kept + i * p * width_, block_.kept_covariances + i * p * p, by_covariance.data(),
            cross);
      if (p == 0) continue;
      using std::sqrt;
      const Real s = block_.pivots[i], root = sqrt(s);
      const Real* k = block_.gains + i * p;
      Real by_s = (1 - loops.dot(seen_[i], solved_[i], z)) / (2 * s);
      for (int r = 0; r < p; ++r) {
        const Real by_gain = -root * loops.dot(cross[r], seen_[i], z);
        Real moved = 0;
        for (int c = 0; c < p; ++c) moved += by_covariance[static_cast<std::size_t>(Index{r} * p + c)] * k[c];
        by_s += k[r] * (moved - by_gain / s);
        by_first[static_cast<std::size_t>(r)] = by_gain / s - 2 * moved;
      }
      Real* row = solved_[i];
      for (Index c = 0; c < z; ++c) row[c] /= root;
      for (int r = 0; r < p; ++r) loops.add(-k[r], cross[r], z, row);
      loops.add(1, row, z, cross[0]);
      for (int r = 0; r < p; ++r) {
        by_covariance[static_cast<std::size_t>(Index{r} * p)] += by_first[static_cast<std::size_t>(r)] / 2;
        by_covariance[static_cast<std::size_t>(r)] += by_first[static_cast<std::size_t>(r)] / 2;
      }
      by_covariance[0] += by_s;
      move(i);
    }
  }

  /// S^{−½} and k of every point.
  const Real* inverse_roots() const { return inverse_roots_.data(); }
  const Real* gains() const { return gains_.data(); }

 private:
  void start(const States<Real>& states, const ChunkPoints<Real>& chunk, Index columns) {
    const int p = states.size();
    chunk_ = chunk;
    columns_ = columns;
    unknowns_ = p + chunk.polynomials;
    width_ = filter_width_ = round_up(unknowns_ + columns, 8);
    constant_.clear();
    inverse_roots_.resize(static_cast<std::size_t>(chunk.count));
    gram.resize(unknowns_, width_);
    end.set_zero(p, width_);
    covariance.assign(static_cast<std::size_t>(Index{p} * p), Real(0));
    block_ = {};
    block_.places = states.places();
    block_.count = chunk.count;
    log_pivots = 0;
    failed = false;
  }

  // --- without states --------------------------------------------------------------------------------------

  /// 1/dᵢ, 0 behind the last point, their roots, and Σ log dᵢ.
  void weigh() {
    using std::sqrt;
    weights_.assign(static_cast<std::size_t>(round_up(chunk_.count, 8)), Real(0));
    if (chunk_.inverse_roots != nullptr) {
      for (Index i = 0; i < chunk_.count; ++i) {
        const Real root = chunk_.inverse_roots[i];
        inverse_roots_[static_cast<std::size_t>(i)] = root;
        weights_[static_cast<std::size_t>(i)] = root * root;
      }
      return;
    }
    Logarithm<Real> pivots;
    Real last = 0, weight = 0, root = 0;
    for (Index i = 0; i < chunk_.count; ++i) {
      const Real d = chunk_.noise[i];
      if (d != last || i == 0) {  // often all are the same
        failed = failed || !(d > 0);
        weight = 1 / d;
        root = sqrt(weight);
        last = d;
      }
      pivots.multiply(d);
      weights_[static_cast<std::size_t>(i)] = weight;
      inverse_roots_[static_cast<std::size_t>(i)] = root;
    }
    log_pivots = pivots.value();
  }
  /// `weighted` is what a right-hand side has at a point to be multiplied by the polynomials there: b/d, or
  /// of a reduced column its value over √d.
  template <class Weighted>
  void make_gram(const Weighted& weighted) {
    const Index q = chunk_.polynomials;
    const Real* sums = chunk_.sums == nullptr ? sums_.data() : chunk_.sums;
    if (chunk_.plan != nullptr) {
      chunk_.plan->make_gram(sums, gram);
    } else if (chunk_.identity) {
      for (Index m = 0; m < q; ++m) {
        std::fill_n(gram[m], q, Real(0));
        gram[m][m] = weights_[static_cast<std::size_t>(m)];
      }
    } else if (q > 0) {
      kernels<Real>().gram_of_sums(sums, q, width_, gram.data());
    }
    for (Index c = 0; c < columns_; ++c) {
      weighted_.assign(weights_.size(), Real(0));
      for (Index i = 0; i < chunk_.count; ++i) weighted_[static_cast<std::size_t>(i)] = weighted(i, c);
      right_sums_.resize(static_cast<std::size_t>(q));
      if (chunk_.identity)
        std::copy_n(weighted_.begin(), q, right_sums_.begin());
      else if (chunk_.plan != nullptr)
        chunk_.plan->project(chunk_.at, *chunk_.waves, weighted_, chunk_.count, right_sums_.data());
      else if (q > 0)
        kernels<Real>().sums(chunk_.at, weighted_.data(), chunk_.count, q, right_sums_.data());
      for (Index m = 0; m < q; ++m) gram[m][unknowns_ + c] = -right_sums_[static_cast<std::size_t>(m)];
    }
  }
  /// ½(1 − WḠ'Wᵀ/d − Σ(b reduced)²)/d with Ḡ' twice the slopes by G: a polynomial of degree 2q − 2.
  void pull_noise(const Table<Real>& by_gram, Real* by_noise) {
    const Index q = chunk_.polynomials, count = chunk_.count;
    curve_.assign(static_cast<std::size_t>(round_up(count, 8)), Real(0));
    if (chunk_.identity) {
      for (Index i = 0; i < q; ++i) curve_[static_cast<std::size_t>(i)] = 2 * by_gram[i][i];
    } else if (chunk_.plan != nullptr) {
      chunk_.plan->diagonal(chunk_.at, *chunk_.waves, by_gram, count, curve_.data());
    } else if (q > 0) {
      coefficients_.assign(static_cast<std::size_t>(2 * q - 1), Real(0));
      Real* coefficient = coefficients_.data();
      for (Index m = 0; m < q; ++m) {
        coefficient[0] += by_gram[m][m];
        coefficient[2 * m] += by_gram[m][m];
        for (Index n = m + 1; n < q; ++n) coefficient[m + n] += 2 * by_gram[m][n];
        for (Index n = m + 1; n < q; ++n) coefficient[n - m] += 2 * by_gram[m][n];
      }
      kernels<Real>().curve(chunk_.at, count, coefficient, 2 * q - 1, curve_.data());
    }
    for (Index i = 0; i < count; ++i) {
      const auto k = static_cast<std::size_t>(i);
      by_noise[i] = (1 - curve_[k] * weights_[k] - squares_[k]) * weights_[k] / 2;
    }
  }

  // --- with states -----------------------------------------------------------------------------------------

  /// A right-hand side that is the same at all points is a multiple of T₀ and needs no column, which is used
  /// where it saves whole lanes: a constant mean often makes the difference.
  template <class Right>
  void find_constant(Index columns, const Right& right) {
    constant_.assign(static_cast<std::size_t>(columns), false);
    if (chunk_.identity || chunk_.polynomials == 0) return;
    Index varying = 0;
    for (Index c = 0; c < columns; ++c) {
      Index i = 1;
      while (i < chunk_.count && right(i, c) == right(0, c)) ++i;
      constant_[static_cast<std::size_t>(c)] = i == chunk_.count;
      if (i < chunk_.count) ++varying;
    }
    filter_width_ = round_up(unknowns_ + varying, 8);
    if (filter_width_ == width_) constant_.assign(static_cast<std::size_t>(columns), false);
    constant_values_.resize(static_cast<std::size_t>(columns));
    for (Index c = 0; c < columns; ++c) constant_values_[static_cast<std::size_t>(c)] = right(0, c);
  }
  bool is_constant(Index c) const {
    return c < std::ssize(constant_) && constant_[static_cast<std::size_t>(c)];
  }
  /// Their columns of G and E, and the others in their places.
  void add_constant() {
    if (filter_width_ == width_) return;
    const int p = block_.places.states;
    for (int s = p - 1; s > 0; --s) {
      const Real* packed = end.data() + s * filter_width_;
      std::copy_backward(packed, packed + filter_width_, end[s] + filter_width_);
    }
    Index from = unknowns_ - 1;
    for (Index c = 0; c < columns_; ++c) from += is_constant(c) ? 0 : 1;
    for (Index c = columns_ - 1; c >= 0; --c) {
      const Index to = unknowns_ + c;
      const bool same = is_constant(c);
      const Real factor = same ? -constant_values_[static_cast<std::size_t>(c)] : Real(1);
      const Index source = same ? p : from--;
      for (Index m = 0; m < unknowns_; ++m) gram[m][to] = factor * gram[m][source];
      for (int s = 0; s < p; ++s) end[s][to] = factor * end[s][source];
    }
  }
  /// Rows of W and −`right`.
  template <class Right>
  void start_filter(const States<Real>& states, Index columns, const Right& right) {
    const int p = states.size();
    const Index count = chunk_.count;
    rows_.resize(count + 1, filter_width_);  // the polynomials' last row may go beyond its end
    if (chunk_.polynomials > 0 && !chunk_.identity)
      kernels<Real>().polynomials(chunk_.at, count, chunk_.polynomials, p, filter_width_, rows_.data());
    // Column by column: short rows are not worth a call that fills them.
    const auto clear_columns = [&](Index from, Index to) {
      for (Index c = from; c < to; ++c) {
        Real* row = rows_.data() + c;
        for (Index i = 0; i < count; ++i) row[i * filter_width_] = 0;
      }
    };
    clear_columns(0, chunk_.identity ? unknowns_ : p);
    for (Index i = 0; i < chunk_.polynomials && chunk_.identity; ++i) rows_[i][p + i] = 1;
    Index column = unknowns_;
    for (Index c = 0; c < columns; ++c) {
      if (is_constant(c)) continue;
      Real* row = rows_.data() + column++;
      for (Index i = 0; i < count; ++i) row[i * filter_width_] = -right(i, c);
    }
    clear_columns(column, filter_width_);
    for (int s = 0; s < p && !chunk_.first; ++s) end.data()[s * filter_width_ + s] = 1;
    pivots_.resize(static_cast<std::size_t>(count));
    gains_.resize(static_cast<std::size_t>(count * p));
    block_.known_gains = chunk_.gains != nullptr;
    if (block_.known_gains) {
      std::copy_n(chunk_.inverse_roots, count, inverse_roots_.begin());
      std::copy_n(chunk_.gains, count * p, gains_.begin());
    }
    block_.width = filter_width_;
    block_.steps = chunk_.steps;
    block_.noise_scale = states.noise_scale();
    block_.inverse_quality = states.inverse_quality();
    block_.noise = chunk_.noise;
    block_.rows = rows_.data();
    block_.mean = end.data();
    block_.covariance = covariance.data();
    block_.pivots = pivots_.data();
    block_.inverse_roots = inverse_roots_.data();
    block_.gains = gains_.data();
    block_.has_end = !chunk_.last;
  }
  void filter(bool keep) {
    const int p = block_.places.states;
    if (keep) {
      kept_.resize(block_.count + 1, p * width_);
      kept_covariances_.resize(block_.count + 1, p * p);
      block_.kept = kept_.data();
      begin_ = end.numbers;
      block_.begin = begin_.data();
      block_.kept_covariances = kept_covariances_.data();
    }
    kernels<Real>().filter(block_);
    log_pivots = block_.log_pivots;
    failed = block_.failed;
    kernels<Real>().multiply({{rows_.data(), 1, filter_width_},
                              {rows_.data(), filter_width_},
                              {gram.data(), width_},
                              unknowns_,
                              block_.count,
                              filter_width_,
                              kReplace,
                              0});
    for (Index m = 0; m < unknowns_; ++m) {
      for (Index n = 0; n < m; ++n) gram[m][n] = gram[n][m];
    }
  }

  Index unknowns_ = 0, width_ = 0, columns_ = 0;
  Index filter_width_ = 0;  // of the rows, where constant columns are left out
  std::vector<bool> constant_;
  Numbers<Real> constant_values_;
  ChunkPoints<Real> chunk_;
  ElementBlock<Real> block_;
  Table<Real> rows_, rows_by_, seen_, solved_;  // rows_: v/√S of every point
  Table<Real> kept_, kept_covariances_;
  Numbers<Real> pivots_, inverse_roots_, gains_, begin_, given_, given_not_;
  Numbers<Real> weights_, weighted_, squares_, sums_, right_sums_, coefficients_, curve_;
};

}  // namespace bandgp::front
