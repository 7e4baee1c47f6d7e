// SPDX-License-Identifier: Apache-2.0
#include "bandgp/series/gaps.hpp"

#include <gtest/gtest.h>

namespace bandgp {
namespace {

Gaps gaps_of(const std::vector<double>& time) {
  return find_gaps(make_series(time, std::vector<double>(time.size(), 1.0)));
}

TEST(Gaps, a_missing_sample_is_a_gap_in_a_regular_series) {
  std::vector<double> time;
  for (int i = 0; i < 100; ++i)
    if (i != 10 && (i < 50 || i > 52)) time.push_back(1.7e9 + 60.0 * i);
  const Gaps gaps = gaps_of(time);
  EXPECT_TRUE(gaps.regular);
  EXPECT_EQ(gaps.usual, 60);
  EXPECT_EQ(gaps.limit, 90);
  EXPECT_EQ(gaps.count, 2);
  EXPECT_EQ(gaps.largest, 240);
  EXPECT_EQ(gaps.largest_from, 1.7e9 + 60.0 * 49);
}

TEST(Gaps, irregular_series_have_gaps_where_spacings_stand_out) {
  std::vector<double> time = {0};
  for (int i = 0; i < 100; ++i) time.push_back(time.back() + (i % 3 == 0 ? 0.4 : i % 3 == 1 ? 1.0 : 2.0));
  EXPECT_FALSE(gaps_of(time).regular);
  EXPECT_EQ(gaps_of(time).count, 0);
  time.push_back(time.back() + 5.5);
  EXPECT_EQ(gaps_of(time).count, 1);
  EXPECT_EQ(gaps_of(time).largest, 5.5);
}

TEST(Gaps, nothing_to_say_about_two_times) {
  EXPECT_EQ(gaps_of({0, 1}).usual, 0);
  EXPECT_EQ(gaps_of({0, 0, 1}).count, 0);
  EXPECT_EQ(gaps_of({4}).count, 0);
}

}  // namespace
}  // namespace bandgp
