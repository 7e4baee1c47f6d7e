// SPDX-License-Identifier: Apache-2.0
#include "bandgp/simd/dispatch.hpp"

#include <algorithm>
#include <atomic>
#include <stdexcept>
#include <string>

namespace bandgp::simd {
namespace {

bool processor_has(Isa isa) {
#ifdef BANDGP_ONLY_BASE
  return isa == Isa::base;
#else
  // Explicit questions: compiler-made clones picked the wrong copy on some processors
  // (docs/decisions/001-instruction-sets.md).
  switch (isa) {
    case Isa::base:
      return true;
    case Isa::avx2:
      return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
             __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
    case Isa::avx512:
      return processor_has(Isa::avx2) && __builtin_cpu_supports("avx512f") &&
             __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
             __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512cd");
  }
  return false;
#endif
}

std::atomic<Isa>& chosen() {
  static std::atomic<Isa> isa = available().back();
  return isa;
}

}  // namespace

std::string_view isa_name(Isa isa) {
  switch (isa) {
    case Isa::avx2:
      return "avx2";
    case Isa::avx512:
      return "avx512";
    case Isa::base:
      break;
  }
  return "base";
}

std::vector<Isa> available() {
  std::vector<Isa> list;
  for (const Isa isa : {Isa::base, Isa::avx2, Isa::avx512}) {
    if (processor_has(isa)) list.push_back(isa);
  }
  return list;
}

Isa active() { return chosen().load(std::memory_order_relaxed); }

void use(Isa isa) {
  if (!processor_has(isa)) throw std::invalid_argument("this processor has no " + std::string(isa_name(isa)));
  chosen().store(isa, std::memory_order_relaxed);
}

const PanelKernels& panel_kernels() {
  switch (active()) {
#ifndef BANDGP_ONLY_BASE
    case Isa::avx512:
      return isa_avx512::panel_kernels;
    case Isa::avx2:
      return isa_avx2::panel_kernels;
#endif
    default:
      return isa_base::panel_kernels;
  }
}

}  // namespace bandgp::simd
