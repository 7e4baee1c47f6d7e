// SPDX-License-Identifier: Apache-2.0
// The loops of the filter over a block of points, compiled for every instruction set.           [math.md §7]
// Every loop exists for each layout of states that is common (one term, two terms) with all sizes known to
// the compiler, and once for any other.
#pragma once
#include "bandgp/markov/state_terms.hpp"

namespace bandgp::markov {

/// Points that are worked on at a time: their steps and what the loops hand to each other stay in cache.
inline constexpr Index kBlock = 512;

/// One block of `count` ≤ kBlock points as the loops see it; N is the number of states.
struct Block {
  Index count;
  const double* steps;  // fields of every term in the layout's order, each kBlock long
  const double* noise;  // (count,) dᵢ
  double* gain;         // (count, N) k = P_{·0}/S of the predicted covariance P
  double* root;  // (count,) S^{−½}, S = P₀₀ + dᵢ the variance of what is new in an observation
  double* kept;  // (count, N(N−1)/2) the predicted P without its first row, upper half row by row
  const StateTerm* const* terms;  // the term in each place of the layout
  bool is_first;                  // no block is before this one
};

/// The loss's slopes by the parameters of a term; of those that it has.
struct TermSlopes {
  double by_log_variance = 0, by_log_lengthscale = 0, by_log_period = 0, by_log_quality = 0;
};

/// Test points between the data: what surrounds each of them.
struct Tests {
  Index count;           // ≤ kBlock
  const Index* before;   // (count,) the last data point not after the test, or −1
  const double* steps;   // from that point to the test; the start where there is none
  const double* onward;  // from the test to the next data point; a start where there is none
  const double* noise;   // of all data points, as are the arrays below
  const double* gain;
  const double* root;
  const double* kept;
  const double* information;  // null: no variances
  Index points;               // number of data points
  const double* select;       // (N,) the sum of states that is predicted
  Index columns;
  const double* const* mean;  // of each column: (points, N) means after the observation
  const double* const* r;     // of each column: (points, N) predicted side
  double* projection;         // of column c and test t: [c·stride + t]
  Index stride;
  double* variance;  // (count,), or null
};

/// What the contraction needs of one column besides its reduced values.
struct BlockColumn {
  const double* reduced;  // (count,) v S^{−½}
  double* state;          // (N,) carried from block to block: r
  const double* mean;     // (count, N) predicted mean m; the mean before the step, where states turn
  double* solved;         // (count,) ← A⁻¹b
};

/// Which means replay() gives.
enum class When { before_step, predicted, filtered };

struct FilterKernels {
  /// The steps over `count` gaps (a multiple of 8) of a term; a gap of ∞ is the start: F is 0 and Q the
  /// stationary covariance.  out: step_fields() arrays, kBlock apart.
  using Steps = void (*)(const StateTerm& term, const double* gaps, Index count, double* out);
  Steps matern_steps[kMostMaternStates];
  Steps turning_steps[kMostMaternStates];
  Steps oscillator_steps;
  Steps steps(const StateTerm& term) const {
    return term.kind == StateKind::matern    ? matern_steps[term.states - 1]
           : term.kind == StateKind::turning ? turning_steps[term.states / 2 - 1]
                                             : oscillator_steps;
  }

  struct Loops {
    /// Predicts and updates the covariance of the states, point by point; `filtered` (N×N) is carried from
    /// block to block.  Returns the first point whose S is not positive, or −1.
    Index (*covariances)(const StateLayout& layout, const Block& block, double* filtered);
    /// The same for a mean (N,): column ← v S^{−½}, v = b − m₀.
    void (*reduce)(const StateLayout& layout, const Block& block, double* column, double* filtered);
    /// The means of a reduced column again, each before the step to its point, before the observation or
    /// after it: out (count, N).
    void (*replay)(const StateLayout& layout, const Block& block, const double* reduced, double* filtered,
                   When when, double* out);
    /// Backwards: a reduced column ← A⁻¹b; r (N,) is carried; the predicted side of r at each point goes to
    /// out (count, N) unless that is null.
    void (*solve)(const StateLayout& layout, const Block& block, double* column, double* r, double* out);
    /// Backwards: the information N that the later points have of each point's predicted states, packed
    /// upper halves in out (count, N(N+1)/2), and the diagonal of A⁻¹; `carried` (N×N) goes from block to
    /// block.
    void (*information)(const StateLayout& layout, const Block& block, double* carried, double* out,
                        double* diagonal);
    /// Backwards, after information(): solves the columns and adds ½ tr[(A⁻¹ − Σ A⁻¹bbᵀA⁻¹) ∂A] to the
    /// slopes of the term in each place of the layout.
    void (*contract)(const StateLayout& layout, const Block& block, const double* information,
                     const BlockColumn* columns, Index column_count, TermSlopes* out);
    /// Means and variances of the selected sum of states at test points.
    void (*predict)(const StateLayout& layout, const Tests& tests);
  };
  /// One for each compiled layout; the last serves all.
  static constexpr int kLayouts = 11;
  Loops loops[kLayouts];
};

/// The loops for a layout of states.
const FilterKernels::Loops& loops_for(const StateLayout& layout);
const FilterKernels& filter_kernels();

}  // namespace bandgp::markov

// One table for each instruction set, defined by the copies of filter_kernels.isa.cpp.
namespace bandgp::isa_base {
extern const markov::FilterKernels filter_kernels;
}
namespace bandgp::isa_avx2 {
extern const markov::FilterKernels filter_kernels;
}
namespace bandgp::isa_avx512 {
extern const markov::FilterKernels filter_kernels;
}
