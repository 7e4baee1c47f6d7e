// SPDX-License-Identifier: Apache-2.0
// A second pair of hands: runs one task at a time beside the caller.  Which tasks run, and in which order,
// does not depend on whether there is a thread, so results do not either.
#pragma once
#include <atomic>
#include <exception>
#include <functional>
#include <thread>
#include <utility>

#include "bandgp/base/index.hpp"

namespace bandgp {

class Worker {
 public:
  /// Without a thread of its own start() does the task at once.
  explicit Worker(bool threaded) {
    if (threaded) thread_ = std::thread([this] { loop(); });
  }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;
  ~Worker() {
    if (!thread_.joinable()) return;
    await_idle();
    set(State::stop);
    thread_.join();
  }

  /// Whether tasks are worth handing over.  Little work is not: where others keep the processors busy, the
  /// thread is woken milliseconds late (800 points on a machine with twice as many jobs as processors: 12 ms
  /// an evaluation instead of 0.2).
  void share(bool worthwhile) { shared_ = worthwhile; }
  /// Whether there is a thread, and tasks are handed to it.
  bool shares() const { return thread_.joinable() && shared_; }

  /// Begins a task; the one before must have been waited for.
  void start(std::function<void()> task) {
    if (!shares()) {
      task();
      return;
    }
    task_ = std::move(task);
    set(State::busy);
  }
  /// Returns when the task has ended; throws what it threw.
  void wait() {
    if (!shares()) return;
    await_idle();
    if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
  }

 private:
  enum class State { idle, busy, stop };
  // Tasks take tens of microseconds, and waking a thread as long: look for about 50 of them before going to
  // sleep.
  static constexpr int kLooks = 1500;

  /// Tells the processor that this loop is waiting, so that a sibling on the same core gets its time.
  static void pause() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("isb");
#endif
  }
  void set(State state) {
    state_.store(state, std::memory_order_release);
    state_.notify_one();
  }
  /// The first state that is not `present`.
  State change_from(State present) {
    for (int look = 0; look < kLooks; ++look) {
      const State now = state_.load(std::memory_order_acquire);
      if (now != present) return now;
      pause();
    }
    state_.wait(present, std::memory_order_acquire);
    return state_.load(std::memory_order_acquire);
  }
  void await_idle() {
    while (state_.load(std::memory_order_acquire) == State::busy) change_from(State::busy);
  }
  void loop() {
    while (true) {
      const State state = change_from(State::idle);
      if (state == State::stop) return;
      if (state != State::busy) continue;
      try {
        task_();
      } catch (...) {
        error_ = std::current_exception();
      }
      set(State::idle);
    }
  }

  std::atomic<State> state_{State::idle};
  std::function<void()> task_;
  std::exception_ptr error_;
  bool shared_ = true;
  std::thread thread_;
};

/// Evaluations on fewer points than this keep to one thread: they take less than a millisecond or two.
constexpr Index kLeastShared = 8192;

}  // namespace bandgp
