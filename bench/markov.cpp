// SPDX-License-Identifier: Apache-2.0
// Matérn terms in the filter: one likelihood with gradient at a million irregular times, and as many
// predictions with variance.  tools/bench_celerite2.py sets them against celerite2.
#include <benchmark/benchmark.h>

#include <cmath>

#include "bandgp/gp/posterior.hpp"
#include "bandgp/methods/make_representation.hpp"
#include "support.hpp"

namespace {

using namespace bandgp;

constexpr Index kMillion = 1'000'000;
constexpr const char* kKernels[] = {
    "1*matern12(lengthscale=10)", "1*matern32(lengthscale=10)", "1*matern52(lengthscale=10)",
    "1*matern12(lengthscale=2) + 1*matern32(lengthscale=50)",
    "1*matern12(lengthscale=2) + 1*matern32(lengthscale=50) + 1*matern52(lengthscale=500)"};

Series irregular_series() {
  return bench::irregular_series(kMillion, [](double t) { return std::sin(0.01 * t) + std::sin(0.3 * t); });
}

void nll_markov(benchmark::State& state) {
  const Series series = irregular_series();
  const Model model{kKernels[state.range(0)], 0.1, Mean::constant};
  Evaluator evaluator(series, model.mean, make_representation({}, 0, state.range(1)));
  const InternalModel internal = to_internal(model, series.units);
  Likelihood likelihood;
  if (evaluator.evaluate(internal, true, likelihood)) state.SkipWithError("rejected");  // takes the memory
  for (auto _ : state) {
    if (evaluator.evaluate(internal, true, likelihood)) state.SkipWithError("rejected");
  }
  state.SetLabel(std::string(likelihood.method));
}

void predict_markov_million(benchmark::State& state) {
  const auto series = std::make_shared<const Series>(irregular_series());
  Posterior posterior(series, {kKernels[state.range(0)], 0.1, Mean::constant}, make_representation({}, 0));
  std::vector<double> times(static_cast<std::size_t>(kMillion));
  const double first = series->report.first_time, step = series->report.span / static_cast<double>(kMillion);
  for (std::size_t t = 0; t < times.size(); ++t) times[t] = first + step * static_cast<double>(t);
  for (auto _ : state) benchmark::DoNotOptimize(posterior.predict(times));
}

BENCHMARK(nll_markov)
    ->ArgNames({"kernel", "threads"})
    ->ArgsProduct({{0, 1, 2, 3, 4}, {1, 2}})
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK(predict_markov_million)
    ->ArgNames({"kernel"})
    ->DenseRange(0, 1)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

}  // namespace
