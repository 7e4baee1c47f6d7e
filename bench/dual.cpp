// SPDX-License-Identifier: Apache-2.0
// One likelihood with gradient and certificate on irregular times, in the representation that `auto` takes,
// against one dpbtrf (k = 32) on the same n: the peer of the dual.
#include <benchmark/benchmark.h>

#include <cmath>
#include <random>

#include "bandgp/fit/fit.hpp"

extern "C" void dpbtrf_(const char* uplo, const int* n, const int* k, double* ab, const int* ld, int* info);

namespace {

using namespace bandgp;

constexpr Index kMillion = 1'000'000;

Series irregular_series(Index n) {
  std::mt19937_64 generator(1);
  std::uniform_real_distribution<double> gap(0.5, 1.5);
  std::normal_distribution<double> normal;
  std::vector<double> time, value;
  double t = 0;
  for (Index i = 0; i < n; ++i) {
    time.push_back(t += gap(generator));
    value.push_back(std::sin(0.01 * t) + std::sin(0.3 * t) + 0.3 * normal(generator));
  }
  return make_series(time, value);
}

void peer_dpbtrf(benchmark::State& state) {
  const int n = static_cast<int>(kMillion), k = 32, ld = k + 1;
  AlignedBuffer ab;
  ab.reserve(Index{n} * ld);
  for (auto _ : state) {
    state.PauseTiming();
    for (Index j = 0; j < n; ++j) {
      for (Index lag = 0; lag <= k; ++lag) {
        const double r = 6.0 * static_cast<double>(lag) / k;
        ab.data()[j * ld + lag] = lag == 0 ? 1.5 : 0.5 * std::exp(-0.5 * r * r);
      }
    }
    state.ResumeTiming();
    int info = 0;
    dpbtrf_("L", &n, &k, ab.data(), &ld, &info);
    if (info != 0) state.SkipWithError("dpbtrf failed");
  }
}

void evaluate_auto(benchmark::State& state, const Kernel& kernel, Index n, Index threads) {
  const Series series = irregular_series(n);
  const Model model{kernel, 0.1, Mean::constant};
  Evaluator evaluator(series, model.mean, std::make_unique<AutoRepresentation>(Cut{}, 0, threads));
  const Model internal = to_internal(model, series.units);
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
  evaluate_auto(state, kernel, state.range(1), state.range(2));
}

void nll_sum(benchmark::State& state) {
  const char* kernels[] = {"1*se(lengthscale=200) + 1*se(lengthscale=2)",
                           "1*se(lengthscale=200) + 1*matern12(lengthscale=2)", "1*matern12(lengthscale=2)"};
  evaluate_auto(state, kernels[state.range(0)], kMillion, 1);
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
BENCHMARK(nll_sum)->ArgName("kernel")->Arg(0)->Arg(1)->Arg(2)->Unit(benchmark::kMillisecond);
BENCHMARK(fit_million)->Unit(benchmark::kMillisecond);

}  // namespace
