// SPDX-License-Identifier: Apache-2.0
// How many random problems a test looks at. `./dev check` looks at all of them, `./dev test` at a part.
#pragma once
#include <algorithm>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>

namespace support {

/// Sanitizers are ten times slower and more.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define BANDGP_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define BANDGP_SANITIZED 1
#endif
#endif
#ifdef BANDGP_SANITIZED
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

/// BANDGP_TEST_EFFORT: `full`, which is also the default, or `short`, which `./dev test` sets.
inline bool short_effort() {
  const char* given = std::getenv("BANDGP_TEST_EFFORT");
  const std::string_view effort = given == nullptr ? "full" : given;
  if (effort != "full" && effort != "short")
    throw std::invalid_argument("BANDGP_TEST_EFFORT is full or short, not " + std::string(effort));
  return effort == "short";
}

/// The number of random problems: `all`, or `sanitized` under a sanitizer; a quarter of that at short effort,
/// but no less than 20 where there are so many.
inline int trials(int sanitized, int all) {
  const int full = kSanitized ? sanitized : all;
  return short_effort() ? std::min(full, std::max(20, full / 4)) : full;
}

}  // namespace support
