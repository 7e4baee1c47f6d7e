// SPDX-License-Identifier: Apache-2.0
// Draws from a Gaussian process at any times, in linear time.  Nothing is approximated that double precision
// could show:
//   basis     (se) white noise on a grid of step 0.4 ℓ, smoothed by exp(−(x−u)²/ℓ²): the covariance is that
//             of the model to a relative 8e-14 (aliasing, docs/dual.md)
//   states    (Matérn, sho) the state-space form, stepped from time to time: exact
//   factors   (cos, periodic) f cos + g sin for two draws f, g of the term without its factor, and a sum of
//             these over the harmonics: what is left out of their variance is 1e-14 of it
//   columns   (periodic by itself) a constant and two waves for every harmonic, down to 1e-17 of the variance
//   others    (Wendland) y = Lz with K + noise·I = LLᵀ, a band: exact
// Every random number belongs to a place (a node, a step), so a draw depends on the seed alone.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "bandgp/gp/model.hpp"

namespace bandgp {

/// One draw of y = f(t) + ε at these times, in any order; equal times share f.  The mean is 0.  Noise 0 gives
/// the curve itself.  Throws std::invalid_argument: a parameter is not set or not positive, a time is not
/// finite; std::runtime_error: Wendland terms whose band does not fit into `max_bytes` (0: 60 % of the
/// memory) or, with too little noise, is not positive definite.
std::vector<double> simulate(const Kernel& kernel, double noise, std::span<const double> times,
                             std::uint64_t seed, double max_bytes = 0);

/// n times from `start` on with a mean gap: all equal, or each uniform between 0.1 and 1.9 gaps.
std::vector<double> simulate_times(Index n, double gap, double start, bool irregular, std::uint64_t seed);

}  // namespace bandgp
