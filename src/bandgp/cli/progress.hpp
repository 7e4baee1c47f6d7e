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
  Progress(bool quiet, const Series& series, const FitOptions& options);
  ~Progress() { clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void show(const TraceEntry& entry);
  void clear();

 private:
  void estimate(const TraceEntry& entry);

  bool quiet_, on_terminal_, shown_ = false;
  const Series& series_;
  const FitOptions& options_;
  int estimated_at_ = -1;  // the stage whose parameters the cost of an evaluation was estimated at
  double before_ = 0;      // when the latest evaluation ended
  Announcements announcements_;
  Forecast forecast_;
};

/// The same for work that is done in equal pieces: fits of a comparison, rows of a prediction, parts of a
/// report.
class WorkProgress {
 public:
  explicit WorkProgress(bool quiet);
  ~WorkProgress();
  WorkProgress(const WorkProgress&) = delete;
  WorkProgress& operator=(const WorkProgress&) = delete;

  /// Before work that takes about so many seconds; 0: not known.
  void expect(double seconds, const std::string& what);
  /// From now on pieces are counted, in the plural ("fits"), which may take `seconds` together; work of about
  /// `after` seconds follows them.
  void count(std::string pieces, double seconds = 0, double after = 0);
  /// When so many pieces are done; `detail` says of which kind the latest was.
  void show(Index done, Index of, const std::string& detail = "");

 private:
  using Clock = std::chrono::steady_clock;

  bool quiet_, on_terminal_;
  std::string pieces_;
  double expected_ = 0, after_ = 0;  // of the pieces counted now, and of what follows them; seconds
  Announcements announcements_;
  Clock::time_point begin_ = Clock::now(), counted_from_ = begin_;
};

/// About how many seconds an evaluation with gradient takes at the fitted parameters; 0 where there is none:
/// a model without its data has no matrix to factor, and one without parameters nothing to compute.
double evaluation_seconds(const FitResult& fit);

/// While it lives, the first Ctrl-C asks for an end and, unless quiet, says what that may take; a second one
/// ends the program.
class Interrupt {
 public:
  explicit Interrupt(bool quiet);
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  static bool requested();
  /// An evaluation has begun that may take so many seconds; after an interrupt work of about `then` seconds
  /// follows it.
  static void expect(double seconds, double then);
};

}  // namespace bandgp::cli
