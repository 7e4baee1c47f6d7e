// SPDX-License-Identifier: Apache-2.0
// Periods for people (a table and a drawing) and for scripts (JSON).
#pragma once
#include <string>

#include "bandgp/cli/output.hpp"
#include "bandgp/period/periods.hpp"

namespace bandgp::cli {

struct PeriodResult {
  const Input& input;
  const PeriodOptions& options;
  Periods periods;
};

/// `cancelled`: more peaks may be there.
Json period_json(const PeriodResult& result, bool cancelled);
std::string period_text(const PeriodResult& result, bool cancelled);

}  // namespace bandgp::cli
