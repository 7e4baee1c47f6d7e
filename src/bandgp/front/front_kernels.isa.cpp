// SPDX-License-Identifier: Apache-2.0
// The loops of elements and the front for eight doubles at a time, compiled for every instruction set.
#include "bandgp/front/front_kernels.hpp"

#include "bandgp/simd/vec.hpp"

namespace bandgp::BANDGP_ISA_NAMESPACE {

const front::Kernels<double> front_kernels = front::Kernels<double>::of<Column>();

}  // namespace bandgp::BANDGP_ISA_NAMESPACE
