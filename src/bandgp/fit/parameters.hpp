// SPDX-License-Identifier: Apache-2.0
// θ as the optimiser sees it: the logarithms of the parameters that are free, in the internal units of the
// series.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "bandgp/gp/model.hpp"

namespace bandgp {

/// A value for some of the parameters, by their index in parameter_names().
template <UnitSystem system>
struct OptionalsIn : std::vector<std::optional<double>> {
  using vector::vector;
};
using Optionals = OptionalsIn<UnitSystem::user>;
using InternalOptionals = OptionalsIn<UnitSystem::internal>;

class Parameters {
 public:
  Parameters(const Kernel& kernel, Mean mean, InternalOptionals fixed)
      : prototype_{kernel, 1, mean}, fixed_(std::move(fixed)) {}

  Mean mean() const { return prototype_.mean; }
  std::size_t free_count() const;
  /// The largest of the variances that are fixed (0: all are free).
  double fixed_variance() const;
  /// The model with these free parameters, the others fixed.
  InternalModel model(std::span<const double> free_logs) const;
  std::vector<double> free_logs(const InternalModel& model) const;
  /// The entries of a full vector (one for each parameter) that belong to free ones, and back (others NaN).
  std::vector<double> pick(std::span<const double> full) const;
  std::vector<double> spread(std::span<const double> free) const;
  /// Puts the entries of free parameters into a full vector.
  void replace(std::span<double> full, std::span<const double> free) const;

 private:
  InternalModel prototype_;
  InternalOptionals fixed_;
};

/// The values of all parameters in the order of parameter_names().
template <UnitSystem system>
std::vector<double> parameter_values(const ModelIn<system>& model);
template <UnitSystem system>
void set_parameter(ModelIn<system>& model, std::size_t index, double value);

/// name → value as a vector by parameter index.  Throws std::invalid_argument: unknown name, value not
/// positive (a noise of 0 is allowed where `noise_may_vanish`).
Optionals by_index(const std::map<std::string, double>& named, const Kernel& kernel, std::string_view option,
                   bool noise_may_vanish);

/// Values in the user's units → the internal units of a series.
InternalOptionals to_internal(const Optionals& values, const Kernel& kernel, const Units& units);
/// What is left without the parameters of a term of this kernel.
InternalOptionals without_term(InternalOptionals values, const Kernel& kernel, std::size_t term);

}  // namespace bandgp
