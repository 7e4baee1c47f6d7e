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
#include <functional>
#include <limits>
#include <utility>
#include <vector>

#include "bandgp/base/relay.hpp"
#include "bandgp/base/worker.hpp"
#include "bandgp/front/element.hpp"
#include "bandgp/front/expansion.hpp"
#include "bandgp/front/layout.hpp"

namespace bandgp::front {

template <class Real>
class Front {
 public:
  /// With two threads the second one makes elements and goes back through the points of chunks, while the
  /// first has the front, and helps where it would wait; more are not used.
  explicit Front(Index threads = 1) : worker_(threads > 1) {}
  Front(const Front&) = delete;  // the expansion looks at the layout
  Front& operator=(const Front&) = delete;

  /// Increasing times, which must stay where they are.  Cells are so many spacings of the last basis long,
  /// which should be the finest; of those that do not oscillate none may have fewer polynomials than the one
  /// before it.
  void lay_out(const double* time, Index n, std::vector<Gaussians> bases,
               const std::vector<markov::StateTerm>& terms, Index spacings) {
    time_ = time;
    n_ = n;
    bases_ = std::move(bases);
    for (std::size_t t = 0; t < bases_.size(); ++t) {
      assert(bases_[t].polynomials >= 2 && bases_[t].polynomials <= kMostPolynomials);
      assert(t == 0 || bases_[t].oscillates() || bases_[t - 1].oscillates() ||
             bases_[t].polynomials >= bases_[t - 1].polynomials);
    }
    states_ = States<Real>(terms);
    layout_.lay_out(time, n, bases_, spacings, states_.size());
    worker_.share(n >= kLeastShared);
    works_.resize(worker_.shares() ? kRelayed : 1);
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
  /// Numbers that are kept of every chunk where there are no states.
  Index sums_size() const {
    if (bases_.empty()) return 0;
    return expansion_.oscillates() ? expansion_.plan().sums_size() : 2 * bases_.back().polynomials - 1;
  }

  /// The memory for what was eliminated has so much room besides, one part in this.
  static constexpr std::size_t kSpare = 16;
  /// False where a pivot has the wrong sign.
  [[nodiscard]] bool factor(const Real* noise, Columns<Real> b) {
    const auto p = static_cast<std::size_t>(states_.size());
    noise_ = noise;
    log_determinant_ = {};
    largest_pivot_ = 0;
    pivots_.clear();
    const auto numbers = static_cast<std::size_t>((nodes() + 2 * states_.size() * (chunks() - 1)) * slots());
    if (eliminated_rows_.size() < numbers) {
      eliminated_rows_ = {};  // first give back, then take: with room for the design of the next evaluation
      eliminated_rows_.resize(numbers + numbers / kSpare);
    }
    eliminated_right_.clear();
    covariances_.resize(static_cast<std::size_t>(chunks()) * p * p);
    inverse_roots_.resize(static_cast<std::size_t>(n_));
    gains_.resize(static_cast<std::size_t>(n_) * p);
    if (has_sums()) sums_.resize(chunks(), sums_size());
    front_.set_zero(slots(), slots());
    right_.set_zero(b.count, slots());
    bool fine = true;
    in_stages({[&](Index c) { make_element(c, b, true); },
               [&](Index c) {
                 fine = fine && assemble(c, b, true);
                 for (Index piece = 0; fine && take_piece(c, piece); ++piece) fine = eliminate();
               },
               {}},
              false);
    if (fine) reduce_back(b);
    return fine;
  }
  /// The same for further columns.
  void reduce(Columns<Real> b) {
    right_.set_zero(b.count, slots());
    eliminated_right_.clear();
    std::size_t next = 0;
    in_stages({[&](Index c) { make_element(c, b, false); },
               [&](Index c) {
                 (void)assemble(c, b, false);
                 layout_.ending(c, ending_);
                 eliminate_right(eliminated_row(next));
                 next += ending_.size();
               },
               {}},
              false);
    reduce_back(b);
  }
  Real log_determinant() const { return log_determinant_.sum + log_determinant_.rest; }
  /// The largest pivot of a weight: about how large the weights' matrix is beside its smallest eigenvalue, 1.
  Real largest_pivot() const { return largest_pivot_; }

  /// Reduced columns → A⁻¹b in their first n entries.
  void solve(Columns<Real> b) {
    Real r[kMostStates];
    for (Index c = chunks() - 1; c >= 0; --c) {
      fetch_points(c - kAhead, b);
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
    std::vector<Real> basis_variance, basis_lengthscale, basis_period;
    std::vector<Real> state_variance, state_lengthscale, state_period, state_quality;
    std::vector<Real> noise;  // by every point's variance
  };
  /// The columns become A⁻¹b in their first n entries, as solve() leaves them, where `solves`.
  void gradient(Columns<Real> b, Slopes& out, bool solves = false) {
    out.basis_variance.assign(bases_.size(), Real(0));
    out.basis_lengthscale.assign(bases_.size(), Real(0));
    out.basis_period.assign(bases_.size(), Real(0));
    for (std::vector<Real>* by :
         {&out.state_variance, &out.state_lengthscale, &out.state_period, &out.state_quality})
      by->assign(states_.terms(), Real(0));
    out.noise.assign(static_cast<std::size_t>(n_), Real(0));
    inverse_.set_zero(slots(), slots());
    std::size_t next = pivots_.size();
    in_stages({[&](Index c) { make_solved(c, b); },
               [&](Index c) {
                 invert(c, next);
                 add_slopes(c, b, out);
               },
               [&](Index c) {
                 element(c).pull(work(c).by_gram, work(c).by_end, work(c).by_covariance,
                                 {out.state_variance.data(), out.state_lengthscale.data(),
                                  out.state_period.data(), out.state_quality.data()},
                                 out.noise.data() + chunk(c).begin);
                 if (solves) element(c).solved([&](Index column) { return b[column] + chunk(c).begin; });
               }},
              true);
  }

  /// Φw at a time, for the bases that are chosen and the weights of a column.
  Real curve(const Real* column, const std::vector<bool>& chosen, double x) const {
    Real sum = 0;
    for (std::size_t t = 0; t < bases_.size(); ++t) {
      if (!chosen[t]) continue;
      const Gaussians& basis = bases_[t];
      const auto phase = Expansion<Real>::phase(basis, x);
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
        if (j < nodes.first) continue;
        const Real* weight = column + weights_at() + nodes.number + (j - nodes.first) * basis.columns();
        sum += Expansion<Real>::gaussian(basis, j, Real(x)) *
               (basis.oscillates() ? phase.cos * weight[0] + phase.sin * weight[1] : weight[0]);
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
      curves_.resize(1, round_up(chunk(c).count(), 8));
      make_curve(c, weights_.data(), curves_.data());
      for (Index i = chunk(c).begin; i < chunk(c).end; ++i) out[i] += factor * curves_[0][i - chunk(c).begin];
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
        step(c, i - chunk(c).begin).template forward<One>(mean, 1);
        column[i] += mean[0];
        for (int s = 0; s < p; ++s) mean[s] -= gain(i)[s] * v;
      }
    }
  }

  /// The variance of a part of the curve at those points where `wanted`: of the bases that are chosen, and of
  /// the states' sum that `select` is.
  std::vector<Real> variances(const std::vector<bool>& wanted, const std::vector<bool>& chosen,
                              const std::vector<Real>& select) {
    std::vector<Real> out(static_cast<std::size_t>(n_), Real(0));
    inverse_.set_zero(slots(), slots());
    std::size_t next = pivots_.size();
    for (Index c = chunks() - 1; c >= 0; --c) {
      invert(c, next);
      add_variances(c, wanted, chosen, select, out);
    }
    return out;
  }

 private:
  using One = Plain<Real>;

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

  /// A chunk with its element, and what the loss is by it.
  struct Work {
    Numbers<Real> at, gaps, steps;
    ChunkPoints<Real> points;
    Element<Real> element;
    Table<Real> begin, solution;  // states at the beginning, and the unknowns, of every column
    Table<Real> by_gram, by_end, waves;
    Numbers<Real> by_covariance;
  };
  Work& work(Index c) { return works_[static_cast<std::size_t>(c) % works_.size()]; }
  Element<Real>& element(Index c) { return work(c).element; }
  /// What is done to every chunk, in turn: the first and the last step need no other chunk, and with two
  /// threads go on beside the second. The second and the last step see the chunks in their order.
  struct Stages {
    std::function<void(Index)> before, here, after;
  };
  void in_stages(const Stages& stages, bool backwards) {
    const Index count = chunks();
    const auto run = [&](const std::function<void(Index)>& step, Index i) {
      if (step) step(backwards ? count - 1 - i : i);
    };
    if (!worker_.shares()) {
      for (Index i = 0; i < count; ++i) {
        run(stages.before, i);
        run(stages.here, i);
        run(stages.after, i);
      }
      return;
    }
    const auto prepare = [&](Index i) { run(stages.before, i); };
    const auto work = [&](Index i) { run(stages.here, i); };
    const auto finish = [&](Index i) { run(stages.after, i); };
    Relay relay(count, prepare, work, finish);
    worker_.start([&relay] { relay.second(); });
    try {
      relay.first();
    } catch (...) {
      worker_.wait();
      throw;
    }
    worker_.wait();
  }

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
  ColumnBlock<Real> column_block(Index c) {
    const Chunk& here = chunk(c);
    return {&states_.places(), here.count(),       work(c).steps.data(), inverse_roots_.data() + here.begin,
            gain(here.begin),  !layout_.is_last(c)};
  }
  Move<One, 0> step(Index c, Index i) { return {states_.places(), work(c).steps.data(), i}; }
  const Real* eliminated_row(std::size_t number) const {
    return eliminated_rows_.data() + static_cast<Index>(number) * slots();
  }

  /// What is read and written of the points of a chunk, and about as many eliminated rows as went last,
  /// before a batch that begins at `next` or behind it.
  static constexpr Index kAhead = 2;  // chunks
  void fetch_points(Index c, Columns<Real> b) const {
    if (c < 0 || c >= chunks()) return;
    const Chunk& here = chunk(c);
    fetch(time_ + here.begin, here.count());
    fetch(noise_ + here.begin, here.count());
    fetch(inverse_roots_.data() + here.begin, here.count());
    fetch(gain(here.begin), here.count() * states_.size());
    for (Index column = 0; column < b.count; ++column) fetch(b[column] + here.begin, here.count());
  }
  void fetch_rows(std::size_t next) const {
    const std::size_t count = ending_.size(), end = next - std::min(next, (kAhead - 1) * count);
    const std::size_t begin = end - std::min(end, count);
    fetch(eliminated_row(begin), static_cast<Index>(end - begin) * slots());
  }

  // --- a chunk ---------------------------------------------------------------------------------------------

  void make_steps(Index c) {
    if (states_.size() == 0) return;
    const Chunk& here = chunk(c);
    const Index count = here.count();
    Numbers<Real>&gaps = work(c).gaps, &steps = work(c).steps;
    gaps.resize(static_cast<std::size_t>(round_up(count + 1, 8)));
    const double* time = time_ + here.begin;
    Real* gap = gaps.data();
    for (Index i = 1; i < count; ++i) gap[i] = Real(time[i]) - Real(time[i - 1]);
    gap[0] = c == 0 ? std::numeric_limits<Real>::infinity() : Real(time[0]) - Real(here.from);
    gap[count] = Real(here.to) - Real(time[count - 1]);
    std::fill(gap + count + 1, gap + gaps.size(), Real(0));
    steps.resize(static_cast<std::size_t>(states_.step_size()));
    states_.steps(gaps.data(), count + 1, steps.data());
  }
  /// The chunk as its element sees it.
  void prepare(Index c) {
    make_steps(c);
    const Chunk& here = chunk(c);
    Numbers<Real>& at = work(c).at;
    at.resize(static_cast<std::size_t>(round_up(here.count(), 8)));
    if (!here.identity) expansion_.place_points(here, at.data());
    std::fill(at.data() + here.count(), at.data() + at.size(), Real(0));
    ChunkPoints<Real>& points = work(c).points;
    points = {};
    points.count = here.count();
    points.steps = work(c).steps.data();
    points.noise = noise_ + here.begin;
    points.polynomials = expansion_.polynomials(c);
    points.at = at.data();
    points.identity = here.identity;
    if (expansion_.has_waves(c)) {
      expansion_.place_waves(here, work(c).waves);
      points.plan = &expansion_.plan();
      points.waves = &work(c).waves;
    }
    points.first = c == 0;
    points.last = layout_.is_last(c);
  }
  /// A column's weights, in their slots; other slots of weights become 0.
  void gather_weights(Index c, const Real* column, Real* z) const {
    std::fill_n(z, layout_.state_begin(), Real(0));
    for (std::size_t t = 0; t < bases_.size(); ++t)
      layout_.for_nodes(c, t,
                        [&](Index slot, Index, Index number) { z[slot] = column[weights_at() + number]; });
  }
  /// out ← Wβ at the chunk's points, for weights in slots; there is room for whole lanes.
  void make_curve(Index c, const Real* z, Real* out) {
    const Index count = chunk(c).count();
    if (bases_.empty()) {
      std::fill_n(out, count, Real(0));
      return;
    }
    expansion_.expand(c, z, beta_);
    if (chunk(c).identity)
      std::copy_n(beta_.begin(), count, out);
    else if (expansion_.has_waves(c))
      expansion_.plan().curve(work(c).at.data(), work(c).waves, beta_.data(), count, out);
    else
      loops().curve(work(c).at.data(), count, beta_.data(), expansion_.polynomials(c), out);
  }

  // --- forwards --------------------------------------------------------------------------------------------

  void make_element(Index c, Columns<Real> b, bool whole) {
    fetch_points(c + kAhead, b);
    prepare(c);
    if (has_sums() && !whole) work(c).points.sums = sums_[c];
    element(c).make(states_, work(c).points, b.count,
                    [&](Index i, Index column) { return b[column][chunk(c).begin + i]; });
  }
  /// Adds the element of chunk c to the front, or to its right-hand sides alone.
  bool assemble(Index c, Columns<Real> b, bool whole) {
    const int p = states_.size();
    const Chunk& here = chunk(c);
    if (element(c).failed) return false;
    expansion_.make(c);
    add_right(c, b.count);
    if (!whole) return true;

    if (has_sums() && !here.identity) std::ranges::copy(element(c).sums(), sums_[c]);
    std::copy_n(element(c).inverse_roots(), here.count(), inverse_roots_.data() + here.begin);
    if (p > 0) std::copy_n(element(c).gains(), here.count() * p, gains_.data() + here.begin * p);
    std::copy_n(element(c).covariance.data(), p * p, chunk_covariance(c));
    log_determinant_.add(element(c).log_pivots);
    for (std::size_t t = 0; t < bases_.size(); ++t) {
      layout_.for_columns(t, layout_.first_new(c, t), layout_.nodes(c, t).last + 1,
                          [&](Index slot) { front_[slot][slot] = 1; });
    }
    add_gram(c);
    if (has_end(c)) add_end(c);
    return true;
  }
  /// Right-hand sides are held negative, a row for each.
  void add_right(Index c, Index columns) {
    const Index unknowns = element(c).unknowns();
    loops().multiply({{element(c).gram.data() + unknowns, 1, element(c).width()},
                      {expansion_.columns.data(), slots()},
                      {right_.data(), slots()},
                      columns,
                      unknowns,
                      slots(),
                      kAddTo});
    for (int i = 0; i < states_.size() && has_end(c); ++i) {
      for (Index k = 0; k < columns; ++k)
        right_[k][layout_.multiplier_slot() + i] -= element(c).end[i][unknowns + k];
    }
  }
  /// The front is symmetric, and what lies below its diagonal is not kept up: F += RᵀGR.
  void add_gram(Index c) {
    if (expansion_.has_waves(c)) {
      add_gram_of_waves(c);
      return;
    }
    const int p = states_.size();
    const Index width = element(c).width();
    const Table<Real>& columns = expansion_.columns;
    product_.resize(element(c).unknowns(), slots());  // GR
    if (p == 0 && chunk(c).identity) {
      for (Index u = 0; u < element(c).unknowns(); ++u) {
        const Real weight = element(c).gram[u][u];
        for (Index s = 0; s < slots(); ++s) product_[u][s] = weight * columns[u][s];
      }
      loops().multiply({{columns.data(), 1, slots()},
                        {product_.data(), slots()},
                        {front_.data(), slots()},
                        layout_.state_begin(),
                        element(c).unknowns(),
                        slots(),
                        kAddTo,
                        0});
      return;
    }
    for (Index u = 0; u < element(c).unknowns(); ++u)
      std::fill(product_[u] + layout_.state_begin(), product_[u] + slots(), Real(0));
    for (std::size_t t = 0; t < bases_.size(); ++t) {
      const Index rank = expansion_.rank(c, t), from = layout_.lanes_begin(t);
      loops().multiply({{element(c).gram[p] + p, width, 1},
                        {columns[p] + from, slots()},
                        {product_[p] + from, slots()},
                        rank,
                        rank,
                        layout_.lanes_end(t) - from});
    }
    for (int i = 0; i < p && c > 0; ++i) {
      const Index slot = layout_.state_slot(c) + i;
      for (Index u = 0; u < element(c).unknowns(); ++u) product_[u][slot] = element(c).gram[u][i];
      for (int k = 0; k < p; ++k) front_[slot][layout_.state_slot(c) + k] += element(c).gram[i][k];
    }
    for (std::size_t t = 0; t < bases_.size(); ++t) {
      const Index begin = layout_.ring_begin(t);
      loops().multiply({{columns[p] + begin, 1, slots()},
                        {product_[p], slots()},
                        {front_[begin], slots()},
                        layout_.width(t),
                        expansion_.rank(c, t),
                        slots(),
                        kAddTo,
                        begin});
    }
  }
  /// The same where every basis has rows of its own: a product for each column of its nodes.
  void add_gram_of_waves(Index c) {
    const Index rows = expansion_.plan().rows();
    product_.resize(rows, slots());
    for_waves([&](const Wave& wave) {
      // The front is wanted above its diagonal alone: rows of bases whose slots come later are not needed.
      const Index needed = bases_[wave.basis].oscillates() ? wave.row + wave.rank : rows;
      cross_.resize(needed, wave.width);
      loops().multiply({{element(c).gram.data() + wave.row, element(c).width(), 1},
                        {wave.compact.coefficients.data(), wave.width},
                        {cross_.data(), wave.width},
                        needed,
                        wave.rank,
                        wave.width});
      for (Index u = 0; u < needed; ++u) std::copy_n(cross_[u], wave.ring, product_[u] + wave.slot);
    });
    for (Index u = 0; u < rows; ++u)
      std::fill(product_[u] + layout_.state_begin(), product_[u] + slots(), Real(0));
    for_waves([&](const Wave& wave) {
      loops().multiply({{wave.compact.coefficients.data(), 1, wave.width},
                        {product_[wave.row], slots()},
                        {front_[wave.slot], slots()},
                        wave.ring,
                        wave.rank,
                        slots(),
                        kAddTo,
                        wave.slot});
    });
  }
  /// A column of all nodes of a basis, on chunks with waves: its slots and its rows of β.
  struct Wave {
    std::size_t basis;
    Index column, slot, ring, row, rank, width;
    const typename Expansion<Real>::Compact& compact;
  };
  template <class Visit>
  void for_waves(const Visit& visit) const {
    for (std::size_t t = 0; t < bases_.size(); ++t) {
      const Index ring = layout_.ring(t);
      for (Index k = 0; k < bases_[t].columns(); ++k)
        visit(Wave{t, k, layout_.ring_begin(t) + k * ring, ring, expansion_.plan().first_row(t, k),
                   bases_[t].polynomials, round_up(ring, 8), expansion_.compact(t)});
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
      loops().multiply({{element(c).end.data() + p, element(c).width(), 1},
                        {expansion_.columns[p] + from, slots()},
                        {product_.data() + from, slots()},
                        p,
                        expansion_.rank(c, t),
                        layout_.lanes_end(t) - from});
    }
    for (int i = 0; i < p; ++i) {
      for (Index s = 0; s < layout_.state_begin(); ++s) front_[s][lambda + i] -= product_[i][s];
      for (int k = 0; k < p; ++k) {
        if (c > 0) front_[here + k][lambda + i] -= element(c).end[i][k];
        front_[lambda + i][lambda + k] -= element(c).covariance[static_cast<std::size_t>(Index{i} * p + k)];
      }
      front_[next + i][lambda + i] += 1;
    }
  }
  /// ending_ ← so many of the slots that end with chunk c: where very many do, most of the work is then in
  /// products of whole matrices.  False behind the last of them.
  static constexpr Index kMostAtOnce = 32;
  bool take_piece(Index c, Index piece) {
    layout_.ending(c, all_ending_);
    const Index all = std::ssize(all_ending_), begin = piece * kMostAtOnce;
    if (begin >= all) return false;
    ending_.assign(all_ending_.begin() + begin, all_ending_.begin() + std::min(begin + kMostAtOnce, all));
    return true;
  }
  /// The slots of ending_, one after the other, but on their own rows alone; the rest of the front changes
  /// once for all.
  bool eliminate() {
    const auto count = std::ssize(ending_);
    scaled_rows_.resize(count, slots());
    fetch(eliminated_rows_.data() + (std::ssize(pivots_) + count) * slots(), count * slots());
    loops().take(ending_.data(), count, slots(), front_.data(), scaled_rows_.data());
    const auto before = std::ssize(pivots_);
    Real* rows = eliminated_rows_.data() + before * slots();
    pivots_.resize(static_cast<std::size_t>(before + count));
    const Real* pivots = pivots_.data() + before;
    loops().eliminate(ending_.data(), count, slots(), scaled_rows_.data(), rows, pivots_.data() + before);
    Logarithm<Real> product;
    for (Index i = 0; i < count; ++i) {
      const Index slot = ending_[static_cast<std::size_t>(i)];
      const bool negative = slot >= layout_.multiplier_slot();
      if (!(negative ? pivots[i] < 0 : pivots[i] > 0)) return false;
      product.multiply(negative ? -pivots[i] : pivots[i]);
      if (slot < layout_.state_begin()) largest_pivot_ = std::max(largest_pivot_, pivots[i]);
    }
    log_determinant_.add(product.value());
    loops().multiply({{scaled_rows_.data(), 1, slots()},
                      {rows, slots()},
                      {front_.data(), slots()},
                      slots(),
                      count,
                      slots(),
                      kAddTo,
                      0});
    loops().clear(ending_.data(), count, slots(), front_.data());
    eliminate_right(rows);
    return true;
  }
  /// The same for the right-hand sides, by the rows l of the slots that end; eliminated_right_ gets what
  /// these slots had.
  void eliminate_right(const Real* rows) {
    const auto count = std::ssize(ending_);
    const Index columns = right_.rows, begin = std::ssize(eliminated_right_);
    eliminated_right_.resize(static_cast<std::size_t>(begin + count * columns));
    loops().eliminate_right(ending_.data(), count, slots(), rows, right_.data(), columns,
                            eliminated_right_.data() + begin);
  }

  // --- backwards -------------------------------------------------------------------------------------------

  /// Substitutes back, and writes the reduced columns.
  void reduce_back(Columns<Real> b) {
    if (b.count == 0) return;
    solution_.set_zero(b.count, slots());
    std::size_t next = pivots_.size();
    in_stages({{},
               [&](Index c) {
                 substitute(c, next);
                 work(c).solution = solution_;
               },
               [&](Index c) { write_reduced(c, b); }},
              true);
    eliminated_right_.clear();
    for (Index column = 0; column < b.count; ++column)
      std::fill(b[column] + n_, b[column] + weights_at(), Real(0));
  }
  /// solution_ gets the unknowns that ended with chunk c.
  void substitute(Index c, std::size_t& next) {
    const Index columns = solution_.rows;
    layout_.ending(c, ending_);
    next -= ending_.size();
    fetch_rows(next);
    loops().substitute(ending_.data(), std::ssize(ending_), slots(), eliminated_row(next),
                       pivots_.data() + next, eliminated_right_.data() + static_cast<Index>(next) * columns,
                       solution_.data(), columns);
  }
  void write_reduced(Index c, Columns<Real> b) {
    const int p = states_.size();
    Work& here = work(c);
    fetch_points(c - kAhead, b);
    prepare(c);
    here.begin.resize(b.count, kMostStates);
    curves_.resize(b.count, round_up(chunk(c).count(), 8));
    for (Index column = 0; column < b.count; ++column) {
      const Real* z = here.solution[column];
      for (std::size_t t = 0; t < bases_.size(); ++t)
        layout_.for_nodes(
            c, t, [&](Index slot, Index, Index number) { b[column][weights_at() + number] = z[slot]; });
      make_curve(c, z, curves_[column]);
      for (int i = 0; i < p; ++i) {
        here.begin[column][i] = c > 0 ? z[layout_.state_slot(c) + i] : Real(0);
        begin_states(b, column, c)[i] = here.begin[column][i];
        multipliers(b, column, c)[i] = has_end(c) ? z[layout_.multiplier_slot() + i] : Real(0);
      }
      if (has_end(c)) write_multipliers(c, b, column);
    }
    loops().reduce(column_block(c), curves_.data(), curves_.width, here.begin.data(), b[0] + chunk(c).begin,
                   b.stride, b.count);
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

  /// inverse_ ← from the unknowns of the next chunk to those of chunk c. Slots that are not in use hold a
  /// later unknown's rows, where l is 0.
  void invert(Index c, std::size_t& next) {
    layout_.ending(c, all_ending_);
    for (Index piece = (std::ssize(all_ending_) + kMostAtOnce - 1) / kMostAtOnce; piece > 0; --piece) {
      (void)take_piece(c, piece - 1);
      invert_piece(next);
    }
  }
  void invert_piece(std::size_t& next) {
    const auto count = std::ssize(ending_);
    next -= ending_.size();
    fetch_rows(next);
    const Real* rows = eliminated_row(next);
    for (const Index slot : ending_) std::fill_n(inverse_[slot], slots(), Real(0));
    batch_.resize(count, slots());
    small_.resize(static_cast<std::size_t>(count * count));
    loops().multiply(
        {{rows, slots(), 1}, {inverse_.data(), slots()}, {batch_.data(), slots()}, count, slots(), slots()});
    loops().return_rows(ending_.data(), count, slots(), rows, pivots_.data() + next, batch_.data(),
                        small_.data());
    loops().put(ending_.data(), count, slots(), batch_.data(), inverse_.data());
  }
  void add_variances(Index c, const std::vector<bool>& wanted, const std::vector<bool>& chosen,
                     const std::vector<Real>& select, std::vector<Real>& out) {
    const int p = states_.size();
    const Chunk& here = chunk(c);
    prepare(c);
    expansion_.make(c);
    if (has_sums()) work(c).points.sums = sums_[c];
    element(c).make_solved(
        states_, work(c).points, 0, [](Index, Index) { return Real(0); }, Table<Real>{});
    const Index at_lambda = layout_.multiplier_slot();
    work(c).by_covariance.assign(static_cast<std::size_t>(Index{p} * p), Real(0));
    cross_.set_zero(p, slots());  // the multipliers' negative covariances with all slots
    for (int i = 0; i < p && has_end(c); ++i) {
      for (int k = 0; k < p; ++k)
        work(c).by_covariance[static_cast<std::size_t>(Index{i} * p + k)] =
            -inverse_[at_lambda + i][at_lambda + k] / 2;
      for (Index s = 0; s < slots(); ++s) cross_[i][s] = -inverse_[at_lambda + i][s];
    }
    Numbers<Real> g(static_cast<std::size_t>(slots())), solved(g.size());
    const Index width = element(c).width(), unknowns = element(c).unknowns();
    element(c).look_back(
        expansion_.columns, inverse_, work(c).by_covariance, cross_,
        [&](Index i, const Real* m, const Real* cov, const Real* lambda, const Table<Real>& with) {
          if (!wanted[static_cast<std::size_t>(here.begin + i)]) return;
          expansion_.values(c, chosen, time_[here.begin + i], g.data());
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

  /// The element again, for columns that are reduced.
  void make_solved(Index c, Columns<Real> b) {
    const int p = states_.size();
    const Chunk& here = chunk(c);
    fetch_points(c - kAhead, b);
    prepare(c);
    ChunkPoints<Real>& points = work(c).points;
    if (has_sums()) points.sums = sums_[c];
    points.inverse_roots = inverse_roots_.data() + here.begin;
    points.gains = gain(here.begin);
    Table<Real>& begin = work(c).begin;
    begin.resize(p, b.count);
    for (int i = 0; i < p; ++i) {
      for (Index column = 0; column < b.count; ++column) begin[i][column] = begin_states(b, column, c)[i];
    }
    element(c).make_solved(
        states_, points, b.count, [&](Index i, Index column) { return b[column][here.begin + i]; }, begin);
  }
  /// The slopes by the bases, and what the loss is by the element.
  void add_slopes(Index c, Columns<Real> b, Slopes& out) {
    expansion_.make_pieces(c);
    solve_columns(c, b);
    weigh_columns(c, b);
    make_by_end(c, b);
    work(c).by_gram.resize(element(c).width(), element(c).width());
    if (expansion_.has_waves(c)) work(c).by_gram.set_zero(element(c).width(), element(c).width());
    for (std::size_t t = bases_.size(); t > 0; --t) add_basis_slopes(c, t - 1, b.count, out);
    finish_by_gram(c, b.count);
  }
  /// Columns (x, β, b, λ) of what follows: states, polynomials, right-hand sides, multipliers.
  Index multiplier_column(Index c, Index columns) { return element(c).unknowns() + columns; }
  /// solved_ ← by slot, SRᵀ, the unknowns ẑ of every right-hand side, and −(S_·λ + ẑλ̂ᵀ).
  void solve_columns(Index c, Columns<Real> b) {
    const int p = states_.size();
    const Index unknowns = element(c).unknowns(), at_lambda = multiplier_column(c, b.count),
                // Where every basis has rows of its own the lanes of the last ones need room.
        width = round_up(at_lambda + p, 8) + (expansion_.has_waves(c) ? 8 : 0);
    solved_.resize(slots() + 1, width);  // polynomials in whole lanes may go beyond the last row
    bool add_to = false;
    if (expansion_.has_waves(c)) multiply_waves(width);
    for (std::size_t t = expansion_.has_waves(c) ? 0 : bases_.size(); t > 0; --t) {
      expansion_.pieces(c, t - 1, [&](const auto& piece) {
        loops().multiply({{inverse_.data() + piece.slot, slots(), 1},
                          {piece.across, piece.across_stride},
                          {solved_.data() + p, width},
                          slots(),
                          piece.count,
                          round_up(expansion_.rank(c, t - 1), 8),
                          add_to});
        add_to = kAddTo;
      });
    }
    weights_.resize(static_cast<std::size_t>(slots()));
    // Column by column: short rows are not worth a call that fills or copies them.
    const auto set_column = [&](Index column, const Real* values, Real factor) {
      Real* to = solved_.data() + column;
      for (Index s = 0; s < slots(); ++s) to[s * width] = factor * values[s];
    };
    const auto clear_column = [&](Index column) {
      Real* to = solved_.data() + column;
      for (Index s = 0; s < slots(); ++s) to[s * width] = 0;
    };
    for (int i = 0; i < p; ++i) {
      if (c > 0)
        set_column(i, inverse_[layout_.state_slot(c) + i], 1);
      else
        clear_column(i);
    }
    for (Index column = unknowns; column < width; ++column) {
      const Index i = column - at_lambda;
      if (has_end(c) && i >= 0 && i < p)
        set_column(column, inverse_[layout_.multiplier_slot() + i], -1);
      else
        clear_column(column);
    }
    for (Index column = 0; column < b.count; ++column) {
      gather_weights(c, b[column], weights_.data());
      for (Index s = 0; s < layout_.state_begin(); ++s) {
        const Real z = weights_[static_cast<std::size_t>(s)];
        solved_[s][unknowns + column] = z;
        for (int i = 0; i < p && has_end(c); ++i)
          solved_[s][at_lambda + i] -= z * multipliers(b, column, c)[i];
      }
    }
  }
  /// The columns SRᵀ of solved_ where every basis has rows of its own; those that do not oscillate share
  /// theirs, the first ones, of which the last basis has the most.
  void multiply_waves(Index width) {
    const auto put = [&](const Wave& wave, bool add_to) {
      loops().multiply({{inverse_.data() + wave.slot, slots(), 1},
                        {wave.compact.across.data(), wave.compact.across.width},
                        {solved_.data() + wave.row, width},
                        slots(),
                        wave.ring,
                        round_up(wave.rank, 8),
                        add_to});
    };
    std::vector<Wave> shared, own;
    for_waves([&](const Wave& wave) { (bases_[wave.basis].oscillates() ? own : shared).push_back(wave); });
    bool add_to = false;
    for (std::size_t k = shared.size(); k > 0; --k) {
      put(shared[k - 1], add_to);
      add_to = kAddTo;
    }
    for (const Wave& wave : own) put(wave, kReplace);
  }
  /// weighed_ ← what the slopes of β's coefficients are by the columns of solved_: G, and Eᵀ for multipliers.
  void weigh_columns(Index c, Columns<Real> b) {
    const int p = states_.size();
    const Index q = expansion_.polynomials(c), at_lambda = multiplier_column(c, b.count);
    weighed_.resize(q, solved_.width);
    // Beyond the right-hand sides there is 0.
    loops().copy(element(c).gram[p], element(c).width(), q, std::min(element(c).width(), solved_.width),
                 weighed_.data(), solved_.width);
    for (Index column = at_lambda; column < solved_.width; ++column) {
      const Index i = column - at_lambda;
      for (Index m = 0; m < q; ++m) weighed_[m][column] = i < p ? element(c).end[i][p + m] : Real(0);
    }
  }
  /// What the loss is by the states at the end, −(S_λ· + λ̂ẑᵀ)Rᵀ, and by P, −½(S_λλ + λ̂λ̂ᵀ).
  void make_by_end(Index c, Columns<Real> b) {
    const int p = states_.size();
    const Index unknowns = element(c).unknowns(), lambda = layout_.multiplier_slot();
    work(c).by_covariance.assign(static_cast<std::size_t>(Index{p} * p), Real(0));
    work(c).by_end.set_zero(p, element(c).width());
    for (int i = 0; i < p && has_end(c); ++i) {
      for (Index u = 0; u < unknowns; ++u) work(c).by_end[i][u] = -solved_[lambda + i][u];
      for (Index column = 0; column < b.count; ++column)
        work(c).by_end[i][unknowns + column] = -multipliers(b, column, c)[i];
      for (int k = 0; k < p; ++k) {
        Real& by = work(c).by_covariance[static_cast<std::size_t>(Index{i} * p + k)];
        by = inverse_[lambda + i][lambda + k];
        for (Index column = 0; column < b.count; ++column)
          by += multipliers(b, column, c)[i] * multipliers(b, column, c)[k];
        by /= -2;
      }
    }
  }
  /// A basis's part ½C(SRᵀ) of ∂/∂G; ⟨GRZ − Eᵀ(S_λ + λ̂ẑᵀ), C′⟩, and what its variance is worth.
  void add_basis_slopes(Index c, std::size_t t, Index columns, Slopes& out) {
    if (expansion_.has_waves(c))
      add_wave_slopes(c, t, out);
    else
      add_piece_slopes(c, t, out);
    const Index unknowns = element(c).unknowns();
    layout_.for_columns(t, layout_.nodes(c, t).first, layout_.first_staying(c, t), [&](Index slot) {
      Real squares = 0;
      for (Index column = 0; column < columns; ++column)
        squares += solved_[slot][unknowns + column] * solved_[slot][unknowns + column];
      out.basis_variance[t] += (1 - inverse_[slot][slot] - squares) / 2;
    });
  }
  /// On chunks with waves.
  void add_wave_slopes(Index c, std::size_t t, Slopes& out) {
    const Index width = solved_.width;
    for_waves([&](const Wave& wave) {
      if (wave.basis != t) return;
      product_.resize(wave.rank, width);
      const auto multiply = [&](const Table<Real>& coefficients) {
        loops().multiply({{coefficients.data(), coefficients.width, 1},
                          {solved_[wave.slot], width},
                          {product_.data(), width},
                          wave.rank,
                          wave.ring,
                          width});
      };
      const auto contract = [&](Index row) {
        return loops().contract(product_.data(), width, weighed_[row], width, wave.rank, width);
      };
      multiply(wave.compact.coefficients);
      loops().add_rows(Real(0.5), product_.data(), width, wave.rank, element(c).width(),
                       work(c).by_gram[wave.row], element(c).width(), kAddTo);
      const Index other = expansion_.plan().first_row(t, 1 - wave.column);
      Real by_other = 0;
      if (expansion_.is_mapped(t)) {
        mapped_.resize(wave.rank, width);
        const auto contract_mapped = [&] {
          return loops().contract(product_.data(), width, mapped_.data(), width, wave.rank, width);
        };
        loops().slope_map(weighed_[wave.row], width, wave.rank, expansion_.slope_factor(t), width,
                          mapped_.data());
        out.basis_lengthscale[t] += contract_mapped();
        if (!bases_[t].oscillates()) return;
        derivative_map(weighed_[other], width, wave.rank);
        by_other = expansion_.period_factor(t) * contract_mapped();
      } else {
        multiply(wave.compact.slopes);
        out.basis_lengthscale[t] += contract(wave.row);
        if (!bases_[t].oscillates()) return;
        multiply(wave.compact.period_slopes);
        by_other = contract(other);
      }
      out.basis_period[t] += wave.column == 0 ? by_other : -by_other;
    });
  }
  /// mapped_ ← Mᵀ·rows, M the derivative of Chebyshev's polynomials: 2n/c_k of T_n in T_k, n − k odd and
  /// positive, c₀ = 2 and 1 beyond.
  void derivative_map(const Real* rows, Index width, Index rank) {
    sums_of_rows_.set_zero(2, width);
    for (Index n = 0; n < rank; ++n) {
      Real* to = mapped_[n];
      const Real *sum = sums_of_rows_[1 - n % 2], *row = rows + n * width;
      for (Index w = 0; w < width; ++w) to[w] = Real(2 * n) * sum[w];
      loops().add(n == 0 ? Real(0.5) : Real(1), row, width, sums_of_rows_[n % 2]);
    }
  }
  void add_piece_slopes(Index c, std::size_t t, Slopes& out) {
    const int p = states_.size();
    const Index rank = expansion_.rank(c, t), width = solved_.width;
    product_.resize(rank, width);
    const auto multiply_pieces = [&](auto coefficients) {
      bool add_to = false;
      expansion_.pieces(c, t, [&](const auto& piece) {
        loops().multiply({{piece.*coefficients, piece.stride, 1},
                          {solved_[piece.slot], width},
                          {product_.data(), width},
                          rank,
                          piece.count,
                          width,
                          add_to});
        add_to = kAddTo;
      });
    };
    using Piece = typename Expansion<Real>::Piece;
    multiply_pieces(&Piece::coefficients);
    // The finest basis is the first, and has all rows.
    const bool add_to = t + 1 < bases_.size();
    loops().add_rows(Real(0.5), product_.data(), width, rank, element(c).width(), work(c).by_gram[p],
                     element(c).width(), add_to);
    const Real* weighed = weighed_.data();
    if (expansion_.is_table(c, t)) {
      mapped_.resize(rank, width);
      loops().slope_map(weighed, width, rank, expansion_.slope_factor(t), width, mapped_.data());
      weighed = mapped_.data();
    } else {
      multiply_pieces(&Piece::slopes);
    }
    out.basis_lengthscale[t] += loops().contract(product_.data(), width, weighed, width, rank, width);
    if (bases_[t].oscillates()) {
      multiply_pieces(&Piece::period_slopes);
      out.basis_period[t] += loops().contract(product_.data(), width, weighed, width, rank, width);
    }
  }
  /// The rest of ½RSRᵀ: the states' rows, and ½ for the right-hand sides.
  void finish_by_gram(Index c, Index columns) {
    const int p = states_.size();
    const Index unknowns = element(c).unknowns();
    Table<Real>& by_gram = work(c).by_gram;
    for (Index column = unknowns; column < by_gram.width; ++column) {
      for (Index m = p; m < unknowns; ++m) by_gram[m][column] = 0;
    }
    std::fill_n(by_gram.data(), p * by_gram.width, Real(0));
    for (int i = 0; i < p && c > 0; ++i) {
      for (Index u = 0; u < unknowns; ++u) by_gram[i][u] = solved_[layout_.state_slot(c) + i][u] / 2;
    }
    std::fill(by_gram[unknowns], by_gram[unknowns] + columns * by_gram.width, Real(0));
    for (Index column = unknowns; column < unknowns + columns; ++column) by_gram[column][column] = Real(0.5);
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
  Numbers<Real> pivots_, eliminated_rows_, eliminated_right_;  // d, l, right-hand sides
  // The front under way, and chunks.
  Worker worker_;
  std::vector<Work> works_;  // of chunk c in place c mod their number
  Table<Real> front_, right_, solution_, inverse_, scaled_rows_, batch_;
  Table<Real> product_, solved_, cross_, curves_, weighed_, mapped_, sums_of_rows_;
  Numbers<Real> weights_, beta_, small_;
  std::vector<Index> ending_, all_ending_;
};

}  // namespace bandgp::front
