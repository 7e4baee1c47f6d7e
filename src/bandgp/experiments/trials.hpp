// SPDX-License-Identifier: Apache-2.0
// Many independent fits, some at a time, each on one thread.
#pragma once
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bandgp/experiments/store.hpp"

namespace bandgp {

struct Trial {
  std::string key;    // of the result in a store: all that it depends on
  std::string label;  // for people
  std::function<FoldResult()> run;
};

struct RunOptions {
  Index threads = 1;
  std::function<bool()> cancelled = {};
  /// Told when a trial has begun or ended, one call at a time: how many are done, and what runs.
  std::function<void(Index done, Index of, const std::string& label)> progress = {};
  Store* store = nullptr;
};

/// Results in the order of the trials; none for those that a cancellation kept from ending.  What a trial
/// throws ends the run and is thrown again.
std::vector<std::optional<FoldResult>> run_trials(std::span<const Trial> trials, const RunOptions& options);

}  // namespace bandgp
