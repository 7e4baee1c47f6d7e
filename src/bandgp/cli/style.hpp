// SPDX-License-Identifier: Apache-2.0
// Colour where a person reads: standard output is a terminal, and NO_COLOR does not object.
#pragma once
#include <string>
#include <string_view>

namespace bandgp::cli {

enum class Colour { bold, good, doubtful, bad };
std::string paint(std::string_view text, Colour colour);

/// `1 row`, `2 rows`
std::string counted(std::ptrdiff_t number, std::string_view noun);

}  // namespace bandgp::cli
