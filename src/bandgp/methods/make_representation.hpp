// SPDX-License-Identifier: Apache-2.0
// Every method behind the one interface that likelihood, training, prediction and leave-one-out know.
#pragma once
#include <memory>

#include "bandgp/gp/cut.hpp"
#include "bandgp/gp/representation.hpp"

namespace bandgp {

/// max_bytes 0: default_max_bytes().
std::unique_ptr<Representation> make_representation(const InternalCut& cut, double max_bytes,
                                                    Index threads = 1);

}  // namespace bandgp
