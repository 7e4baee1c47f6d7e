// SPDX-License-Identifier: Apache-2.0
// A report on disk, as fit and report write it.
#pragma once
#include <string>

#include "bandgp/cli/options.hpp"
#include "bandgp/fit/fit.hpp"

namespace bandgp::cli {

/// The present, as pages tell when they were made.
std::string now_text();

Source source_of(const Input& input);

/// Collects and writes, with a forecast up to the horizon (user's units; 0: none); returns the size of the
/// page in bytes.  Unless quiet, says so first where that takes long.
std::size_t write_report(const FitResult& fit, const std::string& command, Index threads,
                         const std::string& path, bool quiet, double horizon = 0);

}  // namespace bandgp::cli
