// SPDX-License-Identifier: Apache-2.0
#include "bandgp/base/normal_at.hpp"

#include <cmath>
#include <numbers>

namespace bandgp {
namespace {

/// The finaliser of SplitMix64 (Steele, Lea & Flood 2014): a bijection of 64-bit words that mixes well.
std::uint64_t mixed(std::uint64_t z) {
  z += 0x9e3779b97f4a7c15U;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31);
}

std::uint64_t key_of(std::uint64_t seed, std::int64_t place) {
  return mixed(seed ^ mixed(static_cast<std::uint64_t>(place)));
}

}  // namespace

double normal_at(std::uint64_t seed, std::int64_t place) {
  const std::uint64_t key = key_of(seed, place);
  const double u = (static_cast<double>(key >> 11) + 0.5) * 0x1p-53,
               v = static_cast<double>(mixed(key) >> 11) * 0x1p-53;
  return std::sqrt(-2 * std::log(u)) * std::cos(2 * std::numbers::pi * v);
}

double sign_at(std::uint64_t seed, std::int64_t place) { return key_of(seed, place) >> 63 != 0 ? 1 : -1; }

}  // namespace bandgp
