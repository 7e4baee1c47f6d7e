// SPDX-License-Identifier: Apache-2.0
#include "bandgp/methods/exact_representation.hpp"

#include <algorithm>
#include <cmath>

#include "bandgp/band/residual.hpp"
#include "bandgp/kernel/tiles.hpp"
#include "bandgp/methods/dense_covariance.hpp"
#include "bandgp/methods/lapack.hpp"
#include "bandgp/simd/panel.hpp"

namespace bandgp {

using lapack::Form;
using lapack::Side;
using simd::kPanel;

namespace {

/// Multiply-adds a second of LAPACK on one thread; only for the estimate that precedes a large evaluation.
constexpr double kWorkPerSecond = 1e10;
/// Test points that are solved for at a time.
constexpr Index kTests = 256;

}  // namespace

/// n³/3 for the factor, 2n³/3 for the inverse.
Cost ExactRepresentation::cost(const Kernel&, const Observations& points, double) {
  const auto n = static_cast<double>(points.size());
  return {8 * n * (n + 16), n * n * n / kWorkPerSecond, points.size() - 1, 0};
}

std::optional<Failure> ExactRepresentation::choose(const Kernel& kernel, const Observations& points,
                                                   double q_bound) {
  kernel_ = &kernel;
  points_ = &points;
  const Cost needed = cost(kernel, points, q_bound);
  if (needed.bytes > max_bytes_) return Failure{Failure::Kind::too_large, 0, needed.bytes, needed.seconds};
  return std::nullopt;
}

void ExactRepresentation::fill() {
  const Index size = n();
  const double* x = points_->time();
  matrix_.reserve(size * size);
  panel_.reserve(kPanel * points_->padded_size());
  for (Index i0 = 0; i0 < size; i0 += kPanel) {
    const Index rows = std::min(kPanel, size - i0);
    fill_covariance(*kernel_, x + i0, x, i0 + rows, panel_.data());
    for (Index j = 0; j < i0 + rows; ++j)
      std::copy_n(panel_.data() + kPanel * j, rows, matrix_.data() + j * size + i0);
    for (Index r = 0; r < rows; ++r)
      matrix_.data()[(i0 + r) * (size + 1)] = kernel_->variance() + points_->noise()[i0 + r];
  }
}

std::optional<Failure> ExactRepresentation::factor(RightHandSides b) {
  const lapack::OneThread scope;
  fill();
  const Index bad = lapack::cholesky(n(), matrix_.data());
  if (bad >= 0) return Failure{Failure::Kind::not_positive_definite, bad};
  lapack::solve_triangular(Side::left, Form::plain, n(), b.columns, matrix_.data(), n(), b.data, b.stride);
  return std::nullopt;
}

double ExactRepresentation::log_determinant() {
  double sum = 0;
  for (Index i = 0; i < n(); ++i) sum += std::log(diagonal(i));
  return 2 * sum;
}

void ExactRepresentation::finish(RightHandSides b) {
  const lapack::OneThread scope;
  const Index stride = std::max(b.stride, n());  // a single column may come without one
  lapack::solve_triangular(Side::left, Form::transposed, n(), b.columns, matrix_.data(), n(), b.data, stride);
}

bool ExactRepresentation::reduce(RightHandSides b) {
  const lapack::OneThread scope;
  lapack::solve_triangular(Side::left, Form::plain, n(), b.columns, matrix_.data(), n(), b.data, b.stride);
  return true;
}

void ExactRepresentation::gradient(RightHandSides b, const double* noise_slope, std::span<double> out) {
  finish(b);
  const auto outer = [&](Index i, Index j) {  // Σ α_cα_cᵀ
    double sum = 0;
    for (Index c = 0; c < b.columns; ++c) sum += b.data[c * b.stride + i] * b.data[c * b.stride + j];
    return sum;
  };
  const lapack::OneThread scope;
  lapack::inverse_from_factor(n(), matrix_.data());
  const double* x = points_->time();
  const auto& terms = kernel_->terms;
  std::vector<TileSums> sums(terms.size());
  double trace = 0;
  out.back() = 0;
  for (Index i0 = 0; i0 < n(); i0 += kPanel) {
    const Index rows = std::min(kPanel, n() - i0);
    // Weights A⁻¹ − ααᵀ strictly below the diagonal, where an entry stands for both halves, which cancels ½.
    for (Index j = 0; j < i0 + rows; ++j) {
      double* weight = panel_.data() + kPanel * j;
      std::fill_n(weight, kPanel, 0.0);
      for (Index r = std::max<Index>(0, j + 1 - i0); r < rows; ++r)
        weight[r] = matrix_.data()[j * n() + i0 + r] - outer(i0 + r, j);
    }
    for (std::size_t t = 0; t < terms.size(); ++t) {
      contract_term(tile_kernels(), terms[t], x + i0, x, i0 + rows, panel_.data(), sums[t]);
    }
    for (Index i = i0; i < i0 + rows; ++i) {
      const double w = diagonal(i) - outer(i, i);
      trace += w;
      out.back() += 0.5 * w * noise_slope[i];
    }
  }
  gradient_from_sums(*kernel_, sums, 0.5 * trace, out);
}

void ExactRepresentation::inverse_diagonal(std::span<double> out) {
  const lapack::OneThread scope;
  lapack::inverse_from_factor(n(), matrix_.data());
  for (Index i = 0; i < n(); ++i) out[static_cast<std::size_t>(i)] = diagonal(i);
}

/// As in a band: ½|αᵀ(b − Aα)|, and half of what log|A| lost.
double ExactRepresentation::rounding(double* column, const double* b) {
  const lapack::OneThread scope;
  const auto multiply = [&](RightHandSides x, RightHandSides out) {
    for (Index c = 0; c < x.columns; ++c) {
      const double* in = x.data + c * x.stride;
      for (Index i = 0; i < n(); ++i) {
        double sum = points_->noise()[i] * in[i];
        for (Index j = 0; j < n(); ++j) sum += (*kernel_)(points_->time()[i] - points_->time()[j]) * in[j];
        out.data[c * out.stride + i] = sum;
      }
    }
  };
  const auto solve_both = [&](RightHandSides x) {
    for (const Form form : {Form::plain, Form::transposed})
      lapack::solve_triangular(Side::left, form, n(), x.columns, matrix_.data(), n(), x.data, x.stride);
  };
  finish({column, 1, n()});
  std::vector<double> product(static_cast<std::size_t>(n()));
  multiply({column, 1, n()}, {product.data(), 1, n()});
  double residual = 0;
  for (Index i = 0; i < n(); ++i) residual += column[i] * (b[i] - product[static_cast<std::size_t>(i)]);
  return 0.5 * (std::abs(residual) + log_determinant_residual(n(), n(), solve_both, multiply));
}

Certificate ExactRepresentation::certificate(CertificateInputs inputs) const {
  return make_certificate(UpperBound::exactly(0), inputs);
}

double ExactRepresentation::condition() {
  double low = diagonal(0), high = low;
  for (Index i = 1; i < n(); ++i) {
    low = std::min(low, diagonal(i));
    high = std::max(high, diagonal(i));
  }
  return (high / low) * (high / low);
}

std::optional<Failure> ExactRepresentation::predict(std::span<const double> x, unsigned terms,
                                                    RightHandSides solved, double* projection,
                                                    double* variance) {
  const lapack::OneThread scope;
  const auto count = static_cast<Index>(x.size());
  const Kernel kernel = kernel_->subset(terms);
  AlignedBuffer cross;
  cross.reserve(n() * std::min(kTests, count));
  for (Index t0 = 0; t0 < count; t0 += kTests) {
    const Index tests = std::min(kTests, count - t0);
    fill_dense(kernel, points_->time(), n(), x.data() + t0, tests, cross.data());
    lapack::multiply(Form::transposed, Form::plain, tests, solved.columns, n(), 1, cross.data(), n(),
                     solved.data, solved.stride, 0, projection + t0, count);
    if (variance == nullptr) continue;
    lapack::solve_triangular(Side::left, Form::plain, n(), tests, matrix_.data(), n(), cross.data(), n());
    for (Index t = 0; t < tests; ++t) {
      double explained = 0;
      for (Index i = 0; i < n(); ++i) explained += cross.data()[t * n() + i] * cross.data()[t * n() + i];
      variance[t0 + t] = std::max(0.0, kernel.variance() - explained);
    }
  }
  return std::nullopt;
}

void ExactRepresentation::covariance(std::span<const double> x, double* out) {
  const lapack::OneThread scope;
  const auto count = static_cast<Index>(x.size());
  AlignedBuffer cross;
  cross.reserve(n() * count);
  fill_dense(*kernel_, points_->time(), n(), x.data(), count, cross.data());
  lapack::solve_triangular(Side::left, Form::plain, n(), count, matrix_.data(), n(), cross.data(), n());
  fill_dense(*kernel_, x.data(), count, x.data(), count, out);
  lapack::multiply(Form::transposed, Form::plain, count, count, n(), -1, cross.data(), n(), cross.data(), n(),
                   1, out, count);
}

}  // namespace bandgp
