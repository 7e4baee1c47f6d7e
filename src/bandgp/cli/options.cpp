// SPDX-License-Identifier: Apache-2.0
#include "bandgp/cli/options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>
#include <thread>

#include "bandgp/base/quote.hpp"
#include "bandgp/cli/numbers.hpp"
#include "bandgp/cli/words.hpp"
#include "bandgp/fit/cross_validate.hpp"
#include "bandgp/io/cut_name.hpp"
#include "bandgp/io/read_table.hpp"

namespace bandgp::cli {
namespace {

[[noreturn]] void refuse(const std::string& what) { throw std::invalid_argument(what); }

/// What only some methods have.
void give_own(const CutFlags& flags, Cut& cut) {
  const auto only = [&](bool given, const char* flag, std::initializer_list<Method> methods) {
    if (!given || std::ranges::find(methods, cut.method) != methods.end()) return given;
    std::vector<std::string_view> names;
    for (const Method method : methods) names.push_back(method_name(method));
    refuse(fmt::format("{} is for --method {}", flag, fmt::join(names, " or ")));
  };
  if (only(flags.inducing.has_value(), "--inducing", {Method::fitc, Method::vfe}))
    cut.inducing = whole_number("--inducing", *flags.inducing);
  cut.move_inducing = only(flags.move_inducing, "--move-inducing", {Method::fitc, Method::vfe});
  if (only(flags.neighbours.has_value(), "--neighbours", {Method::vecchia, Method::taper}))
    cut.neighbours = whole_number("--neighbours", *flags.neighbours);
  if (only(flags.taper_range.has_value(), "--taper-range", {Method::taper})) {
    if (flags.neighbours) refuse("--taper-range and --neighbours are given; only one of them can hold");
    cut.taper.range = positive_number("--taper-range", *flags.taper_range);
  }
  if (only(flags.taper.has_value(), "--taper", {Method::taper}))
    cut.taper.smoothness = parse_smoothness(*flags.taper);
}

/// `a, b and c`
std::string listed(const std::vector<std::string>& words) {
  if (words.size() < 2) return words.empty() ? "" : words.front();
  return fmt::format("{} and {}", fmt::join(words.begin(), words.end() - 1, ", "), words.back());
}

/// That these parameters of the kernel, and the noise, have no value, and how to give one to each.  `flags`
/// are those that some of them have.
std::string no_value_text(std::vector<std::string> missing, const std::vector<std::string>& flags,
                          bool noise_too) {
  const bool any_in_kernel = !missing.empty();
  std::string how = any_in_kernel ? "in --kernel" : "";
  if (!flags.empty()) how += " or by " + listed(flags);
  if (noise_too) {
    missing.emplace_back("noise");
    how += any_in_kernel ? ", the noise by --noise (a variance)" : "by --noise (a variance)";
  }
  const bool one = missing.size() == 1;
  return fmt::format("{} {} no value: give {} {}", listed(missing), one ? "has" : "have", one ? "it" : "them",
                     how);
}

}  // namespace

CLI::Option* add_data_flags(CLI::App& command, DataFlags& flags, const char* name) {
  auto* file = command.add_option(
      name, flags.file, "table as text, NPY array or EDF recording, gzipped or not; - is standard input");
  const auto add = [&](const char* flag, auto& value, const char* help, const char* type) {
    command.add_option(flag, value, help)->type_name(type)->group("Data");
  };
  add("--x", flags.x, "column of times, by name or number from 1 (default: where it is clear)", "COL");
  add("--y", flags.y, "column of values (default: where it is clear)", "COL");
  add("--yerr", flags.yerr, "column of known standard errors (default: none)", "COL");
  add("--step", flags.step, "spacing of the values where there is no column of times", "D");
  add("--time-format", flags.time_format,
      "how times are written: '%d-%m-%Y %H:%M', number, epoch-s or epoch-ms (default: as they look)", "TEXT");
  add("--time-unit", flags.time_unit, "for timestamps: s, min, h, d or y (default: readable)", "UNIT");
  add("--channel", flags.channel, "of an EDF recording, by its label", "NAME");
  add("--thin", flags.thin, "drop points closer than this to the point before", "D");
  command.add_flag("--skip-bad", flags.skip_bad, "drop malformed lines and count them")->group("Data");
  return file->type_name(" ");
}

void add_kernel_flag(CLI::App& command, ModelFlags& flags) {
  command
      .add_option(
          "--kernel", flags.kernel,
          fmt::format(
              "sum of terms, such as \"se + matern12*cos(period=11)\" (default: se); shapes: {}; factors: {}",
              fmt::join(shape_names(), ", "), fmt::join(factor_names(), ", ")))
      ->type_name("TEXT")
      ->group("Model");
}

void add_mean_flag(CLI::App& command, ModelFlags& flags) {
  command
      .add_option("--mean", flags.mean, "the mean function, its coefficients estimated (default: constant)")
      ->type_name("zero|constant|linear")
      ->group("Model");
}

void add_parameter_flags(CLI::App& command, ModelFlags& flags) {
  const auto add = [&](const char* name, Text& value, const char* help, const char* type) {
    command.add_option(name, value, help)->type_name(type)->group("Model");
  };
  add("--variance", flags.variance, "variance of the curve, for a kernel of one term", "V");
  add("--lengthscale", flags.lengthscale, "its length-scale, in units of time", "L");
  add("--noise", flags.noise, "variance of the noise", "S");
}

void add_tolerance_flag(CLI::App& command, CutFlags& flags) {
  command
      .add_option("--tolerance", flags.tolerance,
                  "distance from the exact NLL that is allowed (default: 0.01; fit ends at 1e-5 or less)")
      ->type_name("NATS")
      ->group("Exactness");
}

void add_cut_flags(CLI::App& command, CutFlags& flags) {
  add_tolerance_flag(command, flags);
  command
      .add_option("--bandwidth", flags.bandwidth,
                  "neighbours that the covariance band keeps (default: auto, what --tolerance needs)")
      ->type_name("auto|corollary|theorem|lemma|K")
      ->group("Exactness");
  command.add_option("--reach", flags.reach, "keep the covariance of points closer than this instead")
      ->type_name("R")
      ->group("Exactness");
  const auto add = [&](const char* name, Text& value, const char* help, const char* type) {
    command.add_option(name, value, help)->type_name(type)->group("Other methods");
  };
  add("--inducing", flags.inducing, "fitc, vfe: number of inducing inputs (default: 100)", "M");
  command
      .add_flag("--move-inducing", flags.move_inducing,
                "fitc, vfe: train the inputs' places too (default: quantiles)")
      ->group("Other methods");
  add("--neighbours", flags.neighbours,
      "vecchia: points before; taper: points a side, for its range (default: 30)", "M");
  add("--taper-range", flags.taper_range, "taper: the lag from which the covariance is 0", "R");
  add("--taper", flags.taper, "taper: smoothness of Wendland's function (default: c2)", "c0|c2|c4");
}

void add_method_flag(CLI::App& command, CommonFlags& flags) {
  command
      .add_option("--method", flags.method,
                  "how the covariance is held (default: auto, the cheapest exact form at each step)")
      ->type_name("auto|band|dual|exact|fitc|vfe|taper|vecchia")
      ->group("Exactness");
}

void add_common_flags(CLI::App& command, CommonFlags& flags) {
  command
      .add_option("--threads", flags.threads,
                  "number of threads, of which up to two are used (default: one for each processor)")
      ->type_name("N")
      ->group("Output");
  command.add_option("--seed", flags.seed, "seed of whatever is drawn at random (default: 0)")
      ->type_name("N")
      ->group("Output");
  command.add_flag("--json", flags.json, "print JSON")->group("Output");
  command.add_flag("--quiet", flags.quiet, "no progress, no remarks")->group("Output");
}

void add_memory_flag(CLI::App& command, CommonFlags& flags) {
  command
      .add_option("--max-bytes", flags.max_bytes,
                  "memory that may be used, such as 4GB or 500MB (default: 60 % of the machine's)")
      ->type_name("SIZE")
      ->group("Output");
}

double given_max_bytes(const CommonFlags& flags) {
  if (!flags.max_bytes) return 0;
  constexpr std::pair<std::string_view, double> kUnits[] = {
      {"TB", 1e12}, {"GB", 1e9}, {"MB", 1e6}, {"kB", 1e3}, {"KB", 1e3}, {"B", 1}, {"", 1}};
  // The last unit, none, always fits.
  const auto& [unit, size] = *std::ranges::find_if(
      kUnits, [&](const auto& entry) { return flags.max_bytes->ends_with(entry.first); });
  return size *
         positive_number("--max-bytes", flags.max_bytes->substr(0, flags.max_bytes->size() - unit.size()));
}

void check(const CommonFlags& flags) {
  try {
    (void)parse_method(flags.method);
  } catch (const std::invalid_argument& error) {
    refuse(fmt::format("--{}", error.what()));
  }
  if (flags.seed) whole_number("--seed", *flags.seed);
  thread_count(flags);
  given_max_bytes(flags);
}

Index thread_count(const CommonFlags& flags) {
  if (!flags.threads) return std::max(1U, std::thread::hardware_concurrency());
  const Index threads = whole_number("--threads", *flags.threads);
  if (threads == 0) refuse("--threads is 0, must be positive");
  return threads;
}

Input read_input(const DataFlags& flags, Mean mean, Table* rows) {
  ReadOptions reading{flags.x,        flags.y,           flags.yerr,      0,
                      flags.skip_bad, flags.time_format, flags.time_unit, flags.channel};
  if (flags.step) reading.step = positive_number("--step", *flags.step);
  SeriesOptions options{.center = mean != Mean::zero};
  if (flags.thin) options.thin = positive_number("--thin", *flags.thin);
  const Table table = read_table(flags.file, reading);
  Input input{.series = nullptr,
              .name = flags.file == "-" ? "standard input" : flags.file,
              .time_name = table.time_name,
              .value_name = table.value_name,
              .bad_lines = table.bad_lines,
              .time_column = table.time_column,
              .value_column = table.value_column,
              .error_column = table.error_column,
              .unused = table.unused};
  try {
    input.series = std::make_shared<const Series>(make_series(table, options));
  } catch (const std::invalid_argument& error) {
    refuse(fmt::format("{}: {}", input.name, words_of(error)));
  }
  if (rows != nullptr) *rows = rows_of(table, input.series->row);
  return input;
}

Model given_model(const ModelFlags& flags, const ReadDuration& duration) {
  Model model{parse_kernel(flags.kernel, duration), kUnset, parse_mean(flags.mean)};
  const auto set = [&](const std::string& flag, const Text& text, double Term::*member) {
    if (!text) return;
    if (model.kernel.terms.size() != 1) refuse(flag + " is for a kernel of one term; write it into --kernel");
    Term& term = model.kernel.terms[0];
    if (!term.has(member))
      refuse(
          fmt::format("{} is given, and the shape {} has no such parameter", flag, shape_name(term.shape)));
    double& value = term.*member;
    if (!std::isnan(value)) refuse(flag + " is given twice: in --kernel as well");
    value = positive_number(flag, *text);
  };
  set("--variance", flags.variance, &Term::variance);
  set("--lengthscale", flags.lengthscale, &Term::lengthscale);
  std::vector<std::string> missing, missing_flags;
  for (const auto& [name, kind, value] : parameters(model)) {
    if (kind == &noise_parameter() || !std::isnan(*value)) continue;
    missing.push_back(name);
    if (name == "variance" || name == "lengthscale") missing_flags.push_back("--" + name);
  }
  if (!missing.empty() || !flags.noise) refuse(no_value_text(missing, missing_flags, !flags.noise));
  model.noise = finite_number("--noise", *flags.noise);
  if (model.noise < 0)
    refuse(fmt::format("--noise is {}, must be a variance, finite and positive", model.noise));
  return model;
}

double given_tolerance(const CutFlags& flags) {
  return flags.tolerance ? positive_number("--tolerance", *flags.tolerance) : Cut{}.tolerance;
}

Cut given_cut(const CutFlags& flags, const CommonFlags& common, const Kernel& kernel) {
  Cut cut{.method = parse_method(common.method), .tolerance = given_tolerance(flags)};
  const bool fixed = flags.reach || flags.bandwidth != "auto";
  if (cut.method != Method::automatic && cut.method != Method::band && fixed)
    refuse(fmt::format("--method {} has no --bandwidth or --reach: they are for the band", common.method));
  give_own(flags, cut);
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
  require_valid(cut);
  return cut;
}

}  // namespace bandgp::cli
