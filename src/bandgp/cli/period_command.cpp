// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "bandgp/base/quote.hpp"
#include "bandgp/cli/commands.hpp"
#include "bandgp/cli/output.hpp"
#include "bandgp/cli/period_output.hpp"
#include "bandgp/cli/progress.hpp"
#include "bandgp/cli/reference.hpp"
#include "bandgp/cli/text_stream.hpp"
#include "bandgp/cli/words.hpp"
#include "bandgp/io/write_file.hpp"

namespace bandgp::cli {
namespace {

struct PeriodFlags {
  DataFlags data;
  CommonFlags common;
  std::string mean = "linear";
  Text shortest, longest, false_alarm, peaks, output;
};

double given_period(const Series& series, const char* flag, const Text& text) {
  if (!text) return 0;
  double period = 0;
  try {
    period = parse_duration(series.axis, *text);
  } catch (const std::invalid_argument& error) {
    throw std::invalid_argument(fmt::format("{}: {}", flag, words_of(error)));
  }
  if (!std::isfinite(period) || !(period > 0))
    throw std::invalid_argument(fmt::format("{} is {}, must be finite and positive", flag, quote(*text)));
  return period;
}

PeriodOptions options_from(const PeriodFlags& flags, const Series& series) {
  PeriodOptions options;
  if (flags.mean == "constant") {
    options.baseline = Baseline::constant;
  } else if (flags.mean != "linear") {
    throw std::invalid_argument(fmt::format("--mean is constant or linear, not {}", quote(flags.mean)));
  }
  if (flags.false_alarm) {
    options.false_alarm = positive_number("--false-alarm", *flags.false_alarm);
    if (options.false_alarm >= 1)
      throw std::invalid_argument(fmt::format("--false-alarm is {}, must be below 1", options.false_alarm));
  }
  if (flags.peaks) {
    const Index peaks = whole_number("--peaks", *flags.peaks);
    constexpr Index kMost = 100;
    if (peaks == 0 || peaks > kMost)
      throw std::invalid_argument(fmt::format("--peaks is {}, must be from 1 to {}", peaks, kMost));
    options.most_peaks = static_cast<std::size_t>(peaks);
  }
  options.shortest = given_period(series, "--shortest", flags.shortest);
  options.longest = given_period(series, "--longest", flags.longest);
  const Samples samples = samples_of(series);
  const double shortest = options.shortest > 0 ? options.shortest : 2 * samples.spacing;
  const double longest = options.longest > 0 ? options.longest : samples.span;
  if (samples.span > 0 && shortest > longest)
    throw std::invalid_argument(
        fmt::format("the shortest period, {:g}, is longer than the longest, {:g}", shortest, longest));
  return options;
}

/// Tells what will take long before it is done.
void announce(const Samples& samples, const PeriodOptions& options, bool quiet) {
  constexpr double kLongSeconds = 10, kSecondsEach = 4e-7;  // for a point, or a frequency, and a peak
  const FrequencyGrid grid = grid_for(samples, options);
  const double seconds = kSecondsEach * static_cast<double>(samples.size() + grid.count) *
                         static_cast<double>(options.most_peaks);
  if (quiet || seconds < kLongSeconds) return;
  fmt::print(
      stderr,
      "bandgp: {} frequencies of {} points take perhaps {}; --shortest P looks at fewer of them; Ctrl-C "
      "ends it with what it has\n",
      grid.count, samples.size(), seconds_text(seconds));
}

void write_spectrum(const Periods& periods, const std::string& path) {
  TextStream out(path);
  out.text("frequency,period,power,noise,rest\n");
  for (Index i = 0; i < periods.grid.count; ++i) {
    const auto k = static_cast<std::size_t>(i);
    const double frequency = periods.grid.at(i);
    for (const double number : {frequency, 1 / frequency, periods.power[k], periods.level[k]}) {
      out.number(number);
      out.text(",");
    }
    out.number(periods.rest[k]);
    out.text("\n");
  }
  out.finish();
}

int period(const PeriodFlags& flags) {
  check(flags.common);
  if (flags.output) {
    require_writable(*flags.output);
    require_other_than(*flags.output, flags.data.file);
  }
  const Input input = read_input(flags.data, Mean::constant);
  PeriodOptions options = options_from(flags, *input.series);
  const Samples samples = samples_of(*input.series);
  announce(samples, options, flags.common.quiet);
  const Interrupt interrupt(flags.common.quiet);
  options.cancelled = Interrupt::requested;
  const PeriodResult result{input, options, find_periods(samples, options)};
  if (result.periods.power.empty())
    throw std::invalid_argument(
        fmt::format("{}: a periodogram needs five observations at different times, and values that are not a "
                    "straight line",
                    input.name));
  const bool cancelled = Interrupt::requested();
  if (flags.output) write_spectrum(result.periods, *flags.output);
  if (!(flags.output && *flags.output == "-"))
    flags.common.json ? print(period_json(result, cancelled)) : write_stdout(period_text(result, cancelled));
  return cancelled ? 1 : 0;
}

}  // namespace

void add_period(CLI::App& program, Run& run) {
  auto flags = std::make_shared<PeriodFlags>();
  CLI::App* command =
      program.add_subcommand("period", "the periods of a series: its periodogram, and peaks that stand out");
  add_data_flags(*command, flags->data)->required();
  command
      ->add_option("--mean", flags->mean,
                   "what is fitted beside every sinusoid (default: linear, a constant and a trend)")
      ->type_name("constant|linear")
      ->group("Model");
  const auto add = [&](const char* flag, Text& value, const char* help, const char* type) {
    command->add_option(flag, value, help)->type_name(type)->group("Periods");
  };
  add("--shortest", flags->shortest, "the shortest period that is looked at (default: two median spacings)",
      "P");
  add("--longest", flags->longest,
      "the longest one, such as 400d (default: the span; peaks end at half of it)", "P");
  add("--false-alarm", flags->false_alarm,
      "probability that noise makes a peak that is listed (default: 0.001)", "P");
  add("--peaks", flags->peaks, "at most so many peaks (default: 16)", "N");
  command
      ->add_option("-o,--output", flags->output,
                   "write the periodogram to this file, as CSV; - is standard output")
      ->type_name("FILE")
      ->group("Output");
  add_common_flags(*command, flags->common);
  set_examples(
      *command,
      {"bandgp period data/sunspots.csv", "bandgp period data/sunspots.csv --shortest 5 --json",
       "bandgp period data/sunspots.csv -o periodogram.csv"},
      "Irregular times, gaps, a trend and known errors are taken as they are. A peak stands out from the\n"
      "frequencies around it, so that noise of any colour makes none; the probability is right to a factor "
      "of\n"
      "three. Peaks are taken out one after the other, which leaves no sidelobes or aliases of them. One "
      "that\n"
      "wanders is a hump: its phase does not keep, and the error is that of its centre. An alias explains "
      "the\n"
      "data within 6 nats as well. The CSV has the power of every frequency (share of the variance), that "
      "of\n"
      "noise, and what is left without the peaks.");
  command->callback([flags, &run] { run = [flags] { return period(*flags); }; });
}

}  // namespace bandgp::cli
