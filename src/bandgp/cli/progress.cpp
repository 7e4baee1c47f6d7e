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

#include "bandgp/cli/output.hpp"
#include "bandgp/cli/style.hpp"

namespace bandgp::cli {
namespace {

std::atomic<bool> interrupted{false};
static_assert(std::atomic<bool>::is_always_lock_free);  // or a signal handler must not touch it

/// Writes over the line that is there.
void show_line(std::string line) {
  winsize size{};
  const bool known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1;
  line.resize(std::min<std::size_t>(line.size(), known ? size.ws_col - 1U : 79));  // it must not wrap
  fmt::print(stderr, "\r\033[K{}", line);
  std::fflush(stderr);
}

}  // namespace

Progress::Progress(bool quiet, Index n, std::vector<std::string> names)
    : on_terminal_(!quiet && is_terminal(STDERR_FILENO)), n_(n), names_(std::move(names)) {}

/// About three a parameter: of 24 simulated fits 17 took between 0.7 and 1.4 times as many, the longest five
/// times.
int Progress::expected() const { return 3 * static_cast<int>(names_.size()); }

std::string Progress::time_left(const TraceEntry& entry) {
  if (entry.n < n_) return "";
  if (++on_all_ == 1) since_ = entry.seconds;
  if (on_all_ < 2 || on_all_ >= expected()) return "";  // past that nothing is promised any more
  const double each = (entry.seconds - since_) / (on_all_ - 1);
  return fmt::format(", about {} left", seconds_text(each * (expected() - on_all_)));
}

void Progress::show(const TraceEntry& entry) {
  if (!on_terminal_) return;
  const std::string left = time_left(entry);
  std::string line = fmt::format("{} points, NLL {:.7g}", entry.n, entry.nll);
  for (std::size_t i = 0; i < names_.size() && i < entry.parameters.size(); ++i)
    line += fmt::format(", {} {:.3g}", names_[i], entry.parameters[i]);
  line += fmt::format(", bandwidth {}, evaluation {}, {:.0f} s{}", entry.bandwidth, entry.evaluation,
                      entry.seconds, left);
  show_line(std::move(line));
  shown_ = true;
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
