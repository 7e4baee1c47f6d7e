// SPDX-License-Identifier: Apache-2.0
// Which instruction set runs.  Chosen once, from what the processor has; tests and benchmarks may choose
// another.
#pragma once
#include <string_view>
#include <vector>

#include "bandgp/simd/panel.hpp"

namespace bandgp::simd {

enum class Isa { base, avx2, avx512 };

std::string_view isa_name(Isa isa);
/// What this processor (and this build) can run, slowest first; `base` is always there.
std::vector<Isa> available();
/// The one in use: the last of available() unless use() said otherwise.
Isa active();
/// Switches; not while a computation runs.  Throws std::invalid_argument when the processor lacks it.
void use(Isa isa);

const PanelKernels& panel_kernels();

}  // namespace bandgp::simd

// One table for each instruction set, defined by the copies of panel.isa.cpp.
namespace bandgp::isa_base {
extern const simd::PanelKernels panel_kernels;
}
namespace bandgp::isa_avx2 {
extern const simd::PanelKernels panel_kernels;
}
namespace bandgp::isa_avx512 {
extern const simd::PanelKernels panel_kernels;
}
