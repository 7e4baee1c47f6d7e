// SPDX-License-Identifier: Apache-2.0
// What a person at a terminal sees during a long fit, and how they stop it.
#pragma once
#include "bandgp/fit/fit.hpp"

namespace bandgp::cli {

/// One line on standard error that is written over and over; nothing unless that is a terminal.
class Progress {
 public:
  explicit Progress(bool quiet);
  ~Progress() { clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void show(const TraceEntry& entry);
  void clear();

 private:
  bool on_terminal_, shown_ = false;
};

/// While it lives, the first Ctrl-C asks for an end; a second one ends the program.
class Interrupt {
 public:
  Interrupt();
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  static bool requested();
};

}  // namespace bandgp::cli
