// SPDX-License-Identifier: Apache-2.0
// Terms of a kernel as linear state-space models.                                              [math.md §7]
// A Matérn term of order p − ½ is the first coordinate of p states xᵢ = (d/ds + 1)ⁱ f in the time s = λt,
// λ = √(2p − 1)/ℓ.  A sum of terms has the states of all of them, with one change of variables: state 0 is
// the sum of all terms' curves, in the place of the first term's own, because the sum is what is observed.
#pragma once
#include <cmath>
#include <vector>

#include "bandgp/base/index.hpp"

namespace bandgp::markov {

/// A Matérn term of p states; one times cos(2πτ/period), whose 2p states are p pairs that turn; or a damped
/// oscillator, whose two states are its curve and its slope.
enum class StateKind { matern, turning, oscillator };

/// One term: its number of states, its variance σ² and its rate λ, where it is or was a Matérn term.
struct StateTerm {
  int states;
  double variance;
  double rate;
  StateKind kind = StateKind::matern;
  double inverse_period = 0;
  double quality = 0;  // of an oscillator
};

/// λ of a Matérn term with so many states.
inline double rate_of(int states, double lengthscale) { return std::sqrt(2.0 * states - 1) / lengthscale; }

inline constexpr int kMostTerms = 96, kMostMaternStates = 3, kMostStatesOfTerm = 6, kMostStates = 200;

/// Where each term's states are among those of the sum: Matérn terms in ascending order of their number, then
/// the others likewise, so that a handful of compiled layouts serves all sums of two terms.
struct StateLayout {
  int terms = 0;
  int states = 0;
  int count[kMostTerms] = {};   // states of the term in place t
  int offset[kMostTerms] = {};  // its first state
  int source[kMostTerms] = {};  // its index in the list that the layout was made from
  StateKind kind[kMostTerms] = {};

  /// Whether any of the terms turns or oscillates: they come last.
  bool turns() const { return terms > 0 && kind[terms - 1] != StateKind::matern; }

  StateLayout() = default;
  explicit StateLayout(const std::vector<StateTerm>& terms_given) {
    for (int place = 0; place < 2 * kMostStatesOfTerm; ++place) {
      const bool matern = place < kMostStatesOfTerm;
      const int order = place % kMostStatesOfTerm + 1;
      for (std::size_t i = 0; i < terms_given.size(); ++i) {
        if (terms_given[i].states != order || (terms_given[i].kind == StateKind::matern) != matern) continue;
        kind[terms] = terms_given[i].kind;
        count[terms] = order;
        offset[terms] = states;
        source[terms] = static_cast<int>(i);
        states += order;
        ++terms;
      }
    }
  }
};

/// κ of the covariance that a step adds, Q_ij = σ²κ J_{k+l}(a)/(k! l!): the white noise that makes k(0) = σ².
constexpr double noise_constant(int p) { return p == 1 ? 2.0 : p == 2 ? 4.0 : 16.0 / 3.0; }

/// Numbers that a step of the states over one gap is made of, for a term of p states: e^{−a}, a = λ·gap, and
/// the upper half of the covariance Q that the step adds, row by row.
constexpr int step_fields(int p) { return 2 + p * (p + 1) / 2; }
/// The same for any kind.  Where states turn or oscillate all of F comes first, row by row, then the upper
/// half of Q; then, of turning states, e^{−a}, a and the angle; of an oscillator s and the slopes of F and of
/// Q by log quality.
constexpr int step_fields(StateKind kind, int states) {
  const int both = states * states + states * (states + 1) / 2;
  return kind == StateKind::matern    ? step_fields(states)
         : kind == StateKind::turning ? both + 3
                                      : 2 * both + 1;
}

}  // namespace bandgp::markov
