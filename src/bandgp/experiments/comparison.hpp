// SPDX-License-Identifier: Apache-2.0
// Methods side by side, each on the same folds of the same series.
#pragma once
#include <nlohmann/json.hpp>

#include "bandgp/experiments/choice.hpp"
#include "bandgp/experiments/trials.hpp"

namespace bandgp {

struct ComparisonSetup {
  std::vector<MethodChoice> methods;
  std::vector<Fold> folds;
  std::vector<Table> tables;  // one for all folds, or one for each
  FitOptions fit = {};        // kernel and cut come from the method; `init` is for kernels of one term
  std::string key = {};       // what results depend on besides method, kernel and fold, for a store
  std::function<bool()> cancelled = {};
};

struct MethodResult {
  MethodChoice choice;
  std::vector<std::optional<FoldResult>> folds;  // none: was not done
};

/// About how many seconds all fits of these methods to these folds of a series take, one after the other:
/// what is known before any is done, at a length-scale of ten gaps.
double expected_seconds(const ComparisonSetup& setup, const Series& series);
std::vector<MethodResult> compare(const ComparisonSetup& setup, const RunOptions& options);

/// How many of all fits are done.
struct Progressed {
  Index done = 0, of = 0;
};
Progressed progressed(std::span<const MethodResult> results);
/// `fitc:50, fold 2, failed: …`, one for each fold that did.
std::vector<std::string> failures_of(std::span<const MethodResult> results);

/// Means over the folds that gave scores.
struct MethodAverage {
  Scores scores;
  double nll = kUnset, fit_seconds = kUnset, predict_seconds = kUnset, evaluations = kUnset;
  Index done = 0, failures = 0;
  Index at_bound = 0;       // folds whose training ended at the edge of the parameters tried
  Index not_converged = 0;  // folds with scores of a training that did not converge
  Index rejecting = 0;      // folds in whose training a matrix was not positive definite
  Index bandwidth = 0;      // the widest
  bool whole() const { return done > 0 && failures == 0; }
  /// Positive definite wherever training went, in every fold.
  bool valid() const { return whole() && rejecting == 0; }
};
MethodAverage average_of(const MethodResult& result);

/// {"method", "parameter", "kernel", "nmse", …, "per_fold": […]}
nlohmann::ordered_json method_json(const MethodResult& result);
/// A row for each method, with a header.
std::string comparison_csv(std::span<const MethodResult> results);

/// How training begins, how exact it is and in which matrix, as a part of `key`.
std::string training_key(const FitOptions& options);
/// FNV-1a of times, values and variances: which data these are.
std::string checksum_of(const Table& table);

}  // namespace bandgp
