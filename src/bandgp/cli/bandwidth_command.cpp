// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <stdexcept>

#include "bandgp/cli/commands.hpp"
#include "bandgp/cli/output.hpp"
#include "bandgp/cli/reference.hpp"
#include "bandgp/gp/bandwidth_rules.hpp"
#include "bandgp/io/write_file.hpp"

namespace bandgp::cli {
namespace {

struct BandwidthFlags {
  DataFlags data;
  ModelFlags model;
  CutFlags cut;
  CommonFlags common;
  Text gap, n;
};

/// On n equally spaced points.
BandwidthRules on_grid(const Model& model, const BandwidthFlags& flags, double nats) {
  if (!flags.gap || !flags.n) throw std::invalid_argument("without FILE both --gap D and --n N are needed");
  if (model.noise == 0) throw std::invalid_argument("--noise is 0, must be positive where there are no data");
  const double gap = positive_number("--gap", *flags.gap);
  const Index n = whole_number("--n", *flags.n);
  if (n == 0) throw std::invalid_argument("--n is 0, must be positive");
  return bandwidth_rules(model, gap, n, nats);
}

Json to_json(std::optional<Index> k) { return k ? Json(*k) : Json(nullptr); }

int bandwidth(const BandwidthFlags& flags) {
  check(flags.common);
  if (flags.common.method != "auto" && flags.common.method != "band")
    throw std::invalid_argument(fmt::format(
        "bandwidth asks what the covariance band needs, and --method {} has none; nll --method dual "
        "tells the dual's width",
        flags.common.method));
  const bool has_file = !flags.data.file.empty();
  Model model = given_model(flags.model, has_file ? ReadDuration(any_duration) : ReadDuration(no_duration));
  const double nats = given_tolerance(flags.cut);
  if (has_file && (flags.gap || flags.n))
    throw std::invalid_argument("FILE and --gap or --n are given; only one can hold");
  Input input;
  Json json;
  BandwidthRules rules;
  if (has_file) {
    input = read_input(flags.data, model.mean);
    model = given_model(flags.model, durations_on(input.series->axis));
    rules = bandwidth_rules(model, *input.series, nats);
    add_size(json, *input.series);
  } else {
    rules = on_grid(model, flags, nats);
    json["n"] = rules.n;
  }
  if (flags.common.json) {
    json["min_gap"] = rules.min_gap;
    json["corollary"] = to_json(rules.corollary);
    json["theorem"] = to_json(rules.theorem);
    json["lemma"] = rules.lemma;
    json["tolerance"] = {{"nats", nats}, {"bandwidth", rules.tolerance}};
    print(json);
    return 0;
  }
  const auto closed = [](std::optional<Index> k) {
    return k ? std::to_string(*k) : "none (a rule for the kernel se alone)";
  };
  write_stdout((has_file ? field("Read", input_text(input)) : "") + field("Points", std::to_string(rules.n)) +
               field("Closest", fmt::format("{:.6g}", rules.min_gap)) +
               field("corollary", closed(rules.corollary)) + field("theorem", closed(rules.theorem)) +
               field("lemma", std::to_string(rules.lemma)) +
               field("tolerance", fmt::format("{} for {:g} nats", rules.tolerance, nats)));
  return 0;
}

}  // namespace

void add_bandwidth(CLI::App& program, Run& run) {
  auto flags = std::make_shared<BandwidthFlags>();
  CLI::App* command =
      program.add_subcommand("bandwidth", "how many neighbours each rule keeps, side by side");
  add_data_flags(*command, flags->data);
  command->add_option("--gap", flags->gap, "without FILE: spacing of a regular grid")
      ->type_name("D")
      ->group("Data");
  command->add_option("--n", flags->n, "without FILE: its number of points")->type_name("N")->group("Data");
  add_parameter_flags(*command, flags->model);
  add_kernel_flag(*command, flags->model);
  add_mean_flag(*command, flags->model);
  add_tolerance_flag(*command, flags->cut);
  add_method_flag(*command, flags->common);
  add_common_flags(*command, flags->common);
  set_examples(
      *command,
      {"bandgp bandwidth --gap 0.2 --n 2000 --variance 5 --lengthscale 1 --noise 0.1",
       "bandgp bandwidth data/sunspots.csv --variance 1500 --lengthscale 1.5 --noise 300 "
       "--tolerance 0.001"},
      "The rules are for the covariance band, whatever fit would choose. The dual has another width, which\n"
      "depends on neither the number of points nor the length-scale; nll --method dual tells it.");
  command->callback([flags, &run] { run = [flags] { return bandwidth(*flags); }; });
}

}  // namespace bandgp::cli
