// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <nlohmann/json.hpp>
#include <string>

namespace bandgp {

/// JSON that cannot end the element it stands in, nor start another; what is not finite becomes null.
std::string inert(const nlohmann::ordered_json& json);

}  // namespace bandgp
