// SPDX-License-Identifier: Apache-2.0
// How the covariance is to be held: in which representation, and what may be left out of it.
#pragma once
#include <string_view>

#include "bandgp/base/index.hpp"

namespace bandgp {

/// automatic: the cheapest at each θ.
enum class Method { automatic, band, dual };
std::string_view method_name(Method method);
Method parse_method(std::string_view name);  // throws std::invalid_argument naming the choices

struct Cut {
  Method method = Method::automatic;
  /// Any rule but tolerance means the covariance band.
  enum class Rule { tolerance, corollary, theorem, lemma, bandwidth, reach, envelope };
  Rule rule = Rule::tolerance;
  Index bandwidth = 0;      // rule bandwidth: k
  double reach = 0;         // rule reach: R, internal units
  double tolerance = 0.01;  // nats of NLL that rule tolerance promises; the other rules certify what they got
  bool index_band = false;  // rule tolerance: cut by index instead of by distance, in the covariance band
};

/// Throws std::invalid_argument for a tolerance that is not positive, a negative bandwidth or reach, or a
/// rule that the method does not have.
void require_valid(const Cut& cut);

}  // namespace bandgp
