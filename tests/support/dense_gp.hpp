// SPDX-License-Identifier: Apache-2.0
// The truth for tests: a dense Gaussian process in long double, written from the formulas alone.  It includes
// no bandgp header, has its own shapes and its own Cholesky, and does everything the obvious O(n³) way.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <limits>
#include <numbers>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace dense {

using Real = long double;
using Vector = std::vector<Real>;

/// ρ(r), r = |τ|/ℓ ≥ 0.
Real shape_value(const std::string& shape, Real r);

struct Matrix {
  std::size_t rows = 0, columns = 0;
  Vector entries;

  Matrix() = default;
  Matrix(std::size_t r, std::size_t c) : rows(r), columns(c), entries(r * c) {}
  Real& operator()(std::size_t i, std::size_t j) { return entries[i * columns + j]; }
  const Real& operator()(std::size_t i, std::size_t j) const { return entries[i * columns + j]; }
  Vector column(std::size_t j) const {
    Vector result(rows);
    for (std::size_t i = 0; i < rows; ++i) result[i] = (*this)(i, j);
    return result;
  }
};

Real dot(const Vector& a, const Vector& b);

/// Lower L with A = LLᵀ; nothing when A is not positive definite.
std::optional<Matrix> cholesky(const Matrix& A);

/// (LLᵀ)⁻¹ b
Vector solve(const Matrix& L, Vector b);

/// Eigenvalues of a symmetric matrix by cyclic Jacobi rotations, smallest first: a route apart from Cholesky.
Vector eigenvalues(Matrix A);

bool is_positive_definite(const Matrix& A);

/// `factor`: none, cos or periodic; numbers that a term does not have are not read.
struct Term {
  std::string shape;
  Real variance, lengthscale;
  std::string factor = "";
  Real period = 1, smoothness = 1, quality = 1;
};

/// variance · ρ(|τ|/ℓ) · factor, lag ≥ 0; `sho` and `periodic` have no ℓ.
Real term_value(const Term& term, Real lag);

/// y = h(x)ᵀβ + f(x) + ε.  Observations are rows, in any order; rows may share a time and are never merged.
struct Problem {
  Vector x, y;
  Vector v = {};  // known variances; empty: none
  std::vector<Term> terms = {};
  Real noise = 0;  // σₙ², a variance
  int mean = 0;    // 0 zero, 1 constant, 2 linear
  /// Which pairs i ≠ j of rows stay in the covariance; not asked for rows of equal time.  Empty: all.
  std::function<bool(std::size_t, std::size_t)> keep = {};

  std::size_t size() const { return x.size(); }
  Real known(std::size_t i) const { return v.empty() ? 0 : v[i]; }
};

/// k(τ) = Σ variance · ρ(|τ|/ℓ)
Real kernel(const Problem& problem, Real lag);

bool kept(const Problem& problem, std::size_t i, std::size_t j);

/// Ã = K on the kept pairs + diag(σₙ² + vᵢ)
Matrix covariance(const Problem& problem);

/// Columns of the mean function at xs: 1, and x measured from the first observation (any origin spans the
/// same space).
Matrix mean_basis(const Problem& problem, const Vector& xs);

/// What is left after generalised least squares: everything else is read off this.
struct Solved {
  Matrix L;            // A = LLᵀ
  Matrix H, AinvH;     // mean basis at the observations, A⁻¹H
  Matrix G;            // Cholesky factor of HᵀA⁻¹H
  Vector beta;         // (HᵀA⁻¹H)⁻¹ HᵀA⁻¹y
  Vector alpha;        // A⁻¹(y − Hβ)
  Real quadratic = 0;  // (y − Hβ)ᵀα
};

std::optional<Solved> solve_gls(const Matrix& A, const Matrix& H, const Vector& y);

std::optional<Solved> solve_gls(const Problem& problem);

/// ½ rᵀA⁻¹r + ½ log|A| + (n/2) log 2π with r = y − Hβ, β by generalised least squares (profiled, not REML).
std::optional<Real> nll(const Problem& problem);

/// β for the basis 1, x: the coefficients as a user would read them.
std::optional<Vector> mean_coefficients(const Problem& problem);

/// ∂nll/∂log θ for θ = variance_1, lengthscale_1, …, noise, by eighth-order central differences.
/// Step 1/256: truncation h⁸/630 ≈ 1e-22 · f⁽⁹⁾, rounding 256 · 5e-20 · cond(A) · |nll|.  NaN where nll has
/// no value.
Vector gradient(const Problem& problem);

struct Prediction {
  Vector mean, variance;  // of the latent curve: without noise, with the uncertainty of β
  Matrix covariance;
};

/// Universal kriging from cross-covariances C (test × rows) and prior covariance P (test × test), basis Hs at
/// the test:
///   mean = Hs β + C α,   covariance = P − C A⁻¹ Cᵀ + R (HᵀA⁻¹H)⁻¹ Rᵀ,   R = Hs − C A⁻¹H
Prediction krige(const Solved& s, const Matrix& C, const Matrix& P, const Matrix& Hs);

/// The latent curve at xs; the cross-covariances K*f are uncut, whatever `keep` says about the observations.
std::optional<Prediction> predict(const Problem& problem, const Vector& xs);

struct LeaveOneOut {
  Vector mean, variance;  // of the observation itself: dᵢ and the uncertainty of β included
};

/// Each row predicted from all the others by refitting without it.  The row's covariances are those of the
/// model, cut by `keep` like all others.  The mean basis must keep full rank without any one row.
std::optional<LeaveOneOut> loo(const Problem& problem);

/// ρ = the largest row sum of |K_ij| / √(dᵢdⱼ) over the pairs that `keep` drops.                     [math.md
/// §5]
Real rho(Problem problem, std::function<bool(std::size_t, std::size_t)> keep);

}  // namespace dense
