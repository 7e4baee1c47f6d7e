// SPDX-License-Identifier: Apache-2.0
#include "bandgp/gp/noise_representation.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "bandgp/base/dot.hpp"
#include "bandgp/base/sum_of_logs.hpp"

namespace bandgp {

Cost NoiseRepresentation::cost(const Kernel&, const Observations& points, double) {
  constexpr double kSeconds = 5e-9;  // a point
  return {0, kSeconds * static_cast<double>(points.size()), 0, 0, name()};
}

std::optional<Failure> NoiseRepresentation::choose(const Kernel& kernel, const Observations& points, double) {
  assert(kernel.terms.empty());
  (void)kernel;
  points_ = &points;
  return std::nullopt;
}

std::optional<Failure> NoiseRepresentation::factor(RightHandSides b) {
  (void)reduce(b);
  return std::nullopt;
}

/// D^{−½}b; the weights past the last point are 0.
bool NoiseRepresentation::reduce(RightHandSides b) {
  const double* weight = points_->weight();
  for (Index c = 0; c < b.columns; ++c) {
    double* column = b.data + c * b.stride;
    for (Index i = 0; i < points_->padded_size(); ++i) column[i] *= weight[i];
  }
  return true;
}

double NoiseRepresentation::log_determinant() { return sum_of_logs(points_->noise(), points_->size()); }

void NoiseRepresentation::gradient(RightHandSides b, const double* noise_slope, std::span<double> out) {
  finish(b);
  double sum = 0;
  for (Index i = 0; i < points_->size(); ++i) {
    double weight = 1 / points_->noise()[i];
    for (Index c = 0; c < b.columns; ++c) {
      const double alpha = b.data[c * b.stride + i];
      weight -= alpha * alpha;
    }
    sum += noise_slope[i] * weight;
  }
  out.back() = 0.5 * sum;
}

void NoiseRepresentation::inverse_diagonal(std::span<double> out) {
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = 1 / points_->noise()[i];
}

/// A sum of squares and one of logarithms, each term of which is rounded a few times.
double NoiseRepresentation::rounding(double* column, const double*) {
  constexpr double kUnit = 0x1p-53;
  return 2 * kUnit * (dot(column, column, points_->padded_size()) + std::abs(log_determinant()));
}

Certificate NoiseRepresentation::certificate(CertificateInputs inputs) const {
  return make_certificate(UpperBound::exactly(0), inputs);
}

double NoiseRepresentation::condition() {
  const auto [low, high] = std::minmax_element(points_->noise(), points_->noise() + points_->size());
  return *high / *low;
}

std::optional<Failure> NoiseRepresentation::predict(std::span<const double> x, unsigned,
                                                    RightHandSides solved, double* projection,
                                                    double* variance) {
  std::fill_n(projection, solved.columns * std::ssize(x), 0.0);
  if (variance != nullptr) std::fill_n(variance, x.size(), 0.0);
  return std::nullopt;
}

void NoiseRepresentation::covariance(std::span<const double> x, double* out) {
  std::fill_n(out, x.size() * x.size(), 0.0);
}

}  // namespace bandgp
