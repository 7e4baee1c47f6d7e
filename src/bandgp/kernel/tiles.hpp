// SPDX-License-Identifier: Apache-2.0
// Covariances in tiles of 8 rows: the loops over lags, one call a term, never one a lag.
// tiles.isa.cpp is compiled for every instruction set and for every shape of AnyShape with every factor.
#pragma once
#include "bandgp/base/index.hpp"
#include "bandgp/kernel/kernel.hpp"

namespace bandgp {

/// Keeps entries with row_first[r] ≤ column ≤ row_last[r]; indices as doubles, compared exactly.
struct RowLimits {
  const double* first;  // (8,)
  const double* last;   // (8,)
};

/// Sums over entries of a tile with weights w, for one term: Σ w ρ in the place of the variance, ρ the
/// term's correlation, and Σ w ∂ρ by the logs of its other parameters in theirs.
struct TileSums {
  double by[kQuantities] = {};
  double& operator[](Quantity quantity) { return by[static_cast<std::size_t>(quantity)]; }
};

struct TileKernels {
  /// out[8c + r] ← (or +←, when add) the term's covariance at the lag |rows[r] − columns[c]|, c < count.
  using Fill = void (*)(const double* rows, const double* columns, Index count, const TermNumbers& term,
                        bool add, double* out);
  /// sums +← the sums over the same entries with weights w[8c + r].
  using Contract = void (*)(const double* rows, const double* columns, Index count, const TermNumbers& term,
                            const double* weights, TileSums& sums);
  /// sums[r] +← variance Σ_c weight[c] ρ over the columns c0 … c0+count−1 that `limits` leaves out, ρ the
  /// shape alone: no factor exceeds 1.  Null for shapes without a tail.
  using Tail = void (*)(const double* rows, const double* columns, Index c0, Index count, double variance,
                        double inverse_lengthscale, const double* weight, RowLimits limits, double* sums);
  Fill fill[kShapes][kFactors];  // null where a shape takes no factor
  Contract contract[kShapes][kFactors];
  Tail tail[kShapes];

  /// Zeroes the entries of columns c0 … c0+count−1 left of row_first.
  void (*clip)(double* tile, Index c0, Index count, const double* row_first);
  /// weights[8c + r] ← z[8c + r] − alpha_rows[r] alpha_columns[c] for the kept entries of an 8×8 block: not
  /// left of row_first and, where `diagonal`, strictly below the diagonal; 0 elsewhere.
  void (*weights)(const double* z, const double* alpha_rows, const double* alpha_columns, Index c0,
                  const double* row_first, bool diagonal, double* weights);
};

const TileKernels& tile_kernels();

/// TileKernels::contract of a term's shape and factor.
inline void contract_term(const TileKernels& tiles, const Term& term, const double* rows,
                          const double* columns, Index count, const double* weights, TileSums& sums) {
  tiles.contract[term.shape.index()][term.factor.index()](rows, columns, count, term.numbers(), weights,
                                                          sums);
}

/// out[8c + r] ← k(rows[r] − columns[c]), all terms.
void fill_covariance(const Kernel& kernel, const double* rows, const double* columns, Index count,
                     double* out);

/// The loss's gradient by the logs of all terms' parameters, from the sums over all entries off the diagonal,
/// one for each term, and from the weights on the diagonal, where ρ(0) = 1 has no slope.
void gradient_from_sums(const Kernel& kernel, std::span<const TileSums> sums, double diagonal,
                        std::span<double> out);

}  // namespace bandgp
