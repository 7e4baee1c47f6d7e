// SPDX-License-Identifier: Apache-2.0
#include "bandgp/gp/global_columns.hpp"

#include <algorithm>
#include <cmath>

#include "bandgp/base/dot.hpp"

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

void weigh_columns(RightHandSides reduced, Index length, Index with_prior, ColumnWeights& out) {
  const auto gram = [&](Index a, Index b) {
    return dot(reduced.data + a * reduced.stride, reduced.data + b * reduced.stride, length);
  };
  const Index p = reduced.columns - 1;
  out.count = p;
  out.with_prior = with_prior;
  out.log_determinant = out.prior_square = 0;
  out.beta.assign(static_cast<std::size_t>(p), 0.0);
  out.root.assign(static_cast<std::size_t>(p * p), 0.0);
  out.covariance.assign(static_cast<std::size_t>(p * p), 0.0);
  const auto l = [&](Index i, Index j) -> double& { return out.root[static_cast<std::size_t>(i * p + j)]; };
  for (Index i = 0; i < p; ++i) {  // M = LLᵀ
    for (Index j = 0; j <= i; ++j) {
      double sum = gram(i + 1, j + 1) + (i == j && i < with_prior ? 1 : 0);
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
    out.beta[static_cast<std::size_t>(i)] = gram(i + 1, 0);
    out.covariance[static_cast<std::size_t>(i * (p + 1))] = 1;
  }
  if (p > 0) solve(out.beta.data(), 1);
  for (Index j = 0; j < p; ++j) solve(out.covariance.data() + j, p);
  for (Index i = 0; i < with_prior; ++i) {
    out.log_determinant += 2 * std::log(l(i, i));
    out.prior_square += out.beta[static_cast<std::size_t>(i)] * out.beta[static_cast<std::size_t>(i)];
  }
}

double largest_variance(const ColumnWeights& weights, const GlobalColumns& columns, const double* time,
                        Index n) {
  if (weights.count == 0) return 0;
  const auto at = [&](double x, double* c) {
    for (Index a = 0; a < weights.count; ++a) c[a] = columns.value(a, x);
    return weights.product(c, c);
  };
  if (weights.with_prior == 0) {  // the mean alone: convex in x
    double c[2];
    return std::max(at(time[0], c), at(time[n - 1], c));
  }
  std::vector<double> c(static_cast<std::size_t>(weights.count));
  double largest = 0;
  for (Index i = 0; i < n; ++i) largest = std::max(largest, at(time[i], c.data()));
  return largest;
}

}  // namespace bandgp
