// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "bandgp/base/index.hpp"

namespace bandgp {

/// Right-hand sides: `columns` vectors, 64-byte aligned, `stride` doubles apart; rows past the last point up
/// to the next multiple of 8 must be 0 and stay 0.
struct RightHandSides {
  double* data;
  Index columns, stride;
};

}  // namespace bandgp
