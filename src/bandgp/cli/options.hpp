// SPDX-License-Identifier: Apache-2.0
// The flags that several commands share.  They are kept as the text that was given and checked when they are
// used, so that every mistake gets its own message.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "bandgp/cli/numbers.hpp"
#include "bandgp/gp/band_representation.hpp"
#include "bandgp/gp/model.hpp"
#include "bandgp/series/table.hpp"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace bandgp::cli {

struct DataFlags {
  std::string file, x, y, yerr, time_format, time_unit, channel;
  Text step, thin;
  bool skip_bad = false;
};
/// Returns the option that names the file: FILE, or a flag.
CLI::Option* add_data_flags(CLI::App& command, DataFlags& flags, const char* file = "FILE");

struct ModelFlags {
  std::string kernel = "se", mean = "constant";
  Text variance, lengthscale, noise;
};
void add_kernel_flag(CLI::App& command, ModelFlags& flags);      // --kernel
void add_mean_flag(CLI::App& command, ModelFlags& flags);        // --mean
void add_parameter_flags(CLI::App& command, ModelFlags& flags);  // --variance, --lengthscale, --noise

struct CutFlags {
  std::string bandwidth = "auto";
  Text reach, tolerance;
  Text inducing, neighbours, taper_range, taper;  // the other methods' own
  bool move_inducing = false;
};
void add_cut_flags(CLI::App& command, CutFlags& flags);       // all of them
void add_tolerance_flag(CLI::App& command, CutFlags& flags);  // --tolerance only

struct CommonFlags {
  std::string method = "auto";
  Text seed, threads, max_bytes;
  bool json = false, quiet = false;
};
void add_method_flag(CLI::App& command, CommonFlags& flags);   // --method
void add_common_flags(CLI::App& command, CommonFlags& flags);  // --threads, --seed, --json, --quiet
void check(const CommonFlags& flags);
void add_memory_flag(CLI::App& command, CommonFlags& flags);  // --max-bytes
Index thread_count(const CommonFlags& flags);      // as asked for, or as many as there are processors
double given_max_bytes(const CommonFlags& flags);  // 0: the default

/// The series, and what is worth telling about where it came from.
struct Input {
  std::shared_ptr<const Series> series;
  std::string name, time_name, value_name;
  Index bad_lines = 0;
  std::string time_column, value_column, error_column;  // as in Table
  std::vector<std::string> unused;
};
/// `rows`, where given, becomes the table of the observations that the series is made of, in time order.
Input read_input(const DataFlags& flags, Mean mean, Table* rows = nullptr);

/// The model at given parameters, all of them set; times may be durations.
Model given_model(const ModelFlags& flags, const ReadDuration& duration);
Cut given_cut(const CutFlags& flags, const CommonFlags& common, const Kernel& kernel);
double given_tolerance(const CutFlags& flags);

}  // namespace bandgp::cli
