// SPDX-License-Identifier: Apache-2.0
// Predictions from A = ΦΦᵀ + B.
#include <algorithm>
#include <cmath>
#include <new>

#include "bandgp/gp/mixed_representation.hpp"
#include "bandgp/kernel/tiles.hpp"
#include "bandgp/simd/dispatch.hpp"

namespace bandgp {

using simd::kBlock;
using simd::kPanel;

std::vector<GaussianGrid::Windows> MixedRepresentation::windows_at(std::span<const double> x) const {
  std::vector<GaussianGrid::Windows> windows;
  windows.reserve(long_.size());
  for (const LongTerm& term : long_) windows.push_back(term.grid.windows_at(x));
  return windows;
}

MixedRepresentation::Stretch MixedRepresentation::load_tests(std::span<const double> x,
                                                             std::span<const GaussianGrid::Windows> windows,
                                                             Index from, Index count, double* missing) {
  const double* time = points_->time();
  const Index n = points_->size();
  const auto at = [&](Index t) { return x[static_cast<std::size_t>(from + t)]; };
  // Points within reach of any of the tests, and the nodes that those points or the tests' own windows see.
  const double reach = band_.prediction_reach();
  const Index low = round_down(std::lower_bound(time, time + n, at(0) - reach) - time, kPanel);
  const Index high =
      std::min(behind(), round_up(std::upper_bound(time, time + n, at(count - 1) + reach) - time, kPanel));
  Stretch stretch{envelope_.panels(), 0};
  const auto touch = [&](Index q) {
    stretch.begin = std::min(stretch.begin, q);
    stretch.end = std::max(stretch.end, q + 1);
  };
  const bool has_short = !cross_kernel_.terms.empty() && low < high;
  const Range seen = has_short ? Range{held(low / kPanel).first, held(high / kPanel - 1).last} : Range{0, 0};
  for (Index a = seen.first; a < seen.last; ++a) {
    touch(nodes_of(column_panel(a)).panels.front());
    touch(nodes_of(column_panel(a)).panels.back());
  }
  struct Node {
    Index row, test;
    double value;
  };
  std::vector<Node> nodes;
  for (Index t = 0; t < kPanel; ++t) missing[t] = 0;
  for (std::size_t l = 0; l < long_.size(); ++l) {
    if ((predicted_ >> long_[l].index & 1U) == 0) continue;
    const GaussianGrid& grid = long_[l].grid;
    for (Index t = 0; t < count; ++t) {
      const double* value = windows[l].value.data() + (from + t) * grid.window();
      grid.split_window(
          windows[l].begin[static_cast<std::size_t>(from + t)],
          [&](Index p, Index length, Index number) {
            for (Index i = 0; i < length; ++i) {
              const Index row = long_[l].row[static_cast<std::size_t>(number + i)];
              nodes.push_back({row, t, value[p + i]});
              touch(row / kPanel);
            }
          },
          [&](Index p, Index length) {
            for (Index i = p; i < p + length; ++i) missing[t] += value[i] * value[i];
          });
    }
  }
  if (stretch.begin >= stretch.end) return {0, 0};
  forward_.clear(stretch.begin, stretch.end);
  for (const Node& node : nodes) forward_.column(node.test)[node.row] += node.value;
  if (!has_short) return stretch;
  alignas(64) double tests[kPanel];
  for (Index t = 0; t < kPanel; ++t) tests[t] = at(std::min(t, count - 1));
  AlignedBuffer cross;
  cross.reserve(kPanel * (high - low));
  fill_covariance(cross_kernel_, tests, time + low, high - low, cross.data());
  for (Index i = low; i < high; ++i) {
    for (Index t = 0; t < kPanel; ++t) {
      if (i >= n || std::abs(tests[t] - time[i]) > reach) cross.data()[kPanel * (i - low) + t] = 0;
    }
  }
  alignas(64) double block[kBlock];
  for (Index a = seen.first; a < seen.last; ++a) {
    const ColumnPanel& panel = column_panel(a);
    const Index begin = std::max(low, panel.first), end = std::min(high, panel.last);
    if (begin >= end) continue;
    std::fill_n(block, kBlock, 0.0);
    double* const to = block;
    simd::panel_kernels().add_outer(&panel.values, 1, cross.data() - kPanel * low, begin, end, &to, &to);
    for (double& entry : block) entry = -entry;
    for (Index t = 0; t < count; ++t)
      add_coefficients_transposed(panel, block + kPanel * t, forward_.column(t));
  }
  return stretch;
}

/// mean φ*ᵀw + κᵀα, variance pᵀSp + k_short(0) − κᵀB⁻¹κ.
std::optional<Failure> MixedRepresentation::predict(std::span<const double> x, unsigned terms,
                                                    RightHandSides solved, double* projection,
                                                    double* variance) {
  const auto count = static_cast<Index>(x.size());
  unsigned short_terms = 0;
  for (std::size_t t = 0; t < short_index_.size(); ++t) short_terms |= (terms >> short_index_[t] & 1U) << t;
  predicted_ = terms;
  cross_kernel_ = short_kernel_.subset(short_terms);
  if (auto failure = band_.predict(x, short_terms, solved, projection, variance)) return failure;
  if (count == 0) return std::nullopt;
  const std::vector<GaussianGrid::Windows> windows = windows_at(x);
  for (std::size_t l = 0; l < long_.size(); ++l) {
    if ((predicted_ >> long_[l].index & 1U) == 0) continue;
    const GaussianGrid& grid = long_[l].grid;
    for (Index t = 0; t < count; ++t) {
      const double* value = windows[l].value.data() + t * grid.window();
      grid.split_window(
          windows[l].begin[static_cast<std::size_t>(t)],
          [&](Index p, Index length, Index number) {
            for (Index i = 0; i < length; ++i) {
              const Index row = long_[l].row[static_cast<std::size_t>(number + i)];
              for (Index c = 0; c < solved.columns; ++c)
                projection[c * count + t] += value[p + i] * solved.data[c * solved.stride + behind() + row];
            }
          },
          [](Index, Index) {});
    }
  }
  if (variance == nullptr) return std::nullopt;
  if (auto failure = whiten_back()) return failure;
  forward_.start(matrix_, largest_);
  alignas(64) double squares[kPanel], missing[kPanel];
  for (Index from = 0; from < count; from += kPanel) {
    const Index tests = std::min(kPanel, count - from);
    const Stretch stretch = load_tests(x, windows, from, tests, missing);
    std::fill_n(squares, kPanel, 0.0);
    if (stretch.begin < stretch.end) forward_.run(stretch.begin, stretch.end, squares);
    for (Index t = 0; t < tests; ++t) variance[from + t] += squares[t] + missing[t];
  }
  return std::nullopt;
}

void MixedRepresentation::covariance(std::span<const double> x, double* out) {
  const auto count = static_cast<Index>(x.size());
  if (count == 0) return;
  predicted_ = kAllTerms;
  cross_kernel_ = short_kernel_;
  band_.covariance(x, out);
  if (whiten_back()) throw std::bad_alloc();
  forward_.start(matrix_, largest_);
  const std::vector<GaussianGrid::Windows> windows = windows_at(x);
  const Index rows = envelope_.padded_size();
  // L_M⁻¹p of every test point, whole; their products are the covariance of the long terms.
  AlignedBuffer whole;
  whole.reserve(rows * round_up(count, kPanel));
  std::fill_n(whole.data(), rows * round_up(count, kPanel), 0.0);
  alignas(64) double missing[kPanel];
  for (Index from = 0; from < count; from += kPanel) {
    const Index tests = std::min(kPanel, count - from);
    const Stretch stretch = load_tests(x, windows, from, tests, missing);
    for (Index t = 0; t < tests; ++t) {
      double* column = whole.data() + rows * (from + t);
      for (Index i = kPanel * stretch.begin; i < kPanel * stretch.end; ++i) column[i] = forward_.column(t)[i];
      solve_lower(matrix_, matrix_.all(), {column, 1, 0});
    }
  }
  for (Index s = 0; s < count; ++s) {
    for (Index t = 0; t <= s; ++t) {
      const double *a = whole.data() + rows * s, *b = whole.data() + rows * t;
      double sum = 0;
      for (Index i = 0; i < rows; ++i) sum += a[i] * b[i];
      sum += missing_overlap(windows, s, t);
      out[s * count + t] += sum;
      if (s != t) out[t * count + s] += sum;
    }
  }
}

/// Σ φφ' over the nodes of both windows that no data touch: their prior is their posterior.
double MixedRepresentation::missing_overlap(std::span<const GaussianGrid::Windows> windows, Index s,
                                            Index t) const {
  double sum = 0;
  for (std::size_t l = 0; l < long_.size(); ++l) {
    const GaussianGrid& grid = long_[l].grid;
    const double a = windows[l].begin[static_cast<std::size_t>(s)],
                 b = windows[l].begin[static_cast<std::size_t>(t)];
    if (std::abs(b - a) >= static_cast<double>(grid.window())) continue;
    const auto shift = static_cast<Index>(b - a);  // the other window begins this much later
    const double *value = windows[l].value.data() + s * grid.window(),
                 *other = windows[l].value.data() + t * grid.window() - shift;
    const Index from = std::max<Index>(0, shift), to = grid.window() + std::min<Index>(0, shift);
    grid.split_window(
        a, [](Index, Index, Index) {},
        [&](Index p, Index length) {
          for (Index i = std::max(p, from); i < std::min(p + length, to); ++i) sum += value[i] * other[i];
        });
  }
  return sum;
}

}  // namespace bandgp
