// SPDX-License-Identifier: Apache-2.0
// Columns with a flat prior that reach over the whole series: the mean function, y = f + Hβ + ε, whose
// coefficients are profiled out.  HᵀA⁻¹H is the small matrix that their weights need.            [math.md §8]
#pragma once
#include <functional>
#include <vector>

#include "bandgp/gp/model.hpp"

namespace bandgp {

class GlobalColumns {
 public:
  /// The columns of a mean function over a series: 1, and (x − middle)/half span.
  GlobalColumns(Mean mean, double middle, double half_span);

  Index count() const { return coefficient_count(mean_); }
  double value(Index column, double x) const { return column == 0 ? 1.0 : (x - middle_) / half_span_; }
  Mean mean() const { return mean_; }
  double middle() const { return middle_; }
  double half_span() const { return half_span_; }

 private:
  Mean mean_;
  double middle_, half_span_;
};

/// What the data say about the weights β of the columns, given the other parameters.
struct ColumnWeights {
  Index count = 0;
  std::vector<double> beta;  // (count,) β = M⁻¹HᵀA⁻¹y, M = HᵀA⁻¹H: the mean's coefficients
  std::vector<double> covariance;  // (count, count) M⁻¹, row-major

  double entry(Index a, Index b) const { return covariance[static_cast<std::size_t>(a * count + b)]; }
  /// uᵀM⁻¹v for vectors of `count`.
  double product(const double* u, const double* v) const;
};

/// From the products of the reduced columns y, H: product(a, b), 0 standing for y.  M is positive definite
/// where the columns are independent; where rounding leaves it otherwise, the weights are not a number.
/// Memory of `out` is reused.
void weigh_columns(Index count, const std::function<double(Index a, Index b)>& product, ColumnWeights& out);

/// The largest of h(x)ᵀM⁻¹h(x) over the span: how uncertain the mean function is.  It is convex in x.
double largest_variance(const ColumnWeights& weights, const GlobalColumns& columns, double first,
                        double last);

}  // namespace bandgp
