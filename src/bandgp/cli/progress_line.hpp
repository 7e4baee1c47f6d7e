// SPDX-License-Identifier: Apache-2.0
// What the progress line of a fit says: how long it may still take, and which words fit the terminal.
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "bandgp/fit/fit.hpp"

namespace bandgp::cli {

/// When work that nobody watches on a terminal is announced by a line that stays: once it is known, or has
/// turned out, to take longer than ten seconds, and every minute after that.
class Announcements {
 public:
  /// Whether a line is due `elapsed` seconds after the start, with about `left` seconds to come.  Work that
  /// is about to end is not worth one.
  bool due(double elapsed, std::optional<double> left) {
    constexpr double kLong = 10, kAgain = 60, kNearlyDone = 1;  // seconds
    if (left && *left < kNearlyDone) return false;
    if (latest_ ? elapsed < *latest_ + kAgain : elapsed + left.value_or(0) <= kLong) return false;
    latest_ = elapsed;
    return true;
  }

 private:
  std::optional<double> latest_;  // when the latest line was due
};

/// The rest of a fit, from what its evaluations took so far and from how many fits take.
class Forecast {
 public:
  struct Left {
    double seconds;
    bool at_least;  // evaluations of a larger kernel are to come: they take longer than those seen
  };

  /// n is the size of the whole series.
  Forecast(Index n, const FitOptions& options)
      : n_(n),
        free_(parameter_names(options.kernel).size() - options.fix.size()),
        search_(options.kernel.terms.size() + 1, 0.0) {
    const Method method = options.cut.method;
    if (!options.own_search && method != Method::automatic && method != Method::band &&
        method != Method::dual) {
      search_.clear();  // it searches in the band, which tells nothing of what its own evaluations take
    } else if (all_given(options)) {
      search_.back() = free_ == 0 ? 1 : kDescent;
      silent_ = 0;
    } else {
      add_search(options.kernel);
    }
  }

  /// Evaluations on the whole series in the last stage.
  int expected() const { return expected_evaluations(static_cast<int>(free_)); }

  /// What an evaluation with gradient on all the data takes, as far as the cost of its representation tells:
  /// an evaluation of the search on a part, most of them without a gradient, takes less than its share of
  /// that.
  void set_cost(double seconds) { cost_ = seconds; }

  /// What is left after this evaluation, the next after those told before; nothing where there is no telling.
  std::optional<Left> after(const TraceEntry& entry) {
    const bool last_stage = entry.stage > 0 && entry.n >= n_;
    const std::size_t terms = parse_kernel(entry.kernel).terms.size();
    if (entry.stage != stage_ || terms != terms_) {
      recent_.clear();
      since_ = entry.seconds;
      of_kind_ = 0;
      in_stage_ = entry.stage == stage_ ? in_stage_ : 0;
      stage_ = entry.stage;
      terms_ = terms;
    } else {  // the first of a kind also makes what all of them need
      recent_.push_back(entry.seconds - before_);
      if (recent_.size() > kRecent) recent_.erase(recent_.begin());
      ++of_kind_;
    }
    before_ = entry.seconds;
    ++in_stage_;
    if (last_stage) {
      const int to_come = expected() - in_stage_;
      const bool known = !recent_.empty() || cost_ > 0;
      if (!known || to_come <= 0) return {};  // past that nothing is promised any more
      return Left{to_come * (recent_.empty() ? cost_ : typical()), false};
    }
    if (terms >= search_.size()) return {};
    search_[terms] -= 1;
    if (of_kind_ < 3 || (terms == 1 && entry.evaluation < silent_)) return {};
    const bool smaller_kernel = terms + 1 < search_.size();
    double to_come = entry.stage > 0 ? 1 : std::max(search_[terms], 3.0);
    for (std::size_t t = 1; smaller_kernel && t < search_.size(); ++t) {
      if (t != terms) to_come += std::max(search_[t], 0.0);
    }
    const double larger = static_cast<double>(n_) / static_cast<double>(std::max<Index>(entry.n, 1));
    const double each = (entry.seconds - since_) / of_kind_;  // of narrow bands and wide ones: the mean
    return Left{to_come * each + std::max(larger * each, cost_) * expected(), smaller_kernel};
  }

 private:
  static constexpr std::size_t kRecent = 9;
  static constexpr double kDescent = 15;

  static bool all_given(const FitOptions& options) {
    const Model in_text{options.kernel, kUnset, options.mean};
    return std::ranges::all_of(parameters(in_text), [&](const auto& parameter) {
      return options.fix.contains(parameter.name) || options.init.contains(parameter.name) ||
             std::isfinite(*parameter.value);
    });
  }

  /// Evaluations of the search of fit/search.cpp, by the number of terms: a grid and descents for one term;
  /// for more some of each way to add a term to each smaller kernel, and a race of descents.  Fits of
  /// sunspots took 63 … 111 for one term, 223 and 234 where all terms are of one shape, 340 … 514 where they
  /// are not.
  void add_search(const Kernel& kernel) {
    const std::size_t terms = kernel.terms.size();
    if (terms <= 1) {
      search_[terms] += 80;
      return;
    }
    std::vector<Term> forms;
    for (std::size_t t = 0; t < terms; ++t) {  // leaving out either of two equal terms is the same
      const Term& left_out = kernel.terms[t];
      if (std::ranges::any_of(forms, [&](const Term& form) { return form.same_form(left_out); })) continue;
      forms.push_back(left_out);
      Kernel smaller = kernel;
      smaller.terms.erase(smaller.terms.begin() + static_cast<std::ptrdiff_t>(t));
      add_search(smaller);
    }
    search_[terms] += forms.size() > 1 ? 420 : 225;
  }

  /// Of the last stage, the median: one that waited for the machine, or was rejected early, says nothing of
  /// the others.
  double typical() const {
    std::vector<double> sorted = recent_;
    std::ranges::sort(sorted);
    return sorted[sorted.size() / 2];
  }

  Index n_;
  double cost_ = 0;  // seconds of an evaluation on all the data; 0: not known
  std::size_t free_;
  std::vector<double> search_;  // evaluations to come, by the number of terms; empty: not known
  int silent_ = 24;             // the grid goes from narrow bands to wide ones
  int stage_ = -1, in_stage_ = 0;
  std::size_t terms_ = 0;
  double before_ = 0, since_ = 0;  // when the latest ended, and the first of this kernel on this stage
  int of_kind_ = 0;                // that came after that
  std::vector<double> recent_;     // seconds of the latest evaluations of this kernel on this stage
};

/// `about 12 s left`, `~12 s left`; empty where there is no telling.
inline std::string left_text(const std::optional<Forecast::Left>& left, bool brief) {
  if (!left || !std::isfinite(left->seconds)) return "";
  const double seconds = left->seconds;
  if (seconds < 1) return left->at_least ? "" : brief ? "<1 s left" : "under 1 s left";
  const std::string time = seconds < 119.5  ? fmt::format("{:.0f} s", seconds)
                           : seconds < 7170 ? fmt::format("{:.0f} min", seconds / 60)
                                            : fmt::format("{:.0f} h", seconds / 3600);
  const char* about = left->at_least ? (brief ? ">" : "over ") : (brief ? "~" : "about ");
  return about + time + " left";
}

/// The names of an entry's parameters: while a sum is being looked for, smaller kernels are trained.
inline std::vector<std::string> names_of(const TraceEntry& entry, bool brief) {
  std::vector<std::string> names = parameter_names(parse_kernel(entry.kernel));
  for (std::string& name : names) {
    if (brief && name.starts_with("variance")) name.replace(0, 8, "var");
    if (brief && name.starts_with("lengthscale")) name.replace(0, 11, "len");
  }
  return names;
}

/// At most `width` characters, the most useful first: a narrow terminal gets shorter words, then fewer.
inline std::string progress_line(const TraceEntry& entry, const std::optional<Forecast::Left>& left,
                                 std::size_t width) {
  const auto parts = [&](bool points, bool brief, bool evaluation, int digits) {
    std::vector<std::string> all;
    if (points) all.push_back(fmt::format("{} points", entry.n));
    all.push_back(fmt::format("NLL {:.7g}", entry.nll));
    const std::string time = left_text(left, brief);
    if (!time.empty()) all.push_back(time);
    if (entry.bandwidth > 0) all.push_back(fmt::format("{} {}", brief ? "k" : "bandwidth", entry.bandwidth));
    const std::vector<std::string> names = names_of(entry, brief);
    for (std::size_t i = 0; i < names.size() && i < entry.parameters.size(); ++i)
      all.push_back(fmt::format("{} {:.{}g}", names[i], entry.parameters[i], digits));
    if (evaluation) all.push_back(fmt::format("{} {}", brief ? "eval" : "evaluation", entry.evaluation));
    return all;
  };
  const auto joined = [](const std::vector<std::string>& all) {
    std::string line;
    for (const std::string& part : all) line += (line.empty() ? "" : ", ") + part;
    return line;
  };
  for (const auto& all : {parts(true, false, true, 3), parts(false, false, true, 3),
                          parts(false, true, true, 3), parts(false, true, false, 3)}) {
    std::string line = joined(all);
    if (line.size() <= width) return line;
  }
  std::vector<std::string> shortest = parts(false, true, false, 2);
  while (shortest.size() > 1 && joined(shortest).size() > width) shortest.pop_back();
  return joined(shortest).substr(0, width);
}

}  // namespace bandgp::cli
