// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string_view>

namespace bandgp {

std::string_view version();

}  // namespace bandgp
