// SPDX-License-Identifier: Apache-2.0
// A = ΦΦᵀ + B with B a sum of Markov terms and diagonal noise, in linear time: chunks of points become
// elements, elements meet in a dense moving front, and unknowns are eliminated where their support ends.
//   unknowns: the weights w of every basis function, the states x_c at the beginning of every chunk but the
//   first, and multipliers λ_c of x_{c+1} = E ρ + noise of covariance P_c.
//   Ω = I on w,  RᵀGR on (x_c, w),  −P_c on λ_c,  −ER on (λ_c; x_c, w),  I on (λ_c, x_{c+1})
//   log|A| = Σ log S + log|det Ω|,   q = Σ v̂²/S + ŵᵀŵ + Σ λ̂ᵀP_cλ̂:  sums of squares, nothing cancels
// [math.md §11] Order of elimination in a chunk: weights whose support ends there, x_c, λ_c.  Pivots of λ are
// negative. A column b is reduced to (−v̂/√S, ŵ, P_c^{½}λ̂), whose products are those of A⁻¹; behind these it
// carries x̂ and λ̂, which follow every linear combination of columns.
#pragma once
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>
#include <vector>

#include "bandgp/front/element.hpp"

namespace bandgp::front {

/// Gaussians amplitude·exp(−(x − j·spacing)²/lengthscale²) for those nodes j that have a point within
/// `reach`.
struct Gaussians {
  double spacing = 1, lengthscale = 1, amplitude = 1, reach = 1;
};

template <class Real>
class Front {
 public:
  /// Increasing times, which must stay where they are.  Cells are so many spacings of the last basis long,
  /// which should be the finest, and expanded in q polynomials; chunks are what they have of points.
  void lay_out(const double* time, Index n, std::vector<Gaussians> bases,
               const std::vector<markov::StateTerm>& terms, Index q, Index spacings) {
    time_ = time;
    n_ = n;
    bases_ = std::move(bases);
    states_ = States<Real>(terms);
    q_ = q;
    make_chunks(spacings);
    make_slots();
    make_transform();
    make_cell();
  }

  Index chunks() const { return std::ssize(chunks_); }
  Index slots() const { return slots_; }
  /// The number of a basis's first weight, and its nodes as runs (first, count) of consecutive ones.
  Index first_number(std::size_t t) const { return chunks_.front().nodes[t].number; }
  Index node_count(std::size_t t) const {
    const Range& last = chunks_.back().nodes[t];
    return last.number + last.count() - first_number(t);
  }
  std::vector<std::pair<Index, Index>> runs(std::size_t t) const {
    std::vector<std::pair<Index, Index>> result;
    for (const Chunk& here : chunks_) {
      const Range& nodes = here.nodes[t];
      if (result.empty() || nodes.first > result.back().first + result.back().second)
        result.emplace_back(nodes.first, nodes.count());
      else
        result.back().second = std::max(result.back().second, nodes.last + 1 - result.back().first);
    }
    return result;
  }
  Index nodes() const { return nodes_; }
  const States<Real>& states() const { return states_; }
  /// A column's parts: n values, from a multiple of 8 on the weights and what the multipliers add; carried
  /// behind them, from the next multiple of 8 on, the states and the multipliers.
  Index reduced_size() const { return weights_at() + nodes_ + states_.size() * (chunks() - 1); }
  Index carried_size() const { return 2 * states_.size() * chunks(); }
  Index weights_at() const { return round_up(n_, 8); }

  /// False where a pivot has the wrong sign.
  [[nodiscard]] bool factor(const Real* noise, Columns<Real> b) {
    const auto p = static_cast<std::size_t>(states_.size());
    noise_ = noise;
    log_determinant_ = {};
    largest_pivot_ = 0;
    eliminated_.clear();
    eliminated_rows_.resize(
        static_cast<std::size_t>((nodes_ + 2 * states_.size() * (chunks() - 1)) * slots_));
    eliminated_right_.clear();
    covariances_.resize(chunks_.size() * p * p);
    inverse_roots_.resize(static_cast<std::size_t>(n_));
    gains_.resize(static_cast<std::size_t>(n_) * p);
    front_.set_zero(slots_, slots_);
    right_.set_zero(slots_, round_up(b.count, 8));
    for (Index c = 0; c < chunks(); ++c) {
      if (!assemble(c, b, true)) return false;
      if (!eliminate(ending(c))) return false;
    }
    reduce_back(b);
    return true;
  }
  /// The same for further columns.
  void reduce(Columns<Real> b) {
    right_.set_zero(slots_, round_up(b.count, 8));
    eliminated_right_.clear();
    std::size_t next = 0;
    for (Index c = 0; c < chunks(); ++c) {
      (void)assemble(c, b, false);
      for (std::size_t i = ending(c).size(); i > 0; --i, ++next)
        eliminate_right(eliminated_[next].slot, eliminated_row(next));
    }
    reduce_back(b);
  }
  Real log_determinant() const { return log_determinant_.sum + log_determinant_.rest; }
  /// The largest pivot of a weight: about how large the weights' matrix is beside its smallest eigenvalue, 1.
  Real largest_pivot() const { return largest_pivot_; }

  /// Reduced columns → A⁻¹b in their first n entries.
  void solve(Columns<Real> b) {
    Real r[kMostStates];
    for (Index c = chunks() - 1; c >= 0; --c) {
      make_steps(c);
      for (Index column = 0; column < b.count; ++column) {
        std::fill_n(r, kMostStates, Real(0));
        if (!is_last(c)) std::copy_n(multipliers(b, column, c), states_.size(), r);
        loops().solve(column_block(c), r, b[column] + chunk(c).begin);
      }
    }
  }

  /// ½ tr[(A⁻¹ − Σ ααᵀ)∂A] with α = A⁻¹b, of reduced columns.
  struct Slopes {
    std::vector<Real> basis_variance, basis_lengthscale, state_variance, state_lengthscale;
    std::vector<Real> noise;  // by every point's variance
  };
  void gradient(Columns<Real> b, Slopes& out) {
    out.basis_variance.assign(bases_.size(), Real(0));
    out.basis_lengthscale.assign(bases_.size(), Real(0));
    out.state_variance.assign(states_.terms(), Real(0));
    out.state_lengthscale.assign(states_.terms(), Real(0));
    out.noise.assign(static_cast<std::size_t>(n_), Real(0));
    invert_back([&](Index c) { add_slopes(c, b, out); });
  }

  /// Φw at a time, for the bases with a bit in `bases` and the weights of a column.
  Real curve(const Real* column, unsigned bases, double x) const {
    Real sum = 0;
    for (std::size_t t = 0; t < bases_.size(); ++t) {
      if ((bases >> t & 1U) == 0) continue;
      const Gaussians& basis = bases_[t];
      const auto first = static_cast<Index>(std::ceil((x - basis.reach) / basis.spacing)),
                 last = static_cast<Index>(std::floor((x + basis.reach) / basis.spacing));
      auto at =
          std::ranges::partition_point(chunks_, [&](const Chunk& c) { return c.nodes[t].last < first; });
      for (Index j = first; j <= last; ++j) {
        while (at != chunks_.end() && at->nodes[t].last < j) ++at;
        if (at == chunks_.end()) break;
        const Range& nodes = at->nodes[t];
        if (j >= nodes.first)
          sum += gaussian(basis, j, Real(x)) * column[weights_at() + nodes.number + (j - nodes.first)];
      }
    }
    return sum;
  }
  /// out += factor·Φw at the points, for the weights of a column.
  void add_basis(const Real* column, Real factor, Real* out) {
    for (Index c = 0; c < chunks() && !bases_.empty(); ++c) {
      prepare(c);
      find_nodes(c);
      weights_.assign(static_cast<std::size_t>(slots_), Real(0));
      for (std::size_t s = 0; s < weights_.size(); ++s) {
        if (number_[s] >= 0) weights_[s] = column[number_[s]];
      }
      expand_weights(c, weights_.data());
      make_curve(c);
      for (Index i = chunk(c).begin; i < chunk(c).end; ++i)
        out[i] += factor * curve_[static_cast<std::size_t>(i - chunk(c).begin)];
    }
  }
  /// A reduced column of b → b − Φŵ in its first n entries.
  void restore_residual(Real* column) {
    const int p = states_.size();
    const Columns<Real> b{column, 1, 0};
    Real mean[kMostStates];
    for (Index c = 0; c < chunks(); ++c) {
      make_steps(c);
      std::copy_n(begin_states(b, 0, c), p, mean);
      for (Index i = chunk(c).begin; i < chunk(c).end; ++i) {
        const Real v = -column[i] / inverse_root(i);  // Wβ̂ + (sum of the states) − b
        column[i] = -v;
        if (p == 0) continue;
        step(i - chunk(c).begin).template forward<One>(mean, 1);
        column[i] += mean[0];
        for (int s = 0; s < p; ++s) mean[s] -= gain(i)[s] * v;
      }
    }
  }

  /// The variance of a part of the curve at those points where `wanted`: of the bases with a bit in `bases`,
  /// and of the states' sum that `select` is.
  std::vector<Real> variances(const std::vector<bool>& wanted, unsigned bases,
                              const std::vector<Real>& select) {
    std::vector<Real> out(static_cast<std::size_t>(n_), Real(0));
    invert_back([&](Index c) { add_variances(c, wanted, bases, select, out); });
    return out;
  }

 private:
  using One = Plain<Real>;

  struct Range {
    Index first = 0, last = -1;  // nodes, both included
    Index number = 0;            // of the first one among all nodes of all bases
    Index count() const { return last - first + 1; }
  };
  struct Chunk {
    Index begin = 0, end = 0;
    double from = 0, to = 0;  // where its states begin, and where the next one's do
    Index cell = 0;           // the points are within a tenth of a cell of this one
    bool identity = false;
    std::vector<Range> nodes;  // by basis
  };
  struct Eliminated {
    Index slot;
    Real pivot;
  };
  /// A sum that remembers what its roundings lost.
  struct Sum {
    Real sum = 0, rest = 0;
    void add(Real x) {
      using std::abs;
      const Real next = sum + x;
      rest += abs(sum) >= abs(x) ? (sum - next) + x : (x - next) + sum;
      sum = next;
    }
  };

  /// Cells are as long as a whole number of the finest basis's spacings and expanded a tenth beyond their
  /// ends; a chunk is what one of them has, cut at the widest gap near the cell's end: a state between two
  /// points that almost coincide has no room.
  void make_chunks(Index spacings) {
    constexpr double kBeyond = 0.1;  // of a cell
    chunks_.clear();
    cell_nodes_ = spacings;
    const bool endless = bases_.empty();
    length_ = endless ? std::numeric_limits<double>::infinity()
                      : static_cast<double>(cell_nodes_) * bases_.back().spacing;
    half_ = length_ * (0.5 + kBeyond);
    Index cell = std::numeric_limits<Index>::min();
    for (Index begin = 0; begin < n_;) {
      const auto at = endless ? Index{0} : static_cast<Index>(std::floor(time_[begin] / length_));
      cell = std::max(cell, at);
      const double edge = endless ? length_ : static_cast<double>(cell + 1) * length_;
      Index end = begin + 1;
      while (end < n_ && end - begin < kMostPoints && time_[end] < edge) ++end;
      const bool whole = end == n_ || time_[end] >= edge;
      const double low = whole ? edge - kBeyond * length_ : time_[end - 1 - (end - 1 - begin) / 5],
                   high = whole ? edge + kBeyond * length_ : time_[end];
      Index best = end;
      const auto look_at = [&](Index i) {
        if (time_[i] - time_[i - 1] > time_[best] - time_[best - 1]) best = i;
      };
      for (Index i = end - 1; end < n_ && i > begin && time_[i - 1] >= low; --i) look_at(i);
      for (Index i = end + 1; i < n_ && i - begin <= kMostPoints && time_[i] <= high; ++i) look_at(i);
      end = best;
      Chunk chunk;
      chunk.begin = begin;
      chunk.end = end;
      chunk.from = begin == 0 ? time_[0] : 0.5 * (time_[begin - 1] + time_[begin]);
      chunk.to = end == n_ ? time_[n_ - 1] : 0.5 * (time_[end - 1] + time_[end]);
      chunk.cell = cell;
      chunk.identity = end - begin <= q_;
      for (const Gaussians& basis : bases_)
        chunk.nodes.push_back({static_cast<Index>(std::ceil((time_[begin] - basis.reach) / basis.spacing)),
                               static_cast<Index>(std::floor((time_[end - 1] + basis.reach) / basis.spacing)),
                               0});
      chunks_.push_back(chunk);
      begin = end;
      if (whole) ++cell;
    }
  }
  Real middle(const Chunk& chunk) const { return (Real(chunk.cell) + Real(0.5)) * Real(length_); }
  /// Every basis has a ring of slots, node j in slot j mod its size: no row ever moves.
  void make_slots() {
    slots_ = nodes_ = 0;
    ring_.clear();
    ring_begin_.clear();
    for (std::size_t t = 0; t < bases_.size(); ++t) {
      Index ring = 1;
      const Range* before = nullptr;
      for (Chunk& chunk : chunks_) {
        Range& here = chunk.nodes[t];
        ring = std::max(ring, here.count());
        const Index known = before == nullptr ? 0 : std::max<Index>(0, before->last - here.first + 1);
        here.number = nodes_ - known;
        nodes_ += here.count() - known;
        before = &here;
      }
      ring_.push_back(ring);
      ring_begin_.push_back(slots_);
      slots_ += ring;
    }
    state_begin_ = slots_;
    slots_ = round_up(slots_ + 3 * states_.size(), 8);
  }
  /// Chebyshev's nodes, and his coefficients from values there.
  void make_transform() {
    stations_.resize(static_cast<std::size_t>(q_));
    transform_.set_zero(q_, q_);
    for (Index m = 0; m < q_; ++m) {
      using std::cos;
      const auto cosine = [&](Index of) {
        return cos(std::numbers::pi_v<Real> * Real(of % (4 * q_)) / Real(2 * q_));
      };
      stations_[static_cast<std::size_t>(m)] = cosine(2 * m + 1);
      for (Index k = 0; k < q_; ++k)
        transform_[m][k] = (m == 0 ? Real(1) : Real(2)) / Real(q_) * cosine(m * (2 * k + 1));
    }
  }

  static Real gaussian(const Gaussians& basis, Index j, Real at) {
    using std::exp;
    const Real z = (at - Real(j) * Real(basis.spacing)) / Real(basis.lengthscale);
    return Real(basis.amplitude) * exp(-z * z);
  }
  /// The coefficients of the finest basis's Gaussians on a cell, and their slopes.
  void make_cell() {
    if (bases_.empty()) return;
    const Gaussians& basis = bases_.back();
    const Index beyond = static_cast<Index>(std::ceil((basis.reach + half_) / basis.spacing));
    first_of_cell_ = -beyond;
    const Index width = round_up(2 * beyond + cell_nodes_ + 1, 8) + 8;  // whole lanes of the last nodes
    const auto size = static_cast<std::size_t>(width);
    Numbers<Real> centre(size), inverse(size, 1 / Real(basis.lengthscale)),
        amplitude(size, Real(basis.amplitude));
    for (Index r = 0; r < width; ++r)
      centre[static_cast<std::size_t>(r)] =
          (Real(first_of_cell_ + r) - Real(cell_nodes_) / 2) * Real(basis.spacing);
    Table<Real> values;
    values.resize(q_, width);
    for (const bool slopes : {false, true}) {
      Table<Real>& out = slopes ? cell_slopes_ : cell_;
      out.resize(q_, width);
      for (Index k = 0; k < q_; ++k)
        loops().gaussians(Real(half_) * stations_[static_cast<std::size_t>(k)], centre.data(), inverse.data(),
                          amplitude.data(), slopes, width, values[k]);
      loops().multiply(false, transform_.data(), q_, 1, q_, q_, values.data(), width, width, out.data(),
                       width);
    }
  }

  const Kernels<Real>& loops() const { return kernels<Real>(); }
  const Chunk& chunk(Index c) const { return chunks_[static_cast<std::size_t>(c)]; }
  bool is_last(Index c) const { return c + 1 == chunks(); }
  Index node_slot(std::size_t t, Index j) const {
    const Index ring = ring_[t];
    return ring_begin_[t] + ((j % ring) + ring) % ring;
  }
  Index state_slot(Index c) const { return state_begin_ + (c % 2) * states_.size(); }
  Index multiplier_slot() const { return state_begin_ + 2 * states_.size(); }
  Index polynomials(Index c) const {
    if (bases_.empty()) return 0;
    return chunk(c).identity ? chunk(c).end - chunk(c).begin : q_;
  }
  Real* begin_states(Columns<Real> b, Index column, Index c) const {
    return b[column] + round_up(reduced_size(), 8) + c * states_.size();
  }
  Real* multipliers(Columns<Real> b, Index column, Index c) const {
    return begin_states(b, column, chunks() + c);
  }
  /// S^{−½} and k of a point.
  Real inverse_root(Index i) const { return inverse_roots_[static_cast<std::size_t>(i)]; }
  const Real* gain(Index i) const { return gains_.data() + i * states_.size(); }
  Real* chunk_covariance(Index c) { return covariances_.data() + c * states_.size() * states_.size(); }
  ColumnBlock<Real> column_block(Index c) const {
    const Chunk& here = chunk(c);
    return {&states_.places(), here.end - here.begin,
            steps_.data(),     inverse_roots_.data() + here.begin,
            gain(here.begin),  !is_last(c)};
  }
  Move<One, 0> step(Index i) const { return {states_.places(), steps_.data(), i}; }

  /// Nodes of a basis that end with chunk c: those before this one.
  Index first_staying(Index c, std::size_t t) const {
    const Index end = chunk(c).nodes[t].last + 1;
    return is_last(c) ? end : std::min(end, chunk(c + 1).nodes[t].first);
  }
  /// Slots in the order in which they go when chunk c is done.
  const std::vector<Index>& ending(Index c) {
    ending_.clear();
    for (std::size_t t = 0; t < bases_.size(); ++t) {
      for (Index j = chunk(c).nodes[t].first; j < first_staying(c, t); ++j)
        ending_.push_back(node_slot(t, j));
    }
    for (Index i = 0; c > 0 && i < states_.size(); ++i) ending_.push_back(state_slot(c) + i);
    for (Index i = 0; !is_last(c) && i < states_.size(); ++i) ending_.push_back(multiplier_slot() + i);
    return ending_;
  }

  // --- a chunk ---------------------------------------------------------------------------------------------

  void make_steps(Index c) {
    if (states_.size() == 0) return;
    const Chunk& here = chunk(c);
    const Index count = here.end - here.begin;
    gaps_.assign(static_cast<std::size_t>(round_up(count + 1, 8)), Real(0));
    for (Index i = 0; i < count; ++i) {
      const Real before = i == 0 ? Real(here.from) : Real(time_[here.begin + i - 1]);
      gaps_[static_cast<std::size_t>(i)] = Real(time_[here.begin + i]) - before;
    }
    if (c == 0) gaps_[0] = std::numeric_limits<Real>::infinity();  // nothing before
    gaps_[static_cast<std::size_t>(count)] = Real(here.to) - Real(time_[here.end - 1]);
    steps_.resize(static_cast<std::size_t>(states_.step_size()));
    states_.steps(gaps_.data(), count + 1, steps_.data());
  }
  /// The chunk as its element sees it.
  void prepare(Index c) {
    make_steps(c);
    const Chunk& here = chunk(c);
    const Index count = here.end - here.begin;
    at_.resize(static_cast<std::size_t>(round_up(count, 8)));
    for (Index i = 0; i < count && !here.identity; ++i)
      at_[static_cast<std::size_t>(i)] = (Real(time_[here.begin + i]) - middle(here)) / Real(half_);
    points_ = {count,         steps_.data(), noise_ + here.begin, polynomials(c), at_.data(),
               here.identity, c == 0,        is_last(c)};
  }
  /// Where the weight of every slot is in a column (−1: none); and the Gaussians of the slots, where the
  /// cells' table does not have them or they are asked for.
  void find_nodes(Index c, bool with_gaussians = false) {
    const auto size = static_cast<std::size_t>(slots_);
    const bool gaussians = with_gaussians || !in_table(c);
    number_.assign(size, -1);
    if (gaussians) {
      centre_.assign(size, Real(0));
      inverse_length_.assign(size, Real(0));
      amplitude_.assign(size, Real(0));
    }
    for (std::size_t t = 0; t < bases_.size(); ++t) {
      const Range& nodes = chunk(c).nodes[t];
      auto slot = static_cast<std::size_t>(node_slot(t, nodes.first));
      const auto behind = static_cast<std::size_t>(ring_begin_[t] + ring_[t]);
      for (Index j = nodes.first; j <= nodes.last; ++j) {
        number_[slot] = weights_at() + nodes.number + (j - nodes.first);
        if (gaussians) {
          centre_[slot] = Real(j) * Real(bases_[t].spacing);
          inverse_length_[slot] = 1 / Real(bases_[t].lengthscale);
          amplitude_[slot] = Real(bases_[t].amplitude);
        }
        if (++slot == behind) slot = static_cast<std::size_t>(ring_begin_[t]);
      }
    }
  }
  /// R, from slots to columns (x, β): β = Cw of the chunk's weights; or C′ of their slopes by log ℓ alone.
  void make_expansion(Index c, bool slopes, Table<Real>& out) {
    const Chunk& here = chunk(c);
    const Index p = states_.size(), q = polynomials(c);
    out.set_zero(p + q, slots_);
    for (Index i = 0; i < p && c > 0 && !slopes; ++i) out[i][state_slot(c) + i] = 1;
    if (q == 0) return;
    if (here.identity) {
      for (Index k = 0; k < q; ++k)
        loops().gaussians(Real(time_[here.begin + k]), centre_.data(), inverse_length_.data(),
                          amplitude_.data(), slopes, slots_, out[p + k]);
      return;
    }
    // The basis of the cells has the same coefficients in all of them; the slots before it have their own.
    const Index others = round_up(ring_begin_[bases_.size() - 1], 8);
    if (others > 0) {
      values_.resize(q, slots_);
      for (Index k = 0; k < q; ++k)
        loops().gaussians(middle(here) + Real(half_) * stations_[static_cast<std::size_t>(k)], centre_.data(),
                          inverse_length_.data(), amplitude_.data(), slopes, others, values_[k]);
      loops().multiply(false, transform_.data(), q, 1, q, q, values_.data(), slots_, others, out[p], slots_);
    }
    const Table<Real>& table = slopes ? cell_slopes_ : cell_;
    const Stretch stretch = stretch_of(c);
    const Index begin = ring_begin_[bases_.size() - 1];
    for (Index k = 0; k < q; ++k) {
      std::copy_n(table[k] + stretch.from, stretch.straight, out[p + k] + stretch.slot);
      std::copy_n(table[k] + stretch.from + stretch.straight, stretch.wrapped, out[p + k] + begin);
    }
  }
  /// Whether the cells' table has all of the chunk's Gaussians.
  bool in_table(Index c) const { return bases_.size() == 1 && !chunk(c).identity; }
  /// The chunk's nodes of the last basis: where they begin in the table and in the ring, how many lie before
  /// the ring's end, and how many behind it, from its beginning on.
  struct Stretch {
    Index from, slot, straight, wrapped;
  };
  Stretch stretch_of(Index c) const {
    const std::size_t t = bases_.size() - 1;
    const Range& nodes = chunk(c).nodes[t];
    const Index slot = node_slot(t, nodes.first),
                straight = std::min(nodes.count(), ring_begin_[t] + ring_[t] - slot);
    return {nodes.first - (chunk(c).cell * cell_nodes_ + first_of_cell_), slot, straight,
            nodes.count() - straight};
  }
  /// beta_ ← the coefficients of weights in slots.
  void expand_weights(Index c, const Real* weights) {
    find_nodes(c);
    const Index p = states_.size();
    beta_.resize(static_cast<std::size_t>(polynomials(c)));
    if (in_table(c)) {
      const Stretch stretch = stretch_of(c);
      const Index count = round_up(stretch.straight + stretch.wrapped, 8);
      straightened_.assign(static_cast<std::size_t>(count), Real(0));
      std::copy_n(weights + stretch.slot, stretch.straight, straightened_.begin());
      std::copy_n(weights + ring_begin_[0], stretch.wrapped, straightened_.begin() + stretch.straight);
      for (Index m = 0; m < q_; ++m)
        beta_[static_cast<std::size_t>(m)] =
            loops().dot(cell_[m] + stretch.from, straightened_.data(), count);
      return;
    }
    make_expansion(c, false, expansion_);
    for (Index m = 0; m < polynomials(c); ++m)
      beta_[static_cast<std::size_t>(m)] = loops().dot(expansion_[p + m], weights, slots_);
  }
  /// curve_ ← Wβ at the chunk's points.
  void make_curve(Index c) {
    const Index count = chunk(c).end - chunk(c).begin;
    curve_.resize(static_cast<std::size_t>(round_up(count, 8)));
    if (bases_.empty())
      std::fill(curve_.begin(), curve_.end(), Real(0));
    else if (chunk(c).identity)
      std::copy(beta_.begin(), beta_.end(), curve_.begin());
    else
      loops().curve(at_.data(), count, beta_.data(), polynomials(c), curve_.data());
  }

  // --- forwards --------------------------------------------------------------------------------------------

  /// Adds the element of chunk c to the front, or to its right-hand sides alone.
  bool assemble(Index c, Columns<Real> b, bool whole) {
    const int p = states_.size();
    const Chunk& here = chunk(c);
    prepare(c);
    element_.make(states_, points_, b.count,
                  [&](Index i, Index column) { return b[column][here.begin + i]; });
    if (element_.failed) return false;
    find_nodes(c);
    make_expansion(c, false, expansion_);
    const Index unknowns = element_.unknowns(), width = element_.width();
    const bool has_end = p > 0 && !is_last(c);
    if (b.count > 0) {
      product_.set_zero(unknowns, right_.width);
      for (Index u = 0; u < unknowns; ++u) {
        for (Index k = 0; k < b.count; ++k) product_[u][k] = -element_.gram[u][unknowns + k];
      }
      loops().multiply(true, expansion_.data(), 1, slots_, slots_, unknowns, product_.data(), right_.width,
                       right_.width, right_.data(), right_.width);
      for (int i = 0; i < p && has_end; ++i) {
        for (Index k = 0; k < b.count; ++k) right_[multiplier_slot() + i][k] += element_.end[i][unknowns + k];
      }
    }
    if (!whole) return true;

    for (Index i = here.begin; i < here.end; ++i) {
      inverse_roots_[static_cast<std::size_t>(i)] = element_.inverse_root(i - here.begin);
      std::copy_n(element_.gain(i - here.begin), p, gains_.data() + i * p);
    }
    std::copy_n(element_.covariance.data(), p * p, chunk_covariance(c));
    log_determinant_.add(element_.log_pivots);
    for (std::size_t t = 0; t < bases_.size(); ++t) {
      const Range& nodes = here.nodes[t];
      const Index entered = c == 0 ? nodes.first : std::max(nodes.first, chunk(c - 1).nodes[t].last + 1);
      for (Index j = entered; j <= nodes.last; ++j) front_[node_slot(t, j)][node_slot(t, j)] = 1;
    }
    product_.resize(unknowns, slots_);
    loops().multiply(false, element_.gram.data(), width, 1, unknowns, unknowns, expansion_.data(), slots_,
                     slots_, product_.data(), slots_);
    loops().multiply(true, expansion_.data(), 1, slots_, slots_, unknowns, product_.data(), slots_, slots_,
                     front_.data(), slots_);
    if (!has_end) return true;
    product_.resize(p, slots_);
    loops().multiply(false, element_.end.data(), width, 1, p, unknowns, expansion_.data(), slots_, slots_,
                     product_.data(), slots_);
    for (int i = 0; i < p; ++i) {
      const Index lambda = multiplier_slot() + i, next = state_slot(c + 1) + i;
      for (Index s = 0; s < slots_; ++s) {
        front_[lambda][s] -= product_[i][s];
        front_[s][lambda] -= product_[i][s];
      }
      for (int k = 0; k < p; ++k)
        front_[lambda][multiplier_slot() + k] -= element_.covariance[static_cast<std::size_t>(i * p + k)];
      front_[lambda][next] += 1;
      front_[next][lambda] += 1;
    }
    return true;
  }
  /// One slot after the other, but on their own rows alone; the rest of the front changes once for all.
  bool eliminate(const std::vector<Index>& ending) {
    using std::abs;
    using std::log;
    const auto count = std::ssize(ending);
    scaled_rows_.resize(count, slots_);
    for (Index i = 0; i < count; ++i)
      std::copy_n(front_[ending[static_cast<std::size_t>(i)]], slots_, scaled_rows_[i]);
    Real* rows = eliminated_rows_.data() + std::ssize(eliminated_) * slots_;
    for (Index i = 0; i < count; ++i) {
      const Index slot = ending[static_cast<std::size_t>(i)];
      Real* scaled = scaled_rows_[i];
      Real* l = rows + i * slots_;
      const Real pivot = scaled[slot], inverse = 1 / pivot;
      if (!(slot >= multiplier_slot() ? pivot < 0 : pivot > 0)) return false;
      log_determinant_.add(log(abs(pivot)));
      if (slot < state_begin_) largest_pivot_ = std::max(largest_pivot_, pivot);
      scaled[slot] = 0;
      for (Index s = 0; s < slots_; ++s) l[s] = scaled[s] * inverse;
      for (Index later = i + 1; later < count; ++later) {
        Real* row = scaled_rows_[later];
        loops().add(-scaled[ending[static_cast<std::size_t>(later)]], l, slots_, row);
        row[slot] = 0;
      }
      eliminated_.push_back({slot, pivot});
      if (right_.width > 0) eliminate_right(slot, l);
      for (Index s = 0; s < slots_; ++s) scaled[s] = -scaled[s];
    }
    loops().multiply(true, scaled_rows_.data(), 1, slots_, slots_, count, rows, slots_, slots_, front_.data(),
                     slots_);
    for (const Index slot : ending) {
      std::fill_n(front_[slot], slots_, Real(0));
      for (Index s = 0; s < slots_; ++s) front_[s][slot] = 0;
    }
    return true;
  }
  const Real* eliminated_row(std::size_t number) const {
    return eliminated_rows_.data() + static_cast<Index>(number) * slots_;
  }
  /// The same for the right-hand sides, which it keeps.
  void eliminate_right(Index slot, const Real* l) {
    Real* row = right_[slot];
    eliminated_right_.insert(eliminated_right_.end(), row, row + right_.width);
    std::fill_n(row, right_.width, Real(0));
    loops().downdate(l, eliminated_right_.data() + std::ssize(eliminated_right_) - right_.width, slots_,
                     right_.width, right_.data(), right_.width);
  }

  // --- backwards -------------------------------------------------------------------------------------------

  /// Substitutes back, and writes the reduced columns.
  void reduce_back(Columns<Real> b) {
    const int p = states_.size();
    solution_.set_zero(b.count, slots_);
    Real mean[kMostStates];
    std::size_t next = eliminated_.size();
    for (Index c = chunks() - 1; c >= 0 && b.count > 0; --c) {
      for (std::size_t i = ending(c).size(); i > 0; --i) {
        const Eliminated& gone = eliminated_[--next];
        const Real* value = eliminated_right_.data() + static_cast<Index>(next) * right_.width;
        for (Index column = 0; column < b.count; ++column)
          solution_[column][gone.slot] =
              value[column] / gone.pivot - loops().dot(eliminated_row(next), solution_[column], slots_);
      }
      prepare(c);
      for (Index column = 0; column < b.count; ++column) {
        const Real* z = solution_[column];
        expand_weights(c, z);
        for (std::size_t s = 0; s < number_.size(); ++s) {
          if (number_[s] >= 0) b[column][number_[s]] = z[s];
        }
        make_curve(c);
        for (int i = 0; i < p; ++i) {
          mean[i] = c > 0 ? z[state_slot(c) + i] : Real(0);
          begin_states(b, column, c)[i] = mean[i];
          multipliers(b, column, c)[i] = is_last(c) ? Real(0) : z[multiplier_slot() + i];
        }
        if (p > 0 && !is_last(c)) write_multipliers(c, b, column);
        loops().reduce(column_block(c), curve_.data(), mean, b[column] + chunk(c).begin);
      }
    }
    eliminated_right_.clear();
    for (Index column = 0; column < b.count; ++column)
      std::fill(b[column] + n_, b[column] + weights_at(), Real(0));
  }
  /// P_c = LLᵀ: the part Lᵀλ̂ of a reduced column.
  void write_multipliers(Index c, Columns<Real> b, Index column) {
    using std::sqrt;
    const int p = states_.size();
    Real l[kMostStates * kMostStates];
    std::copy_n(chunk_covariance(c), p * p, l);
    Real* to = b[column] + weights_at() + nodes_ + c * p;
    for (int j = 0; j < p; ++j) {
      for (int k = 0; k < j; ++k) {
        for (int i = j; i < p; ++i) l[i * p + j] -= l[i * p + k] * l[j * p + k];
      }
      const Real root = l[j * p + j] > 0 ? sqrt(l[j * p + j]) : Real(0);
      to[j] = 0;
      for (int i = j; i < p; ++i) {
        l[i * p + j] = root > 0 ? l[i * p + j] / root : Real(0);
        to[j] += l[i * p + j] * multipliers(b, column, c)[i];
      }
    }
  }

  /// From the last chunk to the first: visit(c) while inverse_ has the unknowns of chunk c.
  template <class Visit>
  void invert_back(const Visit& visit) {
    inverse_.set_zero(slots_, slots_);
    scaled_.assign(static_cast<std::size_t>(slots_), Real(0));
    std::size_t next = eliminated_.size();
    for (Index c = chunks() - 1; c >= 0; --c) {
      for (std::size_t i = ending(c).size(); i > 0; --i) {
        const Eliminated& gone = eliminated_[--next];
        const Real* l = eliminated_row(next);
        Real* row = inverse_[gone.slot];
        loops().combine(l, inverse_.data(), slots_, slots_, slots_, scaled_.data());
        // l is 0 at the slot itself, whose row is that of a later owner.
        const Real own = 1 / gone.pivot + loops().dot(l, scaled_.data(), slots_);
        for (Index s = 0; s < slots_; ++s)
          inverse_[s][gone.slot] = row[s] = -scaled_[static_cast<std::size_t>(s)];
        row[gone.slot] = own;
      }
      visit(c);
    }
  }
  /// The multipliers' covariances with themselves (states, states) and with all slots.
  void take_multipliers(Index c) {
    const int p = states_.size();
    by_covariance_.assign(static_cast<std::size_t>(p * p), Real(0));
    cross_.set_zero(p, slots_);
    for (int i = 0; i < p && !is_last(c); ++i) {
      std::copy_n(inverse_[multiplier_slot() + i], slots_, cross_[i]);
      std::copy_n(inverse_[multiplier_slot() + i] + multiplier_slot(), p, by_covariance_.data() + i * p);
    }
  }

  void add_variances(Index c, const std::vector<bool>& wanted, unsigned bases,
                     const std::vector<Real>& select, std::vector<Real>& out) {
    const int p = states_.size();
    const Chunk& here = chunk(c);
    prepare(c);
    find_nodes(c, true);
    make_expansion(c, false, expansion_);
    element_.make_solved(
        states_, points_, 0, [](Index, Index) { return Real(0); }, Table<Real>{});
    take_multipliers(c);
    for (Real& x : by_covariance_) x = -x / 2;
    for (Real& x : cross_.numbers) x = -x;
    for (std::size_t t = 0; t < bases_.size(); ++t) {
      if ((bases >> t & 1U) != 0) continue;
      std::fill_n(amplitude_.begin() + ring_begin_[t], ring_[t], Real(0));
    }
    Numbers<Real> g(static_cast<std::size_t>(slots_)), solved(g.size());
    const Index width = element_.width(), unknowns = element_.unknowns();
    element_.look_back(
        expansion_, inverse_, by_covariance_, cross_,
        [&](Index i, const Real* m, const Real* cov, const Real* lambda, const Table<Real>& with) {
          if (!wanted[static_cast<std::size_t>(here.begin + i)]) return;
          loops().gaussians(Real(time_[here.begin + i]), centre_.data(), inverse_length_.data(),
                            amplitude_.data(), false, slots_, g.data());
          Real moved[kMostStates];
          for (int r = 0; r < p; ++r) {
            moved[r] = 0;
            for (int s = 0; s < p; ++s) moved[r] += cov[r * p + s] * select[static_cast<std::size_t>(s)];
            for (Index u = 0; u < unknowns; ++u) {
              const Real along = select[static_cast<std::size_t>(r)] * m[r * width + u];
              if (along != 0) loops().add(along, expansion_[u], slots_, g.data());
            }
          }
          Real variance = 0;
          for (int r = 0; r < p; ++r) {
            variance +=
                moved[r] * (select[static_cast<std::size_t>(r)] - 2 * loops().dot(with[r], g.data(), slots_));
            for (int s = 0; s < p; ++s) variance -= 2 * moved[r] * lambda[r * p + s] * moved[s];
          }
          loops().combine(g.data(), inverse_.data(), slots_, slots_, slots_, solved.data());
          out[static_cast<std::size_t>(here.begin + i)] =
              variance + loops().dot(g.data(), solved.data(), slots_);
        });
  }
  void add_slopes(Index c, Columns<Real> b, Slopes& out) {
    const int p = states_.size();
    const Chunk& here = chunk(c);
    prepare(c);
    find_nodes(c);
    make_expansion(c, false, expansion_);
    begin_.set_zero(p, b.count);
    weights_by_column_.set_zero(b.count, slots_);
    for (Index column = 0; column < b.count; ++column) {
      Real* z = weights_by_column_[column];
      for (std::size_t s = 0; s < number_.size(); ++s) {
        if (number_[s] >= 0) z[s] = b[column][number_[s]];
      }
      for (int i = 0; i < p; ++i) {
        begin_[i][column] = begin_states(b, column, c)[i];
        if (c > 0) z[state_slot(c) + i] = begin_[i][column];
      }
    }
    element_.make_solved(
        states_, points_, b.count, [&](Index i, Index column) { return b[column][here.begin + i]; }, begin_);
    const Index unknowns = element_.unknowns(), width = element_.width();
    solved_.resize(unknowns, slots_);  // RS
    loops().multiply(false, expansion_.data(), slots_, 1, unknowns, slots_, inverse_.data(), slots_, slots_,
                     solved_.data(), slots_);
    expansion_across_.set_zero(slots_, width);
    for (Index u = 0; u < unknowns; ++u) {
      for (Index s = 0; s < slots_; ++s) expansion_across_[s][u] = expansion_[u][s] / 2;
    }
    by_gram_.set_zero(width, width);
    loops().multiply(false, solved_.data(), slots_, 1, unknowns, slots_, expansion_across_.data(), width,
                     width, by_gram_.data(), width);
    for (Index column = 0; column < b.count; ++column)
      by_gram_[unknowns + column][unknowns + column] = Real(0.5);

    // S_λ + λ̂ẑᵀ, and what it is by the states at the end and by P.
    take_multipliers(c);
    by_end_.set_zero(p, width);
    if (p > 0 && !is_last(c)) {
      loops().multiply(false, cross_.data(), slots_, 1, p, slots_, expansion_across_.data(), width, width,
                       by_end_.data(), width);
      for (Real& x : by_end_.numbers) x *= -2;
      for (Index column = 0; column < b.count; ++column) {
        const Real* lambda = multipliers(b, column, c);
        for (int i = 0; i < p; ++i) {
          by_end_[i][unknowns + column] = -lambda[i];
          loops().add(lambda[i], weights_by_column_[column], slots_, cross_[i]);
          for (int k = 0; k < p; ++k)
            by_covariance_[static_cast<std::size_t>(i * p + k)] += lambda[i] * lambda[k];
        }
      }
      for (Real& x : by_covariance_) x = -x / 2;
    }
    if (!bases_.empty()) {
      // ⟨GRZ − Eᵀ(S_λ + λ̂ẑᵀ), C′⟩
      make_expansion(c, true, slopes_);
      const Index q = polynomials(c);
      product_.resize(q, slots_);
      loops().multiply(false, element_.gram[p], width, 1, q, unknowns, solved_.data(), slots_, slots_,
                       product_.data(), slots_);
      for (Index column = 0; column < b.count; ++column) {
        for (Index m = 0; m < q; ++m)
          loops().add(element_.gram[p + m][unknowns + column], weights_by_column_[column], slots_,
                      product_[m]);
      }
      for (int i = 0; i < p && !is_last(c); ++i) {
        for (Index m = 0; m < q; ++m) loops().add(-element_.end[i][p + m], cross_[i], slots_, product_[m]);
      }
      for (std::size_t t = 0; t < bases_.size(); ++t) {
        // A single basis has all slots but those of states, where the slopes are 0.
        for (Index m = 0; m < q && bases_.size() == 1; ++m)
          out.basis_lengthscale[t] += loops().dot(product_[m], slopes_[p + m], slots_);
        for (Index m = 0; m < q && bases_.size() > 1; ++m) {
          for (Index s = ring_begin_[t]; s < ring_begin_[t] + ring_[t]; ++s)
            out.basis_lengthscale[t] += product_[m][s] * slopes_[p + m][s];
        }
        for (Index j = here.nodes[t].first; j < first_staying(c, t); ++j) {
          const Index slot = node_slot(t, j);
          Real squares = 0;
          for (Index column = 0; column < b.count; ++column)
            squares += weights_by_column_[column][slot] * weights_by_column_[column][slot];
          out.basis_variance[t] += (1 - inverse_[slot][slot] - squares) / 2;
        }
      }
    }
    element_.pull(by_gram_, by_end_, by_covariance_, out.state_variance.data(), out.state_lengthscale.data(),
                  out.noise.data() + here.begin);
  }

  const double* time_ = nullptr;
  Index n_ = 0;
  std::vector<Gaussians> bases_;
  States<Real> states_;
  Index q_ = 0;
  std::vector<Chunk> chunks_;
  std::vector<Index> ring_, ring_begin_;
  Index slots_ = 0, state_begin_ = 0, nodes_ = 0;
  // Cells: their length, spacings of the last basis in one, half the length that is expanded, and the table.
  double length_ = 0, half_ = 0;
  Index cell_nodes_ = 0, first_of_cell_ = 0;
  Numbers<Real> stations_;
  Table<Real> transform_, cell_, cell_slopes_;
  // The factor.
  const Real* noise_ = nullptr;
  Sum log_determinant_;
  Real largest_pivot_ = 0;
  Numbers<Real> inverse_roots_, gains_, covariances_;  // S^{−½} and k of every point, P of every chunk
  std::vector<Eliminated> eliminated_;
  Numbers<Real> eliminated_rows_, eliminated_right_;  // l, and right-hand sides
  // The front under way, and the chunk.
  Table<Real> front_, right_, solution_, inverse_, scaled_rows_;
  Table<Real> expansion_, expansion_across_, slopes_, values_, product_, solved_;
  Table<Real> by_gram_, by_end_, cross_, begin_, weights_by_column_;
  Numbers<Real> by_covariance_, scaled_, weights_, beta_, straightened_, curve_, at_, gaps_, steps_;
  Numbers<Real> centre_, inverse_length_, amplitude_;
  std::vector<Index> number_, ending_;
  Element<Real> element_;
  ChunkPoints<Real> points_;
};

}  // namespace bandgp::front
