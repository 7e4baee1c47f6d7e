// SPDX-License-Identifier: Apache-2.0
// The result of a fit, for scripts and for people.
#pragma once
#include "bandgp/cli/output.hpp"
#include "bandgp/fit/fit.hpp"

namespace bandgp::cli {

/// Why this is not a result to rely on; empty where it is.
std::string reservation(const FitResult& fit);
Json fit_json(const FitResult& fit, const Input& input);
std::string fit_text(const FitResult& fit, const Input& input, const FitOptions& options);

}  // namespace bandgp::cli
