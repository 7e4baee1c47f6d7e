// SPDX-License-Identifier: Apache-2.0
// NumPy's format of one array: a magic text, a header that is a Python dictionary, the numbers.
#pragma once
#include <string_view>
#include <vector>

#include "bandgp/io/byte_source.hpp"
#include "bandgp/io/read_options.hpp"
#include "bandgp/series/table.hpp"

namespace bandgp {

inline constexpr std::string_view kNpyMagic = "\x93NUMPY";

/// One dimension: values (with options.step).  Two: columns, by number.  Real numbers of 1 to 8 bytes, either
/// byte order, C or Fortran order.  Throws std::invalid_argument for everything else, naming it.
Table read_npy(ByteSource& source, const ReadOptions& options);
/// The array as times of `axis`: one dimension, or a column of it.
std::vector<double> read_npy_times(ByteSource& source, const ReadOptions& options, const TimeAxis& axis,
                                   Index& bad_lines);

}  // namespace bandgp
