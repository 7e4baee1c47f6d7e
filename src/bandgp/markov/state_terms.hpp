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

/// One term: its number of states p (1, 2 or 3), its variance σ² and its rate λ.
struct StateTerm {
  int states;
  double variance;
  double rate;
};

/// λ of a Matérn term with so many states.
inline double rate_of(int states, double lengthscale) { return std::sqrt(2.0 * states - 1) / lengthscale; }

inline constexpr int kMostTerms = 16, kMostStatesOfTerm = 3, kMostStates = kMostTerms * kMostStatesOfTerm;

/// Where each term's states are among those of the sum: in ascending order of their number, so that a handful
/// of compiled layouts serves all sums of two terms.
struct StateLayout {
  int terms = 0;
  int states = 0;
  int count[kMostTerms] = {};   // states of the term in place t
  int offset[kMostTerms] = {};  // its first state
  int source[kMostTerms] = {};  // its index in the list that the layout was made from

  StateLayout() = default;
  explicit StateLayout(const std::vector<StateTerm>& terms_given) {
    for (int order = 1; order <= kMostStatesOfTerm; ++order) {
      for (std::size_t i = 0; i < terms_given.size(); ++i) {
        if (terms_given[i].states != order) continue;
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

}  // namespace bandgp::markov
