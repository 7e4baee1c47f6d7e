// SPDX-License-Identifier: Apache-2.0
// The reference as help on the terminal, as a man page and as a page of documentation.
#pragma once
#include "bandgp/cli/reference.hpp"

namespace bandgp::cli {

std::string help_text(const Reference& reference);
std::string help_text(const CommandEntry& command);
std::string manual_roff(const Reference& reference);
std::string manual_markdown(const Reference& reference);

}  // namespace bandgp::cli
