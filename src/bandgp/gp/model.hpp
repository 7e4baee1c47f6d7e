// SPDX-License-Identifier: Apache-2.0
// y = Hβ + f(x) + ε,  f ~ GP(0, kernel),  ε ~ N(0, noise + known variance).
#pragma once
#include <string_view>

#include "bandgp/kernel/kernel.hpp"
#include "bandgp/series/series.hpp"

namespace bandgp {

/// The mean function; its coefficients β are profiled out by generalised least squares.
enum class Mean { zero, constant, linear };

constexpr Index coefficient_count(Mean mean) { return static_cast<Index>(mean); }
std::string_view mean_name(Mean mean);
Mean parse_mean(std::string_view name);  // throws std::invalid_argument naming the choices

struct Model {
  Kernel kernel;
  double noise = kUnset;  // σₙ², a variance; 0 only where every point has its own known variance
  Mean mean = Mean::constant;
};

/// Between the user's units and a series' internal ones.
Model to_internal(const Model& model, const Units& units);
Model to_user(const Model& model, const Units& units);

/// Throws std::invalid_argument when the mean is zero but the values were centred.
void require_centred_for(Mean mean, const Series& series);

/// Throws std::invalid_argument unless the parameters are finite and positive (noise: not negative, and
/// positive unless the series knows a positive variance at every point).
void require_valid(const Model& model, const Series& series);
/// And unless they stay so in the units of the series.
void require_usable(const Model& model, const Series& series);

}  // namespace bandgp
