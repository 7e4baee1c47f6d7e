// SPDX-License-Identifier: Apache-2.0
#include "bandgp/cli/options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>
#include <thread>

#include "bandgp/base/quote.hpp"
#include "bandgp/cli/numbers.hpp"
#include "bandgp/io/csv.hpp"
#include "bandgp/io/cut_name.hpp"

namespace bandgp::cli {
namespace {

[[noreturn]] void refuse(const std::string& what) { throw std::invalid_argument(what); }

}  // namespace

CLI::Option* add_data_flags(CLI::App& command, DataFlags& flags, const char* name) {
  auto* file =
      command.add_option(name, flags.file, "table of numbers, one observation a line; - is standard input");
  command.add_option("--x", flags.x, "column of times, by name or number from 1 (default: the first)")
      ->type_name("COL");
  command.add_option("--y", flags.y, "column of values (default: the second)")->type_name("COL");
  command.add_option("--yerr", flags.yerr, "column of known standard errors (default: none)")
      ->type_name("COL");
  command.add_option("--step", flags.step, "spacing of the values where there is no column of times")
      ->type_name("D");
  command.add_option("--thin", flags.thin, "drop points closer than this to the point before")
      ->type_name("D");
  command.add_flag("--skip-bad", flags.skip_bad, "drop malformed lines and count them");
  return file->type_name(" ");
}

void add_kernel_flags(CLI::App& command, ModelFlags& flags) {
  command.add_option("--kernel", flags.kernel, "sum of terms, such as \"se + matern12\" (default: se)")
      ->type_name("TEXT");
  command.add_option("--mean", flags.mean, "zero, constant (default) or linear")->type_name("NAME");
}

void add_parameter_flags(CLI::App& command, ModelFlags& flags) {
  command.add_option("--variance", flags.variance, "variance of the curve, for a kernel of one term")
      ->type_name("V");
  command.add_option("--lengthscale", flags.lengthscale, "its length-scale, in units of time")
      ->type_name("L");
  command.add_option("--noise", flags.noise, "variance of the noise (0 only with --yerr)")->type_name("S");
}

void add_tolerance_flag(CLI::App& command, CutFlags& flags) {
  command
      .add_option("--tolerance", flags.tolerance,
                  "distance from the exact NLL that is allowed (default: 0.01; fit ends at 1e-5 or less)")
      ->type_name("NATS");
}

void add_cut_flags(CLI::App& command, CutFlags& flags) {
  command
      .add_option("--bandwidth", flags.bandwidth,
                  "auto (what --tolerance needs; default), corollary, theorem, lemma or a number")
      ->type_name("K");
  command.add_option("--reach", flags.reach, "keep the covariance of points closer than this instead")
      ->type_name("R");
  add_tolerance_flag(command, flags);
}

void add_common_flags(CLI::App& command, CommonFlags& flags) {
  command
      .add_option("--method", flags.method,
                  "auto (the cheaper at each step of training; default), band or dual")
      ->type_name("NAME");
  command
      .add_option("--threads", flags.threads,
                  "number of threads, of which up to two are used (default: one for each processor)")
      ->type_name("N");
  command.add_option("--seed", flags.seed, "seed of whatever is drawn at random")->type_name("N");
  command.add_flag("--json", flags.json, "print JSON");
  command.add_flag("--quiet", flags.quiet, "no progress, no remarks");
}

void check(const CommonFlags& flags) {
  constexpr std::array<std::string_view, 5> kLater{"exact", "fitc", "vfe", "taper", "vecchia"};
  if (std::ranges::find(kLater, flags.method) != kLater.end()) {
    refuse(fmt::format("--method {} is not available yet", flags.method));
  }
  if (flags.method != "auto" && flags.method != "band" && flags.method != "dual") {
    refuse(fmt::format("--method is auto, band or dual, not {}", quote(flags.method)));
  }
  if (flags.seed) whole_number("--seed", *flags.seed);
  thread_count(flags);
}

Index thread_count(const CommonFlags& flags) {
  if (!flags.threads) return std::max(1U, std::thread::hardware_concurrency());
  const Index threads = whole_number("--threads", *flags.threads);
  if (threads == 0) refuse("--threads is 0, must be positive");
  return threads;
}

Input read_input(const DataFlags& flags, Mean mean) {
  CsvOptions csv{flags.x, flags.y, flags.yerr, 0, flags.skip_bad};
  if (flags.step) csv.step = positive_number("--step", *flags.step);
  SeriesOptions options{.center = mean != Mean::zero};
  if (flags.thin) options.thin = positive_number("--thin", *flags.thin);
  const Table table = read_csv(flags.file, csv);
  Input input{nullptr, flags.file == "-" ? "standard input" : flags.file, table.time_name, table.value_name,
              table.bad_lines};
  try {
    input.series =
        std::make_shared<const Series>(make_series(table.time, table.value, table.variance, options));
  } catch (const std::invalid_argument& error) {
    refuse(fmt::format("{}: {}", input.name, error.what()));
  }
  return input;
}

Model given_model(const ModelFlags& flags) {
  Model model{parse_kernel(flags.kernel), kUnset, parse_mean(flags.mean)};
  const auto set = [&](const std::string& flag, const Text& text, double Term::*member) {
    if (!text) return;
    if (model.kernel.terms.size() != 1) refuse(flag + " is for a kernel of one term; write it into --kernel");
    double& value = model.kernel.terms[0].*member;
    if (!std::isnan(value)) refuse(flag + " is given twice: in --kernel as well");
    value = positive_number(flag, *text);
  };
  set("--variance", flags.variance, &Term::variance);
  set("--lengthscale", flags.lengthscale, &Term::lengthscale);
  const std::vector<std::string> names = parameter_names(model.kernel);
  for (std::size_t i = 0; i + 1 < names.size(); ++i) {
    const Term& term = model.kernel.terms[i / 2];
    if (!std::isnan(i % 2 == 0 ? term.variance : term.lengthscale)) continue;
    refuse(fmt::format("{} has no value: give it in --kernel{}", names[i],
                       names.size() == 3 ? " or by --" + names[i] : ""));
  }
  if (!flags.noise) refuse("noise has no value: give it by --noise (a variance)");
  model.noise = finite_number("--noise", *flags.noise);
  if (model.noise < 0)
    refuse(fmt::format("--noise is {}, must be a variance, finite and positive", model.noise));
  return model;
}

void require_usable(const Model& model, const Series& series) {
  require_valid(model, series);
  const Model internal = to_internal(model, series.units);
  bool usable = model.noise == 0 || std::isnormal(internal.noise);
  for (const Term& term : internal.kernel.terms) {
    usable = usable && std::isnormal(term.variance) && std::isnormal(term.lengthscale) &&
             std::isnormal(1 / term.lengthscale);
  }
  if (!usable) refuse("the parameters are too far from the size of the data to compute with");
}

double given_tolerance(const CutFlags& flags) {
  return flags.tolerance ? positive_number("--tolerance", *flags.tolerance) : Cut{}.tolerance;
}

Cut given_cut(const CutFlags& flags, const CommonFlags& common, const Kernel& kernel) {
  Cut cut{.method = parse_method(common.method), .tolerance = given_tolerance(flags)};
  const bool fixed = flags.reach || flags.bandwidth != "auto";
  if (cut.method == Method::dual && fixed)
    refuse("--method dual has no --bandwidth or --reach: they are for the band");
  if (flags.reach) {
    if (flags.bandwidth != "auto") refuse("--reach and --bandwidth are given; only one of them can hold");
    cut.rule = Cut::Rule::reach;
    cut.reach = positive_number("--reach", *flags.reach);
  } else if (flags.bandwidth == "corollary" || flags.bandwidth == "theorem" || flags.bandwidth == "lemma") {
    cut.rule = *parse_cut(flags.bandwidth);
    if (cut.rule != Cut::Rule::lemma && !kernel.is_single_se()) {
      refuse(fmt::format("--bandwidth {} is a rule for the kernel se alone", flags.bandwidth));
    }
  } else if (flags.bandwidth != "auto") {
    if (flags.bandwidth.find_first_of("0123456789") == std::string::npos) {
      refuse(fmt::format("--bandwidth is auto, corollary, theorem, lemma or a number, not {}",
                         quote(flags.bandwidth)));
    }
    cut.rule = Cut::Rule::bandwidth;
    cut.bandwidth = whole_number("--bandwidth", flags.bandwidth);
  }
  return cut;
}

}  // namespace bandgp::cli
