// SPDX-License-Identifier: Apache-2.0
#include "bandgp/markov/filter_kernels.hpp"

#include "bandgp/simd/dispatch.hpp"

namespace bandgp::markov {

const FilterKernels& filter_kernels() {
  switch (simd::active()) {
#ifndef BANDGP_ONLY_BASE
    case simd::Isa::avx512:
      return isa_avx512::filter_kernels;
    case simd::Isa::avx2:
      return isa_avx2::filter_kernels;
#endif
    default:
      return isa_base::filter_kernels;
  }
}

const FilterKernels::Loops& loops_for(const StateLayout& layout) {
  // The order of the table in filter_kernels.isa.cpp: {1}, {2}, {3}, {1,1}, {1,2}, {1,3}, {2,2} of Matérn
  // terms, {2}, {4}, {2,2} of those that turn or oscillate, any other.
  constexpr int kAny = FilterKernels::kLayouts - 1;
  constexpr int kPairs[4][4] = {{}, {0, 3, 4, 5}, {0, 0, 6, kAny}, {0, 0, 0, kAny}};
  int index = kAny;
  const bool first_turns = layout.kind[0] != StateKind::matern;
  if (layout.terms == 1) index = layout.count[0] - 1;
  if (layout.terms == 1 && first_turns) index = layout.count[0] == 2 ? 7 : layout.count[0] == 4 ? 8 : kAny;
  if (layout.terms == 2 && first_turns) index = layout.count[1] == 2 ? 9 : kAny;
  if (layout.terms == 2 && layout.kind[1] == StateKind::matern)
    index = kPairs[layout.count[0]][layout.count[1]];
  return filter_kernels().loops[index];
}

}  // namespace bandgp::markov
