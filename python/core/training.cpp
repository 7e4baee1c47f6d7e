// SPDX-License-Identifier: Apache-2.0
#include "training.hpp"

#include <fmt/format.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

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

void Callbacks::attach(FitOptions& options) {
  options.cancelled = [this] {
    return !guarded([] {
      if (PyErr_CheckSignals() != 0) throw nb::python_error();
    });
  };
  if (!progress_.is_none()) {
    options.progress = [this](const TraceEntry& entry) {
      guarded([&] {
        progress_(entry.evaluation, entry.stage, entry.n, entry.nll, entry.parameters, entry.bandwidth);
      });
    };
  }
  if (!announce_.is_none()) {
    options.accept_cost = [this](const CostEstimate& cost) {
      return guarded([&] {
        announce_(fmt::format(
            "a band of {} neighbours on {} points takes {:.2g} GB and about {:.0f} s an evaluation; {}",
            cost.bandwidth, cost.n, cost.bytes / 1e9, cost.seconds_per_evaluation, cost.advice));
      });
    };
  }
}

}  // namespace bandgp::python
