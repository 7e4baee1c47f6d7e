// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <new>

#include "bandgp/cli/commands.hpp"
#include "bandgp/cli/report_output.hpp"
#include "bandgp/version.hpp"

namespace {

/// A usage or input error: one line, whatever the message was.
int refuse(std::string message) {
  std::ranges::replace(message, '\n', ' ');
  std::fprintf(stderr, "bandgp: %s\n", message.c_str());
  return 2;
}

int run_program(int argc, char** argv) {
  CLI::App program("Gaussian-process regression for long one-dimensional series, with a certificate.",
                   "bandgp");
  program.set_help_flag("-h,--help", "print this help");
  program.set_version_flag("--version", "bandgp " + std::string(bandgp::version()), "print the version");
  program.footer(
      "Exit code: 0 done and certified; 1 finished, but not converged or not certified (the result says "
      "why);\n"
      "2 a mistake in the request or in its input.\n"
      "Example: bandgp fit data/sunspots.csv -o model.json");
  bandgp::cli::Run run;
  const std::string command = bandgp::cli::shell_text({argv, static_cast<std::size_t>(argc)});
  bandgp::cli::add_fit(program, run, command);
  bandgp::cli::add_report(program, run, command);
  bandgp::cli::add_nll(program, run);
  bandgp::cli::add_bandwidth(program, run);
  bandgp::cli::add_info(program, run);
  try {
    program.parse(argc, argv);
  } catch (const CLI::Success& help) {
    return program.exit(help);
  } catch (const CLI::ParseError& error) {
    return refuse(std::string(error.what()) + " (see bandgp --help)");
  }
  return run ? run() : refuse("which command? fit, report, nll, bandwidth or info (see bandgp --help)");
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run_program(argc, argv);
  } catch (const std::bad_alloc&) {
    return refuse("not enough memory; --thin D drops points closer than D");
  } catch (const std::exception& error) {
    return refuse(error.what());
  }
}
