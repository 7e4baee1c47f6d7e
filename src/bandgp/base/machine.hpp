// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <unistd.h>

namespace bandgp {

/// Bytes of memory this machine has.
inline double physical_memory() {
  return static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGE_SIZE));
}

}  // namespace bandgp
