// SPDX-License-Identifier: Apache-2.0
// Parse, print, parse: the same kernel bit by bit; and nothing but std::invalid_argument escapes.
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <stdexcept>

#include "bandgp/kernel/kernel.hpp"

namespace {

bool same(double a, double b) { return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b); }

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  bandgp::Kernel kernel;
  try {
    kernel = bandgp::parse_kernel({reinterpret_cast<const char*>(data), size});
  } catch (const std::invalid_argument& error) {
    if (std::string(error.what()).find('\n') != std::string::npos) std::abort();
    return 0;
  }
  const std::string text = bandgp::to_text(kernel);
  const bandgp::Kernel again = bandgp::parse_kernel(text);
  if (again.terms.size() != kernel.terms.size() || bandgp::to_text(again) != text) std::abort();
  for (std::size_t i = 0; i < kernel.terms.size(); ++i) {
    const bandgp::Term &a = kernel.terms[i], &b = again.terms[i];
    if (a.shape.index() != b.shape.index()) std::abort();
    for (const bandgp::Parameter& parameter : a.parameters())
      if (!same(a.*parameter.member, b.*parameter.member)) std::abort();
  }
  if (bandgp::parameter_names(kernel).size() != kernel.parameter_count() + 1) std::abort();
  return 0;
}
