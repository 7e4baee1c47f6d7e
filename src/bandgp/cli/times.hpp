// SPDX-License-Identifier: Apache-2.0
// The one place where a time becomes text and text becomes a time.
#pragma once
#include <string>
#include <vector>

#include "bandgp/series/series.hpp"

namespace bandgp::cli {

/// Shortest text that reads back as the same number.
std::string time_text(const Series& series, double time);
/// Throws std::invalid_argument naming the flag.
double parse_time(const Series& series, const std::string& flag, const std::string& text);
/// A length of time: `48h`, or a number of the series' units.  Positive; throws as parse_time does.
double parse_length(const Series& series, const std::string& flag, const std::string& text);
/// A column of times: `x` names or numbers it, the first column otherwise.  A missing time is an error.
std::vector<double> read_times(const Series& series, const std::string& file, const std::string& x);

/// Times at which something is asked for: a list, or a grid that is never held in memory.
class Times {
 public:
  explicit Times(std::vector<double> list)
      : list_(std::move(list)), size_(static_cast<Index>(list_.size())) {}
  /// `A,B,STEP`: A, A+STEP, … up to B, which is one of them if it is so to rounding.
  static Times grid(const Series& series, const std::string& flag, const std::string& text);
  /// The times after the last one up to a horizon, `step` (empty: the median spacing) apart; both are
  /// lengths.
  static Times after(const Series& series, const std::string& horizon, const std::string& step);

  Index size() const { return size_; }
  std::vector<double> slice(Index begin, Index end) const;

 private:
  Times() = default;
  std::vector<double> list_;
  Index size_ = 0;
  // In the longer format multiples of 0.1 round to the numbers that people write: 0.3, not
  // 0.30000000000000004.
  long double start_ = 0, step_ = 0;
};

}  // namespace bandgp::cli
