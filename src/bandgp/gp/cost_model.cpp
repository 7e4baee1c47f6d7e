// SPDX-License-Identifier: Apache-2.0
#include "bandgp/gp/cost_model.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
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
          [&]<class S>(S) {
            if constexpr (HasTail<S>)
              return term.variance * term.lengthscale * S::tail(reach / term.lengthscale).value();
            return std::numeric_limits<double>::infinity();
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

/// The zero of ρ's spectral density plus `ratio` that is nearest to the real line, as ω²ℓ².
/// √(2π) e^{−ω²/2} = −ratio:
std::complex<double> squared_zero(GaussianSpectrum, double ratio) {
  return 2.0 * std::complex<double>(std::log(std::sqrt(2 * std::numbers::pi) / ratio), std::numbers::pi);
}
/// a λ^{2m−1}/(λ² + ω²)^m = −ratio with a = 2√π Γ(m)/Γ(m − ½), which makes ρ(0) = 1:
std::complex<double> squared_zero(RationalSpectrum spectrum, double ratio) {
  const auto [m, lambda] = spectrum;
  double amplitude = 2;
  for (int k = 1; k < m; ++k) amplitude *= k / (k - 0.5);
  const double power = amplitude * std::pow(lambda, 2 * m - 1) / ratio;
  return std::polar(std::pow(power, 1.0 / m), std::numbers::pi / m) - lambda * lambda;
}

/// The imaginary part of the zero of the spectral density of a term and white noise that is nearest to the
/// real line, times ℓ; noise is `ratio` of the term's σ²ℓ/δ.  0 where the shape states no spectrum: its
/// inverse is then taken not to decay at all.
double nearest_zero(const Term& term, double ratio) {
  return std::visit(
      [&]<class S>(S) {
        if constexpr (HasSpectrum<S>) return std::sqrt(squared_zero(S::spectrum, ratio)).imag();
        return 0.0;
      },
      term.shape);
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
