// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "bandgp/kernel/kernel.hpp"

namespace bandgp {

/// out[j·n + i] ← k(rows[i] − columns[j]): an n × m matrix, column-major.
void fill_dense(const Kernel& kernel, const double* rows, Index n, const double* columns, Index m,
                double* out);

}  // namespace bandgp
