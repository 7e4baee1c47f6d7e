// SPDX-License-Identifier: Apache-2.0
// Which observations are held out, and which may be learned from.
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

#include "bandgp/base/index.hpp"

namespace bandgp {

/// shuffled: random observations (filling gaps of one or a few); blocked: consecutive stretches (filling long
/// gaps); forward: always what comes after all that was learned from (forecasting).
enum class FoldScheme { shuffled, blocked, forward };
std::string_view scheme_name(FoldScheme scheme);
FoldScheme parse_scheme(std::string_view name);  // throws std::invalid_argument naming the choices

struct Fold {
  std::vector<Index> train, test;  // increasing
};

/// Of n observations in time order.  With shuffled and blocked folds every observation is held out once; with
/// forward ones the first of count + 1 equal shares never is.  Throws std::invalid_argument unless there are
/// two folds or more (forward: one) and observations enough for them.
std::vector<Fold> make_folds(Index n, Index count, FoldScheme scheme, std::uint64_t seed);

}  // namespace bandgp
