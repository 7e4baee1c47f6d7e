// SPDX-License-Identifier: Apache-2.0
#include "bandgp/gp/posterior_function.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "bandgp/base/normal_at.hpp"

namespace bandgp {

double PosteriorFunction::value_at(const Part& part, double begin, const double* window) const {
  double sum = 0;
  part.grid->split_window(
      begin,
      [&](Index p, Index length, Index number) {
        for (Index i = 0; i < length; ++i)
          sum += window[p + i] * part.weights[static_cast<std::size_t>(number + i)];
      },
      [&](Index p, Index length) {
        for (Index i = p; i < p + length; ++i)
          sum += window[i] * normal_at(part.seed, static_cast<std::int64_t>(begin) + i);
      });
  return sum;
}

std::vector<double> PosteriorFunction::operator()(std::span<const double> times) const {
  std::vector<std::size_t> order(times.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t i) { return times[i]; });
  std::vector<double> x, sum;
  for (const std::size_t i : order) {
    if (!std::isfinite(times[i])) throw std::invalid_argument("a time is not finite");
    x.push_back(units_.time_in(times[i]));
    sum.push_back(beta_[0] + beta_[1] * (x.back() - middle_) / half_span_);
  }
  constexpr std::size_t kChunk = 4096;
  for (std::size_t from = 0; from < x.size(); from += kChunk) {
    const std::size_t count = std::min(kChunk, x.size() - from);
    for (const Part& part : parts_) {
      const GaussianGrid::Windows windows = part.grid->windows_at(std::span(x).subspan(from, count));
      for (std::size_t t = 0; t < count; ++t)
        sum[from + t] += value_at(part, windows.begin[t],
                                  windows.value.data() + static_cast<Index>(t) * part.grid->window());
    }
  }
  std::vector<double> result(times.size());
  for (std::size_t t = 0; t < x.size(); ++t) result[order[t]] = units_.value_out(sum[t]);
  return result;
}

}  // namespace bandgp
