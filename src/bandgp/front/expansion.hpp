// SPDX-License-Identifier: Apache-2.0
// What the weights of a chunk's Gaussians are as coefficients of Chebyshev's polynomials on its cell: β = Cw.
// The finest basis has the same coefficients on every cell, from a table; those of the others are
// interpolated.  A basis with a long length-scale needs few polynomials: the rows of C beyond are 0.
// [math.md §11]
#pragma once
#include <cmath>
#include <numbers>
#include <vector>

#include "bandgp/front/front_kernels.hpp"
#include "bandgp/front/layout.hpp"
#include "bandgp/front/table.hpp"

namespace bandgp::front {

template <class Real>
class Expansion {
 public:
  /// Of a chunk after make(): R, from slots to the columns (x, β) of its element; and, if asked for, C′, the
  /// slopes of C by log ℓ, in the same place, and Rᵀ.
  Table<Real> columns, slopes, across;

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
      std::fill_n(inverse_length_.begin() + layout.ring_begin(t), layout.ring(t),
                  1 / Real(bases_[t].lengthscale));
    }
    columns.rows = slopes.rows = across.rows = 0;  // what they hold belongs to another layout
    make_cell();
  }

  /// Rows of β that a basis has, and all bases together.
  Index rank(Index c, std::size_t t) const {
    return layout_->chunk(c).identity ? layout_->chunk(c).count() : bases_[t].polynomials;
  }
  Index polynomials(Index c) const { return bases_.empty() ? 0 : rank(c, bases_.size() - 1); }

  /// Where in [−1, 1] the points of a chunk are that has polynomials.
  void place_points(const Chunk& chunk, Real* out) const {
    const Middle middle = middle_of(chunk);
    for (Index i = chunk.begin; i < chunk.end; ++i) *out++ = middle.distance_to(time_[i]) / Real(half_);
  }

  void make(Index c) { make_columns(c, nullptr); }
  void make_with_slopes(Index c, Index across_width) {
    make_columns(c, &slopes);
    make_across(c, across_width);
  }
  /// The values at x of every slot's Gaussian, for the bases with a bit in `chosen`.
  void values(Index c, unsigned chosen, double x, Real* out) {
    if (bases_.empty()) {
      std::fill_n(out, layout_->slots(), Real(0));
      return;
    }
    place_nodes(c, chosen);
    loops().gaussians(middle_of(layout_->chunk(c)).distance_to(x), centre_.data(), inverse_length_.data(),
                      amplitude_.data(), layout_->slots(), out, nullptr);
  }

  /// β of weights in slots.
  void expand(Index c, const Real* weights, Numbers<Real>& beta) {
    const Chunk& here = layout_->chunk(c);
    const Index q = polynomials(c);
    beta.resize(static_cast<std::size_t>(q));
    if (has_exponentials(c)) place_nodes(c, ~0U);
    if (here.identity) {
      const Middle middle = middle_of(here);
      for (Index k = 0; k < q; ++k)
        beta[static_cast<std::size_t>(k)] =
            value(middle.distance_to(time_[here.begin + k]), 0, layout_->slots(), weights);
      return;
    }
    const Stretch stretch = stretch_of(c);
    const Index count = round_up(stretch.straight + stretch.wrapped, 8);
    straightened_.assign(static_cast<std::size_t>(count), Real(0));
    std::copy_n(weights + stretch.slot, stretch.straight, straightened_.begin());
    std::copy_n(weights + layout_->ring_begin(bases_.size() - 1), stretch.wrapped,
                straightened_.begin() + stretch.straight);
    for (Index m = 0; m < q; ++m)
      beta[static_cast<std::size_t>(m)] = loops().dot(cell_[m] + stretch.from, straightened_.data(), count);
    for (std::size_t t = 0; t + 1 < bases_.size(); ++t) {
      const Interpolation& interpolation = interpolations_[t];
      for (Index k = 0; k < bases_[t].polynomials; ++k) {
        const Real at = value(station(t, k), layout_->ring_begin(t), layout_->ring(t), weights);
        for (Index m = 0; m < bases_[t].polynomials; ++m)
          beta[static_cast<std::size_t>(m)] += interpolation.transform[m][k] * at;
      }
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

  /// The coefficients of the finest basis's Gaussians on a cell, and their slopes.
  void make_cell() {
    if (bases_.empty()) return;
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
    slope_values_.resize(q, width);
    for (Index k = 0; k < q; ++k)
      loops().gaussians(Real(half_) * interpolation.stations[static_cast<std::size_t>(k)], centre.data(),
                        inverse.data(), amplitude.data(), width, values_[k], slope_values_[k]);
    for (const bool slope : {false, true}) {
      Table<Real>& out = slope ? cell_slopes_ : cell_;
      const Table<Real>& from = slope ? slope_values_ : values_;
      out.resize(q, width);
      loops().multiply(
          {{interpolation.transform.data(), q, 1}, {from.data(), width}, {out.data(), width}, q, q, width});
    }
    cell_across_.resize(width, q);
    for (Index m = 0; m < q; ++m) {
      for (Index r = 0; r < width; ++r) cell_across_[r][m] = cell_[m][r];
    }
  }

  /// The centres, from the middle of the cell, and amplitudes of the slots' Gaussians; slots that the chunk
  /// does not see have none.
  void place_nodes(Index c, unsigned chosen) {
    const Middle middle = middle_of(layout_->chunk(c));
    std::fill(amplitude_.begin(), amplitude_.end(), Real(0));
    for (std::size_t t = 0; t < bases_.size(); ++t) {
      if ((chosen >> t & 1U) == 0) continue;
      const Real spacing = bases_[t].spacing, amplitude = bases_[t].amplitude;
      layout_->for_nodes(c, t, [&](Index slot, Index j, Index) {
        centre_[static_cast<std::size_t>(slot)] = middle.distance_to_node(j, spacing);
        amplitude_[static_cast<std::size_t>(slot)] = amplitude;
      });
    }
  }

  /// Where a chunk's columns are as many as those of the chunk before, they are 0 in the same places.
  static void start(Table<Real>& table, Index rows, Index width) {
    if (table.rows != rows || table.width != width) table.set_zero(rows, width);
  }
  /// R, and C′ where wanted.
  void make_columns(Index c, Table<Real>* wanted) {
    const Chunk& here = layout_->chunk(c);
    const Index p = states_, q = polynomials(c), slots = layout_->slots();
    start(columns, p + q, slots);
    if (wanted != nullptr) start(*wanted, p + q, slots);
    for (Index i = 0; i < p; ++i) {
      std::fill_n(columns[i] + layout_->state_begin(), 3 * p, Real(0));
      if (c > 0) columns[i][layout_->state_slot(c) + i] = 1;
    }
    if (q == 0) return;
    if (has_exponentials(c)) place_nodes(c, ~0U);
    if (here.identity) {
      const Middle middle = middle_of(here);
      for (Index k = 0; k < q; ++k)
        loops().gaussians(middle.distance_to(time_[here.begin + k]), centre_.data(), inverse_length_.data(),
                          amplitude_.data(), slots, columns[p + k],
                          wanted == nullptr ? nullptr : (*wanted)[p + k]);
      return;
    }
    for (std::size_t t = 0; t + 1 < bases_.size(); ++t) interpolate(t, wanted);
    const Stretch stretch = stretch_of(c);
    const Index begin = layout_->ring_begin(bases_.size() - 1);
    const auto copy = [&](const Table<Real>& table, Table<Real>& out) {
      for (Index k = 0; k < q; ++k) {
        std::copy_n(table[k] + stretch.from, stretch.straight, out[p + k] + stretch.slot);
        std::copy_n(table[k] + stretch.from + stretch.straight, stretch.wrapped, out[p + k] + begin);
      }
      layout_->for_unseen(c, bases_.size() - 1, [&](Index slot) {
        for (Index k = 0; k < q; ++k) out[p + k][slot] = 0;
      });
    };
    copy(cell_, columns);
    if (wanted != nullptr) copy(cell_slopes_, *wanted);
  }
  /// A basis that is not the finest, by its values at Chebyshev's nodes of the cell.
  void interpolate(std::size_t t, Table<Real>* wanted) {
    const Interpolation& interpolation = interpolations_[t];
    const Index q = bases_[t].polynomials, begin = layout_->lanes_begin(t),
                width = layout_->lanes_end(t) - begin;
    values_.resize(q, width);
    slope_values_.resize(q, width);
    coefficients_.resize(q, width);
    for (Index k = 0; k < q; ++k)
      loops().gaussians(station(t, k), centre_.data() + begin, inverse_length_.data() + begin,
                        amplitude_.data() + begin, width, values_[k],
                        wanted == nullptr ? nullptr : slope_values_[k]);
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
    if (wanted != nullptr) transform(slope_values_, *wanted);
  }
  void make_across(Index c, Index width) {
    const Index p = states_, q = polynomials(c), slots = layout_->slots();
    if (q != across_polynomials_) across.rows = 0;
    across_polynomials_ = q;
    start(across, slots, width);
    for (Index i = 0; i < p; ++i) {
      for (Index s = layout_->state_begin(); s < slots; ++s) across[s][i] = 0;
      if (c > 0) across[layout_->state_slot(c) + i][i] = 1;
    }
    for (std::size_t t = 0; t < bases_.size(); ++t) {
      if (t + 1 == bases_.size() && !layout_->chunk(c).identity) {
        Index from = stretch_of(c).from;
        layout_->for_nodes(
            c, t, [&](Index slot, Index, Index) { std::copy_n(cell_across_[from++], q, across[slot] + p); });
        layout_->for_unseen(c, t, [&](Index slot) { std::fill_n(across[slot] + p, q, Real(0)); });
        continue;
      }
      for (Index m = 0; m < rank(c, t); ++m) {
        for (Index s = layout_->ring_begin(t); s < layout_->ring_begin(t) + layout_->ring(t); ++s)
          across[s][p + m] = columns[p + m][s];
      }
    }
  }

  const double* time_ = nullptr;
  const Layout* layout_ = nullptr;
  std::vector<Gaussians> bases_;
  Index states_ = 0;
  // Cells: half the length that is expanded, spacings of the finest basis in one, and the table.
  double half_ = 0;
  Index cell_nodes_ = 0, first_of_cell_ = 0, across_polynomials_ = 0;
  Table<Real> cell_, cell_slopes_, cell_across_;
  std::vector<Interpolation> interpolations_;
  Table<Real> values_, slope_values_, coefficients_;
  Numbers<Real> centre_, inverse_length_, amplitude_, straightened_;
};

}  // namespace bandgp::front
