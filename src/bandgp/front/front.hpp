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
#include <cassert>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "bandgp/front/element.hpp"
#include "bandgp/front/expansion.hpp"
#include "bandgp/front/layout.hpp"

namespace bandgp::front {

template <class Real>
class Front {
 public:
  Front() = default;
  Front(const Front&) = delete;  // the expansion looks at the layout
  Front& operator=(const Front&) = delete;

  /// Increasing times, which must stay where they are.  Cells are so many spacings of the last basis long,
  /// which should be the finest; none may have fewer polynomials than the one before it.
  void lay_out(const double* time, Index n, std::vector<Gaussians> bases,
               const std::vector<markov::StateTerm>& terms, Index spacings) {
    time_ = time;
    n_ = n;
    bases_ = std::move(bases);
    for (std::size_t t = 0; t < bases_.size(); ++t) {
      assert(bases_[t].polynomials >= 2 && bases_[t].polynomials <= kMostPolynomials);
      assert(t == 0 || bases_[t].polynomials >= bases_[t - 1].polynomials);
    }
    states_ = States<Real>(terms);
    layout_.lay_out(time, n, bases_, spacings, states_.size());
    expansion_.lay_out(time, layout_, bases_, spacings, states_.size());
  }

  const Layout& layout() const { return layout_; }
  Index chunks() const { return layout_.chunks(); }
  Index nodes() const { return layout_.nodes(); }
  Index slots() const { return layout_.slots(); }
  const States<Real>& states() const { return states_; }
  /// A column's parts: n values, from a multiple of 8 on the weights and what the multipliers add; carried
  /// behind them, from the next multiple of 8 on, the states and the multipliers.
  Index reduced_size() const { return weights_at() + nodes() + states_.size() * (chunks() - 1); }
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
        static_cast<std::size_t>((nodes() + 2 * states_.size() * (chunks() - 1)) * slots()));
    eliminated_right_.clear();
    covariances_.resize(static_cast<std::size_t>(chunks()) * p * p);
    inverse_roots_.resize(static_cast<std::size_t>(n_));
    gains_.resize(static_cast<std::size_t>(n_) * p);
    if (has_sums()) sums_.resize(chunks(), 2 * bases_.back().polynomials - 1);
    front_.set_zero(slots(), slots());
    right_.set_zero(slots(), round_up(b.count, 8));
    for (Index c = 0; c < chunks(); ++c) {
      if (!assemble(c, b, true)) return false;
      layout_.ending(c, ending_);
      if (!eliminate()) return false;
    }
    reduce_back(b);
    return true;
  }
  /// The same for further columns.
  void reduce(Columns<Real> b) {
    right_.set_zero(slots(), round_up(b.count, 8));
    eliminated_right_.clear();
    std::size_t next = 0;
    for (Index c = 0; c < chunks(); ++c) {
      (void)assemble(c, b, false);
      layout_.ending(c, ending_);
      eliminate_right(eliminated_row(next));
      next += ending_.size();
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
        if (!layout_.is_last(c)) std::copy_n(multipliers(b, column, c), states_.size(), r);
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
      Index c = 0;  // the first chunk that may have them
      for (Index behind = chunks(); c < behind;) {
        const Index middle = (c + behind) / 2;
        if (layout_.nodes(middle, t).last < first)
          c = middle + 1;
        else
          behind = middle;
      }
      for (Index j = first; j <= last; ++j) {
        while (c < chunks() && layout_.nodes(c, t).last < j) ++c;
        if (c == chunks()) break;
        const Range& nodes = layout_.nodes(c, t);
        if (j >= nodes.first)
          sum += Expansion<Real>::gaussian(basis, j, Real(x)) *
                 column[weights_at() + nodes.number + (j - nodes.first)];
      }
    }
    return sum;
  }
  /// out += factor·Φw at the points, for the weights of a column.
  void add_basis(const Real* column, Real factor, Real* out) {
    weights_.assign(static_cast<std::size_t>(slots()), Real(0));
    for (Index c = 0; c < chunks() && !bases_.empty(); ++c) {
      prepare(c);
      gather_weights(c, column, weights_.data());
      make_curve(c, weights_.data());
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

  const Kernels<Real>& loops() const { return kernels<Real>(); }
  const Chunk& chunk(Index c) const { return layout_.chunk(c); }
  bool has_end(Index c) const { return states_.size() > 0 && !layout_.is_last(c); }
  /// Whether a chunk's element is made of sums, which are kept.
  bool has_sums() const { return states_.size() == 0 && !bases_.empty(); }
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
    return {&states_.places(), here.count(),       steps_.data(), inverse_roots_.data() + here.begin,
            gain(here.begin),  !layout_.is_last(c)};
  }
  Move<One, 0> step(Index i) const { return {states_.places(), steps_.data(), i}; }
  const Real* eliminated_row(std::size_t number) const {
    return eliminated_rows_.data() + static_cast<Index>(number) * slots();
  }

  // --- a chunk ---------------------------------------------------------------------------------------------

  void make_steps(Index c) {
    if (states_.size() == 0) return;
    const Chunk& here = chunk(c);
    const Index count = here.count();
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
    at_.assign(static_cast<std::size_t>(round_up(here.count(), 8)), Real(0));
    if (!here.identity) expansion_.place_points(here, at_.data());
    points_ = {};
    points_.count = here.count();
    points_.steps = steps_.data();
    points_.noise = noise_ + here.begin;
    points_.polynomials = expansion_.polynomials(c);
    points_.at = at_.data();
    points_.identity = here.identity;
    points_.first = c == 0;
    points_.last = layout_.is_last(c);
  }
  /// A column's weights, in their slots; other slots of weights become 0.
  void gather_weights(Index c, const Real* column, Real* z) const {
    std::fill_n(z, layout_.state_begin(), Real(0));
    for (std::size_t t = 0; t < bases_.size(); ++t)
      layout_.for_nodes(c, t,
                        [&](Index slot, Index, Index number) { z[slot] = column[weights_at() + number]; });
  }
  /// curve_ ← Wβ at the chunk's points, for weights in slots.
  void make_curve(Index c, const Real* z) {
    const Index count = chunk(c).count();
    curve_.resize(static_cast<std::size_t>(round_up(count, 8)));
    if (bases_.empty()) {
      std::fill(curve_.begin(), curve_.end(), Real(0));
      return;
    }
    expansion_.expand(c, z, beta_);
    if (chunk(c).identity)
      std::copy(beta_.begin(), beta_.end(), curve_.begin());
    else
      loops().curve(at_.data(), count, beta_.data(), std::ssize(beta_), curve_.data());
  }

  // --- forwards --------------------------------------------------------------------------------------------

  /// Adds the element of chunk c to the front, or to its right-hand sides alone.
  bool assemble(Index c, Columns<Real> b, bool whole) {
    const int p = states_.size();
    const Chunk& here = chunk(c);
    prepare(c);
    if (has_sums() && !whole) points_.sums = sums_[c];
    element_.make(states_, points_, b.count,
                  [&](Index i, Index column) { return b[column][here.begin + i]; });
    if (element_.failed) return false;
    expansion_.make(c);
    add_right(c, b.count);
    if (!whole) return true;

    if (has_sums() && !here.identity) std::ranges::copy(element_.sums(), sums_[c]);
    for (Index i = here.begin; i < here.end; ++i) {
      inverse_roots_[static_cast<std::size_t>(i)] = element_.inverse_root(i - here.begin);
      if (p > 0) std::copy_n(element_.gain(i - here.begin), p, gains_.data() + i * p);
    }
    std::copy_n(element_.covariance.data(), p * p, chunk_covariance(c));
    log_determinant_.add(element_.log_pivots);
    for (std::size_t t = 0; t < bases_.size(); ++t) {
      for (Index j = layout_.first_new(c, t); j <= layout_.nodes(c, t).last; ++j)
        front_[layout_.node_slot(t, j)][layout_.node_slot(t, j)] = 1;
    }
    add_gram(c);
    if (has_end(c)) add_end(c);
    return true;
  }
  void add_right(Index c, Index columns) {
    const Index unknowns = element_.unknowns(), width = right_.width;
    if (columns == 0) return;
    product_.set_zero(unknowns, width);
    for (Index u = 0; u < unknowns; ++u) {
      for (Index k = 0; k < columns; ++k) product_[u][k] = -element_.gram[u][unknowns + k];
    }
    loops().multiply({{expansion_.columns.data(), 1, slots()},
                      {product_.data(), width},
                      {right_.data(), width},
                      slots(),
                      unknowns,
                      width,
                      kAddTo});
    for (int i = 0; i < states_.size() && has_end(c); ++i) {
      for (Index k = 0; k < columns; ++k)
        right_[layout_.multiplier_slot() + i][k] += element_.end[i][unknowns + k];
    }
  }
  /// The front is symmetric, and what lies below its diagonal is not kept up: F += RᵀGR.
  void add_gram(Index c) {
    const int p = states_.size();
    const Index width = element_.width();
    const Table<Real>& columns = expansion_.columns;
    product_.resize(element_.unknowns(), slots());  // GR
    for (Index u = 0; u < element_.unknowns(); ++u)
      std::fill(product_[u] + layout_.state_begin(), product_[u] + slots(), Real(0));
    for (std::size_t t = 0; t < bases_.size(); ++t) {
      const Index rank = expansion_.rank(c, t), from = layout_.lanes_begin(t);
      loops().multiply({{element_.gram[p] + p, width, 1},
                        {columns[p] + from, slots()},
                        {product_[p] + from, slots()},
                        rank,
                        rank,
                        layout_.lanes_end(t) - from});
    }
    for (int i = 0; i < p && c > 0; ++i) {
      const Index slot = layout_.state_slot(c) + i;
      for (Index u = 0; u < element_.unknowns(); ++u) product_[u][slot] = element_.gram[u][i];
      for (int k = 0; k < p; ++k) front_[slot][layout_.state_slot(c) + k] += element_.gram[i][k];
    }
    for (std::size_t t = 0; t < bases_.size(); ++t) {
      const Index begin = layout_.ring_begin(t);
      loops().multiply({{columns[p] + begin, 1, slots()},
                        {product_[p], slots()},
                        {front_[begin], slots()},
                        layout_.ring(t),
                        expansion_.rank(c, t),
                        slots(),
                        kAddTo,
                        begin});
    }
  }
  /// −ER, −P and the identity of the multipliers' equation.
  void add_end(Index c) {
    const int p = states_.size();
    const Index lambda = layout_.multiplier_slot(), here = layout_.state_slot(c),
                next = layout_.state_slot(c + 1);
    product_.set_zero(p, slots());
    for (std::size_t t = 0; t < bases_.size(); ++t) {
      const Index from = layout_.lanes_begin(t);
      loops().multiply({{element_.end.data() + p, element_.width(), 1},
                        {expansion_.columns[p] + from, slots()},
                        {product_.data() + from, slots()},
                        p,
                        expansion_.rank(c, t),
                        layout_.lanes_end(t) - from});
    }
    for (int i = 0; i < p; ++i) {
      for (Index s = 0; s < layout_.state_begin(); ++s) front_[s][lambda + i] -= product_[i][s];
      for (int k = 0; k < p; ++k) {
        if (c > 0) front_[here + k][lambda + i] -= element_.end[i][k];
        front_[lambda + i][lambda + k] -= element_.covariance[static_cast<std::size_t>(i * p + k)];
      }
      front_[next + i][lambda + i] += 1;
    }
  }
  /// The slots that end, one after the other, but on their own rows alone; the rest of the front changes once
  /// for all.
  bool eliminate() {
    using std::abs;
    using std::log;
    const auto count = std::ssize(ending_);
    scaled_rows_.resize(count, slots());
    for (Index i = 0; i < count; ++i) {
      const Index slot = ending_[static_cast<std::size_t>(i)];
      for (Index s = 0; s < slot; ++s) scaled_rows_[i][s] = front_[s][slot];
      std::copy_n(front_[slot] + slot, slots() - slot, scaled_rows_[i] + slot);
    }
    Real* rows = eliminated_rows_.data() + std::ssize(eliminated_) * slots();
    for (Index i = 0; i < count; ++i) {
      const Index slot = ending_[static_cast<std::size_t>(i)];
      Real* scaled = scaled_rows_[i];
      Real* l = rows + i * slots();
      const Real pivot = scaled[slot], inverse = 1 / pivot;
      if (!(slot >= layout_.multiplier_slot() ? pivot < 0 : pivot > 0)) return false;
      log_determinant_.add(log(abs(pivot)));
      if (slot < layout_.state_begin()) largest_pivot_ = std::max(largest_pivot_, pivot);
      scaled[slot] = 0;
      for (Index s = 0; s < slots(); ++s) l[s] = scaled[s] * inverse;
      for (Index later = i + 1; later < count; ++later) {
        Real* row = scaled_rows_[later];
        loops().add(-scaled[ending_[static_cast<std::size_t>(later)]], l, slots(), row);
        row[slot] = 0;
      }
      eliminated_.push_back({slot, pivot});
      for (Index s = 0; s < slots(); ++s) scaled[s] = -scaled[s];
    }
    loops().multiply({{scaled_rows_.data(), 1, slots()},
                      {rows, slots()},
                      {front_.data(), slots()},
                      slots(),
                      count,
                      slots(),
                      kAddTo,
                      0});
    for (const Index slot : ending_) {
      std::fill_n(front_[slot], slots(), Real(0));
      for (Index s = 0; s < slot; ++s) front_[s][slot] = 0;
    }
    eliminate_right(rows);
    return true;
  }
  /// The same for the right-hand sides, by the rows l of the slots that end.  eliminated_right_ gets the
  /// negative right-hand sides of these slots.
  void eliminate_right(const Real* rows) {
    const auto count = std::ssize(ending_);
    const Index width = right_.width, begin = std::ssize(eliminated_right_);
    if (width == 0) return;
    eliminated_right_.resize(static_cast<std::size_t>(begin + count * width));
    Real* gone = eliminated_right_.data() + begin;
    for (Index i = 0; i < count; ++i) {
      const Real* row = right_[ending_[static_cast<std::size_t>(i)]];
      for (Index k = 0; k < width; ++k) gone[i * width + k] = -row[k];
      for (Index before = 0; before < i; ++before)
        loops().add(-rows[before * slots() + ending_[static_cast<std::size_t>(i)]], gone + before * width,
                    width, gone + i * width);
    }
    loops().multiply(
        {{rows, 1, slots()}, {gone, width}, {right_.data(), width}, slots(), count, width, kAddTo});
    for (const Index slot : ending_) std::fill_n(right_[slot], width, Real(0));
  }

  // --- backwards -------------------------------------------------------------------------------------------

  /// Substitutes back, and writes the reduced columns.
  void reduce_back(Columns<Real> b) {
    const int p = states_.size();
    solution_.set_zero(b.count, slots());
    Real mean[kMostStates];
    std::size_t next = eliminated_.size();
    for (Index c = chunks() - 1; c >= 0 && b.count > 0; --c) {
      layout_.ending(c, ending_);
      for (std::size_t i = ending_.size(); i > 0; --i) {
        const Eliminated& gone = eliminated_[--next];
        const Real* value = eliminated_right_.data() + static_cast<Index>(next) * right_.width;
        for (Index column = 0; column < b.count; ++column)
          solution_[column][gone.slot] =
              -value[column] / gone.pivot - loops().dot(eliminated_row(next), solution_[column], slots());
      }
      prepare(c);
      for (Index column = 0; column < b.count; ++column) {
        const Real* z = solution_[column];
        for (std::size_t t = 0; t < bases_.size(); ++t)
          layout_.for_nodes(
              c, t, [&](Index slot, Index, Index number) { b[column][weights_at() + number] = z[slot]; });
        make_curve(c, z);
        for (int i = 0; i < p; ++i) {
          mean[i] = c > 0 ? z[layout_.state_slot(c) + i] : Real(0);
          begin_states(b, column, c)[i] = mean[i];
          multipliers(b, column, c)[i] = has_end(c) ? z[layout_.multiplier_slot() + i] : Real(0);
        }
        if (has_end(c)) write_multipliers(c, b, column);
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
    Real* to = b[column] + weights_at() + nodes() + c * p;
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

  /// From the last chunk to the first: visit(c) while inverse_ has the unknowns of chunk c.  The slots e that
  /// ended with a chunk have S_{e·} = −lS and S_ee = 1/d − l·S_{·e}: one product for the slots that stayed,
  /// and then, from the last of them to the first, what they have of each other.  Slots that are not in use
  /// hold a later unknown's rows, where l is 0.
  template <class Visit>
  void invert_back(const Visit& visit) {
    inverse_.set_zero(slots(), slots());
    std::size_t next = eliminated_.size();
    for (Index c = chunks() - 1; c >= 0; --c) {
      layout_.ending(c, ending_);
      const auto count = std::ssize(ending_);
      next -= ending_.size();
      const Real* rows = eliminated_row(next);
      for (const Index slot : ending_) std::fill_n(inverse_[slot], slots(), Real(0));
      batch_.resize(count, slots());
      loops().multiply({{rows, slots(), 1},
                        {inverse_.data(), slots()},
                        {batch_.data(), slots()},
                        count,
                        slots(),
                        slots()});
      for (Index i = count - 1; i >= 0; --i) {
        const auto slot_of = [&](Index k) { return ending_[static_cast<std::size_t>(k)]; };
        const Real* l = rows + i * slots();
        Real* row = batch_[i];
        for (Index s = 0; s < slots(); ++s) row[s] = -row[s];
        for (Index k = i + 1; k < count; ++k) loops().add(-l[slot_of(k)], batch_[k], slots(), row);
        for (Index k = 0; k <= i; ++k) row[slot_of(k)] = 0;
        for (Index k = i + 1; k < count; ++k)
          batch_[k][slot_of(i)] = row[slot_of(k)] = -loops().dot(l, batch_[k], slots());
        row[slot_of(i)] =
            1 / eliminated_[next + static_cast<std::size_t>(i)].pivot - loops().dot(l, row, slots());
      }
      for (Index i = 0; i < count; ++i) {
        const Index slot = ending_[static_cast<std::size_t>(i)];
        std::copy_n(batch_[i], slots(), inverse_[slot]);
        for (Index s = 0; s < slots(); ++s) inverse_[s][slot] = batch_[i][s];
      }
      visit(c);
    }
  }
  /// The multipliers' covariances with themselves (states, states), and the negative ones with all slots.
  void take_multipliers(Index c) {
    const int p = states_.size();
    const Index lambda = layout_.multiplier_slot();
    by_covariance_.assign(static_cast<std::size_t>(p * p), Real(0));
    cross_.set_zero(p, slots());
    for (int i = 0; i < p && has_end(c); ++i) {
      std::copy_n(inverse_[lambda + i] + lambda, p, by_covariance_.data() + i * p);
      for (Index s = 0; s < slots(); ++s) cross_[i][s] = -inverse_[lambda + i][s];
    }
  }

  void add_variances(Index c, const std::vector<bool>& wanted, unsigned bases,
                     const std::vector<Real>& select, std::vector<Real>& out) {
    const int p = states_.size();
    const Chunk& here = chunk(c);
    prepare(c);
    expansion_.make(c);
    if (has_sums()) points_.sums = sums_[c];
    element_.make_solved(
        states_, points_, 0, [](Index, Index) { return Real(0); }, Table<Real>{});
    take_multipliers(c);
    for (Real& x : by_covariance_) x = -x / 2;
    Numbers<Real> g(static_cast<std::size_t>(slots())), solved(g.size());
    const Index width = element_.width(), unknowns = element_.unknowns();
    element_.look_back(
        expansion_.columns, inverse_, by_covariance_, cross_,
        [&](Index i, const Real* m, const Real* cov, const Real* lambda, const Table<Real>& with) {
          if (!wanted[static_cast<std::size_t>(here.begin + i)]) return;
          expansion_.values(c, bases, time_[here.begin + i], g.data());
          Real moved[kMostStates];
          for (int r = 0; r < p; ++r) {
            moved[r] = 0;
            for (int s = 0; s < p; ++s) moved[r] += cov[r * p + s] * select[static_cast<std::size_t>(s)];
            for (Index u = 0; u < unknowns; ++u) {
              const Real along = select[static_cast<std::size_t>(r)] * m[r * width + u];
              if (along != 0) loops().add(along, expansion_.columns[u], slots(), g.data());
            }
          }
          Real variance = 0;
          for (int r = 0; r < p; ++r) {
            variance += moved[r] *
                        (select[static_cast<std::size_t>(r)] - 2 * loops().dot(with[r], g.data(), slots()));
            for (int s = 0; s < p; ++s) variance -= 2 * moved[r] * lambda[r * p + s] * moved[s];
          }
          loops().combine(g.data(), inverse_.data(), slots(), slots(), slots(), solved.data());
          out[static_cast<std::size_t>(here.begin + i)] =
              variance + loops().dot(g.data(), solved.data(), slots());
        });
  }

  void add_slopes(Index c, Columns<Real> b, Slopes& out) {
    const int p = states_.size();
    const Chunk& here = chunk(c);
    prepare(c);
    if (has_sums()) points_.sums = sums_[c];
    begin_.resize(p, b.count);
    for (int i = 0; i < p; ++i) {
      for (Index column = 0; column < b.count; ++column) begin_[i][column] = begin_states(b, column, c)[i];
    }
    element_.make_solved(
        states_, points_, b.count, [&](Index i, Index column) { return b[column][here.begin + i]; }, begin_);
    expansion_.make_with_slopes(c, element_.width());
    solve_columns(c, b);
    make_by_gram(c, b.count);
    take_multipliers(c);
    by_end_.set_zero(p, element_.width());
    if (has_end(c)) make_by_end(c, b);
    for (std::size_t t = 0; t < bases_.size(); ++t) add_basis_slopes(c, t, b.count, out);
    element_.pull(by_gram_, by_end_, by_covariance_, out.state_variance.data(), out.state_lengthscale.data(),
                  out.noise.data() + here.begin);
  }
  /// solved_ ← RS, and the unknowns ẑ of every right-hand side.
  void solve_columns(Index c, Columns<Real> b) {
    const int p = states_.size();
    const Index unknowns = element_.unknowns();
    solved_.resize(unknowns + b.count, slots());
    for (int i = 0; i < p; ++i) {
      if (c > 0)
        std::copy_n(inverse_[layout_.state_slot(c) + i], slots(), solved_[i]);
      else
        std::fill_n(solved_[i], slots(), Real(0));
    }
    for (std::size_t t = bases_.size(); t > 0; --t) {
      const Index begin = layout_.ring_begin(t - 1);
      loops().multiply({{expansion_.columns[p] + begin, slots(), 1},
                        {inverse_[begin], slots()},
                        {solved_[p], slots()},
                        expansion_.rank(c, t - 1),
                        layout_.ring(t - 1),
                        slots(),
                        t < bases_.size()});
    }
    for (Index column = 0; column < b.count; ++column) {
      Real* z = solved_[unknowns + column];
      gather_weights(c, b[column], z);
      std::fill(z + layout_.state_begin(), z + slots(), Real(0));
      if (c > 0) std::copy_n(begin_states(b, column, c), p, z + layout_.state_slot(c));
    }
  }
  /// ½RSRᵀ, and ½ for the right-hand sides.
  void make_by_gram(Index c, Index columns) {
    const int p = states_.size();
    const Index unknowns = element_.unknowns(), width = element_.width();
    by_gram_.set_zero(width, width);
    for (std::size_t t = bases_.size(); t > 0; --t) {
      const Index begin = layout_.ring_begin(t - 1), rows = p + expansion_.rank(c, t - 1);
      loops().multiply({{solved_.data() + begin, slots(), 1},
                        {expansion_.across[begin], width},
                        {by_gram_.data(), width},
                        rows,
                        layout_.ring(t - 1),
                        round_up(rows, 8),
                        t < bases_.size(),
                        0});
    }
    for (int i = 0; i < p && c > 0; ++i) {
      for (int k = 0; k < p; ++k) by_gram_[i][k] = solved_[i][layout_.state_slot(c) + k];
    }
    for (Index m = 0; m < unknowns; ++m) {
      for (Index n = m; n < unknowns; ++n) by_gram_[m][n] *= Real(0.5);
    }
    for (Index m = 0; m < unknowns && p > 0; ++m) {  // the filter wants both halves
      for (Index n = 0; n < m; ++n) by_gram_[m][n] = by_gram_[n][m];
    }
    for (Index column = unknowns; column < unknowns + columns; ++column) by_gram_[column][column] = Real(0.5);
  }
  /// −S_λ − λ̂ẑᵀ, and what the loss is by the states at the end and by P.
  void make_by_end(Index c, Columns<Real> b) {
    const int p = states_.size();
    const Index unknowns = element_.unknowns(), width = element_.width();
    loops().multiply({{cross_.data(), slots(), 1},
                      {expansion_.across.data(), width},
                      {by_end_.data(), width},
                      p,
                      slots(),
                      width});
    for (Index column = 0; column < b.count; ++column) {
      const Real* lambda = multipliers(b, column, c);
      for (int i = 0; i < p; ++i) {
        by_end_[i][unknowns + column] = -lambda[i];
        loops().add(-lambda[i], solved_[unknowns + column], slots(), cross_[i]);
        for (int k = 0; k < p; ++k)
          by_covariance_[static_cast<std::size_t>(i * p + k)] += lambda[i] * lambda[k];
      }
    }
    for (Real& x : by_covariance_) x = -x / 2;
  }
  /// ⟨GRZ − Eᵀ(S_λ + λ̂ẑᵀ), C′⟩ of a basis, and what its variance is worth.
  void add_basis_slopes(Index c, std::size_t t, Index columns, Slopes& out) {
    const int p = states_.size();
    const Index rank = expansion_.rank(c, t), unknowns = element_.unknowns(), from = layout_.lanes_begin(t),
                width = layout_.lanes_end(t) - from, begin = layout_.ring_begin(t);
    product_.resize(rank, width);
    loops().multiply({{element_.gram[p], element_.width(), 1},
                      {solved_.data() + from, slots()},
                      {product_.data(), width},
                      rank,
                      unknowns + columns,
                      width});
    if (has_end(c))
      loops().multiply({{element_.end.data() + p, 1, element_.width()},
                        {cross_.data() + from, slots()},
                        {product_.data(), width},
                        rank,
                        p,
                        width,
                        kAddTo});
    out.basis_lengthscale[t] +=
        loops().contract(product_.data() + (begin - from), width, expansion_.slopes[p] + begin, slots(), rank,
                         layout_.ring(t));
    for (Index j = layout_.nodes(c, t).first; j < layout_.first_staying(c, t); ++j) {
      const Index slot = layout_.node_slot(t, j);
      Real squares = 0;
      for (Index column = 0; column < columns; ++column)
        squares += solved_[unknowns + column][slot] * solved_[unknowns + column][slot];
      out.basis_variance[t] += (1 - inverse_[slot][slot] - squares) / 2;
    }
  }

  const double* time_ = nullptr;
  Index n_ = 0;
  std::vector<Gaussians> bases_;
  States<Real> states_;
  Layout layout_;
  Expansion<Real> expansion_;
  // The factor.
  const Real* noise_ = nullptr;
  Sum log_determinant_;
  Real largest_pivot_ = 0;
  Numbers<Real> inverse_roots_, gains_, covariances_;  // S^{−½} and k of every point, P of every chunk
  Table<Real> sums_;                                   // of every chunk
  std::vector<Eliminated> eliminated_;
  Numbers<Real> eliminated_rows_, eliminated_right_;  // l, and negative right-hand sides
  // The front under way, and the chunk.
  Table<Real> front_, right_, solution_, inverse_, scaled_rows_, batch_;
  Table<Real> product_, solved_, by_gram_, by_end_, cross_, begin_;
  Numbers<Real> by_covariance_, weights_, beta_, curve_, at_, gaps_, steps_;
  std::vector<Index> ending_;
  Element<Real> element_;
  ChunkPoints<Real> points_;
};

}  // namespace bandgp::front
