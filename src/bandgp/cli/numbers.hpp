// SPDX-License-Identifier: Apache-2.0
// From the text of a flag to a number; what is wrong with it is told by the flag's name.
#pragma once
#include <map>
#include <optional>
#include <string>

#include "bandgp/kernel/kernel.hpp"

namespace bandgp::cli {

using Text = std::optional<std::string>;  // as given, if it was

/// A finite number, a positive number, a whole number ≥ 0; std::invalid_argument naming the flag otherwise.
double finite_number(const std::string& flag, const std::string& text);
double positive_number(const std::string& flag, const std::string& text);
Index whole_number(const std::string& flag, const std::string& text);

/// `name=value,name=value` with the names of the kernel's parameters; values of times may be durations.
std::map<std::string, double> assignments(const std::string& flag, const Text& text, const Kernel& kernel,
                                          const ReadDuration& duration);

}  // namespace bandgp::cli
