// SPDX-License-Identifier: Apache-2.0
// What a person at a terminal sees during long work, and how they stop it.
#pragma once
#include <chrono>
#include <string>

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
  Announcements announcements_;
  Forecast forecast_;
};

/// The same for work that is done in equal pieces: fits of a comparison, rows of a prediction, parts of a
/// report.
class WorkProgress {
 public:
  /// What is counted, in the plural: "fits".
  WorkProgress(bool quiet, std::string pieces);
  ~WorkProgress();
  WorkProgress(const WorkProgress&) = delete;
  WorkProgress& operator=(const WorkProgress&) = delete;

  /// Before work at the fitted parameters that takes about as long as so many evaluations with gradient.
  void expect(const FitResult& fit, double evaluations, const std::string& what);
  /// When so many pieces are done; `detail` says of which kind the latest was.
  void show(Index done, Index of, const std::string& detail = "");

 private:
  double seconds() const;

  bool quiet_, on_terminal_;
  std::string pieces_;
  Announcements announcements_;
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
