// SPDX-License-Identifier: Apache-2.0
// The loops of elements and the front, written once for any number of lanes: eight doubles of an instruction
// set (front_kernels.isa.cpp), or one number of any precision (Plain).                        [math.md §11]
// Matrices are stored row by row; what is read as lanes has rows of whole lanes.
#pragma once
#include <cmath>
#include <cstddef>
#include <type_traits>

#include "bandgp/base/index.hpp"
#include "bandgp/markov/state_terms.hpp"

namespace bandgp::front {

/// States that a sum may have, and points of a chunk: one more step than points fits into 512.
inline constexpr int kMostStates = 64;
inline constexpr Index kMostPoints = 504, kStepStride = 512;
/// Polynomials of a cell, and their products.
inline constexpr Index kMostPolynomials = 48, kMostSums = 2 * kMostPolynomials - 1;

/// The diagonal of a product that is wanted whole.
inline constexpr Index kNoDiagonal = -1;
/// Whether a product takes the place of what is there.
inline constexpr bool kReplace = false, kAddTo = true;

/// Where each term's states are; state 0 is the sum of all curves, in the place of the first term's own.
struct StatePlaces {
  int terms = 0, states = 0;
  int count[kMostStates] = {}, offset[kMostStates] = {};
  markov::StateKind kind[kMostStates] = {};
  bool turns = false;  // any of the terms turns or oscillates
};

/// A chunk's points and its element's columns, as the loops see them.
template <class Real>
struct ElementBlock {
  StatePlaces places;
  Index count = 0;              // points
  Index width = 0;              // columns, whole lanes
  const Real* steps = nullptr;  // of every term e^{−a}, a and the upper half of Q, each kStepStride long;
                                // of others than Matérn terms what markov/state_terms.hpp says
  const Real* noise_scale = nullptr;  // κσ² of every term: ∂Q/∂a = κσ² ggᵀ; σ² of an oscillator
  const Real* inverse_quality = nullptr;  // of every term, where it is an oscillator
  const Real* noise = nullptr;            // (count,)
  Real* rows = nullptr;                   // (count, width): W and −b in, v/√S out
  Real* mean = nullptr;        // (states, width): the states by column, at the beginning and then at the end
  Real* covariance = nullptr;  // (states, states): 0 at the beginning, then that at the end
  Real* pivots = nullptr;      // (count,) S
  Real* inverse_roots = nullptr;     // (count,) S^{−½}
  Real* gains = nullptr;             // (count, states) k
  bool known_gains = false;          // the two before are there already
  Real* kept = nullptr;              // (count + 1, states, width): predicted means; may be null, as may
  Real* kept_covariances = nullptr;  // (count + 1, states, states), predicted
  const Real* begin = nullptr;       // (states, width): the states at the beginning once more, where kept is
  bool has_end = false;              // a step after the last point, to where the next chunk begins
  // Columns whose −v/√S is known: 0 there and 1 elsewhere, and the other way round; null where there is none.
  const Real* given_not = nullptr;
  const Real* given = nullptr;
  Real log_pivots = 0;
  bool failed = false;
};

/// C ← A·B, or C += A·B, with A(i, l) = a[i·row + l·step].  B and C are `width` wide, whole lanes.
template <class Real>
struct Product {
  struct Factor {
    const Real* data;
    Index row, step;
  };
  struct Rows {
    const Real* data;
    Index stride;
  };
  struct Result {
    Real* data;
    Index stride;
  };
  Factor a;
  Rows b;
  Result c;
  Index m, depth, width;  // A is (m, depth)
  bool add_to = kReplace;
  // Where C is symmetric: row i is wanted from this column + i on alone, and has no meaning left of it.
  Index diagonal = kNoDiagonal;
};

/// A chunk whose element is known, for single columns.
template <class Real>
struct ColumnBlock {
  const StatePlaces* places = nullptr;
  Index count = 0;
  const Real* steps = nullptr;
  const Real* inverse_roots = nullptr;  // (count,)
  const Real* gains = nullptr;          // (count, states)
  bool has_end = false;
};

/// What pulling the loss's slopes back through a chunk needs and gives.
template <class Real>
struct PullBlock {
  Real* rows_by = nullptr;              // (count, width): v/√S · ∂/∂G in, with states ∂/∂(row) out
  const Real* by_mean = nullptr;        // (states, width) and
  const Real* by_covariance = nullptr;  // (states, states) at the end of the chunk
  Real* by_noise = nullptr;             // (count,) out
  // Added to, by term.
  Real* by_variance = nullptr;
  Real* by_lengthscale = nullptr;
  Real* by_period = nullptr;
  Real* by_quality = nullptr;
};

/// The logarithm of a product, of which few logarithms are taken.  Inlined, as Plain is.
template <class Real>
struct Logarithm {
  Real sum = 0, product = 1;
  __attribute__((always_inline)) static bool is_moderate(Real x) {
    return x < Real(1e100) && x > Real(1e-100);
  }
  __attribute__((always_inline)) void multiply(Real x) {
    using std::log;
    if (is_moderate(x))
      product *= x;
    else
      sum += log(x);
    if (!is_moderate(product)) {
      sum += log(product);
      product = 1;
    }
  }
  __attribute__((always_inline)) Real value() const {
    using std::log;
    return sum + log(product);
  }
};

/// One number at a time.  Everything is inlined, so that no copy of one instruction set serves another.
template <class Number>
struct Plain {
  using Real = Number;
  static constexpr Index kWidth = 1, kRegisters = 1;
  Real x;

#define BANDGP_PLAIN __attribute__((always_inline))
  BANDGP_PLAIN static Plain load_unaligned(const Real* p) { return {*p}; }
  BANDGP_PLAIN static Plain all(Real value) { return {value}; }
  BANDGP_PLAIN static Plain zero() { return {Real(0)}; }
  BANDGP_PLAIN void store_unaligned(Real* p) const { *p = x; }
  BANDGP_PLAIN Real sum() const { return x; }
  BANDGP_PLAIN static void transpose_block(const Real* from, Real* to, Index) { *to = *from; }
  BANDGP_PLAIN friend Plain operator+(Plain a, Plain b) { return {a.x + b.x}; }
  BANDGP_PLAIN friend Plain operator-(Plain a, Plain b) { return {a.x - b.x}; }
  BANDGP_PLAIN friend Plain operator*(Plain a, Plain b) { return {a.x * b.x}; }
  BANDGP_PLAIN friend Plain operator/(Plain a, Plain b) { return {a.x / b.x}; }
  BANDGP_PLAIN friend Plain sqrt(Plain a) {
    using std::sqrt;
    return {sqrt(a.x)};
  }
  BANDGP_PLAIN friend Plain mul_add(Plain a, Plain b, Plain c) { return {a.x * b.x + c.x}; }
  BANDGP_PLAIN friend Plain mul_sub(Plain a, Plain b, Plain c) { return {a.x * b.x - c.x}; }
  BANDGP_PLAIN friend Plain exp(Plain a) {
    using std::exp;
    return {exp(a.x)};
  }
#undef BANDGP_PLAIN
};

/// Length-scales of a gap beyond which a step forgets everything, and its slopes with it.
inline constexpr double kForgets = 60;

/// One step of the states, F and Q, over a gap.  F of a Matérn term is never written out: c has e^{−a} aᵏ/k!.
/// `known` is the number of states of a single Matérn term, and 0 for everything else.
template <class Lane, int known>
struct Move {
  using Real = typename Lane::Real;
  const StatePlaces& places;
  static constexpr std::size_t kTerms = known > 0 ? 1 : kMostStates;
  static constexpr int kMostOfTerm = markov::kMostStatesOfTerm;
  Real c[kTerms][3];
  Real a[kTerms];
  const Real* q[kTerms];
  const Real* full[kTerms];  // all fields of a term that turns or oscillates, F first; null of others

  Move(const StatePlaces& given, const Real* steps, Index i) : places(given) {
    c[0][0] = 0;
    for (int t = 0; t < terms(); ++t) {
      const int n = count(t);
      if (is_full(t)) {
        full[t] = steps + i;
        c[t][0] = c[t][1] = c[t][2] = 0;
        q[t] = steps + n * n * kStepStride + i;
        a[t] = kind(t) == markov::StateKind::turning ? rest(t)[kStepStride] : Real(0);
        steps += markov::step_fields(kind(t), n) * kStepStride;
        continue;
      }
      full[t] = nullptr;
      c[t][0] = steps[i];
      a[t] = steps[kStepStride + i];
      c[t][1] = c[t][0] * a[t];
      c[t][2] = Real(0.5) * c[t][1] * a[t];
      q[t] = steps + 2 * kStepStride + i;
      steps += (2 + n * (n + 1) / 2) * kStepStride;
    }
  }
  int terms() const { return known > 0 ? 1 : places.terms; }
  int states() const { return known > 0 ? known : places.states; }
  int count(int t) const { return known > 0 ? known : places.count[t]; }
  int offset(int t) const { return known > 0 ? 0 : places.offset[t]; }
  markov::StateKind kind(int t) const { return known > 0 ? markov::StateKind::matern : places.kind[t]; }
  bool is_full(int t) const { return known == 0 && places.turns && kind(t) != markov::StateKind::matern; }
  /// The fields of a full term that follow F and Q.
  const Real* rest(int t) const { return q[t] + count(t) * (count(t) + 1) / 2 * kStepStride; }
  /// Entry (i, j) of the covariance that a term adds.
  Real added(int t, int i, int j) const {
    const int n = count(t), low = i < j ? i : j, high = i < j ? j : i;
    return q[t][static_cast<Index>(low * n - low * (low - 1) / 2 + (high - low)) * kStepStride];
  }
  /// An entry of a term's own F.
  Real entry(int t, int i, int j) const {
    if (is_full(t)) return full[t][(i * count(t) + j) * kStepStride];
    return j < i ? Real(0) : c[t][j - i];
  }
  /// Beyond that a step forgets everything, and its slopes with it.
  bool remembers(int t) const {
    if (kind(t) == markov::StateKind::oscillator) return entry(t, 0, 0) != 0 || entry(t, 0, 1) != 0;
    return a[t] < kForgets;
  }
  /// F(0, o_t + d) of the terms but the first: the sum moves as they do, not as the first does.
  Real to_sum(int t, int d) const { return d == 0 ? c[t][0] - c[0][0] : c[t][d]; }
  /// The same where some F are full.
  Real full_to_sum(int t, int d) const { return d == 0 ? entry(t, 0, 0) - entry(0, 0, 0) : entry(t, 0, d); }

  /// m ← F m and m ← Fᵀm for states that at(r) reads and put(r, value) writes.
  template <class Along, class At, class Put>
  __attribute__((always_inline)) void forward_by(const At& at, const Put& put) const {
    if (known == 0 && places.turns) {
      forward_full<Along>(at, put);
      return;
    }
    for (int t = 0; t < terms(); ++t) {
      for (int i = 0; i < count(t); ++i) {
        Along sum = Along::all(c[t][0]) * at(offset(t) + i);
        for (int d = 1; i + d < count(t); ++d) sum = mul_add(Along::all(c[t][d]), at(offset(t) + i + d), sum);
        for (int s = 1; s < terms() && t == 0 && i == 0; ++s) {
          for (int d = 0; d < count(s); ++d) sum = mul_add(Along::all(to_sum(s, d)), at(offset(s) + d), sum);
        }
        put(offset(t) + i, sum);
      }
    }
  }
  template <class Along, class At, class Put>
  __attribute__((always_inline)) void backward_by(const At& at, const Put& put) const {
    if (known == 0 && places.turns) {
      backward_full<Along>(at, put);
      return;
    }
    const Along first = at(0);
    for (int t = terms() - 1; t >= 0; --t) {
      for (int j = count(t) - 1; j >= 0; --j) {
        Along sum = Along::all(c[t][0]) * at(offset(t) + j);
        for (int d = 1; d <= j; ++d) sum = mul_add(Along::all(c[t][d]), at(offset(t) + j - d), sum);
        if (t > 0) sum = mul_add(Along::all(to_sum(t, j)), first, sum);
        put(offset(t) + j, sum);
      }
    }
  }
  /// The same where any F is a full matrix.  The first term's own curve is the sum without the others'.
  template <class Along, class At, class Put>
  void forward_full(const At& at, const Put& put) const {
    Along others = Along::zero();
    for (int t = 1; t < terms(); ++t) others = others + at(offset(t));
    for (int t = 0; t < terms(); ++t) {
      Along moved[static_cast<std::size_t>(kMostOfTerm)];
      for (int i = 0; i < count(t); ++i) {
        Along sum = Along::zero();
        for (int j = is_full(t) ? 0 : i; j < count(t); ++j)
          sum = mul_add(Along::all(entry(t, i, j)), at(offset(t) + j), sum);
        if (t == 0 && i > 0 && is_full(0)) sum = mul_add(Along::all(-entry(0, i, 0)), others, sum);
        for (int s = 1; s < terms() && t == 0 && i == 0; ++s) {
          for (int d = 0; d < count(s); ++d)
            sum = mul_add(Along::all(full_to_sum(s, d)), at(offset(s) + d), sum);
        }
        moved[i] = sum;
      }
      for (int i = 0; i < count(t); ++i) put(offset(t) + i, moved[i]);
    }
  }
  template <class Along, class At, class Put>
  void backward_full(const At& at, const Put& put) const {
    const Along first = at(0);
    Along to_first = Along::zero();  // what the first term's own curve moves but for the sum
    for (int i = 1; i < count(0) && is_full(0); ++i)
      to_first = mul_add(Along::all(-entry(0, i, 0)), at(i), to_first);
    for (int t = terms() - 1; t >= 0; --t) {
      Along moved[static_cast<std::size_t>(kMostOfTerm)];
      for (int j = 0; j < count(t); ++j) {
        Along sum = Along::zero();
        for (int i = 0; i < (is_full(t) ? count(t) : j + 1); ++i)
          sum = mul_add(Along::all(entry(t, i, j)), at(offset(t) + i), sum);
        if (t > 0) sum = mul_add(Along::all(full_to_sum(t, j)), first, sum);
        if (t > 0 && j == 0) sum = sum + to_first;
        moved[j] = sum;
      }
      for (int j = 0; j < count(t); ++j) put(offset(t) + j, moved[j]);
    }
  }
  /// The same for rows of m, `width` long.
  template <class Along>
  void forward(Real* m, Index width) const {
    for (Index w = 0; w < width; w += Along::kWidth)
      forward_by<Along>([&](int r) { return Along::load_unaligned(m + r * width + w); },
                        [&](int r, Along value) { value.store_unaligned(m + r * width + w); });
  }
  template <class Along>
  void backward(Real* m, Index width) const {
    for (Index w = 0; w < width; w += Along::kWidth)
      backward_by<Along>([&](int r) { return Along::load_unaligned(m + r * width + w); },
                         [&](int r, Along value) { value.store_unaligned(m + r * width + w); });
  }
  /// P ← FPFᵀ and P ← FᵀPF, of a symmetric P.
  void forward_both_sides(Real* p) const {
    forward<Plain<Real>>(p, states());
    transpose(p);
    forward<Plain<Real>>(p, states());
  }
  void backward_both_sides(Real* p) const {
    backward<Plain<Real>>(p, states());
    transpose(p);
    backward<Plain<Real>>(p, states());
  }
  /// P += Q: what a term adds to its own curve it adds to the sum, state 0, as well.
  void add_noise(Real sign, Real* p) const {
    const int n = states();
    for (int t = 0; t < terms(); ++t) {
      for (int i = 0; i < count(t); ++i) {
        for (int j = 0; j < count(t); ++j) {
          const Real value = sign * added(t, i, j);
          const int r = offset(t) + i, s = offset(t) + j;
          p[r * n + s] += value;
          if (t == 0) continue;
          if (i == 0) p[s] += value;
          if (j == 0) p[r * n] += value;
          if (i == 0 && j == 0) p[0] += value;
        }
      }
    }
  }

 private:
  void transpose(Real* p) const {
    const int n = states();
    for (int i = 0; i < n; ++i) {
      for (int j = 0; j < i; ++j) {
        const Real other = p[i * n + j];
        p[i * n + j] = p[j * n + i];
        p[j * n + i] = other;
      }
    }
  }
};

template <class Lane>
struct Loops {
  using Real = typename Lane::Real;
  static constexpr Index kWidth = Lane::kWidth;

  static void multiply(const Product<Real>& x) {
    // A tile has at most 24 registers of sums where there are 32, and 12 where there are 16.
    constexpr int kTileRows = 6, kTileLanes = Lane::kRegisters == 1 ? 4 : 1;
    const Index strips = (x.m + kTileRows - 1) / kTileRows;
    Index i = 0;
    for (Index strip = strips; strip > 0; --strip) {  // about as many rows in each
      const Index rows = (x.m - i + strip - 1) / strip;
      const Index from = x.diagonal == kNoDiagonal ? 0 : (x.diagonal + i) / kWidth * kWidth;
      with_number<kTileRows>(rows, [&]<int some>(std::integral_constant<int, some>) {
        for (Index w = from, left = (x.width - from) / kWidth; left > 0;) {
          // Not one lane alone, whose few sums would wait for each other.
          const Index lanes = left == kTileLanes + 1 ? (left + 1) / 2 : left < kTileLanes ? left : kTileLanes;
          with_number<kTileLanes>(lanes,
                                  [&]<int of>(std::integral_constant<int, of>) { tile<some, of>(x, i, w); });
          w += lanes * kWidth;
          left -= lanes;
        }
      });
      i += rows;
    }
  }
  template <int rows, int lanes>
  static void tile(const Product<Real>& x, Index first_row, Index first_column) {
    const Index row = x.a.row, step = x.a.step, ldb = x.b.stride, ldc = x.c.stride;
    const Real* a = x.a.data + first_row * row;
    const Real* b = x.b.data + first_column;
    Real* c = x.c.data + first_row * ldc + first_column;
    Lane sum[static_cast<std::size_t>(rows)][static_cast<std::size_t>(lanes)];
#pragma GCC unroll 6
    for (int i = 0; i < rows; ++i) {
#pragma GCC unroll 4
      for (int w = 0; w < lanes; ++w)
        sum[i][w] = x.add_to ? Lane::load_unaligned(c + i * ldc + w * kWidth) : Lane::zero();
    }
    for (Index l = 0; l < x.depth; ++l) {
      Lane right[static_cast<std::size_t>(lanes)];
#pragma GCC unroll 4
      for (int w = 0; w < lanes; ++w) right[w] = Lane::load_unaligned(b + l * ldb + w * kWidth);
#pragma GCC unroll 6
      for (int i = 0; i < rows; ++i) {
        const Lane left = Lane::all(a[i * row + l * step]);
#pragma GCC unroll 4
        for (int w = 0; w < lanes; ++w) sum[i][w] = mul_add(left, right[w], sum[i][w]);
      }
    }
#pragma GCC unroll 6
    for (int i = 0; i < rows; ++i) {
#pragma GCC unroll 4
      for (int w = 0; w < lanes; ++w) sum[i][w].store_unaligned(c + i * ldc + w * kWidth);
    }
  }

  static Real dot(const Real* a, const Real* b, Index width) { return contract(a, 0, b, 0, 1, width); }
  /// ⟨A, B⟩ of `rows` by `count` numbers.
  static Real contract(const Real* a, Index lda, const Real* b, Index ldb, Index rows, Index count) {
    Lane sum = Lane::zero();
    Real rest = 0;
    for (Index i = 0; i < rows; ++i, a += lda, b += ldb) {
      Index w = 0;
      for (; w + kWidth <= count; w += kWidth)
        sum = mul_add(Lane::load_unaligned(a + w), Lane::load_unaligned(b + w), sum);
      for (; w < count; ++w) rest += a[w] * b[w];
    }
    return sum.sum() + rest;
  }
  /// y += factor·x
  static void add(Real factor, const Real* x, Index width, Real* y) {
    const Lane f = Lane::all(factor);
    for (Index w = 0; w < width; w += kWidth)
      mul_add(f, Lane::load_unaligned(x + w), Lane::load_unaligned(y + w)).store_unaligned(y + w);
  }
  /// out ← Σᵢ lᵢ Sᵢ over the rows of S.
  static void combine(const Real* l, const Real* s, Index m, Index lds, Index width, Real* out) {
    for (Index w = 0; w < width; w += kWidth) {
      Lane sum = Lane::zero();
      for (Index i = 0; i < m; ++i)
        sum = mul_add(Lane::all(l[i]), Lane::load_unaligned(s + i * lds + w), sum);
      sum.store_unaligned(out + w);
    }
  }
  /// out[i] ← from[i] for `rows` rows of `count` numbers.
  static void copy(const Real* from, Index from_stride, Index rows, Index count, Real* to, Index to_stride) {
    for (Index i = 0; i < rows; ++i, from += from_stride, to += to_stride) {
      Index w = 0;
      for (; w + kWidth <= count; w += kWidth) Lane::load_unaligned(from + w).store_unaligned(to + w);
      for (; w < count; ++w) to[w] = from[w];
    }
  }
  /// Copies rows of a symmetric matrix of which the upper half alone is kept up.
  static void take(const Index* slots, Index count, Index width, Real* matrix, Real* rows) {
    for (Index i = 0; i < count; ++i, rows += width) {
      const Index slot = slots[i], lanes = slot / kWidth * kWidth;
      Real* own = matrix + slot * width;
      for (Index w = lanes; w < width; w += kWidth) Lane::load_unaligned(own + w).store_unaligned(rows + w);
      for (Index s = 0; s < slot; ++s) rows[s] = matrix[s * width + slot];
    }
  }
  /// Their places in it become 0.
  static void clear(const Index* slots, Index count, Index width, Real* matrix) {
    for (Index i = 0; i < count; ++i) {
      const Index slot = slots[i];
      for (Index w = 0; w < width; w += kWidth) Lane::zero().store_unaligned(matrix + slot * width + w);
      for (Index s = 0; s < slot; ++s) matrix[s * width + slot] = 0;
    }
  }
  /// Puts symmetric rows, and their columns, into a matrix.
  static void put(const Index* slots, Index count, Index width, const Real* rows, Real* matrix) {
    for (Index i = 0; i < count; ++i, rows += width) {
      Real* to = matrix + slots[i] * width;
      for (Index w = 0; w < width; w += kWidth) Lane::load_unaligned(rows + w).store_unaligned(to + w);
      to = matrix + slots[i];
      for (Index s = 0; s < width; ++s) to[s * width] = rows[s];
    }
  }
  /// LDLᵀ of rows that leave a matrix, one after the other: `rows` has them as they were, and then −d·l; l is
  /// 0 where a row has left. Columns of rows that left are set to 0 at the end: whole lanes that hold a
  /// number written just before are slow to read.
  static void eliminate(const Index* slots, Index count, Index width, Real* rows, Real* l, Real* pivots) {
    for (Index i = 0; i < count; ++i) {
      Real* own = rows + i * width;
      Real* scaled = l + i * width;
      const Real pivot = own[slots[i]];
      pivots[i] = pivot;
      const Lane inverse = Lane::all(1 / pivot), zero = Lane::zero();
      for (Index w = 0; w < width; w += kWidth)
        (Lane::load_unaligned(own + w) * inverse).store_unaligned(scaled + w);
      for (Index later = i + 1; later < count; ++later)
        add(-own[slots[later]], scaled, width, rows + later * width);
      for (Index w = 0; w < width; w += kWidth)
        (zero - Lane::load_unaligned(own + w)).store_unaligned(own + w);
    }
    for (Index i = 0; i < count; ++i) {
      for (Index k = 0; k <= i; ++k) l[i * width + slots[k]] = rows[i * width + slots[k]] = 0;
    }
  }
  /// The same for `columns` right-hand sides, rows of `right`: out[i·columns + k] gets what the slots had.
  static void eliminate_right(const Index* slots, Index count, Index width, const Real* l, Real* right,
                              Index columns, Real* out) {
    for (Index k = 0; k < columns; ++k, right += width) {
      for (Index i = 0; i < count; ++i) {
        const Real own = right[slots[i]];
        out[i * columns + k] = own;
        add(-own, l + i * width, width, right);
      }
      for (Index i = 0; i < count; ++i) right[slots[i]] = 0;
    }
  }
  /// Backwards: the unknowns of slots that left, z = −value/pivot − l·z, for rows z of `solution`;
  /// `values` as eliminate_right() made them.
  static void substitute(const Index* slots, Index count, Index width, const Real* l, const Real* pivots,
                         const Real* values, Real* solution, Index columns) {
    constexpr Index kMost = 16;
    Real known[static_cast<std::size_t>(kMost)];
    for (Index column = 0; column < columns; ++column, solution += width) {
      for (Index end = count; end > 0;) {
        const Index begin = end > kMost ? end - kMost : 0;
        for (Index i = begin; i < end; ++i) solution[slots[i]] = 0;
        for (Index i = begin; i < end; ++i) known[i - begin] = dot(l + i * width, solution, width);
        for (Index i = end - 1; i >= begin; --i) {
          Real z = -values[i * columns + column] / pivots[i] - known[i - begin];
          for (Index k = i + 1; k < end; ++k) z -= l[i * width + slots[k]] * solution[slots[k]];
          solution[slots[i]] = z;
        }
        end = begin;
      }
    }
  }
  /// The rows of the inverse S that belong to rows which left: S_{e·} = −lS and S_ee = 1/d − l·S_{·e}, where
  /// `rows` has lS over the slots that stayed. From the last of them to the first; `known` has room for
  /// count² numbers.
  static void return_rows(const Index* slots, Index count, Index width, const Real* l, const Real* pivots,
                          Real* rows, Real* known) {
    const Lane zero = Lane::zero();
    for (Index i = count - 1; i >= 0; --i) {
      const Real* own = l + i * width;
      Real* row = rows + i * width;
      for (Index w = 0; w < width; w += kWidth) {
        Lane sum = zero - Lane::load_unaligned(row + w);
        for (Index k = i + 1; k < count; ++k)
          sum = mul_add(Lane::all(-own[slots[k]]), Lane::load_unaligned(rows + k * width + w), sum);
        sum.store_unaligned(row + w);
      }
    }
    for (Index i = 0; i < count; ++i) {
      for (Index k = 0; k < count; ++k) rows[i * width + slots[k]] = 0;
    }
    for (Index i = 0; i < count; ++i) {
      for (Index k = i; k < count; ++k) known[i * count + k] = dot(l + i * width, rows + k * width, width);
    }
    for (Index i = count - 1; i >= 0; --i) {
      for (Index k = count - 1; k >= i; --k) {
        Real sum = known[i * count + k];
        for (Index m = i + 1; m < count; ++m) sum += l[i * width + slots[m]] * rows[m * width + slots[k]];
        rows[k * width + slots[i]] = rows[i * width + slots[k]] = (i == k ? 1 / pivots[i] : Real(0)) - sum;
      }
    }
  }
  /// What a Gaussian's slope by log ℓ is in polynomials: (½ + ½ℓ²∂²/∂x²)φ. out ← Mᵀ·rows, M that map of
  /// Chebyshev's coefficients and `factor` ½ℓ² in units of the cell's half: the first derivative has 2n/c_k
  /// of T_n in T_k, n − k odd and positive, c₀ = 2 and 1 beyond.
  static void slope_map(const Real* rows, Index stride, Index q, Real factor, Index width, Real* out) {
    for (Index w = 0; w < width; w += kWidth) {
      Lane once[2] = {Lane::zero(), Lane::zero()}, twice[2] = {Lane::zero(), Lane::zero()};
      for (Index n = 0; n < q; ++n) {
        const int odd = static_cast<int>(n % 2);
        const Lane two_n = Lane::all(Real(2 * n)), share = Lane::all(n == 0 ? Real(0.5) : Real(1));
        const Lane row = Lane::load_unaligned(rows + n * stride + w), first = two_n * once[1 - odd],
                   second = two_n * twice[1 - odd];
        mul_add(Lane::all(factor), second, Lane::all(Real(0.5)) * row).store_unaligned(out + n * width + w);
        once[odd] = mul_add(share, row, once[odd]);
        twice[odd] = mul_add(share, first, twice[odd]);
      }
    }
  }
  /// y += factor·x, or y ← factor·x, for `rows` rows.
  static void add_rows(Real factor, const Real* x, Index x_stride, Index rows, Index width, Real* y,
                       Index y_stride, bool add_to) {
    const Lane f = Lane::all(factor);
    for (Index i = 0; i < rows; ++i, x += x_stride, y += y_stride) {
      if (add_to) {
        add(factor, x, width, y);
      } else {
        for (Index w = 0; w < width; w += kWidth) (f * Lane::load_unaligned(x + w)).store_unaligned(y + w);
      }
    }
  }
  /// amplitude·e^{−z²}, z = (x − centre)/ℓ, of every slot; and its slope by log ℓ, times 2z² − ½, unless
  /// null.
  static void gaussians(Real x, const Real* centre, const Real* inverse_length, const Real* amplitude,
                        Index width, Real* out, Real* slope) {
    const Lane at = Lane::all(x), zero = Lane::zero();
    for (Index w = 0; w < width; w += kWidth) {
      const Lane z = (at - Lane::load_unaligned(centre + w)) * Lane::load_unaligned(inverse_length + w);
      const Lane z2 = z * z;
      const Lane value = Lane::load_unaligned(amplitude + w) * exp(zero - z2);
      value.store_unaligned(out + w);
      if (slope != nullptr) (value * (z2 + z2 - Lane::all(Real(0.5)))).store_unaligned(slope + w);
    }
  }

  /// Σ_m β_m T_m(x) of `count` numbers x in [−1, 1], of which there is room for whole lanes.
  static void curve(const Real* x, Index count, const Real* beta, Index q, Real* out) {
    Index i = 0;
    for (; i + kWidth < count; i += 2 * kWidth) curve_of<2>(x + i, beta, q, out + i);
    for (; i < count; i += kWidth) curve_of<1>(x + i, beta, q, out + i);
  }
  /// Σᵢ T_m(xᵢ) wᵢ for m < q, 2 ≤ q; w is 0 behind its end, to whole lanes.
  static void sums(const Real* x, const Real* w, Index count, Index q, Real* out) {
    Lane total[static_cast<std::size_t>(kMostSums)];
    for (Index m = 0; m < q; ++m) total[m] = Lane::zero();
    Index i = 0;
    for (; i + kWidth < count; i += 2 * kWidth) add_sums<2>(x + i, w + i, q, total);
    for (; i < count; i += kWidth) add_sums<1>(x + i, w + i, q, total);
    for (Index m = 0; m < q; ++m) out[m] = total[m].sum();
  }

  /// G_mn = ½(s_{m+n} + s_{|m−n|}) for m, n < q, of 2q − 1 sums; rows are written in whole lanes.
  static void gram_of_sums(const Real* sums, Index q, Index stride, Real* gram) {
    constexpr auto kRoom = static_cast<std::size_t>(kMostSums + 8);
    Real above[kRoom], around[kRoom];  // s_k, and s_|k| from k = 1 − q on
    const Index count = 2 * q - 1;
    for (Index k = 0; k < count; ++k) above[k] = sums[k];
    for (Index k = 0; k < q; ++k) around[q - 1 + k] = around[q - 1 - k] = sums[k];
    for (Index k = count; k < count + kWidth; ++k) above[k] = around[k] = 0;
    const Lane half = Lane::all(Real(0.5));
    for (Index m = 0; m < q; ++m) {
      for (Index n = 0; n < q; n += kWidth) {
        const Lane sum = Lane::load_unaligned(above + m + n) + Lane::load_unaligned(around + (q - 1 - m) + n);
        (half * sum).store_unaligned(gram + m * stride + n);
      }
    }
  }
  /// rows[i][offset + m] ← T_m(xᵢ) for m < q, 2 ≤ q ≤ kMostPolynomials, and 0 up to whole lanes: there must
  /// be room for them behind the last row, and what follows in the same row is to be written later.
  static void polynomials(const Real* x, Index count, Index q, Index offset, Index width, Real* rows) {
    Index i = 0;
    for (; i + kWidth < count; i += 2 * kWidth)
      polynomials_of<2>(x + i, count - i, q, width, rows + i * width + offset);
    for (; i < count; i += kWidth) polynomials_of<1>(x + i, count - i, q, width, rows + i * width + offset);
  }

  /// Columns b of a chunk, whose smooth parts are the rows of `curve` and whose states begin as the rows of
  /// `mean`, kMostStates long, reduced: b ← (b − curve − (sum of the states)) S^{−½}.
  static void reduce(const ColumnBlock<Real>& block, const Real* curve, Index curve_stride, Real* mean,
                     Real* b, Index stride, Index columns) {
    if (block.places->states == 0) {
      for (Index c = 0; c < columns; ++c) scale_residual(block, curve + c * curve_stride, b + c * stride);
      return;
    }
    for_states(*block.places, [&]<int known>(std::integral_constant<int, known>) {
      Index c = 0;  // two at a time, so that one does not wait for the other
      for (; c + 2 <= columns; c += 2)
        run_reduce<known, 2>(block, curve + c * curve_stride, curve_stride, mean + c * kMostStates,
                             b + c * stride, stride);
      if (c < columns)
        run_reduce<known, 1>(block, curve + c * curve_stride, curve_stride, mean + c * kMostStates,
                             b + c * stride, stride);
    });
  }
  /// Backwards: a reduced column ← A⁻¹b, from the multipliers r at the end of the chunk.
  static void solve(const ColumnBlock<Real>& block, Real* r, Real* b) {
    for_states(*block.places,
               [&]<int known>(std::integral_constant<int, known>) { run_solve<known>(block, r, b); });
  }

  /// The filter over a chunk with all columns at once.
  static void filter(ElementBlock<Real>& block) {
    for_states(block.places, [&]<int known>(std::integral_constant<int, known>) { run<known>(block); });
  }
  /// Back through a chunk whose means and covariances were kept.
  static void pull(const ElementBlock<Real>& block, const PullBlock<Real>& out) {
    for_states(block.places,
               [&]<int known>(std::integral_constant<int, known>) { run_back<known>(block, out); });
  }

 private:
  template <int known>
  static constexpr auto kSquare =
      static_cast<std::size_t>(known > 0 ? known * known : kMostStates * kMostStates);

  /// run(number) for a number from 1 to `most`, which the compiler then knows.
  template <int most, class Run>
  static void with_number(Index number, const Run& run) {
    if constexpr (most > 1) {
      if (number < most) return with_number<most - 1>(number, run);
    }
    run(std::integral_constant<int, most>{});
  }
  /// Single Matérn terms have loops of their own.
  template <class Run>
  static void for_states(const StatePlaces& places, const Run& run) {
    switch (places.terms == 1 && !places.turns ? places.states : 0) {
      case 1:
        return run(std::integral_constant<int, 1>{});
      case 2:
        return run(std::integral_constant<int, 2>{});
      case 3:
        return run(std::integral_constant<int, 3>{});
      default:
        return run(std::integral_constant<int, 0>{});
    }
  }
  /// `lanes` lanes of points at a time, so that one does not wait for the other.
  template <int lanes>
  static void polynomials_of(const Real* x, Index count, Index q, Index width, Real* rows) {
    constexpr auto kLanes = static_cast<std::size_t>(lanes);
    alignas(64) Real values[kLanes][static_cast<std::size_t>(kMostPolynomials * kWidth)];
    Lane twice[kLanes], before[kLanes], here[kLanes];
#pragma GCC unroll 2
    for (int k = 0; k < lanes; ++k) {
      here[k] = Lane::load_unaligned(x + k * kWidth);
      twice[k] = here[k] + here[k];
      before[k] = Lane::all(Real(1));
      before[k].store_unaligned(values[k]);
      here[k].store_unaligned(values[k] + kWidth);
    }
    for (Index m = 2; m < q; ++m) {
#pragma GCC unroll 2
      for (int k = 0; k < lanes; ++k) {
        const Lane next = mul_sub(twice[k], here[k], before[k]);
        next.store_unaligned(values[k] + m * kWidth);
        before[k] = here[k];
        here[k] = next;
      }
    }
    alignas(64) Real turned[static_cast<std::size_t>(kWidth * kWidth)];
    for (int k = 0; k < lanes; ++k, rows += kWidth * width, count -= kWidth) {
      for (Index m = q; m < round_up(q, kWidth); ++m) Lane::zero().store_unaligned(values[k] + m * kWidth);
      for (Index m = 0; m < q; m += kWidth) {
        if (count >= kWidth) {
          Lane::transpose_block(values[k] + m * kWidth, rows + m, width);
          continue;
        }
        Lane::transpose_block(values[k] + m * kWidth, turned, kWidth);
        for (Index point = 0; point < count; ++point)
          Lane::load_unaligned(turned + point * kWidth).store_unaligned(rows + point * width + m);
      }
    }
  }
  template <int lanes>
  static void curve_of(const Real* x, const Real* beta, Index q, Real* out) {
    constexpr auto kLanes = static_cast<std::size_t>(lanes);
    Lane at[kLanes], next[kLanes], here[kLanes];
#pragma GCC unroll 2
    for (int k = 0; k < lanes; ++k) {
      at[k] = Lane::load_unaligned(x + k * kWidth);
      next[k] = Lane::zero();
      here[k] = Lane::all(beta[q - 1]);
    }
    for (Index m = q - 2; m >= 1; --m) {
      const Lane coefficient = Lane::all(beta[m]);
#pragma GCC unroll 2
      for (int k = 0; k < lanes; ++k) {
        const Lane before = mul_add(at[k] + at[k], here[k], coefficient - next[k]);
        next[k] = here[k];
        here[k] = before;
      }
    }
#pragma GCC unroll 2
    for (int k = 0; k < lanes; ++k) {
      if (q > 1) here[k] = mul_add(at[k], here[k], Lane::all(beta[0]) - next[k]);
      here[k].store_unaligned(out + k * kWidth);
    }
  }
  template <int lanes>
  static void add_sums(const Real* x, const Real* w, Index q, Lane* total) {
    constexpr auto kLanes = static_cast<std::size_t>(lanes);
    Lane at[kLanes], weight[kLanes], before[kLanes], here[kLanes];
#pragma GCC unroll 2
    for (int k = 0; k < lanes; ++k) {
      at[k] = Lane::load_unaligned(x + k * kWidth);
      weight[k] = Lane::load_unaligned(w + k * kWidth);
      before[k] = weight[k];  // the recurrence of T, times the weight
      here[k] = at[k] * weight[k];
      total[0] = total[0] + before[k];
      total[1] = total[1] + here[k];
      at[k] = at[k] + at[k];
    }
    for (Index m = 2; m < q; ++m) {
      Lane sum = total[m];
#pragma GCC unroll 2
      for (int k = 0; k < lanes; ++k) {
        const Lane next = mul_sub(at[k], here[k], before[k]);
        before[k] = here[k];
        here[k] = next;
        sum = sum + next;
      }
      total[m] = sum;
    }
  }

  static void scale_residual(const ColumnBlock<Real>& block, const Real* curve, Real* b) {
    const Real* roots = block.inverse_roots;
    Index i = 0;
    for (; i + kWidth <= block.count; i += kWidth) {
      const Lane residual = Lane::load_unaligned(b + i) - Lane::load_unaligned(curve + i);
      (residual * Lane::load_unaligned(roots + i)).store_unaligned(b + i);
    }
    for (; i < block.count; ++i) b[i] = (b[i] - curve[i]) * roots[i];
  }
  template <int known, int columns>
  static void run_reduce(const ColumnBlock<Real>& block, const Real* curve, Index curve_stride,
                         const Real* begin, Real* b, Index stride) {
    const int p = known > 0 ? known : block.places->states;
    Real mean[static_cast<std::size_t>(columns)][kMostStates] = {};
    for (int c = 0; c < columns; ++c) {
      for (int s = 0; s < p; ++s) mean[c][s] = begin[c * kMostStates + s];
    }
    for (Index i = 0; i < block.count; ++i) {
      if constexpr (known == 1) {  // m ← (1 − k)m − k(Wβ − b) waits for one product alone
        const Real decay = block.steps[i], k = block.gains[i], stays = decay - decay * k;
#pragma GCC unroll 2
        for (int c = 0; c < columns; ++c) {
          const Real u = curve[c * curve_stride + i] - b[c * stride + i];
          b[c * stride + i] = -(u + decay * mean[c][0]) * block.inverse_roots[i];
          mean[c][0] = stays * mean[c][0] - k * u;
        }
      } else {
        const Move<Lane, known> move(*block.places, block.steps, i);
#pragma GCC unroll 2
        for (int c = 0; c < columns; ++c) {
          Real v = curve[c * curve_stride + i] - b[c * stride + i];
          if (p > 0) {
            move.template forward<Plain<Real>>(mean[c], 1);
            v += mean[c][0];
            for (int s = 0; s < p; ++s) mean[c][s] -= block.gains[i * p + s] * v;
          }
          b[c * stride + i] = -v * block.inverse_roots[i];
        }
      }
    }
  }
  template <int known>
  static void run_solve(const ColumnBlock<Real>& block, Real* r, Real* b) {
    const int p = known > 0 ? known : block.places->states;
    if (p > 0 && block.has_end)
      Move<Lane, known>(*block.places, block.steps, block.count).template backward<Plain<Real>>(r, 1);
    for (Index i = block.count - 1; i >= 0; --i) {
      const Real scaled = b[i] * block.inverse_roots[i];
      if constexpr (known == 1) {
        const Real decay = block.steps[i], k = block.gains[i];
        b[i] = scaled - k * r[0];
        r[0] = (decay - decay * k) * r[0] + decay * scaled;
      } else {
        Real value = scaled;
        for (int s = 0; s < p; ++s) value -= block.gains[i * p + s] * r[s];
        b[i] = value;
        if (p == 0) continue;
        r[0] += value;
        Move<Lane, known>(*block.places, block.steps, i).template backward<Plain<Real>>(r, 1);
      }
    }
  }

  /// Columns are taken so many lanes at a time, whose states stay in registers.
  template <class Run>
  static void for_columns(Index width, const Run& run) {
    Index w = 0;
    for (; w + 3 * kWidth <= width; w += 3 * kWidth) run(std::integral_constant<int, 3>{}, w);
    for (; w + 2 * kWidth <= width; w += 2 * kWidth) run(std::integral_constant<int, 2>{}, w);
    for (; w < width; w += kWidth) run(std::integral_constant<int, 1>{}, w);
  }
  template <int known>
  static void run(ElementBlock<Real>& block) {
    if ((known == 1 || known == 2) && block.known_gains && block.kept_covariances != nullptr)
      restore_covariances<known>(block);
    else if (known != 1 || block.kept_covariances != nullptr || !run_variances(block))
      run_covariances<known>(block);
    if (block.failed) return;
    for_columns(block.width, [&]<int lanes>(std::integral_constant<int, lanes>, Index w) {
      if (block.given == nullptr)
        run_columns<known, lanes, false>(block, w);
      else
        run_columns<known, lanes, true>(block, w);
    });
  }
  /// S and k of every point for one state, without a division that the next point waits for: P = N/D after
  /// every point, and N ← f²N + QD, D ← D + N/d make of them what P ← f²P + Q, P ← dP/(P + d) make of P.  All
  /// are sums of positive numbers, and D grows by S/d.  False where that leaves the range of numbers.
  static bool run_variances(ElementBlock<Real>& block) {
    constexpr Index kSome = 8, kMany = 64;  // N/D gets D = 1 after some points; loops change after many
    constexpr auto kRoom = static_cast<std::size_t>(kMany);
    constexpr Real kLargest = Real(1e280);
    const Real* decays = block.steps;
    const Real* added = block.steps + 2 * kStepStride;
    alignas(64) Real by_n[kRoom], by_d[kRoom], square[kRoom], numerators[kRoom], before[kRoom], after[kRoom];
    Real n = 0;
    Logarithm<Real> product;
    for (Index i = 0; i < block.count; i += kMany) {
      const Index many = block.count - i < kMany ? block.count - i : kMany, whole = many / kWidth * kWidth;
      const auto prepare = [&]<class Along>(Along, Index j) {
        const Along decay = Along::load_unaligned(decays + i + j), one = Along::all(Real(1)),
                    f2 = decay * decay, weight = one / Along::load_unaligned(block.noise + i + j);
        f2.store_unaligned(square + j);
        (f2 * weight).store_unaligned(by_n + j);
        mul_add(Along::load_unaligned(added + i + j), weight, one).store_unaligned(by_d + j);
      };
      const auto finish = [&]<class Along>(Along, Index j) {
        const Along one = Along::all(Real(1)), noise = Along::load_unaligned(block.noise + i + j),
                    end = noise * Along::load_unaligned(after + j),
                    s = end / Along::load_unaligned(before + j);
        s.store_unaligned(block.pivots + i + j);
        sqrt(one / s).store_unaligned(block.inverse_roots + i + j);
        (Along::load_unaligned(numerators + j) / end).store_unaligned(block.gains + i + j);
      };
      for (Index j = 0; j < whole; j += kWidth) prepare(Lane::zero(), j);
      for (Index j = whole; j < many; ++j) prepare(Plain<Real>{0}, j);
      for (Index j = 0; j < many;) {
        const Index end = many - j < kSome ? many : j + kSome;
        Real d = 1;
        for (; j < end; ++j) {
          before[j] = d;
          const Real next = square[j] * n + added[i + j] * d;
          d = by_n[j] * n + by_d[j] * d;
          numerators[j] = n = next;
          after[j] = d;
        }
        if (!(d < kLargest)) return false;
        n /= d;
      }
      for (Index j = 0; j < whole; j += kWidth) finish(Lane::zero(), j);
      for (Index j = whole; j < many; ++j) finish(Plain<Real>{0}, j);
    }
    for (Index i = 0; i < block.count; ++i) {
      if (!(block.pivots[i] > 0)) return false;
      product.multiply(block.pivots[i]);
    }
    block.log_pivots = product.value();
    if (block.has_end) n = decays[block.count] * decays[block.count] * n + added[block.count];
    block.covariance[0] = n;
    return true;
  }
  /// S and k of every point, and P before each and at the end.
  template <int known>
  static void run_covariances(ElementBlock<Real>& block) {
    using std::sqrt;
    const int p = known > 0 ? known : block.places.states;
    Real cov[kSquare<known>];
    for (int e = 0; e < p * p; ++e) cov[e] = 0;
    const auto advance = [&](Index i) {
      const Move<Lane, known> move(block.places, block.steps, i);
      if constexpr (known == 2) {
        const Real c0 = move.c[0][0], c1 = move.c[0][1], last = cov[3];
        const Real mixed = c0 * cov[1] + c1 * last;
        cov[0] = c0 * (c0 * cov[0] + c1 * cov[1]) + (c1 * mixed + move.added(0, 0, 0));
        cov[1] = cov[2] = c0 * mixed + move.added(0, 0, 1);
        cov[3] = c0 * c0 * last + move.added(0, 1, 1);
      } else {
        move.forward_both_sides(cov);
        move.add_noise(Real(1), cov);
      }
      if (block.kept_covariances == nullptr) return;
      for (int e = 0; e < p * p; ++e) block.kept_covariances[i * p * p + e] = cov[e];
    };
    Logarithm<Real> pivots;
    for (Index i = 0; i < block.count; ++i) {
      const Real d = block.noise[i];
      Real s = d;
      if (p > 0) {
        advance(i);
        s += cov[0];
      }
      if (!(s > 0)) {
        block.failed = true;
        return;
      }
      block.pivots[i] = s;
      pivots.multiply(s);
      const Real inverse_s = 1 / s;
      block.inverse_roots[i] = sqrt(inverse_s);
      Real* k = block.gains + i * p;
      for (int r = 0; r < p; ++r) k[r] = cov[r] * inverse_s;
      for (int r = 1; r < p; ++r) {
        for (int c = 1; c < p; ++c) cov[r * p + c] -= k[r] * cov[c];
      }
      for (int c = 0; c < p; ++c) cov[c] *= d * inverse_s;
      for (int r = 1; r < p; ++r) cov[r * p] = cov[r];
    }
    block.log_pivots = pivots.value();
    if (p > 0 && block.has_end) advance(block.count);
    for (int e = 0; e < p * p; ++e) block.covariance[e] = cov[e];
  }
  /// The same for one term of one or two states whose gains are known, P_{·0} = kS: no point waits for a
  /// division of the one before.
  template <int known>
  static void restore_covariances(ElementBlock<Real>& block) {
    const Index count = block.count;
    Real rest = 0;  // P₁₁ after a point
    const auto decay2 = [&](Index i) { return block.steps[i] * block.steps[i]; };
    Index whole = 0;
    for (; whole + kWidth <= count; whole += kWidth) {
      const Lane root = Lane::load_unaligned(block.inverse_roots + whole);
      (Lane::all(Real(1)) / (root * root)).store_unaligned(block.pivots + whole);
    }
    for (Index i = whole; i < count; ++i)
      block.pivots[i] = 1 / (block.inverse_roots[i] * block.inverse_roots[i]);
    for (Index i = 0; i < count; ++i) {
      const Real s = block.pivots[i];
      const Real* k = block.gains + i * known;
      Real* cov = block.kept_covariances + i * known * known;
      cov[0] = k[0] * s;
      if constexpr (known == 2) {
        cov[1] = cov[2] = k[1] * s;
        cov[3] = decay2(i) * rest + block.steps[4 * kStepStride + i];
        rest = cov[3] - k[1] * cov[1];
      }
    }
    const Index last = count - 1;
    const Real d = block.noise[last];
    const Real* k = block.gains + last * known;
    block.covariance[0] = d * k[0];
    if constexpr (known == 2) {
      block.covariance[1] = block.covariance[2] = d * k[1];
      block.covariance[3] = rest;
    }
    if (!block.has_end) return;
    const Move<Lane, known> move(block.places, block.steps, count);
    move.forward_both_sides(block.covariance);
    move.add_noise(Real(1), block.covariance);
    for (int e = 0; e < known * known; ++e)
      block.kept_covariances[count * known * known + e] = block.covariance[e];
  }
  /// The states by column, from column `first` on; `solved` where some columns' −v/√S are known.
  template <int known, int lanes, bool solved>
  static void run_columns(const ElementBlock<Real>& block, Index first) {
    constexpr auto kStates = static_cast<std::size_t>(known > 0 ? known : kMostStates);
    constexpr auto kLanes = static_cast<std::size_t>(lanes);
    const int p = known > 0 ? known : block.places.states;
    const Index width = block.width;
    Lane m[kStates][kLanes], own[kLanes], given[kLanes];
#pragma GCC unroll 3
    for (int w = 0; w < lanes; ++w) {
#pragma GCC unroll 3
      for (int r = 0; r < p; ++r) m[r][w] = Lane::load_unaligned(block.mean + r * width + first + w * kWidth);
      if constexpr (solved) {
        own[w] = Lane::load_unaligned(block.given_not + first + w * kWidth);
        given[w] = Lane::load_unaligned(block.given + first + w * kWidth);
      }
    }
    const auto advance = [&](Index i) {
      const Move<Lane, known> move(block.places, block.steps, i);
#pragma GCC unroll 3
      for (int w = 0; w < lanes; ++w) {
        move.template forward_by<Lane>([&](int r) { return m[r][w]; },
                                       [&](int r, Lane value) { m[r][w] = value; });
      }
      if (block.kept == nullptr) return;
      Real* to = block.kept + i * p * width + first;
#pragma GCC unroll 3
      for (int r = 0; r < p; ++r) {
#pragma GCC unroll 3
        for (int w = 0; w < lanes; ++w) m[r][w].store_unaligned(to + r * width + w * kWidth);
      }
    };
    for (Index i = 0; i < block.count; ++i) {
      const Lane inverse = Lane::all(block.inverse_roots[i]);
      const Real* k = block.gains + i * p;
      Real* v = block.rows + i * width + first;
      if constexpr (known == 1) {  // m ← (1 − k)Fm − k·row: one product that the next point waits for
        const Real decay = block.steps[i];
        const Lane f = Lane::all(decay), stays = Lane::all(decay - decay * k[0]), gain = Lane::all(-k[0]);
        const Lane root = solved ? Lane::all(block.pivots[i] * block.inverse_roots[i]) : inverse;
        Real* kept = block.kept == nullptr ? nullptr : block.kept + i * width + first;
#pragma GCC unroll 3
        for (int w = 0; w < lanes; ++w) {
          Lane row = Lane::load_unaligned(v + w * kWidth);
          if (kept != nullptr) (f * m[0][w]).store_unaligned(kept + w * kWidth);
          if constexpr (solved) {
            row = row * mul_add(root, given[w], own[w]);
            (inverse * mul_add(own[w] * f, m[0][w], row)).store_unaligned(v + w * kWidth);
            m[0][w] = mul_add(mul_add(own[w], stays, given[w] * f), m[0][w], gain * row);
          } else {
            (inverse * mul_add(f, m[0][w], row)).store_unaligned(v + w * kWidth);
            m[0][w] = mul_add(stays, m[0][w], gain * row);
          }
        }
        continue;
      }
      if (p > 0) advance(i);
      const Lane root = solved ? Lane::all(block.pivots[i] * block.inverse_roots[i]) : inverse;
#pragma GCC unroll 3
      for (int w = 0; w < lanes; ++w) {
        Lane value = Lane::load_unaligned(v + w * kWidth);
        if constexpr (solved) value = value * mul_add(root, given[w], own[w]);
        if (p > 0) value = solved ? mul_add(own[w], m[0][w], value) : value + m[0][w];
#pragma GCC unroll 3
        for (int r = 0; r < p; ++r) m[r][w] = mul_add(Lane::all(-k[r]), value, m[r][w]);
        (inverse * value).store_unaligned(v + w * kWidth);
      }
    }
    if (p > 0 && block.has_end) advance(block.count);
#pragma GCC unroll 3
    for (int r = 0; r < p; ++r) {
#pragma GCC unroll 3
      for (int w = 0; w < lanes; ++w) m[r][w].store_unaligned(block.mean + r * width + first + w * kWidth);
    }
  }

  /// Sums over the columns, point by point, that the slopes by the covariances need.
  struct ColumnSums {
    Real by_gram[kMostPoints];                // b·v
    Real by_mean[kMostPoints * kMostStates];  // m̄·v of every state
  };
  template <int known>
  static void run_back(const ElementBlock<Real>& block, const PullBlock<Real>& out) {
    ColumnSums sums;
    const int p = known > 0 ? known : block.places.states;
    for (Index i = 0; i < block.count; ++i) sums.by_gram[i] = 0;
    for (Index i = 0; i < block.count * p; ++i) sums.by_mean[i] = 0;
    for_columns(block.width, [&]<int lanes>(std::integral_constant<int, lanes>, Index w) {
      pull_columns<known, lanes>(block, out, w, sums);
    });
    pull_covariances<known>(block, out, sums);
  }
  /// m̄ from the end of the chunk to its beginning, for the columns from `first` on.
  template <int known, int lanes>
  static void pull_columns(const ElementBlock<Real>& block, const PullBlock<Real>& out, Index first,
                           ColumnSums& sums) {
    using std::sqrt;
    constexpr auto kStates = static_cast<std::size_t>(known > 0 ? known : kMostStates);
    constexpr auto kTerms = static_cast<std::size_t>(known > 0 ? 1 : kMostStates);
    constexpr auto kLanes = static_cast<std::size_t>(lanes);
    const int p = known > 0 ? known : block.places.states;
    const Index width = block.width;
    Lane by[kStates][kLanes], by_length[kTerms], by_period[kTerms], by_quality[kTerms];
#pragma GCC unroll 3
    for (int r = 0; r < p; ++r) {
#pragma GCC unroll 3
      for (int w = 0; w < lanes; ++w)
        by[r][w] = Lane::load_unaligned(out.by_mean + r * width + first + w * kWidth);
    }
    for (Lane& sum : by_length) sum = Lane::zero();
    for (Lane& sum : by_period) sum = Lane::zero();
    for (Lane& sum : by_quality) sum = Lane::zero();
    // ⟨m̄mᵀ, G⟩ with G = −1 on a term's diagonal and 1 above; in the terms' own coordinates what is by the
    // first state of a term gains that by the sum.
    const auto retreat = [&](Index i) {
      const Real* m = block.kept + i * p * width + first;
      const Move<Lane, known> move(block.places, block.steps, i);
      for (int t = 0; t < move.terms(); ++t) {
        if constexpr (known == 0) {
          if (move.is_full(t)) {
            for (int w = 0; w < lanes; ++w)
              pull_full_columns(
                  block, move, t, i, first + w * kWidth, [&](int r) { return by[r][w]; }, by_length[t],
                  by_period[t], by_quality[t]);
            continue;
          }
        }
        const int o = move.offset(t), n = move.count(t);
        Lane sum = Lane::zero();
#pragma GCC unroll 3
        for (int w = 0; w < lanes; ++w) {
          const auto own_mean = [&](int r) {
            Lane value = Lane::load_unaligned(m + r * width + w * kWidth);
            for (int u = 1; r == 0 && u < move.terms(); ++u)
              value = value - Lane::load_unaligned(m + move.offset(u) * width + w * kWidth);
            return value;
          };
#pragma GCC unroll 3
          for (int r = 0; r < n; ++r) {
            Lane left = by[o + r][w];
            if (t > 0 && r == 0) left = left + by[0][w];
            Lane right = Lane::zero() - own_mean(o + r);
            if (r + 1 < n) right = right + own_mean(o + r + 1);
            sum = mul_add(left, right, sum);
          }
        }
        if (move.remembers(t)) by_length[t] = mul_add(Lane::all(move.a[t]), sum, by_length[t]);
      }
#pragma GCC unroll 3
      for (int w = 0; w < lanes; ++w) {
        move.template backward_by<Lane>([&](int r) { return by[r][w]; },
                                        [&](int r, Lane value) { by[r][w] = value; });
      }
    };
    if (p > 0 && block.has_end) retreat(block.count);
    for (Index i = block.count - 1; i >= 0; --i) {
      const Real* v = block.rows + i * width + first;
      Real* b = out.rows_by + i * width + first;
      const Real* k = block.gains + i * p;
      const Lane twice = Lane::all(2 * block.inverse_roots[i]);
      if constexpr (known == 1) {  // as in run_columns()
        const Real decay = block.steps[i];
        const Lane stays = Lane::all(1 - k[0]), f = Lane::all(decay), moved = Lane::all(decay - decay * k[0]),
                   f_twice = f * twice, minus_k = Lane::all(-k[0]);
        const bool remembers = block.steps[kStepStride + i] < kForgets;
        const Lane a = Lane::all(remembers ? block.steps[kStepStride + i] : Real(0));
        Lane gram_sum = Lane::zero(), mean_sum = Lane::zero(), length_sum = Lane::zero();
#pragma GCC unroll 3
        for (int w = 0; w < lanes; ++w) {
          const Lane here = Lane::load_unaligned(v + w * kWidth), row = Lane::load_unaligned(b + w * kWidth);
          gram_sum = mul_add(row, here, gram_sum);
          mean_sum = mul_add(by[0][w], here, mean_sum);
          length_sum = mul_add(mul_add(stays, by[0][w], twice * row),
                               Lane::load_unaligned(block.kept + i * width + first + w * kWidth), length_sum);
          mul_add(minus_k, by[0][w], twice * row).store_unaligned(b + w * kWidth);
          by[0][w] = mul_add(moved, by[0][w], f_twice * row);
        }
        by_length[0] = by_length[0] - a * length_sum;
        sums.by_gram[i] += gram_sum.sum();
        sums.by_mean[i] += mean_sum.sum();
        continue;
      }
      Lane by_gram = Lane::zero(), by_mean[kStates];
#pragma GCC unroll 3
      for (int r = 0; r < p; ++r) by_mean[r] = Lane::zero();
#pragma GCC unroll 3
      for (int w = 0; w < lanes; ++w) {
        const Lane here = Lane::load_unaligned(v + w * kWidth);
        Lane row = Lane::load_unaligned(b + w * kWidth);
        by_gram = mul_add(row, here, by_gram);
        row = twice * row;  // v̄ = 2b/S − kᵀm̄
#pragma GCC unroll 3
        for (int r = 0; r < p; ++r) {
          by_mean[r] = mul_add(by[r][w], here, by_mean[r]);
          row = mul_add(Lane::all(-k[r]), by[r][w], row);
        }
        row.store_unaligned(b + w * kWidth);
        if (p > 0) by[0][w] = by[0][w] + row;
      }
      sums.by_gram[i] += by_gram.sum();
#pragma GCC unroll 3
      for (int r = 0; r < p; ++r) sums.by_mean[i * p + r] += by_mean[r].sum();
      if (p > 0) retreat(i);
    }
    const int terms = known > 0 ? 1 : block.places.terms;
    for (int t = 0; t < terms; ++t) out.by_lengthscale[t] -= by_length[t].sum();
    for (int t = 0; t < terms && block.places.turns; ++t) {
      out.by_period[t] -= by_period[t].sum();
      out.by_quality[t] += by_quality[t].sum();
    }
  }
  /// ⟨m̄mᵀ, G⟩ of a term that turns or oscillates, at `lane` of the columns before point i, where by(r) is m̄.
  template <class By>
  static void pull_full_columns(const ElementBlock<Real>& block, const Move<Lane, 0>& move, int t, Index i,
                                Index lane, const By& by, Lane& by_length, Lane& by_period,
                                Lane& by_quality) {
    if (!move.remembers(t)) return;
    constexpr auto kMost = static_cast<std::size_t>(markov::kMostStatesOfTerm);
    const int p = block.places.states, o = move.offset(t), n = move.count(t);
    const Index width = block.width, row = p * width;
    Lane left[kMost], mean[kMost];
    for (int r = 0; r < n; ++r) left[r] = t > 0 && r == 0 ? by(o) + by(0) : by(o + r);
    const auto own = [&](const auto& state) {  // of means with the sum as state 0
      for (int r = 0; r < n; ++r) {
        mean[r] = state(o + r);
        for (int u = 1; o + r == 0 && u < move.terms(); ++u) mean[r] = mean[r] - state(move.offset(u));
      }
    };
    own([&](int r) { return Lane::load_unaligned(block.kept + i * row + r * width + lane); });
    if (move.kind(t) == markov::StateKind::turning) {
      Lane length = Lane::zero(), angle = Lane::zero();
      for (int r = 0; r < n; ++r) {
        const Lane next = r + 2 < n ? mean[r + 2] : Lane::zero();
        length = mul_add(left[r], next - mean[r], length);
        angle = r % 2 == 0 ? angle - left[r] * mean[r + 1] : mul_add(left[r], mean[r - 1], angle);
      }
      by_length = mul_add(Lane::all(move.a[t]), length, by_length);
      by_period = mul_add(Lane::all(move.rest(t)[2 * kStepStride]), angle, by_period);
      return;
    }
    // ∂F/∂s = MF, M = [0 1; −1 −1/quality]; by the quality of the means before the step.
    const Real* rest = move.rest(t);
    const Lane flow =
        left[0] * mean[1] - left[1] * mul_add(Lane::all(block.inverse_quality[t]), mean[1], mean[0]);
    by_period = mul_add(Lane::all(rest[0]), flow, by_period);
    if (i == 0) {
      own([&](int r) { return Lane::load_unaligned(block.begin + r * width + lane); });
    } else {
      const Lane v = Lane::load_unaligned(block.rows + (i - 1) * width + lane) *
                     Lane::all(1 / block.inverse_roots[i - 1]);
      own([&](int r) {
        return Lane::load_unaligned(block.kept + (i - 1) * row + r * width + lane) -
               Lane::all(block.gains[(i - 1) * p + r]) * v;
      });
    }
    for (int r = 0; r < 2; ++r) {
      for (int j = 0; j < 2; ++j)
        by_quality = mul_add(Lane::all(rest[(1 + 2 * r + j) * kStepStride]) * left[r], mean[j], by_quality);
    }
  }
  /// P̄ from the end of the chunk to its beginning, with what the columns said.
  template <int known>
  static void pull_covariances(const ElementBlock<Real>& block, const PullBlock<Real>& out,
                               const ColumnSums& sums) {
    if constexpr (known == 1) return pull_variances(block, out, sums);
    const int p = known > 0 ? known : block.places.states;
    Real by_cov[kSquare<known>];
    for (int e = 0; e < p * p; ++e) by_cov[e] = out.by_covariance[e];
    if (p > 0 && block.has_end) contract_step<known>(block, out, by_cov, block.count);
    for (Index i = block.count - 1; i >= 0; --i) {
      const Real inverse = block.inverse_roots[i], inverse_s = inverse * inverse;
      Real by_s = (Real(0.5) - sums.by_gram[i]) * inverse_s;
      if (p > 0) {
        const Real* k = block.gains + i * p;
        Real by_first[kMostStates];
        for (int r = 0; r < p; ++r) {
          const Real by_gain = -sums.by_mean[i * p + r] * inverse;  // over S
          Real moved = 0;
          for (int c = 0; c < p; ++c) moved += by_cov[r * p + c] * k[c];
          by_s += k[r] * (moved - by_gain);
          by_first[r] = by_gain - 2 * moved;
        }
        for (int r = 0; r < p; ++r) {
          by_cov[r * p] += by_first[r] / 2;
          by_cov[r] += by_first[r] / 2;
        }
        by_cov[0] += by_s;
        contract_step<known>(block, out, by_cov, i);
      }
      out.by_noise[i] = by_s;
    }
  }

  /// The same for one state, whose P̄ goes from point to point by one product and one sum.
  static void pull_variances(const ElementBlock<Real>& block, const PullBlock<Real>& out,
                             const ColumnSums& sums) {
    Real by = out.by_covariance[0], by_variance = 0, by_lengthscale = 0;
    const Real scale = block.noise_scale[0];
    const auto step = [&](Index i) {  // by P before the step, from that after it
      const Real decay2 = block.steps[i] * block.steps[i], a = block.steps[kStepStride + i],
                 added = block.steps[2 * kStepStride + i];
      by_variance += by * added;
      if (a < kForgets)
        by_lengthscale += a * (by * (scale * decay2 - 2 * (block.kept_covariances[i] - added)));
    };
    if (block.has_end) {
      step(block.count);
      by *= block.steps[block.count] * block.steps[block.count];
    }
    for (Index i = block.count - 1; i >= 0; --i) {
      const Real inverse = block.inverse_roots[i], inverse_s = inverse * inverse, k = block.gains[i],
                 stays = 1 - k, by_gain = -sums.by_mean[i] * inverse;
      const Real from_point = (Real(0.5) - sums.by_gram[i]) * inverse_s;
      out.by_noise[i] = from_point + k * (k * by - by_gain);
      const Real decay2 = block.steps[i] * block.steps[i], gained = stays * by_gain + from_point;
      const Real next = decay2 * (stays * stays) * by + decay2 * gained;
      by = stays * stays * by + gained;
      step(i);
      by = next;
    }
    out.by_variance[0] += by_variance;
    out.by_lengthscale[0] -= by_lengthscale;
  }

  /// The slopes by the terms' parameters of the step before point i that P̄ makes, and P̄ over it.
  template <int known>
  static void contract_step(const ElementBlock<Real>& block, const PullBlock<Real>& out, Real* by_cov,
                            Index i) {
    const int p = known > 0 ? known : block.places.states;
    const Real* cov = block.kept_covariances + i * p * p;
    const Move<Lane, known> move(block.places, block.steps, i);
    Real moved[kSquare<known>];  // P − Q
    for (int e = 0; e < p * p; ++e) moved[e] = cov[e];
    move.add_noise(Real(-1), moved);
    for (int t = 0; t < move.terms(); ++t) {
      const int o = move.offset(t), n = move.count(t);
      // In the terms' own coordinates the rows of what is by the first state of a term gain that by the sum.
      const auto by_own = [&](int r, int s) {
        Real value = by_cov[(o + r) * p + s];
        if (t > 0 && r == 0) value += by_cov[s];
        return value;
      };
      if constexpr (known == 0) {
        if (move.is_full(t)) {
          contract_full_step(block, out, move, t, by_cov, moved, i);
          continue;
        }
      }
      Real by_noise = 0, by_length = 0;
      for (int r = 0; r < n; ++r) {
        for (int s = 0; s < n; ++s) {
          Real weight = by_own(r, o + s);
          if (t > 0 && s == 0) weight += by_own(r, 0);
          by_noise += weight * move.added(t, r, s);
          by_length += weight * move.c[t][n - 1 - r] * move.c[t][n - 1 - s];
        }
      }
      out.by_variance[t] += by_noise;
      if (!move.remembers(t)) continue;
      by_length *= block.noise_scale[t];
      for (int r = 0; r < n; ++r) {  // ⟨2P̄(P − Q), G⟩
        for (int s = 0; s < p; ++s) {
          const auto own_moved = [&](int column) {
            Real value = moved[s * p + column];
            for (int u = 1; column == 0 && u < move.terms(); ++u) value -= moved[s * p + move.offset(u)];
            return value;
          };
          Real right = -own_moved(o + r);
          if (r + 1 < n) right += own_moved(o + r + 1);
          by_length += 2 * by_own(r, s) * right;
        }
      }
      out.by_lengthscale[t] -= move.a[t] * by_length;
    }
    move.backward_both_sides(by_cov);
  }
  /// The same for a term that turns or oscillates, moved being P − Q.
  static void contract_full_step(const ElementBlock<Real>& block, const PullBlock<Real>& out,
                                 const Move<Lane, 0>& move, int t, const Real* by_cov, const Real* moved,
                                 Index i) {
    constexpr auto kMost = static_cast<std::size_t>(markov::kMostStatesOfTerm);
    const int p = block.places.states, o = move.offset(t), n = move.count(t);
    const auto by_own = [&](int r, int s) {
      Real value = by_cov[(o + r) * p + s];
      if (t > 0 && r == 0) value += by_cov[s];
      return value;
    };
    Real own[kMost][kMost], product[kMost][kMost];  // P̄ of the term; P̄ times rows of a matrix
    Real by_noise = 0;
    for (int r = 0; r < n; ++r) {
      for (int s = 0; s < n; ++s) {
        own[r][s] = by_own(r, o + s);
        if (t > 0 && s == 0) own[r][s] += by_own(r, 0);
        by_noise += own[r][s] * move.added(t, r, s);
      }
    }
    out.by_variance[t] += by_noise;
    if (!move.remembers(t)) return;
    /// product(r, j) ← Σ_s P̄(r, s) X(j, s), X(j, s) with the sum as state 0.
    const auto multiply = [&](const auto& x) {
      for (int r = 0; r < n; ++r) {
        for (int j = 0; j < n; ++j) {
          product[r][j] = 0;
          for (int s = 0; s < p; ++s) {
            Real value = x(o + j, s);
            for (int u = 1; o + j == 0 && u < move.terms(); ++u) value -= x(move.offset(u), s);
            product[r][j] += by_own(r, s) * value;
          }
        }
      }
    };
    multiply([&](int j, int s) { return moved[s * p + j]; });
    if (move.kind(t) == markov::StateKind::turning) {
      const Real* rest = move.rest(t);
      const Real decay = rest[0], a = move.a[t];
      const Real g[3] = {decay, decay * a, Real(0.5) * decay * a * a};
      Real length = 0, angle = 0, square = 0;
      for (int r = 0; r < n; ++r) {
        length += (r + 2 < n ? product[r][r + 2] : Real(0)) - product[r][r];
        angle += r % 2 == 0 ? -product[r][r + 1] : product[r][r - 1];
        for (int s = r % 2; s < n; s += 2) square += own[r][s] * g[n / 2 - 1 - r / 2] * g[n / 2 - 1 - s / 2];
      }
      out.by_lengthscale[t] -= a * (2 * length + block.noise_scale[t] * square);
      out.by_period[t] -= 2 * rest[2 * kStepStride] * angle;
      return;
    }
    const Real *rest = move.rest(t), inverse = block.inverse_quality[t];
    const Real q00 = move.added(t, 0, 0), q01 = move.added(t, 0, 1), q11 = move.added(t, 1, 1);
    const Real by_s = 2 * (product[0][1] - product[1][0] - inverse * product[1][1]) + own[0][0] * 2 * q01 +
                      2 * own[0][1] * (q11 - q00 - inverse * q01) +
                      own[1][1] * 2 * (inverse * (block.noise_scale[t] - q11) - q01);
    out.by_period[t] -= rest[0] * by_s;
    Real by_quality = own[0][0] * rest[5 * kStepStride] + 2 * own[0][1] * rest[6 * kStepStride] +
                      own[1][1] * rest[7 * kStepStride];
    if (i > 0) {  // before a chunk's first step P is 0
      Real before[kSquare<0>];
      const Real* cov = block.kept_covariances + (i - 1) * p * p;
      const Real* k = block.gains + (i - 1) * p;
      const Real kept = block.noise[i - 1] * block.inverse_roots[i - 1] * block.inverse_roots[i - 1];
      for (int r = 0; r < p; ++r) {
        for (int s = 0; s < p; ++s)
          before[r * p + s] = r == 0   ? kept * cov[s]
                              : s == 0 ? kept * cov[r]
                                       : cov[r * p + s] - k[r] * cov[s];
      }
      move.template forward<Plain<Real>>(before, p);
      multiply([&](int j, int s) { return before[s * p + j]; });
      for (int r = 0; r < 2; ++r) {
        for (int j = 0; j < 2; ++j) by_quality += 2 * rest[(1 + 2 * r + j) * kStepStride] * product[r][j];
      }
    }
    out.by_quality[t] += by_quality;
  }
};

}  // namespace bandgp::front
