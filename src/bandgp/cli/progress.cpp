// SPDX-License-Identifier: Apache-2.0
#include "bandgp/cli/progress.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <string_view>

#include "bandgp/cli/style.hpp"

namespace bandgp::cli {
namespace {

std::atomic<bool> interrupted{false};
static_assert(std::atomic<bool>::is_always_lock_free);  // or a signal handler must not touch it

/// Characters that a line may have: it must not wrap.
std::size_t line_width() {
  winsize size{};
  const bool known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1;
  return known ? size.ws_col - 1U : 79;
}

/// Writes over the line that is there.
void show_line(std::string line) {
  line.resize(std::min(line.size(), line_width()));
  fmt::print(stderr, "\r\033[K{}", line);
  std::fflush(stderr);
}

}  // namespace

Progress::Progress(bool quiet, Index n, const FitOptions& options)
    : quiet_(quiet), on_terminal_(!quiet && is_terminal(STDERR_FILENO)), forecast_(n, options) {}

void Progress::show(const TraceEntry& entry) {
  if (quiet_) return;
  const std::optional<Forecast::Left> left = forecast_.after(entry);
  if (on_terminal_) {
    show_line(progress_line(entry, left, line_width()));
    shown_ = true;
    return;
  }
  constexpr double kLong = 10, kAgain = 60;  // seconds
  const bool is_long = left ? entry.seconds + left->seconds > kLong : entry.seconds > kLong;
  if (told_ > 0 ? entry.seconds < told_ + kAgain : !is_long) return;
  told_ = entry.seconds;
  fmt::print(stderr, "bandgp: {}; Ctrl-C ends it with what it has\n", progress_line(entry, left, 200));
}

void Progress::clear() {
  if (shown_) std::fputs("\r\033[K", stderr);
  shown_ = false;
}

TrialProgress::TrialProgress(bool quiet) : on_terminal_(!quiet && is_terminal(STDERR_FILENO)) {}

TrialProgress::~TrialProgress() {
  if (on_terminal_) std::fputs("\r\033[K", stderr);
}

void TrialProgress::show(Index done, Index of, const std::string& label) {
  if (!on_terminal_) return;
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  show_line(fmt::format("{} of {} fits, {:.0f} s: {}", done, of, seconds, label));
}

Interrupt::Interrupt() {
  interrupted = false;
  struct sigaction action {};
  action.sa_handler = [](int) {
    const int before = errno;  // whoever was interrupted may be about to read it
    interrupted = true;
    constexpr std::string_view kText =
        "\nbandgp: stopping after this evaluation; Ctrl-C again ends at once\n";
    const bool told = isatty(STDERR_FILENO) != 1 || write(STDERR_FILENO, kText.data(), kText.size()) > 0;
    (void)told;  // nobody to tell
    errno = before;
  };
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  sigaction(SIGINT, &action, nullptr);
}

Interrupt::~Interrupt() { std::signal(SIGINT, SIG_DFL); }

bool Interrupt::requested() { return interrupted; }

}  // namespace bandgp::cli
