// SPDX-License-Identifier: Apache-2.0
#include "bandgp/base/relay.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <thread>
#include <vector>

namespace bandgp {
namespace {

/// Runs both sides; what the first one throws comes out.
template <class Prepare, class Work, class Finish>
void run(Index count, const Prepare& prepare, const Work& work, const Finish& finish,
         std::exception_ptr* thrown = nullptr) {
  Relay relay(count, prepare, work, finish);
  std::thread second([&] {
    try {
      relay.second();
    } catch (...) {
      if (thrown != nullptr) *thrown = std::current_exception();
    }
  });
  try {
    relay.first();
  } catch (...) {
    second.join();
    throw;
  }
  second.join();
}

TEST(Relay, every_item_is_prepared_worked_on_and_finished_in_this_order) {
  constexpr Index kCount = 20'000;
  // Places are taken again as soon as their item is finished: a step too early would see another item's
  // number.
  std::vector<Index> place(kRelayed, -1);
  std::vector<Index> worked, finished;
  Index wrong = 0;
  const auto at = [&](Index i) -> Index& { return place[static_cast<std::size_t>(i % kRelayed)]; };
  run(
      kCount, [&](Index i) { at(i) = 2 * i; },
      [&](Index i) {
        if (at(i) != 2 * i) ++wrong;
        at(i) += 1;
        worked.push_back(i);
      },
      [&](Index i) {
        if (at(i) != 2 * i + 1) ++wrong;
        finished.push_back(i);
      });
  EXPECT_EQ(wrong, 0);
  ASSERT_EQ(std::ssize(worked), kCount);
  ASSERT_EQ(std::ssize(finished), kCount);
  for (Index i = 0; i < kCount; ++i) {
    ASSERT_EQ(worked[static_cast<std::size_t>(i)], i);
    ASSERT_EQ(finished[static_cast<std::size_t>(i)], i);
  }
}

TEST(Relay, the_first_thread_needs_no_second_one) {
  Index prepared = 0, worked = 0, finished = 0;
  const auto prepare = [&](Index) { ++prepared; };
  const auto work = [&](Index) { ++worked; };
  const auto finish = [&](Index) { ++finished; };
  Relay relay(1000, prepare, work, finish);
  relay.first();
  EXPECT_EQ(prepared, 1000);
  EXPECT_EQ(worked, 1000);
  EXPECT_EQ(finished, 1000);
}

TEST(Relay, no_items_are_no_work) {
  const auto never = [](Index) { FAIL(); };
  run(0, never, never, never);
}

TEST(Relay, an_exception_on_either_side_lets_the_other_one_go) {
  const auto nothing = [](Index) {};
  const auto fails = [](Index i) {
    if (i == 500) throw std::runtime_error("no");
  };
  EXPECT_THROW(run(100'000, nothing, fails, nothing), std::runtime_error);
  for (int side = 0; side < 20; ++side) {  // whichever thread meets it
    std::exception_ptr second;
    bool first = false;
    try {
      run(100'000, fails, nothing, nothing, &second);
    } catch (const std::runtime_error&) {
      first = true;
    }
    EXPECT_NE(first, second != nullptr);
  }
}

}  // namespace
}  // namespace bandgp
