// SPDX-License-Identifier: Apache-2.0
#include "bandgp/basis/grid_design.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "bandgp/basis/grid_kernels.hpp"

namespace bandgp {
namespace {

/// e^{−a}, a ≥ 0 computed with a few roundings, which the exponential magnifies a-fold.
UpperBound exp_minus(double a) { return UpperBound::of(std::exp(-a), 8 + 8 * a); }

/// 1/(1 − e^{−a})
UpperBound inverse_one_minus_exp(double a) { return UpperBound::exactly(1) + over_one_minus(exp_minus(a)); }

// Sums over points, through windows of length ω = ℓ/2 that weigh at most W each, and over nodes:
//   Σᵢ wᵢ f(xᵢ − x) ≤ W (2 f(0) + ω⁻¹ ∫f)  for a bump f;  beyond T, on both sides, ≤ 2W (f(T) + ω⁻¹ ∫_T^∞ f).
const double kRootPi = std::sqrt(std::numbers::pi);
const double kPointsSe = 2 + 2 * std::sqrt(2 * std::numbers::pi);  // f = e^{−t²/2ℓ²}
const double kPointsPhi = 2 + 2 * kRootPi;                         // f = e^{−t²/ℓ²}
const double kPointsTail = 2 * (1 + kRootPi);  // e^{−t²/ℓ²} beyond T, over e^{−T²/ℓ²}
const double kPointsHalf = 2 + 2 * std::sqrt(std::numbers::pi / 2);  // f = e^{−2t²/ℓ²}
const double kPointsHalfTail = 2 * (1 + 2 * std::sqrt(std::numbers::pi / 8));

UpperBound aliasing(double spacing_in_lengthscales) {
  const double x = std::numbers::pi / spacing_in_lengthscales;
  const UpperBound a = exp_minus(0.5 * x * x);  // η = 2a/(1 − a³)
  return UpperBound::exactly(2) * a * (UpperBound::exactly(1) + over_one_minus(a * a * a));
}

}  // namespace

GridDemand demand_for(const Term& term, const WeightedPoints& points, double q_bound, double tolerance) {
  return {.variance = term.variance,
          .lengthscale = term.lengthscale,
          .n = points.n,
          .span = points.x[points.n - 1] - points.x[0],
          .largest_weight = points.largest_weight,
          .heaviest = heaviest_window(points, 0.5 * term.lengthscale),
          .q_bound = q_bound,
          .tolerance = tolerance};
}

double most_nodes(const GridDesign& design, const GridDemand& demand) {
  const double window = 8.0 * design.vectors;
  return std::min(demand.span / design.spacing + window, window * static_cast<double>(demand.n));
}

GridErrors errors_of(const GridDesign& design, const GridDemand& demand) {
  const auto of = [](double x) { return UpperBound::of(x, 16); };
  const UpperBound two = UpperBound::exactly(2), one = UpperBound::exactly(1);
  const UpperBound variance = of(demand.variance), s = of(design.amplitude), w = of(demand.largest_weight);
  const UpperBound& heaviest = demand.heaviest;
  const double root_g = std::sqrt(design.g), per_step = 1 / root_g;  // ℓ/h
  const double cut = design.cut * root_g;                            // T/ℓ
  const double half_cut = (4.0 * design.half_vectors - 0.5) * 0.5 * root_g;
  GridErrors e;
  e.aliasing = aliasing(root_g);
  // Σ_{|u_j − x| > T} φ_j(x), and Σ over points beyond T of a node.
  const UpperBound node_tail = two * s * exp_minus(cut * cut) * inverse_one_minus_exp(2 * cut * root_g);
  const UpperBound point_tail = s * heaviest * exp_minus(cut * cut) * of(kPointsTail);
  e.cut = sqrt(w * node_tail * point_tail);
  e.matrix = e.aliasing * variance * of(kPointsSe) * heaviest * w + e.cut * e.cut;
  // ΦᵀD⁻¹Φ: the half-step sums are cut at T_H, and entries beyond b are 0.  Σ d⁻¹ over a window is at most
  // w·W.
  const UpperBound nodes_se = of(1 + std::sqrt(2 * std::numbers::pi) * per_step);
  const double beyond = static_cast<double>(design.bandwidth + 1) * root_g;  // (b+1)h/ℓ
  const UpperBound sums_cut = of(kPointsHalfTail) * exp_minus(2 * half_cut * half_cut) * nodes_se;
  const UpperBound band_cut =
      two * of(kPointsHalf) * exp_minus(0.5 * beyond * beyond) * inverse_one_minus_exp(beyond * root_g);
  e.gram = s * s * w * heaviest * (sums_cut + band_cut);
  const UpperBound nodes_phi = of(1 + kRootPi * per_step);
  e.basis = s * sqrt(w * heaviest * nodes_phi * of(kPointsPhi));
  e.residual = e.gram + two * e.cut * e.basis + e.cut * e.cut;
  const UpperBound norm = sqrt(variance * (one + e.aliasing));  // ≥ ‖φ*‖
  e.cross = e.aliasing * variance * of(kPointsSe) * heaviest + e.cut * norm + e.basis * node_tail;
  e.prior = e.aliasing * variance + node_tail * node_tail;
  return e;
}

namespace {

double share_of(const GridDemand& demand) {
  return 0.3 * std::min(2 * demand.tolerance / (demand.q_bound + static_cast<double>(demand.n)), 0.5);
}

}  // namespace

GridErrors errors_of_rest(const UpperBound& rest, const GridDemand& demand) {
  const UpperBound most = rest * UpperBound::of(demand.variance, 1);
  const UpperBound row = most * UpperBound::of(kPointsSe, 16) * demand.heaviest;
  GridErrors e;
  e.matrix = row * UpperBound::of(demand.largest_weight, 1);
  e.cross = row;
  e.prior = most;
  return e;
}

/// A third of what the grids may alias.
double affordable_rest(const GridDemand& demand) {
  const double whole = errors_of_rest(UpperBound::exactly(1), demand).matrix.value();
  return share_of(demand) / 3 / whole;
}

double cut_for_variances(const GridDemand& demand, double other_variance) {
  // A latent variance can be as small as d/(points in ℓ); 2ε_c σ/√v of it may be wrong, which is to be 1e-6
  // or so.
  const double noise = 1 / demand.largest_weight, points = std::max(1.0, 4 * demand.heaviest.value() * noise);
  return 1e-6 * std::sqrt((noise * noise + other_variance) / (demand.variance * points));
}

namespace {

/// What ‖D^{−½}(Φ − Φ_c)‖ may be where the basis has this norm: for the NLL, and for the smallest variances.
double affordable_cut(const GridDemand& demand, double basis) {
  const double share = share_of(demand);
  const double by_matrix = 2 * share / (1 + std::sqrt(1 + 4 * share));  // ε + ε² ≤ share
  const double by_weights = std::sqrt(0.05 * demand.tolerance / demand.q_bound) / (2 * basis);
  return std::min({cut_for_variances(demand, 0), by_matrix, by_weights});
}

/// Shares the tolerance among the three errors; what they make of it together is for the certificate to say.
GridDesign first_design(const GridDemand& demand) {
  const double share = share_of(demand);
  // The aliasing of the coarsest spacing that does: η is monotone in h, so bisection on h/ℓ in [⅛, ½].
  const auto aliasing_fits = [&](double h) {
    return (aliasing(h) * UpperBound::of(demand.variance * kPointsSe * demand.largest_weight) *
            demand.heaviest)
               .value() <= share;
  };
  GridDesign design;
  double low = 0.125, high = demand.coarsest;
  if (aliasing_fits(high)) low = high;
  for (int i = 0; i < 30 && high - low > 1e-4; ++i) {
    const double middle = 0.5 * (low + high);
    (aliasing_fits(middle) ? low : high) = middle;
  }
  design.g = low * low;
  design.spacing = low * demand.lengthscale;
  design.amplitude = std::sqrt(demand.variance * low * std::sqrt(2 / std::numbers::pi));
  design.bandwidth = 1;
  for (design.cut = 5.5; design.cut < 4 * kMostVectors - 1; ++design.cut) {
    const GridErrors errors = errors_of(design, demand);
    if (errors.cut.value() <= affordable_cut(demand, errors.basis.value())) break;
  }
  design.vectors = static_cast<int>(std::ceil((design.cut + 0.5) / 4));
  const double nodes = most_nodes(design, demand);
  const double gram = std::min({0.5, 0.3 * 2 * demand.tolerance / nodes,
                                0.2 * std::sqrt(demand.tolerance / std::max(demand.q_bound, 1e-300))});
  design.bandwidth = 8 * 2 * kMostVectors;  // first the sums alone
  const int widest_half = std::min(kMostVectors, 2 * design.vectors - 1);
  for (design.half_vectors = 1; design.half_vectors < widest_half; ++design.half_vectors) {
    if (errors_of(design, demand).gram.value() <= 0.5 * gram) break;
  }
  Index fewest = 0, enough = design.bandwidth;
  while (enough - fewest > 1) {
    design.bandwidth = (fewest + enough) / 2;
    (errors_of(design, demand).gram.value() <= gram ? enough : fewest) = design.bandwidth;
  }
  design.bandwidth = enough;
  return design;
}

}  // namespace

GridDesign design_grid(const GridDemand& demand) {
  GridDemand tighter = demand;
  GridDesign design;
  const CertificateInputs inputs{.n = demand.n,
                                 .q = demand.q_bound,
                                 .weights = 0.5 * demand.q_bound,  // where 2‖r‖‖w‖ is largest
                                 .prior_variance = demand.variance};
  for (int attempt = 0; attempt < 12; ++attempt) {
    design = first_design(tighter);
    const double nodes = most_nodes(design, demand);
    const Certificate certificate =
        dual_certificate(errors_of(design, demand), static_cast<Index>(nodes) + 1, inputs);
    design.reached = certificate.nll_error.value() <= demand.tolerance;
    if (design.reached) break;
    tighter.tolerance /= 4;
  }
  return design;
}

namespace {

/// How far q = min ‖L⁻¹(y − Φw)‖² + ‖w‖² is from what (y − Φ̂ŵ, ŵ) make of it, ‖L⁻¹(Φ − Φ̂)‖ ≤ ε, where ŵ
/// misses the minimum with Φ̂ by a gradient of γ.  With r and w for the norms of the two parts as computed:
/// putting ŵ in gives q ≤ q̂ + 2εrw + ε²w².  At the true minimum, D away in the norm of M, the sum with Φ̂ is
/// q̂ − 2γD + D² at least and the parts are no longer than r + D, w + D; the least over D is the other side.
UpperBound change_of_square(UpperBound cut, UpperBound residual, const CertificateInputs& in) {
  const UpperBound one = UpperBound::exactly(1), two = UpperBound::exactly(2);
  const UpperBound r = sqrt(computed(in.q - in.weights + 1e-9 * in.q)), w = sqrt(computed(in.weights));
  const UpperBound slope = residual + cut * (r + (one + cut) * w);
  const UpperBound steepness = one + over_one_minus(two * cut + cut * cut);  // 1/(1 − 2ε − ε²)
  return two * cut * r * w + cut * cut * w * w + slope * slope * steepness;
}

}  // namespace

Certificate dual_certificate(const GridErrors& e, Index m, const CertificateInputs& in) {
  const UpperBound one = UpperBound::exactly(1), two = UpperBound::exactly(2),
                   half = UpperBound::exactly(0.5);
  const UpperBound kappa = e.relative_cut(), q = computed(in.q);
  Certificate c;
  c.positive_definite = true;
  // (1−ρ)A ⪯ Â ⪯ (1+ρ)A with 1+ρ = (1+ρ_E)(1+κ).
  c.rho = e.matrix + kappa + e.matrix * kappa;
  if (!(c.rho.value() < 1) || !(e.gram.value() < 1)) return c;
  // Estimated coefficients of the mean solve with columns that miss their minima as well.
  const UpperBound inexact = in.mean_estimated ? one + over_one_minus(e.residual) : one;
  const UpperBound residual = e.residual * inexact * sqrt(q);
  const auto count = [](Index k) { return UpperBound::exactly(static_cast<double>(k)); };
  c.nll_error = half * (count(in.n) * minus_log_one_minus(e.matrix) + e.matrix * (one + kappa) * q +
                        count(m) * minus_log_one_minus(e.gram) + change_of_square(e.cut, residual, in));
  // Predictions, at an x* of latent variance v ≤ φ*ᵀφ* (+ what an estimated mean adds, as for a band).
  const UpperBound prior = computed(in.prior_variance) * (one + e.aliasing);
  const UpperBound m_factor =
      (one + e.gram) * (one + over_one_minus(kappa));  // M_c⁻¹ against the computed inverse
  const UpperBound v = latent_bound(prior, prior, in) * m_factor;
  const UpperBound deviation = sqrt(v), norm = sqrt(prior);
  const UpperBound from_matrix = e.matrix * deviation + e.cut * (norm + UpperBound::exactly(3) * deviation);
  const UpperBound both = e.cross + from_matrix;
  c.mean_error = both * sqrt((one + c.rho) * q) + deviation * residual;
  c.variance_error = e.prior + two * e.cross * deviation + e.matrix * v +
                     two * e.cut * (norm + deviation) * deviation + e.cut * e.cut * v + both * both +
                     (m_factor.value() > 1 ? UpperBound::of(m_factor.value() - 1) * v : UpperBound());
  return c;
}

}  // namespace bandgp
