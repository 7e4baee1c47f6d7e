// SPDX-License-Identifier: Apache-2.0
// Training on one fold of the sunspots (n = 2652) from the same start to the same optimum, each method in its
// own matrix: what the paper is about.  Needs the data folder.
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <filesystem>

#include "bandgp/experiments/choice.hpp"
#include "bandgp/fit/cross_validate.hpp"
#include "bandgp/io/read_table.hpp"

namespace {

using namespace bandgp;

/// The training part of the first of five folds; times are row numbers.  Empty: no data.
Table sunspot_fold() {
  const char* folder = std::getenv("BANDGP_DATA");
  const std::filesystem::path path =
      std::filesystem::path(folder == nullptr ? "" : folder) / "sunspots/sunspots_3315_1749-01_2025-03.csv";
  if (!std::filesystem::exists(path)) return {};
  Table table = read_table(path.string(), {.x = "decyear", .y = "SN"});
  for (std::size_t i = 0; i < table.time.size(); ++i) table.time[i] = static_cast<double>(i);
  return rows_of(table, make_folds(std::ssize(table.time), 5, FoldScheme::shuffled, 0)[0].train);
}

void train(benchmark::State& state, const char* method) {
  const Table table = sunspot_fold();
  if (table.time.empty()) {
    state.SkipWithError("no sunspots in BANDGP_DATA");
    return;
  }
  double mean = 0, square = 0;
  for (const double y : table.value) mean += y / static_cast<double>(table.value.size());
  for (const double y : table.value)
    square += (y - mean) * (y - mean) / static_cast<double>(table.value.size());
  FitOptions options;
  options.cut = parse_choice(method, options.kernel).cut();
  options.standard_errors = false;
  options.own_search = true;
  options.init = {{"variance", 0.5 * square}, {"lengthscale", 1.5}, {"noise", 0.5 * square}};
  double nll = 0;
  for (auto _ : state) nll = fit(table, options).nll;
  state.counters["nll"] = nll;
}

BENCHMARK_CAPTURE(train, exact, "exact")->Unit(benchmark::kMillisecond)->Iterations(1)->Repetitions(3);
BENCHMARK_CAPTURE(train, band, "band")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(train, dual, "dual")->Unit(benchmark::kMillisecond);
// Those whose NMSE comes within 10 % of the exact GP's (docs/paper.md), and one that does not.
BENCHMARK_CAPTURE(train, fitc_100, "fitc:100")->Unit(benchmark::kMillisecond)->Iterations(1)->Repetitions(3);
BENCHMARK_CAPTURE(train, fitc_150, "fitc:150")->Unit(benchmark::kMillisecond)->Iterations(1)->Repetitions(3);
BENCHMARK_CAPTURE(train, fitc_200, "fitc:200")->Unit(benchmark::kMillisecond)->Iterations(1)->Repetitions(3);
BENCHMARK_CAPTURE(train, vfe_100, "vfe:100")->Unit(benchmark::kMillisecond)->Iterations(1)->Repetitions(3);
BENCHMARK_CAPTURE(train, vfe_150, "vfe:150")->Unit(benchmark::kMillisecond)->Iterations(1)->Repetitions(3);
BENCHMARK_CAPTURE(train, vfe_200, "vfe:200")->Unit(benchmark::kMillisecond)->Iterations(1)->Repetitions(3);

}  // namespace
