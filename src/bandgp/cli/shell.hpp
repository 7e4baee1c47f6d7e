// SPDX-License-Identifier: Apache-2.0
// Text that a POSIX shell reads back as it was.
#pragma once
#include <span>
#include <string>
#include <string_view>

namespace bandgp::cli {

/// In single quotes.
std::string shell_quoted(std::string_view text);
/// Quoted where it must be.
std::string shell_word(std::string_view text);
/// The command line that was typed, `bandgp` first.
std::string shell_text(std::span<char* const> words);

}  // namespace bandgp::cli
