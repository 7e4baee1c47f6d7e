// SPDX-License-Identifier: Apache-2.0
// A piece of the user's text inside an error message: quoted, printable and short, so that the message stays
// one line.
#pragma once
#include <string>
#include <string_view>

namespace bandgp {

inline std::string quote(std::string_view text) {
  constexpr std::size_t kLongest = 40;
  std::string quoted = "\"";
  for (const char c : text.substr(0, kLongest)) quoted += c >= ' ' && c <= '~' ? c : '?';
  quoted += text.size() > kLongest ? "...\"" : "\"";
  return quoted;
}

}  // namespace bandgp
