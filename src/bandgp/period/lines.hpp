// SPDX-License-Identifier: Apache-2.0
// Sinusoids and a baseline fitted to observations all at once, frequencies included.           [math.md §13]
#pragma once
#include <span>
#include <vector>

#include "bandgp/period/periodogram.hpp"

namespace bandgp {

class Lines {
 public:
  Lines(const Samples& samples, const BaselineColumns& baseline);

  std::size_t size() const { return frequency_.size(); }
  double frequency(std::size_t line) const { return frequency_[line]; }
  double amplitude(std::size_t line) const;
  /// Values without the baseline and all sinusoids.
  const std::vector<double>& residual() const { return residual_; }
  double residual_square() const { return square_; }

  /// One sinusoid more, near this frequency; amplitudes and frequencies of all are fitted again.
  void add(double frequency);
  /// One sinusoid more, of just this frequency so far: amplitudes are fitted again.
  void add_at(double frequency);
  /// What it was: a copy of this one, made before.
  void take_back(const Lines& before);
  /// Further Gauss–Newton steps, of which none moves a frequency by more than half of 1/span.
  void polish(int steps);
  /// The variance of each frequency where noise alone has a mean gain of 1.
  std::vector<double> frequency_variances() const;

 private:
  struct Normal;
  Normal normal_equations(bool with_frequencies, std::span<const double> right) const;
  void fit_amplitudes();
  bool step();

  const Samples& samples_;
  const BaselineColumns& baseline_;
  std::vector<double> frequency_, cosine_, sine_;
  double level_ = 0, slope_ = 0;
  std::vector<double> residual_;
  double square_ = 0;
};

}  // namespace bandgp
