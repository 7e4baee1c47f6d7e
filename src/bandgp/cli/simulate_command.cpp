// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <stdexcept>

#include "bandgp/cli/commands.hpp"
#include "bandgp/cli/options.hpp"
#include "bandgp/cli/reference.hpp"
#include "bandgp/cli/text_stream.hpp"
#include "bandgp/gp/simulate.hpp"

namespace bandgp::cli {
namespace {

struct SimulateFlags {
  ModelFlags model;
  CommonFlags common;
  Text n, gap, start, offset, output;
  bool irregular = false;
};

void write_csv(TextStream& out, const std::vector<double>& time, const std::vector<double>& value) {
  out.text("time,value\n");
  for (std::size_t i = 0; i < time.size(); ++i) {
    out.number(time[i]);
    out.text(",");
    out.number(value[i]);
    out.text("\n");
  }
}

int simulate_series(const SimulateFlags& flags) {
  check(flags.common);
  if (!flags.n || !flags.gap) throw std::invalid_argument("both --n N and --gap D are needed");
  const Model model = given_model(flags.model, no_duration);
  const Index n = whole_number("--n", *flags.n);
  if (n == 0) throw std::invalid_argument("--n is 0, must be positive");
  const double bytes =
      40 * static_cast<double>(n);  // times and values, before and after they are put in order
  if (bytes > default_max_bytes())
    throw std::invalid_argument(fmt::format("--n {} would take {:.0f} GB of memory", *flags.n, bytes / 1e9));
  const double gap = positive_number("--gap", *flags.gap);
  const double start = finite_number("--start", flags.start.value_or("0"));
  const double offset = finite_number("--offset", flags.offset.value_or("0"));
  const auto seed = static_cast<std::uint64_t>(whole_number("--seed", flags.common.seed.value_or("0")));
  const std::string output = flags.output.value_or("-");
  require_writable(output);

  const std::vector<double> time = simulate_times(n, gap, start, flags.irregular, seed);
  for (std::size_t i = 1; i < time.size(); ++i) {
    if (!(time[i] > time[i - 1]) || !std::isfinite(time[i]))
      throw std::invalid_argument(
          fmt::format("--gap {} is lost beside times of size {} in double precision", gap, time[i]));
  }
  std::vector<double> value = simulate(model.kernel, model.noise, time, seed);
  for (double& y : value) y += offset;
  TextStream out(output);
  if (flags.common.json) {
    write_json(out, std::vector<std::string>{"time", "value"}, std::vector{time, value});
  } else {
    write_csv(out, time, value);
  }
  out.finish();
  return 0;
}

}  // namespace

void add_simulate(CLI::App& program, Run& run) {
  auto flags = std::make_shared<SimulateFlags>();
  CLI::App* command = program.add_subcommand("simulate", "a series drawn from a model, with noise, as CSV");
  command->add_option("--n", flags->n, "number of points")->type_name("N")->group("Times");
  command->add_option("--gap", flags->gap, "their spacing")->type_name("D")->group("Times");
  command->add_option("--start", flags->start, "the first time (default: 0)")->type_name("T")->group("Times");
  command->add_flag("--irregular", flags->irregular, "gaps at random between 0.1 and 1.9 times that")
      ->group("Times");
  add_parameter_flags(*command, flags->model);
  add_kernel_flag(*command, flags->model);
  command->add_option("--offset", flags->offset, "a constant that is added (default: 0)")
      ->type_name("C")
      ->group("Model");
  command->add_option("-o,--output", flags->output, "write to this file (default: -, standard output)")
      ->type_name("FILE")
      ->group("Output");
  add_common_flags(*command, flags->common);
  set_examples(
      *command,
      {"bandgp simulate --n 100000 --gap 1 --variance 2 --lengthscale 30 --noise 0.1 --seed 1 -o series.csv",
       "bandgp simulate --n 5000 --gap 0.1 --irregular --kernel '1*se(lengthscale=20) + "
       "0.3*matern12(lengthscale=1)' --noise 0.01"},
      "The draw is exact to rounding (se: to a relative 8e-14 of the covariance), in linear time.");
  command->callback([flags, &run] { run = [flags] { return simulate_series(*flags); }; });
}

}  // namespace bandgp::cli
