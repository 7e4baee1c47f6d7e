// SPDX-License-Identifier: Apache-2.0
#include "bandgp/gp/dual_representation.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "bandgp/band/residual.hpp"
#include "bandgp/base/dot.hpp"
#include "bandgp/base/sum_of_logs.hpp"
#include "bandgp/gp/cost_model.hpp"
#include "bandgp/kernel/tiles.hpp"
#include "bandgp/simd/dispatch.hpp"

namespace bandgp {

using simd::kPanel;

DualRepresentation::DualRepresentation(double tolerance, double max_bytes, Index threads)
    : tolerance_(tolerance), max_bytes_(max_bytes), worker_(threads > 1) {}

Cost DualRepresentation::cost(const Kernel& kernel, const Observations& points, double q_bound) {
  if (!kernel.is_single_se()) throw std::invalid_argument("the dual band is for one se term");
  points_ = &points;
  const Index n = points.size();
  demand_ = demand_for(kernel.terms.front(), points.weighted(), q_bound, tolerance_);
  design_ = design_grid(demand_);
  design_.cut =
      4.0 * design_.vectors - 0.5;  // whole vectors: the windows reach a little farther than they must
  errors_ = errors_of(design_, demand_);
  const auto width = static_cast<double>(round_up(design_.bandwidth, kPanel) + 2 * kPanel);
  const double nodes = most_nodes(design_, demand_);
  const double bytes = 8 * nodes * (width + 16) + 8.0 * static_cast<double>(n) * 6;
  return {bytes,
          1e-9 * dual_nanoseconds(n, nodes, design_.bandwidth),
          design_.bandwidth,
          0,
          name(),
          {{"grid", static_cast<Index>(nodes)}}};
}

std::optional<Failure> DualRepresentation::choose(const Kernel& kernel, const Observations& points,
                                                  double q_bound) {
  const Cost needed = cost(kernel, points, q_bound);
  if (needed.bytes > max_bytes_) return Failure{Failure::Kind::too_large, 0, needed.bytes, needed.seconds};
  worker_.share(points.size() >= kLeastShared);
  grid_.place(design_, points.time(), points.size());
  grid_.couple(grid_.design().bandwidth, first_);
  envelope_.keep(first_);
  ends_.shape(first_);
  return std::nullopt;
}

PointRange DualRepresentation::part(int which) const {
  const Index all = points_->padded_size(), middle = round_up(points_->size() / 2, kPanel);
  return which == 0 ? PointRange{0, middle} : PointRange{middle, all};
}

template <class Work>
void DualRepresentation::in_two_parts(const Work& work) {
  worker_.start([&work] { work(1); });
  work(0);
  worker_.wait();
}

void DualRepresentation::clear(Sums& sums, Index columns) const {
  const Index nodes = padded_nodes(), half = grid_.half_nodes();
  sums.z.reserve(nodes * columns);
  std::fill_n(sums.z.data(), nodes * columns, 0.0);
  for (AlignedBuffer* h : {&sums.h0, &sums.h2, &sums.noise}) {
    if (h == &sums.noise && points_->equal_noise()) continue;
    h->reserve(half);
    std::fill_n(h->data(), half, 0.0);
  }
}

/// One part of the points: ΦᵀD⁻¹b of every column, and H₀, H₂ (with ∂d·d⁻² for weights too, where noise is
/// unequal).
void DualRepresentation::accumulate(int which, RightHandSides b) {
  const GridKernels& kernels = grid_kernels();
  const PointRange range = part(which);
  Sums& sums = sums_[which];
  clear(sums, b.columns);
  double* precision = precision_.data();
  const double *noise = points_->noise(), *slope = points_->noise_slope();
  const Index last = std::min(range.end, points_->size());
  for (Index i = range.begin; i < last; ++i) precision[i] = 1 / noise[i];
  for (Index i = std::max(range.begin, last); i < range.end; ++i) precision[i] = 0;
  sums.from.clear();
  sums.to.clear();
  for (Index c = 0; c < b.columns; ++c) {
    const double* column = b.data + c * b.stride;
    double* product = fitted(c);
    for (Index i = range.begin; i < range.end; ++i) product[i] = precision[i] * column[i];
    sums.from.push_back(product);
    sums.to.push_back(sums.z.data() + c * padded_nodes());
  }
  kernels.spread(grid_.points(), range, static_cast<int>(b.columns), sums.from.data(), sums.to.data());
  kernels.half_sums(grid_.half_points(), range, precision, sums.h0.data(), sums.h2.data());
  if (!points_->equal_noise()) {
    double* product = scratch_.data();
    for (Index i = range.begin; i < range.end; ++i) product[i] = slope[i] * precision[i] * precision[i];
    kernels.half_sums(grid_.half_points(), range, product, sums.noise.data(), nullptr);
  }
}

/// M = I + ΦᵀD⁻¹Φ on its panels: s² e^{−g(j−l)²/2} H₀(j + l), within b and within a run; 1 past m.
template <class Natural>
void DualRepresentation::fill(PanelBand& matrix, const double* h0, const Natural& natural) {
  const auto fill_gram = grid_kernels().fill_gram;
  const auto clip = tile_kernels().clip;
  const Envelope& envelope = matrix.envelope();
  const double* row_first = envelope.row_first();
  for (Index p = 0; p < envelope.panels(); ++p) {
    const Index row = kPanel * p, from = envelope.panel_first()[p];
    double* tile = matrix.column(p, from);
    fill_gram(grid_.lags(), h0, row, from, tile);
    const auto ragged = static_cast<Index>(row_first[row + kPanel - 1]);
    if (from < ragged) clip(tile, from, ragged - from, row_first + row);
    double* diagonal = matrix.column(p, row);
    for (Index r = 0; r < kPanel; ++r) {
      double& entry = diagonal[(kPanel + 1) * r];
      entry = natural(row + r) < grid_.nodes() ? 1 + entry : 1.0;
    }
  }
}

PanelBand& DualRepresentation::natural() {
  if (natural_) return matrix_;
  matrix_.shape(envelope_);
  fill(matrix_, sums_[0].h0.data(), [](Index row) { return row; });
  if (factorize(matrix_, matrix_.all()))
    throw std::runtime_error("the dual's matrix is singular to double precision: there is too little noise");
  natural_ = true;
  return matrix_;
}

void DualRepresentation::apply_basis(int columns, const double* const* w) {
  fitted_.clear();
  for (int c = 0; c < columns; ++c) fitted_.push_back(fitted(c));
  in_two_parts(
      [&](int which) { grid_kernels().gather(grid_.points(), part(which), columns, w, fitted_.data()); });
}

void DualRepresentation::apply_transposed(Index columns) {
  const Index nodes = padded_nodes();
  for (Sums& sums : sums_) sums.z.reserve(nodes * columns);
  in_two_parts([&](int which) {
    Sums& sums = sums_[which];
    sums.from.clear();
    sums.to.clear();
    for (Index c = 0; c < columns; ++c) {
      sums.from.push_back(fitted(c));
      sums.to.push_back(sums.z.data() + c * nodes);
    }
    std::fill_n(sums.z.data(), nodes * columns, 0.0);
    grid_kernels().spread(grid_.points(), part(which), static_cast<int>(columns), sums.from.data(),
                          sums.to.data());
  });
  double *sum = sums_[0].z.data(), *other = sums_[1].z.data();
  for (Index j = 0; j < nodes * columns; ++j) sum[j] += other[j];
}

std::optional<Failure> DualRepresentation::factor(RightHandSides b) {
  const Index n = points_->padded_size(), nodes = padded_nodes();
  precision_.reserve(n);
  scratch_.reserve(std::max(kProbes, b.columns) * n);
  in_two_parts([&](int which) { accumulate(which, b); });
  const auto add = [](AlignedBuffer& to, const AlignedBuffer& from, Index count) {
    for (Index j = 0; j < count; ++j) to.data()[j] += from.data()[j];
  };
  add(sums_[0].z, sums_[1].z, nodes * b.columns);
  add(sums_[0].h0, sums_[1].h0, grid_.half_nodes());
  add(sums_[0].h2, sums_[1].h2, grid_.half_nodes());
  if (!points_->equal_noise()) add(sums_[0].noise, sums_[1].noise, grid_.half_nodes());

  const double* h0 = sums_[0].h0.data();
  largest_ = 1;
  for (Index j = 0; j < grid_.nodes(); ++j) largest_ = std::max(largest_, 1 + grid_.lags()[0] * h0[2 * j]);
  natural_ = false;
  flip(0, h0);
  const auto bad = ends_.factor([&](int which) {
    fill(ends_.half(which).matrix, which == 0 ? h0 : flipped_[0].data(),
         [&](Index row) { return which == 0 ? row : ends_.mirrored(row); });
  });
  if (bad) return Failure{Failure::Kind::not_positive_definite, bad->row};

  weigh(b);
  return std::nullopt;
}

bool DualRepresentation::reduce(RightHandSides b) {
  const Index n = points_->padded_size();
  scratch_.reserve(std::max(kProbes, b.columns) * n);
  for (Index c = 0; c < b.columns; ++c) {
    for (Index i = 0; i < n; ++i) fitted(c)[i] = precision_.data()[i] * b.data[c * b.stride + i];
  }
  apply_transposed(b.columns);
  weigh(b);
  return true;
}

/// Columns b, with ΦᵀD⁻¹b in the first part's sums → D^{−½}(b − Φw) and w behind it.
void DualRepresentation::weigh(RightHandSides b) {
  const Index n = points_->padded_size(), nodes = padded_nodes();
  const auto column = [&](Index c) { return b.data + c * b.stride; };
  weights_.clear();
  for (Index c = 0; c < b.columns; ++c) {
    double* w = column(c) + behind();
    std::copy_n(sums_[0].z.data() + c * nodes, nodes, w);
    ends_.solve(w);
    weights_.push_back(w);
  }
  const auto columns = static_cast<int>(b.columns);
  apply_basis(columns, weights_.data());
  const double* weight = points_->weight();
  if (largest_ <= kRefineFrom) {
    for (Index c = 0; c < b.columns; ++c) {
      for (Index i = 0; i < n; ++i) column(c)[i] = weight[i] * (column(c)[i] - fitted(c)[i]);
    }
    return;
  }
  for (Index c = 0; c < b.columns; ++c) {
    for (Index i = 0; i < n; ++i) column(c)[i] -= fitted(c)[i];
  }
  // w ← w + M⁻¹(ΦᵀD⁻¹r − w): Φᵀα = w at the solution.
  for (Index c = 0; c < b.columns; ++c) {
    for (Index i = 0; i < n; ++i) fitted(c)[i] = precision_.data()[i] * column(c)[i];
  }
  apply_transposed(b.columns);
  weights_.clear();
  for (Index c = 0; c < b.columns; ++c) {
    double *step = sums_[0].z.data() + c * nodes, *w = column(c) + behind();
    for (Index j = 0; j < nodes; ++j) step[j] -= w[j];
    ends_.solve(step);
    for (Index j = 0; j < nodes; ++j) w[j] += step[j];
    weights_.push_back(step);
  }
  apply_basis(columns, weights_.data());
  for (Index c = 0; c < b.columns; ++c) {
    for (Index i = 0; i < n; ++i) column(c)[i] = weight[i] * (column(c)[i] - fitted(c)[i]);
  }
}

double DualRepresentation::log_determinant() {
  const auto n = static_cast<double>(points_->size());
  const double of_noise = points_->equal_noise() ? n * std::log(points_->noise()[0])
                                                 : sum_of_logs(points_->noise(), points_->size());
  return of_noise + ends_.log_determinant();
}

void DualRepresentation::finish(RightHandSides b) {
  for (Index c = 0; c < b.columns; ++c) {
    double* column = b.data + c * b.stride;
    for (Index i = 0; i < points_->padded_size(); ++i) column[i] *= points_->weight()[i];
  }
}

void DualRepresentation::flip(int which, const double* half) {
  const Index rows = 2 * ends_.half(1).envelope.padded_size(), last = 2 * (ends_.padded_size() - 1);
  if (ends_.half(1).own == 0) return;
  flipped_[which].reserve(rows);
  for (Index k = 0; k < rows; ++k) flipped_[which].data()[k] = half[last - k];
}

/// Σ S_jl lags_t(j − l) half_t(j + l) below the diagonal, over the columns of one half.
void DualRepresentation::contract(int which, const double* const* half, double* sums) {
  TwoEnded::Half& part = ends_.half(which);
  if (part.own == 0) return;
  GridKernels::Contraction with{{grid_.slopes(), grid_.lags(), grid_.lags()}, {half[0], half[1], half[2]}};
  if (which == 1) {
    for (int t = 1; t < 3; ++t) flip(t, half[t]);  // H₀ has been
    for (int t = 0; t < 3; ++t) with.half[t] = flipped_[t].data();
  }
  // The rows between stand in both halves, and count in the first.
  const Index columns = which == 0 ? part.envelope.panels() : part.own / kPanel;
  for (Index j = 0; j < columns; ++j) {
    for (Index i = j; i <= part.envelope.last_panel(j); ++i) {
      grid_kernels().contract_gram(part.matrix.column(i, kPanel * j), with, kPanel * i, kPanel * j,
                                   part.envelope.row_first() + kPanel * i, sums);
    }
  }
}

/// With S = M⁻¹:  ∂/∂log σ² = ½(m − tr S) − ½wᵀw,   ∂/∂log ℓ = tr(S·ΦᵀD⁻¹Ψ) − αᵀΨw,
///   ∂/∂σₙ² = ½[Σ ∂dᵢ/dᵢ − tr(S·ΦᵀD⁻¹∂D D⁻¹Φ) − Σ ∂dᵢ αᵢ²].
void DualRepresentation::gradient(RightHandSides b, const double* noise_slope, std::span<double> out) {
  const Index n = points_->padded_size(), nodes = padded_nodes();
  finish(b);
  double by_curve = 0, weights = 0;  // Σ αᵀΨw and Σ wᵀw over the columns
  for (Index c = 0; c < b.columns; ++c) {
    const double* column = b.data + c * b.stride;
    const double* w = column + behind();
    in_two_parts(
        [&](int which) { grid_kernels().gather_slope(grid_.points(), part(which), w, scratch_.data()); });
    by_curve += dot(column, scratch_.data(), n);
    weights += dot(w, w, nodes);
  }

  ends_.invert();
  const bool equal = points_->equal_noise();
  const double* half[3] = {sums_[0].h0.data(), sums_[0].h2.data(),
                           equal ? sums_[0].h0.data() : sums_[0].noise.data()};
  double below[3] = {}, diagonal[3] = {}, other[3] = {}, trace = 0;
  ends_.in_both([&](int which) { contract(which, half, which == 0 ? below : other); });
  for (int t = 0; t < 3; ++t) below[t] += other[t];
  TwoEnded::Half &front = ends_.half(0), &back = ends_.half(1);
  for (Index j = 0; j < grid_.nodes(); ++j) {
    const double s =
        j < front.envelope.size() ? front.matrix(j, j) : back.matrix(ends_.mirrored(j), ends_.mirrored(j));
    trace += s;
    diagonal[0] += s * grid_.slopes()[0] * half[0][2 * j];
    for (int t = 1; t < 3; ++t) diagonal[t] += s * grid_.lags()[0] * half[t][2 * j];
  }
  const auto m = static_cast<double>(grid_.nodes());
  // H₂ is in half steps squared: (2/ℓ²)(h/2)² = g/2.
  const double by_basis =
      (2 * below[0] + diagonal[0]) + 0.5 * grid_.design().g * (2 * below[1] + diagonal[1]);
  out[0] = 0.5 * (m - trace) - 0.5 * weights;  // variance and length-scale of the one se term
  out[1] = by_basis - by_curve;
  double sum = 0;
  for (Index i = 0; i < points_->size(); ++i) {
    double weight = precision_.data()[i];
    for (Index c = 0; c < b.columns; ++c) {
      const double alpha = b.data[c * b.stride + i];
      weight -= alpha * alpha;
    }
    sum += noise_slope[i] * weight;
  }
  const double explained = equal ? (m - trace) * precision_.data()[0] : 2 * below[2] + diagonal[2];
  out.back() = 0.5 * (sum - explained);
}

/// D^{−½}(b − Φw̃), w̃ = w + L⁻ᵀε.
void DualRepresentation::whiten(double* column, std::uint64_t seed) {
  AlignedBuffer spread;
  spread.reserve(envelope_.padded_size());
  for (Index j = 0; j < envelope_.padded_size(); ++j)
    spread.data()[j] = j < grid_.nodes() ? normal_at(seed, j) : 0.0;
  PanelBand& factor = natural();
  solve_upper(factor, factor.all(), {spread.data(), 1, 0});
  const double* w = spread.data();
  apply_basis(1, &w);
  for (Index i = 0; i < points_->padded_size(); ++i) column[i] -= points_->weight()[i] * fitted(0)[i];
}

/// q = ‖D^{−½}(b − Φw)‖² + ‖w‖² is least at the true w: with e = Φᵀα − w it is too large by eᵀM⁻¹e.  What
/// b − Φw itself loses, and half of what log|M| lost, come on top.
double DualRepresentation::rounding(double* column, const double* b) {
  const Index n = points_->padded_size(), nodes = padded_nodes();
  const double* w = column + behind();
  double from_difference = 0;
  for (Index i = 0; i < points_->size(); ++i) {
    const double alpha = points_->weight()[i] * column[i];
    fitted(0)[i] = alpha;
    const double lost = 0x1p-53 * alpha * b[i];
    from_difference += lost * lost;
  }
  std::fill(fitted(0) + points_->size(), fitted(0) + n, 0.0);
  apply_transposed(1);
  double* e = sums_[0].z.data();
  for (Index j = 0; j < grid_.nodes(); ++j) e[j] -= w[j];
  PanelBand& factor = natural();
  solve_lower(factor, factor.all(), {e, 1, 0});
  const double from_weights = dot(e, e, nodes);
  const double from_determinant =
      log_determinant_residual(factor, grid_.nodes(), [&](RightHandSides x, RightHandSides out) {
        const double* in[kProbes];
        for (Index c = 0; c < kProbes; ++c) in[c] = x.data + c * x.stride;
        apply_basis(kProbes, in);
        for (Index c = 0; c < kProbes; ++c) {
          for (Index i = 0; i < n; ++i) fitted(c)[i] *= precision_.data()[i];
        }
        apply_transposed(kProbes);
        for (Index c = 0; c < kProbes; ++c) {
          for (Index j = 0; j < envelope_.padded_size(); ++j)
            out.data[c * out.stride + j] = x.data[c * x.stride + j] + sums_[0].z.data()[c * nodes + j];
        }
      });
  return std::sqrt(from_difference) + 0.5 * (from_weights + from_determinant);
}

Certificate DualRepresentation::certificate(CertificateInputs inputs) const {
  return dual_certificate(errors_, grid_.nodes(), inputs);
}

/// M's smallest eigenvalue is 1 or more, and ‖M‖ is about ‖D^{−½}AD^{−½}‖: its largest entry is the condition
/// to report.
double DualRepresentation::condition() { return largest_; }

}  // namespace bandgp
