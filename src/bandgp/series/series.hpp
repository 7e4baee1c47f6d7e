// SPDX-License-Identifier: Apache-2.0
// A series ready for computation: finite, in time order, equal times grouped, centred and scaled.
// Nothing is repaired behind the user's back: what was dropped, sorted, merged or thinned is counted in
// `report`.
#pragma once
#include <algorithm>
#include <span>
#include <vector>

#include "bandgp/base/index.hpp"
#include "bandgp/series/table.hpp"

namespace bandgp {

/// Internal numbers are (user − origin) / unit.  Units are powers of two, so scaling is exact; origins keep
/// epoch seconds (1.7e9) and offsets of the values from costing digits.
struct Units {
  double time_origin = 0, time_unit = 1;
  double value_origin = 0, value_unit = 1;

  double time_in(double t) const { return (t - time_origin) / time_unit; }
  double time_out(double x) const { return time_origin + time_unit * x; }
  double value_out(double y) const { return value_origin + value_unit * y; }
};

/// Which numbers a type is in.  What is used in both is a template over this, so that the one cannot be given
/// where the other is wanted.
enum class UnitSystem { user, internal };

struct SeriesReport {
  Index rows = 0;     // rows given
  Index dropped = 0;  // not finite
  Index thinned = 0;  // closer than `thin` to the point kept before
  Index merged = 0;   // observations that share an earlier observation's time
  Index used = 0;     // observations that enter the likelihood: rows − dropped − thinned
  bool was_sorted = true;
  double min_gap = 0, mean_gap = 0, max_gap = 0,
         span = 0;                       // of distinct times, user's units; 0 with one time
  double first_time = 0, last_time = 0;  // user's units
};

struct SeriesOptions {
  bool center = true;  // subtract the mean value (a model with mean zero must not)
  double thin = 0;     // drop points closer than this to the point kept before them (user's units); 0: none
};

struct Series {
  Units units;
  std::vector<double> time;      // (n,) strictly increasing, internal
  std::vector<double> value;     // (m ≥ n,) observations in time order, internal
  std::vector<double> variance;  // (m,) known variance of each observation, internal; empty: none known
  std::vector<Index> group;  // (n+1,) observations of time i are group[i] … group[i+1]−1; empty: one each
  std::vector<Index> row;    // (m,) which given row each observation came from
  SeriesReport report;
  TimeAxis axis;  // how times are written; the user's numbers are units since its origin

  Index size() const { return static_cast<Index>(time.size()); }           // distinct times n
  Index observations() const { return static_cast<Index>(value.size()); }  // m
  bool has_ties() const { return !group.empty(); }
  /// Whether every observation has a known positive error, so that no other noise is needed.
  bool all_errors_known() const { return !variance.empty() && std::ranges::min(variance) > 0; }
};

/// Sorts (stably), drops rows with a NaN or ±inf in any column, thins, groups equal times, centres and
/// scales. `variance` is empty or as long as `time`.  Throws std::invalid_argument: lengths differ, a known
/// variance is negative, thin is negative or not finite, no finite row is left.
Series make_series(std::span<const double> time, std::span<const double> value,
                   std::span<const double> variance = {}, const SeriesOptions& options = {});

/// The same for a table as it was read, with its time axis.
Series make_series(const Table& table, const SeriesOptions& options = {});

/// Observations with times i ∈ [begin, end) for each of the given index ranges (over distinct times), same
/// units.
struct IndexRange {
  Index begin, end;
};
Series subseries(const Series& series, std::span<const IndexRange> ranges);

}  // namespace bandgp
