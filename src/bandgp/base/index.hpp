// SPDX-License-Identifier: Apache-2.0
// The one integer type of all band arithmetic: signed, so that j - i + k never wraps.
#pragma once
#include <cstddef>

namespace bandgp {

using Index = std::ptrdiff_t;

/// The smallest multiple of `unit` that is ≥ value (value ≥ 0).
constexpr Index round_up(Index value, Index unit) { return (value + unit - 1) / unit * unit; }
constexpr Index round_down(Index value, Index unit) { return value / unit * unit; }

}  // namespace bandgp
