// SPDX-License-Identifier: Apache-2.0
// An element: what a chunk of points says about the unknowns that it sees.
// Its columns are (x | β | b): the states at the chunk's beginning, the coefficients of local polynomials,
// and right-hand sides.  The filter runs over the points with all of them at once, P = 0 at the beginning,
// and leaves
//   G = Σ vᵀv/S over the points,  v = Wβ + (sum of the states) − b,     E: the states at the end by column,
//   P: what the chunk adds to their covariance,     Σ log S.
// Without states G = WᵀD⁻¹W, and there is no end.
#pragma once
#include <algorithm>
#include <span>

#include "bandgp/front/states.hpp"

namespace bandgp::front {

template <class Real>
using Rows = Eigen::Matrix<Real, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// A chunk of points.
template <class Real>
struct ChunkPoints {
  Index count = 0;
  const Real* gap = nullptr;  // before each point, from where the chunk begins (∞: nothing before)
  Real gap_after = 0;         // from the last point to where the next chunk begins
  const Real* noise = nullptr;
  const Rows<Real>* polynomials = nullptr;  // W, one row a point
  bool first = false, last = false;         // of the series: no states before, none after
};

template <class Real>
class Element {
 public:
  Matrix<Real> gram;             // G
  Matrix<Real> end, covariance;  // E, P
  Real log_pivots = 0;
  bool failed = false;

  /// With right-hand sides, one row a point.
  void make(const States<Real>& states, const ChunkPoints<Real>& chunk, const Rows<Real>& right) {
    run(states, chunk, right.cols(), nullptr, [&](Index i, Real, Real* v) {
      for (Index c = 0; c < right.cols(); ++c) v[c] -= right(i, c);
    });
  }
  /// With columns of which the solution is known: their states at the beginning, and −v/√S at every point.
  void make_solved(const States<Real>& states, const ChunkPoints<Real>& chunk, const Rows<Real>& reduced,
                   const Matrix<Real>& begin) {
    run(states, chunk, reduced.cols(), &begin, [&](Index i, Real root, Real* v) {
      for (Index c = 0; c < reduced.cols(); ++c) v[c] = -reduced(i, c) * root;
    });
  }

  /// Back through the points, after make_solved(): from the loss's slopes by G, by the states at the end and
  /// by P to those by the terms' log variances and log length-scales, and by every point's noise.
  void pull(const States<Real>& states, const ChunkPoints<Real>& chunk, const Matrix<Real>& by_gram,
            const Matrix<Real>& by_end, Matrix<Real> by_cov, std::span<Real> by_variance,
            std::span<Real> by_lengthscale, Real* by_noise) {
    const Index p = states.size(), k = columns_;
    Rows<Real> by_m = by_end, product(p, p), moved(p, k);
    const Rows<Real> b = rows_ * by_gram;  // of v/√S
    const auto contract = [&](Real gap, const Real* m, const Real* cov_after) {
      states.step(gap, true, step_);
      const Eigen::Map<const Rows<Real>> after(m, p, k), cov(cov_after, p, p);
      product.noalias() = by_m * after.transpose();
      product += 2 * by_cov * (cov - step_.q);
      for (std::size_t t = 0; t < states.terms(); ++t) {
        by_variance[t] += by_cov.cwiseProduct(step_.own[t]).sum();
        by_lengthscale[t] -= step_.a[t] * (product.cwiseProduct(states.generator(t)).sum() +
                                           by_cov.cwiseProduct(step_.slope[t]).sum());
      }
      moved.noalias() = step_.f.transpose() * by_m;
      by_m.swap(moved);
      by_cov = (step_.f.transpose() * by_cov * step_.f).eval();
    };
    const auto kept = [&](Index i) { return kept_.data() + i * p * (k + p); };
    if (p > 0 && !chunk.last) contract(chunk.gap_after, kept(chunk.count), kept(chunk.count) + p * k);
    Vector<Real> gain(p), by_gain(p), by_first(p);
    for (Index i = chunk.count - 1; i >= 0; --i) {
      const Real s = pivots_[static_cast<std::size_t>(i)];
      Real by_s = (Real(0.5) - b.row(i).dot(rows_.row(i))) / s;
      if (p > 0) {
        using std::sqrt;
        const Real root = sqrt(s);
        const Real* m = kept(i);
        const Eigen::Map<const Rows<Real>> cov(m + p * k, p, p);
        gain = cov.col(0) / s;
        by_gain.noalias() = -root * (by_m * rows_.row(i).transpose());
        by_s += gain.dot(by_cov * gain) - by_gain.dot(gain) / s;
        by_first = (by_gain - 2 * (by_cov * cov.col(0))) / s;
        by_cov.col(0) += by_first / 2;
        by_cov.row(0) += by_first.transpose() / 2;
        by_cov(0, 0) += by_s;
        // v̄ = 2b/S − kᵀm̄, with the m̄ of before.
        row_ = (2 / root) * b.row(i).transpose() - by_m.transpose() * gain;
        by_m.row(0) += row_.transpose();
        contract(chunk.gap[i], m, m + p * k);
      }
      by_noise[i] = by_s;
    }
  }

  Real pivot(Index i) const { return pivots_[static_cast<std::size_t>(i)]; }
  /// Predicted covariance of the states at a point.
  Eigen::Map<const Rows<Real>> predicted(Index i, Index p) const {
    return {kept_.data() + i * p * (columns_ + p) + p * columns_, p, p};
  }

 private:
  template <class Last>
  void run(const States<Real>& states, const ChunkPoints<Real>& chunk, Index last, const Matrix<Real>* begin,
           const Last& set_last) {
    const Index p = states.size(), q = chunk.polynomials->cols(), k = p + q + last;
    columns_ = k;
    log_pivots = 0;
    failed = false;
    rows_.resize(chunk.count, k);
    pivots_.resize(static_cast<std::size_t>(chunk.count));
    kept_.resize(static_cast<std::size_t>((chunk.count + 1) * p * (k + p)));
    mean_.setZero(p, k);
    if (!chunk.first) mean_.leftCols(p).setIdentity();
    if (begin != nullptr) mean_.rightCols(last) = *begin;
    cov_.setZero(p, p);
    gain_.resize(p);
    const auto keep = [&](Index i) {
      Real* to = kept_.data() + i * p * (k + p);
      std::copy_n(mean_.data(), p * k, to);
      std::copy_n(cov_.data(), p * p, to + p * k);
    };
    for (Index i = 0; i < chunk.count; ++i) {
      using std::log;
      using std::sqrt;
      Real* v = rows_.data() + i * k;
      const Real noise = chunk.noise[i];
      Real s = noise;
      if (p > 0) {
        advance(states, chunk.gap[i]);
        s += cov_(0, 0);
        keep(i);
        for (Index c = 0; c < k; ++c) v[c] = mean_(0, c);
      } else {
        std::fill_n(v, k, Real(0));
      }
      const Real* w = chunk.polynomials->data() + i * q;
      for (Index c = 0; c < q; ++c) v[p + c] += w[c];
      if (!(s > 0)) failed = true;
      const Real root = sqrt(s), inverse = 1 / root;
      set_last(i, root, v + p + q);
      pivots_[static_cast<std::size_t>(i)] = s;
      log_pivots += log(s);
      if (p > 0) {
        gain_ = cov_.row(0).transpose() / s;
        for (Index r = 0; r < p; ++r) {
          Real* m = mean_.data() + r * k;
          for (Index c = 0; c < k; ++c) m[c] -= gain_[r] * v[c];
        }
        for (Index r = 1; r < p; ++r) {
          for (Index c = 1; c < p; ++c) cov_(r, c) -= gain_[r] * cov_(0, c);
        }
        cov_.row(0) *= noise / s;
        cov_.col(0) = cov_.row(0).transpose();
      }
      for (Index c = 0; c < k; ++c) v[c] *= inverse;
    }
    gram.setZero(k, k);
    gram.template selfadjointView<Eigen::Lower>().rankUpdate(rows_.transpose());
    gram.template triangularView<Eigen::StrictlyUpper>() = gram.transpose();
    if (p > 0 && !chunk.last) {
      advance(states, chunk.gap_after);
      keep(chunk.count);
      end = mean_;
      covariance = cov_;
    }
  }
  void advance(const States<Real>& states, Real gap) {
    states.step(gap, false, step_);
    if (states.size() == 1) {
      mean_ *= step_.f(0, 0);
      cov_(0, 0) = step_.f(0, 0) * step_.f(0, 0) * cov_(0, 0) + step_.q(0, 0);
      return;
    }
    moved_.noalias() = step_.f * mean_;
    mean_.swap(moved_);
    cov_ = (step_.f * cov_ * step_.f.transpose() + step_.q).eval();
  }

  Index columns_ = 0;
  Rows<Real> rows_, mean_, moved_, cov_;  // rows_: v/√S of every point
  std::vector<Real> pivots_, kept_;       // kept_: predicted means and covariances, one point after the other
  Vector<Real> gain_, row_;
  typename States<Real>::Step step_;
};

}  // namespace bandgp::front
