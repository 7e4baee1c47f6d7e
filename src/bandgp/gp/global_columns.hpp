// SPDX-License-Identifier: Apache-2.0
// Columns that reach over the whole series, beside what a representation holds: y = f + Cβ + ε with C = (Γ,
// H). The weights of Γ are standard normal a priori, so that A = A₀ + ΓΓᵀ (a strictly periodic term is such
// columns); those of H have a flat prior and are profiled out (the mean function).  One small dense matrix
// M = diag(prior precisions) + CᵀA₀⁻¹C serves both, over any representation of A₀.       [math.md §8]
#pragma once
#include <functional>
#include <vector>

#include "bandgp/base/right_hand_sides.hpp"
#include "bandgp/gp/model.hpp"

namespace bandgp {

class GlobalColumns {
 public:
  /// The columns of a mean function over a series: 1, and (x − middle)/half span.
  GlobalColumns(Mean mean, double middle, double half_span);

  /// Adds a column of Γ: its values at internal times, scaled by its standard deviation.
  void add(std::function<double(double x)> column) { priors_.push_back(std::move(column)); }

  /// Γ's columns come first.
  Index count() const { return with_prior() + coefficient_count(mean_); }
  Index with_prior() const { return std::ssize(priors_); }
  double value(Index column, double x) const {
    if (column < with_prior()) return priors_[static_cast<std::size_t>(column)](x);
    return column == with_prior() ? 1.0 : (x - middle_) / half_span_;
  }
  Mean mean() const { return mean_; }
  double middle() const { return middle_; }
  double half_span() const { return half_span_; }

 private:
  Mean mean_;
  double middle_, half_span_;
  std::vector<std::function<double(double)>> priors_;
};

/// What the data say about the weights β of the columns, given the other parameters.
struct ColumnWeights {
  Index count = 0, with_prior = 0;
  std::vector<double> beta;        // (count,) M⁻¹CᵀA₀⁻¹y
  std::vector<double> covariance;  // (count, count) M⁻¹, row-major
  std::vector<double> root;    // (count, count) lower L with LLᵀ = M, whose first part is that of Γ's M
  double log_determinant = 0;  // log|A| − log|A₀| = 2 Σ log L_jj
  double prior_square = 0;     // Σ β² over Γ's columns: their share of yᵀA⁻¹y

  double entry(Index a, Index b) const { return covariance[static_cast<std::size_t>(a * count + b)]; }
  /// uᵀM⁻¹v for vectors of `count`.
  double product(const double* u, const double* v) const;
  /// The flat columns' β: the coefficients of the mean function.
  std::vector<double> mean_coefficients() const { return {beta.begin() + with_prior, beta.end()}; }
};

/// From the reduced columns y, C (representation.hpp), `length` doubles of each.  M is positive definite
/// where the columns are independent; where rounding leaves it otherwise, the weights are not a number.
/// Memory of `out` is reused.
void weigh_columns(RightHandSides reduced, Index length, Index with_prior, ColumnWeights& out);

/// The largest of c(x)ᵀM⁻¹c(x) at these times: how uncertain the columns' share of the curve is.  For a mean
/// alone it is taken at the ends, where it is largest.
double largest_variance(const ColumnWeights& weights, const GlobalColumns& columns, const double* time,
                        Index n);

}  // namespace bandgp
