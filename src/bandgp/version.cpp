// SPDX-License-Identifier: Apache-2.0
#include "bandgp/version.hpp"

namespace bandgp {

std::string_view version() { return BANDGP_VERSION; }

}  // namespace bandgp
