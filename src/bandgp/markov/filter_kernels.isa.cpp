// SPDX-License-Identifier: Apache-2.0
// The filter of math.md §7 and its adjoint, written once, compiled for every instruction set.  A chain of
// small matrices along the series: vectors run along the points where points do not depend on each other
// (steps), everything else is scalar with all sizes known where the layout is.
#include "bandgp/markov/filter_kernels.hpp"

#include "bandgp/base/oscillator.hpp"
#include "bandgp/simd/vec.hpp"

namespace bandgp::BANDGP_ISA_NAMESPACE {
namespace {

using markov::Block;
using markov::BlockColumn;
using markov::FilterKernels;
using markov::kBlock;
using markov::kMostStates;
using markov::StateKind;
using markov::StateLayout;
using markov::StateTerm;
using markov::step_fields;
using markov::TermSlopes;
using markov::Tests;
using markov::When;

/// 1/n, n < 40.
struct Inverses {
  double of[40];
};
constexpr Inverses inverses() {
  Inverses table{};
  for (int n = 1; n < 40; ++n) table.of[n] = 1.0 / n;
  return table;
}
constexpr Inverses kInverse = inverses();

// --- steps
// -----------------------------------------------------------------------------------------------------------

/// J_m(a) = ∫₀ᵃ s^m e^{−2s} ds for m = 0 … 2p − 2, given e^{−2a}: for a ≤ 2 a series for the last, all of
/// whose terms are positive, and downwards from it; above, upwards, where little cancels.
template <int p>
BANDGP_INLINE void moments(const Column& a, const Column& decay2, double largest, Column* j) {
  constexpr int kLast = 2 * p - 2;
  const Column two_a = a + a;
  Column power[5];  // a^m e^{−2a}
  power[0] = decay2;
  BANDGP_UNROLL for (int m = 1; m <= kLast; ++m) power[m] = power[m - 1] * a;
  // Factors after which the next would be below 1e-16 of the sum, for p = 2 and more so for p = 3.
  const int factors = largest <= 0.1 ? 11 : largest <= 0.35 ? 15 : largest <= 0.7 ? 19 : 29;
  Column series = Column::all(1.0);
  for (int k = factors; k >= 1; --k)
    series = mul_add(Column::all(kInverse.of[kLast + 1 + k]) * two_a, series, Column::all(1.0));
  j[kLast] = Column::all(1.0 / (kLast + 1)) * power[kLast] * a * series;
  BANDGP_UNROLL for (int m = kLast; m >= 1; --m) j[m - 1] = Column::all(1.0 / m) * (2.0 * j[m] + power[m]);
  if (largest > 2) {
    Column up = 0.5 * (1.0 - decay2);
    BANDGP_UNROLL for (int m = 0; m <= kLast; ++m) {
      if (m > 0) up = 0.5 * (static_cast<double>(m) * up - power[m]);
      j[m] = where_le(a, 2.0, j[m]) + (up - where_le(a, 2.0, up));
    }
  }
}

/// Entries of the upper half of a p×p matrix.
template <int p>
constexpr std::size_t kHalf = static_cast<std::size_t>(p * (p + 1) / 2);
constexpr double kForgotten = 1000;  // e^{−1000} is 0, and 0·1000 is 0 where 0·∞ is not a number

/// The covariance that a Matérn term of p states gains over a: the upper half of Q, row by row.
template <int p>
BANDGP_INLINE void gained(double variance, const Column& a, const Column& decay, Column* q) {
  const double scale = markov::noise_constant(p) * variance;
  if constexpr (p == 1) {
    q[0] = Column::all(-variance) * expm1(-2.0 * a);
  } else {
    Column j[5];
    moments<p>(a, decay * decay, a.largest(), j);
    if constexpr (p == 2) {
      q[0] = scale * j[2];
      q[1] = scale * j[1];
      q[2] = scale * j[0];
    } else {
      q[0] = 0.25 * scale * j[4];
      q[1] = 0.5 * scale * j[3];
      q[2] = 0.5 * scale * j[2];
      q[3] = scale * j[2];
      q[4] = scale * j[1];
      q[5] = scale * j[0];
    }
  }
}

template <int p>
void matern_steps(const StateTerm& term, const double* gaps, Index count, double* out) {
  for (Index i = 0; i < count; i += 8) {
    const Column a = min(Column::all(term.rate) * Column::load_unaligned(gaps + i), Column::all(kForgotten));
    const Column decay = exp(0.0 - a);
    decay.store(out + i);
    a.store(out + kBlock + i);
    Column q[kHalf<p>];
    gained<p>(term.variance, a, decay, q);
    BANDGP_UNROLL for (int f = 0; f < p * (p + 1) / 2; ++f) q[f].store(out + (2 + f) * kBlock + i);
  }
}

/// Turns after which no angle is left in a double; the start's is as good as any, because F is 0.
constexpr double kMostTurns = 1e15;

/// F = e^{−a}aᵏ/k! ⊗ rotation, Q ⊗ I, the states of a pair side by side.
template <int p>
void turning_steps(const StateTerm& term, const double* gaps, Index count, double* out) {
  constexpr int n = 2 * p, kCovariance = n * n, kRest = kCovariance + n * (n + 1) / 2;
  for (Index i = 0; i < count; i += 8) {
    const Column gap = Column::load_unaligned(gaps + i);
    const Column a = min(Column::all(term.rate) * gap, Column::all(kForgotten));
    const Column turns = min(Column::all(term.inverse_period) * gap, Column::all(kMostTurns));
    const Column decay = exp(0.0 - a);
    const Turn<Column> angle = turn(turns);
    Column c[3], q[kHalf<p>];
    c[0] = decay;
    c[1] = decay * a;
    c[2] = 0.5 * (c[1] * a);
    gained<p>(term.variance, a, decay, q);
    const auto put = [&](int field, const Column& value) { value.store(out + field * kBlock + i); };
    int field = kCovariance;
    for (int row = 0; row < n; ++row) {
      for (int column = 0; column < n; ++column) {
        const int k = column / 2 - row / 2;
        const bool same = row % 2 == column % 2;
        const Column by = same ? angle.cos : row % 2 == 0 ? 0.0 - angle.sin : angle.sin;
        put(row * n + column, k < 0 ? Column::zero() : c[k < 0 ? 0 : k] * by);
        if (column < row) continue;
        const int r = row / 2, s = column / 2;
        put(field++, same ? q[r * p - r * (r - 1) / 2 + (s - r)] : Column::zero());
      }
    }
    put(kRest, decay);
    put(kRest + 1, a);
    put(kRest + 2, (2 * std::numbers::pi) * turns);
  }
}

/// The powers of s in Q of an oscillator of unit variance and in its slope by log quality: Q′ = MQ + QMᵀ + G.
struct OscillatorSeries {
  static constexpr int kTerms = 26;  // s(1 + 1/quality) ≤ 1: what follows is below 1e-17 of the first
  double q[3][kTerms + 1] = {}, slope[3][kTerms + 1] = {};

  BANDGP_INLINE explicit OscillatorSeries(double quality) {
    const double inverse = 1 / quality;
    double x[3] = {0, 0, 2 * inverse}, y[3] = {0, 0, -2 * inverse}, factorial = 1;
    for (int k = 1; k <= kTerms; ++k) {
      factorial *= k;
      for (int e = 0; e < 3; ++e) {
        q[e][k] = x[e] / factorial;
        slope[e][k] = y[e] / factorial;
      }
      const double nx[3] = {2 * x[1], x[2] - x[0] - inverse * x[1], -2 * (x[1] + inverse * x[2])};
      const double ny[3] = {2 * y[1], y[2] - y[0] - inverse * y[1] + inverse * x[1],
                            -2 * (y[1] + inverse * y[2]) + 2 * inverse * x[2]};
      for (int e = 0; e < 3; ++e) {
        x[e] = nx[e];
        y[e] = ny[e];
      }
    }
  }
  static BANDGP_INLINE Column sum(const double* powers, const Column& s) {
    Column total = Column::all(powers[kTerms]);
    for (int k = kTerms - 1; k >= 1; --k) total = mul_add(total, s, Column::all(powers[k]));
    return total * s;
  }
};

/// F = [C + aS, sS; −sS, C − aS] with the waves C, S that have e^{−a} in them; Q = σ²(I − FFᵀ) written so
/// that nothing cancels but for small s, where the series stands.
void oscillator_steps(const StateTerm& term, const double* gaps, Index count, double* out) {
  const double damping = 0.5 / term.quality, variance = term.variance, least = 1 / (1 + 2 * damping);
  const OscillatorSeries series(term.quality);
  for (Index i = 0; i < count; i += 8) {
    const Column gap = Column::load_unaligned(gaps + i);
    const Column s =
        (2 * std::numbers::pi) * min(Column::all(term.inverse_period) * gap, Column::all(kMostTurns));
    const Column a = damping * s, as = a * s, a2 = a * a;
    const Waves<Column> w = damped_waves(gap, term.inverse_period, term.quality);
    const auto put = [&](int field, const Column& value) { value.store(out + field * kBlock + i); };
    const Column f00 = w.c + a * w.s, f01 = s * w.s;
    put(0, f00);
    put(1, f01);
    put(2, 0.0 - f01);
    put(3, w.c - a * w.s);
    const Column late = 0.0 - expm1(-2.0 * min(a, Column::all(kForgotten)));  // 1 − e^{−2a}
    const Column cross = 2.0 * (a * (w.c * w.s)), square = 2.0 * (a2 * (w.s * w.s));
    Column q[3] = {late - (cross + square), 2.0 * (as * (w.s * w.s)), late - (square - cross)};
    // By log quality: a → −a, C → a C − a²S, S → a S + a²T, both with e^{−a} in them.
    const Column dc = a * w.c - a2 * w.s, ds = a * w.s + a2 * w.t;
    const Column dlate = (late - Column::all(1.0)) * (2.0 * a);  // −2a e^{−2a}
    const Column dcross = 2.0 * (a * (dc * w.s + w.c * ds - w.c * w.s));
    const Column dsquare = 4.0 * (a2 * (w.s * ds - w.s * w.s));
    Column d[3] = {dlate - (dcross + dsquare), 2.0 * (as * (2.0 * (w.s * ds) - w.s * w.s)),
                   dlate - (dsquare - dcross)};
    const Column small = min(s, Column::all(least));
    for (int e = 0; e < 3; ++e) {
      q[e] = select_le(s, least, OscillatorSeries::sum(series.q[e], small), q[e]);
      d[e] = select_le(s, least, OscillatorSeries::sum(series.slope[e], small), d[e]);
      put(4 + e, variance * q[e]);
      put(12 + e, variance * d[e]);
    }
    put(7, s);
    const Column d01 = s * ds;
    put(8, as * (s * w.t));
    put(9, d01);
    put(10, 0.0 - d01);
    put(11, dc + a * w.s - a * ds);
  }
}

// --- layouts
// ---------------------------------------------------------------------------------------------------------

/// An integer that the compiler knows: sums and differences of such are known as well, and loops between two
/// of them are written out.
template <int value>
struct Int {
  BANDGP_INLINE constexpr operator int() const { return value; }
};
template <int a, int b>
BANDGP_INLINE constexpr Int<a + b> operator+(Int<a>, Int<b>) {
  return {};
}
template <int a, int b>
BANDGP_INLINE constexpr Int<a - b> operator-(Int<a>, Int<b>) {
  return {};
}
template <int a, int b>
BANDGP_INLINE constexpr Int<a * b> operator*(Int<a>, Int<b>) {
  return {};
}
constexpr Int<0> k0;
constexpr Int<1> k1;

/// body(i) for begin ≤ i < end.
template <int begin, int end, class Body>
BANDGP_INLINE void loop(Int<begin>, Int<end>, const Body& body) {
  if constexpr (begin < end) {
    body(Int<begin>{});
    loop(Int<begin + 1>{}, Int<end>{}, body);
  }
}
template <class Body>
BANDGP_INLINE void loop(int begin, int end, const Body& body) {
  for (int i = begin; i < end; ++i) body(i);
}
#define BANDGP_BODY(...) [&](__VA_ARGS__) __attribute__((always_inline))

/// A layout whose sizes the compiler knows: `counts` states of Matérn terms or, where `turning`, of others.
template <bool turning, int... counts>
struct Fixed {
  static constexpr int kCapacity = (counts + ...), kTermCapacity = sizeof...(counts);
  static constexpr int kCoefficients = ((counts > 3) || ...) ? markov::kMostStatesOfTerm : 3;
  const StateLayout& layout;
  BANDGP_INLINE explicit Fixed(const StateLayout& given) : layout(given) {}
  static constexpr bool turns() { return turning; }
  static constexpr bool is_full(int) { return turning; }
  BANDGP_INLINE int fields(int t) const { return markov::step_fields(layout.kind[t], layout.count[t]); }
  static constexpr Int<kTermCapacity> terms() { return {}; }
  static constexpr Int<kCapacity> states() { return {}; }
  static constexpr int sum_before(int t, bool own) {
    constexpr int kCounts[] = {counts...};
    int sum = 0;
    for (int s = 0; s < t; ++s) sum += kCounts[s];
    return own ? kCounts[t] : sum;
  }
  template <int t>
  static constexpr Int<sum_before(t, true)> count(Int<t>) {
    return {};
  }
  template <int t>
  static constexpr Int<sum_before(t, false)> offset(Int<t>) {
    return {};
  }
};

/// Any other.
struct Any {
  static constexpr int kCapacity = kMostStates, kTermCapacity = markov::kMostTerms, kCoefficients = 3;
  const StateLayout& layout;
  BANDGP_INLINE explicit Any(const StateLayout& given) : layout(given), turns_(given.turns()) {}
  const bool turns_;
  BANDGP_INLINE bool turns() const { return turns_; }
  BANDGP_INLINE int terms() const { return layout.terms; }
  BANDGP_INLINE int states() const { return layout.states; }
  BANDGP_INLINE int count(int t) const { return layout.count[t]; }
  BANDGP_INLINE int offset(int t) const { return layout.offset[t]; }
  /// Whether the term's F is any matrix, and not a triangle of one number a diagonal.
  BANDGP_INLINE bool is_full(int t) const { return layout.kind[t] != StateKind::matern; }
  BANDGP_INLINE int fields(int t) const { return markov::step_fields(layout.kind[t], layout.count[t]); }
};

/// Index of (i, j), i ≤ j, in an upper half of an n×n matrix stored row by row.
BANDGP_INLINE constexpr int packed(int n, int i, int j) { return i * n - i * (i - 1) / 2 + (j - i); }

/// The lower half of a symmetric matrix from its upper.
template <class N>
BANDGP_INLINE void mirror(N n, double* p) {
  loop(
      k0, n, BANDGP_BODY(auto i) {
        loop(
            i + k1, n, BANDGP_BODY(auto j) { p[j * n + i] = p[i * n + j]; });
      });
}

/// One step of all states: the transition F and the covariance Q it adds, both with the sum of all curves as
/// state 0.  F of a Matérn term is never written out: c holds e^{−a} aᵏ/k!.
template <class L>
struct Step {
  double c[L::kTermCapacity][L::kCoefficients] = {};  // of Matérn terms
  double a[L::kTermCapacity];
  const double* full[L::kTermCapacity];  // all fields of terms that are not Matérn, kBlock apart
  const double* q[L::kTermCapacity];     // fields of Q at this point, kBlock apart

  BANDGP_INLINE Step(const L& l, const double* fields, Index i) {
    loop(
        k0, l.terms(), BANDGP_BODY(auto t) {
          if (l.is_full(t)) {
            full[t] = fields + i;
            q[t] = fields + l.count(t) * l.count(t) * kBlock + i;
          } else {
            c[t][0] = fields[i];
            a[t] = fields[kBlock + i];
            c[t][1] = c[t][0] * a[t];
            c[t][2] = 0.5 * c[t][1] * a[t];
            q[t] = fields + 2 * kBlock + i;
          }
          fields += l.fields(t) * kBlock;
        });
  }
  /// An entry of a term's own F; below the diagonal a Matérn term has none.
  template <class T, class I, class J>
  BANDGP_INLINE double entry(const L& l, T t, I i, J j) const {
    if (l.is_full(t)) return full[t][(i * l.count(t) + j) * kBlock];
    return j < i ? 0.0 : c[t][j < i ? 0 : j - i];
  }
  BANDGP_INLINE double noise(int states, int t, int i, int j) const {
    return q[t][packed(states, i, j) * kBlock];
  }

  /// The upper half of p +← sign·Q: what a term adds to its own curve it adds to the sum, state 0, as well.
  BANDGP_INLINE void add_noise(const L& l, double sign, double* p) const {
    const auto n = l.states();
    loop(
        k0, l.terms(), BANDGP_BODY(auto t) {
          const auto o = l.offset(t);
          const auto count = l.count(t);
          loop(
              k0, count, BANDGP_BODY(auto i) {
                loop(
                    i, count, BANDGP_BODY(auto j) {
                      const double added = sign * noise(count, t, i, j);
                      if (i == 0) p[j == 0 ? 0 : o + j] += added;
                      if (t > 0 && i == 0 && j == 0) p[o] += added;
                      if (o + i > 0) p[(o + i) * n + o + j] += added;
                    });
              });
        });
  }

  /// x ← Fx, entries `stride` apart, where a term's F may be any matrix.  The first term's own curve is the
  /// sum without the others'; it is not formed by itself, which would lose digits.
  template <class Stride>
  BANDGP_INLINE void apply_full(const L& l, double* x, Stride stride) const {
    double own[L::kCapacity];
    loop(
        k0, l.states(), BANDGP_BODY(auto j) { own[j] = x[j * stride]; });
    loop(
        k0, l.terms(), BANDGP_BODY(auto t) {
          const auto o = l.offset(t);
          const auto p = l.count(t);
          loop(
              k0, p, BANDGP_BODY(auto s) {
                double sum = 0;
                loop(
                    k0, p, BANDGP_BODY(auto j) { sum = mul_add(entry(l, t, s, j), own[o + j], sum); });
                if (t == 0)
                  loop(
                      k1, l.terms(), BANDGP_BODY(auto other) {
                        sum = neg_mul_add(entry(l, t, s, k0), own[l.offset(other)], sum);
                      });
                x[(o + s) * stride] = sum;
              });
        });
    // The sum itself: what belongs to one state is put together before it is multiplied.
    double total = 0;
    loop(
        k0, l.terms(), BANDGP_BODY(auto t) {
          const auto o = l.offset(t);
          loop(
              k0, l.count(t), BANDGP_BODY(auto j) {
                const double shared = t > 0 && j == 0 ? entry(l, k0, k0, k0) : 0.0;
                total = mul_add(entry(l, t, k0, j) - shared, own[o + j], total);
              });
        });
    x[0] = total;
  }
  /// x ← Fᵀx, likewise.
  template <class Stride>
  BANDGP_INLINE void apply_full_transposed(const L& l, double* x, Stride stride) const {
    double own[L::kCapacity], of_first = 0;  // what the first curve's other states add to it
    loop(
        k0, l.states(), BANDGP_BODY(auto j) { own[j] = x[j * stride]; });
    loop(
        k1, l.count(k0), BANDGP_BODY(auto s) { of_first = mul_add(entry(l, k0, s, k0), own[s], of_first); });
    loop(
        k0, l.terms(), BANDGP_BODY(auto t) {
          const auto o = l.offset(t);
          const auto p = l.count(t);
          loop(
              k0, p, BANDGP_BODY(auto j) {
                double sum = 0;
                if (t > 0) {
                  const double shared = j == 0 ? entry(l, k0, k0, k0) : 0.0;
                  sum = (entry(l, t, k0, j) - shared) * own[0];
                  if (j == 0) sum -= of_first;
                }
                loop(
                    k0, p, BANDGP_BODY(auto s) { sum = mul_add(entry(l, t, s, j), own[o + s], sum); });
                x[(o + j) * stride] = sum;
              });
        });
  }

  /// x ← Fx, entries `stride` apart.
  template <class Stride>
  BANDGP_INLINE void apply(const L& l, double* x, Stride stride) const {
    if (l.turns()) return apply_full(l, x, stride);
    double total = c[0][0] * x[0];
    loop(
        k1, l.count(k0), BANDGP_BODY(auto j) { total = mul_add(c[0][j], x[j * stride], total); });
    loop(
        k0, l.terms(), BANDGP_BODY(auto t) {
          const auto o = l.offset(t);
          const auto p = l.count(t);
          if (t > 0) {
            total = mul_add(c[t][0] - c[0][0], x[o * stride], total);
            loop(
                k1, p, BANDGP_BODY(auto j) { total = mul_add(c[t][j], x[(o + j) * stride], total); });
          }
          loop(
              k0, p, BANDGP_BODY(auto s) {
                double sum = c[t][0] * x[(o + s) * stride];
                loop(
                    s + k1, p, BANDGP_BODY(auto j) { sum = mul_add(c[t][j - s], x[(o + j) * stride], sum); });
                if (o + s > 0) x[(o + s) * stride] = sum;
              });
        });
    x[0] = total;
  }
  /// x ← Fᵀx.
  template <class Stride>
  BANDGP_INLINE void apply_transposed(const L& l, double* x, Stride stride) const {
    if (l.turns()) return apply_full_transposed(l, x, stride);
    const double first = x[0];
    loop(
        k0, l.terms(), BANDGP_BODY(auto t) {
          const auto o = l.offset(t);
          const auto p = l.count(t);
          double sums[L::kCoefficients];
          loop(
              k0, p, BANDGP_BODY(auto j) {
                double sum = (t > 0 && j == 0 ? c[t][0] - c[0][0] : c[t][j]) * first;  // the row of the sum
                loop(
                    k0, j + k1, BANDGP_BODY(auto s) {
                      if (o + s > 0) sum = mul_add(c[t][j - s], x[(o + s) * stride], sum);
                    });
                sums[j] = sum;
              });
          loop(
              k0, p, BANDGP_BODY(auto j) { x[(o + j) * stride] = sums[j]; });
        });
  }
  /// p ← FpFᵀ + Q for a symmetric matrix, both halves.
  BANDGP_INLINE void predict(const L& l, double* p) const {
    const auto n = l.states();
    loop(
        k0, n, BANDGP_BODY(auto j) { apply(l, p + j, n); });
    loop(
        k0, n, BANDGP_BODY(auto i) { apply(l, p + i * n, k1); });
    add_noise(l, 1, p);
    mirror(n, p);
  }
  /// N ← FᵀNF, both halves.
  BANDGP_INLINE void inform(const L& l, double* information) const {
    const auto n = l.states();
    loop(
        k0, n, BANDGP_BODY(auto j) { apply_transposed(l, information + j, n); });
    loop(
        k0, n, BANDGP_BODY(auto i) { apply_transposed(l, information + i * n, k1); });
    mirror(n, information);
  }
};

// --- forwards
// --------------------------------------------------------------------------------------------------------

/// Predicted → filtered: P_ij −← kᵢP₀ⱼ for i, j ≥ 1, and the first row times ϑ = d/S.  That row must not be a
/// difference: P₀ⱼ − k₀P₀ⱼ loses up to eight digits.
template <class L>
BANDGP_INLINE void update(const L& l, const double* k, double theta, double* p) {
  const auto n = l.states();
  loop(
      k1, n, BANDGP_BODY(auto i) {
        loop(
            i, n, BANDGP_BODY(auto j) { p[i * n + j] = neg_mul_add(k[i], p[j], p[i * n + j]); });
      });
  loop(
      k0, n, BANDGP_BODY(auto j) { p[j] *= theta; });
  mirror(n, p);
}

/// The predicted covariance of a point without its first row, from where it is kept.
template <class N>
BANDGP_INLINE void load_kept(N n, const double* kept, double* p) {
  loop(
      k1, n, BANDGP_BODY(auto i) {
        loop(
            i, n, BANDGP_BODY(auto j) { p[i * n + j] = kept[packed(n - k1, i - k1, j - k1)]; });
      });
}

/// The covariance of the states at a point, after its observation, from what was kept of it.
template <class L, class Points>
BANDGP_INLINE void restore_filtered(const L& l, const Points& points, Index at, double* p) {
  const auto n = l.states();
  const double inverse = points.root[at] * points.root[at], s = 1 / inverse;
  const double* gain = points.gain + at * n;
  loop(
      k0, n, BANDGP_BODY(auto j) { p[j] = gain[j] * s; });
  load_kept(n, points.kept + at * (n * (n - k1) / 2), p);
  update(l, gain, points.noise[at] * inverse, p);
}

/// One state: P = a/b, so that the chain from point to point has no division.  Filtering takes (a, b) to
/// (da, a + db), the step to (f²a + qb, b); all of these are sums of positive terms, and the pivots are
/// ratios of successive b.
Index variances(const Block& block, double* filtered) {
  constexpr double kLarge = 1e100, kSmall = 1e-100;  // with noise up to 1e200 nothing leaves a double's range
  double predicted[kBlock], before[kBlock], after[kBlock];
  double a = filtered[0], b = 1;
  for (Index at = 0; at < block.count; ++at) {
    const double decay = block.steps[at], noise = block.noise[at];
    before[at] = b;
    predicted[at] = a = mul_add(decay * decay, a, block.steps[2 * kBlock + at] * b);
    after[at] = b = mul_add(noise, b, a);
    a *= noise;
    if (!(b < kLarge && b > kSmall)) {
      a /= b;
      b = 1;
    }
  }
  Index failed = -1;
  for (Index at = block.count - 1; at >= 0; --at) {
    if (!(after[at] > 0)) failed = at;
  }
  for (Index at = 0; at < block.count; ++at) {
    const double inverse = 1 / after[at];
    block.gain[at] = predicted[at] * inverse;
    block.root[at] = __builtin_sqrt(before[at] * inverse);
  }
  filtered[0] = a / b;
  return failed;
}

template <class L>
Index covariances(const StateLayout& layout, const Block& block, double* filtered) {
  if constexpr (L::kCapacity == 1) return variances(block, filtered);
  const L l(layout);
  const auto n = l.states();
  double p[L::kCapacity * L::kCapacity];
  loop(
      k0, n * n, BANDGP_BODY(auto i) { p[i] = filtered[i]; });
  Index failed = -1;
  for (Index at = 0; at < block.count; ++at) {
    Step<L>(l, block.steps, at).predict(l, p);
    const double s = p[0] + block.noise[at], inverse = 1 / s;
    double k[L::kCapacity];
    double* gain = block.gain + at * n;
    loop(
        k0, n, BANDGP_BODY(auto j) { gain[j] = k[j] = p[j] * inverse; });
    double* kept = block.kept + at * (n * (n - k1) / 2);
    loop(
        k1, n, BANDGP_BODY(auto i) {
          loop(
              i, n, BANDGP_BODY(auto j) { kept[packed(n - k1, i - k1, j - k1)] = p[i * n + j]; });
        });
    block.root[at] = inverse;
    if (!(s > 0) && failed < 0) failed = at;
    update(l, k, block.noise[at] * inverse, p);
  }
  for (Index at = 0; at < block.count; ++at) block.root[at] = __builtin_sqrt(block.root[at]);
  loop(
      k0, n * n, BANDGP_BODY(auto i) { filtered[i] = p[i]; });
  return failed;
}

template <class L>
void reduce(const StateLayout& layout, const Block& block, double* column, double* filtered) {
  const L l(layout);
  const auto n = l.states();
  double m[L::kCapacity];
  loop(
      k0, n, BANDGP_BODY(auto j) { m[j] = filtered[j]; });
  for (Index at = 0; at < block.count; ++at) {
    Step<L>(l, block.steps, at).apply(l, m, k1);
    const double v = column[at] - m[0];
    const double* k = block.gain + at * n;
    loop(
        k0, n, BANDGP_BODY(auto j) { m[j] = mul_add(k[j], v, m[j]); });
    column[at] = v * block.root[at];
  }
  loop(
      k0, n, BANDGP_BODY(auto j) { filtered[j] = m[j]; });
}

template <class L>
void replay(const StateLayout& layout, const Block& block, const double* reduced, double* filtered, When when,
            double* out) {
  const L l(layout);
  const auto n = l.states();
  double m[L::kCapacity];
  loop(
      k0, n, BANDGP_BODY(auto j) { m[j] = filtered[j]; });
  for (Index at = 0; at < block.count; ++at) {
    if (when == When::before_step)
      loop(
          k0, n, BANDGP_BODY(auto j) { out[at * n + j] = m[j]; });
    Step<L>(l, block.steps, at).apply(l, m, k1);
    const double v = reduced[at] / block.root[at];
    const double* k = block.gain + at * n;
    loop(
        k0, n, BANDGP_BODY(auto j) {
          const double after = mul_add(k[j], v, m[j]);
          if (when != When::before_step) out[at * n + j] = when == When::filtered ? after : m[j];
          m[j] = after;
        });
  }
  loop(
      k0, n, BANDGP_BODY(auto j) { filtered[j] = m[j]; });
}

// --- backwards
// -------------------------------------------------------------------------------------------------------

/// r of the later points → r of this one's predicted side; returns A⁻¹b here.  `scaled` is v/S.
template <class L>
BANDGP_INLINE double solve_point(const L& l, const double* k, double theta, double scaled, double* r) {
  double rest = 0;
  loop(
      k1, l.states(), BANDGP_BODY(auto j) { rest = mul_add(k[j], r[j], rest); });
  const double solved = scaled - mul_add(k[0], r[0], rest);
  r[0] = mul_add(theta, r[0], scaled - rest);
  return solved;
}

template <class L>
void solve(const StateLayout& layout, const Block& block, double* column, double* carried, double* out) {
  const L l(layout);
  const auto n = l.states();
  double r[L::kCapacity];
  loop(
      k0, n, BANDGP_BODY(auto j) { r[j] = carried[j]; });
  for (Index at = block.count - 1; at >= 0; --at) {
    const double root = block.root[at];
    column[at] = solve_point(l, block.gain + at * n, block.noise[at] * (root * root), column[at] * root, r);
    if (out != nullptr)
      loop(
          k0, n, BANDGP_BODY(auto j) { out[at * n + j] = r[j]; });
    Step<L>(l, block.steps, at).apply_transposed(l, r, k1);
  }
  loop(
      k0, n, BANDGP_BODY(auto j) { carried[j] = r[j]; });
}

template <class L>
void information(const StateLayout& layout, const Block& block, double* carried, double* out,
                 double* diagonal) {
  const L l(layout);
  const auto n = l.states();
  const int half = n * (n + k1) / 2;
  double info[L::kCapacity * L::kCapacity];
  loop(
      k0, n * n, BANDGP_BODY(auto i) { info[i] = carried[i]; });
  for (Index at = block.count - 1; at >= 0; --at) {
    const double inverse = block.root[at] * block.root[at], theta = block.noise[at] * inverse;
    const double* k = block.gain + at * n;
    double u[L::kCapacity], square = 0;
    loop(
        k0, n, BANDGP_BODY(auto i) {
          double sum = 0;
          loop(
              k1, n, BANDGP_BODY(auto j) { sum = mul_add(info[i * n + j], k[j], sum); });
          u[i] = sum;
          if (i > 0) square = mul_add(k[i], sum, square);
        });
    diagonal[at] = inverse + mul_add(k[0], mul_add(k[0], info[0], 2 * u[0]), square);
    info[0] = mul_add(theta, mul_add(theta, info[0], -2 * u[0]), square + inverse);
    loop(
        k1, n, BANDGP_BODY(auto j) { info[j] = info[j * n] = mul_add(theta, info[j], -u[j]); });
    double* to = out + at * half;
    loop(
        k0, n, BANDGP_BODY(auto i) {
          loop(
              i, n, BANDGP_BODY(auto j) { to[packed(n, i, j)] = info[i * n + j]; });
        });
    Step<L>(l, block.steps, at).inform(l, info);
  }
  loop(
      k0, n * n, BANDGP_BODY(auto i) { carried[i] = info[i]; });
}

/// X = P − Q = FP₋Fᵀ at a point, both halves, from what was kept of P.
template <class L>
BANDGP_INLINE void moved_covariance(const L& l, const Block& block, const Step<L>& step, Index at,
                                    double* x) {
  const auto n = l.states();
  const double s = 1 / (block.root[at] * block.root[at]);
  loop(
      k0, n, BANDGP_BODY(auto j) { x[j] = block.gain[at * n + j] * s; });
  load_kept(n, block.kept + at * (n * (n - k1) / 2), x);
  step.add_noise(l, -1, x);
  mirror(n, x);
}

/// Λ of a term's own states, `most` to a row: its first one also moves the sum.
template <class L, class T, int most>
BANDGP_INLINE void own_slopes(const L& l, T t, const double* lambda, double* own, Int<most>) {
  const auto n = l.states();
  const auto o = l.offset(t);
  const auto p = l.count(t);
  loop(
      k0, p, BANDGP_BODY(auto i) {
        loop(
            k0, p, BANDGP_BODY(auto j) {
              double entry = lambda[(o + i) * n + o + j];
              if (t > 0 && i == 0) entry += lambda[o + j];
              if (t > 0 && j == 0) entry += lambda[o + i];
              if (t > 0 && i == 0 && j == 0) entry += lambda[0];
              own[i * most + j] = entry;
            });
      });
}

/// The slopes of one point by the parameters of every Matérn term.  Λ = ½(N − Σ rrᵀ) is the loss's slope by
/// the predicted covariance and −r that by the predicted mean; both and X, m are brought from the coordinates
/// in which state 0 is the sum to those of the term as they are read.  `moved` is Σ rᵀGm of every term.
template <class L>
BANDGP_INLINE void add_slopes(const L& l, const Block& block, const Step<L>& step, const double* lambda,
                              const double* x, const double* moved, TermSlopes* out) {
  const auto n = l.states();
  loop(
      k0, l.terms(), BANDGP_BODY(auto t) {
        if (l.is_full(t)) return;
        const auto o = l.offset(t);
        const auto p = l.count(t);
        double own[3][3];
        own_slopes(l, t, lambda, &own[0][0], Int<3>{});
        double by_variance = 0, square = 0;  // tr ΛQ, and gᵀΛg with g = e^{−a}a^{p−1−i}/(p−1−i)!
        loop(
            k0, p, BANDGP_BODY(auto i) {
              loop(
                  i, p, BANDGP_BODY(auto j) {
                    const double both = i == j ? own[i][j] : 2 * own[i][j];
                    by_variance = mul_add(both, step.noise(p, t, i, j), by_variance);
                    square = mul_add(both * step.c[t][p - k1 - i], step.c[t][p - k1 - j], square);
                  });
            });
        out[t].by_log_variance += by_variance;
        // tr(GW), G the shift minus the identity and W = XΛ: of the term's own states, X's first row is that
        // of the sum without the other terms', and Λ's first column moves the sum as well.
        double trace = 0;
        loop(
            k0, p, BANDGP_BODY(auto i) {
              loop(
                  k0, n, BANDGP_BODY(auto s) {
                    double row = x[(o + i) * n + s];
                    if (t == 0 && i == 0)
                      loop(
                          k1, l.terms(), BANDGP_BODY(auto other) { row -= x[l.offset(other) * n + s]; });
                    const double below = i + 1 < p ? x[(o + i + 1) * n + s] : 0.0;
                    double column = lambda[s * n + o + i];
                    if (t > 0 && i == 0) column += lambda[s * n];
                    trace = mul_add(below - row, column, trace);
                  });
            });
        const double scale = markov::noise_constant(p) * block.terms[t]->variance;
        out[t].by_log_lengthscale -= step.a[t] * (mul_add(scale, square, 2 * trace) - moved[t]);
      });
}

/// The same for the terms that turn or oscillate, from the slopes of F and of Q themselves: with P and m of
/// the point before, after its observation, 2 tr(Λ ∂F PFᵀ) + tr(Λ ∂Q) − Σ rᵀ∂Fm.  `carried` is PFᵀ, and
/// `outer` is Σ rmᵀ, both with the sum as state 0.
template <class L>
BANDGP_INLINE void add_full_slopes(const L& l, const Block& block, const Step<L>& step, const double* lambda,
                                   const double* carried, const double* outer, TermSlopes* out) {
  constexpr int kMost = markov::kMostStatesOfTerm;
  constexpr std::size_t kSquare = std::size_t{kMost} * std::size_t{kMost};
  const auto n = l.states();
  loop(
      k0, l.terms(), BANDGP_BODY(auto t) {
        if (!l.is_full(t)) return;
        const auto o = l.offset(t);
        const auto p = l.count(t);
        const double* f = step.full[t];
        double own[kSquare], by_step[kSquare];  // slopes by Q and by F
        own_slopes(l, t, lambda, own, Int<kMost>{});
        loop(
            k0, p, BANDGP_BODY(auto i) {
              loop(
                  k0, p, BANDGP_BODY(auto j) {
                    double sum = 0, product = outer[(o + i) * n + o + j];
                    loop(
                        k0, n, BANDGP_BODY(auto s) {
                          double row = carried[(o + j) * n + s], column = lambda[s * n + o + i];
                          if (t == 0 && j == 0)
                            loop(
                                k1, l.terms(),
                                BANDGP_BODY(auto other) { row -= carried[l.offset(other) * n + s]; });
                          if (t > 0 && i == 0) column += lambda[s * n];
                          sum = mul_add(row, column, sum);
                        });
                    if (t > 0 && i == 0) product += outer[o + j];
                    if (t == 0 && j == 0)
                      loop(
                          k1, l.terms(),
                          BANDGP_BODY(auto other) { product -= outer[(o + i) * n + l.offset(other)]; });
                    by_step[i * kMost + j] = 2 * sum - product;
                  });
            });
        const auto field = BANDGP_BODY(int k) { return f[k * kBlock]; };
        const auto noise = BANDGP_BODY(int i, int j) {
          return step.noise(p, static_cast<int>(t), i < j ? i : j, i < j ? j : i);
        };
        double by_variance = 0;
        loop(
            k0, p, BANDGP_BODY(auto i) {
              loop(
                  k0, p, BANDGP_BODY(auto j) {
                    by_variance = mul_add(own[i * kMost + j], noise(i, j), by_variance);
                  });
            });
        out[t].by_log_variance += by_variance;
        const int rest = p * p + p * (p + 1) / 2;
        if (block.terms[t]->kind == StateKind::turning) {
          const double decay = field(rest), a = field(rest + 1), angle = field(rest + 2);
          if (decay == 0) return;
          const int pairs = p / 2;
          const double scale = markov::noise_constant(pairs) * block.terms[t]->variance;
          double by_length = 0, by_angle = 0, square = 0;
          double g[3] = {decay, decay * a, 0.5 * decay * a * a};
          for (int i = 0; i < p; ++i) {
            for (int j = 0; j < p; ++j) {
              const double next = i + 2 < p ? field((i + 2) * p + j) : 0.0;
              by_length = mul_add(by_step[i * kMost + j], next - field(i * p + j), by_length);
              const double turned = i % 2 == 0 ? -field((i + 1) * p + j) : field((i - 1) * p + j);
              by_angle = mul_add(by_step[i * kMost + j], turned, by_angle);
              if (i % 2 == j % 2)
                square = mul_add(own[i * kMost + j] * g[pairs - 1 - i / 2], g[pairs - 1 - j / 2], square);
            }
          }
          out[t].by_log_lengthscale -= a * mul_add(scale, square, by_length);
          out[t].by_log_period -= angle * by_angle;
        } else {
          const double s = field(7), inverse = 1 / block.terms[t]->quality;
          if (field(0) == 0 && field(1) == 0) return;  // all is forgotten: the stationary states
          const double q00 = noise(0, 0), q01 = noise(0, 1), q11 = noise(1, 1);
          // ∂F/∂s = MF and ∂Q/∂s = MQ + QMᵀ + G, M = [0 1; −1 −1/quality].
          const double flow[4] = {field(2), field(3), -field(0) - inverse * field(2),
                                  -field(1) - inverse * field(3)};
          const double grown[3] = {2 * q01, q11 - q00 - inverse * q01,
                                   2 * (inverse * (block.terms[t]->variance - q11) - q01)};
          double by_s = own[0] * grown[0] + 2 * own[1] * grown[1] + own[kMost + 1] * grown[2];
          double by_quality = own[0] * field(12) + 2 * own[1] * field(13) + own[kMost + 1] * field(14);
          for (int e = 0; e < 4; ++e) {
            const double weight = by_step[e / 2 * kMost + e % 2];
            by_s = mul_add(weight, flow[e], by_s);
            by_quality = mul_add(weight, field(8 + e), by_quality);
          }
          out[t].by_log_period -= s * by_s;
          out[t].by_log_quality += by_quality;
        }
      });
}

/// Σ rᵀGm of every term, in its own coordinates.
template <class L>
BANDGP_INLINE void add_moved(const L& l, const double* r, const double* m, double* moved) {
  loop(
      k0, l.terms(), BANDGP_BODY(auto t) {
        if (l.is_full(t)) return;
        const auto o = l.offset(t);
        const auto p = l.count(t);
        loop(
            k0, p, BANDGP_BODY(auto s) {
              const double row = t > 0 && s == 0 ? r[o] + r[0] : r[o + s];
              double here = m[o + s];
              if (t == 0 && s == 0)
                loop(
                    k1, l.terms(), BANDGP_BODY(auto other) { here -= m[l.offset(other)]; });
              moved[t] = mul_add(row, (s + 1 < p ? m[o + s + 1] : 0.0) - here, moved[t]);
            });
      });
}

template <class L>
void contract(const StateLayout& layout, const Block& block, const double* information,
              const BlockColumn* columns, Index column_count, TermSlopes* out) {
  const L l(layout);
  const auto n = l.states();
  const int half = n * (n + k1) / 2;
  TermSlopes sums[L::kTermCapacity];
  for (Index at = block.count - 1; at >= 0; --at) {
    const Step<L> step(l, block.steps, at);
    const double root = block.root[at], theta = block.noise[at] * (root * root);
    const double* k = block.gain + at * n;
    const double* info = information + at * half;
    double lambda[L::kCapacity * L::kCapacity], moved[L::kTermCapacity];
    loop(
        k0, n, BANDGP_BODY(auto i) {
          loop(
              i, n, BANDGP_BODY(auto j) { lambda[i * n + j] = info[packed(n, i, j)]; });
        });
    loop(
        k0, l.terms(), BANDGP_BODY(auto t) { moved[t] = 0; });
    double outer[L::kCapacity * L::kCapacity];
    if (l.turns())
      loop(
          k0, n * n, BANDGP_BODY(auto i) { outer[i] = 0; });
    for (Index c = 0; c < column_count; ++c) {
      double r[L::kCapacity];
      loop(
          k0, n, BANDGP_BODY(auto j) { r[j] = columns[c].state[j]; });
      columns[c].solved[at] = solve_point(l, k, theta, columns[c].reduced[at] * root, r);
      loop(
          k0, n, BANDGP_BODY(auto i) {
            loop(
                i, n,
                BANDGP_BODY(auto j) { lambda[i * n + j] = neg_mul_add(r[i], r[j], lambda[i * n + j]); });
          });
      if (l.turns()) {
        const double* before = columns[c].mean + at * n;
        double m[L::kCapacity];
        loop(
            k0, n, BANDGP_BODY(auto i) {
              m[i] = before[i];
              loop(
                  k0, n,
                  BANDGP_BODY(auto j) { outer[i * n + j] = mul_add(r[i], before[j], outer[i * n + j]); });
            });
        step.apply(l, m, k1);
        add_moved(l, r, m, moved);
      } else {
        add_moved(l, r, columns[c].mean + at * n, moved);
      }
      step.apply_transposed(l, r, k1);
      loop(
          k0, n, BANDGP_BODY(auto j) { columns[c].state[j] = r[j]; });
    }
    loop(
        k0, n, BANDGP_BODY(auto i) {
          loop(
              i, n, BANDGP_BODY(auto j) { lambda[i * n + j] *= 0.5; });
        });
    mirror(n, lambda);
    double x[L::kCapacity * L::kCapacity];
    moved_covariance(l, block, step, at, x);
    add_slopes(l, block, step, lambda, x, moved, sums);
    if (l.turns()) {
      if (at == 0 && block.is_first)
        loop(
            k0, n * n, BANDGP_BODY(auto i) { x[i] = 0; });
      else
        restore_filtered(l, block, at - 1, x);  // the arrays of all blocks lie one behind the other
      loop(
          k0, n, BANDGP_BODY(auto i) { step.apply(l, x + i * n, k1); });
      add_full_slopes(l, block, step, lambda, x, outer, sums);
    }
  }
  for (int t = 0; t < l.terms(); ++t) {
    out[t].by_log_variance += sums[t].by_log_variance;
    out[t].by_log_lengthscale += sums[t].by_log_lengthscale;
    out[t].by_log_period += sums[t].by_log_period;
    out[t].by_log_quality += sums[t].by_log_quality;
  }
}

// --- test points
// -----------------------------------------------------------------------------------------------------

template <class L>
void predict(const StateLayout& layout, const Tests& tests) {
  const L l(layout);
  const auto n = l.states();
  const int half = n * (n + k1) / 2;
  for (Index at = 0; at < tests.count; ++at) {
    const Index before = tests.before[at], next = before + 1 < tests.points ? before + 1 : before;
    const Step<L> step(l, tests.steps, at), onward(l, tests.onward, at);
    double p[L::kCapacity * L::kCapacity], start[L::kCapacity];
    loop(
        k0, n * n, BANDGP_BODY(auto i) { p[i] = 0; });
    if (before >= 0) restore_filtered(l, tests, before, p);
    step.predict(l, p);
    loop(
        k0, n, BANDGP_BODY(auto j) {  // p* = P*h
          double sum = 0;
          loop(
              k0, n, BANDGP_BODY(auto s) { sum = mul_add(p[j * n + s], tests.select[s], sum); });
          start[j] = sum;
        });
    for (Index c = 0; c < tests.columns; ++c) {
      double m[L::kCapacity], r[L::kCapacity];
      loop(
          k0, n, BANDGP_BODY(auto j) {
            m[j] = before >= 0 ? tests.mean[c][before * n + j] : 0;
            r[j] = tests.r[c][next * n + j];
          });
      step.apply(l, m, k1);
      onward.apply_transposed(l, r, k1);
      double sum = 0;
      loop(
          k0, n, BANDGP_BODY(auto j) {
            sum = mul_add(tests.select[j], m[j], sum);
            sum = mul_add(start[j], r[j], sum);
          });
      tests.projection[c * tests.stride + at] = sum;
    }
    if (tests.variance == nullptr) continue;
    // hᵀP*h − p*ᵀN*p* with N* = FᵀNF: Fp* against N.
    double prior = 0, explained = 0;
    loop(
        k0, n, BANDGP_BODY(auto j) { prior = mul_add(tests.select[j], start[j], prior); });
    onward.apply(l, start, k1);
    const double* info = tests.information + next * half;
    loop(
        k0, n, BANDGP_BODY(auto i) {
          loop(
              i, n, BANDGP_BODY(auto j) {
                explained =
                    mul_add((i == j ? 1.0 : 2.0) * info[packed(n, i, j)] * start[i], start[j], explained);
              });
        });
    tests.variance[at] = prior > explained ? prior - explained : 0;
  }
}

template <class L>
constexpr FilterKernels::Loops loops_of() {
  return {covariances<L>, reduce<L>, replay<L>, solve<L>, information<L>, contract<L>, predict<L>};
}

}  // namespace

extern const markov::FilterKernels filter_kernels;
const markov::FilterKernels filter_kernels = {
    {matern_steps<1>, matern_steps<2>, matern_steps<3>},
    {turning_steps<1>, turning_steps<2>, turning_steps<3>},
    oscillator_steps,
    {loops_of<Fixed<false, 1>>(), loops_of<Fixed<false, 2>>(), loops_of<Fixed<false, 3>>(),
     loops_of<Fixed<false, 1, 1>>(), loops_of<Fixed<false, 1, 2>>(), loops_of<Fixed<false, 1, 3>>(),
     loops_of<Fixed<false, 2, 2>>(), loops_of<Fixed<true, 2>>(), loops_of<Fixed<true, 4>>(),
     loops_of<Fixed<true, 2, 2>>(), loops_of<Any>()}};

}  // namespace bandgp::BANDGP_ISA_NAMESPACE
