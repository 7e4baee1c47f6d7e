// SPDX-License-Identifier: Apache-2.0
// Results on disk as they come: a line of JSON each, found again by their key.  A run that was interrupted or
// killed continues where it was.
#pragma once
#include <map>
#include <optional>
#include <string>

#include "bandgp/fit/cross_validate.hpp"

namespace bandgp {

class Store {
 public:
  /// Reads what is there; a last line that was not written to its end is cut off.  Throws std::runtime_error
  /// `cannot write …: why`, and where another process writes to the same file.
  explicit Store(std::string path);
  ~Store();
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

  std::optional<FoldResult> find(const std::string& key) const;
  /// The system has it when this returns: it outlives the process.  (Nor is it forced to the disk, which
  /// takes longer than most fits; what a power cut damages is computed again.)
  void add(const std::string& key, const FoldResult& result);

 private:
  [[noreturn]] void fail() const;
  void load();

  std::string path_;
  int descriptor_ = -1;
  std::map<std::string, FoldResult> known_;
};

}  // namespace bandgp
