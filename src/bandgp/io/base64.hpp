// SPDX-License-Identifier: Apache-2.0
// Arrays of numbers as text: little-endian, base64 (RFC 4648, with padding), the same on every machine.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bandgp/base/index.hpp"

namespace bandgp {

std::string to_base64(std::span<const double> values);
std::string to_base64(std::span<const Index> values);
std::string to_base64(std::span<const float> values);
std::string to_base64(std::span<const std::uint16_t> values);

/// How many characters `count` 8-byte numbers take.
constexpr std::size_t base64_length(std::size_t count) { return (8 * count + 2) / 3 * 4; }

/// None unless the text is exactly what to_base64 writes for some array.
std::optional<std::vector<double>> doubles_from_base64(std::string_view text);
std::optional<std::vector<Index>> indices_from_base64(std::string_view text);

}  // namespace bandgp
