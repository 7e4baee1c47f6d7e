// SPDX-License-Identifier: Apache-2.0
// Sums of Gaussians on a grid, O(window) a point and no exp in the inner loop.                  [dual.md]
// A point x = (J + δ)h, |δ| ≤ ½, sees the nodes u = (J + p)h of a window; with g = h²/ℓ²
//   exp(−(x−u)²/ℓ²) = e^{−gδ²} · (e^{2gδ})^p · e^{−gp²}:
// two exponentials a point, powers of one of them, and a table.  Powers run outward from the nearest node,
// where they are between e^{−g·window} and its inverse, so nothing overflows and every value keeps a few
// roundings. The vectors lie along the window: any spacing of the points fills them.
#pragma once
#include <cstdint>

#include "bandgp/base/index.hpp"

namespace bandgp {

/// Points on a grid, as the kernels see them.  Arrays are padded to a multiple of 8 points.
struct GridPoints {
  const double* offset;       // δ, in units of the spacing
  const std::int32_t* first;  // where the point's window of nodes begins
  double g;                   // h²/ℓ²
  int vectors;                // the window: 8·vectors nodes, from J − 4·vectors on
  const double* table;        // (8·vectors,) s·e^{−gp²}
};

/// The same on the grid of half steps, for exp(−2(x−v)²/ℓ²): with ε = 2δ − κ, |ε| ≤ ½, in half steps,
///   e^{−gε²/2} · (e^{gε})^p · e^{−gp²/2}.
struct HalfGridPoints {
  GridPoints points;
  int vectors;          // 8·vectors half nodes
  const double* table;  // e^{−gp²/2}
};

struct PointRange {
  Index begin, end;  // multiples of 8
};

inline constexpr int kLeastVectors = 1, kMostVectors = 12;

struct GridKernels {
  /// node[i] ← J as a double and offset[i] ← δ for x = (J + δ) · spacing.
  void (*locate)(const double* x, PointRange range, double spacing, double* node, double* offset);

  /// out_c[first + p] +← Σ weight_c φ_p for `columns` weights and sums at once.
  void (*spread)(const GridPoints& points, PointRange range, int columns, const double* const* weight,
                 double* const* out);
  /// out_c[i] ← Σ_p φ_p(xᵢ) w_c[first + p].
  void (*gather)(const GridPoints& points, PointRange range, int columns, const double* const* w,
                 double* const* out);
  /// out[i] ← Σ_p φ_p(xᵢ) (−½ + 2g(δ − p)²) w[first + p]: the same for ∂φ/∂log ℓ at fixed nodes.
  void (*gather_slope)(const GridPoints& points, PointRange range, const double* w, double* out);
  /// out[8·vectors·i + p] ← φ_p(xᵢ): the windows themselves.
  void (*windows)(const GridPoints& points, PointRange range, double* out);

  /// h0[v] +← Σ weight G, h2[v] +← Σ weight (ε − p)² G on half nodes v; h2 may be null.
  void (*half_sums)(const HalfGridPoints& points, PointRange range, const double* weight, double* h0,
                    double* h2);

  /// Panel of 8 rows of the Gram matrix: out[8(c − from) + r] ← lags[row + r − c] · h0[row + r + c], from ≤ c
  /// < row + 8.
  void (*fill_gram)(const double* lags, const double* h0, Index row, Index from, double* out);
  /// One 8×8 block of S (rows row …, columns column …): sums[t] +← Σ S_rc lags_t[r − c] half_t[r + c], t < 3,
  /// over the kept entries (column ≥ row_first) strictly below the diagonal.
  struct Contraction {
    const double* lags[3];
    const double* half[3];
  };
  void (*contract_gram)(const double* s, const Contraction& with, Index row, Index column,
                        const double* row_first, double* sums);
};

const GridKernels& grid_kernels();

}  // namespace bandgp

// One table for each instruction set, defined by the copies of grid_kernels.isa.cpp.
namespace bandgp::isa_base {
extern const GridKernels grid_kernels;
}
namespace bandgp::isa_avx2 {
extern const GridKernels grid_kernels;
}
namespace bandgp::isa_avx512 {
extern const GridKernels grid_kernels;
}
