// SPDX-License-Identifier: Apache-2.0
// What a mistyped word was perhaps meant to be.
#pragma once
#include <span>
#include <string>
#include <string_view>

namespace CLI {
class App;
}

namespace bandgp::cli {

/// The known word at the smallest edit distance, if that is at most a third of the letters typed; else "".
std::string nearest_word(std::string_view typed, std::span<const std::string> known);

/// " (see bandgp fit --help)": where the options are told of the command that was asked for.
std::string help_hint(const CLI::App& program);

/// Why words were left over when the command line was read: an unknown command, an unknown option, or one
/// argument too many.
std::string left_over(const CLI::App& program);

}  // namespace bandgp::cli
