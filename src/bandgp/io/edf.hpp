// SPDX-License-Identifier: Apache-2.0
// Recordings in EDF, EDF+ and BDF, through EDFlib.
#pragma once
#include <string_view>

#include "bandgp/io/byte_source.hpp"
#include "bandgp/io/read_options.hpp"
#include "bandgp/series/table.hpp"

namespace bandgp {

/// Does a file that begins like this hold a recording?  Its first 256 bytes are a header of fixed fields.
bool is_edf(std::string_view head);

/// One channel (options.channel; the only one without it) in its physical unit, with times from 0 in seconds,
/// or in options.time_unit.  Throws std::invalid_argument: no such channel, a discontinuous recording, a
/// damaged file.
Table read_edf(ByteSource& source, const ReadOptions& options);

}  // namespace bandgp
