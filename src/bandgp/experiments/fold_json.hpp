// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <nlohmann/json.hpp>
#include <optional>

#include "bandgp/fit/cross_validate.hpp"

namespace bandgp {

/// One method on one fold; what is not finite is null.
nlohmann::ordered_json fold_json(const FoldResult& result);
/// The way back; none unless every field is there and of its type.
std::optional<FoldResult> fold_from_json(const nlohmann::ordered_json& json);

}  // namespace bandgp
