// SPDX-License-Identifier: Apache-2.0
#include "bandgp/basis/local_polynomials.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "bandgp/simd/dispatch.hpp"

namespace bandgp {

using simd::kBlock;
using simd::kPanel;

/// Rows of D^{−½}|Φ − WC| sum to at most w β s (1 + (√2π + 4a) ℓ/h), columns to β s W (2 + 2√2π + 8a) with
/// W over windows of ℓ/2, a = r/ℓ: a point up to 2r away from the node may share its chunk, so e^{−z²/2}
/// counts as 1 on a length of 4r and is Gaussian beside it.
UpperBound polynomial_error(const GridDesign& design, const GridDemand& demand, Index columns, double half) {
  const auto of = [](double x) { return UpperBound::of(x, 16); };
  const double a = half / demand.lengthscale, root_two_pi = std::sqrt(2 * std::numbers::pi);
  // √q! as a product: std::lgamma may write a global variable, and evaluations run on several threads.
  double power_over_root = 1;
  for (Index k = 1; k <= columns; ++k)
    power_over_root *= a / std::numbers::sqrt2 / std::sqrt(static_cast<double>(k));
  const UpperBound beta = UpperBound::of(2.173 * power_over_root, 64 + 32 * static_cast<double>(columns));
  const UpperBound nodes = of(1 + (root_two_pi + 4 * a) / std::sqrt(design.g));
  const UpperBound points = of(2 + 2 * root_two_pi + 8 * a) * demand.heaviest;
  return beta * of(design.amplitude) * sqrt(of(demand.largest_weight) * nodes * points);
}

double longest_half(const GridDesign& design, const GridDemand& demand, Index columns, double target) {
  double low = 1e-4, high = 4;
  while (high > 1.001 * low) {
    const double middle = std::sqrt(low * high);
    const bool fits =
        polynomial_error(design, demand, columns, middle * demand.lengthscale).value() <= target;
    (fits ? low : high) = middle;
  }
  return low * demand.lengthscale;
}

void LocalPolynomials::lay_out(const double* x, Index n, Index columns, double half) {
  chunks_.clear();
  panels_ = 0;
  const Index padded = round_up(n, kPanel);
  for (Index begin = 0; begin < padded;) {
    Index end = begin + kPanel;
    while (end < padded && x[std::min(end + kPanel, n) - 1] - x[begin] <= 2 * half) end += kPanel;
    Chunk chunk;
    chunk.begin = begin;
    chunk.end = end;
    chunk.panel = panels_;
    const double last = x[std::min(end, n) - 1];
    chunk.middle = 0.5 * (x[begin] + last);
    chunk.half = 0.5 * (last - x[begin]);
    chunk.identity = end - begin <= columns;
    chunk.panels = (chunk.identity ? end - begin : columns) / kPanel;
    panels_ += chunk.panels;
    chunks_.push_back(chunk);
    begin = end;
  }
  for (Index k = 0; k < columns; ++k)
    nodes_[static_cast<std::size_t>(k)] =
        std::cos(std::numbers::pi * (static_cast<double>(k) + 0.5) / static_cast<double>(columns));
  // c_m = (2 − [m = 0])/q Σ_k f(t_k) T_m(t_k), t_k = cos(π(k + ½)/q)
  transform_.reserve(columns * columns);
  for (Index m = 0; m < columns; ++m) {
    for (Index k = 0; k < columns; ++k) {
      const double angle = std::numbers::pi * static_cast<double>(m * (2 * k + 1) % (4 * columns)) /
                           static_cast<double>(2 * columns);
      transform_.data()[kBlock * ((m / kPanel) * (columns / kPanel) + k / kPanel) + kPanel * (k % kPanel) +
                        m % kPanel] = (m == 0 ? 1.0 : 2.0) / static_cast<double>(columns) * std::cos(angle);
    }
  }
}

void LocalPolynomials::fill(const Chunk& chunk, Index part, Index count, Index p, const double* x, Index n,
                            double* const* out) const {
  if (chunk.identity) {
    for (Index q = 0; q < count; ++q) {
      std::fill_n(out[q], kBlock, 0.0);
      const bool own = kPanel * (p - part - q) == chunk.begin;
      for (Index c = 0; c < kPanel && own && kPanel * p + c < n; ++c) out[q][(kPanel + 1) * c] = 1;
    }
    return;
  }
  // T_{m+1} = 2t T_m − T_{m−1}, eight points side by side; those past n count as 0.
  alignas(64) double two_t[kPanel], t[kMostColumns][kPanel];
  const double inverse_half = 1 / chunk.half;
  for (Index c = 0; c < kPanel; ++c) {
    const double there = kPanel * p + c < n ? 1.0 : 0.0;
    const double at = std::min(std::max((x[kPanel * p + c] - chunk.middle) * inverse_half, -1.0), 1.0);
    two_t[c] = 2 * at;
    t[0][c] = there;
    t[1][c] = there * at;
  }
  for (Index m = 2; m < kPanel * (part + count); ++m) {
    for (Index c = 0; c < kPanel; ++c) t[m][c] = two_t[c] * t[m - 1][c] - t[m - 2][c];
  }
  for (Index q = 0; q < count; ++q) simd::panel_kernels().transpose(t[kPanel * (part + q)], out[q]);
}

void LocalPolynomials::stations(const Chunk& chunk, const double* x, Index n, Stations& at) const {
  for (Index k = 0; k < kPanel * chunk.panels; ++k) {
    const auto s = static_cast<std::size_t>(k);
    at[s] = chunk.identity ? x[std::min(chunk.begin + k, n - 1)] : chunk.middle + chunk.half * nodes_[s];
  }
}

void LocalPolynomials::coefficients(const Chunk& chunk, const double* values, Index n, double* out) const {
  if (chunk.identity) {
    for (Index k = 0; k < kPanel * chunk.panels; ++k) {
      for (Index r = 0; r < kPanel; ++r)
        out[kPanel * k + r] = chunk.begin + k < n ? values[kPanel * k + r] : 0.0;
    }
    return;
  }
  const double *x[kMostColumns / kPanel], *y[kMostColumns / kPanel];
  for (Index m = 0; m < chunk.panels; ++m) {
    for (Index k = 0; k < chunk.panels; ++k) {
      x[k] = values + kBlock * k;
      y[k] = transform_.data() + kBlock * (m * chunk.panels + k);
    }
    std::fill_n(out + kBlock * m, kBlock, 0.0);
    simd::panel_kernels().add_outers(x, y, chunk.panels, out + kBlock * m);
  }
}

}  // namespace bandgp
