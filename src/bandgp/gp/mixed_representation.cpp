// SPDX-License-Identifier: Apache-2.0
#include "bandgp/gp/mixed_representation.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "bandgp/band/residual.hpp"
#include "bandgp/base/dot.hpp"
#include "bandgp/base/normal_at.hpp"
#include "bandgp/gp/global_columns.hpp"
#include "bandgp/simd/dispatch.hpp"

namespace bandgp {

using simd::kBlock;
using simd::kPanel;

namespace {
/// What may be left of Y where it is cut, relative to it: 10ρ within these, but no less than ρ, as much as
/// B's own cut leaves of its inverse.
constexpr double kLeastDecayed = 1e-12, kMostDecayed = 1e-9;
}  // namespace

/// V ends with its panel's last point, although L⁻¹W does not: what is used is V of Ŵ = LV, whose rows behind
/// the end are R = Σ_c L_ic V_c instead of 0.  A row of RC is no longer than Σ |R_im|‖C_m‖ over the columns
/// m.
void MixedRepresentation::measure_cut(Index p) {
  const Index from = band_.envelope().panel_first()[p];
  PanelBand& l = band_.matrix();
  alignas(64) double block[kBlock];
  const double* const rows = l.column(p, 0);
  double* const to = block;
  Index ended = 0;
  while (column_panel(still_felt_).last <= from) ++still_felt_;
  auto at = columns_.begin() + still_felt_;
  while (at != columns_.end() && at->last <= kPanel * p) {
    const Index chunk = at->chunk;
    double row[kPanel] = {};
    for (; at != columns_.end() && at->chunk == chunk; ++at) {
      std::fill_n(block, kBlock, 0.0);
      simd::panel_kernels().add_outer(&rows, 1, at->values, std::max(from, at->begin), at->last, &to, &to);
      for (Index e = 0; e < kBlock; ++e) row[e % kPanel] += std::abs(block[e]) * at->norm[e / kPanel];
    }
    for (Index i = 0; i < kPanel; ++i) {
      const double weighted = points_->weight()[kPanel * p + i] * row[i];
      cut_squares_[static_cast<std::size_t>(chunk)] += weighted * weighted;
    }
    ++ended;
  }
  most_ended_ = std::max(most_ended_, ended);
}

/// With u_c for what chunk c makes of an x: a row sees most_ended_ of them at most, so ‖Σu_c‖² is no more
/// than that many times Σ‖u_c‖²; and a node is seen by most_seeing_ chunks, so Σ‖x_c‖² is no more than that
/// many times ‖x‖².
double MixedRepresentation::cut_error() const {
  const double largest = cut_squares_.empty() ? 0 : std::ranges::max(cut_squares_);
  return std::sqrt(static_cast<double>(most_ended_ * most_seeing_) * largest);
}

Index MixedRepresentation::take_two(Index a, Index end, double** rows) {
  const bool two = a + 1 < end && column_panel(a + 1).chunk == column_panel(a).chunk;
  rows[0] = column_panel(a).values;
  rows[1] = two ? column_panel(a + 1).values : rows[0];
  return two ? 2 : 1;
}

/// V = L⁻¹W at the points of `range`, and what they add to N = VᵀV and to Vᵀ(L⁻¹b).
void MixedRepresentation::after_factor(PanelRange range, RightHandSides b) {
  const simd::PanelKernels& kernels = simd::panel_kernels();
  PanelBand& l = band_.matrix();
  for (Index p = range.begin; p < range.end; ++p) {
    for (Index a = held(p).first, count; a < held(p).last && column_panel(a).begin <= kPanel * p;
         a += count) {
      double* rows[2];
      count = take_two(a, held(p).last, rows);
      const ColumnPanel& panel = column_panel(a);
      double* const blocks[2] = {rows[0] + kBlock * p, rows[1] + kBlock * p};
      if (kPanel * p < panel.end)
        polynomials_.fill(chunk_of(panel), panel.part, count, p, points_->time(), points_->size(), blocks);
      else
        for (Index q = 0; q < count; ++q) std::fill_n(blocks[q], kBlock, 0.0);
      kernels.solve_rows(l.panels(), rows, count, panel.begin, kPanel * p, kPanel * (p + 1),
                         l.inverse_diagonal());
      if (kPanel * p >= panel.settled && kPanel * p < panel.settled + 2 * kPanel) {
        for (Index e = 0; e < kBlock * count; ++e)
          decay_ = std::max(decay_, std::abs(blocks[e / kBlock][e % kBlock]) /
                                        l.inverse_diagonal()[kPanel * p + e % kBlock / kPanel]);
      }
    }
    measure_cut(p);
  }
  const Index begin = kPanel * range.begin, end = kPanel * range.end, rows = gram_envelope_.padded_size();
  for (Index a = held(range.begin).first, count; a < held(range.end - 1).last; a += count) {
    double* values[2];
    count = take_two(a, held(range.end - 1).last, values);
    const ColumnPanel& panel = column_panel(a);
    const Index from = std::max(begin, panel.begin), to = std::min(end, panel.last);
    if (from >= to) continue;
    for (Index other = gram_envelope_.panel_first()[a] / kPanel; other < a + count; ++other) {
      const Index until = std::min(to, column_panel(other).last);
      const Index above = other > a ? 1 : 0;  // of the diagonal: only the second panel has a block there
      double* const blocks[2] = {gram_.column(a, kPanel * std::min(a, other)),
                                 gram_.column(a + count - 1, kPanel * other)};
      if (from < until)
        kernels.add_outer(values + above, count - above, column_panel(other).values, from, until,
                          blocks + above, blocks + above);
    }
    for (Index e = 0; e < count * b.columns; ++e)
      kernels.add_times(values[e % count], from, to, b.data + e / count * b.stride,
                        projected_.data() + e / count * rows + kPanel * (a + e % count));
  }
}

const double* MixedRepresentation::gram_block(Index a, Index b, double* scratch) {
  if (a >= b) return gram_.column(a, kPanel * b);
  simd::panel_kernels().transpose(gram_.column(b, kPanel * a), scratch);
  return scratch;
}

void MixedRepresentation::sum_outers(const std::vector<const double*>& x, const std::vector<const double*>& y,
                                     double* block) {
  std::fill_n(block, kBlock, 0.0);
  simd::panel_kernels().add_outers(x.data(), y.data(), std::ssize(x), block);
}

/// M = I + CᵀNC, by panels: NC at a panel's columns, for all nodes that its neighbours see, then Cᵀ(NC); and
/// CᵀVᵀ(L⁻¹b).
void MixedRepresentation::add_nodes(RightHandSides b) {
  const simd::PanelKernels& kernels = simd::panel_kernels();
  matrix_.shape(envelope_);
  std::fill_n(matrix_.column(0, 0), envelope_.doubles(), 0.0);
  for (Index j = 0; j < envelope_.padded_size(); ++j) matrix_(j, j) = 1;
  const Index rows = gram_envelope_.padded_size();
  for (Index c = 0; c < b.columns; ++c) {
    double* w = b.data + c * b.stride + behind();
    std::fill_n(w, envelope_.padded_size(), 0.0);
    for (Index a = 0; a < std::ssize(columns_); ++a)
      add_coefficients_transposed(column_panel(a), projected_.data() + c * rows + kPanel * a, w);
  }
  alignas(64) double product[kBlock];
  std::vector<Index> next;  // for every neighbour, its first panel of nodes that has not been met
  for (Index a = 0; a < std::ssize(columns_); ++a) {
    const ColumnPanel& own = column_panel(a);
    const Index first = gram_envelope_.panel_first()[a] / kPanel, last = gram_envelope_.last_panel(a);
    step_.reserve(kBlock * (last - first + 1));
    gram_row_.clear();
    for (Index other = first; other <= last; ++other)
      gram_row_.push_back(gram_block(a, other, step_.data() + kBlock * (other - first)));
    next.assign(static_cast<std::size_t>(last - first + 1), 0);
    while (true) {
      Index r = envelope_.panels();
      for (Index other = first; other <= last; ++other) {
        const std::vector<Index>& nodes = nodes_of(column_panel(other)).panels;
        const auto at = static_cast<std::size_t>(next[static_cast<std::size_t>(other - first)]);
        if (at < nodes.size()) r = std::min(r, nodes[at]);
      }
      if (r == envelope_.panels()) break;
      x_.clear();
      y_.clear();
      for (Index other = first; other <= last; ++other) {
        const std::vector<Index>& nodes = nodes_of(column_panel(other)).panels;
        Index& at = next[static_cast<std::size_t>(other - first)];
        if (at >= std::ssize(nodes) || nodes[static_cast<std::size_t>(at)] != r) continue;
        x_.push_back(rows_of_c_.data() +
                     kBlock * block_of(column_panel(other), static_cast<std::size_t>(at++)));
        y_.push_back(gram_row_[static_cast<std::size_t>(other - first)]);
      }
      sum_outers(x_, y_, product);  // (NC)(a, r), row by row
      const std::vector<Index>& nodes = nodes_of(own).panels;
      for (std::size_t k = 0; k < nodes.size(); ++k) {
        if (nodes[k] < r) continue;
        const double* const x = rows_of_c_.data() + kBlock * block_of(own, k);
        double* const to = matrix_.column(nodes[k], kPanel * r);
        kernels.add_outer(&x, 1, product, 0, kPanel, &to, &to);
      }
    }
  }
}

/// B = LLᵀ, V and N in one go over the panels.
std::optional<Failure> MixedRepresentation::factor_parts(RightHandSides b) {
  transposed_ = false;
  back_square_ = decay_ = 0;
  cut_squares_.assign(nodes_.size(), 0.0);
  most_ended_ = still_felt_ = 0;
  take_coefficients();
  gram_.shape(gram_envelope_);
  std::fill_n(gram_.column(0, 0), gram_envelope_.doubles(), 0.0);
  const Index rows = gram_envelope_.padded_size();
  projected_.reserve(b.columns * rows);
  std::fill_n(projected_.data(), b.columns * rows, 0.0);
  if (auto failure = band_.factor(b)) return failure;  // calls after_factor() as it goes
  decay_ = std::max(decay_, measure_decay());
  return std::nullopt;
}

/// Y cannot be measured before it is there; B⁻¹ dies away alike in both directions, and one vector of random
/// signs sees the slowest of its modes.
double MixedRepresentation::measure_decay() {
  const Envelope& band = band_.envelope();
  PanelBand& l = band_.matrix();
  probe_.reserve(behind());
  double* t = probe_.data();
  double most = 0;
  for (Index a = 0; a < std::ssize(columns_); a += chunk_of(column_panel(a)).panels) {
    const ColumnPanel& panel = column_panel(a);
    if (panel.first == 0) continue;
    const Index end = std::min(behind(), kPanel * (band.last_panel(panel.begin / kPanel) + 1));
    std::fill(t + std::max<Index>(0, panel.first - 2 * kPanel), t + panel.begin, 0.0);
    for (Index i = panel.begin; i < end; ++i) t[i] = sign_at(1, i);
    const Index lowest = std::max<Index>(0, panel.first / kPanel - 2);
    for (Index p = panel.begin / kPanel - 1; p >= lowest; --p)
      simd::panel_kernels().solve_upper(l.panels(), p, band.last_panel(p), l.inverse_diagonal(), t, 1, 0);
    for (Index i = kPanel * lowest; i < panel.first; ++i) most = std::max(most, std::abs(t[i]));
  }
  return most;
}

/// A little at first, then as far as the band at least, and more and more.
void MixedRepresentation::hold_farther(Extension& extension, Index attempt) const {
  const double least = 8 * points_->span() / static_cast<double>(points_->size());
  const double to = std::max(least, attempt > 1 ? band_.reach() : 0.0);
  extension.growth *= std::max(std::pow(1.5, attempt), to / extension.distance);
}

bool MixedRepresentation::reaches_back() const {
  const double rho = band_.rho().value();
  const bool fits = decay_ <= std::max(rho, std::clamp(10 * rho, kLeastDecayed, kMostDecayed)) &&
                    std::sqrt(back_square_) <= share_;
  return fits || !(back_extension_.distance < points_->span());
}

MixedRepresentation::Squares MixedRepresentation::squares_of(RightHandSides b) const {
  ColumnWeights mean;
  weigh_columns(b, b.stride, 0, mean);
  const auto square = [&](Index begin, Index end) {  // of y − Hβ
    double sum = 0;
    for (Index i = begin; i < end; ++i) {
      double rest = b.data[i];
      for (Index c = 0; c < mean.count; ++c)
        rest -= mean.beta[static_cast<std::size_t>(c)] * b.data[(c + 1) * b.stride + i];
      sum += rest * rest;
    }
    return sum;
  };
  return {square(0, behind()), square(behind(), reduced_size())};
}

bool MixedRepresentation::suits(RightHandSides b) {
  seen_ = squares_of(b);
  const double all = allowance(*seen_), rho = band_.rho().value();
  const bool ends_within_band =
      !past_band_ && rho > 0 && forward_extension_.distance < kPastBand * band_.reach();
  if (ends_within_band) left_per_rho_ = cut_error() / rho;
  // Written so that NaN, from data that have overflowed, ends it.
  const bool share_fits = !(share_ > 1.2 * kSharePart * all);
  const bool cut_fits = !(cut_error() > kCutPart * all) || !(forward_extension_.distance < points_->span());
  if (share_fits && cut_fits && reaches_back()) return true;
  share_ = std::min(share_, kSharePart * all);
  if (!cut_fits && !ends_within_band) hold_farther(forward_extension_, attempts_);
  if (!reaches_back()) hold_farther(back_extension_, attempts_);
  lay_out();
  return false;
}

std::optional<Failure> MixedRepresentation::factor(RightHandSides b) {
  given_.reserve(b.columns * b.stride);
  given_columns_ = b.columns;
  given_stride_ = b.stride;
  std::copy_n(b.data, b.columns * b.stride, given_.data());
  for (attempts_ = 1;; ++attempts_) {
    if (auto failure = factor_parts(b)) return failure;
    if (auto failure = solve_nodes(b)) return failure;
    if (suits(b)) return std::nullopt;
    if (auto failure = too_large(doubles())) return failure;
    std::copy_n(given_.data(), b.columns * b.stride, b.data);
  }
}

/// M, its factor, and with it w and r' of every column.
std::optional<Failure> MixedRepresentation::solve_nodes(RightHandSides b) {
  add_nodes(b);
  largest_ = 0;
  for (Index j = 0; j < envelope_.padded_size(); ++j) largest_ = std::max(largest_, matrix_(j, j));
  if (const auto bad = factorize(matrix_, matrix_.all()))
    return Failure{Failure::Kind::not_positive_definite, bad->row};
  const Index rows = envelope_.padded_size();
  const RightHandSides w{b.data + behind(), b.columns, b.stride};
  solve(matrix_, w);
  subtract_basis(w, b);
  step_.reserve(rows);
  for (Index c = 0; c < b.columns && largest_ > kRefineFrom; ++c) {
    // w ← w + M⁻¹(CᵀVᵀr' − w): w = CᵀVᵀr' at the solution.
    double *column = b.data + c * b.stride, *step = step_.data();
    for (Index j = 0; j < rows; ++j) step[j] = -column[behind() + j];
    add_transposed(column, step);
    solve(matrix_, {step, 1, 0});
    for (Index j = 0; j < rows; ++j) column[behind() + j] += step[j];
    subtract_basis({step, 1, 0}, {column, 1, 0});
  }
  return std::nullopt;
}

void MixedRepresentation::subtract_basis(RightHandSides w, RightHandSides columns) {
  for (const ColumnPanel& panel : columns_) {
    const std::vector<Index>& nodes = nodes_of(panel).panels;
    for (Index c = 0; c < columns.columns; ++c) {
      alignas(64) double z[kPanel] = {};
      for (std::size_t k = 0; k < nodes.size(); ++k)
        simd::panel_kernels().add_times(columns_of_c_.data() + kBlock * block_of(panel, k), 0, kPanel,
                                        w.data + c * w.stride + kPanel * nodes[k], z);
      simd::panel_kernels().subtract_transposed(panel.values, panel.begin, panel.last, z,
                                                columns.data + c * columns.stride);
    }
  }
}

void MixedRepresentation::add_coefficients_transposed(const ColumnPanel& panel, const double* z,
                                                      double* w) const {
  const std::vector<Index>& nodes = nodes_of(panel).panels;
  for (std::size_t k = 0; k < nodes.size(); ++k)
    simd::panel_kernels().add_times(rows_of_c_.data() + kBlock * block_of(panel, k), 0, kPanel, z,
                                    w + kPanel * nodes[k]);
}

void MixedRepresentation::add_transposed(const double* column, double* w) {
  for (const ColumnPanel& panel : columns_) {
    alignas(64) double z[kPanel] = {};
    simd::panel_kernels().add_times(panel.values, panel.begin, panel.last, column, z);
    add_coefficients_transposed(panel, z, w);
  }
}

/// L⁻¹(b − Φw̃) = r' − VC L_M⁻ᵀε.
void MixedRepresentation::whiten(double* column, std::uint64_t seed) {
  assert(!transposed_);
  AlignedBuffer spread;
  spread.reserve(envelope_.padded_size());
  for (Index j = 0; j < envelope_.padded_size(); ++j) spread.data()[j] = normal_at(seed, j);
  solve_upper(matrix_, matrix_.all(), {spread.data(), 1, 0});
  subtract_basis({spread.data(), 1, 0}, {column, 1, 0});
}

/// As in the dual, with VC for D^{−½}Φ; and what solves with B lose.
double MixedRepresentation::rounding(double* column, const double* b) {
  assert(!transposed_);
  const Index n = behind(), rows = envelope_.padded_size();
  const double* w = column + n;
  AlignedBuffer e, solved;
  e.reserve(rows);
  for (Index j = 0; j < rows; ++j) e.data()[j] = -w[j];
  add_transposed(column, e.data());
  solve_lower(matrix_, matrix_.all(), {e.data(), 1, 0});
  const double from_weights = dot(e.data(), e.data(), rows);
  solved.reserve(n);
  const double from_determinant =
      log_determinant_residual(matrix_, rows, [&](RightHandSides x, RightHandSides out) {
        for (Index c = 0; c < x.columns; ++c) {
          double* in = x.data + c * x.stride;
          double* to = out.data + c * out.stride;
          std::fill_n(solved.data(), n, 0.0);
          subtract_basis({in, 1, 0}, {solved.data(), 1, 0});
          for (Index i = 0; i < n; ++i) solved.data()[i] = -solved.data()[i];
          std::copy_n(in, rows, to);
          add_transposed(solved.data(), to);
        }
      });
  std::copy_n(b, n, solved.data());
  solve_lower(band_.matrix(), band_.matrix().all(), {solved.data(), 1, 0});
  return band_.rounding(solved.data(), b) + 0.5 * (from_weights + from_determinant);
}

double MixedRepresentation::log_determinant() {
  return band_.log_determinant() + bandgp::log_determinant(matrix_);
}

Certificate MixedRepresentation::certificate(CertificateInputs inputs) const {
  GridErrors e = errors_;
  const UpperBound rho = band_.rho();
  const UpperBound factor = UpperBound::exactly(1) + over_one_minus(rho);  // 1/(1−ρ_B): from D to B
  e.matrix = e.matrix + rho;
  // V's cut as measured, Y's as it will be held to where predictions need it.
  e.cut =
      (e.cut + polynomial_error_ + UpperBound::of(cut_error(), 1e6) + UpperBound::exactly(share_)) * factor;
  e.cross = (e.cross + band_.cross_left_out()) * factor;
  e.basis = e.basis * factor;
  e.gram = e.relative_cut();  // M = I + CᵀNC of the cut V
  e.latent = over_one_minus(rho);
  return dual_certificate(e, envelope_.padded_size(), inputs);
}

double MixedRepresentation::condition() { return std::max(largest_, band_.condition()); }

std::optional<Weights> MixedRepresentation::weights() {
  if (!short_kernel_.terms.empty()) return std::nullopt;
  Weights weights{{}, &matrix_, behind()};
  for (const LongTerm& term : long_) weights.parts.push_back({&term.grid, term.row});
  return weights;
}

}  // namespace bandgp
