// SPDX-License-Identifier: Apache-2.0
// Periods that oscillating terms start from where none is given: a likelihood has many maxima in a period,
// and nothing leads from one to the next.                                                         [math.md
// §13]
#pragma once
#include <map>
#include <vector>

#include "bandgp/kernel/kernel.hpp"
#include "bandgp/period/periods.hpp"

namespace bandgp {

/// Peaks of the periodogram of a series, and of what oscillations that are fitted already leave of it.
class PeriodStarts {
 public:
  explicit PeriodStarts(const Series& series);

  /// For a term beside these others, whose periods are known: internal units, the likeliest first; never
  /// empty.
  std::vector<double> beside(const Kernel& others, const Term& term);

 private:
  std::vector<double> candidates(const Kernel& others, const Term& term) const;

  double time_unit_;
  Samples samples_;
  std::map<std::vector<double>, std::vector<double>> known_;  // of periods that are there already
};

}  // namespace bandgp
