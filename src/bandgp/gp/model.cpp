// SPDX-License-Identifier: Apache-2.0
#include "bandgp/gp/model.hpp"

#include <cmath>

#include "bandgp/base/error.hpp"

namespace bandgp {

std::string_view mean_name(Mean mean) {
  return mean == Mean::zero ? "zero" : mean == Mean::constant ? "constant" : "linear";
}

Mean parse_mean(std::string_view name) {
  for (const Mean mean : {Mean::zero, Mean::constant, Mean::linear}) {
    if (name == mean_name(mean)) return mean;
  }
  throw InvalidArgument({MessageCode::unknown_mean, {{"given", std::string(name)}}});
}

ReadDuration durations_on(const TimeAxis& axis) {
  return [&axis](std::string_view text) { return parse_duration(axis, text); };
}

double any_duration(std::string_view text) {
  static const TimeAxis seconds{.unit = "s", .format = "epoch-s"};
  return parse_duration(seconds, text);
}

namespace {

template <class Value, class AnyModel>
std::vector<ModelParameter<Value>> list_parameters(AnyModel& model) {
  std::vector<std::string> names = parameter_names(model.kernel);
  std::vector<ModelParameter<Value>> list;
  list.reserve(names.size());
  for (auto& term : model.kernel.terms) {
    for (const Parameter& parameter : term.parameters())
      list.push_back({std::move(names[list.size()]), &parameter, &(term.*parameter.member)});
  }
  list.push_back({std::move(names.back()), &noise_parameter(), &model.noise});
  return list;
}

}  // namespace

template <UnitSystem system>
std::vector<ModelParameter<double>> parameters(ModelIn<system>& model) {
  return list_parameters<double>(model);
}
template <UnitSystem system>
std::vector<ModelParameter<const double>> parameters(const ModelIn<system>& model) {
  return list_parameters<const double>(model);
}
template std::vector<ModelParameter<double>> parameters(Model&);
template std::vector<ModelParameter<double>> parameters(InternalModel&);
template std::vector<ModelParameter<const double>> parameters(const Model&);
template std::vector<ModelParameter<const double>> parameters(const InternalModel&);

double unit_size(Unit unit, const Units& units) {
  switch (unit) {
    case Unit::variance:
      return units.value_unit * units.value_unit;
    case Unit::time:
      return units.time_unit;
    case Unit::none:
      break;
  }
  return 1;
}

InternalModel to_internal(const Model& model, const Units& units) {
  InternalModel result{model.kernel, model.noise, model.mean};
  for (const auto& parameter : parameters(result)) *parameter.value /= unit_size(parameter.kind->unit, units);
  return result;
}

Model to_user(const InternalModel& model, const Units& units) {
  Model result{model.kernel, model.noise, model.mean};
  for (const auto& parameter : parameters(result)) *parameter.value *= unit_size(parameter.kind->unit, units);
  return result;
}

void require_centred_for(Mean mean, const Series& series) {
  if (mean == Mean::zero && series.units.value_origin != 0) {
    throw InvalidArgument({MessageCode::centred_series});
  }
}

void require_valid(const Model& model, const Series& series) {
  require_valid(model.kernel);
  if (!std::isfinite(model.noise) || model.noise < 0) {
    throw InvalidArgument({MessageCode::noise_not_positive, {{"value", model.noise}}});
  }
  if (model.noise == 0 && !series.all_errors_known()) {
    throw InvalidArgument({MessageCode::noise_without_errors});
  }
  require_centred_for(model.mean, series);
  if (model.mean == Mean::linear && series.size() < 2) {
    throw InvalidArgument({MessageCode::linear_mean_of_one_time});
  }
}

bool survives_units(const Model& model, const Units& units) {
  const InternalModel internal = to_internal(model, units);
  bool normal = model.noise == 0 || std::isnormal(internal.noise);
  for (const Term& term : internal.kernel.terms) {
    for (const Parameter& parameter : term.parameters()) {
      const double value = term.*parameter.member;
      normal = normal && std::isnormal(value) && (parameter.unit != Unit::time || std::isnormal(1 / value));
    }
  }
  return normal;
}

void require_usable(const Model& model, const Series& series) {
  require_valid(model, series);
  if (!survives_units(model, series.units)) throw InvalidArgument({MessageCode::parameters_out_of_scale});
}

}  // namespace bandgp
