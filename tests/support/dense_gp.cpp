// SPDX-License-Identifier: Apache-2.0
#include "support/dense_gp.hpp"

namespace dense {

Real shape_value(const std::string& shape, Real r) {
  if (shape == "se") return std::exp(-r * r / 2);
  if (shape == "matern12") return std::exp(-r);
  if (shape == "matern32") return (1 + std::sqrt(3.0L) * r) * std::exp(-std::sqrt(3.0L) * r);
  if (shape == "matern52") return (1 + std::sqrt(5.0L) * r + 5 * r * r / 3) * std::exp(-std::sqrt(5.0L) * r);
  if (shape == "wendland2") return r < 1 ? std::pow(1 - r, 4) * (4 * r + 1) : 0;
  if (shape == "wendland4") return r < 1 ? std::pow(1 - r, 6) * (35 * r * r + 18 * r + 3) / 3 : 0;
  throw std::invalid_argument("dense: no shape " + shape);
}

namespace {

Real periodic(Real lag, const Term& term) {
  const Real s = std::sin(std::numbers::pi_v<Real> * std::fmod(lag, term.period) / term.period);
  return std::exp(-2 * s * s / (term.smoothness * term.smoothness));
}

/// The autocovariance of x″ + (ω/Q)x′ + ω²x = white noise, k(0) = 1.
Real oscillator(Real lag, const Term& term) {
  const Real w = 2 * std::numbers::pi_v<Real> / term.period, a = w * lag / (2 * term.quality);
  const Real square = 1 - 1 / (4 * term.quality * term.quality), b = w * lag * std::sqrt(std::abs(square));
  if (b < 1e-10L) return std::exp(-a) * (1 + a);
  if (square > 0) return std::exp(-a) * (std::cos(b) + a * std::sin(b) / b);
  return (std::exp(b - a) * (1 + a / b) + std::exp(-b - a) * (1 - a / b)) / 2;
}

}  // namespace

Real term_value(const Term& term, Real lag) {
  if (term.shape == "sho") return term.variance * oscillator(lag, term);
  if (term.shape == "periodic") return term.variance * periodic(lag, term);
  const Real value = term.variance * shape_value(term.shape, lag / term.lengthscale);
  if (term.factor == "cos")
    return value * std::cos(2 * std::numbers::pi_v<Real> * std::fmod(lag, term.period) / term.period);
  return term.factor == "periodic" ? value * periodic(lag, term) : value;
}

Real dot(const Vector& a, const Vector& b) {
  Real sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

std::optional<Matrix> cholesky(const Matrix& A) {
  Matrix L(A.rows, A.rows);
  for (std::size_t i = 0; i < A.rows; ++i)
    for (std::size_t j = 0; j <= i; ++j) {
      Real sum = A(i, j);
      for (std::size_t k = 0; k < j; ++k) sum -= L(i, k) * L(j, k);
      if (i == j && !(sum > 0)) return std::nullopt;
      L(i, j) = i == j ? std::sqrt(sum) : sum / L(j, j);
    }
  return L;
}

Vector solve(const Matrix& L, Vector b) {
  for (std::size_t i = 0; i < L.rows; ++i) {
    for (std::size_t k = 0; k < i; ++k) b[i] -= L(i, k) * b[k];
    b[i] /= L(i, i);
  }
  for (std::size_t i = L.rows; i-- > 0;) {
    for (std::size_t k = i + 1; k < L.rows; ++k) b[i] -= L(k, i) * b[k];
    b[i] /= L(i, i);
  }
  return b;
}

Vector eigenvalues(Matrix A) {
  const std::size_t n = A.rows;
  for (int sweep = 0; sweep < 60; ++sweep) {
    Real off = 0, all = 0;
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j) {
        all += A(i, j) * A(i, j);
        if (i != j) off += A(i, j) * A(i, j);
      }
    if (off <= 1e-36L * all) break;
    for (std::size_t p = 0; p < n; ++p)
      for (std::size_t q = p + 1; q < n; ++q) {
        if (A(p, q) == 0) continue;
        const Real theta = (A(q, q) - A(p, p)) / (2 * A(p, q));
        const Real t = (theta >= 0 ? 1 : -1) / (std::abs(theta) + std::hypot(theta, 1.0L));
        const Real c = 1 / std::hypot(t, 1.0L), s = t * c;
        for (std::size_t k = 0; k < n; ++k) {
          const Real kp = A(k, p), kq = A(k, q);
          A(k, p) = c * kp - s * kq;
          A(k, q) = s * kp + c * kq;
        }
        for (std::size_t k = 0; k < n; ++k) {
          const Real pk = A(p, k), qk = A(q, k);
          A(p, k) = c * pk - s * qk;
          A(q, k) = s * pk + c * qk;
        }
      }
  }
  Vector result(n);
  for (std::size_t i = 0; i < n; ++i) result[i] = A(i, i);
  std::ranges::sort(result);
  return result;
}

bool is_positive_definite(const Matrix& A) { return A.rows == 0 || eigenvalues(A).front() > 0; }

Real kernel(const Problem& problem, Real lag) {
  Real sum = 0;
  for (const Term& term : problem.terms) sum += term_value(term, std::abs(lag));
  return sum;
}

bool kept(const Problem& problem, std::size_t i, std::size_t j) {
  return !problem.keep || problem.x[i] == problem.x[j] || problem.keep(i, j);
}

Matrix covariance(const Problem& problem) {
  const std::size_t n = problem.size();
  Matrix A(n, n);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) {
      if (i == j || kept(problem, i, j)) A(i, j) = kernel(problem, problem.x[i] - problem.x[j]);
      if (i == j) A(i, j) += problem.noise + problem.known(i);
    }
  return A;
}

Matrix mean_basis(const Problem& problem, const Vector& xs) {
  Matrix H(xs.size(), static_cast<std::size_t>(problem.mean));
  for (std::size_t i = 0; i < xs.size(); ++i) {
    if (problem.mean >= 1) H(i, 0) = 1;
    if (problem.mean >= 2) H(i, 1) = xs[i] - problem.x[0];
  }
  return H;
}

std::optional<Solved> solve_gls(const Matrix& A, const Matrix& H, const Vector& y) {
  auto L = cholesky(A);
  if (!L) return std::nullopt;
  const std::size_t n = H.rows, p = H.columns;
  Solved s{*L, H, Matrix(n, p), Matrix(p, p), Vector(p), {}, 0};
  Matrix gram(p, p);
  for (std::size_t a = 0; a < p; ++a) {
    const Vector column = solve(s.L, H.column(a));
    for (std::size_t i = 0; i < n; ++i) s.AinvH(i, a) = column[i];
    for (std::size_t b = 0; b < p; ++b) gram(b, a) = dot(H.column(b), column);
    s.beta[a] = dot(column, y);
  }
  const auto G = cholesky(gram);
  if (!G) return std::nullopt;
  s.G = *G;
  s.beta = solve(s.G, s.beta);
  Vector residual = y;
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t a = 0; a < p; ++a) residual[i] -= H(i, a) * s.beta[a];
  s.alpha = solve(s.L, residual);
  s.quadratic = dot(residual, s.alpha);
  return s;
}

std::optional<Solved> solve_gls(const Problem& problem) {
  return solve_gls(covariance(problem), mean_basis(problem, problem.x), problem.y);
}

std::optional<Real> nll(const Problem& problem) {
  const auto s = solve_gls(problem);
  if (!s) return std::nullopt;
  Real log_det = 0;
  for (std::size_t i = 0; i < problem.size(); ++i) log_det += 2 * std::log(s->L(i, i));
  const auto n = static_cast<Real>(problem.size());
  return (s->quadratic + log_det + n * std::log(2 * std::numbers::pi_v<Real>)) / 2;
}

std::optional<Vector> mean_coefficients(const Problem& problem) {
  const auto s = solve_gls(problem);
  if (!s) return std::nullopt;
  Vector beta = s->beta;
  if (problem.mean == 2) beta[0] -= beta[1] * problem.x[0];
  return beta;
}

/// The parameters that a term has, in the order variance, lengthscale, period, smoothness, quality.
std::vector<Real Term::*> parameters(const Term& term) {
  if (term.shape == "sho") return {&Term::variance, &Term::period, &Term::quality};
  if (term.shape == "periodic") return {&Term::variance, &Term::period, &Term::smoothness};
  if (term.factor == "cos") return {&Term::variance, &Term::lengthscale, &Term::period};
  if (term.factor == "periodic")
    return {&Term::variance, &Term::lengthscale, &Term::period, &Term::smoothness};
  return {&Term::variance, &Term::lengthscale};
}

/// A covariance turns many times with the log of a period: the step turns what is 2/λ times as fast as the
/// period by 0.05 at most.
Real period_step(const Problem& problem, const Term& term) {
  const auto [first, last] = std::ranges::minmax(problem.x);
  const bool repeats = term.shape == "periodic" || term.factor == "periodic";
  const Real fastest = repeats ? 1 + 2 / term.smoothness : 1;
  const Real turn = 2 * std::numbers::pi_v<Real> * (last - first) / term.period * fastest;
  return std::min(1 / 16384.0L, 0.05L / std::max(turn, 1e-30L));
}

Vector gradient(const Problem& problem) {
  constexpr Real weights[] = {4 / 5.0L, -1 / 5.0L, 4 / 105.0L, -1 / 280.0L};
  Vector result;
  const auto add = [&](Real h, const auto& place) {
    const auto moved = [&](Real by) {
      Problem other = problem;
      place(other) *= std::exp(by);
      return nll(other).value_or(std::numeric_limits<Real>::quiet_NaN());
    };
    Real sum = 0;
    for (int k = 1; k <= 4; ++k) sum += weights[k - 1] * (moved(k * h) - moved(-k * h)) / h;
    result.push_back(sum);
  };
  for (std::size_t t = 0; t < problem.terms.size(); ++t) {
    for (Real Term::*member : parameters(problem.terms[t])) {
      add(member == &Term::period ? period_step(problem, problem.terms[t]) : 1 / 256.0L,
          [&](Problem& other) -> Real& { return other.terms[t].*member; });
    }
  }
  add(1 / 256.0L, [](Problem& other) -> Real& { return other.noise; });
  return result;
}

Prediction krige(const Solved& s, const Matrix& C, const Matrix& P, const Matrix& Hs) {
  const std::size_t m = C.rows, n = C.columns, p = Hs.columns;
  Prediction result{Vector(m), Vector(m), Matrix(m, m)};
  std::vector<Vector> rows(m), solved(m), R(m), GR(m);
  for (std::size_t i = 0; i < m; ++i) {
    rows[i].resize(n);
    for (std::size_t k = 0; k < n; ++k) rows[i][k] = C(i, k);
    solved[i] = solve(s.L, rows[i]);
    result.mean[i] = dot(rows[i], s.alpha);
    R[i].resize(p);
    for (std::size_t a = 0; a < p; ++a) {
      result.mean[i] += Hs(i, a) * s.beta[a];
      R[i][a] = Hs(i, a) - dot(rows[i], s.AinvH.column(a));
    }
    GR[i] = solve(s.G, R[i]);
  }
  for (std::size_t i = 0; i < m; ++i) {
    for (std::size_t j = 0; j < m; ++j)
      result.covariance(i, j) = P(i, j) - dot(rows[i], solved[j]) + dot(R[i], GR[j]);
    result.variance[i] = result.covariance(i, i);
  }
  return result;
}

std::optional<Prediction> predict(const Problem& problem, const Vector& xs) {
  const auto s = solve_gls(problem);
  if (!s) return std::nullopt;
  Matrix C(xs.size(), problem.size()), P(xs.size(), xs.size());
  for (std::size_t i = 0; i < xs.size(); ++i) {
    for (std::size_t k = 0; k < problem.size(); ++k) C(i, k) = kernel(problem, xs[i] - problem.x[k]);
    for (std::size_t j = 0; j < xs.size(); ++j) P(i, j) = kernel(problem, xs[i] - xs[j]);
  }
  return krige(*s, C, P, mean_basis(problem, xs));
}

std::optional<LeaveOneOut> loo(const Problem& problem) {
  const std::size_t n = problem.size();
  const Matrix A = covariance(problem), H = mean_basis(problem, problem.x);
  LeaveOneOut result{Vector(n), Vector(n)};
  for (std::size_t out = 0; out < n; ++out) {
    Matrix rest(n - 1, n - 1), basis(n - 1, H.columns), cross(1, n - 1), prior(1, 1), at(1, H.columns);
    Vector y(n - 1);
    for (std::size_t i = 0; i + 1 < n; ++i) {
      const std::size_t row = i + (i >= out ? 1 : 0);
      for (std::size_t j = 0; j + 1 < n; ++j) rest(i, j) = A(row, j + (j >= out ? 1 : 0));
      for (std::size_t a = 0; a < H.columns; ++a) basis(i, a) = H(row, a);
      cross(0, i) = A(out, row);
      y[i] = problem.y[row];
    }
    prior(0, 0) = A(out, out);
    for (std::size_t a = 0; a < H.columns; ++a) at(0, a) = H(out, a);
    const auto s = solve_gls(rest, basis, y);
    if (!s) return std::nullopt;
    const Prediction prediction = krige(*s, cross, prior, at);
    result.mean[out] = prediction.mean[0];
    result.variance[out] = prediction.variance[0];
  }
  return result;
}

Real rho(Problem problem, std::function<bool(std::size_t, std::size_t)> keep) {
  problem.keep = std::move(keep);
  Real largest = 0;
  for (std::size_t i = 0; i < problem.size(); ++i) {
    Real sum = 0;
    for (std::size_t j = 0; j < problem.size(); ++j) {
      if (i == j || kept(problem, i, j)) continue;
      const Real d = std::sqrt((problem.noise + problem.known(i)) * (problem.noise + problem.known(j)));
      sum += std::abs(kernel(problem, problem.x[i] - problem.x[j])) / d;
    }
    largest = std::max(largest, sum);
  }
  return largest;
}

}  // namespace dense
