// SPDX-License-Identifier: Apache-2.0
#include "bandgp/experiments/experiment.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <stdexcept>

#include "bandgp/io/write_file.hpp"

namespace bandgp {

namespace fs = std::filesystem;

MakeExperiment experiment_named(const std::string& name) {
  if (name == "sunspots") return sunspots_experiment;
  if (name == "eeg") return eeg_experiment;
  if (name == "bandwidth") return bandwidth_experiment;
  throw std::invalid_argument(fmt::format("reproduce what? sunspots, eeg or bandwidth, not \"{}\"", name));
}

ExperimentFiles experiment_files(const std::string& folder, const std::string& name,
                                 const ExperimentOptions& options) {
  if (name == "sunspots") (void)sunspots_file(options);
  if (name == "eeg") (void)eeg_file(options);
  std::error_code error;
  fs::create_directories(folder, error);
  if (!fs::is_directory(folder))
    throw std::runtime_error(fmt::format("cannot make the folder {}: {}", folder, error.message()));
  const auto file = [&](const char* ending) { return (fs::path(folder) / (name + ending)).string(); };
  ExperimentFiles files{file(".csv"), file(".json"), file(".html"), file(".results.jsonl")};
  for (const std::string& path : {files.csv, files.json, files.html}) require_writable(path);
  return files;
}

void write_experiment(const ExperimentFiles& files, const Experiment& experiment) {
  write_file(files.csv, experiment.csv);
  write_file(files.json, experiment.json.dump(1) + "\n");
  write_file(files.html, document_page(experiment.page));
}

}  // namespace bandgp
