// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <exception>
#include <stdexcept>

#include "bandgp/cli/commands.hpp"
#include "bandgp/cli/fit_output.hpp"
#include "bandgp/cli/progress.hpp"
#include "bandgp/cli/reference.hpp"
#include "bandgp/cli/report_output.hpp"
#include "bandgp/cli/words.hpp"
#include "bandgp/fit/remarks.hpp"
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

FitOptions options_from(const FitFlags& flags, const ReadDuration& duration) {
  FitOptions options;
  options.kernel = parse_kernel(flags.model.kernel, duration);
  options.mean = parse_mean(flags.model.mean);
  options.cut = given_cut(flags.cut, flags.common, options.kernel);
  options.init = assignments("--init", flags.init, options.kernel, duration);
  options.fix = assignments("--fix", flags.fix, options.kernel, duration);
  for (const auto& [name, value] : options.fix) {
    if (options.init.contains(name))
      throw std::invalid_argument(name + " is in --init and in --fix; only one can hold");
  }
  return options;
}

void announce(const CostEstimate& cost, Progress& progress, bool quiet) {
  // The best so far is evaluated and kept after an interrupt.
  Interrupt::expect(cost.seconds_per_evaluation, 1.5 * cost.seconds_per_evaluation);
  progress.clear();
  if (quiet) return;
  const std::string advice = words(cost.advice, flag_spelling);
  fmt::print(
      stderr,
      "bandgp: {} on {} points takes {:.2g} GB and about {} an evaluation, the fit perhaps {} from here; "
      "{}{}Ctrl-C ends it with what it has\n",
      cost.what, cost.n, cost.bytes / 1e9, seconds_text(cost.seconds_per_evaluation),
      seconds_text(static_cast<double>(cost.evaluations) * cost.seconds_per_evaluation), advice,
      advice.empty() ? "" : "; ");
}

/// Every observation from all the others.
void leave_one_out(FitSummary& summary, Index threads, bool quiet) {
  const FitResult& fit = summary.fit;
  if (fit.status == FitStatus::cancelled || Interrupt::requested()) {
    summary.no_left_out = "leave-one-out was not computed: interrupted";
  } else if (!fit.certified()) {
    summary.no_left_out = "leave-one-out was not computed: there is no certificate for it";
  } else {
    WorkProgress progress(quiet);
    progress.expect(evaluation_seconds(fit),
                    fmt::format("leaving out each of {} points", fit.series->size()));
    try {
      const Diagnostics found = diagnose(*fit.series, fit.posterior(threads)->leave_one_out());
      if (std::isfinite(found.loo_nmse) && std::isfinite(found.loo_nlpd)) {
        summary.left_out = found;
      } else {
        summary.no_left_out = "leave-one-out says nothing: there is too little to predict from";
      }
    } catch (const std::runtime_error& error) {
      summary.no_left_out = fmt::format("leave-one-out was not computed: {}", words_of(error));
    }
  }
}

/// What the terms are, with their shares of the data where there is a posterior.
void describe(FitSummary& summary, Index threads) {
  const FitResult& fit = summary.fit;
  if (!fit.model.kernel.complete() || !std::isfinite(fit.nll)) return;
  summary.components = describe_components(fit);
  if (fit.status == FitStatus::cancelled || Interrupt::requested() || !fit.certified()) return;
  try {
    summary.components = describe_components(fit, *fit.posterior(threads));
  } catch (const std::runtime_error&) {  // leave-one-out tells why there is no posterior
  }
}

int fit_series(const FitFlags& flags) {
  check(flags.common);
  FitOptions options = options_from(flags, any_duration);  // mistakes are told before anything is read
  const auto is_stdout = [](const Text& path) { return path && *path == "-"; };
  if (is_stdout(flags.output) && is_stdout(flags.report))
    throw std::invalid_argument("-o - and --report - cannot both have standard output");
  for (const Text& path : {flags.output, flags.report}) {
    if (!path) continue;
    require_writable(*path);  // before the work, not after it
    require_other_than(*path, flags.data.file);
  }
  if (flags.output && flags.report) require_other_than(*flags.report, *flags.output);
  const Input input = read_input(flags.data, options.mean);
  options = options_from(flags, durations_on(input.series->axis));
  const Interrupt interrupt(flags.common.quiet);
  options.threads = thread_count(flags.common);
  options.max_bytes = given_max_bytes(flags.common);

  FitResult result;
  {
    Progress progress(flags.common.quiet, *input.series, options);
    options.progress = [&](const TraceEntry& entry) { progress.show(entry); };
    options.accept_cost = [&](const CostEstimate& cost) {
      announce(cost, progress, flags.common.quiet);
      return true;
    };
    options.cancelled = Interrupt::requested;
    result = fit(input.series, options);
  }
  result.source = source_of(input);
  std::exception_ptr unsaved;  // a full disk must not cost the result: it is printed before the error
  const auto attempt = [&](const auto& write) {
    try {
      if (!unsaved) write();
    } catch (...) {
      unsaved = std::current_exception();
    }
  };
  attempt([&] {
    if (flags.output) save_model(result, *flags.output);
  });
  const bool to_stdout = !is_stdout(flags.output) && !is_stdout(flags.report);
  const bool told =
      to_stdout && (flags.common.json || !((flags.output || flags.report) && flags.common.quiet));
  FitSummary summary{result, input, options, {}, "", {}, {}, "", ""};
  attempt([&] {
    if (flags.report) write_report(result, flags.command, options.threads, *flags.report, flags.common.quiet);
  });
  if (told) {
    describe(summary, options.threads);
    leave_one_out(summary, options.threads,
                  flags.common.quiet);  // after the curve of the report: it uses the factor up
    summary.remarks = remarks(result);
    if (!unsaved) summary.output = flags.output.value_or("");
    if (!unsaved) summary.report = flags.report.value_or("");
    flags.common.json ? print(fit_json(summary)) : write_stdout(fit_text(summary));
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
  add_kernel_flag(*command, flags->model);
  add_mean_flag(*command, flags->model);
  command
      ->add_option("--init", flags->init,
                   "starting values, such as lengthscale=3,noise=0.1; no others are tried for these")
      ->type_name("NAME=VALUE,...")
      ->group("Model");
  command->add_option("--fix", flags->fix, "values that are not trained, such as noise=0.1")
      ->type_name("NAME=VALUE,...")
      ->group("Model");
  add_cut_flags(*command, flags->cut);
  add_method_flag(*command, flags->common);
  command->add_option("-o,--output", flags->output, "write the model to this file; - is standard output")
      ->type_name("FILE")
      ->group("Output");
  command->add_option("--report", flags->report, "write a report, one HTML page, to this file")
      ->type_name("FILE")
      ->group("Output");
  add_memory_flag(*command, flags->common);
  add_common_flags(*command, flags->common);
  set_examples(*command, {"bandgp fit data/sunspots.csv -o model.json --report sunspots.html",
                          "bandgp fit data/sunspots.csv --y sunspots --kernel 'se + se' --json"});
  command->callback([flags, &run] { run = [flags] { return fit_series(*flags); }; });
}

}  // namespace bandgp::cli
