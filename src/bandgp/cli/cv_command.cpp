// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <exception>
#include <stdexcept>

#include "bandgp/cli/commands.hpp"
#include "bandgp/cli/cv_output.hpp"
#include "bandgp/cli/progress.hpp"
#include "bandgp/cli/reference.hpp"
#include "bandgp/cli/report_output.hpp"
#include "bandgp/cli/style.hpp"
#include "bandgp/cli/words.hpp"
#include "bandgp/io/write_file.hpp"

namespace bandgp::cli {
namespace {

/// Up to this many observations the dense GP is among the methods that are compared by default.
constexpr Index kMostExact = 3000;

struct CvFlags {
  DataFlags data;
  ModelFlags model;
  CutFlags cut;
  CommonFlags common;
  Text methods, folds, report;
  std::string scheme = "shuffled";
  std::string command;  // as it was typed
};

std::vector<MethodChoice> choices_from(const CvFlags& flags, const Kernel& kernel, Index n) {
  const std::string text = flags.methods.value_or(
      std::string(n <= kMostExact ? "band,dual,exact," : "band,dual,") + "fitc,vfe,taper,vecchia");
  try {
    return parse_choices(text, kernel);
  } catch (const std::invalid_argument& error) {
    throw std::invalid_argument(fmt::format("--methods: {}", words_of(error)));
  }
}

int cv(const CvFlags& flags) {
  check(flags.common);
  Kernel kernel = parse_kernel(flags.model.kernel, any_duration);
  const Mean mean = parse_mean(flags.model.mean);
  const Index folds = whole_number("--folds", flags.folds.value_or("5"));
  const FoldScheme scheme = parse_scheme(flags.scheme);
  const auto seed = static_cast<std::uint64_t>(whole_number("--seed", flags.common.seed.value_or("0")));
  (void)choices_from(flags, kernel, 0);  // before anything is read
  if (flags.report) require_writable(*flags.report);
  if (flags.report && *flags.report == "-" && flags.common.json)
    throw std::invalid_argument("--report - and --json cannot both have standard output");

  ComparisonSetup setup;
  setup.tables.resize(1);
  const Input input = read_input(flags.data, mean, setup.tables.data());
  kernel = parse_kernel(flags.model.kernel, durations_on(input.series->axis));
  setup.methods = choices_from(flags, kernel, input.series->report.used);
  setup.folds = make_folds(std::ssize(setup.tables[0].time), folds, scheme, seed);
  setup.fit.mean = mean;
  setup.fit.tolerance = {};
  setup.fit.cut.tolerance = given_tolerance(flags.cut);
  setup.fit.standard_errors = false;

  const Interrupt interrupt(flags.common.quiet);
  setup.cancelled = Interrupt::requested;
  std::vector<MethodResult> results;
  {
    WorkProgress progress(flags.common.quiet);
    const Index threads = thread_count(flags.common);
    const auto fits = std::ssize(setup.methods) * std::ssize(setup.folds);
    const double expected =
        expected_seconds(setup, *input.series) / static_cast<double>(std::min<Index>(threads, fits));
    progress.expect(
        expected, fmt::format("fitting {} to {} folds", counted(std::ssize(setup.methods), "method"), folds));
    progress.count("fits", expected);
    results = compare(setup, {.threads = threads,
                              .cancelled = Interrupt::requested,
                              .progress = [&](Index done, Index of, const std::string& label) {
                                progress.show(done, of, label);
                              }});
  }
  const Progressed count = progressed(results);
  const bool complete = count.done == count.of;
  const CvSummary summary{results, input, folds, scheme, seed, mean, complete, flags.command};
  std::exception_ptr unsaved;  // a full disk must not cost the result: it is printed before the error
  try {
    if (flags.report) write_file(*flags.report, cv_page(summary, now_text()));
  } catch (...) {
    unsaved = std::current_exception();
  }
  if (flags.common.json) {
    print(cv_json(summary));
  } else if (!flags.report || *flags.report != "-") {
    write_stdout(cv_text(summary));
  }
  if (unsaved) std::rethrow_exception(unsaved);
  const std::string why = cv_reservation(summary);
  if (!why.empty() && !flags.common.quiet) fmt::print(stderr, "bandgp: {}\n", why);
  return why.empty() ? 0 : 1;
}

}  // namespace

void add_cv(CLI::App& program, Run& run, const std::string& typed) {
  auto flags = std::make_shared<CvFlags>();
  flags->command = typed;
  CLI::App* command =
      program.add_subcommand("cv", "how well methods predict what they have not seen, on the same folds");
  add_data_flags(*command, flags->data)->required();
  command
      ->add_option("--methods", flags->methods,
                   "separated by commas, each as NAME or NAME:SIZE: auto, band[:K], dual, exact, fitc[:M], "
                   "vfe[:M], taper[:M], "
                   "vecchia[:M] (default: all but auto; exact up to 3000 observations)")
      ->type_name("LIST")
      ->group("Comparison");
  command->add_option("--folds", flags->folds, "number of folds (default: 5)")
      ->type_name("N")
      ->group("Comparison");
  command
      ->add_option(
          "--scheme", flags->scheme,
          "what is held out: random observations, consecutive stretches, or what follows (default: shuffled)")
      ->type_name("shuffled|blocked|forward")
      ->group("Comparison");
  add_kernel_flag(*command, flags->model);
  add_mean_flag(*command, flags->model);
  add_tolerance_flag(*command, flags->cut);
  command->add_option("--report", flags->report, "write charts and tables, one HTML page, to this file")
      ->type_name("FILE")
      ->group("Output");
  add_common_flags(*command, flags->common);
  set_examples(
      *command,
      {"bandgp cv data/sunspots.csv --methods band,dual,fitc:50,fitc:200 --report cv.html",
       "bandgp cv data/sunspots.csv --methods auto,vecchia:20 --scheme blocked --folds 10 --json"},
      "Every method sees the same folds. SIZE is the fixed bandwidth of band, the inducing inputs of fitc\n"
      "and vfe (default: 100), the neighbours of vecchia (before) and taper (a side; default: 30). Fits run\n"
      "side by side on --threads threads, each on one, as fit --method does them: exact, fitc, vfe, taper\n"
      "and vecchia begin where the same GP ends in a band or its dual, and their seconds include that\n"
      "(reproduce trains each in its own matrix). A fold that cannot be fitted is counted as a failure, "
      "with\n"
      "its reason, and the exit code is then 1. Ctrl-C ends with what is done.");
  command->callback([flags, &run] { run = [flags] { return cv(*flags); }; });
}

}  // namespace bandgp::cli
