// SPDX-License-Identifier: Apache-2.0
#include "training.hpp"

#include <fmt/format.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "words.hpp"

namespace bandgp::python {

/// Calls into Python; false once anything has been raised.
template <typename Call>
bool Callbacks::guarded(Call call) {
  const nb::gil_scoped_acquire lock;
  if (!raised_.is_none()) return false;
  try {
    call();
  } catch (const nb::python_error& error) {
    raised_ = nb::borrow(error.value());
    return false;
  }
  return true;
}

/// True once a signal handler or a callback has raised.
bool Callbacks::stopped() {
  return !guarded([] {
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
  });
}

void Callbacks::attach(FitOptions& options) {
  options.cancelled = [this] { return stopped(); };
  if (!progress_.is_none()) {
    options.progress = [this](const TraceEntry& entry) {
      guarded([&] {
        progress_(entry.evaluation, entry.stage, entry.n, entry.nll,
                  parameter_names(parse_kernel(entry.kernel)), entry.parameters, entry.bandwidth);
      });
    };
  }
  if (!announce_.is_none()) {
    options.accept_cost = [this](const CostEstimate& cost) {
      return guarded([&] {
        announce_(fmt::format(
            "{} on {} points takes {:.2g} GB and about {:.2g} s an evaluation, the fit perhaps {:.0f} s "
            "from here; {}",
            cost.what, cost.n, cost.bytes / 1e9, cost.seconds_per_evaluation,
            static_cast<double>(cost.evaluations) * cost.seconds_per_evaluation,
            words(cost.advice, argument_spelling)));
      });
    };
  }
}

void Callbacks::attach(RunOptions& options) {
  options.cancelled = [this] {
    return stopped();
  };  // Python looks at signals in its main thread alone, which works too
  if (!progress_.is_none()) {
    options.progress = [this](Index done, Index of, const std::string& label) {
      guarded([&] { progress_(done, of, label); });
    };
  }
}

}  // namespace bandgp::python
