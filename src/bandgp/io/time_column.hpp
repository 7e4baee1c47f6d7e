// SPDX-License-Identifier: Apache-2.0
// A column of times, cell by cell: numbers or timestamps, whatever its first cell is.  What one cell leaves
// open (which number is the day, whether 19580329 is a date) is decided by the whole column.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bandgp/series/time_axis.hpp"
#include "bandgp/series/time_pattern.hpp"

namespace bandgp {

class TimeColumn {
 public:
  /// `format` and `unit` as in ReadOptions; throws std::invalid_argument where they are not known.
  TimeColumn(const std::string& format, const std::string& unit);

  /// Appends a time, or throws Malformed and appends nothing.
  void add(std::string_view cell);
  void add(double number);  // NaN: missing

  /// The times, missing ones as NaN, and what they mean.  `place` names file and column in errors
  /// (std::invalid_argument).
  std::vector<double> finish(const std::string& place, TimeAxis& axis);

 private:
  enum class Kind { open, numbers, written, patterned };

  void add_missing();
  void add_number(double number);
  void add_written(std::string_view cell);
  void note_form(const Written& written);
  std::vector<double> finish_moments(TimeAxis& axis, const std::string& format) const;
  std::vector<double> finish_numbers(const std::string& place, TimeAxis& axis);

  std::string format_, unit_;
  Kind kind_ = Kind::open;
  std::size_t missing_ = 0;  // while the kind is open

  std::vector<double> numbers_;
  unsigned readings_ = 0;  // what all numbers so far could be beside numbers: bits, in the .cpp

  TimePattern pattern_;
  std::vector<Moment> moments_;      // day first while the order is open
  std::vector<Moment> month_first_;  // the other reading, while the order is open
  std::optional<DateOrder> order_;
  Written form_;          // the fullest form seen
  std::string doubtful_;  // a cell that is two different dates
  bool zones_differ_ = false;
};

}  // namespace bandgp
