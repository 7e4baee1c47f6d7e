// SPDX-License-Identifier: Apache-2.0
#include "bandgp/gp/cost_model.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "bandgp/kernel/harmonics.hpp"
#include "bandgp/simd/dispatch.hpp"

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

/// What stands for any design of a grid until one is made: spacing 0.4 ℓ, windows of 28 nodes, T = 5 ℓ, a
/// bandwidth of 16; cells of five spacings, 18 polynomials.
constexpr double kSpacing = 0.4, kWindow = 28, kReach = 5, kCell = 5, kPolynomials = 18;
constexpr Index kBandwidth = 16;

double estimate_nodes(const Term& term, const Observations& points) {
  return std::min(points.span() / (kSpacing * term.lengthscale) + kWindow,
                  kWindow * static_cast<double>(points.size()));
}

/// Columns of a node of the grid, or state-space terms, that a term has for each one without its factor.
double columns_of(const Term& term, const Observations& points, double rho) {
  if (!term.has_factor()) return 1;
  if (!std::holds_alternative<PeriodicFactor>(term.factor)) return 2;
  const double inside =
      std::max(1.0, 5 * term.lengthscale * static_cast<double>(points.size()) / (points.span() + 1e-300));
  const double most = rho * points.smallest_noise() / (term.variance * inside);
  const auto harmonics = static_cast<double>(bandgp::harmonics(term.smoothness, most).coefficient.size());
  // Small variances need few nodes.
  return has_grid(term) ? 0.65 * (2 * harmonics - 1) : 2 * harmonics - 1;
}

}  // namespace

double band_nanoseconds(Index n, const MeanWidth& width) {
  // Bands gain most from wide vectors: what `auto` takes may depend on the processor.
  const bool wide = simd::active() == simd::Isa::avx512;
  const double point = wide ? 150 : 250, entry = wide ? 5 : 8, product = wide ? 0.045 : 0.18;
  return static_cast<double>(n) * (point + entry * width.width + product * width.square);
}

double dual_nanoseconds(Index n, double nodes, Index bandwidth) {
  const double blocks = std::ceil(static_cast<double>(bandwidth) / 8) + 1;
  return 95 * static_cast<double>(n) + (100 + 17 * blocks * blocks) * nodes;
}
double dual_nanoseconds(const Term& term, const Observations& points) {
  return dual_nanoseconds(points.size(), estimate_nodes(term, points), kBandwidth);
}

double elements_nanoseconds(const Kernel& kernel, const Observations& points, double rho) {
  const auto n = static_cast<double>(points.size());
  double nodes = 0, slots = 0, states = 0, waves = 0, shortest = std::numeric_limits<double>::infinity();
  bool oscillates = false;
  for (const Term& term : kernel.terms) {
    if (has_grid(term))
      shortest = std::min(shortest, term.lengthscale);
    else
      states += static_cast<double>(state_count(term.shape)) * columns_of(term, points, rho);
  }
  const double cell = kCell * kSpacing * shortest;
  for (const Term& term : kernel.terms) {
    if (!has_grid(term)) continue;
    const double columns = columns_of(term, points, rho), own = estimate_nodes(term, points);
    nodes += columns * own;
    slots +=
        columns * (std::min((2 * kReach * term.lengthscale + cell) / (kSpacing * term.lengthscale), own) + 1);
    oscillates = oscillates || term.has_factor();
    waves += columns;
  }
  slots = 8 * std::ceil((slots + 3 * states) / 8);
  const double chunks = std::min(n, points.span() / cell + 1);
  if (oscillates) {
    // With few points in a cell, or states, the points are their own columns.
    const bool own = states > 0 || n / chunks < 3 * kPolynomials;
    const double of_point = own ? 500 + 0.1 * slots * slots : 100 + 15 * waves,
                 of_chunk = own ? 0 : 0.2 * kPolynomials * slots * slots;
    return n * of_point + chunks * (2500 + of_chunk) + 0.1 * nodes * slots * slots;
  }
  const double columns = std::min(kPolynomials, n / chunks) + states + 2;
  const double at_points = states > 0 ? 30 + 20 * states + 0.06 * columns * columns : 30;
  const double wide = n * at_points + chunks * (1500 + 0.05 * slots * slots * columns) +
                      (nodes + 2 * states * chunks) * 0.1 * slots * slots;
  return (simd::active() == simd::Isa::avx512 ? 1 : 1.4) * wide;
}

}  // namespace bandgp
