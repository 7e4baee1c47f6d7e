// SPDX-License-Identifier: Apache-2.0
// What a person at a terminal sees during a long fit, and how they stop it.
#pragma once
#include <chrono>

#include "bandgp/cli/progress_line.hpp"

namespace bandgp::cli {

/// One line on standard error that is written over and over on a terminal.  Elsewhere a line is written when
/// a fit turns out to take longer than ten seconds, and every minute after that.
class Progress {
 public:
  /// n is the size of the whole series.
  Progress(bool quiet, Index n, const FitOptions& options);
  ~Progress() { clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void show(const TraceEntry& entry);
  void clear();

 private:
  bool quiet_, on_terminal_, shown_ = false;
  double told_ = 0;  // when the latest line was written that stays, seconds from the start; 0: none yet
  Forecast forecast_;
};

/// The same for many fits, some at a time.
class TrialProgress {
 public:
  explicit TrialProgress(bool quiet);
  ~TrialProgress();
  TrialProgress(const TrialProgress&) = delete;
  TrialProgress& operator=(const TrialProgress&) = delete;

  void show(Index done, Index of, const std::string& label);

 private:
  bool on_terminal_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

/// While it lives, the first Ctrl-C asks for an end, and says so on a terminal; a second one ends the
/// program.
class Interrupt {
 public:
  Interrupt();
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  static bool requested();
};

}  // namespace bandgp::cli
