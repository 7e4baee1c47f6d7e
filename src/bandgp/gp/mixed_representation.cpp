// SPDX-License-Identifier: Apache-2.0
#include "bandgp/gp/mixed_representation.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <stdexcept>

#include "bandgp/band/residual.hpp"
#include "bandgp/base/dot.hpp"
#include "bandgp/gp/cost_model.hpp"
#include "bandgp/kernel/tiles.hpp"
#include "bandgp/simd/dispatch.hpp"

namespace bandgp {

using simd::kBlock;
using simd::kPanel;

namespace {

const std::size_t kSe = AnyShape(Se{}).index();

/// exp(−(x−u)²/ℓ²) is the SE shape of length-scale ℓ/√2.
double inverse_width(double lengthscale) { return std::numbers::sqrt2 / lengthscale; }

}  // namespace

MixedRepresentation::MixedRepresentation(double tolerance, double max_bytes, Index threads)
    : tolerance_(tolerance), max_bytes_(max_bytes), band_(band_cut(false), max_bytes, threads) {
  band_.set_partner(this);
}

/// Half of the tolerance is for the band.
Cut MixedRepresentation::band_cut(bool keep) const {
  return {.method = Method::band,
          .rule = keep ? Cut::Rule::envelope : Cut::Rule::tolerance,
          .tolerance = 0.5 * tolerance_};
}

void MixedRepresentation::split(const Kernel& kernel) {
  std::size_t count = 0;
  short_kernel_.terms.clear();
  short_index_.clear();
  for (std::size_t t = 0; t < kernel.terms.size(); ++t) {
    if ((long_terms_ >> t & 1U) == 0) {
      short_kernel_.terms.push_back(kernel.terms[t]);
      short_index_.push_back(t);
      continue;
    }
    if (!is_se(kernel.terms[t])) throw std::invalid_argument("only se terms have a basis of Gaussians");
    if (long_.size() <= count) long_.emplace_back();
    long_[count++].index = t;
  }
  long_.resize(count);
}

Cost MixedRepresentation::cost(const Kernel& kernel, const Observations& points, double q_bound) {
  if (choose(kernel, points, q_bound)) return {};
  double entries = 0, nodes = 0;
  for (const NodePanel& panel : panels_) {
    entries += 8 * static_cast<double>(panel.end - panel.begin);
    nodes += 8;
  }
  const double n = static_cast<double>(points.size());
  const double seconds =
      1e-9 * mixed_nanoseconds(points.size(), estimate_width(points, band_.reach()), entries / n, nodes,
                               static_cast<double>(envelope_.bandwidth()));
  return {8 * entries + 8 * static_cast<double>(band_.envelope().doubles()), seconds, bandwidth(), 0};
}

std::optional<Failure> MixedRepresentation::choose(const Kernel& kernel, const Observations& points,
                                                   double q_bound) {
  points_ = &points;
  split(kernel);
  if (auto failure = band_.choose(short_kernel_, points, q_bound)) return failure;
  const Index n = points.size();
  reached_ = true;
  // B ⪰ (1−ρ_B)D, so bounds relative to D hold relative to B but for this factor.
  errors_ = {};
  double doubles = 0;
  for (LongTerm& term : long_) {
    const Term& given = kernel.terms[term.index];
    term.demand =
        demand_for(given, points.weighted(), q_bound, 0.4 * tolerance_ / static_cast<double>(long_.size()));
    term.design = design_grid(term.demand);
    const GridErrors errors = errors_of(term.design, term.demand);
    reached_ = reached_ && term.design.reached && errors.fit_double();
    errors_.aliasing = max(errors_.aliasing, errors.aliasing);
    errors_.matrix = errors_.matrix + errors.matrix;
    errors_.cut = errors_.cut + errors.cut;
    errors_.basis = errors_.basis + errors.basis;
    errors_.cross = errors_.cross + errors.cross;
    errors_.prior = errors_.prior + errors.prior;
    const double nodes = most_nodes(term.design, term.demand);
    const double window = 8.0 * term.design.vectors + 8;
    doubles += std::min(static_cast<double>(n) * window, nodes * static_cast<double>(n)) + nodes * 2 * window;
  }
  const double bytes = 8 * (doubles + static_cast<double>(band_.envelope().doubles()));
  if (bytes > max_bytes_) return Failure{Failure::Kind::too_large, 0, bytes, 1e-9 * doubles * 40};
  // Where windows are long beside the band, V has died away at their ends; else it goes on for as long as it
  // takes.
  double shortest = std::numeric_limits<double>::infinity();
  for (LongTerm& term : long_) {
    term.grid.place(term.design, points.time(), n);
    shortest = std::min(shortest, term.design.cut * term.design.spacing);
  }
  share_ = 0.1 * std::min(1.0, 2 * tolerance_ / (q_bound + static_cast<double>(n)));
  extension_ = shortest > 4 * band_.reach() ? 0 : band_.reach();
  lay_out_nodes();
  return std::nullopt;
}

/// Panels of eight nodes, ordered by where their points end: rows of M then couple to earlier rows only as
/// far back as the points they share.
void MixedRepresentation::lay_out_nodes() {
  const Index n = points_->size();
  const double* x = points_->time();
  panels_.clear();
  for (std::size_t t = 0; t < long_.size(); ++t) {
    const LongTerm& term = long_[t];
    const double h = term.design.spacing, cut = term.design.cut * h;
    for (const GaussianGrid::Run& run : term.grid.runs()) {
      for (double at = run.begin; at < run.end; at += 8) {
        NodePanel panel{};
        panel.term = t;
        panel.count = static_cast<Index>(std::min(8.0, run.end - at));
        for (Index r = 0; r < 8; ++r)
          panel.position[r] = (at + static_cast<double>(std::min(r, panel.count - 1))) * h;
        const double low = panel.position[0] - cut - extension_,
                     high = panel.position[panel.count - 1] + cut + extension_;
        const Index begin = std::lower_bound(x, x + n, low) - x, end = std::upper_bound(x, x + n, high) - x;
        panel.begin = round_down(std::min(begin, n - 1), kPanel);
        panel.end = std::max(panel.begin + kPanel, round_up(end, kPanel));
        panels_.push_back(panel);
      }
    }
  }
  std::ranges::stable_sort(panels_, {}, [](const NodePanel& p) { return p.position[0] + p.position[7]; });
  Index doubles = 0;
  for (const NodePanel& panel : panels_) doubles += kPanel * (panel.end - panel.begin);
  values_.reserve(doubles);
  double* next = values_.data();
  for (NodePanel& panel : panels_) {
    panel.values = next - kPanel * panel.begin;
    next += kPanel * (panel.end - panel.begin);
  }
  for (LongTerm& term : long_) term.row.resize(static_cast<std::size_t>(term.grid.nodes()));
  std::vector<std::size_t> number(long_.size(), 0);
  for (std::size_t q = 0; q < panels_.size(); ++q) {  // panels of one term keep their order
    std::size_t& at = number[panels_[q].term];
    for (Index r = 0; r < panels_[q].count; ++r)
      long_[panels_[q].term].row[at++] = kPanel * static_cast<Index>(q) + r;
  }
  // M's envelope, and which panels of nodes see a panel of points.
  const auto panels = static_cast<Index>(panels_.size());
  std::vector<Index> first(static_cast<std::size_t>(kPanel * panels));
  Index least = panels;
  for (Index q = panels - 1; q >= 0; --q) {
    const NodePanel& own = panels_[static_cast<std::size_t>(q)];
    for (Index r = std::min(least, q); r >= 0; --r) {
      const NodePanel& other = panels_[static_cast<std::size_t>(r)];
      if (other.end > own.begin && other.begin < own.end) least = std::min(least, r);
      if (other.position[7] < own.position[0] - widest_overlap()) break;
    }
    least = std::min(least, q);
    std::fill_n(first.begin() + kPanel * q, kPanel, kPanel * least);
  }
  envelope_.keep(first);
  ends_.clear();
  for (Index q = 0; q < panels; ++q) ends_.emplace_back(panels_[static_cast<std::size_t>(q)].end, q);
  std::ranges::sort(ends_);
  active_.assign(static_cast<std::size_t>(behind() / kPanel), {panels, 0});
  for (Index q = 0; q < panels; ++q) {
    const NodePanel& panel = panels_[static_cast<std::size_t>(q)];
    for (Index p = panel.begin / kPanel; p < panel.end / kPanel; ++p) {
      Active& a = active_[static_cast<std::size_t>(p)];
      a.first = std::min(a.first, q);
      a.last = std::max(a.last, q + 1);
    }
  }
}

double MixedRepresentation::widest_overlap() const {
  double widest = 0;
  for (const LongTerm& term : long_)
    widest = std::max(widest, 8.0 * (term.design.vectors + 1) * term.design.spacing);
  return 2 * (widest + extension_);
}

MixedRepresentation::Active MixedRepresentation::active(Index p) const {
  return active_[static_cast<std::size_t>(p)];
}

IndexRange MixedRepresentation::shared(Index q, PanelRange range) const {
  const NodePanel& panel = panels_[static_cast<std::size_t>(q)];
  const Index begin = std::max(panel.begin, kPanel * range.begin),
              end = std::min(panel.end, kPanel * range.end);
  return {begin, std::max(begin, end)};
}

void MixedRepresentation::fill_basis(NodePanel& panel, IndexRange points) {
  const LongTerm& term = long_[panel.term];
  tile_kernels().fill[kSe](panel.position, points_->time() + points.begin, points.end - points.begin,
                           term.design.amplitude, inverse_width(term.demand.lengthscale), false,
                           panel.values + kPanel * points.begin);
  for (Index i = std::max(points.begin, points_->size()); i < points.end; ++i)
    std::fill_n(panel.values + kPanel * i, kPanel, 0.0);
  for (Index i = points.begin; panel.count < kPanel && i < points.end; ++i)
    std::fill_n(panel.values + kPanel * i + panel.count, kPanel - panel.count, 0.0);
}

/// V ends with its panel's last point, although L⁻¹Φ does not: what is used is V of Φ̂ = LV, whose rows behind
/// the end are R = Σ_c L_ic V_c instead of 0.  ‖D^{−½}R‖_F ≥ ‖D^{−½}(Φ_c − Φ̂)‖.
void MixedRepresentation::measure_cut(Index p) {
  const Index from = band_.envelope().panel_first()[p];
  PanelBand& l = band_.matrix();
  const auto first = std::ranges::upper_bound(ends_, from, {}, &std::pair<Index, Index>::first);
  for (auto at = first; at != ends_.end() && at->first <= kPanel * p; ++at) {
    const NodePanel& panel = panels_[static_cast<std::size_t>(at->second)];
    for (Index i = 0; i < kPanel; ++i) {
      double sum[kPanel] = {};
      for (Index c = std::max(from, panel.begin); c < panel.end; ++c) {
        const double entry = l.column(p, c)[i];
        for (Index r = 0; r < kPanel; ++r) sum[r] += entry * panel.values[kPanel * c + r];
      }
      const double weight = points_->weight()[kPanel * p + i];
      for (const double s : sum) cut_square_ += weight * weight * s * s;
    }
  }
}

/// V = L⁻¹Φ at the points of `range`, and what they add to M = I + VᵀV and to Vᵀ(L⁻¹b).
void MixedRepresentation::after_factor(PanelRange range, RightHandSides b) {
  const simd::PanelKernels& kernels = simd::panel_kernels();
  PanelBand& l = band_.matrix();
  Active all{envelope_.panels(), 0};
  for (Index p = range.begin; p < range.end; ++p) {
    const Active own = active(p);
    all = {std::min(all.first, own.first), std::max(all.last, own.last)};
    for (Index q = own.first; q < own.last; ++q) {
      const IndexRange points = shared(q, {p, p + 1});
      if (points.begin >= points.end) continue;
      NodePanel& panel = panels_[static_cast<std::size_t>(q)];
      fill_basis(panel, points);
      kernels.solve_rows(l.panels(), panel.values, panel.begin, points.begin, points.end,
                         l.inverse_diagonal());
    }
    measure_cut(p);
  }
  for (Index q = all.first; q < all.last; ++q) {
    const IndexRange own = shared(q, range);
    if (own.begin >= own.end) continue;
    const double* values = panels_[static_cast<std::size_t>(q)].values;
    for (Index r = std::max(all.first, envelope_.panel_first()[q] / kPanel); r <= q; ++r) {
      const IndexRange other = shared(r, range);
      const Index from = std::max(own.begin, other.begin), to = std::min(own.end, other.end);
      if (from < to)
        kernels.add_outer(values, panels_[static_cast<std::size_t>(r)].values, from, to,
                          matrix_.column(q, kPanel * r));
    }
    for (Index c = 0; c < b.columns; ++c) {
      double* column = b.data + c * b.stride;
      kernels.add_times(values, own.begin, own.end, column, column + behind() + kPanel * q);
    }
  }
}

/// B = LLᵀ, V and M = I + VᵀV in one go over the panels.
std::optional<Failure> MixedRepresentation::factor_parts(RightHandSides b) {
  transposed_ = false;
  cut_square_ = 0;
  matrix_.shape(envelope_);
  std::fill_n(matrix_.column(0, 0), envelope_.doubles(), 0.0);
  for (Index j = 0; j < envelope_.padded_size(); ++j) matrix_(j, j) = 1;
  return band_.factor(b);  // calls after_factor() as it goes
}

std::optional<Failure> MixedRepresentation::factor(RightHandSides b) {
  given_.reserve(b.columns * b.stride);
  std::copy_n(b.data, b.columns * b.stride, given_.data());
  if (auto failure = factor_parts(b)) return failure;
  const double span = points_->time()[points_->size() - 1] - points_->time()[0];
  while (std::sqrt(cut_square_) > share_ && extension_ < span) {
    extension_ = std::max({2 * extension_, band_.reach(), 1e-3 * span});
    lay_out_nodes();
    std::copy_n(given_.data(), b.columns * b.stride, b.data);
    if (auto failure = factor_parts(b)) return failure;
  }
  largest_ = 0;
  for (Index j = 0; j < envelope_.padded_size(); ++j) largest_ = std::max(largest_, matrix_(j, j));
  if (const auto bad = factorize(matrix_, matrix_.all()))
    return Failure{Failure::Kind::not_positive_definite, bad->row};
  const Index rows = envelope_.padded_size();
  for (Index c = 0; c < b.columns; ++c) {
    double *column = b.data + c * b.stride, *w = column + behind();
    solve(matrix_, {w, 1, 0});
    subtract_basis(w, column);
  }
  step_.reserve(rows);
  for (Index c = 0; c < b.columns && largest_ > kRefineFrom; ++c) {
    // w ← w + M⁻¹(Vᵀr' − w): w = Vᵀr' at the solution.
    double *column = b.data + c * b.stride, *w = column + behind(), *step = step_.data();
    for (Index j = 0; j < rows; ++j) step[j] = -w[j];
    add_transposed(column, step);
    solve(matrix_, {step, 1, 0});
    for (Index j = 0; j < rows; ++j) w[j] += step[j];
    subtract_basis(step, column);
  }
  return std::nullopt;
}

void MixedRepresentation::subtract_basis(const double* w, double* column) {
  for (std::size_t q = 0; q < panels_.size(); ++q) {
    const NodePanel& panel = panels_[q];
    simd::panel_kernels().subtract_transposed(panel.values, panel.begin, panel.end,
                                              w + kPanel * static_cast<Index>(q), column);
  }
}

void MixedRepresentation::add_transposed(const double* column, double* w) {
  for (std::size_t q = 0; q < panels_.size(); ++q) {
    const NodePanel& panel = panels_[q];
    simd::panel_kernels().add_times(panel.values, panel.begin, panel.end, column,
                                    w + kPanel * static_cast<Index>(q));
  }
}

/// L⁻¹(b − Φw̃) = r' − V L_M⁻ᵀε.
void MixedRepresentation::whiten(double* column, std::uint64_t seed) {
  AlignedBuffer spread;
  spread.reserve(envelope_.padded_size());
  for (Index j = 0; j < envelope_.padded_size(); ++j) spread.data()[j] = normal_at(seed, j);
  solve_upper(matrix_, matrix_.all(), {spread.data(), 1, 0});
  subtract_basis(spread.data(), column);
}

/// As in the dual, with V for D^{−½}Φ; and what solves with B lose.
double MixedRepresentation::rounding(double* column, const double* b) {
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
          const double* in = x.data + c * x.stride;
          double* to = out.data + c * out.stride;
          std::fill_n(solved.data(), n, 0.0);
          subtract_basis(in, solved.data());
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

/// Y = L⁻ᵀV at the points of `range`.
void MixedRepresentation::before_inversion(PanelRange range) {
  if (transposed_) return;
  const auto solve_back = simd::panel_kernels().solve_rows_upper;
  PanelBand& l = band_.matrix();
  for (Index p = range.end - 1; p >= range.begin; --p) {
    const Active own = active(p);
    for (Index q = own.first; q < own.last; ++q) {
      const IndexRange points = shared(q, {p, p + 1});
      const NodePanel& panel = panels_[static_cast<std::size_t>(q)];
      if (points.begin < points.end)
        solve_back(l.panels(), panel.values, points.begin, points.end, panel.end, l.inverse_diagonal());
    }
  }
}

void MixedRepresentation::whiten_back() {
  before_inversion(band_.matrix().all());
  transposed_ = true;
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

/// Block (q, r) of S, column by column; null outside M's envelope.
const double* MixedRepresentation::inverse_block(Index q, Index r) {
  if (q >= r) return kPanel * r >= envelope_.panel_first()[q] ? matrix_.column(q, kPanel * r) : nullptr;
  return kPanel * q >= envelope_.panel_first()[r]
             ? mirror_.data() + kBlock * (mirror_start_[static_cast<std::size_t>(q)] + r)
             : nullptr;
}

/// G = YS at the points of panel j, as blocks Gᵀ for every panel of nodes that sees them; and what it adds to
/// the gradient of the long terms, Σ (G − αwᵀ)∘Ψ.  Blocks Yᵀ stay in a ring as long as the band looks back at
/// them.
void MixedRepresentation::prepare_column(Index j) {
  prepared_ = j;
  const simd::PanelKernels& kernels = simd::panel_kernels();
  const Active range = active(j);
  std::vector<Index>& own = seen_[static_cast<std::size_t>(j % ring_)];
  double* transposed = transposed_y_.data() + kBlock * most_seen_ * (j % ring_);
  own.clear();
  for (Index q = range.first; q < range.last; ++q) {
    const NodePanel& panel = panels_[static_cast<std::size_t>(q)];
    if (kPanel * j < panel.begin || kPanel * j >= panel.end) continue;
    kernels.transpose(panel.values + kBlock * j, transposed + kBlock * std::ssize(own));
    own.push_back(q);
  }
  alignas(64) double weights[kBlock];
  for (std::size_t a = 0; a < own.size(); ++a) {
    const Index q = own[a];
    x_.clear();
    y_.clear();
    for (std::size_t b = 0; b < own.size(); ++b) {
      const double* s = inverse_block(q, own[b]);
      if (s == nullptr) continue;
      x_.push_back(transposed + kBlock * static_cast<Index>(b));
      y_.push_back(s);
    }
    double* product = product_.data() + kBlock * static_cast<Index>(a);
    kernels.sum_of_outer(x_.data(), y_.data(), std::ssize(x_), product);
    if (!with_slopes_) continue;
    const NodePanel& panel = panels_[static_cast<std::size_t>(q)];
    kernels.transpose(product, weights);
    for (Index c = 0; c < kPanel; ++c) {
      const double alpha = kPanel * j + c < points_->size() ? alpha_[kPanel * j + c] : 0;
      for (Index r = 0; r < kPanel; ++r) weights[kPanel * c + r] -= alpha * w_[kPanel * q + r];
    }
    // Points past n and nodes past the panel's last have Y = 0 and w = 0 or α = 0, so their weights are 0.
    double sums[2] = {};
    tile_kernels().contract[kSe](panel.position, points_->time() + kPanel * j, kPanel,
                                 inverse_width(long_[panel.term].demand.lengthscale), weights, sums);
    slope_sums_[panel.term] += long_[panel.term].design.amplitude * (sums[1] - 0.5 * sums[0]);
  }
}

void MixedRepresentation::subtract(Index i, Index j, double* block) {
  if (j != prepared_) prepare_column(j);
  const std::vector<Index>&rows = seen_[static_cast<std::size_t>(i % ring_)],
        &columns = seen_[static_cast<std::size_t>(j % ring_)];
  const double* transposed = transposed_y_.data() + kBlock * most_seen_ * (i % ring_);
  x_.clear();
  y_.clear();
  for (std::size_t a = 0, b = 0; a < rows.size() && b < columns.size();) {  // panels that see both, in order
    if (rows[a] == columns[b]) {
      x_.push_back(transposed + kBlock * static_cast<Index>(a++));
      y_.push_back(product_.data() + kBlock * static_cast<Index>(b++));
    } else {
      ++(rows[a] < columns[b] ? a : b);
    }
  }
  alignas(64) double sum[kBlock];
  simd::panel_kernels().sum_of_outer(x_.data(), y_.data(), std::ssize(x_), sum);
  for (Index e = 0; e < kBlock; ++e) block[e] -= sum[e];
}

/// Room for what the panels of points that a column of the band reaches see.
void MixedRepresentation::start_corrections() {
  mirror_inverse();
  prepared_ = -1;
  ring_ = band_.envelope().window() + 1;
  most_seen_ = 1;
  for (const Active& a : active_) most_seen_ = std::max(most_seen_, a.last - a.first);
  seen_.resize(static_cast<std::size_t>(ring_));
  for (std::vector<Index>& list : seen_) list.reserve(static_cast<std::size_t>(most_seen_));
  transposed_y_.reserve(kBlock * most_seen_ * ring_);
  product_.reserve(kBlock * most_seen_);
}

void MixedRepresentation::gradient(double* column, const double* noise_slope, std::span<double> out) {
  start_corrections();
  w_ = column + behind();
  alpha_ = column;  // becomes α as the band's gradient goes over it, before its blocks are asked for
  with_slopes_ = true;
  slope_sums_.assign(long_.size(), 0.0);
  band_gradient_.resize(2 * short_index_.size() + 1);
  band_.gradient(column, noise_slope, band_gradient_);
  std::fill(out.begin(), out.end(), 0.0);
  for (std::size_t t = 0; t < short_index_.size(); ++t) {
    out[2 * short_index_[t]] = band_gradient_[2 * t];
    out[2 * short_index_[t] + 1] = band_gradient_[2 * t + 1];
  }
  out.back() = band_gradient_.back();
  for (std::size_t q = 0; q < panels_.size(); ++q) {
    const NodePanel& panel = panels_[q];
    double& by_variance = out[2 * long_[panel.term].index];
    for (Index r = 0; r < panel.count; ++r) {
      const Index row = kPanel * static_cast<Index>(q) + r;
      by_variance += 0.5 * (1 - matrix_(row, row)) - 0.5 * w_[row] * w_[row];
    }
  }
  for (std::size_t t = 0; t < long_.size(); ++t) out[2 * long_[t].index + 1] = slope_sums_[t];
}

void MixedRepresentation::inverse_diagonal(std::span<double> out) {
  start_corrections();
  with_slopes_ = false;
  band_.inverse_diagonal(out);
}

Certificate MixedRepresentation::certificate(CertificateInputs inputs) const {
  GridErrors e = errors_;
  const UpperBound rho = band_.rho();
  const UpperBound factor = UpperBound::exactly(1) + over_one_minus(rho);  // 1/(1−ρ_B): from D to B
  e.matrix = e.matrix + rho;
  e.cut = (e.cut + UpperBound::of(std::sqrt(cut_square_), 1e4)) * factor;
  e.cross = (e.cross + band_.cross_left_out()) * factor;
  e.basis = e.basis * factor;
  e.gram = e.relative_cut();  // M = I + VᵀV of the cut V
  e.latent = over_one_minus(rho);
  return dual_certificate(e, envelope_.padded_size(), inputs);
}

double MixedRepresentation::condition() { return std::max(largest_, band_.condition()); }

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
  for (Index p = low / kPanel; has_short && p < high / kPanel; ++p) {
    if (active(p).first < active(p).last) touch(active(p).first), touch(active(p).last - 1);
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
  for (Index q = stretch.begin; q < stretch.end; ++q) {
    const NodePanel& panel = panels_[static_cast<std::size_t>(q)];
    const Index begin = std::max(low, panel.begin), end = std::min(high, panel.end);
    if (begin >= end) continue;
    std::fill_n(block, kBlock, 0.0);
    simd::panel_kernels().add_outer(panel.values, cross.data() - kPanel * low, begin, end, block);
    for (Index t = 0; t < count; ++t) {
      for (Index r = 0; r < kPanel; ++r) forward_.column(t)[kPanel * q + r] -= block[kPanel * t + r];
    }
  }
  return stretch;
}

/// mean φ*ᵀw + κᵀα, variance (φ* − Yᵀκ)ᵀS(φ* − Yᵀκ) + k_short(0) − κᵀB⁻¹κ.
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
  whiten_back();
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
  whiten_back();
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

std::optional<Weights> MixedRepresentation::weights() {
  if (!short_kernel_.terms.empty()) return std::nullopt;
  Weights weights{{}, &matrix_, behind()};
  for (const LongTerm& term : long_) weights.parts.push_back({&term.grid, term.row});
  return weights;
}

}  // namespace bandgp
