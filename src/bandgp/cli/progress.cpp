// SPDX-License-Identifier: Apache-2.0
#include "bandgp/cli/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>

namespace bandgp::cli {
namespace {

std::atomic<bool> interrupted{false};
static_assert(std::atomic<bool>::is_always_lock_free);  // or a signal handler must not touch it

}  // namespace

Progress::Progress(bool quiet) : on_terminal_(!quiet && isatty(STDERR_FILENO) == 1) {}

void Progress::show(const TraceEntry& entry) {
  if (!on_terminal_) return;
  const std::string line =
      fmt::format("stage {}, {} points: evaluation {}, NLL {:.6g}, bandwidth {}, {:.0f} s", entry.stage + 1,
                  entry.n, entry.evaluation, entry.nll, entry.bandwidth, entry.seconds);
  fmt::print(stderr, "\r\033[K{:.79}", line);  // shorter than any terminal: it must not wrap
  std::fflush(stderr);
  shown_ = true;
}

void Progress::clear() {
  if (shown_) std::fputs("\r\033[K", stderr);
  shown_ = false;
}

Interrupt::Interrupt() {
  interrupted = false;
  struct sigaction action {};
  action.sa_handler = [](int) { interrupted = true; };
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  sigaction(SIGINT, &action, nullptr);
}

Interrupt::~Interrupt() { std::signal(SIGINT, SIG_DFL); }

bool Interrupt::requested() { return interrupted; }

}  // namespace bandgp::cli
