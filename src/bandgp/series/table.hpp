// SPDX-License-Identifier: Apache-2.0
// A series as it was given: nothing sorted, dropped or scaled yet.
#pragma once
#include <string>
#include <vector>

#include "bandgp/base/index.hpp"
#include "bandgp/series/time_axis.hpp"

namespace bandgp {

struct Table {
  std::vector<double> time, value;              // a missing value is NaN
  std::vector<double> variance = {};            // yerr²; empty when there is no yerr column
  std::string time_name = {}, value_name = {};  // from the header, empty without one
  Index bad_lines = 0;                          // malformed lines dropped (skip_bad)
  TimeAxis axis = {};                           // what the times are
  std::string time_column = {}, value_column = {},
              error_column = {};         // names, or numbers from 1; empty: none
  std::vector<std::string> unused = {};  // columns that were not taken
};

}  // namespace bandgp
