// SPDX-License-Identifier: Apache-2.0
// Runs a test body once for every instruction set that this processor has.
#pragma once
#include <gtest/gtest.h>

#include <string>

#include "bandgp/simd/dispatch.hpp"

namespace support {

/// Puts back the instruction set that was in use before.
class IsaGuard {
 public:
  IsaGuard() : before_(bandgp::simd::active()) {}
  ~IsaGuard() { bandgp::simd::use(before_); }
  IsaGuard(const IsaGuard&) = delete;
  IsaGuard& operator=(const IsaGuard&) = delete;

 private:
  bandgp::simd::Isa before_;
};

template <class Body>
void for_each_isa(Body body) {
  const IsaGuard guard;
  for (const bandgp::simd::Isa isa : bandgp::simd::available()) {
    bandgp::simd::use(isa);
    SCOPED_TRACE(std::string(bandgp::simd::isa_name(isa)));
    body();
    if (testing::Test::HasFatalFailure()) return;
  }
}

/// A loop over `problems`, each with every instruction set, has seen three in four of them: not none, nor a
/// few.
inline void expect_seen(int seen, int problems) {
  EXPECT_GE(4 * seen, 3 * problems * static_cast<int>(bandgp::simd::available().size()))
      << "of " << problems << " problems";
}

}  // namespace support
