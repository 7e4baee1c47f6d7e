// SPDX-License-Identifier: Apache-2.0
// Fourier sums over points that lie anywhere, in O(n + m log m).                              [math.md §13]
#pragma once
#include <complex>
#include <memory>
#include <span>
#include <vector>

#include "bandgp/base/index.hpp"

namespace bandgp {

/// Σⱼ vⱼ e^{−2πi k xⱼ} for k = 0 … modes: the values are spread over a fine grid with a Gaussian, the grid is
/// transformed, and what the Gaussian did to each frequency is undone.  The error is below 1e-10 Σ|v|.
class NonuniformFft {
 public:
  explicit NonuniformFft(Index modes);
  ~NonuniformFft();
  NonuniformFft(NonuniformFft&&) noexcept;
  NonuniformFft& operator=(NonuniformFft&&) noexcept;

  Index modes() const { return modes_; }
  /// Length of the fine grid, for the memory that a transform takes (about 32 bytes a point of it).
  static Index grid_size(Index modes);
  /// The points are in [0, 1), in any order.
  std::vector<std::complex<double>> operator()(std::span<const double> x, std::span<const double> v);

 private:
  struct Transform;
  Index modes_, size_;
  double spread_;  // exponent of the Gaussian, for distances in spacings of the grid
  std::vector<double> grid_;
  std::unique_ptr<Transform> transform_;
};

}  // namespace bandgp
