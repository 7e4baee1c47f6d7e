// SPDX-License-Identifier: Apache-2.0
// The dense NLL at a fitted model, for what training ends at: long double, a constant mean estimated.
#pragma once
#include "bandgp/gp/likelihood.hpp"
#include "support/dense_gp.hpp"

namespace support {

/// In the user's units, of a series without ties; ∞ where the covariance is singular even so.
double dense_nll(const bandgp::Series& series, const bandgp::Model& user);

}  // namespace support
