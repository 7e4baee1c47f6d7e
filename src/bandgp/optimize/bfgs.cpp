// SPDX-License-Identifier: Apache-2.0
#include "bandgp/optimize/bfgs.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

namespace bandgp {
namespace {

double dot(std::span<const double> a, std::span<const double> b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

class Minimizer {
 public:
  Minimizer(const Objective& f, std::vector<double> x, const BfgsOptions& options)
      : f_(f), options_(options), p_(x.size()), x_(std::move(x)), gradient_(p_), direction_(p_) {
    h_ = options.inverse_hessian;
    scaled_ = !h_.empty();
    clamp(x_);
  }

  BfgsResult run() {
    if (const auto stop = evaluate(x_, value_, gradient_)) return finish(*stop);
    if (!std::isfinite(value_)) return finish(BfgsStatus::stalled);
    int restarts = 0;  // of the Hessian since the value last fell by something that counts
    int idle = 0;      // iterations in a row that changed the value by no more than its last digits
    while (true) {
      if (!choose_direction()) return finish(BfgsStatus::converged);  // every variable is held by its bound
      const double slope = dot(gradient_, direction_);
      const bool little_left = scaled_ && (small_step(slope) || idle == 2);
      if (little_left && steepest() <= options_.gradient_tolerance) return finish(BfgsStatus::converged);
      std::optional<BfgsStatus> stop = BfgsStatus::stalled;
      const double before = value_;
      if (!little_left) {
        stop = search(slope);
        if (stop && *stop != BfgsStatus::stalled) return finish(*stop);
      }
      if (stop) {
        // No descent along this direction: the minimum to rounding, or a matrix that is wrong about the
        // curvature.
        if (const auto end = after_failure(slope, restarts)) return finish(*end);
        idle = 0;
        continue;
      }
      if (before - value_ > std::max(1e-6 * scale(), slack_)) restarts = 0;
      if (slack_ > 0 && before - value_ < slack_ && ++sideways_ > kMostSideways)
        return finish(BfgsStatus::rounding);
      idle = std::abs(before - value_) <= 1e-10 * scale() ? idle + 1 : 0;
    }
  }

 private:
  /// Steps that change f by less than its rounding; what the slopes have to tell is told by then.
  static constexpr int kMostSideways = 12;

  double scale() const { return std::max(1.0, std::abs(value_)); }

  /// The largest slope of a variable that is free to move.
  double steepest() const {
    double largest = 0;
    for (std::size_t i = 0; i < p_; ++i) largest = std::max(largest, held(i) ? 0 : std::abs(gradient_[i]));
    return largest;
  }

  /// First the line search is told what rounding does to f; then the Hessian is started afresh; then it ends.
  std::optional<BfgsStatus> after_failure(double slope, int& restarts) {
    const double rounding = options_.rounding ? options_.rounding(x_) : 1e-15 * scale();
    const bool within = scaled_ && -0.5 * slope <= std::max(options_.value_tolerance, rounding);
    if (within && steepest() <= options_.gradient_tolerance)
      return rounding <= options_.value_tolerance || small_step(slope) ? BfgsStatus::converged
                                                                       : BfgsStatus::rounding;
    if (options_.rounding && rounding > 2 * slack_ && rounding > 1e-15 * scale()) {
      slack_ = rounding;
      return std::nullopt;
    }
    if (++restarts < 3) {
      h_.clear();
      scaled_ = false;
      return std::nullopt;
    }
    const bool small = -slope < 1e-9 * scale() && steepest() <= options_.gradient_tolerance;
    if (small) return BfgsStatus::converged;
    return rounding > options_.value_tolerance ? BfgsStatus::rounding : BfgsStatus::stalled;
  }

  void clamp(std::vector<double>& x) const {
    if (options_.lower.empty()) return;
    for (std::size_t i = 0; i < p_; ++i) x[i] = std::clamp(x[i], options_.lower[i], options_.upper[i]);
  }
  bool held(std::size_t i) const {
    if (options_.lower.empty()) return false;
    return (x_[i] <= options_.lower[i] && gradient_[i] > 0) ||
           (x_[i] >= options_.upper[i] && gradient_[i] < 0);
  }

  std::optional<BfgsStatus> evaluate(const std::vector<double>& x, double& value,
                                     std::vector<double>& gradient) {
    if (options_.cancelled && options_.cancelled()) return BfgsStatus::cancelled;
    if (evaluations_ >= options_.max_evaluations || (options_.exhausted && options_.exhausted()))
      return BfgsStatus::out_of_evaluations;
    value = f_(x, gradient);
    if (!std::isfinite(dot(gradient, gradient))) value = std::numeric_limits<double>::infinity();
    ++evaluations_;
    if (!std::isfinite(value)) ++rejected_;
    return std::nullopt;
  }

  /// d = −H g over the variables that are free; steepest descent, half a unit long, while nothing is known of
  /// H.
  bool choose_direction() {
    double norm = 0;
    for (std::size_t i = 0; i < p_; ++i) norm += held(i) ? 0 : gradient_[i] * gradient_[i];
    if (norm == 0) return false;
    std::fill(direction_.begin(), direction_.end(), 0.0);
    for (std::size_t i = 0; i < p_; ++i) {
      if (held(i)) continue;
      if (!scaled_) direction_[i] = -0.5 * gradient_[i] / std::sqrt(norm);
      for (std::size_t j = 0; scaled_ && j < p_; ++j) {
        if (!held(j)) direction_[i] -= h_[i * p_ + j] * gradient_[j];
      }
    }
    if (!(dot(gradient_, direction_) < 0)) {  // H is not positive definite on the free variables: forget it
      scaled_ = false;
      h_.clear();
      return choose_direction();
    }
    double longest = 0;
    for (const double d : direction_) longest = std::max(longest, std::abs(d));
    if (longest > options_.largest_step) {
      for (double& d : direction_) d *= options_.largest_step / longest;
    }
    return true;
  }

  bool small_step(double slope) const {
    double longest = 0;
    for (const double d : direction_) longest = std::max(longest, std::abs(d));
    return longest < options_.step_tolerance || -0.5 * slope < options_.value_tolerance;
  }

  /// Armijo with interpolation; a step that still falls steeply is lengthened.  Accepts x_, updates H.
  std::optional<BfgsStatus> search(double slope) {
    double step = 1, best_step = 0, best_value = value_;
    std::vector<double> trial(p_), gradient(p_), best_gradient;
    constexpr double kShortest = 1e-9;  // of any variable: steps below it find rounding alone
    for (int attempt = 0; attempt < 30 && (attempt < 2 || longest_step(step) > kShortest); ++attempt) {
      for (std::size_t i = 0; i < p_; ++i) trial[i] = x_[i] + step * direction_[i];
      clamp(trial);
      double value = 0;
      const auto stop = evaluate(trial, value, gradient);
      if (stop) {
        if (best_step > 0) accept(best_step, best_value, best_gradient);
        return stop;
      }
      bool falls = std::isfinite(value) && value <= value_ + 1e-4 * step * slope;
      if (!falls && slack_ > 0 && value <= value_ + slack_) {  // f cannot tell; its slope may
        falls = std::abs(dot(gradient, direction_)) < 0.8 * std::abs(slope);
        if (falls && best_step == 0) {
          accept(step, value, gradient);
          return std::nullopt;
        }
      }
      if (falls && (best_step == 0 || value < best_value)) {
        best_step = step;
        best_value = value;
        best_gradient = gradient;
        const double new_slope = dot(gradient, direction_);
        if (new_slope < 0.7 * slope && step < 8 && longest_step(3 * step) <= 2 * options_.largest_step) {
          step *= 3;
          continue;
        }
      }
      if (best_step > 0) {
        accept(best_step, best_value, best_gradient);
        return std::nullopt;
      }
      if (!std::isfinite(value)) {
        step *= 0.25;
        continue;
      }
      // The parabola through f(0), f'(0), f(step), kept within [0.1, 0.5] of the step.
      const double parabola = -0.5 * slope * step * step / (value - value_ - slope * step);
      step = std::clamp(parabola, 0.1 * step, 0.5 * step);
    }
    return BfgsStatus::stalled;
  }

  double longest_step(double step) const {
    double longest = 0;
    for (const double d : direction_) longest = std::max(longest, std::abs(step * d));
    return longest;
  }

  void accept(double step, double value, const std::vector<double>& gradient) {
    std::vector<double> x(p_), s(p_), y(p_);
    for (std::size_t i = 0; i < p_; ++i) x[i] = x_[i] + step * direction_[i];
    clamp(x);
    for (std::size_t i = 0; i < p_; ++i) {
      s[i] = x[i] - x_[i];
      y[i] = gradient[i] - gradient_[i];
    }
    update(s, y);
    x_ = x;
    gradient_ = gradient;
    value_ = value;
  }

  /// H ← (I − s yᵀ/sᵀy) H (I − y sᵀ/sᵀy) + s sᵀ/sᵀy, when the curvature along s is positive.
  void update(const std::vector<double>& s, const std::vector<double>& y) {
    const double curvature = dot(s, y);
    if (!(curvature > 1e-10 * std::sqrt(dot(s, s) * dot(y, y)))) return;
    if (h_.empty()) {
      h_.assign(p_ * p_, 0.0);
      for (std::size_t i = 0; i < p_; ++i) h_[i * p_ + i] = curvature / dot(y, y);
    }
    scaled_ = true;
    std::vector<double> hy(p_);
    for (std::size_t i = 0; i < p_; ++i) hy[i] = dot(std::span(h_).subspan(i * p_, p_), y);
    const double factor = (1 + dot(y, hy) / curvature) / curvature;
    for (std::size_t i = 0; i < p_; ++i) {
      for (std::size_t j = 0; j < p_; ++j) {
        h_[i * p_ + j] += factor * s[i] * s[j] - (hy[i] * s[j] + s[i] * hy[j]) / curvature;
      }
    }
  }

  BfgsResult finish(BfgsStatus status) const {
    return {status, x_, gradient_, h_, value_, evaluations_, rejected_};
  }

  const Objective& f_;
  const BfgsOptions& options_;
  std::size_t p_;
  std::vector<double> x_, gradient_, direction_, h_;
  double value_ = std::numeric_limits<double>::infinity();
  bool scaled_ = false;
  double slack_ = 0;  // what a step may raise f by
  int evaluations_ = 0, rejected_ = 0, sideways_ = 0;
};

}  // namespace

BfgsResult minimize(const Objective& f, std::vector<double> x, const BfgsOptions& options) {
  return Minimizer(f, std::move(x), options).run();
}

}  // namespace bandgp
