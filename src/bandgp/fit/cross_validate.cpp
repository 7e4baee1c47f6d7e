// SPDX-License-Identifier: Apache-2.0
#include "bandgp/fit/cross_validate.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

namespace bandgp {
namespace {

using Clock = std::chrono::steady_clock;

double since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

template <class Values>
Values picked(const Values& values, std::span<const Index> rows) {
  Values result;
  for (const Index row : rows) {
    if (!values.empty()) result.push_back(values[static_cast<std::size_t>(row)]);
  }
  return result;
}

}  // namespace

Table rows_of(const Table& table, std::span<const Index> rows) {
  Table part = table;
  part.time = picked(table.time, rows);
  part.value = picked(table.value, rows);
  part.variance = picked(table.variance, rows);
  return part;
}

Table complete_rows(const Table& table) {
  std::vector<Index> rows;
  for (std::size_t i = 0; i < table.time.size(); ++i) {
    const bool known = table.variance.empty() || std::isfinite(table.variance[i]);
    if (std::isfinite(table.time[i]) && std::isfinite(table.value[i]) && known)
      rows.push_back(static_cast<Index>(i));
  }
  std::ranges::stable_sort(rows, {}, [&](Index i) { return table.time[static_cast<std::size_t>(i)]; });
  return rows_of(table, rows);
}

FoldResult validate_fold(const Table& table, const Fold& fold, const FitOptions& method, Index most_joint) {
  FoldResult result;
  try {
    const Table test = rows_of(table, fold.test);
    Clock::time_point begin = Clock::now();
    const FitResult fitted = fit(rows_of(table, fold.train), method);
    result.fit_seconds = since(begin);
    result.bandwidth = fitted.bandwidth;
    result.nll = fitted.nll;
    result.status = fitted.status;
    result.evaluations = fitted.evaluations;
    result.rejected = fitted.rejected_not_positive_definite;
    result.kernel = to_text(fitted.model.kernel);
    result.noise = fitted.model.noise;
    if (!std::isfinite(fitted.nll)) {
      result.failure = fitted.message;
      return result;
    }
    begin = Clock::now();
    const std::shared_ptr<Posterior> posterior = fitted.posterior(method.threads);
    const Prediction prediction = posterior->predict(test.time);
    result.predict_seconds = since(begin);
    std::vector<double> variance = prediction.variance_observed, covariance;
    for (std::size_t i = 0; i < test.variance.size(); ++i) variance[i] += test.variance[i];
    const std::size_t n = test.time.size();
    if (static_cast<Index>(n) <= most_joint) {
      covariance = posterior->covariance(test.time);
      for (std::size_t i = 0; i < n; ++i) covariance[i * (n + 1)] += variance[i] - prediction.variance[i];
    }
    result.scores = score(test.value, prediction.mean, variance, covariance);
  } catch (const std::exception& error) {
    result.failure = error.what();
  }
  return result;
}

std::vector<FoldResult> cross_validate(const Table& table, const FitOptions& method,
                                       const CrossValidation& how) {
  const Table complete = complete_rows(table);
  std::vector<FoldResult> results;
  for (const Fold& fold :
       make_folds(static_cast<Index>(complete.time.size()), how.folds, how.scheme, how.seed)) {
    if (method.cancelled && method.cancelled()) break;
    results.push_back(validate_fold(complete, fold, method, how.most_joint));
    if (how.progress) how.progress(std::ssize(results) - 1, results.back());
  }
  return results;
}

}  // namespace bandgp
