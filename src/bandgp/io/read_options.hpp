// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

namespace bandgp {

struct ReadOptions {
  std::string x = {}, y = {}, yerr = {};  // by name or 1-based number; empty: docs/reading.md says which
  double step = 0;                        // > 0: there is no time column, times are 0, step, 2·step, …
  bool skip_bad = false;                  // drop malformed lines and count them instead of refusing
  std::string time_format = {};           // a pattern (series/time_pattern.hpp), number, epoch-s or epoch-ms
  std::string time_unit = {};  // s, min, h, d or y, for timestamps; empty: one that is easy to read
  std::string channel = {};    // of an EDF file; empty: the only one
};

}  // namespace bandgp
