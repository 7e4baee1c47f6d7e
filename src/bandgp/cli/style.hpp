// SPDX-License-Identifier: Apache-2.0
// Text for people, with colour where standard output is a terminal and NO_COLOR does not object.
#pragma once
#include <string>
#include <string_view>

namespace bandgp::cli {

/// Whether a file descriptor is a terminal that understands more than lines of text.
bool is_terminal(int descriptor);

enum class Colour { bold, good, doubtful, bad };
std::string paint(std::string_view text, Colour colour);

/// `1 row`, `2 rows`
std::string counted(std::ptrdiff_t number, std::string_view noun);

}  // namespace bandgp::cli
