// SPDX-License-Identifier: Apache-2.0
#include "bandgp/bandwidth/row_sums.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "bandgp/kernel/tiles.hpp"

namespace bandgp {
namespace {

constexpr Index kRows = 8;  // of a tile
/// Scaled lags are rounded three times; taken this much shorter they are never longer than the truth, and a
/// decreasing shape is never smaller.  (Near the edge of a Wendland function no number of ulps would do.)
constexpr double kShorter = 1 - 1e-15;

double shortest_lengthscale(const Kernel& kernel) {
  double shortest = std::numeric_limits<double>::infinity();
  for (const Term& term : kernel.terms) shortest = std::min(shortest, term.lengthscale);
  return shortest;
}

}  // namespace

UpperBound heaviest_window(const WeightedPoints& points, double width) {
  double sum = 0, most = 0;
  Index from = 0;
  for (Index to = 0; to < points.n; ++to) {
    sum += points.weight[to];
    while (points.x[to] - points.x[from] > width) sum -= points.weight[from++];
    most = std::max(most, sum);
  }
  // The running sum adds and subtracts up to 2n weights, each sum below the final maximum's 2n-fold.
  const auto slack = 4.0 * static_cast<double>(points.n) * std::numeric_limits<double>::epsilon();
  const double all = points.largest_weight * static_cast<double>(points.n);
  return UpperBound::of(std::min(all, most + slack * all), 16);
}

TailBound::TailBound(const Kernel& kernel, const WeightedPoints& points)
    : kernel_(kernel),
      span_(points.n > 1 ? points.x[points.n - 1] - points.x[0] : 0),
      // Near the cut an SE term decays over ℓ²/R ≈ ℓ/7: cells of that width lose little.
      cell_(shortest_lengthscale(kernel) / 8) {
  factor_ = UpperBound::of(2 * points.largest_weight) * heaviest_window(points, cell_);
}

UpperBound TailBound::operator()(double reach) const {
  if (reach >= span_) return UpperBound::exactly(0);
  UpperBound sum;
  for (const Term& term : kernel_.terms) {
    std::visit(
        [&]<class S>(S) {
          if constexpr (!HasTail<S>) {
            sum = UpperBound::infinite();  // nothing short of the span will do
          } else {
            if (reach >= S::support * term.lengthscale) return;
            const double r = kShorter * reach / term.lengthscale;
            const UpperBound value =
                UpperBound::of(S::at(r).value, 16 + 4 * r * r);  // the exponent's own rounding
            const UpperBound area = UpperBound::of(term.lengthscale / cell_) * S::tail(r);
            sum = sum + UpperBound::of(term.variance) * (value + area);
          }
        },
        term.shape);
  }
  return factor_ * sum;
}

double TailBound::reach_for(double target) const {
  if (std::isfinite(kernel_.support()))
    return std::min(span_, kernel_.support());  // beyond it there is nothing at all
  if ((*this)(0).value() <= target) return 0;
  double low = 0, high = std::min(span_, 8 * shortest_lengthscale(kernel_));
  while ((*this)(high).value() > target) {  // ends at the span, where nothing is left out
    low = high;
    high = std::min(span_, 2 * high);
  }
  for (int i = 0; i < 40 && high - low > 1e-4 * high; ++i) {
    const double middle = 0.5 * (low + high);
    ((*this)(middle).value() > target ? low : high) = middle;
  }
  return high;
}

UpperBound largest_row_sum(const Kernel& kernel, const WeightedPoints& points, RowCut& cut, double far,
                           UpperBound beyond, double limit) {
  const TileKernels& tiles = tile_kernels();
  const Index n = points.n;
  double largest = 0;
  Index most_terms = 0;
  Index left = 0;   // first point within `far` of the group's first row
  Index right = 0;  // one past the last point within `far` of the group's last row
  for (Index i0 = 0; i0 < n; i0 += kRows) {
    const Index i1 = std::min(i0 + kRows, n) - 1;
    while (points.x[i0] - points.x[left] > far) ++left;
    right = std::max(right, i1 + 1);
    while (right < n && points.x[right] - points.x[i1] <= far) ++right;
    while (true) {
      double first[kRows], last[kRows], sums[kRows] = {}, worst = 0;
      for (Index r = 0; r < kRows; ++r) cut.limits(std::min(i0 + r, n - 1), first[r], last[r]);
      const auto left_end =
          static_cast<Index>(first[kRows - 1]);  // columns before it: some row leaves them out
      const Index right_begin = std::max(static_cast<Index>(last[0]) + 1, left_end);  // and from here on
      for (const Term& term : kernel.terms) {
        const auto add = [&](Index from, Index to) {
          if (from >= to) return;
          if (!can_be_banded(term)) {
            std::fill_n(sums, kRows, std::numeric_limits<double>::infinity());
            return;
          }
          tiles.tail[term.shape.index()](points.x + i0, points.x + from, from, to - from, term.variance,
                                         kShorter / term.lengthscale, points.weight + from, {first, last},
                                         sums);
        };
        add(left, left_end);
        add(right_begin, right);
      }
      most_terms =
          std::max(most_terms, std::max<Index>(0, left_end - left) + std::max<Index>(0, right - right_begin));
      for (Index r = 0; i0 + r <= i1; ++r) {
        const double sum = sums[r] * points.weight[i0 + r];
        if (!(sum <= worst) && !std::isnan(worst)) worst = sum;  // a NaN stays, and bounds nothing
      }
      if (worst + beyond.value() <= limit) {
        largest = std::max(largest, worst);
        break;
      }
      if (!cut.widen()) return UpperBound::infinite();
    }
  }
  // Summation adds one rounding a term; exp, variance and weights a few more; the exponent r²/2 ≤ 708
  // magnifies its own.
  const double ulps = static_cast<double>(most_terms) * static_cast<double>(kernel.terms.size()) + 3000;
  if (largest == 0 && most_terms == 0) return beyond;
  // The vector exp flushes below e^{−708} to 0; what that may have hidden, over n points and all terms.
  const UpperBound flushed = UpperBound::of(kernel.variance() * std::exp(-708.0)) *
                             UpperBound::of(points.largest_weight * points.largest_weight) *
                             UpperBound::exactly(static_cast<double>(n));
  return UpperBound::of(largest, largest == 0 ? 0 : ulps) +
         (std::isfinite(kernel.support()) ? UpperBound() : flushed) + beyond;
}

}  // namespace bandgp
