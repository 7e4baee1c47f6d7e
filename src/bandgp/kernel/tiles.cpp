// SPDX-License-Identifier: Apache-2.0
#include "bandgp/kernel/tiles.hpp"

#include <algorithm>

#include "bandgp/kernel/tile_tables.hpp"
#include "bandgp/simd/dispatch.hpp"

namespace bandgp {

const TileKernels& tile_kernels() {
  switch (simd::active()) {
#ifndef BANDGP_ONLY_BASE
    case simd::Isa::avx512:
      return isa_avx512::tile_kernels;
    case simd::Isa::avx2:
      return isa_avx2::tile_kernels;
#endif
    default:
      return isa_base::tile_kernels;
  }
}

void fill_covariance(const Kernel& kernel, const double* rows, const double* columns, Index count,
                     double* out) {
  const TileKernels& tiles = tile_kernels();
  if (kernel.terms.empty()) std::fill_n(out, 8 * count, 0.0);
  bool add = false;
  for (const Term& term : kernel.terms) {
    tiles.fill[term.shape.index()][term.factor.index()](rows, columns, count, term.numbers(), add, out);
    add = true;
  }
}

void gradient_from_sums(const Kernel& kernel, std::span<const TileSums> sums, double diagonal,
                        std::span<double> out) {
  for (std::size_t t = 0; t < kernel.terms.size(); ++t) {
    const Term& term = kernel.terms[t];
    std::size_t at = kernel.first_parameter(t);
    visit_term(term, [&]<class S, class F>(S, F) {
      TileSums all = sums[t];
      all[Quantity::variance] += diagonal;
      for (const Quantity quantity : parameters_of<S, F>) out[at++] = term.variance * all[quantity];
    });
  }
}

}  // namespace bandgp
