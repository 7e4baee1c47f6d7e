// SPDX-License-Identifier: Apache-2.0
#include "bandgp/gp/band_representation.hpp"

#include <algorithm>
#include <cmath>

#include "bandgp/band/residual.hpp"
#include "bandgp/bandwidth/rules.hpp"
#include "bandgp/base/machine.hpp"
#include "bandgp/kernel/tiles.hpp"
#include "bandgp/simd/dispatch.hpp"

namespace bandgp {

using simd::kBlock;
using simd::kPanel;

namespace {

/// Doubles of the matrix that are worked on in one go: 256 kB, which with its neighbours stays in a
/// second-level cache.
constexpr Index kChunkDoubles = 32768;
/// Multiply-adds a second, of a whole evaluation on one thread; only for the estimate that precedes a large
/// one.
constexpr double kWorkPerSecond = 1e10;

/// The matrix and what its inversion needs beside it.
double bytes_for(const Envelope& envelope) {
  return 8.0 * static_cast<double>(envelope.doubles() + SelectedInverse::mirror_doubles(envelope));
}

}  // namespace

double default_max_bytes() { return 0.6 * physical_memory(); }

void BandRepresentation::decide(const Kernel& kernel, const Observations& points, double q_bound) {
  kernel_ = &kernel;
  points_ = &points;
  weighted_ = points.weighted();
  const Index n = points.size();
  const std::span<const double> x(points.time(), static_cast<std::size_t>(n));
  const double noise = points.smallest_noise();
  const double target = rho_for_tolerance(cut_.tolerance, q_bound, n);
  const TailBound tail(kernel, weighted_);
  const auto index_band = [&](Index k) {
    envelope_.keep_band(n, k);
    rho_ = certify(kernel, weighted_, tail, envelope_, target / 64);
  };
  if (cut_.rule != CutRule::envelope) reach_ = 0;  // what is kept keeps its reach
  if (tapered()) {
    if (cut_.taper.range == 0)
      cut_.taper.range = n > 1 ? static_cast<double>(cut_.neighbours + 1) * (x.back() - x.front()) /
                                     static_cast<double>(n - 1)
                               : 1;
    reach_ = prediction_reach_ = cut_.taper.range;
    envelope_.keep_reach(x, reach_);
    rho_ = left_out_ = UpperBound::exactly(0);
    return;
  }
  switch (cut_.rule) {
    case CutRule::tolerance: {
      const Choice choice = cut_.index_band
                                ? choose_band(kernel, weighted_, tail, target, envelope_, choice_scratch_)
                                : choose_reach(kernel, weighted_, tail, target, envelope_);
      rho_ = choice.row_sum;
      reach_ = choice.reach;
      break;
    }
    case CutRule::corollary:
      index_band(corollary_bandwidth(kernel, noise, points.smallest_gap(), n).value_or(n - 1));
      break;
    case CutRule::theorem:
      index_band(theorem_bandwidth(kernel, noise, points.smallest_gap(), n).value_or(n - 1));
      break;
    case CutRule::lemma:
      rho_ = choose_band(kernel, weighted_, tail, 1.0, envelope_, choice_scratch_).row_sum;
      break;
    case CutRule::bandwidth:
      index_band(cut_.bandwidth);
      break;
    case CutRule::reach:
      envelope_.keep_reach(x, cut_.reach);
      reach_ = cut_.reach;
      rho_ = certify(kernel, weighted_, tail, envelope_, target / 64);
      break;
    case CutRule::envelope:
      rho_ = certify(kernel, weighted_, tail, envelope_, target / 64);
      break;
  }
  prediction_reach_ = tail.reach_for(target);
  // A reach of the whole span leaves nothing out for x* inside it; outside, lags are longer and count as
  // much.
  // And where the matrix is whole, predictions are the exact GP's too. Shapes with a support end there.
  if (prediction_reach_ >= x.back() - x.front() || rho_.value() == 0) prediction_reach_ = kernel.support();
  // Without a test point's own weight the bound is Σ wⱼ k ≥ ‖D^{−½}e‖₂.
  left_out_ = tail(prediction_reach_) * UpperBound::of(1 / weighted_.largest_weight);
}

std::optional<Failure> BandRepresentation::too_large(const Envelope& envelope, double evaluations) const {
  const double bytes = bytes_for(envelope);
  if (bytes <= max_bytes_) return std::nullopt;
  return Failure{Failure::Kind::too_large, 0, bytes, evaluations * envelope.cholesky_work() / kWorkPerSecond};
}

Cost BandRepresentation::cost(const Kernel& kernel, const Observations& points, double q_bound) {
  decide(kernel, points, q_bound);
  double widest = 0;
  for (Index i = 0; i < points.size(); ++i) {
    widest = std::max(widest, points.time()[i] - points.time()[envelope_.first(i)]);
  }
  return {bytes_for(envelope_),
          3 * envelope_.cholesky_work() / kWorkPerSecond,
          envelope_.bandwidth(),
          widest,
          name(),
          std::vector(kernel.terms.size(), TermPlace{"band", envelope_.bandwidth()})};
}

PanelRange BandRepresentation::chunk_from(Index begin) const {
  const Index per_panel = std::max<Index>(1, envelope_.doubles() / std::max<Index>(1, envelope_.panels()));
  const Index panels = std::max<Index>(2, round_up(kChunkDoubles / per_panel, 2));
  return {begin, std::min(begin + panels, envelope_.panels())};
}

/// Panel p of Ã: k(xᵢ − xⱼ) inside the envelope, 0 outside, k(0) + dᵢ on the diagonal, 1 past n.
void BandRepresentation::fill_panel(Index p, double* tile) const {
  const double* x = points_->time();
  const double* row_first = envelope_.row_first();
  const Index i0 = kPanel * p, from = envelope_.panel_first()[p];
  fill_covariance(*kernel_, x + i0, x + from, i0 + kPanel - from, tile);
  if (tapered()) cut_.taper.apply(x + i0, x + from, i0 + kPanel - from, tile);
  const Index ragged =
      static_cast<Index>(row_first[i0 + kPanel - 1]);  // from here on every row keeps the column
  if (from < ragged) tile_kernels().clip(tile, from, ragged - from, row_first + i0);
  double* diagonal = tile + kPanel * (i0 - from);
  for (Index r = 0; r < kPanel; ++r) {
    diagonal[(kPanel + 1) * r] =
        i0 + r < points_->size() ? kernel_->variance() + points_->noise()[i0 + r] : 1.0;
  }
}

void BandRepresentation::fill(PanelRange range) {
  for (Index p = range.begin; p < range.end; ++p)
    fill_panel(p, matrix_.column(p, envelope_.panel_first()[p]));
}

void BandRepresentation::multiply(RightHandSides x, RightHandSides out) const {
  AlignedBuffer buffer;
  buffer.reserve(kBlock * (envelope_.widest_panel() + 1));
  for (Index c = 0; c < out.columns; ++c)
    std::fill_n(out.data + c * out.stride, envelope_.padded_size(), 0.0);
  for (Index p = 0; p < envelope_.panels(); ++p) {
    const Index i0 = kPanel * p, from = envelope_.panel_first()[p];
    fill_panel(p, buffer.data());
    for (Index c = 0; c < x.columns; ++c) {
      const double* in = x.data + c * x.stride;
      double *to = out.data + c * out.stride, rows[kPanel] = {};
      for (Index j = from; j < i0 + kPanel; ++j) {
        // The lower half stands for both: above the diagonal, a block is not clipped to the band.
        const double* entry = buffer.data() + kPanel * (j - from);
        const Index diagonal = j - i0;
        double sum = 0;
        for (Index r = std::max<Index>(0, diagonal); r < kPanel; ++r) {
          rows[r] += entry[r] * in[j];
          if (r > diagonal) sum += entry[r] * in[i0 + r];
        }
        (j < i0 ? to[j] : rows[diagonal]) += sum;
      }
      for (Index r = 0; r < kPanel; ++r) to[i0 + r] += rows[r];
    }
  }
}

/// ½|αᵀ(b − Ãα)| of the quadratic form, and half of what log|Ã| lost.
double BandRepresentation::rounding(double* column, const double* b) {
  const Index n = points_->size();
  AlignedBuffer product;
  product.reserve(envelope_.padded_size());
  finish({column, 1, 0});
  multiply({column, 1, 0}, {product.data(), 1, 0});
  double residual = 0;
  for (Index i = 0; i < n; ++i) residual += column[i] * (b[i] - product.data()[i]);
  return 0.5 * (std::abs(residual) +
                log_determinant_residual(matrix_, n, [&](auto x, auto out) { multiply(x, out); }));
}

std::optional<Failure> BandRepresentation::choose(const Kernel& kernel, const Observations& points,
                                                  double q_bound) {
  decide(kernel, points, q_bound);
  worker_.share(points.size() >= kLeastShared);
  return too_large(envelope_, 3);
}

std::optional<Failure> BandRepresentation::factor(RightHandSides b) {
  matrix_.shape(envelope_);
  PanelRange chunk = chunk_from(0);
  fill(chunk);
  while (chunk.begin < chunk.end) {
    task_ = chunk_from(chunk.end);
    worker_.start([this] { fill(task_); });
    const auto bad = factorize(matrix_, chunk);
    if (!bad) solve_lower(matrix_, chunk, b);
    worker_.wait();
    if (bad) return Failure{Failure::Kind::not_positive_definite, bad->row};
    chunk = task_;
  }
  return std::nullopt;
}

void BandRepresentation::gradient(RightHandSides b, const double* noise_slope, std::span<double> out) {
  alpha_ = b;
  noise_slope_ = noise_slope;
  sums_.assign(kernel_->terms.size(), {});
  trace_ = by_noise_ = 0;
  inversion_.start(matrix_, matrix_);
  const Index size = chunk_from(0).end;
  for (Index end = envelope_.panels(); end > 0; end -= size) {
    const PanelRange chunk{std::max<Index>(0, end - size), end};
    solve_upper(matrix_, chunk, b);  // α, before the inverse takes the factor's place
    inversion_.run(chunk);
    worker_.wait();
    task_ = chunk;
    worker_.start([this] { contract(task_); });
  }
  worker_.wait();
  // Entries below the diagonal stand for both halves, which cancels the ½.
  gradient_from_sums(*kernel_, sums_, 0.5 * trace_, out);
  out.back() = by_noise_;
}

void BandRepresentation::contract(PanelRange range) {
  const TileKernels& tiles = tile_kernels();
  const double* x = points_->time();
  const auto& terms = kernel_->terms;
  alignas(64) double weights[kBlock];
  for (Index j = range.end - 1; j >= range.begin; --j) {
    const Index last = envelope_.last_panel(j);
    for (Index i = j; i <= last; ++i) {
      const double* from = matrix_.column(i, kPanel * j);  // of A⁻¹
      for (Index c = 0; c < alpha_.columns; ++c) {
        const double* alpha = alpha_.data + c * alpha_.stride;
        tiles.weights(from, alpha + kPanel * i, alpha + kPanel * j, kPanel * j,
                      envelope_.row_first() + kPanel * i, i == j, weights);
        from = weights;
      }
      if (tapered()) cut_.taper.apply(x + kPanel * i, x + kPanel * j, kPanel, weights);
      for (std::size_t t = 0; t < terms.size(); ++t) {
        contract_term(tiles, terms[t], x + kPanel * i, x + kPanel * j, kPanel, weights, sums_[t]);
      }
    }
    for (Index r = 0; r < kPanel && kPanel * j + r < points_->size(); ++r) {
      double w = matrix_.column(j, kPanel * j)[(kPanel + 1) * r];
      for (Index c = 0; c < alpha_.columns; ++c) {
        const double alpha = alpha_.data[c * alpha_.stride + kPanel * j + r];
        w -= alpha * alpha;
      }
      trace_ += w;
      by_noise_ += 0.5 * w * noise_slope_[kPanel * j + r];
    }
  }
}

void BandRepresentation::inverse_diagonal(std::span<double> out) {
  inversion_.start(matrix_, matrix_);
  inversion_.run(matrix_.all());
  for (Index p = 0; p < envelope_.panels(); ++p) {
    const double* inverse = matrix_.column(p, kPanel * p);
    for (Index r = 0; r < kPanel && kPanel * p + r < points_->size(); ++r)
      out[static_cast<std::size_t>(kPanel * p + r)] = inverse[(kPanel + 1) * r];
  }
}

Certificate BandRepresentation::certificate(CertificateInputs inputs) const {
  if (tapered()) return Certificate::of_another_model();
  inputs.cross_left_out = left_out_.value();
  return make_certificate(rho_, inputs);
}

double BandRepresentation::condition() {
  const double* inverse = matrix_.inverse_diagonal();
  const auto [low, high] = std::minmax_element(inverse, inverse + points_->size());
  return (*high / *low) * (*high / *low);
}

void BandRepresentation::advance(IndexRange& rows, double x) const {
  const double* time = points_->time();
  const Index n = points_->size();
  while (rows.begin < n && x - time[rows.begin] > prediction_reach_) ++rows.begin;
  rows.end = std::max(rows.end, rows.begin);
  while (rows.end < n && time[rows.end] - x <= prediction_reach_) ++rows.end;
}

std::vector<BandRepresentation::Group> BandRepresentation::group(std::span<const double> x) const {
  std::vector<Group> groups;
  IndexRange rows{0, 0};
  for (Index t = 0; t < static_cast<Index>(x.size()); ++t) {
    advance(rows, x[static_cast<std::size_t>(t)]);
    if (rows.begin == rows.end) continue;  // nothing within reach: the prior
    const Index first = rows.begin / kPanel, last = (rows.end + kPanel - 1) / kPanel;
    const bool joins = !groups.empty() && groups.back().first == first && groups.back().end == t &&
                       t - groups.back().begin < kPanel;
    if (joins) {
      groups.back().end = t + 1;
      groups.back().last = last;
    } else {
      groups.push_back({t, t + 1, first, last});
    }
  }
  return groups;
}

void BandRepresentation::fill_cross(std::span<const double> x, const Group& group, double* cross) const {
  alignas(64) double tests[kPanel];
  for (Index t = 0; t < kPanel; ++t)
    tests[t] = x[static_cast<std::size_t>(std::min(group.begin + t, group.end - 1))];
  const Index i0 = kPanel * group.first, i1 = kPanel * group.last;
  fill_covariance(cross_kernel_, tests, points_->time() + i0, i1 - i0, cross);
  if (tapered()) cut_.taper.apply(tests, points_->time() + i0, i1 - i0, cross);
  for (Index i = points_->size(); i < i1; ++i) std::fill_n(cross + kPanel * (i - i0), kPanel, 0.0);
}

void BandRepresentation::project(const Group& group, const double* cross, RightHandSides solved, Index count,
                                 double* projection) const {
  const Index i0 = kPanel * group.first;
  for (Index c = 0; c < solved.columns; ++c) {
    const double* column = solved.data + c * solved.stride;
    double sum[kPanel] = {};
    for (Index i = i0; i < kPanel * group.last; ++i) {
      for (Index t = 0; t < kPanel; ++t) sum[t] += cross[kPanel * (i - i0) + t] * column[i];
    }
    for (Index t = group.begin; t < group.end; ++t) projection[c * count + t] = sum[t - group.begin];
  }
}

std::optional<Failure> BandRepresentation::predict(std::span<const double> x, unsigned terms,
                                                   RightHandSides solved, double* projection,
                                                   double* variance) {
  const auto count = static_cast<Index>(x.size());
  std::fill_n(projection, solved.columns * count, 0.0);
  cross_kernel_ = kernel_->subset(terms);
  if (variance != nullptr) std::fill_n(variance, count, cross_kernel_.variance());
  const std::vector<Group> groups = group(x);
  if (variance != nullptr && !groups.empty()) {
    if (auto failure = start_wide_inverse(groups)) return failure;
  }
  const auto quadratic_form = simd::panel_kernels().quadratic_form;
  AlignedBuffer cross;
  alignas(64) double explained[kPanel];
  Index done = envelope_.panels();  // block columns of Z from here on are there
  for (auto g = groups.rbegin(); g != groups.rend(); ++g) {
    cross.reserve(kBlock * (g->last - g->first));
    fill_cross(x, *g, cross.data());
    project(*g, cross.data(), solved, count, projection);
    if (variance == nullptr) continue;
    inversion_.run({g->first, done});
    done = g->first;
    quadratic_form(wide_.panels(), g->first, g->last, cross.data(), explained);
    // Rounding may leave a variance of −1e-17 where the truth is 1e-17.
    for (Index t = g->begin; t < g->end; ++t) {
      variance[t] = std::max(0.0, variance[t] - explained[t - g->begin]);
    }
  }
  return std::nullopt;
}

/// k*ᵀZk* needs Z for all pairs of points within reach of x*, up to 2R apart: the inverse on a wider
/// envelope, where there are test points.  It is used as soon as its block column is there, so only a window
/// of it is ever held.
std::optional<Failure> BandRepresentation::start_wide_inverse(const std::vector<Group>& groups) {
  std::vector<Index> first(static_cast<std::size_t>(points_->size()));
  std::size_t g = 0;
  for (Index i = 0; i < points_->size(); ++i) {
    while (g < groups.size() && groups[g].last <= i / kPanel) ++g;
    const Index wanted = g < groups.size() ? kPanel * groups[g].first : i;
    first[static_cast<std::size_t>(i)] = std::min(envelope_.first(i), wanted);
  }
  wide_envelope_.keep(first);
  const double bytes =
      8.0 * kBlock * static_cast<double>(wide_envelope_.window() * wide_envelope_.widest_panel()) +
      8.0 * static_cast<double>(SelectedInverse::mirror_doubles(wide_envelope_));
  if (bytes > max_bytes_)
    return Failure{Failure::Kind::too_large, 0, bytes, 8 * wide_envelope_.cholesky_work() / kWorkPerSecond};
  wide_.shape_window(wide_envelope_);
  inversion_.start(matrix_, wide_);
  return std::nullopt;
}

void BandRepresentation::covariance(std::span<const double> x, double* out) {
  const auto count = static_cast<Index>(x.size());
  const Index n = points_->padded_size();
  AlignedBuffer solved;
  solved.reserve(n * kPanel);
  for (Index t0 = 0; t0 < count; t0 += kPanel) {
    const Index columns = std::min(kPanel, count - t0);
    std::fill_n(solved.data(), n * kPanel, 0.0);
    IndexRange rows{0, 0};
    for (Index t = 0; t < columns; ++t) {  // K_f* for up to 8 test points, then A⁻¹K_f*
      const double at = x[static_cast<std::size_t>(t0 + t)];
      advance(rows, at);
      for (Index i = rows.begin; i < rows.end; ++i)
        solved.data()[t * n + i] = covariance_at(at - points_->time()[i]);
    }
    const RightHandSides b{solved.data(), columns, n};
    solve(matrix_, b);
    rows = {0, 0};
    for (Index s = 0; s < count; ++s) {
      const double at = x[static_cast<std::size_t>(s)];
      advance(rows, at);
      double sum[kPanel] = {};
      for (Index i = rows.begin; i < rows.end; ++i) {
        const double k = covariance_at(at - points_->time()[i]);
        for (Index t = 0; t < columns; ++t) sum[t] += k * solved.data()[t * n + i];
      }
      for (Index t = 0; t < columns; ++t) {
        out[s * count + t0 + t] = covariance_at(at - x[static_cast<std::size_t>(t0 + t)]) - sum[t];
      }
    }
  }
}

}  // namespace bandgp
