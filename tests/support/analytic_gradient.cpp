// SPDX-License-Identifier: Apache-2.0
#include "support/analytic_gradient.hpp"

namespace support {

dense::Real shape_slope(const std::string& shape, dense::Real r) {
  using dense::Real;
  const Real a = std::sqrt(3.0L) * r, b = std::sqrt(5.0L) * r;
  if (shape == "se") return r * r * std::exp(-r * r / 2);
  if (shape == "matern12") return r * std::exp(-r);
  if (shape == "matern32") return a * a * std::exp(-a);
  if (shape == "matern52") return b * b * (1 + b) * std::exp(-b) / 3;
  if (r >= 1) return 0;
  if (shape == "wendland2") return 20 * r * r * std::pow(1 - r, 3);
  if (shape == "wendland4") return 56 * r * r * std::pow(1 - r, 5) * (1 + 5 * r) / 3;
  throw std::invalid_argument("no slope of " + shape);
}

dense::Vector analytic_gradient(const dense::Problem& problem, const dense::Solved& s) {
  using dense::Real;
  const std::size_t n = problem.size(), terms = problem.terms.size();
  dense::Vector result(2 * terms + 1);
  for (std::size_t j = 0; j < n; ++j) {
    dense::Vector unit(n);
    unit[j] = 1;
    const dense::Vector z = dense::solve(s.L, unit);  // column j of A⁻¹
    for (std::size_t i = 0; i < n; ++i) {
      const Real weight = (z[i] - s.alpha[i] * s.alpha[j]) / 2;
      if (i == j) result[2 * terms] += weight * problem.noise;
      if (i != j && !dense::kept(problem, i, j)) continue;
      for (std::size_t t = 0; t < terms; ++t) {
        const dense::Term& term = problem.terms[t];
        const Real r = std::abs(problem.x[i] - problem.x[j]) / term.lengthscale;
        result[2 * t] += weight * term.variance * dense::shape_value(term.shape, r);
        result[2 * t + 1] += weight * term.variance * shape_slope(term.shape, r);
      }
    }
  }
  return result;
}

}  // namespace support
