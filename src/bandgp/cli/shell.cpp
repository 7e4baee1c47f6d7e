// SPDX-License-Identifier: Apache-2.0
#include "bandgp/cli/shell.hpp"

namespace bandgp::cli {

std::string shell_quoted(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'')
      quoted += "'\\''";  // out of the quotes, a quote, and in again
    else
      quoted += c;
  }
  quoted += '\'';
  return quoted;
}

std::string shell_text(std::span<char* const> words) {
  constexpr const char* kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-";
  std::string text = "bandgp";
  for (const std::string word : words.empty() ? words : words.subspan(1)) {
    const bool plain = !word.empty() && word.find_first_not_of(kPlain) == std::string::npos;
    text += ' ';
    text += plain ? word : shell_quoted(word);
  }
  return text;
}

}  // namespace bandgp::cli
