// SPDX-License-Identifier: Apache-2.0
#include "bandgp/base/worker.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <stdexcept>
#include <vector>

namespace bandgp {
namespace {

TEST(Worker, runs_every_task_once_and_in_order_with_and_without_a_thread) {
  for (const bool threaded : {false, true}) {
    Worker worker(threaded);
    std::vector<int> order;
    for (int i = 0; i < 10'000; ++i) {
      worker.start([&order, i] { order.push_back(i); });
      worker.wait();
    }
    ASSERT_EQ(order.size(), 10'000U);
    for (int i = 0; i < 10'000; ++i) ASSERT_EQ(order[static_cast<std::size_t>(i)], i);
  }
}

TEST(Worker, works_beside_the_caller) {
  Worker worker(true);
  std::atomic<bool> go = false;
  bool seen = false;
  worker.start([&] {
    while (!go) std::this_thread::yield();
    seen = true;
  });
  go = true;  // reached only because start() returned before the task ended
  worker.wait();
  EXPECT_TRUE(seen);
}

TEST(Worker, wakes_after_it_went_to_sleep) {
  Worker worker(true);
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  int done = 0;
  worker.start([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    done = 1;
  });
  worker.wait();
  EXPECT_EQ(done, 1);
}

TEST(Worker, hands_an_exception_to_the_one_who_waits_and_goes_on) {
  for (const bool threaded : {false, true}) {
    Worker worker(threaded);
    EXPECT_THROW(
        {
          worker.start([] { throw std::runtime_error("no"); });
          worker.wait();
        },
        std::runtime_error);
    int done = 0;
    worker.start([&] { done = 1; });
    worker.wait();
    EXPECT_EQ(done, 1);
  }
}

TEST(Worker, ends_with_a_task_under_way) {
  int done = 0;
  {
    Worker worker(true);
    worker.start([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      done = 1;
    });
  }
  EXPECT_EQ(done, 1);
}

}  // namespace
}  // namespace bandgp
