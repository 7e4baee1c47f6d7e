// SPDX-License-Identifier: Apache-2.0
// The micro-kernels of simd/panel.hpp, written once and compiled for every instruction set.
//
// Register tile: kTall panels (8·kTall rows) by kStep columns.  AVX-512 has 32 registers and takes 16 rows ×
// 8 columns (16 accumulators hide the 4-cycle latency of two FMA units); AVX2 has 16 registers and takes 8
// × 4.
#include "bandgp/simd/panel.hpp"

#include "bandgp/simd/dispatch.hpp"
#include "bandgp/simd/vec.hpp"

namespace bandgp::BANDGP_ISA_NAMESPACE {
namespace {

using simd::kBlock;
using simd::kPanel;
using simd::Panels;

constexpr int kStep = kLanes == 8 ? 8 : 4;
constexpr int kTall = kLanes == 8 ? 2 : 1;

template <int tall>
struct Tile {
  Column at[unsigned{tall}][unsigned{kStep}];
};

template <int tall>
BANDGP_INLINE Tile<tall> load_tile(double* const* rows, Index c0) {
  Tile<tall> t;
  BANDGP_UNROLL for (int q = 0; q < tall; ++q) {
    BANDGP_UNROLL for (int c = 0; c < kStep; ++c) t.at[q][c] = Column::load(rows[q] + kPanel * (c0 + c));
  }
  return t;
}

template <int tall>
BANDGP_INLINE void store_tile(const Tile<tall>& t, double* const* rows, Index c0) {
  BANDGP_UNROLL for (int q = 0; q < tall; ++q) {
    BANDGP_UNROLL for (int c = 0; c < kStep; ++c) t.at[q][c].store(rows[q] + kPanel * (c0 + c));
  }
}

/// t ← t − X[:, from … to) · Y[:, from … to)ᵀ;  X: columns of `rows`, Y: kStep rows, one column every 8
/// doubles.
template <int tall>
BANDGP_INLINE void subtract_product(Tile<tall>& t, double* const* rows, const double* y, Index from,
                                    Index to) {
  _Pragma("GCC unroll 4") for (Index l = from; l < to; ++l) {
    Column x[unsigned{tall}];
    BANDGP_UNROLL for (int q = 0; q < tall; ++q) x[q] = Column::load(rows[q] + kPanel * l);
    BANDGP_UNROLL for (int c = 0; c < kStep; ++c) {
      const Column s = Column::all(y[kPanel * l + c]);
      BANDGP_UNROLL for (int q = 0; q < tall; ++q) t.at[q][c] = neg_mul_add(x[q], s, t.at[q][c]);
    }
  }
}

/// t ← t · T⁻ᵀ with T the kStep × kStep lower triangle whose column l starts at y + 8l.
template <int tall>
BANDGP_INLINE void solve_right_transposed(Tile<tall>& t, const double* y, const double* inv_diag) {
  BANDGP_UNROLL for (int l = 0; l < kStep; ++l) {
    const Column scale = Column::all(inv_diag[l]);
    BANDGP_UNROLL for (int q = 0; q < tall; ++q) t.at[q][l] = t.at[q][l] * scale;
    BANDGP_UNROLL for (int c = l + 1; c < kStep; ++c) {
      const Column s = Column::all(y[kPanel * l + c]);
      BANDGP_UNROLL for (int q = 0; q < tall; ++q) t.at[q][c] = neg_mul_add(t.at[q][l], s, t.at[q][c]);
    }
  }
}

/// Columns c0 … c0+kStep−1 of `tall` panels below their diagonal: update with everything to the left, then
/// solve. from: first column of the panel with the shortest row; rows[0] may start earlier, at `earlier`.
template <int tall>
BANDGP_INLINE void factor_step(const Panels& a, double* const* rows, Index earlier, Index from, Index c0,
                               const double* inv_diag) {
  const double* y = a.data + a.start[c0 / kPanel] + c0 % kPanel;  // rows c0 … of their panel
  Tile<tall> t = load_tile<tall>(rows, c0);
  if constexpr (tall == 2) {
    if (earlier < from) {
      Tile<1> head;
      BANDGP_UNROLL for (int c = 0; c < kStep; ++c) head.at[0][c] = t.at[0][c];
      subtract_product<1>(head, rows, y, earlier, from);
      BANDGP_UNROLL for (int c = 0; c < kStep; ++c) t.at[0][c] = head.at[0][c];
    }
  }
  subtract_product<tall>(t, rows, y, from, c0);
  solve_right_transposed<tall>(t, y + kPanel * c0, inv_diag + c0);
  store_tile<tall>(t, rows, c0);
}

/// The same on the diagonal: rows[0] is the panel of columns c0 …; its kStep × kStep triangle is factored.
/// Right-looking, as A − a aᵀ/d with d not yet rooted: the chain from pivot to pivot is one division, not two
/// roots.
template <int tall>
BANDGP_INLINE Index factor_diagonal_step(double* const* rows, Index earlier, Index from, Index c0,
                                         double* inv_diag) {
  const Index corner = c0 % kPanel;  // first row of the triangle inside its panel
  const double* y = rows[0] + corner;
  Tile<tall> t = load_tile<tall>(rows, c0);
  if constexpr (tall == 2) {
    Tile<1> head;
    BANDGP_UNROLL for (int c = 0; c < kStep; ++c) head.at[0][c] = t.at[0][c];
    subtract_product<1>(head, rows, y, earlier, from);
    BANDGP_UNROLL for (int c = 0; c < kStep; ++c) t.at[0][c] = head.at[0][c];
  }
  subtract_product<tall>(t, rows, y, from, c0);
  double* out = rows[0] + kPanel * c0;
  Index bad = -1;
  double inverse[unsigned{kStep}];
  BANDGP_UNROLL for (int c = 0; c < kStep; ++c) {
    double* column = out + kPanel * c;
    t.at[0][c].store(column);
    const double pivot = column[corner + c];
    if (!(pivot > 0) && bad < 0) bad = c0 + c;  // NaN is not positive
    inverse[c] = 1.0 / pivot;
    Column ratio[unsigned{tall}];
    BANDGP_UNROLL for (int q = 0; q < tall; ++q) ratio[q] = t.at[q][c] * Column::all(inverse[c]);
    BANDGP_UNROLL for (int l = c + 1; l < kStep; ++l) {
      const Column s = Column::all(column[corner + l]);
      BANDGP_UNROLL for (int q = 0; q < tall; ++q) t.at[q][l] = neg_mul_add(ratio[q], s, t.at[q][l]);
    }
  }
  BANDGP_UNROLL for (int c = 0; c < kStep; ++c) {
    const double inverse_root = __builtin_sqrt(inverse[c]);
    inv_diag[c0 + c] = inverse_root;
    const Column scale = Column::all(inverse_root);
    // Zeros above the diagonal, where the updates left remainders.
    where_ge(Column::iota(), static_cast<double>(corner + c), t.at[0][c] * scale).store(out + kPanel * c);
    BANDGP_UNROLL for (int q = 1; q < tall; ++q)(t.at[q][c] * scale).store(rows[q] + kPanel * (c0 + c));
  }
  return bad;
}

Index factor(const Panels& a, Index p, Index count, double* inv_diag) {
  if (count == 2 && kTall == 1) {
    const Index bad = factor(a, p, 1, inv_diag);
    return bad >= 0 ? bad : factor(a, p + 1, 1, inv_diag);
  }
  double* rows[2] = {a.data + a.start[p], count == 2 ? a.data + a.start[p + 1] : nullptr};
  const Index earlier = a.first[p];
  const Index from = count == 2 ? a.first[p + 1] : earlier;
  const Index diagonal = kPanel * p;
  Index c0 = earlier;
  for (; c0 < (count == 2 ? (from < diagonal ? from : diagonal) : diagonal); c0 += kStep) {
    factor_step<1>(a, rows, earlier, earlier, c0, inv_diag);
  }
  if constexpr (kTall == 2) {
    if (count == 2) {
      for (; c0 < diagonal; c0 += kStep) factor_step<2>(a, rows, earlier, from, c0, inv_diag);
    }
  }
  Index bad = -1;
  const bool together = kTall == 2 && count == 2 && from <= diagonal;
  for (; c0 < diagonal + kPanel && bad < 0; c0 += kStep) {
    if constexpr (kTall == 2) {
      if (together) {
        bad = factor_diagonal_step<2>(rows, earlier, from, c0, inv_diag);
        continue;
      }
    }
    bad = factor_diagonal_step<1>(rows, earlier, earlier, c0, inv_diag);
  }
  if (count == 2) {
    for (; c0 < diagonal + 2 * kPanel && bad < 0; c0 += kStep) {
      bad = factor_diagonal_step<1>(rows + 1, from, from, c0, inv_diag);
    }
  }
  return bad;
}

/// b ← b − L[:, from … to) x, four columns at a time so that four chains run side by side.
BANDGP_INLINE Column subtract_times(Column b, const double* row, const double* x, Index from, Index to) {
  Column s1 = Column::zero(), s2 = Column::zero(), s3 = Column::zero();
  for (Index c = from; c < to; c += 4) {  // from, to are multiples of 8
    b = neg_mul_add(Column::load(row + kPanel * c), Column::all(x[c]), b);
    s1 = mul_add(Column::load(row + kPanel * (c + 1)), Column::all(x[c + 1]), s1);
    s2 = mul_add(Column::load(row + kPanel * (c + 2)), Column::all(x[c + 2]), s2);
    s3 = mul_add(Column::load(row + kPanel * (c + 3)), Column::all(x[c + 3]), s3);
  }
  return b - (s1 + (s2 + s3));
}

void solve_lower(const Panels& l, Index p, const double* inv_diag, double* b, Index columns, Index stride) {
  const double* row = l.data + l.start[p];
  const Index i0 = kPanel * p;
  for (Index k = 0; k < columns; ++k, b += stride) {
    Column t = subtract_times(Column::load(b + i0), row, b, l.first[p], i0);
    alignas(64) double x[kPanel];
    t.store(x);
    BANDGP_UNROLL for (int c = 0; c < kPanel; ++c) {
      x[c] *= inv_diag[i0 + c];
      BANDGP_UNROLL for (int r = c + 1; r < kPanel; ++r) x[r] =
          neg_mul_add(row[kPanel * (i0 + c) + r], x[c], x[r]);
    }
    Column::load(x).store(b + i0);
  }
}

void solve_upper(const Panels& l, Index p, Index last, const double* inv_diag, double* b, Index columns,
                 Index stride) {
  const Index i0 = kPanel * p;
  for (Index k = 0; k < columns; ++k, b += stride) {
    Column sum[kPanel];
    BANDGP_UNROLL for (int c = 0; c < kPanel; ++c) sum[c] = Column::zero();
    for (Index i = p + 1; i <= last; ++i) {
      const double* block = l.column(i, i0);
      const Column x = Column::load(b + kPanel * i);
      BANDGP_UNROLL for (int c = 0; c < kPanel; ++c) sum[c] =
          mul_add(Column::load(block + kPanel * c), x, sum[c]);
    }
    alignas(64) double block[kBlock], by_row[kBlock];
    BANDGP_UNROLL for (int c = 0; c < kPanel; ++c) sum[c].store(block + kPanel * c);
    transpose(block, by_row);
    Column total = Column::load(b + i0);
    BANDGP_UNROLL for (int r = 0; r < kPanel; ++r) total = total - Column::load(by_row + kPanel * r);
    alignas(64) double x[kPanel];
    total.store(x);
    const double* triangle = l.column(p, i0);
    BANDGP_UNROLL for (int r = kPanel - 1; r >= 0; --r) {
      x[r] *= inv_diag[i0 + r];
      BANDGP_UNROLL for (int c = 0; c < r; ++c) x[c] = neg_mul_add(triangle[kPanel * c + r], x[r], x[c]);
    }
    Column::load(x).store(b + i0);
  }
}

/// Block (i, m), m > i, of the mirrored upper half.
BANDGP_INLINE double* mirror_block(double* mirror, Index ring, Index i, Index m) {
  return mirror + (i % ring * ring + m % ring) * kBlock;
}

/// Z_ij for `tall` panels i, i+1, …: −(Σ_m Z_im L_mj) L_jj⁻¹, to which the diagonal block (i = j) adds L_jj⁻ᵀ
/// first. scratch: the blocks L_mj, m = j … l_last.
template <int tall>
BANDGP_INLINE void invert_rows(const Panels& z, Index i, Index j, Index l_last, const double* inv_diag,
                               double* mirror, Index ring, const double* scratch, const double* addend) {
  for (Index half = kPanel - kStep; half >= 0; half -= kStep) {
    Tile<tall> t;
    BANDGP_UNROLL for (int q = 0; q < tall; ++q) {
      BANDGP_UNROLL for (int c = 0; c < kStep; ++c) {
        t.at[q][c] = addend != nullptr ? Column::load(addend + kPanel * (half + c)) : Column::zero();
      }
    }
    const double* row[unsigned{tall}];  // of the mirror; divisions once, not in the loop
    for (int q = 0; q < tall; ++q) row[q] = mirror + (i + q) % ring * ring * kBlock;
    Index slot = j % ring;  // of block column m
    for (Index m = j + 1; m <= l_last; ++m) {
      slot = slot + 1 == ring ? 0 : slot + 1;
      const double* zm[unsigned{tall}];
      for (int q = 0; q < tall; ++q) {
        zm[q] = m <= i + q ? z.column(i + q, kPanel * m) : row[q] + slot * kBlock;
      }
      const double* lm = scratch + (m - j) * kBlock + kPanel * half;
      for (int l = 0; l < kPanel; ++l) {
        Column x[unsigned{tall}];
        BANDGP_UNROLL for (int q = 0; q < tall; ++q) x[q] = Column::load(zm[q] + kPanel * l);
        BANDGP_UNROLL for (int c = 0; c < kStep; ++c) {
          const Column s = Column::all(lm[kPanel * c + l]);
          BANDGP_UNROLL for (int q = 0; q < tall; ++q) t.at[q][c] = neg_mul_add(x[q], s, t.at[q][c]);
        }
      }
    }
    // t ← t L_jj⁻¹, columns from right to left; those of a later half are in memory already.
    for (Index l = half + kStep; l < kPanel; ++l) {
      BANDGP_UNROLL for (int c = 0; c < kStep; ++c) {
        const Column s = Column::all(scratch[kPanel * (half + c) + l]);
        BANDGP_UNROLL for (int q = 0; q < tall; ++q) {
          t.at[q][c] = neg_mul_add(Column::load(z.column(i + q, kPanel * j + l)), s, t.at[q][c]);
        }
      }
    }
    BANDGP_UNROLL for (int l = kStep - 1; l >= 0; --l) {
      const Column scale = Column::all(inv_diag[kPanel * j + half + l]);
      BANDGP_UNROLL for (int q = 0; q < tall; ++q) t.at[q][l] = t.at[q][l] * scale;
      BANDGP_UNROLL for (int c = 0; c < l; ++c) {
        const Column s = Column::all(scratch[kPanel * (half + c) + half + l]);
        BANDGP_UNROLL for (int q = 0; q < tall; ++q) t.at[q][c] = neg_mul_add(t.at[q][l], s, t.at[q][c]);
      }
    }
    BANDGP_UNROLL for (int q = 0; q < tall; ++q) {
      BANDGP_UNROLL for (int c = 0; c < kStep; ++c) t.at[q][c].store(z.column(i + q, kPanel * j + half + c));
    }
  }
}

void invert(const Panels& l, const Panels& z, Index j, Index l_last, Index z_last, const double* inv_diag,
            double* mirror, Index ring, double* scratch) {
  for (Index m = j; m <= l_last; ++m) {
    const double* from = l.column(m, kPanel * j);
    double* to = scratch + (m - j) * kBlock;
    BANDGP_UNROLL for (int c = 0; c < kPanel; ++c) Column::load(from + kPanel * c).store(to + kPanel * c);
  }
  Index i = j + 1;
  if constexpr (kTall == 2) {
    for (; i + 1 <= z_last; i += 2) invert_rows<2>(z, i, j, l_last, inv_diag, mirror, ring, scratch, nullptr);
  }
  for (; i <= z_last; ++i) invert_rows<1>(z, i, j, l_last, inv_diag, mirror, ring, scratch, nullptr);
  for (i = j + 1; i <= z_last; ++i) {
    transpose(z.column(i, kPanel * j), mirror_block(mirror, ring, j, i));
  }
  // The diagonal block starts from L_jj⁻ᵀ.  T = L_jj⁻¹ by columns of T L_jj = I, from right to left; then
  // transposed.
  alignas(64) double inverse[kBlock], upper[kBlock];
  BANDGP_UNROLL for (int c = kPanel - 1; c >= 0; --c) {
    Column t = where_le(abs(Column::iota() - Column::all(c)), 0.0, Column::all(1.0));  // column c of I
    BANDGP_UNROLL for (int r = c + 1; r < kPanel; ++r) {
      t = neg_mul_add(Column::load(inverse + kPanel * r), Column::all(scratch[kPanel * c + r]), t);
    }
    (t * Column::all(inv_diag[kPanel * j + c])).store(inverse + kPanel * c);
  }
  transpose(inverse, upper);
  invert_rows<1>(z, j, j, l_last, inv_diag, mirror, ring, scratch, upper);
  // Rounding leaves the block a little asymmetric, and the recurrence would multiply that from panel to
  // panel.
  double* block = z.column(j, kPanel * j);
  for (Index c = 1; c < kPanel; ++c) {
    for (Index r = 0; r < c; ++r) block[kPanel * c + r] = block[kPanel * r + c];
  }
}

void quadratic_form(const Panels& z, Index p0, Index p1, const double* v, double* out) {
  double total[kPanel] = {};
  for (Index p = p0; p < p1; ++p) {
    // Twice the blocks left of the diagonal and once the diagonal block, for 8 right-hand sides at a time.
    alignas(64) double image[kBlock];
    for (Index half = 0; half < kPanel; half += kStep) {
      Tile<1> t;
      BANDGP_UNROLL for (int c = 0; c < kStep; ++c) t.at[0][c] = Column::zero();
      const auto accumulate = [&](Index from, Index to) {
        for (Index l = from; l < to; ++l) {
          const Column x = Column::load(z.column(p, l));
          const double* y = v + kPanel * (l - kPanel * p0) + half;
          BANDGP_UNROLL for (int c = 0; c < kStep; ++c) t.at[0][c] =
              mul_add(x, Column::all(y[c]), t.at[0][c]);
        }
      };
      accumulate(kPanel * p0, kPanel * p);
      BANDGP_UNROLL for (int c = 0; c < kStep; ++c) t.at[0][c] = t.at[0][c] + t.at[0][c];
      accumulate(kPanel * p, kPanel * (p + 1));
      BANDGP_UNROLL for (int c = 0; c < kStep; ++c) t.at[0][c].store(image + kPanel * (half + c));
    }
    for (Index t = 0; t < kPanel; ++t) {
      for (Index r = 0; r < kPanel; ++r) {
        total[t] += image[kPanel * t + r] * v[kPanel * (kPanel * (p - p0) + r) + t];
      }
    }
  }
  for (Index t = 0; t < kPanel; ++t) out[t] = total[t];
}

}  // namespace

const simd::PanelKernels panel_kernels = {factor, solve_lower, solve_upper, invert, quadratic_form};

}  // namespace bandgp::BANDGP_ISA_NAMESPACE
