// SPDX-License-Identifier: Apache-2.0
#include "bandgp/gp/model.hpp"

#include <fmt/format.h>

#include <cmath>
#include <stdexcept>

namespace bandgp {

std::string_view mean_name(Mean mean) {
  return mean == Mean::zero ? "zero" : mean == Mean::constant ? "constant" : "linear";
}

Mean parse_mean(std::string_view name) {
  for (const Mean mean : {Mean::zero, Mean::constant, Mean::linear}) {
    if (name == mean_name(mean)) return mean;
  }
  throw std::invalid_argument(fmt::format("mean is zero, constant or linear, not \"{}\"", name));
}

namespace {

Model scaled(const Model& model, double variance_unit, double time_unit) {
  Model result = model;
  for (Term& term : result.kernel.terms) {
    term.variance *= variance_unit;
    term.lengthscale *= time_unit;
  }
  result.noise *= variance_unit;
  return result;
}

}  // namespace

Model to_internal(const Model& model, const Units& units) {
  return scaled(model, 1 / (units.value_unit * units.value_unit), 1 / units.time_unit);
}

Model to_user(const Model& model, const Units& units) {
  return scaled(model, units.value_unit * units.value_unit, units.time_unit);
}

void require_centred_for(Mean mean, const Series& series) {
  if (mean == Mean::zero && series.units.value_origin != 0) {
    throw std::invalid_argument(
        "a model with mean zero needs a series that was not centred: make it with SeriesOptions{.center = "
        "false}");
  }
}

void require_valid(const Model& model, const Series& series) {
  require_valid(model.kernel);
  if (!std::isfinite(model.noise) || model.noise < 0) {
    throw std::invalid_argument(fmt::format("noise is a variance and must be positive, not {}", model.noise));
  }
  if (model.noise == 0 && !series.all_errors_known()) {
    throw std::invalid_argument(
        "noise must be positive: 0 needs a known positive error for every point (--yerr)");
  }
  require_centred_for(model.mean, series);
  if (model.mean == Mean::linear && series.size() < 2) {
    throw std::invalid_argument("a linear mean needs at least two different times");
  }
}

void require_usable(const Model& model, const Series& series) {
  require_valid(model, series);
  const Model internal = to_internal(model, series.units);
  bool usable = model.noise == 0 || std::isnormal(internal.noise);
  for (const Term& term : internal.kernel.terms) {
    usable = usable && std::isnormal(term.variance) && std::isnormal(term.lengthscale) &&
             std::isnormal(1 / term.lengthscale);
  }
  if (!usable)
    throw std::invalid_argument("the parameters are too far from the size of the data to compute with");
}

}  // namespace bandgp
