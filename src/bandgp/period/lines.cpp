// SPDX-License-Identifier: Apache-2.0
#include "bandgp/period/lines.hpp"

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <numbers>

namespace bandgp {
namespace {

/// Points whose columns are made, and multiplied, together.
constexpr Index kBlock = 256;

}  // namespace

struct Lines::Normal {
  Eigen::MatrixXd matrix;  // lower triangle
  Eigen::VectorXd right;
};

Lines::Lines(const Samples& samples, const BaselineColumns& baseline)
    : samples_(samples), baseline_(baseline) {
  fit_amplitudes();
}

double Lines::amplitude(std::size_t line) const { return std::hypot(cosine_[line], sine_[line]); }

/// Columns: the baseline's, cosine and sine of each line and, where wanted, the slope by each frequency in
/// units of 1/span.
Lines::Normal Lines::normal_equations(bool with_frequencies, std::span<const double> right) const {
  const auto lines = static_cast<Index>(size());
  const Index base = baseline_.count(), columns = base + (with_frequencies ? 3 : 2) * lines;
  Normal normal{Eigen::MatrixXd::Zero(columns, columns), Eigen::VectorXd::Zero(columns)};
  Eigen::MatrixXd block(columns, kBlock);
  Eigen::VectorXd values(kBlock);
  const double tau = 2 * std::numbers::pi, middle = 0.5 * samples_.span;
  for (Index begin = 0; begin < samples_.size(); begin += kBlock) {
    const Index count = std::min(kBlock, samples_.size() - begin);
    for (Index j = 0; j < count; ++j) {
      const auto i = static_cast<std::size_t>(begin + j);
      const double time = samples_.time[i], root = std::sqrt(samples_.weight[i]);
      values[j] = root * right[i];
      block(0, j) = root;
      if (base > 1) block(1, j) = root * baseline_.slope_at(time);
      for (Index l = 0; l < lines; ++l) {
        const auto line = static_cast<std::size_t>(l);
        const double angle = tau * frequency_[line] * time;
        const double c = root * std::cos(angle), s = root * std::sin(angle);
        block(base + 2 * l, j) = c;
        block(base + 2 * l + 1, j) = s;
        if (with_frequencies)
          block(base + 2 * lines + l, j) =
              tau * (time - middle) / samples_.span * (sine_[line] * c - cosine_[line] * s);
      }
    }
    const auto used = block.leftCols(count);
    normal.matrix.selfadjointView<Eigen::Lower>().rankUpdate(used);
    normal.right.noalias() += used * values.head(count);
  }
  return normal;
}

void Lines::fit_amplitudes() {
  const Normal normal = normal_equations(false, samples_.value);
  const Eigen::VectorXd solution = normal.matrix.selfadjointView<Eigen::Lower>().ldlt().solve(normal.right);
  const Index base = baseline_.count();
  level_ = solution[0];
  slope_ = base > 1 ? solution[1] : 0;
  for (std::size_t l = 0; l < size(); ++l) {
    cosine_[l] = solution[base + 2 * static_cast<Index>(l)];
    sine_[l] = solution[base + 2 * static_cast<Index>(l) + 1];
  }
  residual_.resize(samples_.value.size());
  for (std::size_t i = 0; i < residual_.size(); ++i) {
    const double time = samples_.time[i];
    double fitted = level_ + slope_ * baseline_.slope_at(time);
    for (std::size_t l = 0; l < size(); ++l) {
      const double angle = 2 * std::numbers::pi * frequency_[l] * time;
      fitted += cosine_[l] * std::cos(angle) + sine_[l] * std::sin(angle);
    }
    residual_[i] = samples_.value[i] - fitted;
  }
  residual_ = baseline_.remove_from(samples_, residual_);
  square_ = 0;
  for (std::size_t i = 0; i < residual_.size(); ++i)
    square_ += samples_.weight[i] * residual_[i] * residual_[i];
}

/// A Gauss–Newton step of all frequencies; it is taken back, and false returned, where it does not pay.
bool Lines::step() {
  const Normal normal = normal_equations(true, residual_);
  const Eigen::VectorXd solution = normal.matrix.selfadjointView<Eigen::Lower>().ldlt().solve(normal.right);
  if (!solution.allFinite()) return false;
  const Lines before = *this;
  const Index first = baseline_.count() + 2 * static_cast<Index>(size());
  for (std::size_t l = 0; l < size(); ++l)
    frequency_[l] += std::clamp(solution[first + static_cast<Index>(l)], -0.5, 0.5) / samples_.span;
  fit_amplitudes();
  if (square_ <= before.square_) return true;
  take_back(before);
  return false;
}

void Lines::take_back(const Lines& before) {
  frequency_ = before.frequency_;
  cosine_ = before.cosine_;
  sine_ = before.sine_;
  level_ = before.level_;
  slope_ = before.slope_;
  residual_ = before.residual_;
  square_ = before.square_;
}

void Lines::add_at(double frequency) {
  frequency_.push_back(frequency);
  cosine_.push_back(0);
  sine_.push_back(0);
  fit_amplitudes();
}

void Lines::add(double frequency) {
  add_at(frequency);
  polish(1);
}

void Lines::polish(int steps) {
  for (int i = 0; i < steps && step(); ++i) continue;
}

std::vector<double> Lines::frequency_variances() const {
  const Normal normal = normal_equations(true, residual_);
  const auto lines = static_cast<Index>(size());
  const Index columns = normal.matrix.rows();
  // Only the last rows of the inverse are wanted: those of the frequencies.
  const Eigen::MatrixXd inverse =
      normal.matrix.selfadjointView<Eigen::Lower>().ldlt().solve(Eigen::MatrixXd::Identity(columns, columns));
  std::vector<double> variance;
  for (Index l = 0; l < lines; ++l) {
    const double in_spans = inverse(columns - lines + l, columns - lines + l);
    variance.push_back(0.5 * in_spans / (samples_.span * samples_.span));  // a mean gain of 1 is 2 s²
  }
  return variance;
}

}  // namespace bandgp
