// SPDX-License-Identifier: Apache-2.0
// The terms of a kernel that have states, as the state-space terms that they are made of: one each, or one
// for every harmonic of a Matérn term times a periodic factor.                               [math.md §7,
// §12]
#pragma once
#include <algorithm>
#include <span>
#include <vector>

#include "bandgp/base/upper_bound.hpp"
#include "bandgp/kernel/kernel.hpp"
#include "bandgp/markov/filter_kernels.hpp"
#include "bandgp/markov/state_terms.hpp"

namespace bandgp {

struct StateForm {
  /// A term of the kernel: its own terms with states.
  struct Part {
    std::size_t term, first, count;
    std::vector<double> by_smoothness;  // ∂log variance/∂log smoothness of each, where the term has one
  };
  std::vector<markov::StateTerm> terms;
  std::vector<Part> parts;
  UpperBound left_out;  // variance of all harmonics that are left out

  Index states() const;
  Index states(const Part& part) const;
};

/// Of the terms of a kernel with these indices, all of which have states; each may leave out harmonics of so
/// much variance.
StateForm make_state_form(const Kernel& kernel, std::span<const std::size_t> indices, double allowed);

/// What a part's terms say about the parameters of its term in the kernel, put where a gradient has them.
void put_slopes(const Kernel& kernel, const StateForm::Part& part, std::span<const markov::TermSlopes> slopes,
                std::span<double> out);

}  // namespace bandgp
