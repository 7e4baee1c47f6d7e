// SPDX-License-Identifier: Apache-2.0
#include "support/dense_lapack.hpp"

namespace lapack {

Shape se(double r) {
  const double e = std::exp(-0.5 * r * r);
  return {e, r * r * e};
}

Shape matern12(double r) {
  const double e = std::exp(-r);
  return {e, r * e};
}

Shape matern32(double r) {
  const double a = std::sqrt(3.0) * r, e = std::exp(-a);
  return {(1 + a) * e, a * a * e};
}

ShapeFunction shape_named(const std::string& name) {
  if (name == "se") return se;
  if (name == "matern12") return matern12;
  if (name == "matern32") return matern32;
  throw std::invalid_argument("lapack: no shape " + name);
}

Vector logs(const Problem& problem) {
  Vector result;
  for (const Term& term : problem.terms) {
    result.push_back(std::log(term.variance));
    result.push_back(std::log(term.lengthscale));
  }
  result.push_back(std::log(problem.noise));
  return result;
}

Problem at(Problem problem, const Vector& log_parameters) {
  for (std::size_t t = 0; t < problem.terms.size(); ++t) {
    problem.terms[t].variance = std::exp(log_parameters[2 * t]);
    problem.terms[t].lengthscale = std::exp(log_parameters[2 * t + 1]);
  }
  problem.noise = std::exp(log_parameters.back());
  return problem;
}

bool factor(Vector& a, std::size_t n) {
  const int size = static_cast<int>(n);
  int info = 0;
  dpotrf_("L", &size, a.data(), &size, &info);
  return info == 0;
}

double log_determinant(const Vector& l, std::size_t n) {
  double sum = 0;
  for (std::size_t i = 0; i < n; ++i) sum += 2 * std::log(l[i * n + i]);
  return sum;
}

void solve(const Vector& l, std::size_t n, Vector& b) {
  const int size = static_cast<int>(n), columns = static_cast<int>(b.size() / n);
  int info = 0;
  dpotrs_("L", &size, &columns, l.data(), &size, b.data(), &size, &info);
}

double dot(const double* a, const double* b, std::size_t n) {
  double sum = 0;
  for (std::size_t i = 0; i < n; ++i) sum += a[i] * b[i];
  return sum;
}

Vector covariance(const Problem& problem) {
  const std::size_t n = problem.size();
  Vector a(n * n);
  for (const Term& term : problem.terms) {
    const auto shape = shape_named(term.shape);
    for (std::size_t j = 0; j < n; ++j) {
      for (std::size_t i = j; i < n; ++i)
        a[j * n + i] += term.variance * shape(std::abs(problem.x[i] - problem.x[j]) / term.lengthscale).value;
    }
  }
  for (std::size_t i = 0; i < n; ++i) a[i * n + i] += problem.noise + (problem.v.empty() ? 0 : problem.v[i]);
  return a;
}

Loss evaluate(const Problem& problem) {
  const std::size_t n = problem.size(), p = static_cast<std::size_t>(problem.mean);
  Vector a = covariance(problem);
  Loss loss;
  if (!factor(a, n)) return loss;

  Vector basis, residual = problem.y;
  for (std::size_t c = 0; c < p; ++c) {
    for (const double x : problem.x) basis.push_back(c == 0 ? 1 : x - problem.x[0]);
  }
  if (p > 0) {
    Vector solved = basis, gram(p * p);
    solve(a, n, solved);
    for (std::size_t c = 0; c < p; ++c) {
      for (std::size_t d = 0; d < p; ++d) gram[c * p + d] = dot(&solved[c * n], &basis[d * n], n);
      loss.beta.push_back(dot(&solved[c * n], problem.y.data(), n));
    }
    factor(gram, p);
    solve(gram, p, loss.beta);
    for (std::size_t c = 0; c < p; ++c) {
      for (std::size_t i = 0; i < n; ++i) residual[i] -= loss.beta[c] * basis[c * n + i];
    }
  }
  Vector alpha = residual;
  solve(a, n, alpha);
  loss.nll = 0.5 * (dot(residual.data(), alpha.data(), n) + log_determinant(a, n) +
                    static_cast<double>(n) * std::log(2 * std::numbers::pi));

  const int size = static_cast<int>(n);
  int info = 0;
  dpotri_("L", &size, a.data(), &size, &info);
  const auto weight = [&](std::size_t i, std::size_t j) {
    return (i == j ? 0.5 : 1) * (a[j * n + i] - alpha[i] * alpha[j]);
  };
  for (const Term& term : problem.terms) {
    const auto shape = shape_named(term.shape);
    Shape sum{0, 0};
    for (std::size_t j = 0; j < n; ++j) {
      for (std::size_t i = j; i < n; ++i) {
        const Shape s = shape(std::abs(problem.x[i] - problem.x[j]) / term.lengthscale);
        sum.value += weight(i, j) * s.value;
        sum.slope += weight(i, j) * s.slope;
      }
    }
    loss.gradient.push_back(term.variance * sum.value);
    loss.gradient.push_back(term.variance * sum.slope);
  }
  loss.gradient.push_back(0);
  for (std::size_t i = 0; i < n; ++i) loss.gradient.back() += weight(i, i) * problem.noise;
  return loss;
}

Newton newton(const Problem& problem, const std::vector<std::size_t>& free) {
  constexpr double kStep = 1e-4;
  const Vector x = logs(problem);
  const Loss loss = evaluate(problem);
  const std::size_t p = free.size();
  Vector hessian(p * p);
  for (std::size_t j = 0; j < p; ++j) {
    Vector up = x, down = x;
    up[free[j]] += kStep;
    down[free[j]] -= kStep;
    const Vector above = evaluate(at(problem, up)).gradient, below = evaluate(at(problem, down)).gradient;
    for (std::size_t i = 0; i < p; ++i) {
      const double entry = (above.at(free[i]) - below.at(free[i])) / (2 * kStep);
      hessian[j * p + i] += 0.5 * entry;
      hessian[i * p + j] += 0.5 * entry;
    }
  }
  Newton result{loss.nll, Vector(p, std::numeric_limits<double>::quiet_NaN()), Vector(p)};
  if (!factor(hessian, p)) return result;
  for (std::size_t i = 0; i < p; ++i) result.step[i] = -loss.gradient.at(free[i]);
  solve(hessian, p, result.step);
  for (std::size_t i = 0; i < p; ++i) {
    Vector unit(p);
    unit[i] = 1;
    solve(hessian, p, unit);
    result.standard_errors[i] = std::sqrt(unit[i]);
  }
  return result;
}

Vector draw(const Problem& problem, Vector normals) {
  const std::size_t n = problem.size();
  Vector a = covariance(problem);
  if (!factor(a, n)) throw std::invalid_argument("lapack: the covariance is not positive definite");
  const int size = static_cast<int>(n), one = 1;
  dtrmv_("L", "N", "N", &size, a.data(), &size, normals.data(), &one);
  return normals;
}

double joint_nlpd(const Vector& y, const Vector& mean, Vector covariance) {
  const std::size_t n = y.size();
  if (!factor(covariance, n)) return std::numeric_limits<double>::quiet_NaN();
  Vector residual(n);
  for (std::size_t i = 0; i < n; ++i) residual[i] = y[i] - mean[i];
  Vector solved = residual;
  solve(covariance, n, solved);
  return 0.5 * (dot(residual.data(), solved.data(), n) + log_determinant(covariance, n) +
                static_cast<double>(n) * std::log(2 * std::numbers::pi));
}

}  // namespace lapack
