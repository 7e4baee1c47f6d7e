// SPDX-License-Identifier: Apache-2.0
// The result of a fit, for scripts and for people.
#pragma once
#include "bandgp/cli/output.hpp"
#include "bandgp/fit/diagnostics.hpp"
#include "bandgp/fit/explain.hpp"
#include "bandgp/fit/fit.hpp"

namespace bandgp::cli {

/// What there is to say about a fit.
struct FitSummary {
  const FitResult& fit;
  const Input& input;
  const FitOptions& options;
  std::optional<Diagnostics> left_out;  // or:
  std::string no_left_out;              // why there is none
  std::vector<std::string> remarks;
  std::vector<ComponentStory> components;  // one for each term; empty where there is no fit
  std::string output;                      // where the model went; empty: nowhere
  std::string report;                      // and the report
};

/// Why this is not a result to rely on; empty where it is.
std::string reservation(const FitResult& fit);
/// The same about a model that was trained earlier, whose training is over.
std::string model_reservation(const FitResult& model);
Json fit_json(const FitSummary& summary);
std::string fit_text(const FitSummary& summary);

}  // namespace bandgp::cli
