// SPDX-License-Identifier: Apache-2.0
// The observed information: the Hessian of the loss at its minimum, by differences of the gradient,
// or of the loss where the gradient is doubtful.
#pragma once
#include "bandgp/fit/trainer.hpp"

namespace bandgp {

struct Curvature {
  std::vector<double> standard_errors;  // of the free logs; NaN where the Hessian says nothing
  std::vector<double>
      newton_step;     // −H⁻¹g: what is left to the minimum; zeros when H is not positive definite
  bool known = false;  // every difference has a value; nothing below holds where that is not so
  /// ½gᵀ|H|⁻¹g, what the loss would still fall by: with |H| for H, and a direction that is flat to the
  /// precision of the differences counted with the curvature that they could just have shown.
  double decrement = std::numeric_limits<double>::infinity();
  /// A direction in which the loss curves downwards by more than the differences may be wrong, pointing
  /// downhill; empty at a minimum.
  std::vector<double> downward;
  std::vector<double> inverse_hessian;  // |H|⁻¹ over the free logs, for the optimiser; row-major
};

/// One evaluation for each free parameter in `active` (those not at a bound), on the stage's present cut.
/// `differences`: what differences of the loss say at θ, where the exact gradient is doubtful; else null.
/// `rounding` is about how many nats the loss may be off by.
Curvature curvature(Trainer& trainer, Stage& stage, const Parameters& parameters, const InternalModel& at,
                    double value, std::span<const double> free_gradient, const std::vector<bool>& active,
                    const Differences* differences, double rounding);

}  // namespace bandgp
