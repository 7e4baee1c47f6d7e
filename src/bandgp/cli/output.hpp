// SPDX-License-Identifier: Apache-2.0
// Results for people (aligned lines of text) and for scripts (JSON, what is not finite as null).
#pragma once
#include <nlohmann/json.hpp>
#include <span>
#include <string>

#include "bandgp/bandwidth/certificate.hpp"
#include "bandgp/cli/options.hpp"

namespace bandgp::cli {

using Json = nlohmann::ordered_json;

void print(const Json& result);  // on standard output, as write_stdout()

/// `Label    text`, the text in one column; further lines of it are indented.
std::string field(std::string_view label, std::string_view text);

/// {prefix + name: value, …}; null where there are no values.
Json named_json(const std::string& prefix, const std::vector<std::string>& names,
                std::span<const double> values);
Json certificate_json(const Certificate& certificate);
Json series_json(const Input& input);
/// "n" and, where observations share times, "distinct_times".
void add_size(Json& result, const Series& series);

/// What was read: rows, what became of them, times and spacing.
std::string input_text(const Input& input);
/// How exact the answer is, in one sentence.
std::string certificate_text(const Certificate& certificate);
/// The same with a word on rounding, which the certificate does not cover, where that may matter.
std::string exactness_text(const Certificate& certificate, double rounding);
/// `12 neighbours a side (reach 3.4)`
std::string band_text(std::string_view method, Index bandwidth, double reach);
std::string seconds_text(double seconds);

}  // namespace bandgp::cli
