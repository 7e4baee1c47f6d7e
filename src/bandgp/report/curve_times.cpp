// SPDX-License-Identifier: Apache-2.0
#include "bandgp/report/curve_times.hpp"

#include <algorithm>
#include <cmath>

namespace bandgp {
namespace {

/// A long series brings its own times as a choice: they are in the page already.  A very long one does not.
constexpr std::size_t kLongSeries = 200'000, kVeryLongSeries = std::size_t{1} << 20;
/// Steps after which a curve has forgotten the data: twelve steps a length-scale, so more than three of them.
constexpr int kEdgeSteps = 40, kMiddleSteps = 8;

double finest_step(const Kernel& kernel) {
  double shortest = kernel.terms.front().lengthscale;
  for (const Term& term : kernel.terms) shortest = std::min(shortest, term.lengthscale);
  return shortest / 12;
}

/// Curves of these shapes bend at data, so data are not passed over.
bool is_rough(const Kernel& kernel) {
  return std::ranges::any_of(kernel.terms, [](const Term& term) {
    return std::holds_alternative<Matern12>(term.shape) || std::holds_alternative<Wendland2>(term.shape);
  });
}

class Steps {
 public:
  Steps(double step, double least, std::size_t most) : step_(step), least_(least), most_(most) {}

  bool full() const { return times_.size() > most_; }
  std::vector<double> take() { return std::move(times_); }

  /// Unless the time before it is close.
  void data(double t, bool always) {
    if (times_.empty() || t - times_.back() >= least_ || always) add(t);
  }
  /// Between two data; the ends themselves are not added.
  void gap(double from, double to) {
    const double steps = std::ceil((to - from) / step_ * (1 - 1e-9));
    if (steps <= 2 * kEdgeSteps + kMiddleSteps) {
      for (double i = 1; i < steps && !full(); ++i) add(from + (to - from) * i / steps);
      return;
    }
    for (int i = 1; i <= kEdgeSteps; ++i) add(from + i * step_);
    const double begin = from + kEdgeSteps * step_, end = to - kEdgeSteps * step_;
    for (int i = 1; i <= kMiddleSteps; ++i) add(begin + (end - begin) * i / kMiddleSteps);
    for (int i = kEdgeSteps - 1; i >= 1; --i) add(to - i * step_);
  }

 private:
  void add(double t) {
    if (times_.empty() || t > times_.back()) times_.push_back(t);
  }

  double step_, least_;
  std::size_t most_;
  std::vector<double> times_;
};

/// None when there would be too many.
std::vector<double> with_step(std::span<const double> data, double step, bool rough, std::size_t most) {
  Steps steps(step, rough ? 0 : step / 2, most);
  const double span = data.back() - data.front();
  const double beyond = std::min(span > 0 ? 0.04 * span : step, kEdgeSteps * step);
  steps.data(data.front() - beyond, true);
  steps.gap(data.front() - beyond, data.front());
  for (std::size_t i = 0; i < data.size() && !steps.full(); ++i) {
    if (i > 0 && data[i] - data[i - 1] > step) steps.gap(data[i - 1], data[i]);
    const bool edge = i == 0 || i + 1 == data.size() || data[i] - data[i - 1] > step;
    steps.data(data[i], edge);
  }
  steps.gap(data.back(), data.back() + beyond);
  steps.data(data.back() + beyond, true);
  return steps.full() ? std::vector<double>() : steps.take();
}

}  // namespace

std::vector<double> curve_times(std::span<const double> data, const Kernel& kernel) {
  const bool is_very_long = data.size() > kVeryLongSeries;
  const bool is_long = data.size() > kLongSeries && !is_very_long;
  const std::size_t most = is_very_long ? kVeryLongSeries : is_long ? data.size() / 5 * 4 : kMostCurveTimes;
  const bool rough = is_rough(kernel) && !is_very_long;
  double step = finest_step(kernel);
  for (int doubling = 0; doubling < 60; ++doubling, step *= 2) {
    std::vector<double> times = with_step(data, step, rough, most);
    if (!times.empty()) return times;
    if (is_long) break;
  }
  return {data.begin(), data.end()};
}

std::vector<double> curve_times(double first, double last, const Kernel& kernel) {
  const double span = last - first;
  const double wanted = std::ceil(1.02 * span / finest_step(kernel));
  const double steps = std::clamp(wanted, 1.0, static_cast<double>(kMostCurveTimes));
  std::vector<double> times;
  for (double i = 0; i <= steps; ++i) times.push_back(first - 0.01 * span + 1.02 * span * i / steps);
  return times;
}

}  // namespace bandgp
