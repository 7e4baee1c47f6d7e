// SPDX-License-Identifier: Apache-2.0
#include "bandgp/report/curve_times.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace bandgp {
namespace {

/// A page is not to grow much beyond what its data take.
constexpr std::size_t kVeryLongSeries = std::size_t{1} << 20;
/// Steps after which a curve has forgotten the data: twelve steps a length-scale, so more than three of them.
constexpr int kEdgeSteps = 40, kMiddleSteps = 8;

double finest_step(const Kernel& kernel) {
  double shortest = std::numeric_limits<double>::infinity();
  for (const Term& term : kernel.terms) shortest = std::min(shortest, shortest_time(term));
  return shortest / 12;
}

/// Curves of these shapes bend at data, so data are not passed over.
bool is_rough(const Kernel& kernel) {
  return std::ranges::any_of(kernel.terms, [](const Term& term) {
    return std::visit([](auto shape) { return decltype(shape)::bends_at_data; }, term.shape);
  });
}

class Steps {
 public:
  Steps(double step, std::size_t most) : step_(step), most_(most) {}

  bool full() const { return times_.size() > most_; }
  std::vector<double> take() { return std::move(times_); }
  /// A gap whose middle has nothing to show.
  bool is_long(double gap) const { return gap > (2 * kEdgeSteps + kMiddleSteps) * step_; }

  void add(double t) {
    if (times_.empty() || t > times_.back()) times_.push_back(t);
  }
  /// Equal steps up to `to`, which is the last.
  void stretch(double from, double to) {
    const double steps = std::ceil((to - from) / step_ * (1 - 1e-9));
    for (double i = 1; i < steps && !full(); ++i) add(from + (to - from) * i / steps);
    add(to);
  }
  /// The same, but with few steps through the middle of a long gap.
  void gap(double from, double to) {
    if (!is_long(to - from)) return stretch(from, to);
    const double begin = from + kEdgeSteps * step_, end = to - kEdgeSteps * step_;
    stretch(from, begin);
    for (int i = 1; i <= kMiddleSteps; ++i) add(begin + (end - begin) * i / kMiddleSteps);
    stretch(end, to);
  }

 private:
  double step_;
  std::size_t most_;
  std::vector<double> times_;
};

/// None when there would be too many.  A rough curve stops at every one of the data.
std::vector<double> with_step(std::span<const double> data, double step, bool rough, std::size_t most) {
  Steps steps(step, most);
  const double span = data.back() - data.front();
  const double beyond = std::min(span > 0 ? 0.04 * span : step, kEdgeSteps * step);
  steps.add(data.front() - beyond);
  steps.stretch(data.front() - beyond, data.front());
  std::size_t begin = 0;  // of a stretch without long gaps
  for (std::size_t i = 1; i < data.size() && !steps.full(); ++i) {
    const bool ends = steps.is_long(data[i] - data[i - 1]);
    if (rough) {
      steps.gap(data[i - 1], data[i]);
    } else if (ends) {
      steps.stretch(data[begin], data[i - 1]);
      steps.gap(data[i - 1], data[i]);
      begin = i;
    }
  }
  if (!rough) steps.stretch(data[begin], data.back());
  steps.stretch(data.back(), data.back() + beyond);
  return steps.full() ? std::vector<double>() : steps.take();
}

}  // namespace

std::vector<double> curve_times(std::span<const double> data, const Kernel& kernel) {
  const bool rough = is_rough(kernel) && data.size() <= kVeryLongSeries;
  const std::size_t most =
      std::min(kVeryLongSeries * 11 / 10,
               std::max(kMostCurveTimes, rough ? data.size() / 10 * 11 : data.size() / 5 * 4));
  double step = finest_step(kernel);
  for (int attempt = 0; attempt < 100; ++attempt, step *= 1.5) {
    std::vector<double> times = with_step(data, step, rough, most);
    if (!times.empty()) return times;
  }
  return {data.begin(), data.end()};
}

std::vector<double> curve_times(double first, double last, const Kernel& kernel) {
  const double step = std::max(finest_step(kernel), (last - first) / static_cast<double>(kMostCurveTimes));
  Steps steps(step, 2 * kMostCurveTimes);
  const double beyond = std::min(0.04 * (last - first), kEdgeSteps * step);
  steps.add(first - beyond);
  steps.stretch(first - beyond, last + beyond);
  return steps.take();
}

}  // namespace bandgp
