// SPDX-License-Identifier: Apache-2.0
#include "bandgp/cli/progress.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <string_view>

#include "bandgp/cli/output.hpp"
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
  if (!announcements_.due(entry.seconds, left ? std::optional(left->seconds) : std::nullopt)) return;
  fmt::print(stderr, "bandgp: {}; Ctrl-C ends it with what it has\n", progress_line(entry, left, 200));
}

void Progress::clear() {
  if (shown_) std::fputs("\r\033[K", stderr);
  shown_ = false;
}

WorkProgress::WorkProgress(bool quiet, std::string pieces)
    : quiet_(quiet), on_terminal_(!quiet && is_terminal(STDERR_FILENO)), pieces_(std::move(pieces)) {}

WorkProgress::~WorkProgress() {
  if (on_terminal_) std::fputs("\r\033[K", stderr);
}

double WorkProgress::seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
}

void WorkProgress::expect(const FitResult& fit, double evaluations, const std::string& what) {
  // A model without its data has no matrix to factor, and one without parameters nothing to compute.
  if (quiet_ || fit.series->size() == 0 || !std::isfinite(fit.nll)) return;
  const double to_come = evaluations * estimate_cost(*fit.series, fit.model, fit.cut).seconds_per_evaluation;
  if (on_terminal_) {
    show_line(fmt::format("{}: about {}", what, seconds_text(to_come)));
  } else if (announcements_.due(seconds(), to_come)) {
    fmt::print(stderr, "bandgp: {} takes about {}\n", what, seconds_text(to_come));
  }
}

void WorkProgress::show(Index done, Index of, const std::string& detail) {
  if (quiet_) return;
  const double so_far = seconds();
  std::optional<double> to_come;
  if (done > 0) to_come = so_far * static_cast<double>(of - done) / static_cast<double>(done);
  if (!on_terminal_ && (done >= of || !announcements_.due(so_far, to_come))) return;
  std::string line = fmt::format("{} of {} {}, {:.0f} s", done, of, pieces_, so_far);
  if (to_come) line += ", " + left_text(Forecast::Left{*to_come, false}, false);
  if (!detail.empty()) line += ": " + detail;
  if (on_terminal_) {
    show_line(line);
  } else {
    fmt::print(stderr, "bandgp: {}\n", line);
  }
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
