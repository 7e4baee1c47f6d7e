// SPDX-License-Identifier: Apache-2.0
#include "bandgp/gp/cost_model.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <numeric>

namespace bandgp {

double estimate_reach(const Kernel& kernel, const Observations& points, double target) {
  const Index n = points.size();
  const double span = n > 1 ? points.time()[n - 1] - points.time()[0] : 0;
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

/// The inverse of a stationary covariance decays like e^{−|τ| Im ω₀}, ω₀ the zero of its spectral density
/// that is nearest to the real line.  For one SE term and white noise, σ²√(2π)(ℓ/δ) e^{−ω²ℓ²/2} = −d gives ω₀
/// = (√2/ℓ)·√(log(σ²√(2π)ℓ/δd) + iπ); for a Matérn of order ½, ω₀ = (i/ℓ)√(1 + 2σ²ℓ/δd).
double inverse_length(const Kernel& kernel, const Observations& points, double reach, double nepers) {
  const Index n = points.size();
  const double span = points.time()[n - 1] - points.time()[0];
  if (kernel.terms.empty() || span == 0) return 0;
  const double mean_noise = std::reduce(points.noise(), points.noise() + n) / static_cast<double>(n);
  const double density = static_cast<double>(n) / span;
  double longest = 0;
  for (const Term& term : kernel.terms) {
    const double ratio = term.variance * term.lengthscale * density / mean_noise;
    double rate = nepers / reach;
    if (is_se(term)) {
      const std::complex<double> square(std::log(std::sqrt(2 * std::numbers::pi) * ratio), std::numbers::pi);
      rate = std::numbers::sqrt2 / term.lengthscale * std::sqrt(square).imag();
    } else if (std::holds_alternative<Matern12>(term.shape)) {
      rate = std::sqrt(1 + 2 * ratio) / term.lengthscale;
    }
    longest = std::max(longest, nepers / rate);
  }
  return longest;
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
