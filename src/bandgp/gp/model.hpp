// SPDX-License-Identifier: Apache-2.0
// y = Hβ + f(x) + ε,  f ~ GP(0, kernel),  ε ~ N(0, noise + known variance).
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "bandgp/kernel/kernel.hpp"
#include "bandgp/series/series.hpp"

namespace bandgp {

/// The mean function; its coefficients β are profiled out by generalised least squares.
enum class Mean { zero, constant, linear };

constexpr Index coefficient_count(Mean mean) { return static_cast<Index>(mean); }
std::string_view mean_name(Mean mean);
Mean parse_mean(std::string_view name);  // throws std::invalid_argument naming the choices

/// Durations in the unit of an axis, for parse_kernel; the axis must outlive it.
ReadDuration durations_on(const TimeAxis& axis);
/// Whatever is a duration, of a series that is not read yet: only the form is checked.
double any_duration(std::string_view text);

template <UnitSystem system>
struct ModelIn {
  Kernel kernel;
  double noise = kUnset;  // σₙ², a variance; 0 only where every point has its own known variance
  Mean mean = Mean::constant;
};
using Model = ModelIn<UnitSystem::user>;
using InternalModel = ModelIn<UnitSystem::internal>;

/// One parameter of a model, with its value in the model that was asked.
template <class Value>  // double or const double
struct ModelParameter {
  std::string name;  // as in parameter_names()
  const Parameter* kind;
  Value* value;
};
/// All parameters in the order of parameter_names(): those of each term, then noise.
template <UnitSystem system>
std::vector<ModelParameter<double>> parameters(ModelIn<system>& model);
template <UnitSystem system>
std::vector<ModelParameter<const double>> parameters(const ModelIn<system>& model);

/// The size of a unit of parameters in the units of a series: what an internal value is multiplied by for the
/// user's.
double unit_size(Unit unit, const Units& units);

/// Between the user's units and a series' internal ones.
InternalModel to_internal(const Model& model, const Units& units);
Model to_user(const InternalModel& model, const Units& units);

/// Throws std::invalid_argument when the mean is zero but the values were centred.
void require_centred_for(Mean mean, const Series& series);

/// Throws std::invalid_argument unless the parameters are finite and positive (noise: not negative, and
/// positive unless the series knows a positive variance at every point).
void require_valid(const Model& model, const Series& series);
/// Whether the parameters are normal numbers in the units of a series, and so are the inverses of times.
bool survives_units(const Model& model, const Units& units);
/// Throws std::invalid_argument unless they are valid and stay so in the units of the series.
void require_usable(const Model& model, const Series& series);

}  // namespace bandgp
