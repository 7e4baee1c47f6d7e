// SPDX-License-Identifier: Apache-2.0
#include "bandgp/gp/cut.hpp"

#include <fmt/format.h>

#include <cmath>
#include <stdexcept>

namespace bandgp {

std::string_view method_name(Method method) {
  return method == Method::automatic ? "auto" : method == Method::band ? "band" : "dual";
}

Method parse_method(std::string_view name) {
  for (const Method method : {Method::automatic, Method::band, Method::dual}) {
    if (name == method_name(method)) return method;
  }
  throw std::invalid_argument(fmt::format("method is auto, band or dual, not \"{}\"", name));
}

void require_valid(const Cut& cut) {
  if (!(cut.tolerance > 0 && std::isfinite(cut.tolerance)))
    throw std::invalid_argument(fmt::format("tolerance must be positive, not {}", cut.tolerance));
  if (cut.rule == Cut::Rule::bandwidth && cut.bandwidth < 0)
    throw std::invalid_argument(fmt::format("bandwidth must not be negative: {}", cut.bandwidth));
  if (cut.rule == Cut::Rule::reach && !(cut.reach >= 0))
    throw std::invalid_argument(fmt::format("reach must not be negative: {}", cut.reach));
  if (cut.method == Method::dual && (cut.rule != Cut::Rule::tolerance || cut.index_band))
    throw std::invalid_argument("a fixed bandwidth or reach means the covariance band, not the dual");
}

}  // namespace bandgp
