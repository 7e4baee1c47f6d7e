// SPDX-License-Identifier: Apache-2.0
// A table as text: comma, semicolon, tab or blank separated, with or without a header line.
#pragma once
#include <istream>
#include <string>
#include <vector>

#include "bandgp/io/byte_source.hpp"
#include "bandgp/io/read_options.hpp"
#include "bandgp/series/table.hpp"

namespace bandgp {

using CsvOptions = ReadOptions;

/// Reads a file (also gzipped), or standard input for "-".  Empty cells, NA, NaN, inf and - are missing
/// values (NaN). Anything else that is not a number or a time is a malformed line: std::invalid_argument
/// `data.csv:18: "12,5" is not a number (column y)`.  A file that cannot be read: std::runtime_error.
Table read_csv(const std::string& path, const CsvOptions& options = {});
Table read_csv(std::istream& in, const std::string& name, const CsvOptions& options = {});
Table read_csv(ByteSource& source, const CsvOptions& options);

/// The times of a text table as times of `axis`; a line without one is malformed.  `bad_lines` counts what
/// skip_bad dropped.
std::vector<double> read_csv_times(ByteSource& source, const ReadOptions& options, const TimeAxis& axis,
                                   Index& bad_lines);

/// Throws std::invalid_argument for options that exclude each other or are out of range.
void require_valid(const ReadOptions& options);
/// Rows that fit into this machine's memory with what is computed from them.
std::size_t most_rows();

}  // namespace bandgp
