// SPDX-License-Identifier: Apache-2.0
// Training without the interpreter's lock, with Python's callbacks and Python's Ctrl-C.
#pragma once
#include <nanobind/nanobind.h>

#include "bandgp/experiments/trials.hpp"
#include "bandgp/fit/fit.hpp"

namespace bandgp::python {

namespace nb = nanobind;

/// What Python is told and may say while a fit runs.  An exception that a callback or a signal raises ends
/// the training; the best so far is kept beside it.
class Callbacks {
 public:
  /// Both may be None: progress(evaluation, stage, n, nll, names, parameters, bandwidth), announce(text).
  Callbacks(nb::object progress, nb::object announce)
      : progress_(std::move(progress)), announce_(std::move(announce)) {}

  void attach(FitOptions& options);
  /// The same for many fits, some at a time: progress(done, of, label).
  void attach(RunOptions& options);
  /// What was raised meanwhile, or None.
  nb::object raised() const { return raised_; }

 private:
  template <typename Call>
  bool guarded(Call call);
  bool stopped();

  nb::object progress_, announce_, raised_ = nb::none();
};

}  // namespace bandgp::python
