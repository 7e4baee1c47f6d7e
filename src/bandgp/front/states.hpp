// SPDX-License-Identifier: Apache-2.0
// The states of a sum of Markov terms, in the order of the terms, and their steps over gaps. [math.md §7,
// §12] Written for any precision; doubles take the vectorised steps of markov/.
#pragma once
#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <numbers>
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
      places_.kind[places_.terms] = term.kind;
      places_.turns = places_.turns || term.kind != StateKind::matern;
      places_.offset[places_.terms++] = places_.states;
      places_.states += term.states;
      const bool oscillator = term.kind == StateKind::oscillator;
      noise_scale_.push_back((oscillator ? Real(1) : constant(matern_order(term))) * Real(term.variance));
      inverse_quality_.push_back(oscillator ? 1 / Real(term.quality) : Real(0));
      fields_ += markov::step_fields(term.kind, term.states);
    }
  }

  int size() const { return places_.states; }
  std::size_t terms() const { return terms_.size(); }
  int offset(std::size_t t) const { return places_.offset[t]; }
  const StatePlaces& places() const { return places_; }
  const Real* noise_scale() const { return noise_scale_.data(); }
  const Real* inverse_quality() const { return inverse_quality_.data(); }

  /// Numbers that the steps of a chunk take.
  Index step_size() const { return fields_ * kStepStride; }
  /// The steps over `count` gaps; there is room for a multiple of 8 of them, and ∞ is a beginning without a
  /// past.
  void steps(const Real* gaps, Index count, Real* out) const {
    for (const markov::StateTerm& term : terms_) {
      if constexpr (std::is_same_v<Real, double>) {
        static_assert(kStepStride == markov::kBlock);
        markov::filter_kernels().steps(term)(term, gaps, round_up(count, 8), out);
      } else {
        for (Index i = 0; i < count; ++i) {
          if (term.kind == StateKind::matern)
            step(term, gaps[i], out + i);
          else if (term.kind == StateKind::turning)
            turning_step(term, gaps[i], out + i);
          else
            oscillator_step(term, gaps[i], out + i);
        }
      }
      out += markov::step_fields(term.kind, term.states) * kStepStride;
    }
  }

 private:
  using StateKind = markov::StateKind;
  /// p of the Matérn term that a term is or that turns.
  static int matern_order(const markov::StateTerm& term) {
    return term.kind == StateKind::turning ? term.states / 2 : term.states;
  }
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
  /// F ⊗ rotation and Q ⊗ I, the states of a pair side by side.
  static void turning_step(const markov::StateTerm& term, Real gap, Real* out) {
    using std::cos, std::exp, std::isinf, std::nearbyint, std::sin;
    const int n = term.states, p = n / 2, covariance = n * n, rest = covariance + n * (n + 1) / 2;
    markov::StateTerm matern = term;
    matern.states = p;
    std::array<Real, static_cast<std::size_t>((2 + 6) * kStepStride)> own{};
    step(matern, gap, own.data());
    const Real decay = own[0], a = own[static_cast<std::size_t>(kStepStride)];
    const Real turns = isinf(gap) ? Real(0) : gap * Real(term.inverse_period);
    const Real angle = 2 * std::numbers::pi_v<Real> * (turns - nearbyint(turns));
    const Real c[3] = {decay, decay * a, decay * a * a / 2}, cosine = cos(angle), sine = sin(angle);
    int field = covariance;
    for (int row = 0; row < n; ++row) {
      for (int column = 0; column < n; ++column) {
        const int k = column / 2 - row / 2;
        const bool same = row % 2 == column % 2;
        const Real by = same ? cosine : row % 2 == 0 ? -sine : sine;
        out[(row * n + column) * kStepStride] = k < 0 ? Real(0) : c[k] * by;
        if (column < row) continue;
        const int r = row / 2, s = column / 2;
        out[field++ * kStepStride] =
            same ? own[static_cast<std::size_t>((2 + r * p - r * (r - 1) / 2 + (s - r)) * kStepStride)]
                 : Real(0);
      }
    }
    out[rest * kStepStride] = decay;
    out[(rest + 1) * kStepStride] = a;
    out[(rest + 2) * kStepStride] = 2 * std::numbers::pi_v<Real> * turns;
  }
  /// F = e^{−a}[C + aS, sS; −sS, C − aS] and Q, a sum of powers of s where it would cancel; and their slopes
  /// by log quality.
  static void oscillator_step(const markov::StateTerm& term, Real gap, Real* out) {
    using std::abs, std::cos, std::cosh, std::exp, std::expm1, std::sin, std::sinh, std::sqrt;
    constexpr double kForgotten = 1500;
    const Real damping = Real(0.5) / Real(term.quality), square = 1 - damping * damping,
               root = sqrt(abs(square)), slowest = square > 0 ? damping : 1 / (damping + root);
    const Real s =
        std::min(2 * std::numbers::pi_v<Real> * Real(term.inverse_period) * gap, Real(kForgotten) / slowest);
    const Real a = damping * s, b = root * s, b2 = square * s * s, decay = exp(-a);
    // C, S and (C − S)/b², each times e^{−a}.
    Real wc, ws, wt;
    if (abs(b) < 1) {                                                      // powers of b²
      Real cosine = 0, sine = 0, third = 0, power = decay, factorial = 1;  // (2k)!
      for (int k = 0; k < 16; ++k) {
        cosine += power / factorial;
        sine += power / (factorial * Real(2 * k + 1));
        third -= power * Real(2 * k + 2) / (factorial * Real((2 * k + 1) * (2 * k + 2)) * Real(2 * k + 3));
        power *= -b2;
        factorial *= Real((2 * k + 1) * (2 * k + 2));
      }
      wc = cosine;
      ws = sine;
      wt = third;
    } else {
      if (square > 0) {
        wc = decay * cos(b);
        ws = decay * sin(b) / b;
      } else {
        const Real slow = exp(b - a), fast = exp(-b - a);
        wc = (slow + fast) / 2;
        ws = (slow - fast) / (2 * b);
      }
      wt = (wc - ws) / b2;
    }
    const Real dc = a * wc - a * a * ws, ds = a * ws + a * a * wt;  // by log quality
    Real q[3], d[3];
    if (s * (1 + 2 * damping) <= 1) {
      oscillator_powers(1 / Real(term.quality), s, q, d);
    } else {
      const Real late = -expm1(-2 * a), cross = 2 * a * wc * ws, squares = 2 * a * a * ws * ws;
      const Real dlate = -2 * a * exp(-2 * a), dcross = 2 * a * (dc * ws + wc * ds - wc * ws),
                 dsquares = 4 * a * a * (ws * ds - ws * ws);
      q[0] = late - (cross + squares);
      q[1] = 2 * a * s * ws * ws;
      q[2] = late - (squares - cross);
      d[0] = dlate - (dcross + dsquares);
      d[1] = 2 * a * s * (2 * ws * ds - ws * ws);
      d[2] = dlate - (dsquares - dcross);
    }
    const Real fields[] = {wc + a * ws, s * ws, -s * ws, wc - a * ws};
    const Real slopes[] = {a * s * s * wt, s * ds, -s * ds, dc + a * ws - a * ds};
    for (int e = 0; e < 4; ++e) {
      out[e * kStepStride] = fields[e];
      out[(8 + e) * kStepStride] = slopes[e];
    }
    for (int e = 0; e < 3; ++e) {
      out[(4 + e) * kStepStride] = Real(term.variance) * q[e];
      out[(12 + e) * kStepStride] = Real(term.variance) * d[e];
    }
    out[7 * kStepStride] = s;
  }
  /// Q of unit variance and its slope by log quality: Q′ = MQ + QMᵀ + G, summed as powers of s.
  static void oscillator_powers(Real inverse, Real s, Real* q, Real* slope) {
    Real x[3] = {0, 0, 2 * inverse}, y[3] = {0, 0, -2 * inverse}, power = 1;
    std::fill_n(q, 3, Real(0));
    std::fill_n(slope, 3, Real(0));
    for (int k = 1; k <= 40; ++k) {
      power *= s / Real(k);
      for (int e = 0; e < 3; ++e) {
        q[e] += x[e] * power;
        slope[e] += y[e] * power;
      }
      const Real nx[3] = {2 * x[1], x[2] - x[0] - inverse * x[1], -2 * (x[1] + inverse * x[2])};
      const Real ny[3] = {2 * y[1], y[2] - y[0] - inverse * y[1] + inverse * x[1],
                          -2 * (y[1] + inverse * y[2]) + 2 * inverse * x[2]};
      std::copy_n(nx, 3, x);
      std::copy_n(ny, 3, y);
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
  std::vector<Real> noise_scale_, inverse_quality_;
  Index fields_ = 0;
};

}  // namespace bandgp::front
