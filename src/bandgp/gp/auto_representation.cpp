// SPDX-License-Identifier: Apache-2.0
#include "bandgp/gp/auto_representation.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "bandgp/gp/cost_model.hpp"

namespace bandgp {

AutoRepresentation::AutoRepresentation(const InternalCut& cut, double max_bytes, Index threads)
    : method_(cut.rule == CutRule::tolerance && !cut.index_band ? cut.method : Method::band),
      cut_(cut),
      max_bytes_(max_bytes > 0 ? max_bytes : default_max_bytes()),
      band_(cut, max_bytes_, threads),
      dual_(cut.tolerance, max_bytes_, threads),
      markov_(cut.tolerance, max_bytes_, threads),
      elements_(cut.tolerance, max_bytes_, threads),
      current_(&band_) {}

Representation* AutoRepresentation::beside_band(const Kernel& kernel, const Observations& points,
                                                double q_bound) {
  const bool smooth = std::ranges::all_of(kernel.terms, has_basis);
  if (method_ == Method::dual && !smooth)
    throw std::invalid_argument("the dual band is for se terms; use method auto or band");
  if (method_ == Method::band || kernel.terms.empty() || !has_elements(kernel)) return nullptr;
  const bool one_grid = kernel.terms.size() == 1 && smooth;
  Representation* other = one_grid ? static_cast<Representation*>(&dual_) : &elements_;
  if (method_ == Method::dual) return other;
  if (points.size() < 2) return nullptr;
  const double target = rho_for_tolerance(cut_.tolerance, q_bound, points.size()),
               reach = estimate_reach(kernel, points, target);
  const MeanWidth width = estimate_width(points, reach);
  const bool fits = 8 * static_cast<double>(points.size()) * (width.width + 8) <= 0.9 * max_bytes_;
  const double band = fits ? band_nanoseconds(points.size(), width) : std::numeric_limits<double>::infinity();
  const double cost = other == &dual_ ? dual_nanoseconds(kernel.terms[0], points)
                                      : elements_nanoseconds(kernel, points, target);
  return cost < band ? other : nullptr;
}

std::optional<Failure> AutoRepresentation::choose(const Kernel& kernel, const Observations& points,
                                                  double q_bound) {
  if (frozen_) return current_->choose(kernel, points, q_bound);
  if (in_states(kernel)) {
    current_ = &markov_;
    const auto failure = markov_.choose(kernel, points, q_bound);
    if (!failure || std::isfinite(failure->bytes)) return failure;
  }
  if (Representation* other = beside_band(kernel, points, q_bound)) {
    current_ = other;
    const auto failure = other->choose(kernel, points, q_bound);
    if ((!failure && certified(other)) || method_ == Method::dual) return failure;
  }
  current_ = &band_;
  return band_.choose(kernel, points, q_bound);
}

Cost AutoRepresentation::cost(const Kernel& kernel, const Observations& points, double q_bound) {
  if (in_states(kernel)) {
    Cost cost = markov_.cost(kernel, points, q_bound);
    if (std::isfinite(cost.bytes)) return cost;
  }
  if (Representation* other = beside_band(kernel, points, q_bound)) {
    Cost cost = other->cost(kernel, points, q_bound);
    if ((cost.bytes <= max_bytes_ && certified(other)) || method_ == Method::dual) return cost;
  }
  return band_.cost(kernel, points, q_bound);
}

void AutoRepresentation::freeze() {
  frozen_ = true;
  band_.set_cut({.rule = CutRule::envelope, .tolerance = cut_.tolerance});
  elements_.freeze();
}

void AutoRepresentation::thaw() {
  frozen_ = false;
  band_.set_cut(cut_);
  elements_.thaw();
}

}  // namespace bandgp
