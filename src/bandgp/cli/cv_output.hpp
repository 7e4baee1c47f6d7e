// SPDX-License-Identifier: Apache-2.0
// The result of a cross-validation, for scripts, for people and as a page.
#pragma once
#include "bandgp/cli/output.hpp"
#include "bandgp/experiments/comparison.hpp"

namespace bandgp::cli {

struct CvSummary {
  const std::vector<MethodResult>& results;
  const Input& input;
  Index folds;
  FoldScheme scheme;
  std::uint64_t seed;
  Mean mean;
  bool complete;        // false: interrupted
  std::string command;  // as it was typed
};

Json cv_json(const CvSummary& summary);
std::string cv_text(const CvSummary& summary);
std::string cv_page(const CvSummary& summary, const std::string& created);
/// Why this is not all that was asked for; empty where it is.
std::string cv_reservation(const CvSummary& summary);

}  // namespace bandgp::cli
