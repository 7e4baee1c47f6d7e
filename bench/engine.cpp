// SPDX-License-Identifier: Apache-2.0
// The band engine against LAPACK and against this machine's dgemm, in one process and on one thread.
// `./dev bench` runs it and prints the ratios; seconds mean nothing on a shared machine, ratios within a run
// do.
#include <benchmark/benchmark.h>

#include <cmath>
#include <vector>

#include "bandgp/band/cholesky.hpp"
#include "bandgp/band/selected_inverse.hpp"
#include "bandgp/band/solve.hpp"
#include "bandgp/fit/fit.hpp"
#include "support.hpp"

extern "C" {
void dgemm_(const char* ta, const char* tb, const int* m, const int* n, const int* k, const double* alpha,
            const double* a, const int* lda, const double* b, const int* ldb, const double* beta, double* c,
            const int* ldc);
}

namespace {

using namespace bandgp;

constexpr Index kRows = 200'000;

double cholesky_flops(Index n, Index k) {
  return static_cast<double>(n) * (static_cast<double>(k * k) + 3.0 * static_cast<double>(k) + 1.0);
}

void fill(PanelBand& matrix, Index k) {
  const Envelope& envelope = matrix.envelope();
  std::vector<double> values(static_cast<std::size_t>(k) + 1);
  for (Index lag = 0; lag <= k; ++lag) values[static_cast<std::size_t>(lag)] = bench::entry(lag, k);
  for (Index p = 0; p < envelope.panels(); ++p) {
    for (Index c = envelope.panel_first()[p]; c < 8 * (p + 1); ++c) {
      for (Index r = 0; r < 8; ++r) {
        const Index i = 8 * p + r;
        matrix.column(p, c)[r] = c > i || i - c > k ? 0 : values[static_cast<std::size_t>(i - c)];
      }
    }
  }
}

void dgemm(benchmark::State& state) {
  const int n = 1000;
  const double one = 1, zero = 0;
  std::vector<double> a(std::size_t{n} * n, 1.1), b(a), c(a);
  for (auto _ : state) dgemm_("N", "N", &n, &n, &n, &one, a.data(), &n, b.data(), &n, &zero, c.data(), &n);
  state.counters["flops"] =
      benchmark::Counter(2.0 * n * n * n, benchmark::Counter::kIsIterationInvariantRate);
}

void dpbtrf(benchmark::State& state) {
  const Index k = state.range(0);
  bench::dpbtrf(state, kRows, k);
  state.counters["flops"] =
      benchmark::Counter(cholesky_flops(kRows, k), benchmark::Counter::kIsIterationInvariantRate);
}

void cholesky(benchmark::State& state) {
  const Index k = state.range(0);
  Envelope envelope;
  envelope.keep_band(kRows, k);
  PanelBand matrix;
  matrix.shape(envelope);
  for (auto _ : state) {
    state.PauseTiming();
    fill(matrix, k);
    state.ResumeTiming();
    if (factorize(matrix, matrix.all())) state.SkipWithError("not positive definite");
  }
  state.counters["flops"] =
      benchmark::Counter(cholesky_flops(kRows, k), benchmark::Counter::kIsIterationInvariantRate);
}

void selected_inverse(benchmark::State& state) {
  const Index k = state.range(0);
  Envelope envelope;
  envelope.keep_band(kRows, k);
  PanelBand matrix;
  matrix.shape(envelope);
  SelectedInverse inversion;
  for (auto _ : state) {
    state.PauseTiming();
    fill(matrix, k);
    if (factorize(matrix, matrix.all())) state.SkipWithError("not positive definite");
    inversion.start(matrix, matrix);
    state.ResumeTiming();
    inversion.run(matrix.all());
  }
}

/// An SE model on these has a widest row of about 7.5 length-scales.
Series irregular_series(Index n) {
  return bench::irregular_series(n, [](double t) { return std::sin(0.2 * t); });
}

void nll_with_gradient(benchmark::State& state) {
  const Index k = state.range(0), n = state.range(1);
  const Series series = irregular_series(n);
  Model model{parse_kernel("1*se"), 0.1, Mean::constant};
  model.kernel.terms[0].lengthscale = static_cast<double>(k) / 7.5;
  InternalCut cut;
  cut.rule = CutRule::bandwidth;
  cut.bandwidth = k;
  Evaluator evaluator(series, model.mean, std::make_unique<BandRepresentation>(cut, 0));
  const InternalModel internal = to_internal(model, series.units);
  Likelihood likelihood;
  if (evaluator.evaluate(internal, true, likelihood)) state.SkipWithError("rejected");  // takes the memory
  for (auto _ : state) {
    if (evaluator.evaluate(internal, true, likelihood)) state.SkipWithError("rejected");
  }
  state.counters["rho"] = likelihood.certificate.rho.value();
}

/// The same with the cut chosen by the tolerance: choice, row sums and certificate included.
void nll_with_gradient_certified(benchmark::State& state) {
  const Series series = irregular_series(state.range(1));
  Model model{parse_kernel("1*se"), 0.1, Mean::constant};
  model.kernel.terms[0].lengthscale = static_cast<double>(state.range(0)) / 7.5;
  Evaluator evaluator(series, model.mean, std::make_unique<BandRepresentation>(InternalCut{}, 0));
  const InternalModel internal = to_internal(model, series.units);
  Likelihood likelihood;
  if (evaluator.evaluate(internal, true, likelihood)) state.SkipWithError("rejected");  // takes the memory
  for (auto _ : state) {
    if (evaluator.evaluate(internal, true, likelihood)) state.SkipWithError("rejected");
  }
  state.counters["bandwidth"] = static_cast<double>(likelihood.bandwidth);
}

/// What lemma and tolerance cost alone.
void choose_cut(benchmark::State& state) {
  const Series series = irregular_series(kRows);
  Model model{parse_kernel("1*se"), 0.1, Mean::constant};
  model.kernel.terms[0].lengthscale = static_cast<double>(state.range(0)) / 7.5;
  const InternalModel internal = to_internal(model, series.units);
  Observations points(series);
  points.at(internal.noise);
  InternalCut cut;
  if (state.range(1) == 1) cut.rule = CutRule::lemma;
  BandRepresentation band(cut, 0);
  for (auto _ : state) benchmark::DoNotOptimize(band.cost(internal.kernel, points, 1e6));
}

/// A million predictions with variances, from a posterior on a million points that is there already.
void predict_million(benchmark::State& state) {
  const auto series = std::make_shared<const Series>(irregular_series(1'000'000));
  Model model{parse_kernel("1*se"), 0.1, Mean::constant};
  model.kernel.terms[0].lengthscale = 32 / 7.5;
  std::vector<double> at(1'000'000);
  for (std::size_t i = 0; i < at.size(); ++i) at[i] = static_cast<double>(i) + 0.3;
  Posterior posterior(series, model, std::make_unique<BandRepresentation>(InternalCut{}, 0));
  for (auto _ : state) benchmark::DoNotOptimize(posterior.predict(at));
}

BENCHMARK(dgemm)->Unit(benchmark::kMillisecond);
BENCHMARK(dpbtrf)->ArgName("k")->Arg(16)->Arg(32)->Arg(64)->Arg(128)->Arg(256)->Unit(benchmark::kMillisecond);
BENCHMARK(cholesky)->ArgName("k")->Arg(16)->Arg(32)->Arg(64)->Arg(128)->Arg(256)->Unit(
    benchmark::kMillisecond);
BENCHMARK(selected_inverse)
    ->ArgName("k")
    ->Arg(32)
    ->Arg(64)
    ->Arg(128)
    ->Arg(256)
    ->Unit(benchmark::kMillisecond);
BENCHMARK(nll_with_gradient)
    ->ArgNames({"k", "n"})
    ->Args({32, kRows})
    ->Args({64, kRows})
    ->Args({32, 100'000})
    ->Args({32, 1'000'000})
    ->Unit(benchmark::kMillisecond);
BENCHMARK(nll_with_gradient_certified)
    ->ArgNames({"k", "n"})
    ->Args({32, kRows})
    ->Args({32, 1'000'000})
    ->Unit(benchmark::kMillisecond);
BENCHMARK(choose_cut)
    ->ArgNames({"k", "lemma"})
    ->Args({32, 0})
    ->Args({32, 1})
    ->Args({64, 0})
    ->Args({64, 1})
    ->Unit(benchmark::kMillisecond);
BENCHMARK(predict_million)->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
