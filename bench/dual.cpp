// SPDX-License-Identifier: Apache-2.0
// One likelihood with gradient and certificate on irregular times, in the representation that `auto` takes,
// against one dpbtrf (k = 32) on the same n: the peer of the dual.
#include <benchmark/benchmark.h>

#include <cmath>

#include "bandgp/fit/fit.hpp"
#include "bandgp/methods/make_representation.hpp"
#include "support.hpp"

namespace {

using namespace bandgp;

constexpr Index kMillion = 1'000'000;

Series irregular_series(Index n) {
  return bench::irregular_series(n, [](double t) { return std::sin(0.01 * t) + std::sin(0.3 * t); });
}

void peer_dpbtrf(benchmark::State& state) { bench::dpbtrf(state, kMillion, 32); }

void measure(benchmark::State& state, const Kernel& kernel, Index n, Index threads, const Cut& cut) {
  const Series series = irregular_series(n);
  const Model model{kernel, 0.1, Mean::constant};
  Evaluator evaluator(series, model.mean, make_representation(to_internal(cut, series.units), 0, threads));
  const InternalModel internal = to_internal(model, series.units);
  Likelihood likelihood;
  if (evaluator.evaluate(internal, true, likelihood)) state.SkipWithError("rejected");  // takes the memory
  for (auto _ : state) {
    if (evaluator.evaluate(internal, true, likelihood)) state.SkipWithError("rejected");
  }
  state.SetLabel(std::string(likelihood.method));
}

/// ℓ/δ in tenths.
void nll_auto(benchmark::State& state) {
  Kernel kernel = "1*se(lengthscale=1)";
  kernel.terms[0].lengthscale = 0.1 * static_cast<double>(state.range(0));
  measure(state, kernel, state.range(1), state.range(2), {});
}

void nll_sum(benchmark::State& state) {
  const char* kernels[] = {"1*se(lengthscale=20) + 1*matern12(lengthscale=500)",
                           "1*se(lengthscale=200) + 1*matern12(lengthscale=2)",
                           "1*se(lengthscale=30) + 1*matern32(lengthscale=10000)",
                           "1*se(lengthscale=200) + 1*se(lengthscale=10)"};
  measure(state, kernels[state.range(0)], kMillion, 1, {});
}

/// ℓ/δ = 100, where a band needs hundreds of neighbours.
void nll_wide(benchmark::State& state, Method method) {
  measure(state, "1*se(lengthscale=100)", 20'000, 1, {.method = method});
}

/// A whole fit, from nothing to the optimum; standard errors not counted.
void fit_million(benchmark::State& state) {
  const auto series = std::make_shared<const Series>(irregular_series(kMillion));
  FitOptions options;
  options.standard_errors = false;
  for (auto _ : state) benchmark::DoNotOptimize(fit(series, options));
}

BENCHMARK(peer_dpbtrf)->Unit(benchmark::kMillisecond);
BENCHMARK(nll_auto)
    ->ArgNames({"tenths", "n", "threads"})
    ->ArgsProduct({{5, 10, 20, 30, 50, 100, 200, 1000, 10000}, {kMillion}, {1}})
    ->Args({1000, 100'000, 1})
    ->Args({1000, 10'000'000, 1})
    ->Args({1000, kMillion, 2})
    ->Args({200, kMillion, 2})
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK(nll_sum)->ArgName("kernel")->DenseRange(0, 3)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(nll_wide, band, Method::band)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(nll_wide, dual, Method::dual)->Unit(benchmark::kMillisecond);
BENCHMARK(fit_million)->Unit(benchmark::kMillisecond);

}  // namespace
