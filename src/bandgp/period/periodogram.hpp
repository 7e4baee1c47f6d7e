// SPDX-License-Identifier: Apache-2.0
// The generalised, floating-mean periodogram: how much of a series a sinusoid of each frequency takes beside
// a mean that is fitted along with it.                                                        [math.md §13]
#pragma once
#include <complex>
#include <span>
#include <vector>

#include "bandgp/base/index.hpp"
#include "bandgp/period/nonuniform_fft.hpp"
#include "bandgp/series/series.hpp"

namespace bandgp {

/// What is fitted beside every sinusoid.
enum class Baseline { constant, linear };

/// Observations with what they weigh.
struct Samples {
  std::vector<double> time;  // from the first, ascending
  std::vector<double> value;
  std::vector<double> weight;  // positive, they sum to 1
  double span = 0;             // of the times
  double spacing = 0;          // the median one between distinct times

  Index size() const { return static_cast<Index>(time.size()); }
};
/// In the user's units.  An observation of known error weighs 1/error²; where an error is 0 the excess of
/// the values' variance over the mean squared error is added to all of them.
Samples samples_of(const Series& series);

/// Multiples first … first + count − 1 of `step`.
struct FrequencyGrid {
  double step = 0;
  Index first = 1, count = 0;

  double at(Index i) const { return static_cast<double>(first + i) * step; }
  Index last() const { return first + count - 1; }
};

/// The sampled mean functions, orthonormal in the weights' inner product.
class BaselineColumns {
 public:
  BaselineColumns(const Samples& samples, Baseline baseline);
  /// 0 for a constant: there is no second column.
  double slope_at(double time) const { return inverse_deviation_ * (time - centre_); }
  bool has_slope() const { return inverse_deviation_ > 0; }
  Index count() const { return has_slope() ? 2 : 1; }
  /// The values without what the columns take of them.
  std::vector<double> remove_from(const Samples& samples, std::span<const double> value) const;

 private:
  double centre_ = 0, inverse_deviation_ = 0;
};

/// A symmetric 2×2 matrix: the inner products of a cosine and a sine, without what the baseline takes.
struct Gram {
  double cc, cs, ss;
};
/// What a least-squares fit of cosine and sine takes off the sum of squares, where those have these inner
/// products with the values.  Where cosine and sine are one and the same, as at half of the sampling rate, a
/// single function is fitted.
double gain(const Gram& gram, double c, double s);

/// The sums that do not depend on the values, for every frequency of a grid.
class Periodogram {
 public:
  Periodogram(const Samples& samples, const BaselineColumns& baseline, const FrequencyGrid& grid);
  const FrequencyGrid& grid() const { return grid_; }
  /// For each frequency, what the best sinusoid takes off Σ weight·residual².  The residual must be without
  /// its baseline.
  std::vector<double> gains(std::span<const double> residual);
  /// |Σ weight e^{−2πift}|² at f = 0, step, … up to twice the grid's last frequency: 1 at f = 0.
  const std::vector<double>& window() const { return window_; }

 private:
  const Samples& samples_;
  FrequencyGrid grid_;
  std::vector<double> place_;  // time × step, in [0, 1)
  NonuniformFft transform_;
  std::vector<Gram> gram_;
  std::vector<double> window_;
};

}  // namespace bandgp
