// SPDX-License-Identifier: Apache-2.0
// What A = ΦΦᵀ + B is made of at a θ: grids, chunks, and which of their parts meet.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <stdexcept>

#include "bandgp/gp/cost_model.hpp"
#include "bandgp/gp/mixed_representation.hpp"
#include "bandgp/kernel/tiles.hpp"
#include "bandgp/simd/dispatch.hpp"

namespace bandgp {

using simd::kBlock;
using simd::kPanel;

namespace {
const std::size_t kSe = AnyShape(Se{}).index();

/// How the tolerance is shared: among the band, whose width is the square root of the work; the grids; and
/// the polynomials with the cuts of V and Y.
constexpr double kBandShare = 0.78, kGridShare = 0.1, kCutShare = 0.1;
}  // namespace

MixedRepresentation::MixedRepresentation(double tolerance, double max_bytes, Index threads)
    : tolerance_(tolerance), max_bytes_(max_bytes), band_(band_cut(false), max_bytes, threads) {
  band_.set_partner(this);
}

InternalCut MixedRepresentation::band_cut(bool keep) const {
  return {.method = Method::band,
          .rule = keep ? CutRule::envelope : CutRule::tolerance,
          .tolerance = kBandShare * tolerance_};
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
    if (!has_basis(kernel.terms[t])) throw std::invalid_argument("only se terms have a basis of Gaussians");
    if (long_.size() <= count) long_.emplace_back();
    long_[count++].index = t;
  }
  long_.resize(count);
}

Cost MixedRepresentation::cost(const Kernel& kernel, const Observations& points, double q_bound) {
  if (choose(kernel, points, q_bound)) return {};
  const double n = static_cast<double>(points.size());
  const double seconds = 1e-9 * mixed_nanoseconds(points.size(), estimate_width(points, band_.reach()),
                                                  static_cast<double>(held_doubles()) / n,
                                                  static_cast<double>(envelope_.padded_size()),
                                                  static_cast<double>(envelope_.bandwidth()));
  return {8 * (doubles() + static_cast<double>(band_.envelope().doubles())), seconds, bandwidth(), 0};
}

std::optional<Failure> MixedRepresentation::choose(const Kernel& kernel, const Observations& points,
                                                   double q_bound) {
  points_ = &points;
  kernel_ = &kernel;
  split(kernel);
  if (auto failure = band_.choose(short_kernel_, points, q_bound)) return failure;
  const Index n = points.size();
  reached_ = true;
  // B ⪰ (1−ρ_B)D, so bounds relative to D hold relative to B but for this factor.
  errors_ = {};
  double node_doubles = 0, nodes = 0;
  for (LongTerm& term : long_) {
    const Term& given = kernel.terms[term.index];
    term.demand = demand_for(given, points.weighted(), q_bound,
                             kGridShare * tolerance_ / static_cast<double>(long_.size()));
    term.design = design_grid(term.demand);
    const GridErrors errors = errors_of(term.design, term.demand);
    reached_ = reached_ && term.design.reached && errors.fit_double();
    errors_.aliasing = max(errors_.aliasing, errors.aliasing);
    errors_.matrix = errors_.matrix + errors.matrix;
    errors_.cut = errors_.cut + errors.cut;
    errors_.basis = errors_.basis + errors.basis;
    errors_.cross = errors_.cross + errors.cross;
    errors_.prior = errors_.prior + errors.prior;
    nodes += most_nodes(term.design, term.demand);
    node_doubles += most_nodes(term.design, term.demand) * 16 * (term.design.vectors + 1);
  }
  if (auto failure = too_large(node_doubles)) return failure;
  for (LongTerm& term : long_) term.grid.place(term.design, points.time(), n);
  lay_out_nodes();
  // A model that fits makes n of its data, and about 1 of each weight; one that does not, what it made last.
  const Squares fitting{static_cast<double>(n), 2 * nodes}, last = seen_.value_or(fitting);
  share_ = kSharePart * allowance({std::min(q_bound, std::max(fitting.residual, last.residual)),
                                   std::min(q_bound, std::max(fitting.weights, last.weights))});
  lay_out();
  return too_large(doubles());
}

double MixedRepresentation::allowance(const Squares& squares) const {
  const double r = std::sqrt(squares.residual), w = std::sqrt(squares.weights),
               budget = kCutShare * tolerance_;
  // With ε for all three together: ½·2εrw + ½ε²(r + w)² of the quadratic form, ½mε of log|M|.
  const double all = std::min({0.6 * budget / (r * w), std::sqrt(0.2 * budget) / (r + w),
                               0.2 * budget / static_cast<double>(kPanel * std::ssize(panels_))});
  double variances = std::numeric_limits<double>::infinity();
  for (const LongTerm& term : long_)
    variances = std::min(variances, cut_for_variances(term.demand, short_kernel_.variance()));
  return std::min(all, variances);
}

void MixedRepresentation::lay_out() {
  choose_extensions();
  choose_chunks();
  lay_out_columns();
}

void MixedRepresentation::choose_extensions() {
  const double decay = decay_length();
  back_extension_.distance = back_extension_.growth * decay;
  past_band_ = seen_ && left_per_rho_ * band_.rho().value() > kCutPart * allowance(*seen_);
  forward_extension_.distance =
      forward_extension_.growth * (past_band_ ? std::max(decay, kPastBand * band_.reach()) : decay);
}

std::optional<Failure> MixedRepresentation::too_large(double doubles) const {
  const Envelope& band = band_.envelope();
  const double bytes =
      8 * (doubles + static_cast<double>(band.doubles() + SelectedInverse::mirror_doubles(band)));
  if (bytes <= max_bytes_) return std::nullopt;
  return Failure{Failure::Kind::too_large, 0, bytes, 1e-9 * doubles * 40};
}

/// To where V's cut may be left (a chunk's end every few gaps, each with columns of the size of σ) and Y's
/// too.
double MixedRepresentation::decay_length() const {
  const auto n = static_cast<double>(points_->size());
  double variance = 0;
  for (const LongTerm& term : long_) variance += term.demand.variance;
  const double left = share_ / std::sqrt(n * variance / points_->mean_noise());
  const double nepers = std::max(kNepersOfInverse, 2 - std::log(left));
  return inverse_length(short_kernel_, *points_, nepers);
}

/// Longer chunks need more columns and less of what lies beyond them: multiply-adds a point, about.
void MixedRepresentation::choose_chunks() {
  const Index n = points_->size();
  const double gap = n > 1 ? points_->span() / static_cast<double>(n - 1) : 1;
  const auto points_in = [&](double distance) { return std::min(distance / gap, static_cast<double>(n)); };
  const double beyond = points_in(forward_extension_.distance), before = points_in(back_extension_.distance);
  const double width =
      static_cast<double>(band_.envelope().doubles()) / static_cast<double>(band_.envelope().padded_size());
  double least = std::numeric_limits<double>::infinity(), chosen = 0;
  Index columns = kPanel;
  for (Index q = kPanel; q <= kMostColumns; q += kPanel) {
    double half = std::numeric_limits<double>::infinity();
    for (const LongTerm& term : long_)
      half = std::min(half,
                      longest_half(term.design, term.demand, q, share_ / static_cast<double>(long_.size())));
    const double length = std::clamp(2 * half / gap, 8.0, std::max(8.0, static_cast<double>(n)));
    const double parts = std::min(static_cast<double>(q), 8 * std::ceil(length / 8)) / 8;
    double nodes = 0;  // panels of them
    for (const LongTerm& term : long_)
      nodes += 1 + (2 * term.design.cut + length * gap / term.design.spacing) / 8;
    const double active = 8 * parts * (1 + (beyond + 0.7 * before) / length);
    const double neighbours = 1 + 2 * std::ceil((beyond + before + width) / length);
    const double blocks = parts * nodes * (2 * nodes + 3 * neighbours * parts);
    const double cost = 3 * width * active + active * active + 512 * blocks / length;
    if (cost < least) {
      least = cost;
      columns = q;
      chosen = half;
    }
  }
  polynomials_.lay_out(points_->time(), n, columns, chosen);
  polynomial_error_ = {};
  for (const LongTerm& term : long_)
    polynomial_error_ = polynomial_error_ + polynomial_error(term.design, term.demand, columns, chosen);
}

/// Panels of eight nodes, in order of position.
void MixedRepresentation::lay_out_nodes() {
  panels_.clear();
  for (std::size_t t = 0; t < long_.size(); ++t) {
    const double h = long_[t].design.spacing;
    for (const GaussianGrid::Run& run : long_[t].grid.runs()) {
      for (double at = run.begin; at < run.end; at += 8) {
        NodePanel panel{.position = {}, .term = t, .count = static_cast<Index>(std::min(8.0, run.end - at))};
        for (Index r = 0; r < kPanel; ++r)
          panel.position[r] = (at + static_cast<double>(std::min(r, panel.count - 1))) * h;
        panels_.push_back(panel);
      }
    }
  }
  std::ranges::stable_sort(panels_, {}, [](const NodePanel& p) { return p.position[0] + p.position[7]; });
  for (LongTerm& term : long_) {
    term.row.clear();
    term.panels.clear();
  }
  for (std::size_t q = 0; q < panels_.size(); ++q) {  // panels of one term keep their order
    LongTerm& term = long_[panels_[q].term];
    term.panels.push_back(static_cast<Index>(q));
    for (Index r = 0; r < panels_[q].count; ++r) term.row.push_back(kPanel * static_cast<Index>(q) + r);
  }
}

/// Panels of columns and where they are held, the nodes of every chunk, and the entries of N.
void MixedRepresentation::lay_out_columns() {
  const Index n = points_->size();
  const double* x = points_->time();
  columns_.clear();
  nodes_.resize(polynomials_.chunks().size());
  blocks_ = 0;
  std::vector<Index> seeing(panels_.size(), 0);
  for (std::size_t c = 0; c < nodes_.size(); ++c) {
    const LocalPolynomials::Chunk& chunk = polynomials_.chunks()[c];
    const double low = x[chunk.begin], high = x[std::min(chunk.end, n) - 1];
    ColumnPanel panel;
    panel.chunk = static_cast<Index>(c);
    panel.begin = chunk.begin;
    panel.end = chunk.end;
    panel.first =
        round_down(std::lower_bound(x, x + chunk.begin, low - back_extension_.distance) - x, kPanel);
    panel.last =
        round_up(std::upper_bound(x + chunk.begin, x + n, high + forward_extension_.distance) - x, kPanel);
    panel.settled = round_up(
        std::upper_bound(x + chunk.begin, x + std::min(panel.last, n), high + back_extension_.distance) - x,
        kPanel);
    panel.settled = std::min(panel.settled, panel.last);
    for (panel.part = 0; panel.part < chunk.panels; ++panel.part) columns_.push_back(panel);
    ChunkNodes& nodes = nodes_[c];
    nodes.panels.clear();
    nodes.block = blocks_;
    for (const LongTerm& term : long_) {
      const double cut = term.design.cut * term.design.spacing;
      auto at = std::ranges::partition_point(
          term.panels, [&](Index q) { return panels_[static_cast<std::size_t>(q)].position[7] < low - cut; });
      for (; at != term.panels.end() && panels_[static_cast<std::size_t>(*at)].position[0] <= high + cut;
           ++at)
        nodes.panels.push_back(*at);
    }
    std::ranges::sort(nodes.panels);
    for (const Index q : nodes.panels) ++seeing[static_cast<std::size_t>(q)];
    blocks_ += chunk.panels * std::ssize(nodes.panels);
  }
  most_seeing_ = seeing.empty() ? 0 : std::ranges::max(seeing);
  held_.assign(static_cast<std::size_t>(behind() / kPanel), {std::ssize(columns_), 0});
  felt_ = held_;
  std::vector<Index> first(static_cast<std::size_t>(kPanel) * columns_.size());
  Index back = 0;
  for (Index a = 0; a < std::ssize(columns_); ++a) {
    const ColumnPanel& panel = column_panel(a);
    for (Index p = panel.first / kPanel; p < panel.last / kPanel; ++p) {
      Range& range = held_[static_cast<std::size_t>(p)];
      range = {std::min(range.first, a), a + 1};
      if (kPanel * p >= panel.settled) continue;
      Range& felt = felt_[static_cast<std::size_t>(p)];
      felt = {std::min(felt.first, a), a + 1};
    }
    while (column_panel(back).last <= panel.begin) ++back;
    std::fill_n(first.begin() + kPanel * a, kPanel, kPanel * back);
  }
  gram_envelope_.keep(first);
  lay_out_pairs();
}

/// Which panels of columns meet in A⁻¹'s entries inside the band, and so which nodes must in M⁻¹.
void MixedRepresentation::lay_out_pairs() {
  const Envelope& band = band_.envelope();
  const auto nodes = static_cast<Index>(panels_.size());
  std::vector<Index> first(static_cast<std::size_t>(nodes));
  std::iota(first.begin(), first.end(), Index{0});
  pairs_ = 0;
  for (Index b = 0; b < std::ssize(columns_); ++b) {
    ColumnPanel& panel = column_panel(b);
    // The first block column of the band with a row at which b is held.
    const Index earliest = band.panel_first()[panel.first / kPanel] / kPanel;
    panel.low = std::min(felt(earliest).first, gram_envelope_.panel_first()[b] / kPanel);
    panel.high = std::max(felt(panel.settled / kPanel - 1).last, gram_envelope_.last_panel(b) + 1);
    panel.sigma = pairs_;
    pairs_ += panel.high - panel.low;
    // Panels and their nodes come in order: the lowest that b meets sees the lowest.
    const Index lowest = nodes_of(column_panel(panel.low)).panels.front();
    for (const Index q : nodes_of(panel).panels) {
      Index& least = first[static_cast<std::size_t>(q)];
      least = std::min(least, lowest);
    }
  }
  for (Index q = nodes - 1; q > 0; --q) {
    Index& least = first[static_cast<std::size_t>(q - 1)];
    least = std::min(least, first[static_cast<std::size_t>(q)]);
  }
  std::vector<Index> rows(static_cast<std::size_t>(kPanel * nodes));
  for (Index q = 0; q < nodes; ++q)
    std::fill_n(rows.begin() + kPanel * q, kPanel, kPanel * first[static_cast<std::size_t>(q)]);
  envelope_.keep(rows);
}

Index MixedRepresentation::held_doubles() const {
  Index doubles = 0;
  for (const ColumnPanel& panel : columns_) doubles += kPanel * (panel.last - panel.first);
  return doubles;
}

double MixedRepresentation::doubles() const {
  return static_cast<double>(held_doubles() + gram_envelope_.doubles() + 2 * envelope_.doubles() +
                             SelectedInverse::mirror_doubles(envelope_)) +
         64 * static_cast<double>(3 * blocks_ + pairs_);
}

void MixedRepresentation::fill_stations(const NodePanel& nodes, const LocalPolynomials::Chunk& chunk,
                                        const LocalPolynomials::Stations& at) {
  const LongTerm& term = long_[nodes.term];
  // exp(−(x−u)²/ℓ²) is the SE shape of length-scale ℓ/√2.
  tile_kernels().fill[kSe](nodes.position, at.data(), kPanel * chunk.panels, term.design.amplitude,
                           std::numbers::sqrt2 / term.demand.lengthscale, false, between_.data());
  for (Index s = 0; s < kPanel * chunk.panels; ++s)
    std::fill_n(between_.data() + kPanel * s + nodes.count, kPanel - nodes.count, 0.0);
}

void MixedRepresentation::expand(bool slopes, double* rows) {
  between_.reserve(kPanel * kMostColumns);
  LocalPolynomials::Stations at;
  for (std::size_t c = 0; c < nodes_.size(); ++c) {
    const LocalPolynomials::Chunk& chunk = polynomials_.chunks()[c];
    polynomials_.stations(chunk, points_->time(), points_->size(), at);
    for (const Index q : nodes_[c].panels) {
      const NodePanel& nodes = panels_[static_cast<std::size_t>(q)];
      fill_stations(nodes, chunk, at);
      const double lengthscale = long_[nodes.term].demand.lengthscale;
      for (Index s = 0; slopes && s < kPanel * chunk.panels; ++s) {
        for (Index r = 0; r < nodes.count; ++r) {
          const double z = (at[static_cast<std::size_t>(s)] - nodes.position[r]) / lengthscale;
          between_.data()[kPanel * s + r] *= 2 * z * z - 0.5;
        }
      }
      polynomials_.coefficients(chunk, between_.data(), points_->size(), rows);
      rows += kBlock * chunk.panels;
    }
  }
}

/// Room for V, and C.
void MixedRepresentation::take_coefficients() {
  values_.reserve(held_doubles());
  rows_of_c_.reserve(kBlock * blocks_);
  columns_of_c_.reserve(kBlock * blocks_);
  expand(false, rows_of_c_.data());
  for (Index block = 0; block < blocks_; ++block)
    simd::panel_kernels().transpose(rows_of_c_.data() + kBlock * block,
                                    columns_of_c_.data() + kBlock * block);
  double* next = values_.data();
  for (ColumnPanel& panel : columns_) {
    panel.values = next - kPanel * panel.first;
    next += kPanel * (panel.last - panel.first);
    std::ranges::fill(panel.norm, 0.0);
    for (std::size_t k = 0; k < nodes_of(panel).panels.size(); ++k) {
      const double* rows = rows_of_c_.data() + kBlock * block_of(panel, k);
      for (Index e = 0; e < kBlock; ++e) panel.norm[e / kPanel] += rows[e] * rows[e];
    }
    for (double& norm : panel.norm) norm = std::sqrt(norm);
  }
}

}  // namespace bandgp
