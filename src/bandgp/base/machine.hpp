// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <unistd.h>

#include <algorithm>
#include <fstream>

namespace bandgp {

/// Bytes of memory this machine has, or this container may use where that is less.
inline double physical_memory() {
  double bytes = static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGE_SIZE));
  for (const char* limit : {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}) {
    std::ifstream file(limit);
    double allowed = 0;
    if (file >> allowed && allowed > 0) bytes = std::min(bytes, allowed);  // "max" is not a number
  }
  return bytes;
}

}  // namespace bandgp
