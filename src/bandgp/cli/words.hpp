// SPDX-License-Identifier: Apache-2.0
// The library's messages in the words of the command line: options are flags.
#pragma once
#include <exception>
#include <string>

#include "bandgp/base/message.hpp"

namespace bandgp::cli {

/// --time-format, --thin 0.3
std::string flag_spelling(Option option, std::string_view value);

/// What an exception says, with flags where it is one of the library's.
std::string words_of(const std::exception& error);

}  // namespace bandgp::cli
