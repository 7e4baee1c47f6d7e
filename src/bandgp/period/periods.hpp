// SPDX-License-Identifier: Apache-2.0
// The periods of a series: the peaks of its periodogram that noise does not explain.           [math.md §13]
#pragma once
#include <functional>
#include <optional>
#include <vector>

#include "bandgp/period/periodogram.hpp"

namespace bandgp {

struct PeriodOptions {
  Baseline baseline = Baseline::linear;
  double shortest = 0;               // period that is looked at; 0: two median spacings
  double longest = 0;                // 0: the span
  Index per_peak = 4;                // frequencies in 1/span, which is about half of the width of a peak
  double false_alarm = 1e-3;         // probability that noise makes a peak that is still listed
  std::size_t most_peaks = 16;       // that are looked for
  std::vector<double> without = {};  // frequencies of sinusoids that are taken out of the series first
  std::function<void(std::size_t)> progress = {};  // told how many are found
  std::function<bool()> cancelled = {};            // asked before each; what is found by then is the result
};

/// Another frequency that explains a peak nearly as well, as the times of the observations go.
struct Alias {
  double frequency;
  double lead;  // of the peak over it, nats of log-likelihood
};

struct Peak {
  double frequency = 0, frequency_error = 0;  // error: standard deviation
  double amplitude = 0;          // of the sinusoid; of an oscillation that wanders, √2 times its rms
  double power = 0;              // share of the variance that the baseline leaves
  double log10_false_alarm = 0;  // probability that noise makes such a peak somewhere
  bool wanders = false;  // a hump of the spectrum: the phase does not keep, the error is that of the centre
  double width = 0;      // of a hump: its root mean square half-width, frequency
  std::vector<Alias> aliases;              // leads below 6 nats
  std::optional<std::size_t> fundamental;  // the peak of which this one is a harmonic
  Index harmonic = 1;                      // … and which

  double period() const { return 1 / frequency; }
  double period_error() const { return frequency_error / (frequency * frequency); }
};

struct Periods {
  FrequencyGrid grid;
  std::vector<double> power;     // of every frequency: share of the variance that a sinusoid takes
  std::vector<double> level;     // … and what noise takes there on average, by a running median
  std::vector<double> rest;      // power of what the peaks that do not wander leave, in the same unit
  std::vector<Peak> peaks;       // the most powerful first
  std::vector<double> sampling;  // frequencies in which the observations' times repeat themselves
  /// The shortest period is longer than was asked for, or than two median spacings: too many frequencies.
  bool shortest_was_raised = false;
};

/// The frequencies that are looked at; without any where there are fewer than five observations.
FrequencyGrid grid_for(const Samples& samples, const PeriodOptions& options);

/// Empty where there are fewer than five observations or all values are equal.
Periods find_periods(const Samples& samples, const PeriodOptions& options = {});

}  // namespace bandgp
