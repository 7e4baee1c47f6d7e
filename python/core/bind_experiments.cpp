// SPDX-License-Identifier: Apache-2.0
#include <nanobind/stl/string.h>

#include "bandgp/experiments/experiment.hpp"
#include "bindings.hpp"
#include "fitted.hpp"
#include "training.hpp"
#include "words.hpp"

namespace bandgp::python {
namespace {

/// Runs an experiment of the paper and writes its files.  Its JSON as text, which is empty where it was
/// stopped, and what was raised meanwhile, or None.
nb::tuple reproduce(const std::string& name, const std::string& out, const std::string& data,
                    const std::string& bundled, bool quick, Index threads, const std::string& command,
                    const std::string& created, nb::object progress) {
  const MakeExperiment make = experiment_named(name);
  Callbacks callbacks(std::move(progress), nb::none());
  std::string json;
  {
    const nb::gil_scoped_release unlocked;
    try {
      ExperimentOptions options{
          .data = data, .bundled = bundled, .quick = quick, .spelling = argument_spelling};
      const ExperimentFiles files = experiment_files(out, name, options);
      Store store(files.store);
      options.run.threads = threads;
      options.run.store = &store;
      callbacks.attach(options.run);
      Experiment experiment = make(options);
      if (experiment.complete) {
        experiment.page.command = command;
        experiment.page.created = created;
        write_experiment(files, experiment);
        json = experiment.json.dump();
      }
    } catch (const std::runtime_error& error) {  // that a fit fails is a result, not an error
      throw FileError(error.what());
    }
  }
  return nb::make_tuple(json, callbacks.raised());
}

}  // namespace

void bind_experiments(nb::module_& m) {
  m.def("reproduce", &reproduce, nb::kw_only(), nb::arg("name"), nb::arg("out"), nb::arg("data"),
        nb::arg("bundled"), nb::arg("quick"), nb::arg("threads"), nb::arg("command"), nb::arg("created"),
        nb::arg("progress").none());
}

}  // namespace bandgp::python
