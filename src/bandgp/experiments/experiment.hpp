// SPDX-License-Identifier: Apache-2.0
// The experiments of Ehrhardt and Tobar, and what goes beyond them: each a table, a JSON file and a page.
#pragma once
#include <nlohmann/json.hpp>
#include <string>

#include "bandgp/base/message.hpp"
#include "bandgp/experiments/trials.hpp"
#include "bandgp/report/document.hpp"

namespace bandgp {

struct ExperimentOptions {
  std::string data;     // folder of the data; empty: none
  std::string bundled;  // the sunspot series to take where that folder has none; empty: none
  bool quick = false;   // fewer folds and sizes: minutes become seconds
  RunOptions run = {};
  Spelling spelling = plain_spelling;  // of options in remarks
};

struct Experiment {
  bool complete = false;  // false: interrupted, and nothing else is set
  Index done = 0, of = 0;
  nlohmann::ordered_json json;
  std::string csv;
  Page page;  // command and time of making are the caller's
};

/// The files that the figures are about.  Throws std::invalid_argument where there are none.
std::string sunspots_file(const ExperimentOptions& options);
std::string eeg_file(const ExperimentOptions& options);

/// Figure 2: monthly sunspot numbers.
Experiment sunspots_experiment(const ExperimentOptions& options);
/// Figure 3: 4000 samples of a neonatal EEG.
Experiment eeg_experiment(const ExperimentOptions& options);
/// Figure 4 and Table 1: which bandwidths are valid, on simulated series.
Experiment bandwidth_experiment(const ExperimentOptions& options);

using MakeExperiment = Experiment (*)(const ExperimentOptions&);
/// By name: sunspots, eeg or bandwidth.  Throws std::invalid_argument for any other.
MakeExperiment experiment_named(const std::string& name);

/// The files of an experiment in its folder.
struct ExperimentFiles {
  std::string csv, json, html, store;
};
/// Makes the folder where there is none.  Throws std::runtime_error where a file could not be written, and
/// std::invalid_argument where the data are missing, before it makes anything.
ExperimentFiles experiment_files(const std::string& folder, const std::string& name,
                                 const ExperimentOptions& options);
/// Table, JSON and page, each whole or not at all.
void write_experiment(const ExperimentFiles& files, const Experiment& experiment);

}  // namespace bandgp
