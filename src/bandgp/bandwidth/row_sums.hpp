// SPDX-License-Identifier: Apache-2.0
// Row sums of the entries that a cut leaves out: ρ = ‖D^{−½} E D^{−½}‖_∞.                       [math.md §6,
// §5]
#pragma once
#include "bandgp/base/index.hpp"
#include "bandgp/base/upper_bound.hpp"
#include "bandgp/kernel/kernel.hpp"

namespace bandgp {

/// The points as row sums see them.  Arrays are padded to a multiple of 8: times with any finite number,
/// weights with 0.
struct WeightedPoints {
  Index n;
  const double* x;       // increasing
  const double* weight;  // dᵢ^{−½}
  double largest_weight;
};

/// The heaviest closed window of length `width`: max Σ weight over points with x ≤ start + width.
UpperBound heaviest_window(const WeightedPoints& points, double width);

/// Σⱼ wᵢ wⱼ k(xᵢ−xⱼ) over all |xᵢ−xⱼ| > R, for any i, without looking at i: on either side the points beyond
/// R fall into cells of width h that weigh at most W each, so the sum is at most  2 w_max W Σ_t σ²(ρ(R/ℓ) +
/// (ℓ/h) ∫_{R/ℓ}^∞ ρ).
class TailBound {
 public:
  TailBound(const Kernel& kernel, const WeightedPoints& points);
  UpperBound operator()(double reach) const;
  /// A reach, near the smallest, whose bound is at most `target`; never more than the span of the points.
  double reach_for(double target) const;

 private:
  const Kernel& kernel_;
  double span_, cell_;
  UpperBound factor_;  // 2 w_max W
};

/// Which columns each row keeps, asked row by row in increasing order.
class RowCut {
 public:
  virtual ~RowCut() = default;
  /// Row i keeps columns first … last.
  virtual void limits(Index i, double& first, double& last) = 0;
  /// Keeps more from now on; false when there is no more to keep.
  virtual bool widen() { return false; }
};

/// Bounds max over rows i of wᵢ Σ wⱼ k(xᵢ−xⱼ), j not kept, in one pass.  Points farther than `far` enter
/// through the bound `beyond` on their sum.  A row above `limit` makes the cut wider, for this row and all
/// that follow (those before it only gain); infinite when it cannot be.
UpperBound largest_row_sum(const Kernel& kernel, const WeightedPoints& points, RowCut& cut, double far,
                           UpperBound beyond, double limit);

}  // namespace bandgp
