// SPDX-License-Identifier: Apache-2.0
// The report of a model that was saved, with its data where the file does not hold them.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <filesystem>
#include <stdexcept>

#include "bandgp/cli/commands.hpp"
#include "bandgp/cli/output.hpp"
#include "bandgp/cli/reference.hpp"
#include "bandgp/cli/report_output.hpp"
#include "bandgp/cli/times.hpp"
#include "bandgp/io/model_file.hpp"
#include "bandgp/io/write_file.hpp"

namespace bandgp::cli {
namespace {

struct ReportFlags {
  std::string model, command;
  DataFlags data;
  Text output, horizon, threads;
  bool quiet = false;
};

/// Why these cannot be the data of the model; empty where they can.
std::string difference(const FitResult& fit, const Series& given) {
  const SeriesReport &was = fit.series->report, &is = given.report;
  if (was.used != is.used)
    return fmt::format("it has {} observations, the model was fitted to {}{}", is.used, was.used,
                       was.thinned > 0 ? " (after --thin)" : "");
  const double unit = 1e-9 * std::max(was.span, std::abs(was.last_time));
  if (std::abs(was.first_time - is.first_time) > unit || std::abs(was.last_time - is.last_time) > unit)
    return fmt::format("it goes from {:.10g} to {:.10g}, the model's data from {:.10g} to {:.10g}",
                       is.first_time, is.last_time, was.first_time, was.last_time);
  if (!fit.data_checksum.empty() && fit.data_checksum != series_checksum(given))
    return "same times at both ends, but other times, values or errors between";
  return "";
}

void take_data(const DataFlags& flags, const std::string& model, FitResult& fit) {
  const Input input = read_input(flags, fit.model.mean);
  const std::string why = difference(fit, *input.series);
  if (!why.empty()) {
    throw std::invalid_argument(
        fmt::format("{} is not the series of {}: {} (columns: --x, --y, --yerr)", input.name, model, why));
  }
  fit.series = input.series;
  fit.dual = nullptr;
  fit.forget_posterior();
  fit.source = source_of(input);
}

/// model.json → model.html
std::string default_output(const std::string& model) {
  if (model == "-") throw std::invalid_argument("a model from standard input needs -o out.html");
  const std::size_t name = model.rfind('/') + 1;  // 0 where there is no folder
  const std::size_t dot = model.rfind('.');
  return (dot != model.npos && dot > name ? model.substr(0, dot) : model) + ".html";
}

int report_model(const ReportFlags& flags) {
  CommonFlags common;
  common.threads = flags.threads;
  const Index threads = thread_count(common);
  const std::string output = flags.output ? *flags.output : default_output(flags.model);
  if (output == flags.model)
    throw std::invalid_argument("the report would replace the model: give -o out.html");
  require_writable(output);
  require_other_than(output, flags.data.file);
  FitResult fit = load_model(flags.model);
  if (!flags.data.file.empty()) take_data(flags.data, flags.model, fit);
  if (fit.series->size() == 0 && !flags.output && std::filesystem::exists(output))
    throw std::invalid_argument(fmt::format(
        "{} is there already, and may show the data, which {} does not hold: give --data FILE, or -o {} "
        "to replace it without them",
        output, flags.model, output));
  const std::size_t bytes =
      write_report(fit, flags.command, threads, output, flags.quiet,
                   flags.horizon ? parse_length(*fit.series, "--horizon", *flags.horizon) : 0);
  if (fit.series->size() == 0 && !flags.quiet)
    fmt::print(
        stderr,
        "bandgp: {} holds the curve but not the data: with --data FILE the report has points and residuals\n",
        flags.model);
  if (output != "-" && !flags.quiet)
    write_stdout(field("Report", fmt::format("{}, {:.2g} MB", output, static_cast<double>(bytes) / 1e6)));
  return 0;
}

}  // namespace

void add_report(CLI::App& program, Run& run, const std::string& typed) {
  auto flags = std::make_shared<ReportFlags>();
  flags->command = typed;
  CLI::App* command = program.add_subcommand("report", "write the report of a saved model, one HTML page");
  command->add_option("MODEL", flags->model, "model file that fit wrote; - is standard input")
      ->type_name(" ")
      ->required();
  add_data_flags(*command, flags->data, "--data")->type_name("FILE");
  command
      ->add_option("-o,--output", flags->output,
                   "write to this file (default: MODEL with .html); - is standard output")
      ->type_name("FILE")
      ->group("Output");
  command
      ->add_option("--horizon", flags->horizon,
                   "show a forecast: the curve so far behind the data, such as 48h (s, min, h, d, y), or a "
                   "number in the data's unit of time")
      ->type_name("LENGTH")
      ->group("Output");
  command->add_option("--threads", flags->threads, "number of threads (default: one for each processor)")
      ->type_name("N");
  command->add_flag("--quiet", flags->quiet, "no remarks")->group("Output");
  set_examples(*command, {"bandgp report model.json --data data/sunspots.csv -o report.html",
                          "bandgp report model.json --horizon 2"});
  command->callback([flags, &run] { run = [flags] { return report_model(*flags); }; });
}

}  // namespace bandgp::cli
