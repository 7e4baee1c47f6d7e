// SPDX-License-Identifier: Apache-2.0
#include "bandgp/experiments/trials.hpp"

#include <algorithm>
#include <exception>
#include <mutex>
#include <thread>

#include "bandgp/methods/lapack.hpp"

namespace bandgp {
namespace {

class Run {
 public:
  Run(std::span<const Trial> trials, const RunOptions& options)
      : trials_(trials), options_(options), results_(trials.size()) {
    for (std::size_t i = 0; i < trials.size() && options.store != nullptr; ++i) {
      results_[i] = options.store->find(trials[i].key);
      done_ += results_[i] ? 1 : 0;
    }
  }

  void work() {
    try {
      while (const auto i = next()) {
        const FoldResult result = trials_[*i].run();
        if (result.status == FitStatus::cancelled) return;
        keep(*i, result);
      }
    } catch (...) {
      const std::scoped_lock lock(mutex_);
      if (!error_) error_ = std::current_exception();
    }
  }

  std::vector<std::optional<FoldResult>> finish() {
    if (error_) std::rethrow_exception(error_);
    return std::move(results_);
  }

 private:
  std::optional<std::size_t> next() {
    const std::scoped_lock lock(mutex_);
    while (next_ < trials_.size() && results_[next_]) ++next_;
    if (next_ >= trials_.size() || error_ || (options_.cancelled && options_.cancelled()))
      return std::nullopt;
    tell(next_);
    return next_++;
  }

  void keep(std::size_t i, const FoldResult& result) {
    const std::scoped_lock lock(mutex_);
    // What did not fit memory here may fit the next time.
    const bool final = result.status != FitStatus::too_large;
    if (options_.store != nullptr && final) options_.store->add(trials_[i].key, result);
    results_[i] = result;
    ++done_;
    tell(i);
  }

  void tell(std::size_t i) const {
    if (options_.progress) options_.progress(done_, std::ssize(trials_), trials_[i].label);
  }

  std::span<const Trial> trials_;
  const RunOptions& options_;
  std::mutex mutex_;
  std::vector<std::optional<FoldResult>> results_;
  std::size_t next_ = 0;
  Index done_ = 0;
  std::exception_ptr error_;
};

}  // namespace

std::vector<std::optional<FoldResult>> run_trials(std::span<const Trial> trials, const RunOptions& options) {
  const lapack::OneThread
      blas;  // for as long as any trial runs: theirs, set one by one, would undo each other
  Run run(trials, options);
  std::vector<std::thread> others;
  for (Index t = 1; t < std::min(options.threads, std::ssize(trials)); ++t)
    others.emplace_back([&run] { run.work(); });
  run.work();
  for (std::thread& other : others) other.join();
  return run.finish();
}

}  // namespace bandgp
