// SPDX-License-Identifier: Apache-2.0
// The micro-kernels of the band engine: what happens inside one or two row panels.
// A panel is 8 consecutive rows, stored column by column: one column of a panel is 8 doubles, a cache line
// and an AVX-512 vector.  Both operands of every update are then contiguous, whatever the instruction set.
// This header names no instruction set; panel.isa.cpp is compiled once for each and dispatch.cpp chooses.
#pragma once
#include "bandgp/base/index.hpp"

namespace bandgp::simd {

inline constexpr Index kPanel = 8;                // rows of a panel
inline constexpr Index kBlock = kPanel * kPanel;  // doubles of an 8×8 block

/// An envelope of row panels.  Panel p holds columns first[p] … 8p+7 (first[p] a multiple of 8, not
/// decreasing in p); entry (i, c) of panel p = i/8 lies at data[start[p] + 8c + i%8].
struct Panels {
  double* data;
  const Index* first;
  const Index* start;
  double* column(Index p, Index c) const { return data + start[p] + kPanel * c; }
};

/// The operations, compiled for one instruction set.
struct PanelKernels {
  /// Rows of A = L Lᵀ for `count` (1 or 2) panels from p on; all earlier panels hold L.  inv_diag[i] ←
  /// 1/L_ii. Returns the first row whose pivot is not positive (NaN included), or -1.
  Index (*factor)(const Panels& a, Index p, Index count, double* inv_diag);

  /// b_p ← L_pp⁻¹ (b_p − Σ_{c<8p} L_pc b_c) for `columns` right-hand sides, `stride` apart.
  void (*solve_lower)(const Panels& l, Index p, const double* inv_diag, double* b, Index columns,
                      Index stride);

  /// b_p ← L_pp⁻ᵀ (b_p − Σ_{i>p} L_ipᵀ b_i), panels i ≤ last.
  void (*solve_upper)(const Panels& l, Index p, Index last, const double* inv_diag, double* b, Index columns,
                      Index stride);

  /// Block column j of Z = (L Lᵀ)⁻¹ from Z L = L⁻ᵀ: rows of panels j … z_last.  L has nonzeros in panels j …
  /// l_last. Later block columns of Z are there already, in `z` (lower) and in `mirror`, a ring of ring²
  /// blocks (ring ≥ z_last − j + 1) that holds Z_im, m > i, transposed from Z_mi.  The
  /// diagonal block is stored full. `scratch` takes (l_last − j + 1) blocks.  l and z may be the same memory.
  void (*invert)(const Panels& l, const Panels& z, Index j, Index l_last, Index z_last,
                 const double* inv_diag, double* mirror, Index ring, double* scratch);

  /// out (8 right-hand sides, row-major: out[8r + t]) for t < 8:  Σ_r,c v[r][t] Z[r][c] v[c][t] over rows and
  /// columns 8·p0 … 8·p1−1 of the symmetric Z, whose lower envelope holds all of them; v[i][t] at v[8(i −
  /// 8·p0) + t].
  void (*quadratic_form)(const Panels& z, Index p0, Index p1, const double* v, double* out);
};

}  // namespace bandgp::simd
