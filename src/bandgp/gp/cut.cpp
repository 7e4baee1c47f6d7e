// SPDX-License-Identifier: Apache-2.0
#include "bandgp/gp/cut.hpp"

#include <fmt/format.h>

#include <cmath>
#include <stdexcept>

namespace bandgp {

namespace {

constexpr Method kMethods[] = {Method::automatic, Method::band, Method::dual,  Method::exact,
                               Method::fitc,      Method::vfe,  Method::taper, Method::vecchia};
constexpr std::string_view kNames[] = {"auto", "band", "dual", "exact", "fitc", "vfe", "taper", "vecchia"};
constexpr std::string_view kSmoothness[] = {"c0", "c2", "c4"};

}  // namespace

std::string_view method_name(Method method) { return kNames[static_cast<std::size_t>(method)]; }

Method parse_method(std::string_view name) {
  for (const Method method : kMethods) {
    if (name == method_name(method)) return method;
  }
  throw std::invalid_argument(fmt::format("method is one of {}, not \"{}\"", fmt::join(kNames, ", "), name));
}

std::span<const Method> all_methods() { return kMethods; }

std::string_view smoothness_name(Taper::Smoothness smoothness) {
  return kSmoothness[static_cast<std::size_t>(smoothness)];
}

Taper::Smoothness parse_smoothness(std::string_view name) {
  for (const auto smoothness : {Taper::Smoothness::c0, Taper::Smoothness::c2, Taper::Smoothness::c4}) {
    if (name == smoothness_name(smoothness)) return smoothness;
  }
  throw std::invalid_argument(
      fmt::format("a taper is one of {}, not \"{}\"", fmt::join(kSmoothness, ", "), name));
}

bool has_bandwidth(std::string_view representation) {
  return representation != "markov" && representation != "elements" && representation != "columns";
}

bool is_same_model(Method method) {
  return method == Method::automatic || method == Method::band || method == Method::dual ||
         method == Method::exact;
}

InternalCut to_internal(const Cut& cut, const Units& units) {
  // All members are named, so that one more cannot be forgotten here.
  const auto& [method, rule, bandwidth, reach, tolerance, index_band, inducing, move_inducing,
               inducing_inputs, neighbours, taper] = cut;
  InternalCut internal{method,   rule,          bandwidth,       reach,      tolerance, index_band,
                       inducing, move_inducing, inducing_inputs, neighbours, taper};
  internal.reach /= units.time_unit;
  internal.taper.range /= units.time_unit;
  for (double& z : internal.inducing_inputs) z = units.time_in(z);
  return internal;
}

template <UnitSystem system>
void require_valid(const CutIn<system>& cut) {
  if (!(cut.tolerance > 0 && std::isfinite(cut.tolerance)))
    throw std::invalid_argument(fmt::format("tolerance must be positive, not {}", cut.tolerance));
  if (cut.rule == CutRule::bandwidth && cut.bandwidth < 0)
    throw std::invalid_argument(fmt::format("bandwidth must not be negative: {}", cut.bandwidth));
  if (cut.rule == CutRule::reach && !(cut.reach >= 0))
    throw std::invalid_argument(fmt::format("reach must not be negative: {}", cut.reach));
  const bool any_band = cut.method == Method::automatic || cut.method == Method::band;
  if (!any_band && (cut.rule != CutRule::tolerance || cut.index_band))
    throw std::invalid_argument(
        fmt::format("a fixed bandwidth or reach means the covariance band, not {}",
                    cut.method == Method::dual ? "the dual" : method_name(cut.method)));
  if (cut.inducing < 1)
    throw std::invalid_argument(
        fmt::format("there must be an inducing input at least, not {}", cut.inducing));
  if (cut.neighbours < 1)
    throw std::invalid_argument(fmt::format("there must be a neighbour at least, not {}", cut.neighbours));
  if (!(cut.taper.range >= 0 && std::isfinite(cut.taper.range)))
    throw std::invalid_argument(fmt::format("a taper's range must be positive, not {}", cut.taper.range));
}
template void require_valid(const Cut&);
template void require_valid(const InternalCut&);

}  // namespace bandgp
