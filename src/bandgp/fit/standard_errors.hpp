// SPDX-License-Identifier: Apache-2.0
// The observed information: the Hessian of the loss at its minimum, by differences of the exact gradient.
#pragma once
#include "bandgp/fit/trainer.hpp"

namespace bandgp {

struct Curvature {
  std::vector<double> standard_errors;  // of the free logs; NaN where the Hessian says nothing
  std::vector<double>
      newton_step;  // −H⁻¹g: what is left to the minimum; zeros when H is not positive definite
};

/// One evaluation for each free parameter in `active` (those not at a bound), on the stage's present cut.
Curvature curvature(Trainer& trainer, Stage& stage, const Parameters& parameters, const Model& at,
                    std::span<const double> free_gradient, const std::vector<bool>& active);

}  // namespace bandgp
