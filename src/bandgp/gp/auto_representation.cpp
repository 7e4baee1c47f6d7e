// SPDX-License-Identifier: Apache-2.0
#include "bandgp/gp/auto_representation.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "bandgp/gp/cost_model.hpp"

namespace bandgp {

AutoRepresentation::AutoRepresentation(const Cut& cut, double max_bytes, Index threads)
    : method_(cut.rule == Cut::Rule::tolerance && !cut.index_band ? cut.method : Method::band),
      cut_(cut),
      max_bytes_(max_bytes > 0 ? max_bytes : default_max_bytes()),
      band_(cut, max_bytes_, threads),
      dual_(cut.tolerance, max_bytes_, threads),
      current_(method_ == Method::dual ? static_cast<Representation*>(&dual_) : &band_) {}

bool AutoRepresentation::prefers_dual(const Kernel& kernel, const Observations& points,
                                      double q_bound) const {
  if (!has_dual(kernel) || method_ == Method::band) return false;
  if (method_ == Method::dual) return true;
  const Index n = points.size();
  if (n < 2) return false;
  const double target = rho_for_tolerance(cut_.tolerance, q_bound, n);
  const double lengthscale = kernel.terms.front().lengthscale, span = points.time()[n - 1] - points.time()[0];
  // A spacing of 0.4 ℓ, windows of 32 nodes and b = 20 stand for any dual: the design itself takes a pass
  // over the data.
  const double nodes = std::min(span / (0.4 * lengthscale) + 32, 32 * static_cast<double>(n));
  const MeanWidth width = estimate_width(points, estimate_reach(kernel, points, target));
  const double band_bytes = 8 * static_cast<double>(n) * (width.width + 8);
  return band_bytes > 0.9 * max_bytes_ || dual_nanoseconds(n, nodes, 20) < band_nanoseconds(n, width);
}

std::optional<Failure> AutoRepresentation::choose(const Kernel& kernel, const Observations& points,
                                                  double q_bound) {
  if (method_ == Method::dual && !has_dual(kernel))
    throw std::invalid_argument("the dual band is for one se term; use method auto or band");
  if (frozen_) return current_->choose(kernel, points, q_bound);
  if (prefers_dual(kernel, points, q_bound)) {
    current_ = &dual_;
    const auto failure = dual_.choose(kernel, points, q_bound);
    if (method_ == Method::dual || (!failure && dual_.reaches_tolerance())) return failure;
  }
  current_ = &band_;
  return band_.choose(kernel, points, q_bound);
}

Cost AutoRepresentation::cost(const Kernel& kernel, const Observations& points, double q_bound) {
  if (!prefers_dual(kernel, points, q_bound)) return band_.cost(kernel, points, q_bound);
  return dual_.cost(kernel, points, q_bound);
}

void AutoRepresentation::freeze() {
  frozen_ = true;
  band_.set_cut({.rule = Cut::Rule::envelope, .tolerance = cut_.tolerance});
}

void AutoRepresentation::thaw() {
  frozen_ = false;
  band_.set_cut(cut_);
}

}  // namespace bandgp
