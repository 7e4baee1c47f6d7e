// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>

#include "bandgp/cli/commands.hpp"
#include "bandgp/cli/options.hpp"
#include "bandgp/cli/output.hpp"
#include "bandgp/cli/progress.hpp"
#include "bandgp/cli/reference.hpp"
#include "bandgp/cli/report_output.hpp"
#include "bandgp/cli/words.hpp"
#include "bandgp/experiments/experiment.hpp"
#include "bandgp/io/write_file.hpp"

namespace bandgp::cli {
namespace {

namespace fs = std::filesystem;

struct ReproduceFlags {
  std::string experiment;
  Text data, output, threads;
  bool quick = false, json = false, quiet = false;
  std::string command;  // as it was typed
};

/// The series that comes with the program: beside the installed binary's share folder, or in the source tree
/// above a build folder.  Empty: not found.
std::string bundled_sunspots() {
  std::error_code error;
  const fs::path binary = fs::read_symlink("/proc/self/exe", error);
  if (error) return "";
  const fs::path folder = binary.parent_path();
  for (const fs::path& candidate :
       {folder / "../share/bandgp/sunspots.csv", folder / "../../data/sunspots.csv"}) {
    if (fs::exists(candidate, error)) return candidate.lexically_normal().string();
  }
  return "";
}

std::string data_folder(const ReproduceFlags& flags) {
  if (flags.data) {
    if (!fs::is_directory(*flags.data))
      throw std::invalid_argument(fmt::format("--data {} is not a folder", *flags.data));
    return *flags.data;
  }
  const char* data = std::getenv("BANDGP_DATA");
  return data == nullptr ? "" : data;
}

int reproduce(const ReproduceFlags& flags) {
  const MakeExperiment make = experiment_named(flags.experiment);
  if (!flags.output) throw std::invalid_argument("where to? -o DIR names the folder that the results go to");
  CommonFlags common;
  common.threads = flags.threads;
  ExperimentOptions options{
      .data = data_folder(flags),
      .bundled = flags.data ? "" : bundled_sunspots(),  // a folder asked for is what is meant
      .quick = flags.quick,
      .spelling = flag_spelling};
  options.run.threads = thread_count(common);
  const ExperimentFiles files = experiment_files(*flags.output, flags.experiment, options);

  const Interrupt interrupt(flags.quiet);
  Store store(files.store);
  Experiment experiment;
  {
    WorkProgress progress(flags.quiet);
    progress.count("fits");
    options.run.cancelled = Interrupt::requested;
    options.run.progress = [&](Index done, Index of, const std::string& label) {
      progress.show(done, of, label);
    };
    options.run.store = &store;
    experiment = make(options);
  }
  if (!experiment.complete) {
    if (!flags.quiet)
      fmt::print(stderr,
                 "bandgp: interrupted: {} of {} fits are done and kept in {}; the same command continues\n",
                 experiment.done, experiment.of, files.store);
    return 1;
  }
  experiment.page.command = flags.command;
  experiment.page.created = now_text();
  write_experiment(files, experiment);
  if (flags.json) {
    print(experiment.json);
  } else if (!flags.quiet) {
    std::string text;
    if (!experiment.page.remark.empty()) text += field("Note", experiment.page.remark);
    for (const PageSection& section : experiment.page.sections) {
      for (const std::string& note : section.notes) text += field("", note);
    }
    text += field("Written", fmt::format("{}, {}, {}", files.html, files.csv, files.json));
    write_stdout(text);
  }
  return 0;
}

}  // namespace

void add_reproduce(CLI::App& program, Run& run, const std::string& typed) {
  auto flags = std::make_shared<ReproduceFlags>();
  flags->command = typed;
  CLI::App* command = program.add_subcommand("reproduce", "the paper's experiments: charts, tables, JSON");
  command
      ->add_option("EXPERIMENT", flags->experiment,
                   "sunspots (Figure 2), eeg (Figure 3) or bandwidth (Figure 4, Table 1)")
      ->type_name("sunspots|eeg|bandwidth")
      ->required();
  command
      ->add_option(
          "--data", flags->data,
          "folder that holds sunspots/ and eeg/ (default: BANDGP_DATA; sunspots: else the bundled series)")
      ->type_name("DIR")
      ->group("Data");
  command->add_option("-o,--output", flags->output, "folder for the results")
      ->type_name("DIR")
      ->group("Output");
  command->add_flag("--quick", flags->quick, "fewer points, folds and sizes: seconds instead of minutes")
      ->group("Output");
  command
      ->add_option("--threads", flags->threads,
                   "fits that run side by side, each on one thread (default: one for each processor)")
      ->type_name("N")
      ->group("Output");
  command->add_flag("--json", flags->json, "print JSON")->group("Output");
  command->add_flag("--quiet", flags->quiet, "no progress, no remarks")->group("Output");
  set_examples(
      *command,
      {"bandgp reproduce bandwidth --quick -o results", "bandgp reproduce sunspots --quick -o results"},
      "Writes EXPERIMENT.csv, .json and .html into the folder. Results are kept in\n"
      "EXPERIMENT.results.jsonl as they come: a run that was interrupted continues there and ends with the\n"
      "same scores. sunspots and eeg take about ten minutes on two processors, most of it for the exact GP;\n"
      "bandwidth about one.");
  command->callback([flags, &run] { run = [flags] { return reproduce(*flags); }; });
}

}  // namespace bandgp::cli
