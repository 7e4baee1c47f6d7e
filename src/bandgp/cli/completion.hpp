// SPDX-License-Identifier: Apache-2.0
// The reference as scripts that complete a command line while it is typed.
#pragma once
#include "bandgp/cli/reference.hpp"

namespace bandgp::cli {

std::string bash_completion(const Reference& reference);
std::string zsh_completion(const Reference& reference);
std::string fish_completion(const Reference& reference);

}  // namespace bandgp::cli
