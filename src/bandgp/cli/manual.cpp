// SPDX-License-Identifier: Apache-2.0
#include "bandgp/cli/manual.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "bandgp/kernel/kernel.hpp"
#include "bandgp/version.hpp"

namespace bandgp::cli {
namespace {

/// `a, b and c`
std::string listed(std::span<const std::string_view> words) {
  return fmt::format("{} and {}", fmt::join(words.first(words.size() - 1), ", "), words.back());
}

struct Section {
  const char* title;
  std::string text;
};

/// What belongs to no single command.
std::vector<Section> general() {
  return {
      {"Kernels",
       fmt::format(
           "A kernel is a sum of terms, variance*shape(lengthscale=L): 2.5*se(lengthscale=3), se + se, "
           "0.8*se(lengthscale=20) + 0.1*matern12(lengthscale=2). Shapes are {}; upper and lower case "
           "are the same, and rbf, matern-3/2, matern_32 and their like are read too. se and the "
           "Matern shapes can be multiplied by one factor, which makes them oscillate: "
           "se(lengthscale=30)*cos(period=11), matern32*periodic(period=24, smoothness=0.7); factors are {}. "
           "The shapes sho (a damped oscillator, with period and quality) and periodic (with period and "
           "smoothness) have no length-scale. Values that are "
           "left out are found by fit, periods from the peaks of a periodogram; those that are given are "
           "where it starts. Where the times are timestamps, periods and length-scales may be durations: "
           "period=24h, 7d, 1y (365.25 days), 30min, 10s; plain numbers are in the unit of time that is told "
           "(--time-unit). With one term the "
           "parameters are called variance, lengthscale and noise, with several variance_1, "
           "lengthscale_1, variance_2, ..., noise. Variance and noise are variances, not deviations.",
           listed(shape_names()), listed(factor_names()))},
      {"Files",
       "Data are tables of numbers, separated by commas, semicolons, tabs or blanks, with or without a "
       "header "
       "line. Empty cells, NA, NaN, inf and a lone hyphen are missing values: their rows are dropped and "
       "counted. As a file, a hyphen stands for standard input or output. An output file appears whole or "
       "not "
       "at all."},
      {"JSON",
       "Fields that scripts may rely on; others may be added. parameters has every parameter of the model by "
       "name, gradient and standard_errors have the same names (gradient with log_ before them). nll: n, "
       "method, "
       "bandwidth, nll, evaluation_seconds, gradient, certificate (positive_definite, rho, nll_error, "
       "mean_error, variance_error; null where there is nothing to certify), kernel, noise, parameters. fit: "
       "the "
       "same, and each parameter as a field of its own, mean, standard_errors, status, evaluations, seconds, "
       "series. bandwidth: n, min_gap, corollary, theorem, lemma, tolerance (nats, bandwidth), null where a "
       "rule "
       "does not apply. period: peaks (period, period_error, frequency, frequency_error, amplitude, power, "
       "log10_false_alarm, wanders, width, harmonic, harmonic_of, aliases), the most powerful first, "
       "sampling_periods, frequencies, n, series. cv: folds, seed, methods. All numbers are in the units of "
       "the data."},
      {"Exit status",
       "0: done, and certified. 1: finished, but not converged or not certified; the result is written and "
       "says why. 2: a mistake in the request or in its input, told in one line. The status of a fit is "
       "converged, or at_bound where a parameter ended at the edge of what is tried, with 0; rounding where "
       "the NLL's own rounding exceeds the tolerance and hides its minimum, stalled, out_of_evaluations, "
       "cancelled, not_positive_definite or too_large with 1."},
      {"Environment",
       "NO_COLOR: any text in it keeps colours away; they are for terminals only in any case."}};
}

/// `-o, --output FILE`
std::string heading(const OptionEntry& option) {
  if (option.positional) return option.names[0];
  return fmt::format("{}{}{}", fmt::join(option.names, ", "), option.value.empty() ? "" : " ", option.value);
}

std::string capitals(std::string text) {
  for (char& c : text) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return text;
}

/// Text that roff takes as it is.
std::string roff(std::string_view text) {
  std::string out;
  bool line_start = true;
  for (const char c : text) {
    if (line_start && (c == '.' || c == '\'')) out += "\\&";
    line_start = c == '\n';
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else if (c == '\'') {
      out += "\\(aq";
    } else {
      out += c;
    }
  }
  return out;
}

constexpr std::size_t kColumn = 24, kWidth = 100;  // where help begins, and where lines end

/// `  what      help`, wrapped, help in a column of its own; below `what` where that is long.
std::string row(const std::string& what, std::string_view help) {
  std::string out = "  " + what;
  if (out.size() + 2 > kColumn) out += '\n';
  std::size_t at = out.ends_with('\n') ? 0 : out.size();
  while (!help.empty()) {
    out.append(kColumn - at, ' ');
    at = 0;
    std::size_t end = help.size();
    if (end > kWidth - kColumn) end = help.rfind(' ', kWidth - kColumn);
    if (end == help.npos) end = help.size();
    out += help.substr(0, end);
    out += '\n';
    help.remove_prefix(std::min(end + 1, help.size()));
  }
  return out;
}

}  // namespace

std::string help_text(const Reference& reference) {
  std::string out =
      fmt::format("{}\n\nUsage: bandgp COMMAND [options] ...\n\nCommands:\n", reference.summary);
  for (const CommandEntry& command : reference.commands) out += row(command.name, command.summary);
  out += fmt::format("\nOther:\n{}{}\n{}\n\nExamples:\n", row("-h, --help", "print this help"),
                     row("--version", "print the version"), reference.notes);
  for (const std::string& example : reference.examples) out += fmt::format("  {}\n", example);
  return out;
}

std::string help_text(const CommandEntry& command) {
  std::string out = fmt::format("{}: {}\n\nUsage: {}\n", command.name, command.summary, command.usage());
  for (const std::string& group : command.groups()) {
    out += fmt::format("\n{}:\n", group);
    for (const OptionEntry& option : command.options) {
      if (option.group == group) out += row(heading(option), option.help);
    }
  }
  if (!command.notes.empty()) out += fmt::format("\n{}\n", command.notes);
  out += "\nExamples:\n";
  for (const std::string& example : command.examples) out += fmt::format("  {}\n", example);
  return out;
}

std::string manual_roff(const Reference& reference) {
  std::string out = fmt::format(".TH BANDGP 1 \"\" \"bandgp {}\" \"User Commands\"\n", version());
  out +=
      ".SH NAME\nbandgp \\- Gaussian\\-process regression for long one\\-dimensional series\n.SH SYNOPSIS\n";
  for (const CommandEntry& command : reference.commands) {
    if (&command != &reference.commands.front()) out += ".br\n";
    out += fmt::format(".B {}\n", roff(command.usage()));
  }
  out += fmt::format(".SH DESCRIPTION\n{}\n.SH COMMANDS\n", roff(reference.summary));
  for (const CommandEntry& command : reference.commands) {
    out += fmt::format(".SS {}\n{}.\n", roff(command.name), roff(command.summary));
    if (!command.notes.empty()) out += fmt::format(".PP\n{}\n", roff(command.notes));
    for (const std::string& group : command.groups()) {
      for (const OptionEntry& option : command.options) {
        if (option.group == group)
          out += fmt::format(".TP\n.B {}\n{}\n", roff(heading(option)), roff(option.help));
      }
    }
    out += ".PP\nExamples:\n.PP\n.nf\n";
    for (const std::string& example : command.examples) out += fmt::format("  {}\n", roff(example));
    out += ".fi\n";
  }
  for (const Section& section : general())
    out += fmt::format(".SH {}\n{}\n", roff(capitals(section.title)), roff(section.text));
  return out;
}

std::string manual_markdown(const Reference& reference) {
  std::string out = fmt::format(
      "# The command line\n\n<!-- written by ./dev docs from what the commands say of themselves; edit those "
      "-->\n\n"
      "{}\n",
      reference.summary);
  for (const CommandEntry& command : reference.commands)
    out += fmt::format("\n- [`bandgp {0}`](#bandgp-{0}): {1}", command.name, command.summary);
  out += "\n";
  for (const CommandEntry& command : reference.commands) {
    out += fmt::format("\n## bandgp {}\n\n    {}\n", command.name, command.usage());
    if (!command.notes.empty()) out += fmt::format("\n{}\n", command.notes);
    for (const std::string& group : command.groups()) {
      out += fmt::format("\n{}:\n\n", group);
      for (const OptionEntry& option : command.options) {
        if (option.group == group) out += fmt::format("- `{}` {}\n", heading(option), option.help);
      }
    }
    out += fmt::format("\n<!-- run -->\n```sh\n{}\n```\n", fmt::join(command.examples, "\n"));
  }
  for (const Section& section : general()) out += fmt::format("\n## {}\n\n{}\n", section.title, section.text);
  return out;
}

}  // namespace bandgp::cli
