// SPDX-License-Identifier: Apache-2.0
#include "bandgp/period/nonuniform_fft.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <numbers>
#include <unsupported/Eigen/FFT>

namespace bandgp {
namespace {

/// A point is spread over this many grid points on either side, which decides the error: e^{−2πr/3} for a
/// grid twice as fine as its highest frequency needs, r points.
constexpr Index kReach = 12;

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

/// Whether the transform has no prime factors but 2, 3 and 5, for which it is fast, and four divides it, for
/// which a real one takes half of a complex one.
bool is_fast(Index size) {
  if (size % 4 != 0) return false;
  for (const Index prime : {2, 3, 5}) {
    while (size % prime == 0) size /= prime;
  }
  return size == 1;
}

}  // namespace

struct NonuniformFft::Transform {
  Eigen::FFT<double> fft;
  Transform() { fft.SetFlag(Eigen::FFT<double>::HalfSpectrum); }
};

Index NonuniformFft::grid_size(Index modes) {
  Index size = std::max<Index>(2 * (2 * modes + 1), 4 * kReach);
  while (!is_fast(size)) ++size;
  return size;
}

NonuniformFft::NonuniformFft(Index modes)
    : modes_(modes),
      size_(grid_size(modes)),
      grid_(at(size_ + 2 * kReach)),
      transform_(std::make_unique<Transform>()) {
  const double finer = static_cast<double>(size_) / static_cast<double>(2 * modes + 1);  // at least 2
  spread_ = std::numbers::pi * (finer - 0.5) / (finer * static_cast<double>(kReach));
}

NonuniformFft::~NonuniformFft() = default;
NonuniformFft::NonuniformFft(NonuniformFft&&) noexcept = default;
NonuniformFft& NonuniformFft::operator=(NonuniformFft&&) noexcept = default;

std::vector<std::complex<double>> NonuniformFft::operator()(std::span<const double> x,
                                                            std::span<const double> v) {
  std::ranges::fill(grid_, 0.0);
  std::array<double, kReach + 1> gaussian;
  for (Index l = 0; l <= kReach; ++l)
    gaussian[at(l)] = std::exp(-spread_ * static_cast<double>(l) * static_cast<double>(l));
  const auto size = static_cast<double>(size_);
  for (std::size_t j = 0; j < x.size(); ++j) {
    const double place = x[j] * size;
    const Index below = std::min(static_cast<Index>(place), size_ - 1);
    const double off = place - static_cast<double>(below);
    // e^{−s(l − off)²} = e^{−s off²} (e^{2s off})^l e^{−s l²}: two exponentials a point.
    const double ratio = std::exp(2 * spread_ * off), inverse = 1 / ratio;
    double up = v[j] * std::exp(-spread_ * off * off), down = up;
    double* const here = grid_.data() + below + kReach;
    here[0] += up;
    for (Index l = 1; l < kReach; ++l) {
      up *= ratio;
      down *= inverse;
      here[l] += up * gaussian[at(l)];
      here[-l] += down * gaussian[at(l)];
    }
    here[kReach] += up * ratio * gaussian[kReach];
  }
  for (Index l = 0; l < kReach; ++l) {  // the grid is a circle
    grid_[at(kReach + l)] += grid_[at(size_ + kReach + l)];
    grid_[at(size_ + l)] += grid_[at(l)];
  }
  std::vector<std::complex<double>> sums(at(size_ / 2 + 1));
  transform_->fft.fwd(sums.data(), grid_.data() + kReach, static_cast<int>(size_));
  sums.resize(at(modes_ + 1));
  // The transform of the Gaussian e^{−s d²}, d in spacings, is √(π/s) e^{−(πk/size)²/s}.
  const double scale = std::sqrt(spread_ / std::numbers::pi);
  const double step = std::numbers::pi / size;
  for (Index k = 0; k <= modes_; ++k) {
    const double angle = step * static_cast<double>(k);
    sums[at(k)] *= scale * std::exp(angle * angle / spread_);
  }
  return sums;
}

}  // namespace bandgp
