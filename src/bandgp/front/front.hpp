// SPDX-License-Identifier: Apache-2.0
// A = ΦΦᵀ + B with B a sum of Markov terms and diagonal noise, in linear time: chunks of points become
// elements, elements meet in a dense moving front, and unknowns are eliminated where their support ends.
//   unknowns: the weights w of every basis function, the states x_c at the beginning of every chunk but the
//   first, and multipliers λ_c of x_{c+1} = E ρ + noise of covariance P_c.
//   Ω = I on w,  RᵀGR on (x_c, w),  −P_c on λ_c,  −ER on (λ_c; x_c, w),  I on (λ_c, x_{c+1})
//   log|A| = Σ log S + log|det Ω|,   q = Σ v̂²/S + ŵᵀŵ + Σ λ̂ᵀP_cλ̂:  sums of squares, nothing cancels
// [math.md §11] Order of elimination in a chunk: weights whose support ends there, x_c, λ_c.  Pivots of λ are
// negative. A column b is reduced to (−v̂/√S, ŵ, P_c^{½}λ̂), whose products are those of A⁻¹; behind these it
// carries x̂ and λ̂, which follow every linear combination of columns.
#pragma once
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "bandgp/front/element.hpp"

namespace bandgp::front {

/// Gaussians amplitude·exp(−(x − j·spacing)²/lengthscale²) for those nodes j that have a point within
/// `reach`.
struct Gaussians {
  double spacing = 1, lengthscale = 1, amplitude = 1, reach = 1;
};

/// Columns of numbers, `stride` apart.
template <class Real>
struct Columns {
  Real* data = nullptr;
  Index count = 0, stride = 0;
  Real* operator[](Index c) const { return data + c * stride; }
};

template <class Real>
class Front {
 public:
  /// Increasing times, which must stay where they are; chunks of at most 2·half that are expanded in q
  /// polynomials.
  void lay_out(const double* time, Index n, std::vector<Gaussians> bases,
               const std::vector<markov::StateTerm>& terms, Index q, double half) {
    time_ = time;
    n_ = n;
    bases_ = std::move(bases);
    states_ = States<Real>(terms);
    q_ = q;
    make_chunks(half);
    make_slots();
    make_transform();
  }

  Index chunks() const { return std::ssize(chunks_); }
  Index slots() const { return slots_; }
  Index nodes() const { return nodes_; }
  const States<Real>& states() const { return states_; }
  /// A column's parts: n values, from a multiple of 8 on the weights and what the multipliers add; carried
  /// behind them, from the next multiple of 8 on, the states and the multipliers.
  Index reduced_size() const { return weights_at() + nodes_ + states_.size() * (chunks() - 1); }
  Index carried_size() const { return 2 * states_.size() * chunks(); }
  Index weights_at() const { return round_up(n_, 8); }

  /// False where a pivot has the wrong sign.
  [[nodiscard]] bool factor(const Real* noise, Columns<Real> b) {
    noise_ = noise;
    log_determinant_ = 0;
    largest_pivot_ = 0;
    eliminated_.clear();
    coefficients_.resize(chunks_.size());
    covariances_.resize(chunks_.size());
    pivots_.resize(static_cast<std::size_t>(n_));
    gains_.resize(static_cast<std::size_t>(n_ * states_.size()));
    front_.setZero(slots_, slots_);
    right_.setZero(slots_, b.count);
    for (Index c = 0; c < chunks(); ++c) {
      coefficients_[static_cast<std::size_t>(c)] = expand(c, false);
      if (!assemble(c, b, true) || !eliminate(c)) return false;
    }
    reduce_back(b);
    return true;
  }
  /// The same for further columns.
  void reduce(Columns<Real> b) {
    right_.setZero(slots_, b.count);
    auto next = eliminated_.begin();
    for (Index c = 0; c < chunks(); ++c) {
      (void)assemble(c, b, false);
      for (std::size_t i = ending(c).size(); i > 0; --i, ++next) {
        const Vector<Real> value = right_.row(next->slot).transpose();
        right_.row(next->slot).setZero();
        right_.noalias() -= next->l * value.transpose();
        next->right = value;
      }
    }
    reduce_back(b);
  }
  Real log_determinant() const { return log_determinant_; }
  /// The largest pivot of a weight: about how large the weights' matrix is beside its smallest eigenvalue, 1.
  Real largest_pivot() const { return largest_pivot_; }
  Real pivot(Index i) const { return pivots_[static_cast<std::size_t>(i)]; }

  /// Reduced columns → A⁻¹b in their first n entries.
  void solve(Columns<Real> b) {
    const Index p = states_.size();
    for (Index c = chunks() - 1; c >= 0; --c) {
      prepare(c);
      const Chunk& here = chunk(c);
      typename States<Real>::Step step;
      for (Index column = 0; column < b.count; ++column) {
        Vector<Real> r = Vector<Real>::Zero(p);
        if (p > 0 && !is_last(c)) {
          for (Index i = 0; i < p; ++i) r[i] = multipliers(b, column, c)[i];
          states_.step(points_.gap_after, false, step);
          r = (step.f.transpose() * r).eval();
        }
        for (Index i = here.end - 1; i >= here.begin; --i) {
          using std::sqrt;
          Real value = b[column][i] / sqrt(pivot(i));
          if (p > 0) {
            const Eigen::Map<const Vector<Real>> gain(gains_.data() + i * p, p);
            value -= gain.dot(r);
            r[0] += value;
            states_.step(points_.gap[i - here.begin], false, step);
            r = (step.f.transpose() * r).eval();
          }
          b[column][i] = value;
        }
      }
    }
  }

  /// ½ tr[(A⁻¹ − Σ ααᵀ)∂A] with α = A⁻¹b, of reduced columns.
  struct Slopes {
    std::vector<Real> basis_variance, basis_lengthscale, state_variance, state_lengthscale;
    std::vector<Real> noise;  // by every point's variance
  };
  void gradient(Columns<Real> b, Slopes& out) {
    out.basis_variance.assign(bases_.size(), Real(0));
    out.basis_lengthscale.assign(bases_.size(), Real(0));
    out.state_variance.assign(states_.terms(), Real(0));
    out.state_lengthscale.assign(states_.terms(), Real(0));
    out.noise.assign(static_cast<std::size_t>(n_), Real(0));
    inverse_.setZero(slots_, slots_);
    auto next = eliminated_.rbegin();
    for (Index c = chunks() - 1; c >= 0; --c) {
      for (std::size_t i = ending(c).size(); i > 0; --i, ++next) {
        step_column_.noalias() = -(inverse_ * next->l);
        step_column_[next->slot] = 1 / next->pivot - next->l.dot(step_column_);
        inverse_.col(next->slot) = step_column_;
        inverse_.row(next->slot) = step_column_.transpose();
      }
      add_slopes(c, b, out);
    }
  }

 private:
  struct Range {
    Index first = 0, last = -1;  // nodes, both included
    Index number = 0;            // of the first one among all nodes of all bases
    Index count() const { return last - first + 1; }
  };
  struct Chunk {
    Index begin = 0, end = 0;
    double from = 0, to = 0;  // where its states begin, and where the next one's do
    double middle = 0, half = 0;
    bool identity = false;
    std::vector<Range> nodes;  // by basis
  };
  struct Eliminated {
    Index slot;
    Real pivot;
    Vector<Real> l, right;
  };

  void make_chunks(double half) {
    chunks_.clear();
    const auto x = [&](Index i) { return time_[i]; };
    for (Index begin = 0; begin < n_;) {
      Index end = begin + 1;
      while (end < n_ && x(end) - x(begin) <= 2 * half) ++end;
      // At the widest gap near the edge: a state between two points that almost coincide has no room.
      Index best = end;
      for (Index i = end; end < n_ && i > begin + 1 && x(i - 1) - x(begin) > 1.6 * half; --i) {
        if (x(i) - x(i - 1) > x(best) - x(best - 1)) best = i;
      }
      end = best;
      Chunk chunk;
      chunk.begin = begin;
      chunk.end = end;
      chunk.from = begin == 0 ? x(0) : 0.5 * (x(begin - 1) + x(begin));
      chunk.to = end == n_ ? x(n_ - 1) : 0.5 * (x(end - 1) + x(end));
      chunk.middle = 0.5 * (x(begin) + x(end - 1));
      chunk.half = 0.5 * (x(end - 1) - x(begin));
      chunk.identity = end - begin <= q_;
      for (const Gaussians& basis : bases_)
        chunk.nodes.push_back({static_cast<Index>(std::ceil((x(begin) - basis.reach) / basis.spacing)),
                               static_cast<Index>(std::floor((x(end - 1) + basis.reach) / basis.spacing)),
                               0});
      chunks_.push_back(chunk);
      begin = end;
    }
  }
  /// Every basis has a ring of slots, node j in slot j mod its size: no row ever moves.
  void make_slots() {
    slots_ = nodes_ = 0;
    ring_.clear();
    ring_begin_.clear();
    for (std::size_t t = 0; t < bases_.size(); ++t) {
      Index ring = 1;
      const Range* before = nullptr;
      for (Chunk& chunk : chunks_) {
        Range& here = chunk.nodes[t];
        ring = std::max(ring, here.count());
        const Index known = before == nullptr ? 0 : std::max<Index>(0, before->last - here.first + 1);
        here.number = nodes_ - known;
        nodes_ += here.count() - known;
        before = &here;
      }
      ring_.push_back(ring);
      ring_begin_.push_back(slots_);
      slots_ += ring;
    }
    state_begin_ = slots_;
    slots_ += 3 * states_.size();
  }
  /// Chebyshev's coefficients from values at his nodes.
  void make_transform() {
    transform_.resize(q_, q_);
    for (Index m = 0; m < q_; ++m) {
      for (Index k = 0; k < q_; ++k) {
        using std::cos;
        transform_(m, k) = (m == 0 ? Real(1) : Real(2)) / Real(q_) *
                           cos(std::numbers::pi_v<Real> * Real(m * (2 * k + 1) % (4 * q_)) / Real(2 * q_));
      }
    }
  }

  const Chunk& chunk(Index c) const { return chunks_[static_cast<std::size_t>(c)]; }
  bool is_last(Index c) const { return c + 1 == chunks(); }
  Index node_slot(std::size_t t, Index j) const {
    const Index ring = ring_[t];
    return ring_begin_[t] + ((j % ring) + ring) % ring;
  }
  Index state_slot(Index c) const { return state_begin_ + (c % 2) * states_.size(); }
  Index multiplier_slot() const { return state_begin_ + 2 * states_.size(); }
  Index polynomials(Index c) const {
    if (bases_.empty()) return 0;
    return chunk(c).identity ? chunk(c).end - chunk(c).begin : q_;
  }
  Real* carried(Columns<Real> b, Index column) const { return b[column] + round_up(reduced_size(), 8); }
  Real* begin_states(Columns<Real> b, Index column, Index c) const {
    return carried(b, column) + c * states_.size();
  }
  Real* multipliers(Columns<Real> b, Index column, Index c) const {
    return carried(b, column) + (chunks() + c) * states_.size();
  }

  /// The slots of a chunk's states (none in the first) and weights, and where the weights are in a column.
  void find_active(Index c) {
    active_.clear();
    active_numbers_.clear();
    for (Index i = 0; c > 0 && i < states_.size(); ++i) active_.push_back(state_slot(c) + i);
    for (std::size_t t = 0; t < bases_.size(); ++t) {
      const Range& nodes = chunk(c).nodes[t];
      for (Index j = nodes.first; j <= nodes.last; ++j) {
        active_.push_back(node_slot(t, j));
        active_numbers_.push_back(weights_at() + nodes.number + (j - nodes.first));
      }
    }
  }
  /// Nodes of a basis that end with chunk c: those before this one.
  Index first_staying(Index c, std::size_t t) const {
    const Index end = chunk(c).nodes[t].last + 1;
    return is_last(c) ? end : std::min(end, chunk(c + 1).nodes[t].first);
  }
  /// Slots in the order in which they go when chunk c is done.
  const std::vector<Index>& ending(Index c) {
    ending_.clear();
    for (std::size_t t = 0; t < bases_.size(); ++t) {
      for (Index j = chunk(c).nodes[t].first; j < first_staying(c, t); ++j)
        ending_.push_back(node_slot(t, j));
    }
    for (Index i = 0; c > 0 && i < states_.size(); ++i) ending_.push_back(state_slot(c) + i);
    for (Index i = 0; !is_last(c) && i < states_.size(); ++i) ending_.push_back(multiplier_slot() + i);
    return ending_;
  }

  /// Gaps and polynomials of a chunk's points.
  void prepare(Index c) {
    const Chunk& here = chunk(c);
    const Index count = here.end - here.begin, q = polynomials(c);
    gaps_.resize(static_cast<std::size_t>(count));
    for (Index i = here.begin; i < here.end; ++i)
      gaps_[static_cast<std::size_t>(i - here.begin)] =
          Real(time_[i]) - (i == here.begin ? Real(here.from) : Real(time_[i - 1]));
    if (c == 0) gaps_[0] = std::numeric_limits<Real>::infinity();
    rows_.setZero(count, q);
    for (Index i = 0; i < count && q > 0; ++i) {
      if (here.identity) {
        rows_(i, i) = 1;
        continue;
      }
      const Real t = (Real(time_[here.begin + i]) - Real(here.middle)) / Real(here.half);
      rows_(i, 0) = 1;
      if (q > 1) rows_(i, 1) = t;
      for (Index m = 2; m < q; ++m) rows_(i, m) = 2 * t * rows_(i, m - 1) - rows_(i, m - 2);
    }
    points_ = {count,  gaps_.data(), Real(here.to) - Real(time_[here.end - 1]), noise_ + here.begin, &rows_,
               c == 0, is_last(c)};
  }
  /// β = Cw of the chunk's weights, all bases side by side; or C′ of their slopes by log ℓ.
  Matrix<Real> expand(Index c, bool slopes) const {
    const Chunk& here = chunk(c);
    const Index q = polynomials(c);
    Index count = 0;
    for (const Range& range : here.nodes) count += range.count();
    Matrix<Real> values(q, count);
    for (Index k = 0; k < q; ++k) {
      using std::cos;
      using std::exp;
      const Real at = here.identity
                          ? Real(time_[here.begin + k])
                          : Real(here.middle) + Real(here.half) * cos(std::numbers::pi_v<Real> *
                                                                      (Real(k) + Real(0.5)) / Real(q));
      Index column = 0;
      for (std::size_t t = 0; t < bases_.size(); ++t) {
        const Gaussians& basis = bases_[t];
        for (Index j = here.nodes[t].first; j <= here.nodes[t].last; ++j) {
          const Real z = (at - Real(j) * Real(basis.spacing)) / Real(basis.lengthscale);
          values(k, column++) =
              Real(basis.amplitude) * exp(-z * z) * (slopes ? 2 * z * z - Real(0.5) : Real(1));
        }
      }
    }
    if (here.identity || bases_.empty()) return values;
    return transform_ * values;
  }
  const Matrix<Real>& coefficients(Index c) const { return coefficients_[static_cast<std::size_t>(c)]; }
  /// R: the columns (x, β) of the active unknowns.
  void make_expansion(Index c) {
    const Index p = states_.size(), own = c > 0 ? p : 0;
    const Matrix<Real>& coefficient = coefficients(c);
    expansion_.setZero(p + coefficient.rows(), own + coefficient.cols());
    if (c > 0) expansion_.topLeftCorner(p, p).setIdentity();
    expansion_.bottomRightCorner(coefficient.rows(), coefficient.cols()) = coefficient;
  }

  /// Adds the element of chunk c to the front, or to its right-hand sides alone.
  bool assemble(Index c, Columns<Real> b, bool whole) {
    const Index p = states_.size();
    const Chunk& here = chunk(c);
    prepare(c);
    right_rows_.resize(here.end - here.begin, b.count);
    for (Index column = 0; column < b.count; ++column) {
      for (Index i = here.begin; i < here.end; ++i) right_rows_(i - here.begin, column) = b[column][i];
    }
    element_.make(states_, points_, right_rows_);
    if (element_.failed) return false;
    make_expansion(c);
    find_active(c);
    const Index unknowns = expansion_.rows();
    right_(active_, Eigen::all) -= expansion_.transpose() * element_.gram.topRightCorner(unknowns, b.count);
    const bool has_end = p > 0 && !is_last(c);
    for (Index i = 0; i < p && has_end; ++i)
      right_.row(multiplier_slot() + i) += element_.end.row(i).tail(b.count);
    if (!whole) return true;

    for (Index i = here.begin; i < here.end; ++i) {
      pivots_[static_cast<std::size_t>(i)] = element_.pivot(i - here.begin);
      for (Index s = 0; s < p; ++s)
        gains_[static_cast<std::size_t>(i * p + s)] = element_.predicted(i - here.begin, p)(0, s) / pivot(i);
    }
    covariances_[static_cast<std::size_t>(c)] = element_.covariance;
    log_determinant_ += element_.log_pivots;
    for (std::size_t t = 0; t < bases_.size(); ++t) {
      const Range& nodes = here.nodes[t];
      const Index entered = c == 0 ? nodes.first : std::max(nodes.first, chunk(c - 1).nodes[t].last + 1);
      for (Index j = entered; j <= nodes.last; ++j) front_(node_slot(t, j), node_slot(t, j)) = 1;
    }
    product_.noalias() = element_.gram.topLeftCorner(unknowns, unknowns) * expansion_;
    front_(active_, active_) += expansion_.transpose() * product_;
    if (!has_end) return true;
    product_.noalias() = element_.end.leftCols(unknowns) * expansion_;
    for (Index i = 0; i < p; ++i) {
      const Index lambda = multiplier_slot() + i, next = state_slot(c + 1) + i;
      for (Index k = 0; k < p; ++k) front_(lambda, multiplier_slot() + k) -= element_.covariance(i, k);
      for (std::size_t a = 0; a < active_.size(); ++a) {
        front_(lambda, active_[a]) -= product_(i, static_cast<Index>(a));
        front_(active_[a], lambda) -= product_(i, static_cast<Index>(a));
      }
      front_(lambda, next) += 1;
      front_(next, lambda) += 1;
    }
    return true;
  }
  bool eliminate(Index c) {
    for (const Index slot : ending(c)) {
      const Real pivot = front_(slot, slot);
      if (!(slot >= multiplier_slot() ? pivot < 0 : pivot > 0)) return false;
      using std::abs;
      using std::log;
      log_determinant_ += log(abs(pivot));
      if (slot < state_begin_) largest_pivot_ = std::max(largest_pivot_, pivot);
      Vector<Real> l = front_.col(slot) / pivot;
      l[slot] = 0;
      const Vector<Real> value = right_.row(slot).transpose();
      front_.col(slot).setZero();
      front_.row(slot).setZero();
      right_.row(slot).setZero();
      front_.noalias() -= (pivot * l) * l.transpose();
      right_.noalias() -= l * value.transpose();
      eliminated_.push_back({slot, pivot, std::move(l), value});
    }
    return true;
  }

  /// Substitutes back, and writes the reduced columns.
  void reduce_back(Columns<Real> b) {
    const Index p = states_.size();
    solution_.setZero(slots_, b.count);
    auto next = eliminated_.rbegin();
    for (Index c = chunks() - 1; c >= 0; --c) {
      for (std::size_t i = ending(c).size(); i > 0; --i, ++next)
        solution_.row(next->slot) = next->right.transpose() / next->pivot - next->l.transpose() * solution_;
      find_active(c);
      prepare(c);
      const Chunk& here = chunk(c);
      const Index own = c > 0 ? p : 0;
      for (Index column = 0; column < b.count; ++column) {
        Vector<Real> w(std::ssize(active_numbers_));
        for (std::size_t a = 0; a < active_numbers_.size(); ++a) {
          w[static_cast<Index>(a)] = solution_(active_[a + static_cast<std::size_t>(own)], column);
          b[column][active_numbers_[a]] = w[static_cast<Index>(a)];
        }
        Vector<Real> beta = coefficients(c) * w, mean = Vector<Real>::Zero(p);
        for (Index i = 0; i < p; ++i) {
          if (c > 0) mean[i] = solution_(state_slot(c) + i, column);
          begin_states(b, column, c)[i] = mean[i];
          multipliers(b, column, c)[i] = is_last(c) ? Real(0) : solution_(multiplier_slot() + i, column);
        }
        if (p > 0 && !is_last(c)) write_multipliers(c, b, column);
        typename States<Real>::Step step;
        for (Index i = here.begin; i < here.end; ++i) {
          using std::sqrt;
          Real v = -b[column][i];
          if (polynomials(c) > 0) v += rows_.row(i - here.begin).dot(beta);
          if (p > 0) {
            states_.step(gaps_[static_cast<std::size_t>(i - here.begin)], false, step);
            mean = (step.f * mean).eval();
            v += mean[0];
            mean -= Eigen::Map<const Vector<Real>>(gains_.data() + i * p, p) * v;
          }
          b[column][i] = -v / sqrt(pivot(i));
        }
      }
    }
    for (Index column = 0; column < b.count; ++column)
      std::fill(b[column] + n_, b[column] + weights_at(), Real(0));
  }
  /// P_c = LLᵀ: the part Lᵀλ̂ of a reduced column.
  void write_multipliers(Index c, Columns<Real> b, Index column) const {
    const Index p = states_.size();
    Matrix<Real> l = covariances_[static_cast<std::size_t>(c)];
    for (Index j = 0; j < p; ++j) {
      for (Index k = 0; k < j; ++k) {
        for (Index i = j; i < p; ++i) l(i, j) -= l(i, k) * l(j, k);
      }
      using std::sqrt;
      const Real root = l(j, j) > 0 ? sqrt(l(j, j)) : Real(0);
      for (Index i = j; i < p; ++i) l(i, j) = root > 0 ? l(i, j) / root : Real(0);
    }
    Real* to = b[column] + weights_at() + nodes_ + c * p;
    for (Index j = 0; j < p; ++j) {
      to[j] = 0;
      for (Index i = j; i < p; ++i) to[j] += l(i, j) * multipliers(b, column, c)[i];
    }
  }

  void add_slopes(Index c, Columns<Real> b, Slopes& out) {
    const Index p = states_.size(), own = c > 0 ? p : 0;
    const Chunk& here = chunk(c);
    prepare(c);
    find_active(c);
    make_expansion(c);
    const Index unknowns = expansion_.rows();
    right_rows_.resize(here.end - here.begin, b.count);
    Matrix<Real> begin(p, b.count), lambda(p, b.count), z(std::ssize(active_), b.count);
    for (Index column = 0; column < b.count; ++column) {
      for (Index i = here.begin; i < here.end; ++i) right_rows_(i - here.begin, column) = b[column][i];
      for (Index i = 0; i < p; ++i) {
        begin(i, column) = begin_states(b, column, c)[i];
        lambda(i, column) = multipliers(b, column, c)[i];
        if (c > 0) z(i, column) = begin(i, column);
      }
      for (std::size_t a = 0; a < active_numbers_.size(); ++a)
        z(own + static_cast<Index>(a), column) = b[column][active_numbers_[a]];
    }
    element_.make_solved(states_, points_, right_rows_, begin);
    const Matrix<Real> s = inverse_(active_, active_);
    const Matrix<Real> rs = expansion_ * s;
    Matrix<Real> by_gram = Matrix<Real>::Zero(unknowns + b.count, unknowns + b.count);
    by_gram.topLeftCorner(unknowns, unknowns).noalias() = rs * expansion_.transpose() / 2;
    for (Index column = 0; column < b.count; ++column)
      by_gram(unknowns + column, unknowns + column) = Real(0.5);
    Matrix<Real> by_end = Matrix<Real>::Zero(p, unknowns + b.count), by_cov = Matrix<Real>::Zero(p, p);
    Matrix<Real> through = element_.gram.topLeftCorner(unknowns, unknowns) * rs +
                           element_.gram.topRightCorner(unknowns, b.count) * z.transpose();
    if (p > 0 && !is_last(c)) {
      std::vector<Index> slots;
      for (Index i = 0; i < p; ++i) slots.push_back(multiplier_slot() + i);
      const Matrix<Real> s_lambda = inverse_(slots, active_);
      through -= element_.end.leftCols(unknowns).transpose() * (s_lambda + lambda * z.transpose());
      by_end.leftCols(unknowns).noalias() = -(s_lambda * expansion_.transpose());
      by_end.rightCols(b.count) = -lambda;
      by_cov = -(inverse_(slots, slots) + lambda * lambda.transpose()) / 2;
    }
    if (!bases_.empty()) {
      const Matrix<Real> slopes = expand(c, true);
      Index column = 0;
      for (std::size_t t = 0; t < bases_.size(); ++t) {
        const Range& nodes = here.nodes[t];
        out.basis_lengthscale[t] += through.block(p, own + column, slopes.rows(), nodes.count())
                                        .cwiseProduct(slopes.middleCols(column, nodes.count()))
                                        .sum();
        for (Index j = nodes.first; j < first_staying(c, t); ++j) {
          const Index slot = node_slot(t, j);
          out.basis_variance[t] +=
              (1 - inverse_(slot, slot)) / 2 - z.row(own + column + (j - nodes.first)).squaredNorm() / 2;
        }
        column += nodes.count();
      }
    }
    element_.pull(states_, points_, by_gram, by_end, by_cov, out.state_variance, out.state_lengthscale,
                  out.noise.data() + here.begin);
  }

  const double* time_ = nullptr;
  Index n_ = 0;
  std::vector<Gaussians> bases_;
  States<Real> states_{std::vector<markov::StateTerm>{}};
  Index q_ = 0;
  std::vector<Chunk> chunks_;
  std::vector<Index> ring_, ring_begin_;
  Index slots_ = 0, state_begin_ = 0, nodes_ = 0;
  Matrix<Real> transform_;
  // The factor.
  const Real* noise_ = nullptr;
  Real log_determinant_ = 0, largest_pivot_ = 0;
  std::vector<Matrix<Real>> coefficients_, covariances_;  // C and P of every chunk
  std::vector<Real> pivots_, gains_;                      // S and k of every point
  std::vector<Eliminated> eliminated_;
  // The front under way, and the chunk.
  Matrix<Real> front_, right_, solution_, inverse_, expansion_, product_;
  Vector<Real> step_column_;
  std::vector<Index> active_, active_numbers_, ending_;
  Element<Real> element_;
  Rows<Real> rows_, right_rows_;
  std::vector<Real> gaps_;
  ChunkPoints<Real> points_;
};

}  // namespace bandgp::front
