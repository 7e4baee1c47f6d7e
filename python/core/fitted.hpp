// SPDX-License-Identifier: Apache-2.0
// A fit and the posterior made of it, which is built once and kept.
#pragma once
#include <memory>
#include <stdexcept>
#include <string>

#include "bandgp/bandgp.hpp"
#include "guarded.hpp"

namespace bandgp::python {

/// A file that cannot be read or written: OSError.
struct FileError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class Fitted {
 public:
  Fitted(FitResult fit, Index threads) : fit_(std::move(fit)), threads_(threads) {}

  const FitResult& fit() const { return fit_; }
  Index threads() const { return threads_; }
  void set_threads(Index threads) { threads_ = threads; }
  void set_source(Source source) { fit_.source = std::move(source); }

  /// What `use` makes of the posterior.  Call it without the interpreter's lock.
  template <typename Use>
  auto with_posterior(Use use) {
    return posterior_.use([&] { return std::make_unique<Posterior>(fit_.posterior(threads_)); }, use);
  }

  void save(const std::string& path) const;
  void report(const std::string& path, const std::string& command) const;

 private:
  FitResult fit_;
  Index threads_;
  Guarded<Posterior> posterior_;
};

}  // namespace bandgp::python
