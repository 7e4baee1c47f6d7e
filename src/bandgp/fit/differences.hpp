// SPDX-License-Identifier: Apache-2.0
// The gradient of a loss by differences of its values: for θ at which rounding spoils the exact gradient long
// before the loss.
#pragma once
#include <functional>
#include <span>
#include <vector>

#include "bandgp/gp/likelihood.hpp"

namespace bandgp {

/// Whether the exact gradient has lost its digits to rounding.  With condition κ the dual's ∂/∂log ℓ is off
/// by about (κ/10⁸)² and those of a band by as much from a smaller κ on, while the loss is off by 10⁻¹⁴ κ:
/// for κ = 2·10¹⁰ by 5·10⁵ and by 2·10⁻⁴.
bool gradient_is_doubtful(const Likelihood& likelihood);

struct Differences {
  double largest_rise = 2;        // nats: a step that raises the loss by more, both sides added, is too long
  std::vector<double> step;       // by variable, for the next time; empty: to be found
  std::vector<double> measured;   // by variable, the step that gradient and curvature were measured with
  std::vector<double> gradient;   // by variable
  std::vector<double> curvature;  // ∂²/∂x²
};

/// Central differences of the loss at x, where it is `value`.  Each step is adapted to the curvature found,
/// and kept for the next time; a step so short or so long that rounding or the third derivative would decide
/// is not used, but measured again.  False where the loss has no finite value nearby, or once `cancelled`
/// says so.
bool difference(const std::function<double(std::span<const double>)>& loss, std::span<const double> x,
                double value, const std::function<bool()>& cancelled, Differences& differences);

}  // namespace bandgp
