// SPDX-License-Identifier: Apache-2.0
#include "bandgp/basis/gaussian_grid.hpp"

#include <algorithm>
#include <cmath>

namespace bandgp {

void GaussianGrid::tabulate() {
  const int wide = 8 * design_.vectors, half_wide = 8 * design_.half_vectors;
  table_.reserve(wide);
  half_table_.reserve(half_wide);
  for (int p = 0; p < wide; ++p) {
    const double lag = p - 4.0 * design_.vectors;
    table_.data()[p] = design_.amplitude * std::exp(-design_.g * lag * lag);
  }
  for (int p = 0; p < half_wide; ++p) {
    const double lag = p - 4.0 * design_.half_vectors;
    half_table_.data()[p] = std::exp(-0.5 * design_.g * lag * lag);
  }
  const Index most = design_.bandwidth + 24;
  lags_.resize(static_cast<std::size_t>(8 + most + 1));
  slopes_.resize(lags_.size());
  for (Index k = -8; k <= most; ++k) {
    const double square = design_.g * static_cast<double>(k * k);
    const double value = design_.amplitude * design_.amplitude * std::exp(-0.5 * square);
    lags_[static_cast<std::size_t>(8 + k)] = value;
    slopes_[static_cast<std::size_t>(8 + k)] = value * (0.5 * square - 0.5);
  }
}

void GaussianGrid::couple(Index distance, std::vector<Index>& first) const {
  first.resize(static_cast<std::size_t>(nodes_));
  for (const Run& run : runs_) {
    for (Index j = run.number; j < run.last(); ++j)
      first[static_cast<std::size_t>(j)] = std::max(run.number, j - distance);
  }
}

void GaussianGrid::place(const GridDesign& design, const double* x, Index n) {
  design_ = design;
  tabulate();
  const Index padded = round_up(n, 8);
  offset_.reserve(padded);
  node_.reserve(padded);
  first_.resize(static_cast<std::size_t>(padded));
  grid_kernels().locate(x, {0, padded}, design.spacing, node_.data(), offset_.data());
  const double before = 4.0 * design.vectors, wide = 8.0 * design.vectors;
  runs_.clear();
  double shift = 0;
  for (Index i = 0; i < n; ++i) {
    const double begin = node_.data()[i] - before;
    if (runs_.empty() || begin - runs_.back().end > static_cast<double>(design.bandwidth)) {
      const Index number = runs_.empty() ? 0 : runs_.back().last();
      runs_.push_back({begin, begin + wide, number});
      shift = begin - static_cast<double>(number);
    }
    runs_.back().end = begin + wide;
    first_[static_cast<std::size_t>(i)] = static_cast<std::int32_t>(begin - shift);
  }
  for (Index i = n; i < padded; ++i) {  // weightless, but their windows must exist
    first_[static_cast<std::size_t>(i)] = first_[static_cast<std::size_t>(n - 1)];
    offset_.data()[i] = 0;
  }
  nodes_ = runs_.back().last();
}

void GaussianGrid::restore(const GridDesign& design, std::vector<Run> runs) {
  design_ = design;
  tabulate();
  runs_ = std::move(runs);
  nodes_ = runs_.empty() ? 0 : runs_.back().last();
}

GaussianGrid::Windows GaussianGrid::windows_at(std::span<const double> x) const {
  const auto count = static_cast<Index>(x.size()), padded = round_up(count, 8);
  AlignedBuffer time, offset;
  time.reserve(padded);
  offset.reserve(padded);
  std::copy(x.begin(), x.end(), time.data());
  std::fill(time.data() + count, time.data() + padded, x.empty() ? 0.0 : x.back());
  Windows result;
  result.begin.resize(static_cast<std::size_t>(padded));
  result.value.resize(static_cast<std::size_t>(padded * window()));
  grid_kernels().locate(time.data(), {0, padded}, design_.spacing, result.begin.data(), offset.data());
  GridPoints points = this->points();
  points.offset = offset.data();
  grid_kernels().windows(points, {0, padded}, result.value.data());
  for (double& begin : result.begin) begin -= 4.0 * design_.vectors;
  return result;
}

}  // namespace bandgp
