// SPDX-License-Identifier: Apache-2.0
// The trace of a fit as base64 blocks of a model file.
#pragma once
#include <nlohmann/json.hpp>
#include <vector>

#include "bandgp/fit/fit.hpp"
#include "bandgp/io/json_fields.hpp"

namespace bandgp {

/// A file keeps at most this many evaluations, the last ones: half a megabyte.
constexpr std::size_t kMostTraceEntries = 8192;

nlohmann::ordered_json trace_to_json(const std::vector<TraceEntry>& trace);
/// As a file of this format version has it.  Throws std::invalid_argument unless the blocks fit together and
/// to the kernel.
std::vector<TraceEntry> trace_from_json(const json::Fields& fields, const Kernel& kernel, Index version);

}  // namespace bandgp
