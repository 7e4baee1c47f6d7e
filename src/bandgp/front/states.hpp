// SPDX-License-Identifier: Apache-2.0
// The states of a sum of Markov terms, in the order of the terms, and their steps over gaps.     [math.md §7]
// Written for any precision; doubles take the vectorised steps of markov/.
#pragma once
#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <type_traits>
#include <utility>
#include <vector>

#include "bandgp/front/loops.hpp"
#include "bandgp/markov/filter_kernels.hpp"
#include "bandgp/markov/state_terms.hpp"

namespace bandgp::front {

template <class Real>
class States {
 public:
  States() = default;
  explicit States(std::vector<markov::StateTerm> terms) : terms_(std::move(terms)) {
    for (const markov::StateTerm& term : terms_) {
      assert(places_.states + term.states <= kMostStates);
      places_.count[places_.terms] = term.states;
      places_.offset[places_.terms++] = places_.states;
      places_.states += term.states;
      noise_scale_.push_back(constant(term.states) * Real(term.variance));
      fields_ += markov::step_fields(term.states);
    }
  }

  int size() const { return places_.states; }
  std::size_t terms() const { return terms_.size(); }
  int offset(std::size_t t) const { return places_.offset[t]; }
  const StatePlaces& places() const { return places_; }
  const Real* noise_scale() const { return noise_scale_.data(); }

  /// Numbers that the steps of a chunk take.
  Index step_size() const { return fields_ * kStepStride; }
  /// The steps over `count` gaps; there is room for a multiple of 8 of them, and ∞ is a beginning without a
  /// past.
  void steps(const Real* gaps, Index count, Real* out) const {
    for (const markov::StateTerm& term : terms_) {
      if constexpr (std::is_same_v<Real, double>) {
        static_assert(kStepStride == markov::kBlock);
        markov::filter_kernels().matern_steps[term.states - 1](term, gaps, round_up(count, 8), out);
      } else {
        for (Index i = 0; i < count; ++i) step(term, gaps[i], out + i);
      }
      out += markov::step_fields(term.states) * kStepStride;
    }
  }

 private:
  static Real constant(int p) { return p == 3 ? Real(16) / 3 : Real(2 * p); }
  static void step(const markov::StateTerm& term, Real gap, Real* out) {
    using std::exp;
    constexpr double kForgotten = 1000;
    const int p = term.states;
    const Real a = std::min(gap * Real(term.rate), Real(kForgotten));
    const std::array<Real, 5> j = moments(p, a);
    const Real scale = constant(p) * Real(term.variance);
    out[0] = exp(-a);
    out[kStepStride] = a;
    Index field = 2;
    for (int r = 0; r < p; ++r) {
      for (int s = r; s < p; ++s) {
        const int k = p - 1 - r, l = p - 1 - s;
        out[field++ * kStepStride] =
            scale * j[static_cast<std::size_t>(k + l)] / Real((k == 2 ? 2 : 1) * (l == 2 ? 2 : 1));
      }
    }
  }
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

  std::vector<markov::StateTerm> terms_;
  StatePlaces places_;
  std::vector<Real> noise_scale_;
  Index fields_ = 0;
};

}  // namespace bandgp::front
