// SPDX-License-Identifier: Apache-2.0
#include "bandgp/experiments/experiment.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <stdexcept>

#include "bandgp/io/write_file.hpp"

namespace bandgp {

namespace fs = std::filesystem;

namespace {

struct Recipe {
  const char* name;
  MakeExperiment make;
  std::string (*file)(const ExperimentOptions&);  // the data it needs; null: none
};
constexpr Recipe kRecipes[] = {{"sunspots", sunspots_experiment, sunspots_file},
                               {"eeg", eeg_experiment, eeg_file},
                               {"bandwidth", bandwidth_experiment, nullptr}};

const Recipe& recipe_named(const std::string& name) {
  for (const Recipe& recipe : kRecipes) {
    if (name == recipe.name) return recipe;
  }
  throw std::invalid_argument(fmt::format("reproduce what? sunspots, eeg or bandwidth, not \"{}\"", name));
}

}  // namespace

MakeExperiment experiment_named(const std::string& name) { return recipe_named(name).make; }

ExperimentFiles experiment_files(const std::string& folder, const std::string& name,
                                 const ExperimentOptions& options) {
  if (const Recipe& recipe = recipe_named(name); recipe.file != nullptr) (void)recipe.file(options);
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
