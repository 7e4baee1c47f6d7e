// SPDX-License-Identifier: Apache-2.0
// A plain table of numbers: comma, semicolon, tab or blank separated, with or without a header line.
#pragma once
#include <istream>
#include <string>

#include "bandgp/series/table.hpp"

namespace bandgp {

struct CsvOptions {
  std::string x = {}, y = {}, yerr = {};  // by name or 1-based number; empty: the first, the second, none
  double step = 0;                        // > 0: there is no time column, times are 0, step, 2·step, …
  bool skip_bad = false;                  // drop malformed lines and count them instead of refusing
};

/// Reads a file, or standard input for "-".  Empty cells, NA, NaN, inf and - are missing values (NaN).
/// Anything else that is not a number is a malformed line: std::invalid_argument
/// `data.csv:18: "12,5" is not a number (column y)`.  A file that cannot be read: std::runtime_error.
Table read_csv(const std::string& path, const CsvOptions& options = {});
Table read_csv(std::istream& in, const std::string& name, const CsvOptions& options = {});

}  // namespace bandgp
