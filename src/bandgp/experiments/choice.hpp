// SPDX-License-Identifier: Apache-2.0
// A method to be compared, with the size of its approximation.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bandgp/gp/cut.hpp"
#include "bandgp/kernel/kernel.hpp"

namespace bandgp {

struct MethodChoice {
  Method method = Method::automatic;
  /// band: a fixed k; fitc, vfe: inducing inputs; vecchia: neighbours before; taper: neighbours a side. None:
  /// nothing to choose (exact, dual, auto), or the band that the tolerance needs.
  std::optional<Index> parameter = {};
  Kernel kernel = "se";

  Cut cut(double tolerance = Cut{}.tolerance) const;
  /// `fitc:50`, as parse_choice() reads it.
  std::string name() const;
};

/// `method` or `method:parameter`; what has a parameter and is not given one gets its default.  Throws
/// std::invalid_argument.
MethodChoice parse_choice(std::string_view text, const Kernel& kernel);
/// Separated by commas; each only once.
std::vector<MethodChoice> parse_choices(std::string_view text, const Kernel& kernel);

}  // namespace bandgp
