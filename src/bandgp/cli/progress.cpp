// SPDX-License-Identifier: Apache-2.0
#include "bandgp/cli/progress.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <string_view>

#include "bandgp/cli/output.hpp"
#include "bandgp/cli/style.hpp"
#include "bandgp/fit/parameters.hpp"

namespace bandgp::cli {
namespace {

const std::chrono::steady_clock::time_point kProgramBegin = std::chrono::steady_clock::now();

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

std::atomic<bool> interrupted{false}, quiet_interrupt{false};
std::atomic<std::int64_t> expected_end{
    0};  // of the evaluation running and what follows: monotonic, ns; 0: not known
static_assert(std::atomic<bool>::is_always_lock_free);  // or a signal handler must not touch it
static_assert(std::atomic<std::int64_t>::is_always_lock_free);

/// Allowed in a signal handler, as POSIX has it.
std::int64_t monotonic_nanoseconds() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

/// A short text made without memory from the heap, as a signal handler needs it.
class ShortText {
 public:
  void add(std::string_view text) {
    const std::size_t length = std::min(text.size(), sizeof text_ - size_);
    std::copy_n(text.data(), length, text_ + size_);
    size_ += length;
  }
  void add(std::int64_t number) {
    char digits[20];
    char* const end = std::to_chars(digits, digits + sizeof digits, number).ptr;
    add(std::string_view(digits, static_cast<std::size_t>(end - digits)));
  }
  bool write_to(int descriptor) const { return write(descriptor, text_, size_) > 0; }

 private:
  char text_[256];
  std::size_t size_ = 0;
};

/// Says that the work is about to end, and when.
void tell_of_interrupt() {
  const std::int64_t end = expected_end,
                     seconds = (end - monotonic_nanoseconds() + 500'000'000) / 1'000'000'000;
  ShortText text;
  if (isatty(STDERR_FILENO) == 1) text.add("\n");  // a progress line may be there
  text.add("bandgp: stopping");
  if (end == 0 || seconds < 2) {
    text.add(" after the evaluation now running");
  } else {
    text.add("; the evaluation now running may take about ");
    text.add(seconds < 120 ? seconds : (seconds + 30) / 60);
    text.add(seconds < 120 ? " s more" : " min more");
  }
  text.add("; a second Ctrl-C ends at once without a result\n");
  (void)text.write_to(STDERR_FILENO);  // there may be nobody to tell
}

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

Progress::Progress(bool quiet, const Series& series, const FitOptions& options)
    : quiet_(quiet),
      on_terminal_(!quiet && is_terminal(STDERR_FILENO)),
      series_(series),
      options_(options),
      forecast_(series.size(), options) {}

/// What an evaluation on all the data takes, once a part has told about where the parameters are, and again
/// in the last stages: from the cost on a stretch of them, for building what all of them need would itself
/// take as long as an evaluation.
void Progress::estimate(const TraceEntry& entry) {
  constexpr int kEnough = 24;  // evaluations of the search
  constexpr Index kStretch = 65536;
  const Method method = options_.cut.method;
  const bool linear = method == Method::automatic || method == Method::band || method == Method::dual;
  if (!linear || entry.stage == estimated_at_ || (entry.stage == 0 && entry.evaluation < kEnough)) return;
  estimated_at_ = entry.stage;
  const Kernel kernel = parse_kernel(entry.kernel);
  if (series_.size() <= entry.n || kernel.terms.size() != options_.kernel.terms.size()) return;
  Model model{kernel, kUnset, options_.mean};
  for (std::size_t i = 0; i < entry.parameters.size(); ++i) set_parameter(model, i, entry.parameters[i]);
  const IndexRange stretch{0, std::min(kStretch, series_.size())};
  const Series part = subseries(series_, std::span(&stretch, 1));
  const double seconds = estimate_cost(part, model, options_.cut).seconds_per_evaluation;
  forecast_.set_cost(seconds * static_cast<double>(series_.size()) / static_cast<double>(part.size()));
}

void Progress::show(const TraceEntry& entry) {
  const bool on_all = entry.stage > 0 && entry.n >= series_.size();
  const double took = entry.seconds - before_;
  before_ = entry.seconds;
  // Interrupted on all the data, a fit evaluates the best so far, with its gradient and once more to keep it.
  Interrupt::expect(took, on_all ? 1.5 * took : 0);
  if (quiet_) return;
  estimate(entry);
  const std::optional<Forecast::Left> left = forecast_.after(entry);
  if (on_terminal_) {
    show_line(progress_line(entry, left, line_width()));
    shown_ = true;
    return;
  }
  const auto seconds_left = left ? std::optional(left->seconds) : std::nullopt;
  if (!announcements_.due(seconds_since(kProgramBegin), seconds_left)) return;
  fmt::print(stderr, "bandgp: {}; Ctrl-C ends it with what it has\n", progress_line(entry, left, 200));
}

void Progress::clear() {
  if (shown_) std::fputs("\r\033[K", stderr);
  shown_ = false;
}

WorkProgress::WorkProgress(bool quiet) : quiet_(quiet), on_terminal_(!quiet && is_terminal(STDERR_FILENO)) {}

WorkProgress::~WorkProgress() {
  if (on_terminal_) std::fputs("\r\033[K", stderr);
}

void WorkProgress::expect(double seconds, const std::string& what) {
  if (quiet_ || seconds == 0) return;
  if (on_terminal_) {
    show_line(fmt::format("{}: about {}", what, seconds_text(seconds)));
  } else if (announcements_.due(seconds_since(begin_), seconds)) {
    fmt::print(stderr, "bandgp: {} takes about {}\n", what, seconds_text(seconds));
  }
}

void WorkProgress::count(std::string pieces, double seconds, double after) {
  pieces_ = std::move(pieces);
  expected_ = seconds;
  after_ = after;
  counted_from_ = Clock::now();
}

void WorkProgress::show(Index done, Index of, const std::string& detail) {
  if (quiet_) return;
  constexpr double kTelling = 1;  // seconds: what took less says little about the rest
  const double so_far = seconds_since(begin_), counted = seconds_since(counted_from_);
  std::optional<double> to_come;
  if (done > 0 && (done == of || counted >= kTelling)) {
    const double all = counted * static_cast<double>(of) / static_cast<double>(done);
    to_come = all * (1 - static_cast<double>(done) / static_cast<double>(of));
    if (after_ > 0) *to_come += after_ * (expected_ > 0 && counted >= kTelling ? all / expected_ : 1);
  }
  if (!on_terminal_ && !announcements_.due(so_far, to_come)) return;
  std::string line = fmt::format("{} of {} {}, {:.0f} s", done, of, pieces_, so_far);
  if (to_come) line += ", " + left_text(Forecast::Left{*to_come, false}, false);
  if (!detail.empty()) line += ": " + detail;
  if (on_terminal_) {
    show_line(line);
  } else {
    fmt::print(stderr, "bandgp: {}\n", line);
  }
}

double evaluation_seconds(const FitResult& fit) {
  if (fit.series->size() == 0 || !std::isfinite(fit.nll)) return 0;
  return estimate_cost(*fit.series, fit.model, fit.cut).seconds_per_evaluation;
}

Interrupt::Interrupt(bool quiet) {
  interrupted = false;
  quiet_interrupt = quiet;
  expected_end = 0;
  struct sigaction action {};
  action.sa_handler = [](int) {
    const int before = errno;  // whoever was interrupted may be about to read it
    interrupted = true;
    if (!quiet_interrupt) tell_of_interrupt();
    errno = before;
  };
  // A write that is under way goes on: a line of progress cut short would end the program with an error.
  action.sa_flags = static_cast<int>(static_cast<unsigned>(SA_RESETHAND) | static_cast<unsigned>(SA_RESTART));
  sigaction(SIGINT, &action, nullptr);
}

Interrupt::~Interrupt() { std::signal(SIGINT, SIG_DFL); }

bool Interrupt::requested() { return interrupted; }

void Interrupt::expect(double seconds, double then) {
  const double nanoseconds = 1e9 * std::min(seconds + then, 1e9);  // 30 years are long enough
  expected_end = monotonic_nanoseconds() + static_cast<std::int64_t>(nanoseconds);
}

}  // namespace bandgp::cli
