// SPDX-License-Identifier: Apache-2.0
// The gradient of A = ΦΦᵀ + B, and the entries of A⁻¹ inside the band.
#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>

#include "bandgp/base/dot.hpp"
#include "bandgp/gp/mixed_representation.hpp"
#include "bandgp/simd/dispatch.hpp"

namespace bandgp {

using simd::kBlock;
using simd::kPanel;

/// Y = L⁻ᵀV; V is 0 before its chunk.
void MixedRepresentation::solve_back(Index p, bool whole) {
  PanelBand& l = band_.matrix();
  const Range range = whole ? held(p) : felt(p);
  for (Index a = range.first, count; a < range.last; a += count) {
    double* rows[2];
    count = take_two(a, range.last, rows);
    const ColumnPanel& panel = column_panel(a);
    for (Index q = 0; q < count && kPanel * p < panel.begin; ++q)
      std::fill_n(rows[q] + kBlock * p, kBlock, 0.0);
    simd::panel_kernels().solve_rows_upper(l.panels(), rows, count, kPanel * p, kPanel * (p + 1),
                                           whole ? panel.last : panel.settled, l.inverse_diagonal());
  }
}

void MixedRepresentation::before_inversion(PanelRange range, const double* column) {
  const Index begin = kPanel * range.begin, end = kPanel * range.end;
  for (Index a = held(range.begin).first; column != nullptr && a < held(range.end - 1).last; ++a) {
    const ColumnPanel& panel = column_panel(a);
    simd::panel_kernels().add_times(panel.values, std::max(begin, panel.begin), std::min(end, panel.last),
                                    column, projected_residual_.data() + kPanel * a);
  }
  for (Index p = range.end - 1; p >= range.begin && !transposed_; --p) solve_back(p, false);
}

void MixedRepresentation::measure_back(Index p) {
  const Envelope& band = band_.envelope();
  PanelBand& l = band_.matrix();
  double row[kPanel] = {};
  const Index after = kPanel * (band.last_panel(p) + 1);
  auto at = std::ranges::upper_bound(columns_, kPanel * p, {}, &ColumnPanel::first);
  for (; at != columns_.end() && at->first < after; ++at) {
    for (Index c = 0; c < kPanel; ++c) {
      double sum[kPanel] = {};
      for (Index j = at->first; j < std::min(after, at->last); ++j) {
        if (kPanel * p < band.panel_first()[j / kPanel]) break;
        const double entry = l.column(j / kPanel, kPanel * p + c)[j % kPanel];
        for (Index r = 0; r < kPanel; ++r) sum[r] += entry * at->values[kPanel * j + r];
      }
      for (Index r = 0; r < kPanel; ++r) row[c] += at->norm[r] * std::abs(sum[r]);
    }
  }
  back_square_ += dot(row, row, kPanel);
}

/// Predictions need all of Y, and their bounds hold for what was held: if that is not far enough, B is
/// factored again, with the columns as they came, whose solutions stand.
std::optional<Failure> MixedRepresentation::whiten_back() {
  for (Index attempt = 1; !transposed_; ++attempt) {
    back_square_ = 0;
    for (Index p = band_.envelope().panels() - 1; p >= 0; --p) {
      solve_back(p, true);
      if (p > 0) measure_back(p - 1);
    }
    transposed_ = reaches_back();
    if (transposed_) break;
    hold_farther(back_extension_, attempt);
    choose_extensions();  // the chunks stay as they were certified
    lay_out_columns();
    if (auto failure = too_large(doubles())) return failure;
    AlignedBuffer columns;
    columns.reserve(given_columns_ * given_stride_);
    std::copy_n(given_.data(), given_columns_ * given_stride_, columns.data());
    if (auto failure = factor({columns.data(), given_columns_, given_stride_})) return failure;
  }
  return std::nullopt;
}

void MixedRepresentation::mirror_inverse() {
  inversion_.start(matrix_, matrix_);
  inversion_.run(matrix_.all());
  mirror_start_.resize(static_cast<std::size_t>(envelope_.panels()));
  Index blocks = 0;
  for (Index q = 0; q < envelope_.panels(); ++q) {
    mirror_start_[static_cast<std::size_t>(q)] = blocks - q;
    blocks += envelope_.last_panel(q) - q + 1;
  }
  mirror_.reserve(kBlock * blocks);
  for (Index q = 0; q < envelope_.panels(); ++q) {
    for (Index r = q; r <= envelope_.last_panel(q); ++r) {
      simd::panel_kernels().transpose(
          matrix_.column(r, kPanel * q),
          mirror_.data() + kBlock * (mirror_start_[static_cast<std::size_t>(q)] + r));
    }
  }
}

/// Block (q, r) of S, column by column; M's envelope holds it for nodes whose chunks meet.
const double* MixedRepresentation::inverse_block(Index q, Index r) {
  return q >= r ? matrix_.column(q, kPanel * r)
                : mirror_.data() + kBlock * (mirror_start_[static_cast<std::size_t>(q)] + r);
}

void MixedRepresentation::take_slopes() {
  slopes_of_c_.reserve(kBlock * blocks_);
  expand(true, slopes_of_c_.data());
  alignas(64) double rows[kBlock];
  for (Index block = 0; block < blocks_; ++block) {
    double* columns = slopes_of_c_.data() + kBlock * block;
    std::copy_n(columns, kBlock, rows);
    simd::panel_kernels().transpose(rows, columns);
  }
}

/// Σ N_ab ∘ (C'SCᵀ)_ab; x_ holds the blocks of SCᵀ at b's columns for the nodes of a.
void MixedRepresentation::add_slopes(Index a, Index b) {
  const Index later = std::max(a, b), earlier = std::min(a, b);
  if (kPanel * earlier < gram_envelope_.panel_first()[later]) return;
  alignas(64) double turned[kBlock], product[kBlock];
  const double* gram = gram_block(a, b, turned);
  const ColumnPanel& panel = column_panel(a);
  const std::vector<Index>& nodes = nodes_of(panel).panels;
  for (std::size_t t = 0; t < long_.size(); ++t) {
    slope_x_.clear();
    slope_y_.clear();
    for (std::size_t k = 0; k < nodes.size(); ++k) {
      if (panels_[static_cast<std::size_t>(nodes[k])].term != t) continue;
      slope_x_.push_back(slopes_of_c_.data() + kBlock * block_of(panel, k));
      slope_y_.push_back(x_[k]);
    }
    sum_outers(slope_x_, slope_y_, product);
    slope_sums_[t] += dot(gram, product, kBlock);
  }
}

/// S = M⁻¹ and −Σ = −CSCᵀ between the panels of columns that meet; and, where slopes are asked for, what N
/// adds to them: tr(SΦᵀB⁻¹Ψ) = Σ_ab N_ab (C'SCᵀ)_ab, with Ψ = WC'.
void MixedRepresentation::start_corrections(bool with_slopes) {
  mirror_inverse();
  sigma_.reserve(kBlock * pairs_);
  std::vector<Index> needed;
  for (Index b = 0; b < std::ssize(columns_); ++b) {
    const ColumnPanel& panel = column_panel(b);
    // SCᵀ at the columns of b, for all nodes that the panels it meets see.
    needed.clear();
    for (Index a = panel.low; a < panel.high; a += chunk_of(column_panel(a)).panels) {
      const std::vector<Index>& nodes = nodes_of(column_panel(a)).panels;
      needed.insert(needed.end(), nodes.begin(), nodes.end());
    }
    std::ranges::sort(needed);
    needed.erase(std::ranges::unique(needed).begin(), needed.end());
    step_.reserve(kBlock * std::ssize(needed));
    const std::vector<Index>& own = nodes_of(panel).panels;
    for (std::size_t i = 0; i < needed.size(); ++i) {
      x_.clear();
      y_.clear();
      for (std::size_t k = 0; k < own.size(); ++k) {
        x_.push_back(columns_of_c_.data() + kBlock * block_of(panel, k));
        y_.push_back(inverse_block(needed[i], own[k]));
      }
      sum_outers(x_, y_, step_.data() + kBlock * static_cast<Index>(i));
    }
    for (Index a = panel.low; a < panel.high; ++a) {
      const ColumnPanel& other = column_panel(a);
      const std::vector<Index>& nodes = nodes_of(other).panels;
      x_.clear();
      y_.clear();
      std::size_t i = 0;
      for (std::size_t k = 0; k < nodes.size(); ++k) {
        while (needed[i] != nodes[k]) ++i;
        x_.push_back(step_.data() + kBlock * static_cast<Index>(i));
        y_.push_back(columns_of_c_.data() + kBlock * block_of(other, k));
      }
      double* sigma = sigma_.data() + kBlock * (panel.sigma + a - panel.low);
      sum_outers(x_, y_, sigma);
      for (Index e = 0; e < kBlock; ++e) sigma[e] = -sigma[e];
      if (with_slopes) add_slopes(a, b);
    }
  }
  // A power of two: 3 divisions for every pair of blocks were a hundredth of an evaluation.
  ring_ = static_cast<Index>(std::bit_ceil(static_cast<std::size_t>(band_.envelope().window() + 1)));
  most_held_ = 1;
  Index widest = 1;
  for (Index p = 0; p < std::ssize(felt_); ++p) {
    most_held_ = std::max(most_held_, felt(p).last - felt(p).first);
    widest = std::max(widest, felt(band_.envelope().last_panel(p)).last - felt(p).first);
  }
  transposed_y_.reserve(kBlock * most_held_ * ring_);
  product_.reserve(kBlock * widest);
}

/// First −YΣ at the points of panel j, as blocks for every panel of columns that a point of the band's column
/// j sees; then B⁻¹ and that times Yᵀ.  Blocks of Yᵀ stay in a ring as long as the band looks back at them.
void MixedRepresentation::correct(Index j, Index last, double* blocks) {
  const simd::PanelKernels& kernels = simd::panel_kernels();
  const auto transposed = [&](Index i) {
    return transposed_y_.data() + kBlock * most_held_ * (i & (ring_ - 1));
  };
  const Range own = felt(j);
  const Index size = kPanel * (own.last - own.first), end = felt(last).last;
  const double* const here = transposed(j);
  for (Index b = own.first; b < own.last; ++b)
    kernels.transpose(column_panel(b).values + kBlock * j, transposed(j) + kBlock * (b - own.first));
  std::fill_n(product_.data(), kBlock * (end - own.first), 0.0);
  for (Index a = own.first; a < end; ++a) {
    const ColumnPanel& panel = column_panel(a);
    double* const product = product_.data() + kBlock * (a - own.first);
    kernels.add_outer(&here, 1, sigma_.data() + kBlock * (panel.sigma + own.first - panel.low), 0, size,
                      &product, &product);
  }
  for (Index i = j, count; i <= last; i += count) {
    const Range rows = felt(i);
    count = i < last && felt(i + 1).first == rows.first && felt(i + 1).last == rows.last ? 2 : 1;
    const double* const x[2] = {transposed(i), transposed(i + 1)};
    const double* const inverse[2] = {band_.matrix().column(i, kPanel * j),
                                      band_.matrix().column(i + count - 1, kPanel * j)};
    double* const to[2] = {blocks + kBlock * (i - j), blocks + kBlock * (i + 1 - j)};
    kernels.add_outer(x, count, product_.data() + kBlock * (rows.first - own.first), 0,
                      kPanel * (rows.last - rows.first), inverse, to);
  }
}

void MixedRepresentation::gradient(RightHandSides b, const double* noise_slope, std::span<double> out) {
  assert(!transposed_ && b.columns == 1);
  const double* column = b.data;
  const double* w = column + behind();
  slope_sums_.assign(long_.size(), 0.0);
  take_slopes();
  start_corrections(true);
  projected_residual_.reserve(gram_envelope_.padded_size());
  std::fill_n(projected_residual_.data(), gram_envelope_.padded_size(), 0.0);
  band_gradient_.resize(short_kernel_.parameter_count() + 1);
  band_.gradient(b, noise_slope, band_gradient_);
  for (Index a = 0; a < std::ssize(columns_); ++a) {  // − αᵀΨw = − (Vᵀr')ᵀC'w
    const ColumnPanel& panel = column_panel(a);
    const std::vector<Index>& nodes = nodes_of(panel).panels;
    for (std::size_t k = 0; k < nodes.size(); ++k) {
      alignas(64) double slope[kPanel] = {};
      simd::panel_kernels().add_times(slopes_of_c_.data() + kBlock * block_of(panel, k), 0, kPanel,
                                      w + kPanel * nodes[k], slope);
      slope_sums_[panels_[static_cast<std::size_t>(nodes[k])].term] -=
          dot(projected_residual_.data() + kPanel * a, slope, kPanel);
    }
  }
  std::fill(out.begin(), out.end(), 0.0);
  for (std::size_t t = 0; t < short_index_.size(); ++t) {
    const auto from = band_gradient_.begin() + static_cast<Index>(short_kernel_.first_parameter(t));
    std::copy_n(from, short_kernel_.terms[t].parameters().size(),
                out.begin() + static_cast<Index>(kernel_->first_parameter(short_index_[t])));
  }
  out.back() = band_gradient_.back();
  for (std::size_t q = 0; q < panels_.size(); ++q) {
    const NodePanel& panel = panels_[q];
    double& by_variance = out[kernel_->parameter_index(long_[panel.term].index, &Term::variance)];
    for (Index r = 0; r < panel.count; ++r) {
      const Index row = kPanel * static_cast<Index>(q) + r;
      by_variance += 0.5 * (1 - matrix_(row, row)) - 0.5 * w[row] * w[row];
    }
  }
  for (std::size_t t = 0; t < long_.size(); ++t)
    out[kernel_->parameter_index(long_[t].index, &Term::lengthscale)] = slope_sums_[t];
}

void MixedRepresentation::inverse_diagonal(std::span<double> out) {
  start_corrections(false);
  band_.inverse_diagonal(out);
}

}  // namespace bandgp
