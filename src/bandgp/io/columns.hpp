// SPDX-License-Identifier: Apache-2.0
// Which columns of a table are time, value and error.  What is not named is taken where there is no doubt,
// and asked for otherwise.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "bandgp/io/read_options.hpp"
#include "bandgp/series/table.hpp"

namespace bandgp {

struct Columns {
  std::size_t count = 0;
  std::vector<std::string> names;           // empty without a header
  std::vector<bool> is_stamp, is_clock_of;  // first row: a timestamp; a time of day right after a date
  std::optional<std::size_t> x, y, yerr;
  bool has_clock = false;  // the column after x is the time of day of its dates

  std::string label(std::size_t column) const;
  std::string list() const;  // of all labels, shortened where there are many
};

/// Sets x, y, yerr and has_clock.  Throws std::invalid_argument, naming the file and what to do.
void choose_columns(Columns& columns, const ReadOptions& options, const std::string& file);
/// Sets x (and has_clock) alone: for a file of which only the times are wanted.
void choose_time_column(Columns& columns, const ReadOptions& options, const std::string& file);
/// Whether a column of this name holds standard errors, as far as names go: err, flux_err, sigma ….
bool is_error_name(const std::string& name);
/// Tells the table which columns were taken and which were not.
void describe(Table& table, const Columns& columns);

}  // namespace bandgp
