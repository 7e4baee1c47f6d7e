// SPDX-License-Identifier: Apache-2.0
// Does fit() end at the best optimum that can be found?  Fits simulated and real series, then searches each
// with random starts, and tells how far above the best NLL found the fit ended.  One CSV line a fit.
//   bandgp_optima simulated [--from I] [--to J] [--starts K] [--kernel TEXT]
//   bandgp_optima series    [--from I] [--to J] [--starts K] [--kernel TEXT] [--points N]
// Problems are numbered, and each depends on its number alone: a run can be split and continued.  The real
// series are those of the folder BANDGP_DATA.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "bandgp/fit/fit.hpp"
#include "bandgp/fit/parameters.hpp"
#include "bandgp/gp/simulate.hpp"
#include "bandgp/io/read_table.hpp"
#include "support/dense_fit.hpp"
#include "support/random.hpp"

namespace {

using namespace bandgp;
using support::Random;

const std::vector<std::string> kKernels = {"se",      "matern12",      "matern32",
                                           "se + se", "se + matern12", "matern12 + matern32"};

struct Arguments {
  int from = 0, to = 300, starts = 30;
  Index points = 6000;
  std::string kernel;  // empty: all
};

struct Problem {
  std::string name, kernel;
  double noise_ratio = kUnset;  // standard deviation of the noise over that of the signal, where it is known
  Table table;
};

/// Problem `number`: every kernel in turn, lengths 200 … 600, regular or not, noise 1e-6 … 1 of the signal.
Problem simulated(int number) {
  Random random(1000 + static_cast<std::uint64_t>(number));
  Problem problem;
  problem.kernel = kKernels[static_cast<std::size_t>(number) % kKernels.size()];
  const Index n = random.integer(200, 600);
  const bool irregular = random.chance(0.5);
  problem.noise_ratio = random.log_uniform(1e-6, 1);
  Kernel kernel = parse_kernel(problem.kernel);
  double variance = 1;
  for (Term& term : kernel.terms) {
    term.variance = variance;
    term.lengthscale = random.log_uniform(1, static_cast<double>(n) / 8);
    variance = random.log_uniform(1e-2, 1);
  }
  problem.name = fmt::format("{} {} n={}", to_text(kernel), irregular ? "irregular" : "regular", n);
  const auto seed = static_cast<std::uint64_t>(number);
  problem.table.time = simulate_times(n, 1, 0, irregular, seed);
  const double noise = problem.noise_ratio * problem.noise_ratio * kernel.variance();
  problem.table.value = bandgp::simulate(kernel, noise, problem.table.time, seed);
  return problem;
}

struct RealSeries {
  const char* file;
  ReadOptions options;
};
const RealSeries kSeries[] = {
    {"sunspots/sunspots_3315_1749-01_2025-03.csv", {.x = "decyear", .y = "SN"}},
    {"lightcurves/kplr001430163-2010355172524_llc.csv", {.x = "1", .y = "2"}},
    {"lightcurves/kplr001430163-2010355172524_llc.csv", {.x = "1", .y = "2", .yerr = "3"}},
    {"lightcurves/9651065_lc.txt", {.x = "1", .y = "2"}},
    {"lightcurves/carma_pack_OGLE-LMC-LPV-00007.dat", {.x = "1", .y = "2", .yerr = "3"}},
    {"lightcurves/carma_pack_OGLE-LMC-LPV-00007.dat", {.x = "1", .y = "2"}},
    {"co2/statsmodels_co2_weekly.csv", {.x = "date", .y = "co2"}},
    {"co2/co2-ppm-daily.csv", {.x = "date", .y = "value"}},
    {"heating/tsHeating.csv.gz", {.x = "minute", .y = "with_gaps"}},
    {"ecg/mitbih100_mV.csv.gz", {.x = "time_s", .y = "MLII_mV"}},
    {"ecg/mitbih100_mV.csv.gz", {.x = "time_s", .y = "V5_mV"}},
    {"electricity/PJME_hourly.csv", {.x = "Datetime", .y = "PJME_MW", .time_format = "%d-%m-%Y %H:%M"}},
    {"glucose/CGM.csv", {.x = "datetime", .y = "glucose"}},
    {"eeg/helsinki_eeg1_30s.csv.gz", {.x = "time", .y = "EEG Fp1-REF"}},
    {"eeg/helsinki_eeg36_30s.csv.gz", {.x = "time", .y = "EEG C3-REF"}},
    {"eeg/helsinki_eeg36_30s.csv.gz", {.x = "time", .y = "EEG O1-REF"}},
    {"eeg/helsinki_eeg70_30s.csv.gz", {.x = "time", .y = "EEG Cz-Ref"}},
    {"gp_reference/george_scaling_first2000_xy.csv", {.x = "1", .y = "2"}},
    {"gp_reference/gpml_simple_xy.csv", {.x = "x", .y = "y"}},
    {"gp_reference/gpml_demoRegression_xy.csv", {.x = "x", .y = "y"}},
};

void keep_first(Table& table, Index points) {
  const auto keep = static_cast<std::size_t>(points);
  if (table.time.size() <= keep) return;
  table.time.resize(keep);
  table.value.resize(keep);
  if (!table.variance.empty()) table.variance.resize(keep);
}

/// The NLL in long double, where the series is short enough: what decides where double precision is the
/// limit.
double dense_nll(const FitResult& fit) {
  const Series& series = *fit.series;
  return series.size() > 700 || series.has_ties() ? kUnset : support::dense_nll(series, fit.model);
}

/// A start anywhere that the data could mean: length-scales from half a gap to the span, noise from 1e-14 of
/// the variance (of long series, where hardly any noise means a full matrix, 1e-7) to all of it.
std::map<std::string, double> random_start(Random& random, const Kernel& kernel, const Series& series) {
  double variance = 0;
  for (const double y : series.value)
    variance +=
        y * y / static_cast<double>(series.value.size()) * series.units.value_unit * series.units.value_unit;
  const Model model{kernel};
  std::map<std::string, double> start;
  for (const auto& parameter : parameters(model)) {
    if (parameter.kind == &noise_parameter()) {
      const double least = series.size() > 1000 ? 1e-7 : 1e-14;
      start[parameter.name] = variance * random.log_uniform(random.chance(0.5) ? least : 1e-4, 1);
    } else if (parameter.kind->unit == Unit::variance) {
      start[parameter.name] = variance * random.log_uniform(1e-4, 10);
    } else {
      start[parameter.name] = random.log_uniform(0.5 * series.report.mean_gap, series.report.span);
    }
  }
  return start;
}

/// Fits, searches, prints; returns how far the fit ended above the best, in nats.
double run(int number, const Problem& problem, const Arguments& arguments) {
  const auto series = std::make_shared<const Series>(make_series(problem.table));
  FitOptions options;
  options.kernel = parse_kernel(problem.kernel);
  const FitResult found = fit(series, options);
  FitResult best = found;
  options.standard_errors = false;
  Random random(5000 + static_cast<std::uint64_t>(number));
  int better = 0;
  for (int start = 0; start < arguments.starts; ++start) {
    options.init = random_start(random, options.kernel, *series);
    const FitResult other = fit(series, options);
    better += other.nll < found.nll - 0.1 ? 1 : 0;
    if (other.nll < best.nll) best = other;
  }
  // Where rounding is the limit the NLLs of double precision cannot be compared.
  double nll = found.nll, least = best.nll;
  if (std::max(found.rounding, best.rounding) > 1e-3 && std::isfinite(dense_nll(found))) {
    nll = dense_nll(found);
    least = std::min(nll, dense_nll(best));
  }
  const double largest =
      std::abs(*std::ranges::max_element(found.gradient, {}, [](double g) { return std::abs(g); }));
  fmt::print(
      "{},\"{}\",\"{}\",{:.2g},{},{},{:.3f},{:.3f},{:.4f},{},{},{:.3f},{:.2g},{:.2g},\"{} noise "
      "{:.3g}\",\"{} noise {:.3g}\"\n",
      number, problem.kernel, problem.name, problem.noise_ratio, series->size(), status_name(found.status),
      nll, least, nll - least, better, found.evaluations, found.seconds, found.rounding, largest,
      to_text(found.model.kernel), found.model.noise, to_text(best.model.kernel), best.model.noise);
  std::fflush(stdout);
  return nll - least;
}

int usage() {
  fmt::print(stderr,
             "usage: bandgp_optima simulated|series [--from I] [--to J] [--starts K] [--kernel TEXT] "
             "[--points N]\n");
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (words.empty() || words.size() % 2 == 0) return usage();
  Arguments arguments;
  for (std::size_t i = 1; i + 1 < words.size(); i += 2) {
    const std::string& value = words[i + 1];
    if (words[i] == "--from")
      arguments.from = std::stoi(value);
    else if (words[i] == "--to")
      arguments.to = std::stoi(value);
    else if (words[i] == "--starts")
      arguments.starts = std::stoi(value);
    else if (words[i] == "--points")
      arguments.points = std::stoi(value);
    else if (words[i] == "--kernel")
      arguments.kernel = value;
    else
      return usage();
  }
  fmt::print(
      "number,kernel,problem,noise_ratio,n,status,nll,best,excess,better_starts,evaluations,seconds,rounding,"
      "largest_gradient,found,best_found\n");
  int fits = 0, above = 0;
  const auto count = [&](double excess) {
    ++fits;
    above += excess > 0.1 ? 1 : 0;
  };
  if (words[0] == "simulated") {
    for (int number = arguments.from; number < arguments.to; ++number) {
      const Problem problem = simulated(number);
      if (arguments.kernel.empty() || problem.kernel == arguments.kernel)
        count(run(number, problem, arguments));
    }
  } else if (words[0] == "series") {
    const char* folder = std::getenv("BANDGP_DATA");
    if (folder == nullptr) {
      fmt::print("skipped: no data, BANDGP_DATA is not set\n");
      return 0;
    }
    const int last = std::min(arguments.to, static_cast<int>(std::size(kSeries) * kKernels.size()));
    for (int number = arguments.from; number < last; ++number) {
      const RealSeries& source = kSeries[static_cast<std::size_t>(number) / kKernels.size()];
      Problem problem;
      problem.kernel = kKernels[static_cast<std::size_t>(number) % kKernels.size()];
      if (!arguments.kernel.empty() && problem.kernel != arguments.kernel) continue;
      const auto path = std::filesystem::path(folder) / source.file;
      if (!std::filesystem::exists(path)) {
        fmt::print("skipped: no data at {}\n", path.string());
        continue;
      }
      problem.name = fmt::format("{} {}", path.filename().string(), source.options.y);
      problem.table = read_table(path, source.options);
      keep_first(problem.table, arguments.points);
      count(run(number, problem, arguments));
    }
  } else {
    return usage();
  }
  fmt::print("# {} of {} fits end more than 0.1 nats above the best found\n", above, fits);
}
