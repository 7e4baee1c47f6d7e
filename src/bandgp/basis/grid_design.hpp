// SPDX-License-Identifier: Apache-2.0
// How fine and how wide a Gaussian basis must be so that  ΦΦᵀ + D  is the SE model to a tolerance. [dual.md]
//   φ_j(x) = s·exp(−(x − jh)²/ℓ²),  s² = σ²(h/ℓ)√(2/π):   Σ_j φ_j(x)φ_j(x') = σ² exp(−τ²/2ℓ²)·(1 ± η)
// Three things are left out, each with its own bound, all decreasing like a Gaussian:
//   the grid's own error η (aliasing), windows cut at T, and entries of ΦᵀD⁻¹Φ (sums cut at T_H, b
//   off-diagonals).
// Derived in docs/dual.md.
#pragma once
#include "bandgp/bandwidth/certificate.hpp"
#include "bandgp/bandwidth/row_sums.hpp"
#include "bandgp/base/index.hpp"

namespace bandgp {

/// What the basis has to serve.
struct GridDemand {
  double variance = 1, lengthscale = 1;  // of the SE term
  Index n = 0;
  double span = 0;
  double largest_weight = 1;  // d_min^{−½}
  UpperBound heaviest;        // W: the largest Σ dⱼ^{−½} over closed windows of length ℓ/2
  double q_bound = 0;         // ≥ yᵀÂ⁻¹y, about
  double tolerance = 0.01;    // nats of NLL
  double coarsest = 0.5;      // spacing that a grid may have, in length-scales
};

/// For an SE term on these points.
GridDemand demand_for(const Term& term, const WeightedPoints& points, double q_bound, double tolerance);

struct GridDesign {
  double spacing = 1;                 // h
  int vectors = 2, half_vectors = 3;  // windows of 8·vectors nodes and 8·half_vectors half nodes
  double cut = 7.5;      // T/h: nodes farther than this may be left out; at most 4·vectors − ½
  Index bandwidth = 0;   // b, off-diagonals of ΦᵀD⁻¹Φ that are kept
  double g = 1;          // h²/ℓ²
  double amplitude = 1;  // s
  bool reached = true;   // the tolerance could be met within the widest window
};

/// No design has more nodes than this.
double most_nodes(const GridDesign& design, const GridDemand& demand);

/// Where M's largest entry exceeds this, w gets a step of refinement: its error, about u·‖M‖, would show.
inline constexpr double kRefineFrom = 1e5;

/// The bounds of what a design leaves out; A, Â, M as in docs/dual.md.
struct GridErrors {
  UpperBound aliasing;  // η
  UpperBound matrix;    // ρ_E: ‖D^{−½}(K − ΦΦᵀ)D^{−½}‖ for the nodes in use, windows uncut
  UpperBound cut;       // ε_c ≥ ‖D^{−½}(Φ − Φ_c)‖
  UpperBound gram;      // ρ_G ≥ ‖M − (M as computed)‖
  UpperBound basis;     // ≥ ‖D^{−½}Φ_c‖
  UpperBound cross;     // ε* ≥ ‖D^{−½}(k* − Φ_cφ_c*)‖ for any x*
  UpperBound prior;     // ≥ |σ² − φ_c*ᵀφ_c*|
  UpperBound residual;  // ≥ ‖Φᵀα − w‖/√q: how far w is from solving the model of the cut windows

  /// κ = ε_c + ε_c²: cutting the windows changes M, and Â, by at most this factor.
  UpperBound relative_cut() const { return cut + cut * cut; }
  /// M's entries go up to ‖D^{−½}Φ‖², and beyond 1e13 rounding in M is no longer small beside its smallest
  /// eigenvalue, 1.
  bool fit_double() const { return basis.value() * basis.value() < 1e13; }
};

/// What leaving out a part of the term with so much of its variance adds, where that part's covariance is
/// nowhere larger than `rest` times the term's envelope; and how large it may be.
GridErrors errors_of_rest(const UpperBound& rest, const GridDemand& demand);
double affordable_rest(const GridDemand& demand);

/// What ‖D^{−½}(Φ − Φ_c)‖ may be for the smallest variances, where other terms of this variance are noise to
/// this one.
double cut_for_variances(const GridDemand& demand, double other_variance);

/// The coarsest grid, the shortest windows and the fewest off-diagonals that the tolerance allows.
GridDesign design_grid(const GridDemand& demand);
GridErrors errors_of(const GridDesign& design, const GridDemand& demand);

/// The certificate of the dual: `inputs` as for a band (q, prior variance, estimated mean), m nodes in use.
Certificate dual_certificate(const GridErrors& errors, Index m, const CertificateInputs& inputs);

}  // namespace bandgp
