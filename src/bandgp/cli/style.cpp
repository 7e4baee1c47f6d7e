// SPDX-License-Identifier: Apache-2.0
#include "bandgp/cli/style.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>

namespace bandgp::cli {
bool is_terminal(int descriptor) {
  const char* terminal = std::getenv("TERM");
  return isatty(descriptor) == 1 && terminal != nullptr && std::string_view(terminal) != "dumb";
}

std::string paint(std::string_view text, Colour colour) {
  const char* refused = std::getenv("NO_COLOR");
  const bool coloured = is_terminal(STDOUT_FILENO) && (refused == nullptr || *refused == '\0');
  if (!coloured) return std::string(text);
  constexpr const char* kCode[] = {"1", "32", "33", "31"};
  return fmt::format("\033[{}m{}\033[0m", kCode[static_cast<int>(colour)], text);
}

std::string counted(std::ptrdiff_t number, std::string_view noun) {
  return fmt::format("{} {}{}", number, noun, number == 1 ? "" : "s");
}

}  // namespace bandgp::cli
