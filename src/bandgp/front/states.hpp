// SPDX-License-Identifier: Apache-2.0
// The states of a sum of Markov terms as dense matrices: the step over a gap and what it adds.  [math.md §7]
// State 0 is the sum of all curves.  Written for any precision; markov/ has the same for doubles and for
// speed.
#pragma once
#include <Eigen/Core>
#include <array>
#include <cassert>
#include <cmath>
#include <vector>

#include "bandgp/base/index.hpp"
#include "bandgp/markov/state_terms.hpp"

namespace bandgp::front {

template <class Real>
using Matrix = Eigen::Matrix<Real, Eigen::Dynamic, Eigen::Dynamic>;
template <class Real>
using Vector = Eigen::Matrix<Real, Eigen::Dynamic, 1>;

/// States that sums may have; matrices of them need no memory of their own.
inline constexpr int kMostStates = 12;
template <class Real>
using StateMatrix = Eigen::Matrix<Real, Eigen::Dynamic, Eigen::Dynamic, 0, kMostStates, kMostStates>;

template <class Real>
class States {
 public:
  explicit States(const std::vector<markov::StateTerm>& terms) : terms_(terms) {
    for (const markov::StateTerm& term : terms) {
      offset_.push_back(size_);
      size_ += term.states;
    }
    assert(size_ <= kMostStates);
    for (std::size_t t = 0; t < terms.size(); ++t) {
      StateMatrix<Real> g = StateMatrix<Real>::Zero(size_, size_);
      for (Index i = 0; i < terms[t].states; ++i) {
        g(offset_[t] + i, offset_[t] + i) = -1;
        if (i + 1 < terms[t].states) g(offset_[t] + i, offset_[t] + i + 1) = 1;
      }
      generators_.push_back(transformed(g));
    }
  }

  Index size() const { return size_; }
  std::size_t terms() const { return terms_.size(); }
  const markov::StateTerm& term(std::size_t t) const { return terms_[t]; }
  Index offset(std::size_t t) const { return offset_[t]; }
  /// G of a term: ∂F/∂a = GF, in the coordinates of the sum.
  const StateMatrix<Real>& generator(std::size_t t) const { return generators_[t]; }

  /// One step: F, Q, and by term a = λδ, the term's own part of Q and σ²κ ggᵀ = ∂Q/∂a.
  struct Step {
    StateMatrix<Real> f, q;
    std::vector<Real> a;
    std::vector<StateMatrix<Real>> own, slope;
  };
  void step(Real gap, bool with_slopes, Step& out) const {
    out.f = StateMatrix<Real>::Zero(size_, size_);
    out.q = StateMatrix<Real>::Zero(size_, size_);
    out.a.assign(terms_.size(), Real(0));
    if (with_slopes) {
      out.own.assign(terms_.size(), out.q);
      out.slope.assign(terms_.size(), out.q);
    }
    for (std::size_t t = 0; t < terms_.size(); ++t) {
      using std::exp;
      constexpr double kForgotten = 1000;
      const Index p = terms_[t].states, o = offset_[t];
      const Real rate = terms_[t].rate, variance = terms_[t].variance;
      const Real a = gap * rate < Real(kForgotten) ? gap * rate : Real(kForgotten), decay = exp(-a);
      const std::array<Real, 5> j = moments(static_cast<int>(p), a);
      const Real scale = variance * kappa(p);
      Real power = decay;
      for (Index d = 0; d < p; ++d) {
        for (Index i = 0; i + d < p; ++i) out.f(o + i, o + i + d) = power;
        power *= a / Real(d + 1);
      }
      StateMatrix<Real> own = StateMatrix<Real>::Zero(size_, size_), slope = own;
      for (Index r = 0; r < p; ++r) {
        for (Index s = 0; s < p; ++s) {
          const Index k = p - 1 - r, l = p - 1 - s;
          own(o + r, o + s) = scale * j[static_cast<std::size_t>(k + l)] / (factorial(k) * factorial(l));
          slope(o + r, o + s) = scale * out.f(o, o + k) * out.f(o, o + l);
        }
      }
      out.a[t] = a < 60 ? a : Real(0);  // beyond that the step forgets everything, and its slopes with it
      own = spread(own);
      out.q += own;
      if (with_slopes) {
        out.own[t] = own;
        out.slope[t] = spread(slope);
      }
    }
    out.f = transformed(out.f);
  }

 private:
  static Real kappa(Index p) { return p == 1 ? Real(2) : p == 2 ? Real(4) : Real(16) / 3; }
  static Real factorial(Index k) { return k < 2 ? Real(1) : Real(2); }
  /// ∫₀ᵃ s^m e^{−2s} ds for m ≤ 2p − 2, as sums of positive terms below a = 2.
  static std::array<Real, 5> moments(int p, Real a) {
    using std::exp;
    using std::expm1;
    std::array<Real, 5> j{};
    const int last = 2 * p - 2;
    const Real decay2 = exp(-2 * a);
    if (a <= 2) {
      Real series = 1, power = decay2;
      for (int k = 40; k >= 1; --k) series = 1 + 2 * a / Real(last + 1 + k) * series;
      for (int m = 0; m < last; ++m) power *= a;
      j[static_cast<std::size_t>(last)] = power * a / Real(last + 1) * series;
      for (int m = last; m >= 1; --m) {
        Real raised = decay2;
        for (int i = 0; i < m; ++i) raised *= a;
        j[static_cast<std::size_t>(m - 1)] = (2 * j[static_cast<std::size_t>(m)] + raised) / Real(m);
      }
    } else {
      j[0] = -expm1(-2 * a) / 2;
      Real raised = decay2;
      for (int m = 1; m <= last; ++m) {
        raised *= a;
        j[static_cast<std::size_t>(m)] = (Real(m) * j[static_cast<std::size_t>(m - 1)] - raised) / 2;
      }
    }
    return j;
  }
  /// TMT⁻¹ and TMTᵀ for the change of coordinates that puts the sum in the place of the first curve.
  StateMatrix<Real> transformed(StateMatrix<Real> m) const {
    for (std::size_t t = 1; t < terms_.size(); ++t) m.row(0) += m.row(offset_[t]);
    for (std::size_t t = 1; t < terms_.size(); ++t) m.col(offset_[t]) -= m.col(0);
    return m;
  }
  StateMatrix<Real> spread(StateMatrix<Real> m) const {
    for (std::size_t t = 1; t < terms_.size(); ++t) m.row(0) += m.row(offset_[t]);
    for (std::size_t t = 1; t < terms_.size(); ++t) m.col(0) += m.col(offset_[t]);
    return m;
  }

  std::vector<markov::StateTerm> terms_;
  std::vector<Index> offset_;
  Index size_ = 0;
  std::vector<StateMatrix<Real>> generators_;
};

}  // namespace bandgp::front
