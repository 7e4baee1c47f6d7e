// SPDX-License-Identifier: Apache-2.0
// Something costly that is built when it is first needed and kept.  Safe to use from several threads, one at
// a time, and after a fork.
#pragma once
#include <unistd.h>

#include <memory>
#include <mutex>
#include <utility>

namespace bandgp {

template <typename T>
class Guarded {
 public:
  /// With a value that is there already, or (null) with none.
  explicit Guarded(std::shared_ptr<T> value = nullptr) : state_(std::make_unique<State>()) {
    state_->value = std::move(value);
  }
  ~Guarded() { forget_parents(); }
  Guarded(const Guarded&) = delete;
  Guarded& operator=(const Guarded&) = delete;

  /// use(*build()), with what was built before if there is such.  Other threads wait meanwhile.
  template <typename Build, typename Use>
  auto use(Build build, Use use) {
    forget_parents();
    const std::lock_guard lock(state_->mutex);
    if (!state_->value) state_->value = build();
    return use(*state_->value);
  }

  /// The value itself, for one who does not share it with other threads.
  template <typename Build>
  std::shared_ptr<T> get(Build build) {
    forget_parents();
    const std::lock_guard lock(state_->mutex);
    if (!state_->value) state_->value = build();
    return state_->value;
  }

 private:
  struct State {
    std::mutex mutex;
    std::shared_ptr<T> value;
    pid_t process = getpid();
  };
  /// After a fork the value's second thread is not there, and the lock may be held by nobody: both are left
  /// behind, memory and all, and another is built when it is needed.
  void forget_parents() {
    if (state_->process == getpid()) return;
    (void)state_.release();
    state_ = std::make_unique<State>();
  }

  std::unique_ptr<State> state_;
};

}  // namespace bandgp
