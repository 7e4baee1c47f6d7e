// SPDX-License-Identifier: Apache-2.0
// Gaussians through polynomials on chunks of points: Φ ≈ WC, with W the
// Chebyshev polynomials T₀ … T_{q−1} on each chunk and C what the Gaussians are there.  [docs/dual.md] A
// point sees q columns of W where it sees 27 or more of Φ, and terms of any length share them.
//   |φ_j − Σ_m C_mj T_m| ≤ 2 (r/2)^q max|φ_j^(q)|/q! ≤ β s e^{−z²/2},   β = 2·1.0865 (r/√2ℓ)^q/√q!
// on a chunk of half-length r at the distance zℓ from the node: the remainder at Chebyshev's nodes, and
// Cramér's bound of Hermite functions, |H_q(z)| ≤ 1.0865·2^{q/2} √q! e^{z²/2}.
#pragma once
#include "bandgp/basis/grid_design.hpp"

namespace bandgp {

/// ≥ ‖D^{−½}(Φ − WC)‖ for a term's Gaussians and chunks of at most this half-length.
UpperBound polynomial_error(const GridDesign& design, const GridDemand& demand, Index columns, double half);

}  // namespace bandgp
