// SPDX-License-Identifier: Apache-2.0
// A fit and the posterior made of it, which is built once and kept.  Safe to use from several threads, one at
// a time, and after a fork.
#pragma once
#include <unistd.h>

#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>

#include "bandgp/bandgp.hpp"

namespace bandgp::python {

/// A file that cannot be read or written: OSError.
struct FileError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class Fitted {
 public:
  Fitted(FitResult fit, Index threads)
      : fit_(std::move(fit)), threads_(threads), state_(std::make_unique<State>()) {}
  ~Fitted() { forget_parents(); }
  Fitted(const Fitted&) = delete;
  Fitted& operator=(const Fitted&) = delete;

  const FitResult& fit() const { return fit_; }
  Index threads() const { return threads_; }
  void set_threads(Index threads) { threads_ = threads; }
  void set_source(Source source) { fit_.source = std::move(source); }

  /// What `use` makes of the posterior.  Call it without the interpreter's lock.
  template <typename Use>
  auto with_posterior(Use use) {
    forget_parents();
    const std::lock_guard lock(state_->mutex);
    if (!state_->posterior) state_->posterior = std::make_unique<Posterior>(fit_.posterior(threads_));
    return use(*state_->posterior);
  }

  void save(const std::string& path) const;
  void report(const std::string& path, const std::string& command) const;

 private:
  struct State {
    std::mutex mutex;
    std::unique_ptr<Posterior> posterior;
    pid_t process = getpid();
  };
  /// After a fork the second thread of the posterior is not there, and the lock may be held by nobody: both
  /// are left behind, memory and all, and a new posterior is built when it is needed.
  void forget_parents() {
    if (state_->process == getpid()) return;
    (void)state_.release();
    state_ = std::make_unique<State>();
  }

  FitResult fit_;
  Index threads_;
  std::unique_ptr<State> state_;
};

}  // namespace bandgp::python
