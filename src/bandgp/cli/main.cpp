// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <iostream>
#include <new>
#include <utility>

#include "bandgp/base/quote.hpp"
#include "bandgp/cli/commands.hpp"
#include "bandgp/cli/manual.hpp"
#include "bandgp/cli/reference.hpp"
#include "bandgp/cli/shell.hpp"
#include "bandgp/cli/suggestion.hpp"
#include "bandgp/cli/words.hpp"
#include "bandgp/version.hpp"

namespace {

/// A usage or input error: one line, whatever the message was.
int refuse(std::string message) {
  std::ranges::replace(message, '\n', ' ');
  std::fprintf(stderr, "bandgp: %s\n", bandgp::printable(std::move(message)).c_str());
  return 2;
}

int run_program(int argc, char** argv) {
  CLI::App program("Gaussian-process regression for long one-dimensional series, with a certificate.",
                   "bandgp");
  program.set_help_flag("-h,--help", "print this help");
  program.set_version_flag("--version", "bandgp " + std::string(bandgp::version()), "print the version");
  bandgp::cli::set_examples(
      program,
      {"bandgp fit data/sunspots.csv -o model.json", "bandgp predict model.json --grid 1749,1990,0.25"},
      "bandgp COMMAND --help tells more, bandgp man everything.\n"
      "Exit code: 0 done and certified; 1 finished, but not converged or not certified (the result says "
      "why);\n"
      "2 a mistake in the request or in its input.");
  program.formatter_fn([&program](const CLI::App* app, const std::string&, CLI::AppFormatMode) {
    return app == &program ? bandgp::cli::help_text(bandgp::cli::reference_of(program))
                           : bandgp::cli::help_text(bandgp::cli::command_entry(*app));
  });
  bandgp::cli::Run run;
  const std::string command = bandgp::cli::shell_text({argv, static_cast<std::size_t>(argc)});
  bandgp::cli::add_fit(program, run, command);
  bandgp::cli::add_predict(program, run);
  bandgp::cli::add_report(program, run, command);
  bandgp::cli::add_nll(program, run);
  bandgp::cli::add_period(program, run);
  bandgp::cli::add_bandwidth(program, run);
  bandgp::cli::add_cv(program, run, command);
  bandgp::cli::add_simulate(program, run);
  bandgp::cli::add_reproduce(program, run, command);
  bandgp::cli::add_info(program, run);
  bandgp::cli::add_man(program, run);
  bandgp::cli::add_completion(program, run);
  try {
    program.parse(argc, argv);
  } catch (const CLI::Success& help) {
    const int code = program.exit(help);
    return std::cout.flush() ? code : refuse("cannot write to standard output");
  } catch (const CLI::ExtrasError&) {
    return refuse(bandgp::cli::left_over(program) + bandgp::cli::help_hint(program));
  } catch (const CLI::ParseError& error) {
    return refuse(error.what() + bandgp::cli::help_hint(program));
  }
  if (run) return run();
  std::string names;
  for (const CLI::App* known : program.get_subcommands([](const CLI::App*) { return true; }))
    names += (names.empty() ? "" : ", ") + known->get_name();
  return refuse("which command? " + names + " (see bandgp --help)");
}

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_DFL);  // a reader that has seen enough (head) ends us quietly, whoever started us
  try {
    return run_program(argc, argv);
  } catch (const std::bad_alloc&) {
    return refuse("not enough memory; --thin D drops points closer than D");
  } catch (const std::exception& error) {
    return refuse(bandgp::cli::words_of(error));
  }
}
