// SPDX-License-Identifier: Apache-2.0
#include "bandgp/gp/observations.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace bandgp {

Observations::Observations(const Series& series) : series_(series), n_(series.size()) {
  for (AlignedBuffer* buffer : {&time_, &value_, &noise_, &weight_, &noise_slope_})
    buffer->reserve(padded_size());
  if (series.has_ties()) value_slope_.reserve(padded_size());
  std::copy(series.time.begin(), series.time.end(), time_.data());
  smallest_gap_ = std::numeric_limits<double>::infinity();
  for (Index i = 1; i < n_; ++i) smallest_gap_ = std::min(smallest_gap_, time()[i] - time()[i - 1]);
  for (Index i = n_; i < padded_size(); ++i) time_.data()[i] = time_.data()[i - 1] + 1;
  for (Index i = n_; i < padded_size(); ++i) {
    value_.data()[i] = weight_.data()[i] = noise_slope_.data()[i] = 0;
    noise_.data()[i] = 1;
    if (series.has_ties()) value_slope_.data()[i] = 0;
  }
}

/// Without known errors and equal times only one number changes with σₙ².
void Observations::at_equal(double noise) {
  std::fill_n(noise_.data(), n_, noise);
  std::fill_n(weight_.data(), n_, 1 / std::sqrt(noise));
  smallest_noise_ = noise;
  if (centred_square_ >= 0) return;
  double sum = 0;
  for (Index i = 0; i < n_; ++i) sum += series_.value[static_cast<std::size_t>(i)];
  const double mean = sum / static_cast<double>(n_);
  centred_square_ = square_ = 0;
  for (Index i = 0; i < n_; ++i) {
    const double y = series_.value[static_cast<std::size_t>(i)];
    value_.data()[i] = y;
    noise_slope_.data()[i] = 1;
    square_ += y * y;
    centred_square_ += (y - mean) * (y - mean);
  }
}

void Observations::at(double noise) {
  if (equal_noise()) return at_equal(noise);
  const double* y = series_.value.data();
  const double* known = series_.variance.empty() ? nullptr : series_.variance.data();
  within_ = within_slope_ = 0;
  smallest_noise_ = std::numeric_limits<double>::infinity();
  for (Index i = 0; i < n_; ++i) {
    const Index from = series_.has_ties() ? series_.group[static_cast<std::size_t>(i)] : i;
    const Index to = series_.has_ties() ? series_.group[static_cast<std::size_t>(i) + 1] : i + 1;
    double merged = noise + (known != nullptr ? known[from] : 0), mean = y[from], slope = 1, mean_slope = 0;
    if (to - from > 1) {
      double precision = 0, squares = 0, weighted = 0, log_noise = 0;
      for (Index j = from; j < to; ++j) {
        const double d = noise + (known != nullptr ? known[j] : 0);
        precision += 1 / d;
        squares += 1 / (d * d);
        weighted += (y[j] - y[from]) / d;  // from the first observation: no cancellation for large values
        log_noise += std::log(d);
      }
      merged = 1 / precision;
      mean = y[from] + weighted * merged;
      slope = merged * merged * squares;
      double spread = 0, spread_slope = 0, pull = 0;
      for (Index j = from; j < to; ++j) {
        const double d = noise + (known != nullptr ? known[j] : 0), e = y[j] - mean;
        spread += e * e / d;
        spread_slope += e * e / (d * d);
        pull += e / (d * d);
      }
      mean_slope = -merged * pull;  // ∂ȳ/∂σₙ² = −d̄ Σ (y_j − ȳ)/d_j²
      const auto lost = static_cast<double>(to - from - 1);
      within_ += 0.5 * (log_noise - std::log(merged) + lost * std::log(2 * std::numbers::pi) + spread);
      within_slope_ += 0.5 * (precision - merged * squares - spread_slope);
    }
    value_.data()[i] = mean;
    noise_.data()[i] = merged;
    weight_.data()[i] = 1 / std::sqrt(merged);
    noise_slope_.data()[i] = slope;
    if (series_.has_ties()) value_slope_.data()[i] = mean_slope;
    smallest_noise_ = std::min(smallest_noise_, merged);
  }
}

double Observations::noise_weighted_square(bool centred) const {
  if (equal_noise()) return (centred ? centred_square_ : square_) / smallest_noise_;
  double precision = 0, first = 0, square = 0;
  for (Index i = 0; centred && i < n_; ++i) {
    const double p = 1 / noise_.data()[i];
    precision += p;
    first += p * value_.data()[i];
  }
  // Two passes: Σpy² − (Σpy)²/Σp would cancel where one point is far more precise than the rest.
  const double c = centred ? first / precision : 0;
  for (Index i = 0; i < n_; ++i) {
    const double e = value_.data()[i] - c;
    square += e * e / noise_.data()[i];
  }
  return square;
}

}  // namespace bandgp
