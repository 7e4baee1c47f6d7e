// SPDX-License-Identifier: Apache-2.0
#include "bandgp/gp/cost_model.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>

namespace bandgp {

double estimate_reach(const Kernel& kernel, const Observations& points, double target) {
  const Index n = points.size();
  const double span = points.span();
  if (span == 0) return 0;
  const double density = static_cast<double>(n) / span;
  const auto beyond = [&](double reach) {
    double sum = 0;
    for (const Term& term : kernel.terms) {
      sum += std::visit(
          [&](auto shape) {
            return term.variance * term.lengthscale * decltype(shape)::tail(reach / term.lengthscale).value();
          },
          term.shape);
    }
    return 2 * density / points.smallest_noise() * sum;
  };
  double low = 0, high = span;
  if (beyond(span) > target) return span;
  for (int i = 0; i < 60 && high - low > 1e-3 * high; ++i) {
    const double middle = 0.5 * (low + high);
    (beyond(middle) > target ? low : high) = middle;
  }
  return high;
}

MeanWidth estimate_width(const Observations& points, double reach) {
  constexpr Index kSample = 128;
  const Index n = points.size(), rows = std::min(n, kSample);
  const double* x = points.time();
  MeanWidth mean;
  for (Index s = 0; s < rows; ++s) {
    const Index i = rows == n ? s : (n - 1) * s / (rows - 1);
    const auto k = static_cast<double>(x + i - std::lower_bound(x, x + i, x[i] - reach));
    mean.width += k / static_cast<double>(rows);
    mean.square += k * k / static_cast<double>(rows);
  }
  return mean;
}

namespace {

/// A spectral density σ²ℓ·a λ^{2m−1}/(λ² + ω²ℓ²)^m: a Matérn's of order m − ½.
struct RationalSpectrum {
  int m;
  double lambda;
};

RationalSpectrum rational_spectrum(const AnyShape& shape) {
  if (std::holds_alternative<Matern12>(shape)) return {1, 1};
  if (std::holds_alternative<Matern32>(shape)) return {2, std::numbers::sqrt3};
  if (std::holds_alternative<Matern52>(shape)) return {3, Matern52::sqrt5};
  // As smooth at 0, and with the same first odd power there: |r|³ times 20, |r|⁵ times 448/3.
  if (std::holds_alternative<Wendland2>(shape)) return {2, 3.915};
  return {3, 5.827};
}

/// The zero of the spectral density of a term and white noise that is nearest to the real line, times ℓ;
/// noise is `ratio` of the term's σ²ℓ/δ.  SE: √(2π) e^{−ω²/2} = −ratio.
double nearest_zero(const Term& term, double ratio) {
  constexpr double kAmplitude[] = {2, 4, 16.0 / 3};
  std::complex<double> square;
  if (is_se(term)) {
    square = 2.0 * std::complex<double>(std::log(std::sqrt(2 * std::numbers::pi) / ratio), std::numbers::pi);
  } else {
    const auto [m, lambda] = rational_spectrum(term.shape);
    const double power = kAmplitude[m - 1] * std::pow(lambda, 2 * m - 1) / ratio;
    square = std::polar(std::pow(power, 1.0 / m), std::numbers::pi / m) - lambda * lambda;
  }
  return std::sqrt(square).imag();
}

}  // namespace

/// The inverse of a stationary covariance decays like e^{−|τ| Im ω₀}, ω₀ that zero.
double inverse_length(const Kernel& kernel, const Observations& points, double nepers) {
  const double span = points.span(), gap = span / static_cast<double>(points.size());
  if (kernel.terms.empty() || span == 0) return 0;
  double longest = 0;
  for (const Term& term : kernel.terms) {
    const double zero = nearest_zero(term, points.mean_noise() * gap / (term.variance * term.lengthscale));
    longest = std::max(longest, nepers * term.lengthscale / zero);
  }
  return std::min(longest, span);
}

double band_nanoseconds(Index n, const MeanWidth& width) {
  return static_cast<double>(n) * (150 + 5 * width.width + 0.045 * width.square);
}

double dual_nanoseconds(Index n, double nodes, Index bandwidth) {
  const double blocks = std::ceil(static_cast<double>(bandwidth) / 8) + 1;
  return 95 * static_cast<double>(n) + (100 + 17 * blocks * blocks) * nodes;
}

double local_columns(double gap, double lengthscale, double inverse) {
  const double length = std::max(8.0, 1.3 * lengthscale / gap);  // of a chunk, in points
  return std::min(16.0, 8 * std::ceil(length / 8)) * (1 + 2 * inverse / gap / length);
}

double mixed_nanoseconds(Index n, const MeanWidth& width, double columns, double nodes, double bandwidth) {
  const double blocks = bandwidth / 8 + 1;
  return band_nanoseconds(n, width) +
         static_cast<double>(n) * columns * (4 + 0.17 * width.width + 0.26 * columns) +
         nodes * (100 + 17 * blocks * blocks);
}

}  // namespace bandgp
