// SPDX-License-Identifier: Apache-2.0
#include "bandgp/series/folds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <stdexcept>

namespace bandgp {
namespace {

constexpr std::string_view kSchemes[] = {"shuffled", "blocked", "forward"};

/// Everything, in an order that depends on the seed alone: std::shuffle may differ between libraries.
std::vector<Index> permutation(Index n, std::uint64_t seed) {
  std::vector<Index> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), Index{0});
  std::mt19937_64 generator(seed);
  for (auto i = static_cast<std::uint64_t>(n); i > 1; --i) {
    const std::uint64_t limit = generator.max() - generator.max() % i;  // no remainder is favoured
    std::uint64_t drawn = generator();
    while (drawn >= limit) drawn = generator();
    std::swap(order[i - 1], order[drawn % i]);
  }
  return order;
}

}  // namespace

std::string_view scheme_name(FoldScheme scheme) { return kSchemes[static_cast<std::size_t>(scheme)]; }

FoldScheme parse_scheme(std::string_view name) {
  for (const auto scheme : {FoldScheme::shuffled, FoldScheme::blocked, FoldScheme::forward}) {
    if (name == scheme_name(scheme)) return scheme;
  }
  throw std::invalid_argument(fmt::format("folds are {}, not \"{}\"", fmt::join(kSchemes, ", "), name));
}

std::vector<Fold> make_folds(Index n, Index count, FoldScheme scheme, std::uint64_t seed) {
  const Index least = scheme == FoldScheme::forward ? 1 : 2;
  if (count < least)
    throw std::invalid_argument(fmt::format("there must be {} folds at least, not {}", least, count));
  const Index shares = scheme == FoldScheme::forward ? count + 1 : count;
  if (n < 2 * shares)
    throw std::invalid_argument(fmt::format("{} observations are too few for {} folds", n, count));
  std::vector<Index> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), Index{0});
  if (scheme == FoldScheme::shuffled) order = permutation(n, seed);
  const auto start = [&](Index share) { return order.begin() + share * n / shares; };
  std::vector<Fold> folds;
  for (Index f = 0; f < count; ++f) {
    const Index held_out = scheme == FoldScheme::forward ? f + 1 : f;
    Fold fold;
    fold.test.assign(start(held_out), start(held_out + 1));
    fold.train.assign(order.begin(), start(held_out));
    if (scheme != FoldScheme::forward) fold.train.insert(fold.train.end(), start(held_out + 1), order.end());
    std::ranges::sort(fold.train);
    std::ranges::sort(fold.test);
    folds.push_back(std::move(fold));
  }
  return folds;
}

}  // namespace bandgp
