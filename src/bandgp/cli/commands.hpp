// SPDX-License-Identifier: Apache-2.0
// The commands.  Each adds itself to the program; once the command line is read, `run` does what was asked
// for and returns the exit code: 0 done and certified, 1 finished but not converged or not certified.  What
// it throws is 2.
#pragma once
#include <functional>
#include <string>

namespace CLI {
class App;
}

namespace bandgp::cli {

using Run = std::function<int()>;

/// `command` is what was typed, quoted for a shell; reports show it.
void add_fit(CLI::App& program, Run& run, const std::string& command);
void add_predict(CLI::App& program, Run& run);
void add_report(CLI::App& program, Run& run, const std::string& command);
void add_nll(CLI::App& program, Run& run);
void add_period(CLI::App& program, Run& run);
void add_bandwidth(CLI::App& program, Run& run);
void add_cv(CLI::App& program, Run& run, const std::string& command);
void add_simulate(CLI::App& program, Run& run);
void add_reproduce(CLI::App& program, Run& run, const std::string& command);
void add_info(CLI::App& program, Run& run);
void add_man(CLI::App& program, Run& run);
void add_completion(CLI::App& program, Run& run);

}  // namespace bandgp::cli
