// SPDX-License-Identifier: Apache-2.0
// Figures 2 and 3: every method at every size on one real series, five folds.  As in the paper and in its
// way: times are row numbers, values are standardised by the training part, the mean is zero, and all methods
// start from a small length-scale and a large noise, train in their own matrix and stop by the same rule.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <numeric>
#include <stdexcept>

#include "bandgp/base/error.hpp"
#include "bandgp/experiments/claims.hpp"
#include "bandgp/experiments/comparison_page.hpp"
#include "bandgp/experiments/experiment.hpp"
#include "bandgp/io/read_table.hpp"
#include "bandgp/version.hpp"

namespace bandgp {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSunspots = "sunspots/sunspots_3315_1749-01_2025-03.csv";
constexpr const char* kEeg = "eeg/helsinki_eeg36_30s.csv.gz";
constexpr Index kSunspotCount = 3315, kEegFirst = 2000, kEegCount = 4000;

/// One figure: what is compared on which values.
struct Figure {
  std::string name, title, source, note;  // note: what differs from the paper
  std::vector<double> values;
  std::vector<Index> sizes;
  Index most_neighbours;  // of vecchia
};

Table at_rows(std::vector<double> values) {
  Table table;
  table.value = std::move(values);
  table.time.resize(table.value.size());
  std::iota(table.time.begin(), table.time.end(), 0.0);
  return table;
}

Table standardised(Table table, const Fold& fold) {
  double mean = 0, square = 0;
  const auto n = static_cast<double>(fold.train.size());
  for (const Index i : fold.train) mean += table.value[static_cast<std::size_t>(i)] / n;
  for (const Index i : fold.train) square += std::pow(table.value[static_cast<std::size_t>(i)] - mean, 2) / n;
  for (double& y : table.value) y = (y - mean) / std::sqrt(square);
  return table;
}

std::vector<MethodChoice> methods_of(const Figure& figure) {
  std::vector<MethodChoice> methods = {{Method::exact}, {Method::band}, {Method::dual}};
  for (const Method method : {Method::band, Method::fitc, Method::vfe, Method::taper, Method::vecchia}) {
    for (const Index size : figure.sizes) {
      if (method != Method::vecchia || size <= figure.most_neighbours) methods.push_back({method, size});
    }
  }
  methods.push_back({Method::automatic, {}, "se + se"});
  return methods;
}

Experiment run(const Figure& figure, const ExperimentOptions& options) {
  ComparisonSetup setup;
  const Table table = at_rows(figure.values);
  const Index folds = options.quick ? 2 : 5;
  setup.methods = methods_of(figure);
  setup.folds = make_folds(std::ssize(figure.values), folds, FoldScheme::shuffled, 0);
  for (const Fold& fold : setup.folds) setup.tables.push_back(standardised(table, fold));
  setup.fit.mean = Mean::zero;
  setup.fit.standard_errors = false;
  setup.fit.own_search = true;
  setup.fit.init = {{"variance", 0.5}, {"lengthscale", 1.5}, {"noise", 0.5}};
  setup.key = fmt::format("{}|{}|{}|{} folds|{}", version(), figure.name, checksum_of(table), folds,
                          training_key(setup.fit));
  setup.cancelled = options.run.cancelled;
  const std::vector<MethodResult> results = compare(setup, options.run);

  Experiment experiment;
  const Progressed count = progressed(results);
  experiment.done = count.done;
  experiment.of = count.of;
  experiment.complete = experiment.done == experiment.of;
  if (!experiment.complete) return experiment;
  experiment.csv = comparison_csv(results);
  nlohmann::ordered_json methods = nlohmann::ordered_json::array();
  for (const MethodResult& result : results) methods.push_back(method_json(result));
  const std::vector<std::string> claims = claims_of(results);
  experiment.json = {{"experiment", figure.name},
                     {"version", version()},
                     {"source", figure.source},
                     {"n", figure.values.size()},
                     {"checksum", checksum_of(table)},
                     {"folds", folds},
                     {"seed", 0},
                     {"scheme", "shuffled"},
                     {"start", setup.fit.init},
                     {"note", figure.note},
                     {"claims", claims},
                     {"methods", methods}};
  Page& page = experiment.page;
  page.title = figure.title;
  page.subtitle = fmt::format(
      "{} values of {}, {} shuffled folds (seed 0). Times are row numbers, values are standardised by the "
      "training part, the "
      "mean is zero. Every method starts from variance 0.5, lengthscale 1.5, noise 0.5, trains in its own "
      "matrix on one thread and stops by the same rule; inducing inputs are quantiles of the times and stay "
      "there; se + se looks for its start.",
      figure.values.size(), figure.source, folds);
  page.remark = figure.note;
  page.cards = claim_cards(results);
  PageSection charts = comparison_charts(results);
  charts.notes = claims;
  page.sections = {std::move(charts), comparison_table(results)};
  return experiment;
}

/// `file` in the folder of the data; empty where it is not there.
std::string found(const char* file, const ExperimentOptions& options) {
  const fs::path path = fs::path(options.data) / file;
  return !options.data.empty() && fs::exists(path) ? path.string() : "";
}

[[noreturn]] void no_data(const char* file, const ExperimentOptions& options) {
  if (options.data.empty()) throw InvalidArgument({MessageCode::no_data_folder, {{"file", file}}});
  throw InvalidArgument({MessageCode::not_in_data_folder, {{"file", file}, {"folder", options.data}}});
}

}  // namespace

std::string sunspots_file(const ExperimentOptions& options) {
  if (std::string path = found(kSunspots, options); !path.empty()) return path;
  if (options.bundled.empty()) no_data(kSunspots, options);
  return options.bundled;
}

std::string eeg_file(const ExperimentOptions& options) {
  std::string path = found(kEeg, options);
  if (path.empty()) no_data(kEeg, options);
  return path;
}

Experiment sunspots_experiment(const ExperimentOptions& options) {
  Figure figure{"sunspots", "Monthly sunspot numbers", "", "", {}, {10, 30, 50, 70, 100, 130, 150, 170, 200},
                200};
  const std::string path = sunspots_file(options);
  figure.source = fs::path(path).filename().string();
  if (path == options.bundled) {
    figure.source += " (bundled)";
    figure.values = read_table(path).value;
    figure.note = words({MessageCode::bundled_series,
                         {{"months", std::ssize(figure.values)}, {"paper", Index{kSunspotCount}}}},
                        options.spelling);
  } else {
    figure.values = read_table(path, {.x = "decyear", .y = "SN"}).value;
    if (std::ssize(figure.values) != kSunspotCount)
      figure.note = fmt::format("The file has {} months, the paper's series {}: its figures are others.",
                                figure.values.size(), kSunspotCount);
  }
  if (options.quick) {
    figure.values.resize(std::min<std::size_t>(figure.values.size(), 600));
    figure.sizes = {10, 50, 100};
    figure.note +=
        std::string(figure.note.empty() ? "" : " ") + "Quick: the first 600 values, two folds, three sizes.";
  }
  return run(figure, options);
}

Experiment eeg_experiment(const ExperimentOptions& options) {
  const std::string path = eeg_file(options);
  const std::vector<double> all = read_table(path, {.x = "time", .y = "EEG C4-REF"}).value;
  if (std::ssize(all) < kEegFirst + kEegCount)
    throw std::invalid_argument(
        fmt::format("{} has {} rows, {} are needed", path, all.size(), kEegFirst + kEegCount));
  Figure figure{"eeg",
                "Neonatal EEG",
                fs::path(path).filename().string() + ", channel C4, rows 2000 to 5999",
                "Vecchia stops at 100 neighbours: its cost grows with their square.",
                std::vector<double>(all.begin() + kEegFirst, all.begin() + kEegFirst + kEegCount),
                {10, 50, 100, 150, 170, 200, 300, 400},
                100};
  if (options.quick) {
    figure.values.resize(600);
    figure.sizes = {10, 50, 100};
    figure.note += " Quick: the first 600 values, two folds, three sizes.";
  }
  return run(figure, options);
}

}  // namespace bandgp
