// SPDX-License-Identifier: Apache-2.0
// A series as it was given: nothing sorted, dropped or scaled yet.
#pragma once
#include <string>
#include <vector>

#include "bandgp/base/index.hpp"

namespace bandgp {

struct Table {
  std::vector<double> time, value;    // a missing value is NaN
  std::vector<double> variance;       // yerr²; empty when there is no yerr column
  std::string time_name, value_name;  // from the header, empty without one
  Index bad_lines = 0;                // malformed lines dropped (skip_bad)
};

}  // namespace bandgp
