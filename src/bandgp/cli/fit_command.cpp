// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <exception>
#include <stdexcept>

#include "bandgp/cli/commands.hpp"
#include "bandgp/cli/fit_output.hpp"
#include "bandgp/cli/progress.hpp"
#include "bandgp/cli/report_output.hpp"
#include "bandgp/io/model_file.hpp"
#include "bandgp/io/write_file.hpp"

namespace bandgp::cli {
namespace {

struct FitFlags {
  DataFlags data;
  ModelFlags model;
  CutFlags cut;
  CommonFlags common;
  Text init, fix, output, report;
  std::string command;  // as it was typed
};

FitOptions options_from(const FitFlags& flags) {
  FitOptions options;
  options.kernel = parse_kernel(flags.model.kernel);
  options.mean = parse_mean(flags.model.mean);
  options.cut = given_cut(flags.cut, flags.common, options.kernel);
  options.init = assignments("--init", flags.init, options.kernel);
  options.fix = assignments("--fix", flags.fix, options.kernel);
  for (const auto& [name, value] : options.fix) {
    if (options.init.contains(name))
      throw std::invalid_argument(name + " is in --init and in --fix; only one can hold");
  }
  return options;
}

bool announce(const CostEstimate& cost, Progress& progress, bool quiet) {
  progress.clear();
  if (!quiet) {
    fmt::print(
        stderr,
        "bandgp: a band of {} neighbours on {} points takes {:.2g} GB and about {:.0f} s an evaluation; "
        "--thin {:.3g} would make it narrow\n",
        cost.bandwidth, cost.n, cost.bytes / 1e9, cost.seconds_per_evaluation, cost.thin);
  }
  return true;
}

int fit_series(const FitFlags& flags) {
  check(flags.common);
  FitOptions options = options_from(flags);
  const auto is_stdout = [](const Text& path) { return path && *path == "-"; };
  if (is_stdout(flags.output) && is_stdout(flags.report))
    throw std::invalid_argument("-o - and --report - cannot both have standard output");
  for (const Text& path : {flags.output, flags.report}) {
    if (path) require_writable(*path);  // before the work, not after it
  }
  const Input input = read_input(flags.data, options.mean);

  FitResult result;
  {
    Progress progress(flags.common.quiet);
    const Interrupt interrupt;
    options.progress = [&](const TraceEntry& entry) { progress.show(entry); };
    options.accept_cost = [&](const CostEstimate& cost) {
      return announce(cost, progress, flags.common.quiet);
    };
    options.cancelled = Interrupt::requested;
    options.threads = thread_count(flags.common);
    result = fit(input.series, options);
  }
  result.source = source_of(input);
  std::exception_ptr unsaved;  // a full disk must not cost the result: it is printed before the error
  try {
    if (flags.output) save_model(result, *flags.output);
    if (flags.report) write_report(result, flags.command, options.threads, *flags.report);
  } catch (...) {
    unsaved = std::current_exception();
  }
  const bool to_stdout = !is_stdout(flags.output) && !is_stdout(flags.report);
  if (to_stdout && flags.common.json) {
    print(fit_json(result, input));
  } else if (to_stdout && !((flags.output || flags.report) && flags.common.quiet)) {
    write_stdout(fit_text(result, input, options) +
                 (flags.report && !unsaved ? field("Report", *flags.report) : ""));
  }
  if (unsaved) std::rethrow_exception(unsaved);
  const std::string why = reservation(result);
  if (!why.empty() && !flags.common.quiet && (flags.common.json || !to_stdout))
    fmt::print(stderr, "bandgp: {}\n", why);
  return why.empty() ? 0 : 1;
}

}  // namespace

void add_fit(CLI::App& program, Run& run, const std::string& typed) {
  auto flags = std::make_shared<FitFlags>();
  flags->command = typed;
  CLI::App* command = program.add_subcommand("fit", "train on a series; prints a summary, writes a model");
  add_data_flags(*command, flags->data)->required();
  command->add_option("-o,--output", flags->output, "write the model to this file; - is standard output")
      ->type_name("FILE");
  command->add_option("--report", flags->report, "write a report, one HTML page, to this file")
      ->type_name("FILE");
  add_kernel_flags(*command, flags->model);
  command->add_option("--init", flags->init, "starting values, such as lengthscale=3,noise=0.1")
      ->type_name("NAME=VALUE,...");
  command->add_option("--fix", flags->fix, "values that are not trained, such as noise=0.1")
      ->type_name("NAME=VALUE,...");
  add_cut_flags(*command, flags->cut);
  add_common_flags(*command, flags->common);
  command->footer(
      "Examples: bandgp fit data/sunspots.csv -o model.json --report sunspots.html\n"
      "          bandgp fit data/sunspots.csv --y sunspots --kernel 'se + se' --json");
  command->callback([flags, &run] { run = [flags] { return fit_series(*flags); }; });
}

}  // namespace bandgp::cli
