// SPDX-License-Identifier: Apache-2.0
// Two threads along a row of items, each of which is prepared, worked on and finished.  Work goes along the
// row on the first thread; the second prepares items ahead of it and finishes those behind.  Items are handed
// over through counters and not by starting tasks, and where the second thread lags behind, the first one
// prepares and finishes items itself: it does not depend on a processor that others may be using.
#pragma once
#include <array>
#include <atomic>
#include <thread>

#include "bandgp/base/index.hpp"

namespace bandgp {

/// Items from the one prepared last to the one finished last are no more than this.
inline constexpr Index kRelayed = 16;

/// prepare(i) on either thread, work(i) in order on the first one, finish(i) in order on either, never two at
/// a time.
template <class Prepare, class Work, class Finish>
class Relay {
 public:
  Relay(Index count, const Prepare& prepare, const Work& work, const Finish& finish)
      : count_(count), prepare_(prepare), work_(work), finish_(finish) {}
  Relay(const Relay&) = delete;
  Relay& operator=(const Relay&) = delete;

  /// Returns when all items are finished, or when the other thread has thrown.
  void first() {
    const Leaving leaving(stopped_);
    for (Index i = 0; i < count_; ++i) {
      if (!help_until([&] { return ready(i).load(std::memory_order_acquire) > i; })) return;
      work_(i);
      worked_.store(i + 1, std::memory_order_release);
    }
    (void)help_until([&] { return all_finished(); });
  }
  void second() {
    const Leaving leaving(stopped_);
    (void)help_until([&] { return all_finished(); });
  }

 private:
  /// Whoever leaves, by an exception too, lets the other one go.
  struct Leaving {
    explicit Leaving(std::atomic<bool>& which) : stopped(which) {}
    Leaving(const Leaving&) = delete;
    Leaving& operator=(const Leaving&) = delete;
    ~Leaving() { stopped.store(true, std::memory_order_release); }
    std::atomic<bool>& stopped;
  };

  std::atomic<Index>& ready(Index i) { return ready_[static_cast<std::size_t>(i % kRelayed)]; }
  bool all_finished() const { return finished_.load(std::memory_order_acquire) >= count_; }

  /// Finishes and prepares items until done(); false where the other thread left before.
  template <class Done>
  bool help_until(const Done& done) {
    // Looks for some tens of microseconds, and then offers the processor to others each time.
    constexpr int kLooks = 2000;
    for (int looks = 0; !done();) {
      if (finish_one() || prepare_one()) {
        looks = 0;
      } else if (stopped_.load(std::memory_order_acquire)) {
        return done();
      } else if (++looks < kLooks) {
        pause();
      } else {
        std::this_thread::yield();
      }
    }
    return true;
  }
  bool prepare_one() {
    Index i = begun_.load(std::memory_order_acquire);
    while (i < count_ && i < finished_.load(std::memory_order_acquire) + kRelayed) {
      if (!begun_.compare_exchange_weak(i, i + 1, std::memory_order_acq_rel)) continue;
      prepare_(i);
      ready(i).store(i + 1, std::memory_order_release);
      return true;
    }
    return false;
  }
  bool finish_one() {
    if (finished_.load(std::memory_order_acquire) >= worked_.load(std::memory_order_acquire)) return false;
    if (finishing_.test_and_set(std::memory_order_acquire)) return false;
    const Index i = finished_.load(std::memory_order_acquire);
    const bool some = i < worked_.load(std::memory_order_acquire);
    if (some) {
      finish_(i);
      finished_.store(i + 1, std::memory_order_release);
    }
    finishing_.clear(std::memory_order_release);
    return some;
  }
  /// Tells the processor that this loop is waiting, so that a sibling on the same core gets its time.
  static void pause() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("isb");
#endif
  }

  Index count_;
  const Prepare& prepare_;
  const Work& work_;
  const Finish& finish_;
  // Each on a cache line of its own.
  alignas(64) std::atomic<Index> begun_{0};  // items that a thread has begun to prepare
  alignas(64) std::atomic<Index> worked_{0};
  alignas(64) std::atomic<Index> finished_{0};
  alignas(64) std::atomic_flag finishing_;
  alignas(64) std::array<std::atomic<Index>, kRelayed> ready_{};  // i + 1 for item i
  alignas(64) std::atomic<bool> stopped_{false};
};

}  // namespace bandgp
