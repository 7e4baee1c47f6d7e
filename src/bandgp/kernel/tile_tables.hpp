// SPDX-License-Identifier: Apache-2.0
// One table for each instruction set, defined by the copies of tiles.isa.cpp.
#pragma once
#include "bandgp/kernel/tiles.hpp"

namespace bandgp::isa_base {
extern const TileKernels tile_kernels;
}
namespace bandgp::isa_avx2 {
extern const TileKernels tile_kernels;
}
namespace bandgp::isa_avx512 {
extern const TileKernels tile_kernels;
}
