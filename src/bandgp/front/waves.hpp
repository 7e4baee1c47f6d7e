// SPDX-License-Identifier: Apache-2.0
// Local functions of chunks where bases oscillate: Chebyshev's polynomials by themselves, and times cos and
// sin of every basis's phase. The products of two of them are polynomials times sums and differences of
// phases, so that the sums Σ T_n(xᵢ) cos(fᵢ)/dᵢ, Σ T_n(xᵢ) sin(fᵢ)/dᵢ over all such frequencies f are enough
// for WᵀD⁻¹W.                                                                                  [math.md §12]
#pragma once
#include <algorithm>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "bandgp/front/front_kernels.hpp"
#include "bandgp/front/layout.hpp"
#include "bandgp/front/table.hpp"

namespace bandgp::front {

template <class Real>
class WavePlan {
 public:
  /// Rows of β: polynomials of a basis that does not oscillate (all such share one block), or those times cos
  /// or times sin.
  struct Block {
    Index first, count;
    std::size_t basis;
    bool oscillates, sine;
  };

  void lay_out(const std::vector<Gaussians>& bases) {
    bases_ = bases;
    blocks_.clear();
    first_row_.assign(bases.size(), {0, 0});
    families_.clear();
    frequencies_.assign(1, {});
    numbers_.clear();
    rows_ = 0;
    for (std::size_t t = 0; t < bases.size(); ++t) {
      if (!bases[t].oscillates()) rows_ = std::max(rows_, bases[t].polynomials);
    }
    if (rows_ > 0) blocks_.push_back({0, rows_, 0, false, false});
    for (std::size_t t = 0; t < bases.size(); ++t) {
      if (!bases[t].oscillates()) continue;
      for (const bool sine : {false, true}) {
        (sine ? first_row_[t].second : first_row_[t].first) = rows_;
        blocks_.push_back({rows_, bases[t].polynomials, t, true, sine});
        rows_ += bases[t].polynomials;
      }
      if (std::ranges::find(families_, bases[t].turns) == families_.end())
        families_.push_back(bases[t].turns);
    }
    // Multiples of each family one after the other, so that each follows from the one before.
    for (const double turns : families_) {
      Index most = 0;
      for (const Gaussians& basis : bases) {
        if (basis.oscillates() && basis.turns == turns) most = std::max(most, basis.harmonic);
      }
      for (Index k = 1; k <= 2 * most; ++k) (void)number({turns, k, 0, 0});
    }
    lengths_.assign(frequencies_.size(), 0);
    for (std::size_t u = 0; u < blocks_.size(); ++u) {
      for (std::size_t v = u; v < blocks_.size(); ++v) {
        const Index length = blocks_[u].count + blocks_[v].count - 1;
        for (const Part& part : parts(blocks_[u], blocks_[v])) {
          if (part.factor == 0) continue;
          lengths_.resize(frequencies_.size(), 0);
          Index& known = lengths_[part.row / 2];
          known = std::max(known, length);
        }
      }
    }
    starts_.assign(1, 0);
    for (std::size_t f = 0; f < frequencies_.size(); ++f) {
      starts_.push_back(starts_.back() + lengths_[f]);
      starts_.push_back(starts_.back() + (f == 0 ? 0 : lengths_[f]));
    }
  }

  /// Rows of β.
  Index rows() const { return rows_; }
  Index first_row(std::size_t t, Index column) const {
    return column == 0 ? first_row_[t].first : first_row_[t].second;
  }
  Index sums_size() const { return starts_.back(); }

  /// waves ← cos and sin of every frequency at these times, two rows each, with room for whole lanes;
  /// phase(t, x) is a pair (cos, sin) for a basis's phase of its first harmonic.
  template <class Phase>
  void place(const double* time, Index count, const Phase& phase, Table<Real>& waves) const {
    waves.resize(2 * std::ssize(frequencies_), round_up(count, 8));
    for (Index row = 0; row < waves.rows; ++row)
      std::fill(waves[row] + count, waves[row] + waves.width, Real(0));
    for (std::size_t f = 1; f < frequencies_.size(); ++f) {
      const Frequency& frequency = frequencies_[f];
      const auto row = static_cast<Index>(2 * f);
      Real *c = waves[row], *s = waves[row + 1];
      if (frequency.k == 1 && frequency.l == 0) {
        for (Index i = 0; i < count; ++i) {
          const auto angle = phase(frequency.turns, time[i]);
          c[i] = angle.cos;
          s[i] = angle.sin;
        }
        continue;
      }
      Frequency left = frequency, right{frequency.turns, 1, 0, 0};
      Real sign = 1;
      if (frequency.l == 0) {
        --left.k;
      } else {
        left.l = 0;
        left.other = 0;
        right = {frequency.other, std::abs(frequency.l), 0, 0};
        sign = frequency.l < 0 ? -1 : 1;
      }
      const Index a = 2 * numbers_.at(key(left)), b = 2 * numbers_.at(key(right));
      const Real *ca = waves[a], *sa = waves[a + 1], *cb = waves[b], *sb = waves[b + 1];
      for (Index i = 0; i < count; ++i) {
        c[i] = ca[i] * cb[i] - sign * (sa[i] * sb[i]);
        s[i] = sa[i] * cb[i] + sign * (ca[i] * sb[i]);
      }
    }
  }

  /// sums ← of weights, 0 behind their end to whole lanes.
  void make_sums(const Real* at, const Table<Real>& waves, const Numbers<Real>& weights, Index count,
                 Numbers<Real>& sums) const {
    sums.resize(static_cast<std::size_t>(sums_size()));
    Numbers<Real> product(weights.size());
    for (Index row = 0; row < 2 * std::ssize(frequencies_); ++row) {
      const Index length = this->length(row);
      if (length == 0) continue;
      const Real* w = weigh(waves, row, weights, product);
      kernels<Real>().sums(at, w, count, length, sums.data() + starts_[static_cast<std::size_t>(row)]);
    }
  }
  /// The upper left of `gram` ← WᵀD⁻¹W.
  void make_gram(const Real* sums, Table<Real>& gram) const {
    std::vector<Real> mixed;
    for (std::size_t u = 0; u < blocks_.size(); ++u) {
      for (std::size_t v = u; v < blocks_.size(); ++v) {
        const Block &left = blocks_[u], &right = blocks_[v];
        const Index length = left.count + right.count - 1;
        mixed.assign(static_cast<std::size_t>(length), Real(0));
        for (const Part& part : parts(left, right)) {
          if (part.factor == 0) continue;
          const Real* from = sums + starts_[part.row];
          for (Index n = 0; n < length; ++n) mixed[static_cast<std::size_t>(n)] += part.factor / 2 * from[n];
        }
        const Real* of = mixed.data();
        for (Index m = 0; m < left.count; ++m) {
          Real* to = gram[left.first + m] + right.first;
          for (Index n = 0; n < std::min(m, right.count); ++n) to[n] = of[m + n] + of[m - n];
          for (Index n = m; n < right.count; ++n) to[n] = of[m + n] + of[n - m];
        }
      }
    }
    for (Index m = 0; m < rows_; ++m) {
      for (Index n = 0; n < m; ++n) gram[m][n] = gram[n][m];
    }
  }
  /// out ← Wᵀw for numbers w at the points.
  void project(const Real* at, const Table<Real>& waves, const Numbers<Real>& w, Index count,
               Real* out) const {
    Numbers<Real> product(w.size());
    for (const Block& block : blocks_)
      kernels<Real>().sums(at, weigh(waves, wave_of(block), w, product), count, block.count,
                           out + block.first);
  }
  /// out ← Wβ, with room for whole lanes.
  void curve(const Real* at, const Table<Real>& waves, const Real* beta, Index count, Real* out) const {
    Numbers<Real> part(static_cast<std::size_t>(round_up(count, 8)));
    std::fill_n(out, count, Real(0));
    for (const Block& block : blocks_) {
      kernels<Real>().curve(at, count, beta + block.first, block.count, part.data());
      add_wave(waves, wave_of(block), part, count, out);
    }
  }
  /// out ← 2·diag(W by_gram Wᵀ), `by_gram` symmetric.
  void diagonal(const Real* at, const Table<Real>& waves, const Table<Real>& by_gram, Index count,
                Real* out) const {
    Numbers<Real> coefficients(static_cast<std::size_t>(sums_size()), Real(0));
    std::vector<Real> mixed;
    for (std::size_t u = 0; u < blocks_.size(); ++u) {
      for (std::size_t v = u; v < blocks_.size(); ++v) {
        const Block &left = blocks_[u], &right = blocks_[v];
        const Index length = left.count + right.count - 1;
        mixed.assign(static_cast<std::size_t>(length), Real(0));
        Real* of = mixed.data();
        for (Index m = 0; m < left.count; ++m) {
          const Real* by = by_gram[left.first + m] + right.first;
          for (Index n = 0; n < right.count; ++n) {
            of[m + n] += by[n];
            of[n < m ? m - n : n - m] += by[n];
          }
        }
        for (const Part& part : parts(left, right)) {
          if (part.factor == 0) continue;
          Real* to = coefficients.data() + starts_[part.row];
          for (Index n = 0; n < length; ++n) to[n] += (u == v ? 1 : 2) * part.factor * of[n];
        }
      }
    }
    Numbers<Real> part(static_cast<std::size_t>(round_up(count, 8)));
    std::fill_n(out, count, Real(0));
    for (Index row = 0; row < 2 * std::ssize(frequencies_); ++row) {
      if (length(row) == 0) continue;
      kernels<Real>().curve(at, count, coefficients.data() + starts_[static_cast<std::size_t>(row)],
                            length(row), part.data());
      add_wave(waves, row, part, count, out);
    }
  }

 private:
  /// k times the one phase and l times the other.
  struct Frequency {
    double turns = 0;
    Index k = 0;
    double other = 0;
    Index l = 0;
  };
  using Key = std::tuple<double, Index, double, Index>;
  static Key key(const Frequency& f) { return {f.turns, f.k, f.other, f.l}; }
  /// One of two waves that a product consists of.
  struct Part {
    std::size_t row;
    Real factor;
  };

  Index number(const Frequency& frequency) {
    const auto [at, is_new] = numbers_.try_emplace(key(frequency), std::ssize(frequencies_));
    if (is_new) frequencies_.push_back(frequency);
    return at->second;
  }
  Index number(const Frequency& frequency) const { return numbers_.at(key(frequency)); }
  /// The product of two blocks' waves.
  template <class Self>
  static std::vector<Part> parts_of(Self& self, const Block& u, const Block& v) {
    const auto row = [](Index frequency, bool sine) {
      return static_cast<std::size_t>(2 * frequency + (sine ? 1 : 0));
    };
    if (!u.oscillates && !v.oscillates) return {{0, Real(1)}};
    if (!u.oscillates || !v.oscillates) {
      const Block& turning = u.oscillates ? u : v;
      const Gaussians& basis = self.bases_[turning.basis];
      return {{row(self.number({basis.turns, basis.harmonic, 0, 0}), turning.sine), Real(1)}};
    }
    const Gaussians &a = self.bases_[u.basis], &b = self.bases_[v.basis];
    Index plus, minus;
    Real sign = 1;  // of the difference that is known
    if (a.turns == b.turns) {
      const Index difference = a.harmonic - b.harmonic;
      plus = self.number({a.turns, a.harmonic + b.harmonic, 0, 0});
      minus = difference == 0 ? 0 : self.number({a.turns, std::abs(difference), 0, 0});
      sign = difference < 0 ? -1 : 1;
    } else {
      const bool swapped = b.turns < a.turns;
      const Gaussians &first = swapped ? b : a, &second = swapped ? a : b;
      plus = self.number({first.turns, first.harmonic, second.turns, second.harmonic});
      minus = self.number({first.turns, first.harmonic, second.turns, -second.harmonic});
      sign = swapped ? -1 : 1;
    }
    const Real half = Real(0.5);
    if (u.sine == v.sine) return {{row(minus, false), half}, {row(plus, false), u.sine ? -half : half}};
    // sin a cos b = ½(sin(a + b) + sin(a − b)), cos a sin b = ½(sin(a + b) − sin(a − b))
    return {{row(plus, true), half},
            {row(minus, true), minus == 0 ? Real(0)
                               : u.sine   ? sign * half
                                          : -sign * half}};
  }
  std::vector<Part> parts(const Block& u, const Block& v) { return parts_of(*this, u, v); }
  std::vector<Part> parts(const Block& u, const Block& v) const { return parts_of(*this, u, v); }

  Index wave_of(const Block& block) const {
    if (!block.oscillates) return 0;
    const Gaussians& basis = bases_[block.basis];
    return 2 * number({basis.turns, basis.harmonic, 0, 0}) + (block.sine ? 1 : 0);
  }
  Index length(Index row) const {
    return starts_[static_cast<std::size_t>(row) + 1] - starts_[static_cast<std::size_t>(row)];
  }
  static const Real* weigh(const Table<Real>& waves, Index row, const Numbers<Real>& weights,
                           Numbers<Real>& product) {
    if (row == 0) return weights.data();
    const Real* wave = waves[row];
    for (std::size_t i = 0; i < weights.size(); ++i) product[i] = weights[i] * wave[i];
    return product.data();
  }
  static void add_wave(const Table<Real>& waves, Index row, const Numbers<Real>& part, Index count,
                       Real* out) {
    const Real* wave = waves[row];
    for (Index i = 0; i < count; ++i) {
      const Real value = part[static_cast<std::size_t>(i)];
      out[i] += row == 0 ? value : value * wave[i];
    }
  }

  std::vector<Gaussians> bases_;
  std::vector<Block> blocks_;
  std::vector<std::pair<Index, Index>> first_row_;  // by basis, of its cos and its sin
  std::vector<double> families_;
  std::vector<Frequency> frequencies_;  // the first one is 0
  std::map<Key, Index> numbers_;
  std::vector<Index> lengths_;  // of the sums of each frequency
  std::vector<Index> starts_;   // of the sums of cos and sin of each
  Index rows_ = 0;
};

}  // namespace bandgp::front
