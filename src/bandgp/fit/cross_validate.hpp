// SPDX-License-Identifier: Apache-2.0
// How well methods predict what they have not seen, all on the same folds.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "bandgp/fit/fit.hpp"
#include "bandgp/fit/scores.hpp"
#include "bandgp/series/folds.hpp"

namespace bandgp {

/// One method on one fold.
struct FoldResult {
  Scores scores;
  double fit_seconds = kUnset, predict_seconds = kUnset;
  Index bandwidth = 0;
  double nll = kUnset;
  std::string failure;  // why there are no scores; empty where there are
  FitStatus status = FitStatus::stalled;
  int evaluations = 0, rejected = 0;  // of the latter the matrix was not positive definite
  std::string kernel;                 // as fitted
  double noise = kUnset;
};

struct CrossValidation {
  FoldScheme scheme = FoldScheme::shuffled;
  Index folds = 5;
  std::uint64_t seed = 0;
  /// Held-out values up to this many have a joint density: it is dense in them.
  Index most_joint = 5000;
  std::function<void(Index fold, const FoldResult&)> progress = {};
};

/// Fits on each fold's training part, predicts the rest.  A fold that cannot be fitted is a failure with its
/// reason, not an exception.  `table` in time order or not; rows with missing values are left out first.
std::vector<FoldResult> cross_validate(const Table& table, const FitOptions& method,
                                       const CrossValidation& how);
/// One fold of it; rows index the table.
FoldResult validate_fold(const Table& table, const Fold& fold, const FitOptions& method, Index most_joint);

/// These rows of a table, in this order.
Table rows_of(const Table& table, std::span<const Index> rows);
/// The rows of a table without missing values, in time order.
Table complete_rows(const Table& table);

}  // namespace bandgp
