// SPDX-License-Identifier: Apache-2.0
// A dense Gaussian process in double on LAPACK: fast enough to check an optimum at a few thousand points.
// Written from the formulas alone; it includes no bandgp header and merges no equal times.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numbers>
#include <stdexcept>
#include <string>
#include <vector>

extern "C" {
void dpotrf_(const char* uplo, const int* n, double* a, const int* lda, int* info);
void dpotri_(const char* uplo, const int* n, double* a, const int* lda, int* info);
void dpotrs_(const char* uplo, const int* n, const int* columns, const double* a, const int* lda, double* b,
             const int* ldb, int* info);
void dtrmv_(const char* uplo, const char* trans, const char* diag, const int* n, const double* a,
            const int* lda, double* x, const int* incx);
}

namespace lapack {

using Vector = std::vector<double>;

/// ρ(r) and ∂ρ/∂log ℓ = −r ρ'(r), r = |τ|/ℓ.
struct Shape {
  double value, slope;
};
Shape se(double r);
Shape matern12(double r);
Shape matern32(double r);
using ShapeFunction = Shape (*)(double);
ShapeFunction shape_named(const std::string& name);

struct Term {
  std::string shape;
  double variance, lengthscale;
};

/// y = h(x)ᵀβ + f(x) + ε, one row an observation.
struct Problem {
  Vector x, y;
  Vector v = {};  // known variances; empty: none
  std::vector<Term> terms = {};
  double noise = 0;
  int mean = 0;  // 0 zero, 1 constant, 2 linear

  std::size_t size() const { return x.size(); }
};

/// log variance_1, log lengthscale_1, …, log noise.
Vector logs(const Problem& problem);

Problem at(Problem problem, const Vector& log_parameters);

/// In place A = LLᵀ, column-major, lower triangle; false when A is not positive definite.
bool factor(Vector& a, std::size_t n);

double log_determinant(const Vector& l, std::size_t n);

/// b ← A⁻¹ b
void solve(const Vector& l, std::size_t n, Vector& b);

double dot(const double* a, const double* b, std::size_t n);

/// K + D, the lower triangle.
Vector covariance(const Problem& problem);

struct Loss {
  double nll = std::numeric_limits<double>::infinity();
  Vector gradient;  // by log parameter
  Vector beta;      // of the basis 1, x − x₀
};

/// ½ rᵀA⁻¹r + ½ log|A| + (n/2) log 2π, r = y − Hβ with β by generalised least squares, and
/// ½ Σ (A⁻¹ − ααᵀ)∘∂A.
Loss evaluate(const Problem& problem);

/// What second derivatives say at θ, for the parameters that are free: the step that is left to the minimum,
/// and the standard errors of log θ.  In the order of `free`.
struct Newton {
  double nll;
  Vector step;             // −H⁻¹g; NaN where H is not positive definite
  Vector standard_errors;  // √diag H⁻¹
};

/// H by central differences of the gradient: with step 1e-4 good to about 1e-7 of its size.
Newton newton(const Problem& problem, const std::vector<std::size_t>& free);

/// y = f + ε drawn from the model, made of as many standard normals as there are rows.
Vector draw(const Problem& problem, Vector normals);

/// −log p(y | mean, covariance), the covariance row-major or column-major and with its noise.
double joint_nlpd(const Vector& y, const Vector& mean, Vector covariance);

}  // namespace lapack
