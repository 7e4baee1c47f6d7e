// SPDX-License-Identifier: Apache-2.0
#include "bandgp/series/folds.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>

namespace {

using namespace bandgp;

TEST(Folds, hold_every_observation_out_once) {
  for (const auto scheme : {FoldScheme::shuffled, FoldScheme::blocked}) {
    for (const Index n : {10, 11, 57, 1000}) {
      for (const Index count : {2, 3, 5}) {
        std::vector<Index> held_out;
        for (const Fold& fold : make_folds(n, count, scheme, 3)) {
          EXPECT_EQ(std::ssize(fold.train) + std::ssize(fold.test), n);
          EXPECT_LE(std::abs(std::ssize(fold.test) - n / count), 1);
          EXPECT_TRUE(std::ranges::is_sorted(fold.train) && std::ranges::is_sorted(fold.test));
          std::vector<Index> both;
          std::ranges::set_intersection(fold.train, fold.test, std::back_inserter(both));
          EXPECT_TRUE(both.empty());
          held_out.insert(held_out.end(), fold.test.begin(), fold.test.end());
        }
        std::ranges::sort(held_out);
        for (Index i = 0; i < n; ++i) EXPECT_EQ(held_out[static_cast<std::size_t>(i)], i);
      }
    }
  }
}

TEST(Folds, look_ahead_only_where_that_is_asked_for) {
  Index last = 0;
  for (const Fold& fold : make_folds(100, 4, FoldScheme::forward, 0)) {
    EXPECT_LT(fold.train.back(), fold.test.front());
    EXPECT_GT(std::ssize(fold.train), last);
    last = std::ssize(fold.train);
    EXPECT_EQ(fold.train.front(), 0);
  }
  for (const Fold& fold : make_folds(100, 4, FoldScheme::blocked, 0))
    EXPECT_EQ(fold.test.back() - fold.test.front() + 1, std::ssize(fold.test));
}

TEST(Folds, depend_on_the_seed_alone) {
  const auto folds = [](std::uint64_t seed) {
    return make_folds(200, 5, FoldScheme::shuffled, seed)[2].test;
  };
  EXPECT_EQ(folds(1), folds(1));
  EXPECT_NE(folds(1), folds(2));
}

TEST(Folds, refuse_what_cannot_be) {
  EXPECT_THROW((void)make_folds(100, 1, FoldScheme::shuffled, 0), std::invalid_argument);
  EXPECT_THROW((void)make_folds(5, 3, FoldScheme::blocked, 0), std::invalid_argument);
  EXPECT_THROW((void)make_folds(100, 0, FoldScheme::forward, 0), std::invalid_argument);
  EXPECT_THROW((void)parse_scheme("random"), std::invalid_argument);
  EXPECT_EQ(parse_scheme("forward"), FoldScheme::forward);
}

}  // namespace
