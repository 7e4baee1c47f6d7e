// SPDX-License-Identifier: Apache-2.0
#include "bandgp/basis/grid_kernels.hpp"

#include "bandgp/simd/dispatch.hpp"

namespace bandgp {

const GridKernels& grid_kernels() {
  switch (simd::active()) {
#ifndef BANDGP_ONLY_BASE
    case simd::Isa::avx512:
      return isa_avx512::grid_kernels;
    case simd::Isa::avx2:
      return isa_avx2::grid_kernels;
#endif
    default:
      return isa_base::grid_kernels;
  }
}

}  // namespace bandgp
