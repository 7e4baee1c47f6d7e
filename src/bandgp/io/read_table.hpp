// SPDX-License-Identifier: Apache-2.0
// The one way in for data: what a file is shows in its first bytes, not in its name.
#pragma once
#include <string>
#include <vector>

#include "bandgp/io/read_options.hpp"
#include "bandgp/series/table.hpp"

namespace bandgp {

/// Reads a table of text, a NumPy array (.npy) or a recording (EDF, EDF+, BDF), each gzipped or not, from a
/// file or from standard input ("-").  Throws std::invalid_argument `data.csv:18: …` for what is wrong in the
/// data, std::runtime_error for a file that cannot be read.
Table read_table(const std::string& path, const ReadOptions& options = {});

/// Times to predict at: one column of a file (options.x; the only one, or the one that holds times), on the
/// axis of a series.  They are in the order of the file, repeated ones stay.
struct Times {
  std::vector<double> time;
  Index bad_lines = 0;  // malformed lines dropped (skip_bad)
};
Times read_times(const std::string& path, const ReadOptions& options, const TimeAxis& axis);

}  // namespace bandgp
