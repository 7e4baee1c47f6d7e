// SPDX-License-Identifier: Apache-2.0
// The series as the likelihood sees it at one noise level: one point for each distinct time. [math.md §3]
// Observations y_j of one time with variances d_j = σₙ² + v_j act as one observation ȳ = d̄ Σ y_j/d_j of
// variance d̄ = 1/Σ 1/d_j; what that loses is a constant of the kernel, kept in `within`.  All depend on σₙ².
#pragma once
#include <cmath>

#include "bandgp/bandwidth/row_sums.hpp"
#include "bandgp/base/aligned.hpp"
#include "bandgp/series/series.hpp"

namespace bandgp {

class Observations {
 public:
  explicit Observations(const Series& series);
  /// Recomputes everything for this σₙ² (internal units).  No allocation.
  void at(double noise);

  Index size() const { return n_; }
  Index padded_size() const { return round_up(n_, 8); }
  double span() const { return time()[n_ - 1] - time()[0]; }
  double smallest_gap() const { return smallest_gap_; }  // ∞ for a single point
  /// Arrays of padded_size(): times continue evenly past n, the others are 0 there (noise: 1).
  const double* time() const { return time_.data(); }
  const double* value() const { return value_.data(); }              // ȳ
  const double* noise() const { return noise_.data(); }              // d̄
  const double* weight() const { return weight_.data(); }            // d̄^{−½}
  const double* noise_slope() const { return noise_slope_.data(); }  // ∂d̄/∂σₙ²
  const double* value_slope() const { return value_slope_.data(); }  // ∂ȳ/∂σₙ²; null when no times are equal

  /// The points as row sums see them.
  WeightedPoints weighted() const { return {n_, time(), weight(), 1 / std::sqrt(smallest_noise_)}; }

  /// What merging leaves over, with its slope: NLL(all observations) = NLL(merged points) + within.
  double within() const { return within_; }
  double within_slope() const { return within_slope_; }
  double smallest_noise() const { return smallest_noise_; }
  /// All dᵢ are σₙ²: no known errors, no equal times.
  bool equal_noise() const { return series_.variance.empty() && !series_.has_ties(); }
  /// Σ (ȳ − c)²/d̄ minimised over a constant c (centred) or with c = 0: bounds yᵀA⁻¹y before factoring.
  double noise_weighted_square(bool centred) const;

 private:
  void at_equal(double noise);

  const Series& series_;
  Index n_;
  AlignedBuffer time_, value_, noise_, weight_, noise_slope_, value_slope_;
  double within_ = 0, within_slope_ = 0, smallest_noise_ = 0, smallest_gap_ = 0;
  double square_ = 0, centred_square_ = -1;  // of the values, when all noise is equal
};

}  // namespace bandgp
