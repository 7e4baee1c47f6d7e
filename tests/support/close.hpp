// SPDX-License-Identifier: Apache-2.0
// One way to say "equal up to rounding": the allowed error is derived at the call, never a bare constant.
#pragma once
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "support/effort.hpp"

namespace support {

/// Unit roundoff of double.
inline constexpr double u = std::numeric_limits<double>::epsilon() / 2;

inline testing::AssertionResult close(const char* actual_text, const char* expected_text,
                                      const char* allowed_text, long double actual, long double expected,
                                      long double allowed) {
  const long double error = std::abs(actual - expected);
  if (error <= allowed) return testing::AssertionSuccess();  // false for NaN
  return testing::AssertionFailure() << actual_text << " = " << static_cast<double>(actual) << ", but "
                                     << expected_text << " = " << static_cast<double>(expected) << ": off by "
                                     << static_cast<double>(error) << ", allowed " << allowed_text << " = "
                                     << static_cast<double>(allowed);
}

}  // namespace support

/// |actual − expected| ≤ allowed, a NaN anywhere failing.
#define EXPECT_CLOSE(actual, expected, allowed) EXPECT_PRED_FORMAT3(support::close, actual, expected, allowed)
