// SPDX-License-Identifier: Apache-2.0
// Basis functions that are long beside the gaps, through polynomials on chunks of points: Φ ≈ WC, with W the
// Chebyshev polynomials T₀ … T_{q−1} on each chunk and C what the Gaussians are there.  [docs/dual.md] A
// point sees q columns of W where it sees 27 or more of Φ, and terms of any length share them.
//   |φ_j − Σ_m C_mj T_m| ≤ 2 (r/2)^q max|φ_j^(q)|/q! ≤ β s e^{−z²/2},   β = 2·1.0865 (r/√2ℓ)^q/√q!
// on a chunk of half-length r at the distance zℓ from the node: the remainder at Chebyshev's nodes, and
// Cramér's bound of Hermite functions, |H_q(z)| ≤ 1.0865·2^{q/2} √q! e^{z²/2}.
#pragma once
#include <array>
#include <vector>

#include "bandgp/base/aligned.hpp"
#include "bandgp/basis/grid_design.hpp"
#include "bandgp/simd/panel.hpp"

namespace bandgp {

/// Columns that a chunk may have.
inline constexpr Index kMostColumns = 48;

/// ≥ ‖D^{−½}(Φ − WC)‖ for a term's Gaussians and chunks of at most this half-length.
UpperBound polynomial_error(const GridDesign& design, const GridDemand& demand, Index columns, double half);
/// The longest half-length at which that is at most `target`.
double longest_half(const GridDesign& design, const GridDemand& demand, Index columns, double target);

class LocalPolynomials {
 public:
  /// Points [begin, end), whole panels of them, and their columns: panels of eight from `panel` on.  A chunk
  /// with no more points than columns has a column for each: W = I, and C = Φ.
  struct Chunk {
    Index begin = 0, end = 0, panel = 0, panels = 0;
    double middle = 0, half = 0;
    bool identity = false;
  };

  /// Chunks of at most 2·half, or one panel of points where that is longer.  x, here and below: n increasing
  /// times, padded to whole panels.
  void lay_out(const double* x, Index n, Index columns, double half);
  const std::vector<Chunk>& chunks() const { return chunks_; }
  Index panels() const { return panels_; }

  /// out[q][8c + r] ← W(8p + c, 8(part + q) + r): points of panel p, columns of `count` of the chunk's
  /// panels.
  void fill(const Chunk& chunk, Index part, Index count, Index p, const double* x, Index n,
            double* const* out) const;

  /// Where a chunk's coefficients are taken from: as many positions as it has columns.
  using Stations = std::array<double, kMostColumns>;
  void stations(const Chunk& chunk, const double* x, Index n, Stations& at) const;
  /// Values of eight functions at the stations (out of `stations`, eight a station) → their coefficients,
  /// out[8m + r] for column m of the chunk.
  void coefficients(const Chunk& chunk, const double* values, Index n, double* out) const;

 private:
  Index panels_ = 0;
  std::vector<Chunk> chunks_;
  Stations nodes_{};         // Chebyshev's, in [−1, 1]
  AlignedBuffer transform_;  // blocks (stations, columns): Chebyshev's coefficients from values at his nodes
};

}  // namespace bandgp
