// SPDX-License-Identifier: Apache-2.0
// The dense gradient by its formula, ½ tr[(A⁻¹ − ααᵀ) ∂A], where differences of the loss are of no use:
// beside a matrix that is hardly positive definite, or where a pair of points stands at the edge of a compact
// support.
#pragma once
#include <string>

#include "support/dense_gp.hpp"

namespace support {

/// −r ρ'(r) = ∂ρ/∂log ℓ, from the formulas of dense::shape_value.
dense::Real shape_slope(const std::string& shape, dense::Real r);

/// In the order of dense::gradient; the profiled mean needs no term of its own.
dense::Vector analytic_gradient(const dense::Problem& problem, const dense::Solved& s);

}  // namespace support
