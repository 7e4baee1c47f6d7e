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

std::string shell_word(std::string_view text) {
  constexpr const char* kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-";
  const bool plain = !text.empty() && text.find_first_not_of(kPlain) == text.npos;
  return plain ? std::string(text) : shell_quoted(text);
}

std::string shell_text(std::span<char* const> words) {
  std::string text = "bandgp";
  for (const std::string word : words.empty() ? words : words.subspan(1)) {
    text += ' ';
    text += shell_word(word);
  }
  return text;
}

}  // namespace bandgp::cli
