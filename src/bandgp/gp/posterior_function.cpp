// SPDX-License-Identifier: Apache-2.0
#include "bandgp/gp/posterior_function.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <stdexcept>

namespace bandgp {
namespace {

/// The finaliser of SplitMix64 (Steele, Lea & Flood 2014): a bijection of 64-bit words that mixes well.
std::uint64_t mixed(std::uint64_t z) {
  z += 0x9e3779b97f4a7c15U;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31);
}

}  // namespace

double normal_at(std::uint64_t seed, std::int64_t place) {
  const std::uint64_t key = mixed(seed ^ mixed(static_cast<std::uint64_t>(place)));
  const double u = (static_cast<double>(key >> 11) + 0.5) * 0x1p-53,
               v = static_cast<double>(mixed(key) >> 11) * 0x1p-53;
  return std::sqrt(-2 * std::log(u)) * std::cos(2 * std::numbers::pi * v);
}

std::vector<double> PosteriorFunction::operator()(std::span<const double> times) const {
  std::vector<std::size_t> order(times.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t i) { return times[i]; });
  std::vector<double> x;
  for (const std::size_t i : order) {
    if (!std::isfinite(times[i])) throw std::invalid_argument("a time is not finite");
    x.push_back(units_.time_in(times[i]));
  }
  std::vector<double> result(times.size());
  constexpr std::size_t kChunk = 4096;
  for (std::size_t from = 0; from < x.size(); from += kChunk) {
    const std::size_t count = std::min(kChunk, x.size() - from);
    const GaussianGrid::Windows windows = grid_->windows_at(std::span(x).subspan(from, count));
    for (std::size_t t = 0; t < count; ++t) {
      double sum = beta_[0] + beta_[1] * (x[from + t] - middle_) / half_span_;
      const double* value = windows.value.data() + static_cast<Index>(t) * grid_->window();
      const double begin = windows.begin[t];
      grid_->split_window(
          begin,
          [&](Index p, Index length, Index number) {
            for (Index i = 0; i < length; ++i)
              sum += value[p + i] * weights_[static_cast<std::size_t>(number + i)];
          },
          [&](Index p, Index length) {
            for (Index i = p; i < p + length; ++i)
              sum += value[i] * normal_at(seed_, static_cast<std::int64_t>(begin) + i);
          });
      result[order[from + t]] = units_.value_out(sum);
    }
  }
  return result;
}

}  // namespace bandgp
