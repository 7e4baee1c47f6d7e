// SPDX-License-Identifier: Apache-2.0
// A fitted model as one JSON file: parameters, cut, series in base64 blocks, checksum.  Self-contained: it
// predicts without the data file, bit for bit as before it was saved (same instruction set).
#pragma once
#include <string>

#include "bandgp/fit/fit.hpp"

namespace bandgp {

/// The version of the format that is written; all versions from 1 on are read.
constexpr Index kModelVersion = 2;

/// The text of the file.  Everything in FitResult survives the round trip; of a very long trace, its end.
std::string to_model_text(const FitResult& fit);
/// Throws std::invalid_argument: `model.json: …` what is wrong (not a model, truncated, altered, a newer
/// version).
FitResult from_model_text(const std::string& text, const std::string& name);

/// Identifies the series of a fit: its times, values and errors, bit by bit.
std::string series_checksum(const Series& series);

/// Writes beside the target and renames: a failure leaves no half-written file.  `-` is standard output.
void save_model(const FitResult& fit, const std::string& path);
FitResult load_model(const std::string& path);

}  // namespace bandgp
