// SPDX-License-Identifier: Apache-2.0
// A fit with what Python may change about it.
#pragma once
#include <memory>
#include <optional>
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
  Fitted(FitResult fit, Index threads) : fit_(std::move(fit)), threads_(threads) {}

  const FitResult& fit() const { return fit_; }
  Index threads() const { return threads_; }
  void set_threads(Index threads) { threads_ = threads; }
  void set_source(Source source) { fit_.source = std::move(source); }

  /// What `use` makes of the posterior.  Call it without the interpreter's lock.
  template <typename Use>
  auto with_posterior(Use use) {
    return fit_.with_posterior(use, threads_);
  }

  void save(const std::string& path) const;
  /// With a forecast up to a horizon such as 48h, where there is one.
  void report(const std::string& path, const std::string& command,
              const std::optional<std::string>& horizon) const;

 private:
  FitResult fit_;
  Index threads_;
};

}  // namespace bandgp::python
