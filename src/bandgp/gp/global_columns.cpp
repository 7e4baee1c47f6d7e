// SPDX-License-Identifier: Apache-2.0
#include "bandgp/gp/global_columns.hpp"

#include <algorithm>
#include <cmath>

namespace bandgp {

GlobalColumns::GlobalColumns(Mean mean, double middle, double half_span)
    : mean_(mean), middle_(middle), half_span_(half_span) {}

double ColumnWeights::product(const double* u, const double* v) const {
  double sum = 0;
  for (Index a = 0; a < count; ++a) {
    for (Index b = 0; b < count; ++b) sum += u[a] * entry(a, b) * v[b];
  }
  return sum;
}

void weigh_columns(Index p, const std::function<double(Index, Index)>& product, ColumnWeights& out) {
  out.count = p;
  out.beta.assign(static_cast<std::size_t>(p), 0.0);
  out.covariance.assign(static_cast<std::size_t>(p * p), 0.0);
  std::vector<double> root(static_cast<std::size_t>(p * p));
  const auto l = [&](Index i, Index j) -> double& { return root[static_cast<std::size_t>(i * p + j)]; };
  for (Index i = 0; i < p; ++i) {  // M = LLᵀ
    for (Index j = 0; j <= i; ++j) {
      double sum = product(i + 1, j + 1);
      for (Index k = 0; k < j; ++k) sum -= l(i, k) * l(j, k);
      l(i, j) = i == j ? std::sqrt(sum) : sum / l(j, j);
    }
  }
  // x ← M⁻¹x, entries `stride` apart.
  const auto solve = [&](double* x, Index stride) {
    for (Index i = 0; i < p; ++i) {
      for (Index k = 0; k < i; ++k) x[i * stride] -= l(i, k) * x[k * stride];
      x[i * stride] /= l(i, i);
    }
    for (Index i = p - 1; i >= 0; --i) {
      for (Index k = i + 1; k < p; ++k) x[i * stride] -= l(k, i) * x[k * stride];
      x[i * stride] /= l(i, i);
    }
  };
  for (Index i = 0; i < p; ++i) {
    out.beta[static_cast<std::size_t>(i)] = product(i + 1, 0);
    out.covariance[static_cast<std::size_t>(i * (p + 1))] = 1;
  }
  if (p > 0) solve(out.beta.data(), 1);
  for (Index j = 0; j < p; ++j) solve(out.covariance.data() + j, p);
}

double largest_variance(const ColumnWeights& weights, const GlobalColumns& columns, double first,
                        double last) {
  if (weights.count == 0) return 0;
  const auto at = [&](double x) {
    double h[2];
    for (Index a = 0; a < weights.count; ++a) h[a] = columns.value(a, x);
    return weights.product(h, h);
  };
  return std::max(at(first), at(last));
}

}  // namespace bandgp
