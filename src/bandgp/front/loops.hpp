// SPDX-License-Identifier: Apache-2.0
// The loops of elements and the front, written once for any number of lanes: eight doubles of an instruction
// set (front_kernels.isa.cpp), or one number of any precision (Plain).                        [math.md §11]
// Matrices are stored row by row; rows are whole lanes long, with zeros behind the columns in use.
#pragma once
#include <cmath>
#include <cstddef>
#include <type_traits>

#include "bandgp/base/index.hpp"

namespace bandgp::front {

/// States that a sum may have, and points of a chunk: one more step than points fits into 512.
inline constexpr int kMostStates = 12;
inline constexpr Index kMostPoints = 504, kStepStride = 512;

/// Where each term's states are; state 0 is the sum of all curves, in the place of the first term's own.
struct StatePlaces {
  int terms = 0, states = 0;
  int count[kMostStates] = {}, offset[kMostStates] = {};
};

/// A chunk's points and its element's columns, as the loops see them.
template <class Real>
struct ElementBlock {
  StatePlaces places;
  Index count = 0;              // points
  Index width = 0;              // columns, whole lanes
  const Real* steps = nullptr;  // of every term e^{−a}, a and the upper half of Q, each kStepStride long
  const Real* noise_scale = nullptr;  // κσ² of every term: ∂Q/∂a = κσ² ggᵀ
  const Real* noise = nullptr;        // (count,)
  Real* rows = nullptr;               // (count, width): W and −b in, v/√S out
  Real* mean = nullptr;        // (states, width): the states by column, at the beginning and then at the end
  Real* covariance = nullptr;  // (states, states): 0 at the beginning, then that at the end
  Real* pivots = nullptr;      // (count,) S
  Real* inverse_roots = nullptr;  // (count,) S^{−½}
  Real* gains = nullptr;          // (count, states) k
  Real* kept = nullptr;  // (count + 1, states·(width + states)): predicted means and covariances; may be null
  bool has_end = false;  // a step after the last point, to where the next chunk begins
  // Columns whose −v/√S is known: 0 there and 1 elsewhere, and the other way round; null where there is none.
  const Real* given_not = nullptr;
  const Real* given = nullptr;
  Real log_pivots = 0;
  bool failed = false;
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
  const Real* rows_by = nullptr;  // (count, width): v/√S · ∂/∂G
  Real* by_mean = nullptr;        // (states, width) and
  Real* by_covariance = nullptr;  // (states, states) at the end of the chunk; changed
  Real* by_noise = nullptr;       // (count,) out
  // Added to, by term.
  Real* by_variance = nullptr;
  Real* by_lengthscale = nullptr;
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
  BANDGP_PLAIN friend Plain operator+(Plain a, Plain b) { return {a.x + b.x}; }
  BANDGP_PLAIN friend Plain operator-(Plain a, Plain b) { return {a.x - b.x}; }
  BANDGP_PLAIN friend Plain operator*(Plain a, Plain b) { return {a.x * b.x}; }
  BANDGP_PLAIN friend Plain mul_add(Plain a, Plain b, Plain c) { return {a.x * b.x + c.x}; }
  BANDGP_PLAIN friend Plain exp(Plain a) {
    using std::exp;
    return {exp(a.x)};
  }
#undef BANDGP_PLAIN
};

/// One step of the states, F and Q, over a gap.  F is never written out: c has e^{−a} aᵏ/k! of every term.
/// `known` is 1 where there is one state, and 0 otherwise.
template <class Lane, int known>
struct Move {
  using Real = typename Lane::Real;
  const StatePlaces& places;
  static constexpr std::size_t kTerms = known == 1 ? 1 : kMostStates;
  Real c[kTerms][3] = {};
  Real a[kTerms];
  const Real* q[kTerms];

  Move(const StatePlaces& given, const Real* steps, Index i) : places(given) {
    for (int t = 0; t < terms(); ++t) {
      c[t][0] = steps[i];
      a[t] = steps[kStepStride + i];
      c[t][1] = c[t][0] * a[t];
      c[t][2] = Real(0.5) * c[t][1] * a[t];
      q[t] = steps + 2 * kStepStride + i;
      steps += (2 + count(t) * (count(t) + 1) / 2) * kStepStride;
    }
  }
  int terms() const { return known == 1 ? 1 : places.terms; }
  int states() const { return known == 1 ? 1 : places.states; }
  int count(int t) const { return known == 1 ? 1 : places.count[t]; }
  int offset(int t) const { return known == 1 ? 0 : places.offset[t]; }
  /// Entry (i, j) of the covariance that a term adds.
  Real added(int t, int i, int j) const {
    const int n = count(t), low = i < j ? i : j, high = i < j ? j : i;
    return q[t][static_cast<Index>(low * n - low * (low - 1) / 2 + (high - low)) * kStepStride];
  }
  /// F(0, o_t + d) of the terms but the first: the sum moves as they do, not as the first does.
  Real to_sum(int t, int d) const { return d == 0 ? c[t][0] - c[0][0] : c[t][d]; }

  /// Rows of m ← F m, `width` long.
  template <class Along>
  void forward(Real* m, Index width) const {
    for (Index w = 0; w < width; w += Along::kWidth) {
      const auto at = [&](int r) { return Along::load_unaligned(m + r * width + w); };
      for (int t = 0; t < terms(); ++t) {
        for (int i = 0; i < count(t); ++i) {
          Along sum = Along::all(c[t][0]) * at(offset(t) + i);
          for (int d = 1; i + d < count(t); ++d)
            sum = mul_add(Along::all(c[t][d]), at(offset(t) + i + d), sum);
          for (int s = 1; s < terms() && t == 0 && i == 0; ++s) {
            for (int d = 0; d < count(s); ++d)
              sum = mul_add(Along::all(to_sum(s, d)), at(offset(s) + d), sum);
          }
          sum.store_unaligned(m + (offset(t) + i) * width + w);
        }
      }
    }
  }
  /// Rows of m ← Fᵀm.
  template <class Along>
  void backward(Real* m, Index width) const {
    for (Index w = 0; w < width; w += Along::kWidth) {
      const auto at = [&](int r) { return Along::load_unaligned(m + r * width + w); };
      const Along first = at(0);
      for (int t = terms() - 1; t >= 0; --t) {
        for (int j = count(t) - 1; j >= 0; --j) {
          Along sum = Along::all(c[t][0]) * at(offset(t) + j);
          for (int d = 1; d <= j; ++d) sum = mul_add(Along::all(c[t][d]), at(offset(t) + j - d), sum);
          if (t > 0) sum = mul_add(Along::all(to_sum(t, j)), first, sum);
          sum.store_unaligned(m + (offset(t) + j) * width + w);
        }
      }
    }
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

  /// C ← A·B, or C += A·B, for A(i, l) = a[i·row + l·step] with m rows and `depth` columns, B `width` wide.
  static void multiply(bool add_to, const Real* a, Index row, Index step, Index m, Index depth, const Real* b,
                       Index ldb, Index width, Real* c, Index ldc) {
    // A tile has at most 12 registers of sums, where there are 16 or more.
    constexpr int kTileRows = Lane::kRegisters == 2 ? 6 : 4, kTileLanes = Lane::kRegisters == 1 ? 3 : 1;
    Index i = 0;
    const auto strip = [&]<int rows>(std::integral_constant<int, rows>) {
      for (; i + rows <= m; i += rows) {
        Index w = 0;
        for (; w + kTileLanes * kWidth <= width; w += kTileLanes * kWidth)
          tile<rows, kTileLanes>(add_to, a + i * row, row, step, depth, b + w, ldb, c + i * ldc + w, ldc);
        for (; w < width; w += kWidth)
          tile<rows, 1>(add_to, a + i * row, row, step, depth, b + w, ldb, c + i * ldc + w, ldc);
      }
    };
    strip(std::integral_constant<int, kTileRows>{});
    strip(std::integral_constant<int, 2>{});
    strip(std::integral_constant<int, 1>{});
  }
  template <int rows, int lanes>
  static void tile(bool add_to, const Real* a, Index row, Index step, Index depth, const Real* b, Index ldb,
                   Real* c, Index ldc) {
    Lane sum[static_cast<std::size_t>(rows)][static_cast<std::size_t>(lanes)];
#pragma GCC unroll 6
    for (int i = 0; i < rows; ++i) {
#pragma GCC unroll 3
      for (int w = 0; w < lanes; ++w)
        sum[i][w] = add_to ? Lane::load_unaligned(c + i * ldc + w * kWidth) : Lane::zero();
    }
    for (Index l = 0; l < depth; ++l) {
      Lane right[static_cast<std::size_t>(lanes)];
#pragma GCC unroll 3
      for (int w = 0; w < lanes; ++w) right[w] = Lane::load_unaligned(b + l * ldb + w * kWidth);
#pragma GCC unroll 6
      for (int i = 0; i < rows; ++i) {
        const Lane left = Lane::all(a[i * row + l * step]);
#pragma GCC unroll 3
        for (int w = 0; w < lanes; ++w) sum[i][w] = mul_add(left, right[w], sum[i][w]);
      }
    }
#pragma GCC unroll 6
    for (int i = 0; i < rows; ++i) {
#pragma GCC unroll 3
      for (int w = 0; w < lanes; ++w) sum[i][w].store_unaligned(c + i * ldc + w * kWidth);
    }
  }

  static Real dot(const Real* a, const Real* b, Index width) {
    Lane sum = Lane::zero();
    for (Index w = 0; w < width; w += kWidth)
      sum = mul_add(Lane::load_unaligned(a + w), Lane::load_unaligned(b + w), sum);
    return sum.sum();
  }
  /// y += factor·x
  static void add(Real factor, const Real* x, Index width, Real* y) {
    const Lane f = Lane::all(factor);
    for (Index w = 0; w < width; w += kWidth)
      mul_add(f, Lane::load_unaligned(x + w), Lane::load_unaligned(y + w)).store_unaligned(y + w);
  }
  /// F −= x lᵀ, `width` columns of it: rows i < m with xᵢ ≠ 0.
  static void downdate(const Real* x, const Real* l, Index m, Index width, Real* f, Index ldf) {
    for (Index i = 0; i < m; ++i) {
      if (x[i] != 0) add(-x[i], l, width, f + i * ldf);
    }
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
  /// amplitude·e^{−z²}, z = (x − centre)/ℓ, of every slot; or its slope by log ℓ, times 2z² − ½.
  static void gaussians(Real x, const Real* centre, const Real* inverse_length, const Real* amplitude,
                        bool slope, Index width, Real* out) {
    const Lane at = Lane::all(x), zero = Lane::zero();
    for (Index w = 0; w < width; w += kWidth) {
      const Lane z = (at - Lane::load_unaligned(centre + w)) * Lane::load_unaligned(inverse_length + w);
      const Lane z2 = z * z;
      Lane value = Lane::load_unaligned(amplitude + w) * exp(zero - z2);
      if (slope) value = value * (z2 + z2 - Lane::all(Real(0.5)));
      value.store_unaligned(out + w);
    }
  }

  /// Σ_m β_m T_m(x) of `count` numbers x in [−1, 1], of which there is room for whole lanes.
  static void curve(const Real* x, Index count, const Real* beta, Index q, Real* out) {
    for (Index i = 0; i < count; i += kWidth) {
      const Lane at = Lane::load_unaligned(x + i), twice = at + at;
      Lane next = Lane::zero(), here = Lane::all(beta[q - 1]);
      for (Index m = q - 2; m >= 1; --m) {
        const Lane before = mul_add(twice, here, Lane::all(beta[m]) - next);
        next = here;
        here = before;
      }
      if (q > 1) here = mul_add(at, here, Lane::all(beta[0]) - next);
      here.store_unaligned(out + i);
    }
  }

  /// rows[i][offset + m] ← T_m(xᵢ) for m < q, 2 ≤ q ≤ 48.
  static void polynomials(const Real* x, Index count, Index q, Index offset, Index width, Real* rows) {
    constexpr Index kMost = 48;
    Real values[static_cast<std::size_t>(kMost * kWidth)];
    for (Index i = 0; i < count; i += kWidth) {
      const Lane at = Lane::load_unaligned(x + i), twice = at + at;
      Lane before = Lane::all(Real(1)), here = at;
      before.store_unaligned(values);
      here.store_unaligned(values + kWidth);
      for (Index m = 2; m < q; ++m) {
        const Lane next = mul_add(twice, here, Lane::zero() - before);
        next.store_unaligned(values + m * kWidth);
        before = here;
        here = next;
      }
      for (Index k = 0; k < kWidth && i + k < count; ++k) {
        Real* to = rows + (i + k) * width + offset;
        for (Index m = 0; m < q; ++m) to[m] = values[m * kWidth + k];
      }
    }
  }

  /// A column b of a chunk, whose smooth part is `curve` and whose states begin as `mean`, reduced:
  /// b ← (b − curve − (sum of the states)) S^{−½}.
  static void reduce(const ColumnBlock<Real>& block, const Real* curve, Real* mean, Real* b) {
    if (block.places->states == 1)
      run_reduce<1>(block, curve, mean, b);
    else
      run_reduce<0>(block, curve, mean, b);
  }
  /// Backwards: a reduced column ← A⁻¹b, from the multipliers r at the end of the chunk.
  static void solve(const ColumnBlock<Real>& block, Real* r, Real* b) {
    if (block.places->states == 1)
      run_solve<1>(block, r, b);
    else
      run_solve<0>(block, r, b);
  }

  /// The filter over a chunk with all columns at once.
  static void filter(ElementBlock<Real>& block) {
    if (block.places.states == 1)
      run<1>(block);
    else
      run<0>(block);
  }
  /// Back through a chunk whose means and covariances were kept.
  static void pull(const ElementBlock<Real>& block, const PullBlock<Real>& out) {
    if (block.places.states == 1)
      run_back<1>(block, out);
    else
      run_back<0>(block, out);
  }

 private:
  template <int known>
  static void run_reduce(const ColumnBlock<Real>& block, const Real* curve, Real* mean, Real* b) {
    const int p = known == 1 ? 1 : block.places->states;
    for (Index i = 0; i < block.count; ++i) {
      Real v = curve[i] - b[i];
      if (p > 0) {
        Move<Lane, known>(*block.places, block.steps, i).template forward<Plain<Real>>(mean, 1);
        v += mean[0];
        for (int s = 0; s < p; ++s) mean[s] -= block.gains[i * p + s] * v;
      }
      b[i] = -v * block.inverse_roots[i];
    }
  }
  template <int known>
  static void run_solve(const ColumnBlock<Real>& block, Real* r, Real* b) {
    const int p = known == 1 ? 1 : block.places->states;
    if (p > 0 && block.has_end)
      Move<Lane, known>(*block.places, block.steps, block.count).template backward<Plain<Real>>(r, 1);
    for (Index i = block.count - 1; i >= 0; --i) {
      Real value = b[i] * block.inverse_roots[i];
      for (int s = 0; s < p; ++s) value -= block.gains[i * p + s] * r[s];
      b[i] = value;
      if (p == 0) continue;
      r[0] += value;
      Move<Lane, known>(*block.places, block.steps, i).template backward<Plain<Real>>(r, 1);
    }
  }

  template <int known>
  static void run(ElementBlock<Real>& block) {
    using std::log;
    using std::sqrt;
    const int p = known == 1 ? 1 : block.places.states;
    const Index width = block.width;
    Real* m = block.mean;
    Real* cov = block.covariance;
    const auto advance = [&](Index i) {
      const Move<Lane, known> move(block.places, block.steps, i);
      move.template forward<Lane>(m, width);
      move.forward_both_sides(cov);
      move.add_noise(Real(1), cov);
      if (block.kept == nullptr) return;
      Real* to = block.kept + i * p * (width + p);
      for (Index w = 0; w < p * width; w += kWidth) Lane::load_unaligned(m + w).store_unaligned(to + w);
      for (int e = 0; e < p * p; ++e) to[p * width + e] = cov[e];
    };
    Real product = 1;
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
      const auto is_moderate = [](Real x) { return x < Real(1e100) && x > Real(1e-100); };
      if (is_moderate(s))
        product *= s;
      else
        block.log_pivots += log(s);
      if (!is_moderate(product)) {
        block.log_pivots += log(product);
        product = 1;
      }
      const Real root = sqrt(s), inverse = 1 / root, inverse_s = inverse * inverse;
      block.inverse_roots[i] = inverse;
      Real* k = block.gains + i * p;
      for (int r = 0; r < p; ++r) k[r] = cov[r] * inverse_s;
      Real* v = block.rows + i * width;
      for (Index w = 0; w < width; w += kWidth) {
        Lane value = Lane::load_unaligned(v + w);
        if (block.given != nullptr) {
          const Lane own = Lane::load_unaligned(block.given_not + w);
          value = value * mul_add(Lane::all(root), Lane::load_unaligned(block.given + w), own);
          if (p > 0) value = mul_add(own, Lane::load_unaligned(m + w), value);
        } else if (p > 0) {
          value = value + Lane::load_unaligned(m + w);
        }
        for (int r = 0; r < p; ++r) {
          Real* row = m + r * width + w;
          mul_add(Lane::all(-k[r]), value, Lane::load_unaligned(row)).store_unaligned(row);
        }
        (Lane::all(inverse) * value).store_unaligned(v + w);
      }
      for (int r = 1; r < p; ++r) {
        for (int c = 1; c < p; ++c) cov[r * p + c] -= k[r] * cov[c];
      }
      for (int c = 0; c < p; ++c) cov[c] *= d * inverse_s;
      for (int r = 1; r < p; ++r) cov[r * p] = cov[r];
    }
    block.log_pivots += log(product);
    if (p > 0 && block.has_end) advance(block.count);
  }

  template <int known>
  static void run_back(const ElementBlock<Real>& block, const PullBlock<Real>& out) {
    using std::sqrt;
    const int p = known == 1 ? 1 : block.places.states;
    const Index width = block.width;
    Real* by_m = out.by_mean;
    Real* by_cov = out.by_covariance;
    if (p > 0 && block.has_end) contract<known>(block, out, block.count);
    for (Index i = block.count - 1; i >= 0; --i) {
      const Real s = block.pivots[i];
      const Real* v = block.rows + i * width;
      const Real* b = out.rows_by + i * width;
      Real by_s = (Real(0.5) - dot(b, v, width)) / s;
      if (p > 0) {
        const Real root = sqrt(s);
        const Real* k = block.gains + i * p;
        Real by_first[kMostStates];
        for (int r = 0; r < p; ++r) {
          const Real by_gain = -root * dot(by_m + r * width, v, width);
          Real moved = 0;
          for (int c = 0; c < p; ++c) moved += by_cov[r * p + c] * k[c];
          by_s += k[r] * (moved - by_gain / s);
          by_first[r] = by_gain / s - 2 * moved;
        }
        const Lane twice = Lane::all(2 / root);
        for (Index w = 0; w < width; w += kWidth) {  // v̄ = 2b/S − kᵀm̄
          Lane row = twice * Lane::load_unaligned(b + w);
          for (int r = 0; r < p; ++r)
            row = mul_add(Lane::all(-k[r]), Lane::load_unaligned(by_m + r * width + w), row);
          (Lane::load_unaligned(by_m + w) + row).store_unaligned(by_m + w);
        }
        for (int r = 0; r < p; ++r) {
          by_cov[r * p] += by_first[r] / 2;
          by_cov[r] += by_first[r] / 2;
        }
        by_cov[0] += by_s;
        contract<known>(block, out, i);
      }
      out.by_noise[i] = by_s;
    }
  }

  /// The slopes by the terms' parameters of the step before point i, and by_mean and by_covariance over it.
  template <int known>
  static void contract(const ElementBlock<Real>& block, const PullBlock<Real>& out, Index i) {
    const int p = known == 1 ? 1 : block.places.states;
    const Index width = block.width;
    const Real* m = block.kept + i * p * (width + p);
    Real* by_m = out.by_mean;
    Real* by_cov = out.by_covariance;
    const Move<Lane, known> move(block.places, block.steps, i);
    Real moved[kMostStates * kMostStates];  // P − Q
    for (int e = 0; e < p * p; ++e) moved[e] = m[p * width + e];
    move.add_noise(Real(-1), moved);
    for (int t = 0; t < move.terms(); ++t) {
      constexpr Real kForgets = 60;  // beyond that a step forgets everything, and its slopes with it
      const bool forgets = move.a[t] >= kForgets;
      const int o = move.offset(t), n = move.count(t);
      // In the terms' own coordinates the rows of what is by the first state of a term gain that by the sum.
      const auto by_own = [&](int r, int s) {
        Real value = by_cov[(o + r) * p + s];
        if (t > 0 && r == 0) value += by_cov[s];
        return value;
      };
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
      if (forgets) continue;
      by_length *= block.noise_scale[t];
      // ⟨m̄mᵀ + 2P̄(P − Q), G⟩ with G = −1 on the term's diagonal and 1 above.
      Lane sum = Lane::zero();
      for (Index w = 0; w < width; w += kWidth) {
        const auto own_mean = [&](int r) {
          Lane value = Lane::load_unaligned(m + r * width + w);
          for (int u = 1; r == 0 && u < move.terms(); ++u)
            value = value - Lane::load_unaligned(m + move.offset(u) * width + w);
          return value;
        };
        for (int r = 0; r < n; ++r) {
          Lane left = Lane::load_unaligned(by_m + (o + r) * width + w);
          if (t > 0 && r == 0) left = left + Lane::load_unaligned(by_m + w);
          Lane right = Lane::zero() - own_mean(o + r);
          if (r + 1 < n) right = right + own_mean(o + r + 1);
          sum = mul_add(left, right, sum);
        }
      }
      by_length += sum.sum();
      for (int r = 0; r < n; ++r) {
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
    move.template backward<Lane>(by_m, width);
    move.backward_both_sides(by_cov);
  }
};

}  // namespace bandgp::front
