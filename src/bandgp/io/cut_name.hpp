// SPDX-License-Identifier: Apache-2.0
// The rules of a Cut by name, in model files and on the command line.
#pragma once
#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "bandgp/gp/band_representation.hpp"

namespace bandgp {

/// `envelope` has no name: it means "as before", and there is no before in a file.
inline constexpr std::array<std::pair<Cut::Rule, std::string_view>, 6> kCutNames{{
    {Cut::Rule::tolerance, "tolerance"},
    {Cut::Rule::corollary, "corollary"},
    {Cut::Rule::theorem, "theorem"},
    {Cut::Rule::lemma, "lemma"},
    {Cut::Rule::bandwidth, "bandwidth"},
    {Cut::Rule::reach, "reach"},
}};

constexpr std::string_view cut_name(Cut::Rule rule) {
  for (const auto& [known, name] : kCutNames) {
    if (known == rule) return name;
  }
  return "none";
}

constexpr std::optional<Cut::Rule> parse_cut(std::string_view text) {
  for (const auto& [rule, name] : kCutNames) {
    if (name == text) return rule;
  }
  return std::nullopt;
}

}  // namespace bandgp
