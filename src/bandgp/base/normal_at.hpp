// SPDX-License-Identifier: Apache-2.0
// Random numbers that know their place: asked for twice, or in another order, they are the same.
#pragma once
#include <cstdint>

namespace bandgp {

/// A standard normal number for (seed, place), the same on every call.
double normal_at(std::uint64_t seed, std::int64_t place);
/// −1 or 1, likewise.
double sign_at(std::uint64_t seed, std::int64_t place);

}  // namespace bandgp
