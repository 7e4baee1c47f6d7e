// SPDX-License-Identifier: Apache-2.0
#include "support/quad_markov.hpp"

namespace quad {

Real exp(Real x) {
  int halvings = 0;
  while (x > 0.25 || x < -0.25) {
    x /= 2;
    ++halvings;
    if (halvings > 40) return 0;  // x below −10¹¹
  }
  Real term = 1, sum = 1;
  for (int k = 1; k < 30; ++k) sum += term *= x / k;
  for (; halvings > 0; --halvings) sum *= sum;
  return sum;
}

Real log(Real x) {
  Real y = std::log(static_cast<long double>(x));
  for (int i = 0; i < 2; ++i) y += 2 * (x - exp(y)) / (x + exp(y));
  return y;
}

Real sqrt(Real x) {
  Real y = std::sqrt(static_cast<long double>(x));
  for (int i = 0; i < 2; ++i) y = (y + x / y) / 2;
  return y;
}

Real rate(const Term& t) { return sqrt(Real(2 * t.states - 1)) / t.lengthscale; }

Real covariance(const Term& t, Real lag) {
  const Real a = rate(t) * (lag < 0 ? -lag : lag), e = exp(-a);
  return t.variance * e * (t.states == 1 ? Real(1) : t.states == 2 ? 1 + a : 1 + a + a * a / 3);
}

Real dense_nll(const Problem& p) {
  const std::size_t n = p.time.size();
  std::vector<Vector> l(n, Vector(n));
  Real log_determinant = 0, q = 0;
  Vector z = p.value;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      Real sum = i == j ? p.noise[i] : Real(0);
      for (const Term& t : p.terms) sum += covariance(t, p.time[i] - p.time[j]);
      for (std::size_t k = 0; k < j; ++k) sum -= l[i][k] * l[j][k];
      l[i][j] = i == j ? sqrt(sum) : sum / l[j][j];
    }
    for (std::size_t k = 0; k < i; ++k) z[i] -= l[i][k] * z[k];
    z[i] /= l[i][i];
    log_determinant += 2 * log(l[i][i]);
    q += z[i] * z[i];
  }
  return (q + log_determinant + Real(n) * log(2 * Real(3.14159265358979323846264338327950288L))) / 2;
}

Real filter_nll(const Problem& p) {
  std::size_t total = 0;
  for (const Term& t : p.terms) total += static_cast<std::size_t>(t.states);
  std::vector<Vector> P(total, Vector(total)), stationary = P, F = P, next = P;
  Vector m(total), h(total), moved(total), k(total);
  std::size_t o = 0;
  for (const Term& t : p.terms) {
    const Real l = rate(t), v = t.variance;
    h[o] = 1;
    stationary[o][o] = v;
    if (t.states == 2) stationary[o + 1][o + 1] = v * l * l;
    if (t.states == 3) {
      stationary[o][o + 2] = stationary[o + 2][o] = -v * l * l / 3;
      stationary[o + 1][o + 1] = v * l * l / 3;
      stationary[o + 2][o + 2] = v * l * l * l * l;
    }
    o += static_cast<std::size_t>(t.states);
  }
  P = stationary;
  Real nll = 0;
  for (std::size_t i = 0; i < p.time.size(); ++i) {
    if (i > 0) {
      o = 0;
      for (const Term& t : p.terms) {
        const Real l = rate(t), d = p.time[i] - p.time[i - 1], e = exp(-l * d), a = l * d;
        if (t.states == 1) F[o][o] = e;
        if (t.states == 2) {
          F[o][o] = e * (1 + a);
          F[o][o + 1] = e * d;
          F[o + 1][o] = -e * l * a;
          F[o + 1][o + 1] = e * (1 - a);
        }
        if (t.states == 3) {
          F[o][o] = e * (1 + a + a * a / 2);
          F[o][o + 1] = e * d * (1 + a);
          F[o][o + 2] = e * d * d / 2;
          F[o + 1][o] = -e * l * a * a / 2;
          F[o + 1][o + 1] = e * (1 + a - a * a);
          F[o + 1][o + 2] = e * d * (2 - a) / 2;
          F[o + 2][o] = e * l * l * a * (a - 2) / 2;
          F[o + 2][o + 1] = e * l * a * (a - 3);
          F[o + 2][o + 2] = e * (2 - 4 * a + a * a) / 2;
        }
        o += static_cast<std::size_t>(t.states);
      }
      // P ← F(P − P∞)Fᵀ + P∞, m ← Fm
      for (std::size_t r = 0; r < total; ++r) {
        moved[r] = 0;
        for (std::size_t c = 0; c < total; ++c) moved[r] += F[r][c] * m[c];
        for (std::size_t c = 0; c < total; ++c) {
          next[r][c] = 0;
          for (std::size_t s = 0; s < total; ++s) {
            if (F[r][s] != 0) next[r][c] += F[r][s] * (P[s][c] - stationary[s][c]);
          }
        }
      }
      m = moved;
      for (std::size_t r = 0; r < total; ++r) {
        for (std::size_t c = 0; c < total; ++c) {
          P[r][c] = stationary[r][c];
          for (std::size_t s = 0; s < total; ++s) {
            if (F[c][s] != 0) P[r][c] += next[r][s] * F[c][s];
          }
        }
      }
    }
    Real S = p.noise[i], v = p.value[i];
    for (std::size_t r = 0; r < total; ++r) {
      k[r] = 0;
      for (std::size_t c = 0; c < total; ++c) k[r] += P[r][c] * h[c];
      S += h[r] * k[r];
      v -= h[r] * m[r];
    }
    for (std::size_t r = 0; r < total; ++r) {
      m[r] += k[r] * v / S;
      for (std::size_t c = 0; c < total; ++c) P[r][c] -= k[r] * k[c] / S;
    }
    nll += (log(S) + v * v / S + log(2 * Real(3.14159265358979323846264338327950288L))) / 2;
  }
  return nll;
}

}  // namespace quad
