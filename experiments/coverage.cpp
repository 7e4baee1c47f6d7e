// SPDX-License-Identifier: Apache-2.0
// Are the standard errors of fit() honest?  Simulates series from known parameters, fits each, and counts how
// often log θ ± 1.96 standard errors covers the truth.  Prints a Markdown table.
//   bandgp_coverage [SIMULATIONS] [SEED]
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>

#include "bandgp/fit/fit.hpp"
#include "bandgp/fit/parameters.hpp"
#include "support/simulate.hpp"

namespace {

using namespace bandgp;
using Values = std::vector<double>;

constexpr std::size_t kPoints = 1000;

struct Setting {
  double variance, lengthscale, noise;  // the mean gap is 1
  Values values() const { return {variance, lengthscale, noise}; }
};
constexpr Setting kSettings[] = {{1, 1.5, 0.01}, {1, 3, 0.1}, {1, 3, 1}, {1, 10, 0.1}, {1, 30, 0.1}};

/// Of one parameter in log scale, over all simulations.
struct Tally {
  int covered = 0;
  double sum = 0, square = 0, errors = 0;
  void add(double estimate, double truth, double error) {
    const double off = estimate - truth;
    covered += std::abs(off) <= 1.96 * error ? 1 : 0;
    sum += off;
    square += off * off;
    errors += error;
  }
};

struct Outcome {
  Tally of[3];
  int fits = 0, left_out = 0;  // left out: not converged, or no standard error
};

Outcome run(const Setting& setting, bool regular, int simulations, std::uint64_t seed) {
  Outcome outcome;
  support::Random random(seed);
  const Values truth = setting.values();
  for (int i = 0; i < simulations; ++i) {
    const Values time = support::gaps_of_one(random, kPoints, regular);
    Values value = support::draw_se(random, time, setting.variance, setting.lengthscale);
    support::add_noise(random, value, setting.noise);
    const FitResult result = fit(std::make_shared<const Series>(make_series(time, value)), FitOptions{});
    const Values estimate = parameter_values(result.model), &error = result.standard_errors;
    if (result.status != FitStatus::converged || !std::isfinite(error[0] + error[1] + error[2])) {
      ++outcome.left_out;
      continue;
    }
    ++outcome.fits;
    for (std::size_t p = 0; p < 3; ++p)
      outcome.of[p].add(std::log(estimate[p]), std::log(truth[p]), error[p] / estimate[p]);
  }
  return outcome;
}

/// One row: for variance, lengthscale, noise each the coverage, the bias and the ratio of two standard
/// errors.
void print(const Setting& setting, bool regular, const Outcome& outcome) {
  const double n = outcome.fits;
  std::string covered, bias, ratio;
  for (const Tally& tally : outcome.of) {
    const double mean = tally.sum / n, spread = std::sqrt(tally.square / n - mean * mean);
    covered += fmt::format(" {:.1f} % |", 100 * tally.covered / n);
    bias += fmt::format(" {:+.3f} ± {:.3f} |", mean, spread / std::sqrt(n));
    ratio += fmt::format(" {:.2f} |", tally.errors / n / spread);
  }
  fmt::print("| {} | {} | {} | {} |{}{}{} {} |\n", regular ? "regular" : "irregular", setting.variance,
             setting.lengthscale, setting.noise, covered, bias, ratio, outcome.left_out);
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  const std::span<char*> arguments(argv, static_cast<std::size_t>(argc));
  const int simulations = argc > 1 ? std::atoi(arguments[1]) : 400;
  std::uint64_t seed = argc > 2 ? std::strtoull(arguments[2], nullptr, 10) : 0;
  if (simulations < 1) {
    fmt::print(stderr, "usage: bandgp_coverage [SIMULATIONS] [SEED]\n");
    return 2;
  }
  fmt::print(
      "| sampling | σ² | ℓ | σₙ² | covered: log σ² | log ℓ | log σₙ² | bias: log σ² | log ℓ | log σₙ² "
      "| error/spread: log σ² | log ℓ | log σₙ² | left out |\n|{}\n",
      fmt::join(std::vector<std::string>(14, "---|"), ""));
  for (const bool regular : {true, false}) {
    for (const Setting& setting : kSettings)
      print(setting, regular, run(setting, regular, simulations, ++seed));
  }
}
