// SPDX-License-Identifier: Apache-2.0
// How the covariance is to be held: in which representation, and what may be left out of it.
#pragma once
#include <span>
#include <string_view>
#include <vector>

#include "bandgp/base/index.hpp"
#include "bandgp/kernel/taper.hpp"
#include "bandgp/series/series.hpp"

namespace bandgp {

/// automatic: the filter for sums of Matérn terms, else the cheapest of band, dual and their mixture at each
/// θ.  The last four are other models (methods/).
enum class Method { automatic, band, dual, exact, fitc, vfe, taper, vecchia };
std::string_view method_name(Method method);
Method parse_method(std::string_view name);  // throws std::invalid_argument naming the choices
std::span<const Method> all_methods();
std::string_view smoothness_name(Taper::Smoothness smoothness);
Taper::Smoothness parse_smoothness(std::string_view name);
/// Whether a representation, by the name that results have for it, is a matrix with a width: the filter is
/// none.
bool has_bandwidth(std::string_view representation);
/// Whether the method computes the GP that was asked for, and not another model like it.
bool is_same_model(Method method);

/// Any rule but tolerance means the covariance band.
enum class CutRule { tolerance, corollary, theorem, lemma, bandwidth, reach, envelope };

template <UnitSystem system>
struct CutIn {
  using Rule = CutRule;
  Method method = Method::automatic;
  Rule rule = Rule::tolerance;
  Index bandwidth = 0;      // rule bandwidth: k
  double reach = 0;         // rule reach: R
  double tolerance = 0.01;  // nats of NLL that rule tolerance promises; the other rules certify what they got
  bool index_band = false;  // rule tolerance: cut by index instead of by distance, in the covariance band
  // The other methods' own.
  Index inducing = 100;                      // fitc, vfe: m
  bool move_inducing = false;                // fitc, vfe: the inputs are trained too
  std::vector<double> inducing_inputs = {};  // fitc, vfe: where they are; empty: at quantiles
  Index neighbours = 30;  // vecchia: m; taper: neighbours on each side, where no range is given
  Taper taper = {};       // taper: its range is in the cut's units
};
using Cut = CutIn<UnitSystem::user>;
using InternalCut = CutIn<UnitSystem::internal>;

/// Throws std::invalid_argument for a tolerance that is not positive, a negative bandwidth or reach, or a
/// rule that the method does not have.
template <UnitSystem system>
void require_valid(const CutIn<system>& cut);

/// The user's reach, range and inputs in the units of a series.
InternalCut to_internal(const Cut& cut, const Units& units);

}  // namespace bandgp
