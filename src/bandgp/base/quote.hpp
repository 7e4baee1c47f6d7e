// SPDX-License-Identifier: Apache-2.0
// The user's text inside ours: it must not break the line, nor tell the terminal what to do.
#pragma once
#include <string>
#include <string_view>

namespace bandgp {

/// In any encoding, but for control characters.
inline std::string printable(std::string text) {
  for (char& c : text) {
    if ((c >= 0 && c < ' ') || c == '\x7f') c = '?';
  }
  return text;
}

/// A piece of it inside an error message: quoted and short.
inline std::string quote(std::string_view text) {
  constexpr std::size_t kLongest = 40;
  std::string quoted = "\"";
  for (const char c : text.substr(0, kLongest)) quoted += c >= ' ' && c <= '~' ? c : '?';
  quoted += text.size() > kLongest ? "...\"" : "\"";
  return quoted;
}

}  // namespace bandgp
