// SPDX-License-Identifier: Apache-2.0
#include "bandgp/fit/parameters.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "bandgp/base/error.hpp"

namespace bandgp {

template <UnitSystem system>
std::vector<double> parameter_values(const ModelIn<system>& model) {
  std::vector<double> values;
  for (const auto& parameter : parameters(model)) values.push_back(*parameter.value);
  return values;
}
template std::vector<double> parameter_values(const Model&);
template std::vector<double> parameter_values(const InternalModel&);

template <UnitSystem system>
void set_parameter(ModelIn<system>& model, std::size_t index, double value) {
  *parameters(model)[index].value = value;
}
template void set_parameter(Model&, std::size_t, double);
template void set_parameter(InternalModel&, std::size_t, double);

Optionals by_index(const std::map<std::string, double>& named, const Kernel& kernel, std::string_view option,
                   bool noise_may_vanish) {
  const std::vector<std::string> names = parameter_names(kernel);
  Optionals values(names.size());
  for (const auto& [name, value] : named) {
    const auto at = std::find(names.begin(), names.end(), name);
    if (at == names.end()) {
      throw InvalidArgument({MessageCode::unknown_parameter,
                             {{"option", std::string(option)},
                              {"parameter", name},
                              {"parameters", fmt::format("{}", fmt::join(names, ", "))}}});
    }
    if (!std::isfinite(value) || value < 0 || (value == 0 && !(noise_may_vanish && name == "noise"))) {
      throw InvalidArgument({MessageCode::parameter_not_positive,
                             {{"option", std::string(option)}, {"parameter", name}, {"value", value}}});
    }
    values[static_cast<std::size_t>(at - names.begin())] = value;
  }
  return values;
}

InternalOptionals to_internal(const Optionals& values, const Kernel& kernel, const Units& units) {
  const Model model{kernel};
  const auto all = parameters(model);
  InternalOptionals internal(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i]) internal[i] = *values[i] / unit_size(all[i].kind->unit, units);
  }
  return internal;
}

InternalOptionals without_term(InternalOptionals values, const Kernel& kernel, std::size_t term) {
  const auto begin = values.begin() + static_cast<std::ptrdiff_t>(kernel.first_parameter(term));
  values.erase(begin, begin + std::ssize(kernel.terms[term].parameters()));
  return values;
}

std::size_t Parameters::free_count() const {
  return static_cast<std::size_t>(std::count(fixed_.begin(), fixed_.end(), std::nullopt));
}

double Parameters::fixed_variance() const {
  const auto all = parameters(prototype_);
  double largest = 0;
  for (std::size_t i = 0; i < fixed_.size(); ++i) {
    if (fixed_[i] && all[i].kind->unit == Unit::variance) largest = std::max(largest, *fixed_[i]);
  }
  return largest;
}

InternalModel Parameters::model(std::span<const double> free_logs) const {
  InternalModel model = prototype_;
  const auto all = parameters(model);
  std::size_t next = 0;
  for (std::size_t i = 0; i < fixed_.size(); ++i)
    *all[i].value = fixed_[i] ? *fixed_[i] : std::exp(free_logs[next++]);
  return model;
}

std::vector<double> Parameters::free_logs(const InternalModel& model) const {
  std::vector<double> logs = pick(parameter_values(model));
  for (double& x : logs) x = std::log(x);
  return logs;
}

std::vector<double> Parameters::pick(std::span<const double> full) const {
  std::vector<double> free;
  for (std::size_t i = 0; i < fixed_.size(); ++i) {
    if (!fixed_[i]) free.push_back(full[i]);
  }
  return free;
}

void Parameters::replace(std::span<double> full, std::span<const double> free) const {
  std::size_t next = 0;
  for (std::size_t i = 0; i < fixed_.size(); ++i) {
    if (!fixed_[i]) full[i] = free[next++];
  }
}

std::vector<double> Parameters::spread(std::span<const double> free) const {
  std::vector<double> full(fixed_.size(), kUnset);
  std::size_t next = 0;
  for (std::size_t i = 0; i < fixed_.size(); ++i) {
    if (!fixed_[i]) full[i] = free[next++];
  }
  return full;
}

}  // namespace bandgp
