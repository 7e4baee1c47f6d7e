// SPDX-License-Identifier: Apache-2.0
#include "bandgp/front/front_kernels.hpp"

#include "bandgp/simd/dispatch.hpp"

namespace bandgp::front {

template <>
const Kernels<double>& kernels<double>() {
  switch (simd::active()) {
#ifndef BANDGP_ONLY_BASE
    case simd::Isa::avx512:
      return isa_avx512::front_kernels;
    case simd::Isa::avx2:
      return isa_avx2::front_kernels;
#endif
    default:
      return isa_base::front_kernels;
  }
}

}  // namespace bandgp::front
