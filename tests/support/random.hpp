// SPDX-License-Identifier: Apache-2.0
// Random numbers that are the same on every platform: the standard's distributions are not.
#pragma once
#include <cmath>
#include <cstdint>
#include <numbers>
#include <random>
#include <vector>

namespace support {

class Random {
 public:
  explicit Random(std::uint64_t seed) : generator_(seed) {}
  /// [0, 1)
  double unit() { return static_cast<double>(generator_() >> 11) * 0x1p-53; }
  double uniform(double low, double high) { return low + (high - low) * unit(); }
  /// low … high
  std::ptrdiff_t integer(std::ptrdiff_t low, std::ptrdiff_t high) {
    return low + static_cast<std::ptrdiff_t>(generator_() % static_cast<std::uint64_t>(high - low + 1));
  }
  bool chance(double probability) { return unit() < probability; }
  double log_uniform(double low, double high) { return low * std::pow(high / low, unit()); }
  double normal() { return std::sqrt(-2 * std::log(1 - unit())) * std::cos(2 * std::numbers::pi * unit()); }
  std::vector<double> normals(std::size_t count) {
    std::vector<double> values(count);
    for (double& value : values) value = normal();
    return values;
  }
  template <class T>
  const T& pick(const std::vector<T>& choices) {
    return choices[static_cast<std::size_t>(integer(0, static_cast<std::ptrdiff_t>(choices.size()) - 1))];
  }

 private:
  std::mt19937_64 generator_;
};

}  // namespace support
