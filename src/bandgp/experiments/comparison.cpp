// SPDX-License-Identifier: Apache-2.0
#include "bandgp/experiments/comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "bandgp/experiments/fold_json.hpp"
#include "bandgp/io/checksum.hpp"

namespace bandgp {
namespace {

using Json = nlohmann::ordered_json;

/// Held-out values up to this many have a joint density, as in CrossValidation.
const Index kMostJoint = CrossValidation{}.most_joint;

/// NaN as soon as one value is.
class Average {
 public:
  void add(double value) {
    sum_ += value;
    ++count_;
  }
  operator double() const { return count_ == 0 ? kUnset : sum_ / static_cast<double>(count_); }

 private:
  double sum_ = 0;
  int count_ = 0;
};

Trial trial_of(const ComparisonSetup& setup, const MethodChoice& choice, std::size_t fold) {
  FitOptions options = setup.fit;
  options.kernel = choice.kernel;
  options.cut = choice.cut(setup.fit.cut.tolerance);
  options.cancelled = setup.cancelled;
  if (choice.kernel.terms.size() > 1) options.init.clear();
  const Table& table = setup.tables[setup.tables.size() == 1 ? 0 : fold];
  const std::string kernel = to_text(choice.kernel);
  return {fmt::format("{}|{}|{}|{}", setup.key, choice.name(), kernel, fold),
          fmt::format("{}{}, fold {}", choice.name(), choice.kernel.terms.size() > 1 ? " " + kernel : "",
                      fold + 1),
          [&table, &held = setup.folds[fold], options] {
            return validate_fold(table, held, options, kMostJoint);
          }};
}

/// A model of the series as a search may begin with.
Model typical_model(const Kernel& kernel, const Series& series, Mean mean) {
  Model model{kernel, kUnset, mean};
  const double variance = series.units.value_unit * series.units.value_unit;
  for (const auto& parameter : parameters(model)) {
    if (std::isfinite(*parameter.value)) continue;
    const double gap = series.report.mean_gap > 0 ? series.report.mean_gap : 1;
    *parameter.value = parameter.kind->unit == Unit::variance ? variance
                       : parameter.kind->unit == Unit::time   ? 10 * gap
                                                              : 1;
  }
  return model;
}

}  // namespace

double expected_seconds(const ComparisonSetup& setup, const Series& series) {
  constexpr double kSearched = 4096;  // points, of longer series
  constexpr double kPredictions = 2;  // evaluations that predicting and scoring take
  const auto n = static_cast<double>(series.size());
  double seconds = 0;
  for (const MethodChoice& choice : setup.methods) {
    const Model model = typical_model(choice.kernel, series, setup.fit.mean);
    const auto each = [&](const Cut& cut) {
      try {
        return estimate_cost(series, model, cut).seconds_per_evaluation;
      } catch (const std::exception&) {  // such a fit fails at once, and says why
        return 0.0;
      }
    };
    const auto free = static_cast<int>(parameter_names(choice.kernel).size());
    const auto terms = static_cast<double>(choice.kernel.terms.size());
    // The search goes through a grid of starts in a band or its dual, for sums once for each kernel that they
    // contain; exact, fitc, vfe, taper and vecchia begin where it ends.
    const double searching = 80 * terms * terms * each(Cut{}) * std::min(1.0, kSearched / n);
    seconds +=
        searching + (expected_evaluations(free) + kPredictions) * each(choice.cut(setup.fit.cut.tolerance));
  }
  return seconds * static_cast<double>(setup.folds.size());
}

std::vector<MethodResult> compare(const ComparisonSetup& setup, const RunOptions& options) {
  // What takes longest first, so that no thread is left alone with it at the end.
  std::vector<std::size_t> order(setup.methods.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_partition(order,
                                [&](std::size_t m) { return setup.methods[m].method == Method::exact; });
  std::vector<Trial> trials;
  for (const std::size_t m : order) {
    for (std::size_t f = 0; f < setup.folds.size(); ++f)
      trials.push_back(trial_of(setup, setup.methods[m], f));
  }
  const std::vector<std::optional<FoldResult>> done = run_trials(trials, options);
  std::vector<MethodResult> results;
  results.reserve(setup.methods.size());
  for (const MethodChoice& choice : setup.methods) results.push_back({choice, {}});
  std::size_t next = 0;
  for (const std::size_t m : order) {
    for (std::size_t f = 0; f < setup.folds.size(); ++f) results[m].folds.push_back(done[next++]);
  }
  return results;
}

Progressed progressed(std::span<const MethodResult> results) {
  Progressed count;
  for (const MethodResult& result : results) {
    count.of += std::ssize(result.folds);
    for (const auto& fold : result.folds) count.done += fold ? 1 : 0;
  }
  return count;
}

std::vector<std::string> failures_of(std::span<const MethodResult> results) {
  std::vector<std::string> failures;
  for (const MethodResult& result : results) {
    for (std::size_t f = 0; f < result.folds.size(); ++f) {
      if (result.folds[f] && !result.folds[f]->failure.empty())
        failures.push_back(
            fmt::format("{}, fold {}, failed: {}", result.choice.name(), f + 1, result.folds[f]->failure));
    }
  }
  return failures;
}

MethodAverage average_of(const MethodResult& result) {
  MethodAverage average;
  Average nmse, joint, marginal, crps, coverage, nll, fit, predict, evaluations;
  for (const auto& fold : result.folds) {
    if (!fold) continue;
    ++average.done;
    average.rejecting += fold->rejected > 0 ? 1 : 0;
    average.bandwidth = std::max(average.bandwidth, fold->bandwidth);
    if (!fold->failure.empty()) {
      ++average.failures;
      continue;
    }
    const bool at_bound = fold->status == FitStatus::at_bound;
    average.at_bound += at_bound ? 1 : 0;
    average.not_converged += at_bound || fold->status == FitStatus::converged ? 0 : 1;
    nmse.add(fold->scores.nmse);
    joint.add(fold->scores.nlpd_joint);
    marginal.add(fold->scores.nlpd_marginal);
    crps.add(fold->scores.crps);
    coverage.add(fold->scores.coverage_95);
    nll.add(fold->nll);
    fit.add(fold->fit_seconds);
    predict.add(fold->predict_seconds);
    evaluations.add(fold->evaluations);
  }
  average.scores = {nmse, joint, marginal, crps, coverage};
  average.nll = nll;
  average.fit_seconds = fit;
  average.predict_seconds = predict;
  average.evaluations = evaluations;
  return average;
}

Json method_json(const MethodResult& result) {
  const MethodAverage average = average_of(result);
  Json folds = Json::array();
  for (std::size_t f = 0; f < result.folds.size(); ++f) {
    if (!result.folds[f]) continue;
    Json fold = {{"fold", f + 1}};
    fold.update(fold_json(*result.folds[f]));
    folds.push_back(fold);
  }
  return {{"method", method_name(result.choice.method)},
          {"parameter", result.choice.parameter ? Json(*result.choice.parameter) : Json()},
          {"kernel", to_text(result.choice.kernel)},
          {"nmse", average.scores.nmse},
          {"nlpd_joint", average.scores.nlpd_joint},
          {"nlpd_marginal", average.scores.nlpd_marginal},
          {"crps", average.scores.crps},
          {"coverage_95", average.scores.coverage_95},
          {"nll", average.nll},
          {"fit_seconds", average.fit_seconds},
          {"predict_seconds", average.predict_seconds},
          {"evaluations", average.evaluations},
          {"bandwidth", average.bandwidth},
          {"done", average.done},
          {"failures", average.failures},
          {"at_bound", average.at_bound},
          {"not_converged", average.not_converged},
          {"folds_rejecting", average.rejecting},
          {"valid", average.valid()},
          {"per_fold", folds}};
}

std::string comparison_csv(std::span<const MethodResult> results) {
  std::string text =
      "method,parameter,kernel,nmse,nlpd_joint,nlpd_marginal,crps,coverage_95,nll,fit_seconds,predict_"
      "seconds,"
      "evaluations,bandwidth,folds,failures,at_bound,not_converged,folds_rejecting,valid\n";
  const auto number = [](double value) { return std::isfinite(value) ? fmt::format("{}", value) : ""; };
  for (const MethodResult& result : results) {
    const MethodAverage average = average_of(result);
    const Scores& scores = average.scores;
    text += fmt::format("{},{},{}", method_name(result.choice.method),
                        result.choice.parameter ? std::to_string(*result.choice.parameter) : "",
                        to_text(result.choice.kernel));
    for (const double value :
         {scores.nmse, scores.nlpd_joint, scores.nlpd_marginal, scores.crps, scores.coverage_95, average.nll,
          average.fit_seconds, average.predict_seconds, average.evaluations})
      text += fmt::format(",{}", number(value));
    text += fmt::format(",{},{},{},{},{},{},{}\n", average.bandwidth, average.done, average.failures,
                        average.at_bound, average.not_converged, average.rejecting, average.valid() ? 1 : 0);
  }
  return text;
}

std::string training_key(const FitOptions& options) {
  std::string text =
      fmt::format("tolerance {}{}", options.cut.tolerance, options.own_search ? ", own search" : "");
  for (const auto& [name, value] : options.init) text += fmt::format(", {} {}", name, value);
  return text;
}

std::string checksum_of(const Table& table) {
  std::string bytes;
  for (const auto* column : {&table.time, &table.value, &table.variance}) {
    bytes += fmt::format("{}:", column->size());
    bytes.append(reinterpret_cast<const char*>(column->data()), column->size() * sizeof(double));
  }
  return fmt::format("{:016x}", fnv1a(bytes));
}

}  // namespace bandgp
