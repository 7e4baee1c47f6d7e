// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <nanobind/nanobind.h>

#include <memory>

#include "bandgp/bandgp.hpp"

namespace bandgp::python {

/// A series that fits and evaluations share.
struct SharedSeries {
  std::shared_ptr<const Series> series;
};

void bind_data(nanobind::module_& m);         // time axes, tables, series
void bind_fitted(nanobind::module_& m);       // training and what comes of it
void bind_tools(nanobind::module_& m);        // one evaluation, bandwidths, simulation
void bind_periods(nanobind::module_& m);      // periodograms
void bind_experiments(nanobind::module_& m);  // the paper's

}  // namespace bandgp::python
