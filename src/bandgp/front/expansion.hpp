// SPDX-License-Identifier: Apache-2.0
// What the weights of a chunk's Gaussians are as coefficients of Chebyshev's polynomials on its cell: β = Cw.
// The finest basis has the same coefficients on every cell, from a table; those of the others are
// interpolated. A basis with a long length-scale needs few polynomials: the rows of C beyond are 0. Slopes C′
// by log ℓ: Gaussians satisfy ∂φ/∂log ℓ = ½φ + ½ℓ²φ″, a map of polynomials, which is what the table has of
// them; others have theirs interpolated. A basis that oscillates has two columns a node, the Gaussian times
// cos and times sin of a phase that is 0 at time 0; by the log of its period node j keeps its phase at its
// own centre, so that the slope does not grow with the distance from 0. [math.md §11, §12]
#pragma once
#include <algorithm>
#include <cmath>
#include <numbers>
#include <type_traits>
#include <vector>

#include "bandgp/base/oscillator.hpp"
#include "bandgp/front/front_kernels.hpp"
#include "bandgp/front/layout.hpp"
#include "bandgp/front/table.hpp"
#include "bandgp/front/waves.hpp"

namespace bandgp::front {

template <class Real>
class Expansion {
 public:
  /// Of a chunk after make(): R, from slots to the columns (x, β) of its element.
  Table<Real> columns;

  /// A basis's coefficients for consecutive slots: C, Cᵀ with rows of whole lanes, and C′ by log ℓ, null
  /// where they are those of the table, and by the log of the period, where it has one.
  struct Piece {
    Index slot, count;
    const Real* coefficients;
    Index stride;
    const Real* across;
    Index across_stride;
    const Real* slopes;
    const Real* period_slopes;
  };

  void lay_out(const double* time, const Layout& layout, std::vector<Gaussians> bases, Index spacings,
               Index states) {
    time_ = time;
    layout_ = &layout;
    bases_ = std::move(bases);
    states_ = states;
    cell_nodes_ = spacings;
    half_ = bases_.empty() ? 0 : expanded_half(spacings, bases_.back().spacing);
    const auto slots = static_cast<std::size_t>(layout.slots());
    centre_.assign(slots, Real(0));
    amplitude_.assign(slots, Real(0));
    inverse_length_.assign(slots, Real(1));
    interpolations_.resize(bases_.size());
    for (std::size_t t = 0; t < bases_.size(); ++t) {
      interpolations_[t].make(bases_[t].polynomials);
      std::fill_n(inverse_length_.begin() + layout.ring_begin(t), layout.width(t),
                  1 / Real(bases_[t].lengthscale));
    }
    oscillates_ = std::ranges::any_of(bases_, &Gaussians::oscillates);
    plan_.lay_out(bases_);
    compact_.resize(bases_.size());
    centre_.resize(slots + 8, Real(0));
    amplitude_.resize(slots + 8, Real(0));
    inverse_length_.resize(slots + 8, Real(1));
    are_waves_ = false;
    columns.rows = slopes_.rows = period_slopes_.rows = 0;  // what they hold belongs to another layout
    make_cell();
  }

  /// Rows of β that a basis has, and all bases together.
  Index rank(Index c, std::size_t t) const {
    return layout_->chunk(c).identity ? layout_->chunk(c).count() : bases_[t].polynomials;
  }
  Index polynomials(Index c) const {
    if (bases_.empty()) return 0;
    return has_waves(c) ? plan_.rows() : rank(c, bases_.size() - 1);
  }
  bool oscillates() const { return oscillates_; }
  /// Whether a chunk has polynomials times waves.
  bool has_waves(Index c) const { return oscillates_ && !layout_->chunk(c).identity; }
  const WavePlan<Real>& plan() const { return plan_; }
  /// cos and sin of all frequencies at the points of a chunk.
  void place_waves(const Chunk& chunk, Table<Real>& waves) const {
    plan_.place(
        time_ + chunk.begin, chunk.count(), [](double turns, double x) { return phase(turns, 1, x); }, waves);
  }

  /// What a basis is on a chunk with waves: the same for both columns of a node.
  struct Compact {
    Table<Real> coefficients, slopes, period_slopes;  // polynomials by nodes of the ring, to whole lanes
    Table<Real> across;                               // nodes by polynomials, to whole lanes
  };
  const Compact& compact(std::size_t t) const { return compact_[t]; }

  /// Where in [−1, 1] the points of a chunk are that has polynomials.
  void place_points(const Chunk& chunk, Real* out) const {
    const Middle middle = middle_of(chunk);
    const Real per_half = 1 / Real(half_);
    for (Index i = chunk.begin; i < chunk.end; ++i) *out++ = middle.distance_to(time_[i]) * per_half;
  }

  void make(Index c) {
    make_others(c, false);
    make_columns(c);
  }
  /// For pieces(), which make() alone does not serve.
  void make_pieces(Index c) {
    make_others(c, true);
    if (!has_waves(c)) make_across(c);
  }
  /// visit(piece) for what a chunk sees of a basis.
  template <class Visit>
  void pieces(Index c, std::size_t t, const Visit& visit) const {
    if (!is_table(c, t)) {
      const Index begin = layout_->ring_begin(t), slots = layout_->slots();
      visit(Piece{begin, layout_->width(t), columns[states_] + begin, slots, across_[begin], across_.width,
                  slopes_[states_] + begin,
                  bases_[t].oscillates() ? period_slopes_[states_] + begin : nullptr});
      return;
    }
    const Stretch stretch = stretch_of(c);
    const auto part = [&](Index slot, Index from, Index count) {
      visit(Piece{slot, count, cell_.data() + from, cell_.width, cell_across_[from], cell_across_.width,
                  nullptr, nullptr});
    };
    part(stretch.slot, stretch.from, stretch.straight);
    if (stretch.wrapped > 0) part(layout_->ring_begin(t), stretch.from + stretch.straight, stretch.wrapped);
  }
  /// Whether a chunk has this basis's coefficients from the table.
  bool is_table(Index c, std::size_t t) const {
    return t + 1 == bases_.size() && !layout_->chunk(c).identity && !oscillates_;
  }
  /// ½ℓ² of a basis, in units of the cell's half.
  Real slope_factor(std::size_t t) const {
    const Real ratio = Real(bases_[t].lengthscale) / Real(half_);
    return ratio * ratio / 2;
  }
  /// What (x − u)φ times the rate of a basis's phase is of φ's derivative, likewise: (x − u)φ = −½ℓ²φ′.
  Real period_factor(std::size_t t) const { return -slope_factor(t) * Real(half_) * rate_of(t); }
  /// Whether a basis has polynomials enough on a cell with waves for its slopes to be maps of them.
  bool is_mapped(std::size_t t) const { return half_ > 0.4 * bases_[t].lengthscale; }
  /// The values at x of every slot's column, for the bases that are chosen.
  void values(Index c, const std::vector<bool>& chosen, double x, Real* out) {
    if (bases_.empty()) {
      std::fill_n(out, layout_->slots(), Real(0));
      return;
    }
    place_nodes(c, chosen);
    make_row(middle_of(layout_->chunk(c)).distance_to(x), x, out, nullptr, nullptr);
  }

  /// β of weights in slots, to whole lanes.
  void expand(Index c, const Real* weights, Numbers<Real>& beta) {
    const Chunk& here = layout_->chunk(c);
    const Index q = polynomials(c);
    beta.resize(static_cast<std::size_t>(round_up(q, 8)));
    if (has_exponentials(c)) place_nodes(c, exponentials(c));
    if (here.identity) {
      const Middle middle = middle_of(here);
      const Index slots = layout_->slots();
      values_.resize(1, slots);
      for (Index k = 0; k < q; ++k) {
        const double x = time_[here.begin + k];
        make_row(middle.distance_to(x), x, values_.data(), nullptr, nullptr);
        beta[static_cast<std::size_t>(k)] = loops().contract(values_.data(), 0, weights, 0, 1, slots);
      }
      return;
    }
    if (has_waves(c)) {
      make_compact(c, false);
      std::fill(beta.begin(), beta.end(), Real(0));
      for (std::size_t t = 0; t < bases_.size(); ++t) {
        const Index ring = layout_->ring(t);
        for (Index k = 0; k < bases_[t].columns(); ++k) {
          const Real* own = weights + layout_->ring_begin(t) + k * ring;
          for (Index m = 0; m < bases_[t].polynomials; ++m)
            beta[static_cast<std::size_t>(plan_.first_row(t, k) + m)] +=
                loops().contract(compact_[t].coefficients[m], 0, own, 0, 1, ring);
        }
      }
      return;
    }
    bool add_to = false;
    pieces(c, bases_.size() - 1, [&](const Piece& piece) {
      loops().multiply({{weights + piece.slot, 0, 1},
                        {piece.across, piece.across_stride},
                        {beta.data(), 0},
                        1,
                        piece.count,
                        round_up(q, 8),
                        add_to});
      add_to = kAddTo;
    });
    for (std::size_t t = 0; t + 1 < bases_.size(); ++t) {
      const Interpolation& interpolation = interpolations_[t];
      for (Index k = 0; k < bases_[t].polynomials; ++k) {
        const Real at = value(station(t, k), layout_->ring_begin(t), layout_->ring(t), weights);
        for (Index m = 0; m < bases_[t].polynomials; ++m)
          beta[static_cast<std::size_t>(m)] += interpolation.transform[m][k] * at;
      }
    }
  }

  struct Phase {
    Real cos, sin;
  };
  /// Of a basis that oscillates, good to the last digits however far x is from 0.
  static Phase phase(const Gaussians& basis, double x) { return phase(basis.turns, basis.harmonic, x); }
  static Phase phase(double rate, Index harmonic, double x) {
    using std::cos, std::fma, std::nearbyint, std::sin;
    const Real turns = Real(x) * Real(rate), rest = fma(Real(x), Real(rate), -turns),
               part = (turns - nearbyint(turns)) + rest, all = Real(harmonic) * part;
    if constexpr (std::is_same_v<Real, double>) {
      const Turn<double> angle = turn(all);
      return {angle.cos, angle.sin};
    } else {
      const Real angle = 2 * std::numbers::pi_v<Real> * (all - nearbyint(all));
      return {cos(angle), sin(angle)};
    }
  }
  static Real gaussian(const Gaussians& basis, Index j, Real at) {
    using std::exp;
    const Real z = minus_product(at, Real(j), Real(basis.spacing)) / Real(basis.lengthscale);
    return Real(basis.amplitude) * exp(-z * z);
  }

 private:
  /// Chebyshev's nodes, and his coefficients from values there.
  struct Interpolation {
    Numbers<Real> stations;
    Table<Real> transform;
    void make(Index q) {
      using std::cos;
      const auto cosine = [&](Index of) {
        return cos(std::numbers::pi_v<Real> * Real(of % (4 * q)) / Real(2 * q));
      };
      stations.resize(static_cast<std::size_t>(q));
      transform.resize(q, q);
      for (Index m = 0; m < q; ++m) {
        stations[static_cast<std::size_t>(m)] = cosine(2 * m + 1);
        for (Index k = 0; k < q; ++k)
          transform[m][k] = (m == 0 ? Real(1) : Real(2)) / Real(q) * cosine(m * (2 * k + 1));
      }
    }
  };
  /// The chunk's nodes of the finest basis: where they begin in the cells' table and in the ring, how many
  /// lie before the ring's end, and how many behind it, from its beginning on.
  struct Stretch {
    Index from, slot, straight, wrapped;
  };

  const Kernels<Real>& loops() const { return kernels<Real>(); }
  /// Whether the chunk has Gaussians that are not in the cells' table.
  bool has_exponentials(Index c) const { return bases_.size() > 1 || layout_->chunk(c).identity; }
  /// These Gaussians' bases.
  std::vector<bool> exponentials(Index c) const {
    std::vector<bool> chosen = all_bases();
    if (!bases_.empty() && is_table(c, bases_.size() - 1)) chosen.back() = false;
    return chosen;
  }
  /// x − ab, rounded once: far from 0 a place between nodes has few digits left.
  static Real minus_product(Real x, Real a, Real b) { return std::fma(-a, b, x); }
  /// The middle of a cell, a whole or half number of the finest basis's spacings, as a rounded number and
  /// what it is too large by.
  struct Middle {
    Real rounded, excess;
    Real distance_to(Real x) const { return (x - rounded) + excess; }
    Real distance_to_node(Index j, Real spacing) const {
      return excess - minus_product(rounded, Real(j), spacing);
    }
  };
  Middle middle_of(const Chunk& chunk) const {
    const Real node = (Real(chunk.cell) + Real(0.5)) * Real(cell_nodes_), spacing = bases_.back().spacing,
               rounded = node * spacing;
    return {rounded, minus_product(rounded, node, spacing)};
  }
  /// One of Chebyshev's nodes for a basis, from the middle of a cell.
  Real station(std::size_t t, Index k) const {
    return Real(half_) * interpolations_[t].stations[static_cast<std::size_t>(k)];
  }
  /// Σ of the Gaussians of some slots, times their weights, at x from the middle; after place_nodes().
  Real value(Real x, Index slot, Index count, const Real* weights) {
    values_.resize(1, round_up(count, 8) + 8);
    const Index from = slot / 8 * 8;
    loops().gaussians(x, centre_.data() + from, inverse_length_.data() + from, amplitude_.data() + from,
                      round_up(slot + count, 8) - from, values_.data(), nullptr);
    return loops().contract(values_.data() + (slot - from), 0, weights + slot, 0, 1, count);
  }
  Stretch stretch_of(Index c) const {
    const std::size_t t = bases_.size() - 1;
    const Range& nodes = layout_->nodes(c, t);
    const Index slot = layout_->node_slot(t, nodes.first),
                straight = std::min(nodes.count(), layout_->ring_begin(t) + layout_->ring(t) - slot);
    return {nodes.first - (layout_->chunk(c).cell * cell_nodes_ + first_of_cell_), slot, straight,
            nodes.count() - straight};
  }

  /// The coefficients of the finest basis's Gaussians on a cell.
  void make_cell() {
    if (bases_.empty() || oscillates_) return;
    const Gaussians& basis = bases_.back();
    const Interpolation& interpolation = interpolations_.back();
    const Index beyond = static_cast<Index>(std::ceil((basis.reach + half_) / basis.spacing)),
                q = basis.polynomials;
    first_of_cell_ = -beyond;
    // Whole lanes of the last nodes, and room for how places are rounded.
    const Index width = round_up(2 * beyond + cell_nodes_ + 1, 8) + 8;
    const auto size = static_cast<std::size_t>(width);
    Numbers<Real> centre(size), inverse(size, 1 / Real(basis.lengthscale)),
        amplitude(size, Real(basis.amplitude));
    for (Index r = 0; r < width; ++r)
      centre[static_cast<std::size_t>(r)] =
          (Real(first_of_cell_ + r) - Real(cell_nodes_) / 2) * Real(basis.spacing);
    values_.resize(q, width);
    for (Index k = 0; k < q; ++k)
      loops().gaussians(Real(half_) * interpolation.stations[static_cast<std::size_t>(k)], centre.data(),
                        inverse.data(), amplitude.data(), width, values_[k], nullptr);
    cell_.resize(q, width);
    loops().multiply({{interpolation.transform.data(), q, 1},
                      {values_.data(), width},
                      {cell_.data(), width},
                      q,
                      q,
                      width});
    cell_across_.set_zero(width, round_up(q, 8));
    for (Index m = 0; m < q; ++m) {
      for (Index r = 0; r < width; ++r) cell_across_[r][m] = cell_[m][r];
    }
  }

  /// The centres, from the middle of the cell, and amplitudes of the slots' Gaussians; slots that the chunk
  /// does not see have none.
  void place_nodes(Index c, const std::vector<bool>& chosen) {
    const Middle middle = middle_of(layout_->chunk(c));
    std::fill(amplitude_.begin(), amplitude_.end(), Real(0));
    for (std::size_t t = 0; t < bases_.size(); ++t) {
      if (!chosen[t]) continue;
      const Real spacing = bases_[t].spacing, amplitude = bases_[t].amplitude;
      const Index first = layout_->nodes(c, t).first;
      const Real begin = middle.distance_to_node(first, spacing);
      layout_->for_nodes(c, t, [&](Index slot, Index j, Index) {
        centre_[static_cast<std::size_t>(slot)] = begin + Real(j - first) * spacing;
        amplitude_[static_cast<std::size_t>(slot)] = amplitude;
      });
    }
  }

  /// By which a basis's phase goes in a unit of time.
  Real rate_of(std::size_t t) const {
    return 2 * std::numbers::pi_v<Real> * Real(bases_[t].harmonic) * Real(bases_[t].turns);
  }
  std::vector<bool> all_bases() const { return std::vector<bool>(bases_.size(), true); }
  /// All slots' columns at x, `at` from the middle of the cell, and unless null their slopes by log ℓ and by
  /// the log of the period (of bases that have one); after place_nodes().
  void make_row(Real at, double x, Real* out, Real* slope, Real* period_slope) const {
    loops().gaussians(at, centre_.data(), inverse_length_.data(), amplitude_.data(), layout_->slots(), out,
                      slope);
    for (std::size_t t = 0; t < bases_.size(); ++t) {
      if (!bases_[t].oscillates()) continue;
      const Phase phase = Expansion::phase(bases_[t], x);
      const Real rate = rate_of(t);
      const Index begin = layout_->ring_begin(t), ring = layout_->ring(t);
      const auto turn = [&](Index from, Real by, Real by_rate) {
        for (Index s = from; s < from + ring; ++s) {
          if (slope != nullptr) slope[s] *= by;
          if (period_slope != nullptr)
            period_slope[s] = by_rate * (at - centre_[static_cast<std::size_t>(s)]) * out[s];
          out[s] *= by;
        }
      };
      turn(begin, phase.cos, rate * phase.sin);
      turn(begin + ring, phase.sin, -rate * phase.cos);
    }
  }

  /// Where a chunk's columns are as many as those of the chunk before, they are 0 in the same places.
  static void start(Table<Real>& table, Index rows, Index width) {
    if (table.rows != rows || table.width != width) table.set_zero(rows, width);
  }
  /// The coefficients, and C′ where wanted, that are not from the table.
  void make_others(Index c, bool with_slopes) {
    if (bases_.empty()) return;
    if (has_waves(c)) {
      make_compact(c, with_slopes);
      return;
    }
    are_waves_ = false;
    const Chunk& here = layout_->chunk(c);
    const Index p = states_, q = polynomials(c), slots = layout_->slots();
    start(columns, p + q, slots);
    if (!has_exponentials(c)) return;
    if (with_slopes) {
      start(slopes_, p + q, slots);
      if (oscillates_) start(period_slopes_, p + q, slots);
    }
    place_nodes(c, exponentials(c));
    if (here.identity) {
      const Middle middle = middle_of(here);
      for (Index k = 0; k < q; ++k) {
        const double x = time_[here.begin + k];
        make_row(middle.distance_to(x), x, columns[p + k], with_slopes ? slopes_[p + k] : nullptr,
                 with_slopes && oscillates_ ? period_slopes_[p + k] : nullptr);
      }
      return;
    }
    for (std::size_t t = 0; t + 1 < bases_.size(); ++t) interpolate(t, with_slopes);
  }
  /// The rest of R: states, and what is from the table.
  void make_columns(Index c) {
    const Index p = states_, q = polynomials(c);
    if (bases_.empty()) start(columns, p, layout_->slots());
    for (Index i = 0; i < p; ++i) {
      std::fill_n(columns[i] + layout_->state_begin(), 3 * p, Real(0));
      if (c > 0) columns[i][layout_->state_slot(c) + i] = 1;
    }
    if (q == 0 || layout_->chunk(c).identity) return;
    if (has_waves(c)) {
      // Every basis has rows of its own in the same places of every such chunk, and 0 elsewhere.
      if (!are_waves_) columns.set_zero(p + q, layout_->slots());
      are_waves_ = true;
      for (std::size_t t = 0; t < bases_.size(); ++t) {
        const Index ring = layout_->ring(t);
        for (Index k = 0; k < bases_[t].columns(); ++k) {
          for (Index m = 0; m < bases_[t].polynomials; ++m)
            std::copy_n(compact_[t].coefficients[m], ring,
                        columns[p + plan_.first_row(t, k) + m] + layout_->ring_begin(t) + k * ring);
        }
      }
      return;
    }
    const Stretch stretch = stretch_of(c);
    const Index begin = layout_->ring_begin(bases_.size() - 1);
    loops().copy(cell_.data() + stretch.from, cell_.width, q, stretch.straight, columns[p] + stretch.slot,
                 columns.width);
    loops().copy(cell_.data() + stretch.from + stretch.straight, cell_.width, q, stretch.wrapped,
                 columns[p] + begin, columns.width);
    layout_->for_unseen(c, bases_.size() - 1, [&](Index slot) {
      for (Index k = 0; k < q; ++k) columns[p + k][slot] = 0;
    });
  }
  /// A basis that is not the finest, by its values at Chebyshev's nodes of the cell.
  void interpolate(std::size_t t, bool with_slopes) {
    const Interpolation& interpolation = interpolations_[t];
    const Index q = bases_[t].polynomials, begin = layout_->lanes_begin(t),
                width = layout_->lanes_end(t) - begin;
    values_.resize(q, width);
    slope_values_.resize(q, width);
    coefficients_.resize(q, width);
    for (Index k = 0; k < q; ++k)
      loops().gaussians(station(t, k), centre_.data() + begin, inverse_length_.data() + begin,
                        amplitude_.data() + begin, width, values_[k],
                        with_slopes ? slope_values_[k] : nullptr);
    const auto transform = [&](const Table<Real>& from, Table<Real>& out) {
      loops().multiply({{interpolation.transform.data(), q, 1},
                        {from.data(), width},
                        {coefficients_.data(), width},
                        q,
                        q,
                        width});
      const Index ring = layout_->ring_begin(t);
      for (Index k = 0; k < q; ++k)
        std::copy_n(coefficients_[k] + (ring - begin), layout_->ring(t), out[states_ + k] + ring);
    };
    transform(values_, columns);
    if (with_slopes) transform(slope_values_, slopes_);
  }
  /// Values and slopes at Chebyshev's nodes of the cell → coefficients, of every basis.
  void make_compact(Index c, bool with_slopes) {
    place_nodes(c, all_bases());
    for (std::size_t t = 0; t < bases_.size(); ++t) {
      const Gaussians& basis = bases_[t];
      const Interpolation& interpolation = interpolations_[t];
      const Index q = basis.polynomials, ring = layout_->ring(t), begin = layout_->ring_begin(t),
                  width = round_up(ring, 8);
      values_.resize(q, width);
      slope_values_.resize(q, width);
      const auto transform = [&](const Table<Real>& from, Table<Real>& out) {
        out.resize(q, width);
        loops().multiply(
            {{interpolation.transform.data(), q, 1}, {from.data(), width}, {out.data(), width}, q, q, width});
      };
      for (Index k = 0; k < q; ++k) {
        loops().gaussians(station(t, k), centre_.data() + begin, inverse_length_.data() + begin,
                          amplitude_.data() + begin, width, values_[k],
                          with_slopes ? slope_values_[k] : nullptr);
        for (Index s = ring; s < width; ++s) values_[k][s] = slope_values_[k][s] = 0;
      }
      Compact& out = compact_[t];
      transform(values_, out.coefficients);
      if (!with_slopes) continue;
      if (!is_mapped(t)) transform(slope_values_, out.slopes);
      out.across.set_zero(width, round_up(q, 8));
      for (Index m = 0; m < q; ++m) {
        for (Index s = 0; s < ring; ++s) out.across[s][m] = out.coefficients[m][s];
      }
      if (!basis.oscillates() || is_mapped(t)) continue;
      // (x − u)φ times the phase's rate: cos has this slope in sin, and sin its negative in cos.
      const Real rate = rate_of(t);
      for (Index k = 0; k < q; ++k) {
        for (Index s = 0; s < ring; ++s)
          values_[k][s] *= rate * (station(t, k) - centre_[static_cast<std::size_t>(begin + s)]);
      }
      transform(values_, out.period_slopes);
    }
  }
  void make_across(Index c) {
    if (bases_.empty() || !has_exponentials(c)) return;
    across_.set_zero(layout_->slots(), round_up(polynomials(c), 8));
    for (std::size_t t = 0; t < bases_.size(); ++t) {
      if (is_table(c, t)) continue;
      for (Index m = 0; m < rank(c, t); ++m) {
        for (Index s = layout_->ring_begin(t); s < layout_->ring_begin(t) + layout_->width(t); ++s)
          across_[s][m] = columns[states_ + m][s];
      }
    }
  }

  const double* time_ = nullptr;
  const Layout* layout_ = nullptr;
  std::vector<Gaussians> bases_;
  Index states_ = 0;
  // Cells: half the length that is expanded, spacings of the finest basis in one, and the table.
  double half_ = 0;
  Index cell_nodes_ = 0, first_of_cell_ = 0;
  Table<Real> cell_, cell_across_;
  std::vector<Interpolation> interpolations_;
  bool oscillates_ = false, are_waves_ = false;  // the latter: what columns holds
  WavePlan<Real> plan_;
  std::vector<Compact> compact_;
  Table<Real> slopes_, period_slopes_, across_, values_, slope_values_, coefficients_;
  Numbers<Real> centre_, inverse_length_, amplitude_;
};

}  // namespace bandgp::front
