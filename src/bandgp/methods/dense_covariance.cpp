// SPDX-License-Identifier: Apache-2.0
#include "bandgp/methods/dense_covariance.hpp"

#include <algorithm>

#include "bandgp/base/aligned.hpp"
#include "bandgp/kernel/tiles.hpp"
#include "bandgp/simd/panel.hpp"

namespace bandgp {

using simd::kPanel;

void fill_dense(const Kernel& kernel, const double* rows, Index n, const double* columns, Index m,
                double* out) {
  alignas(64) double some[kPanel];
  AlignedBuffer tile;
  tile.reserve(kPanel * m);
  for (Index i0 = 0; i0 < n; i0 += kPanel) {
    const Index count = std::min(kPanel, n - i0);
    for (Index r = 0; r < kPanel; ++r) some[r] = rows[std::min(i0 + r, n - 1)];
    fill_covariance(kernel, some, columns, m, tile.data());
    for (Index j = 0; j < m; ++j) std::copy_n(tile.data() + kPanel * j, count, out + j * n + i0);
  }
}

}  // namespace bandgp
