// SPDX-License-Identifier: Apache-2.0
// What the paper says of such a comparison, and what was measured: sentences with numbers, whichever way they
// turn out.
#pragma once
#include "bandgp/experiments/comparison.hpp"
#include "bandgp/report/document.hpp"

namespace bandgp {

std::vector<std::string> claims_of(std::span<const MethodResult> results);
std::vector<PageCard> claim_cards(std::span<const MethodResult> results);

}  // namespace bandgp
