// SPDX-License-Identifier: Apache-2.0
// What a parameter of a term is: its name, what it is measured in, and the limits that training keeps it in.
#pragma once
#include <cstddef>
#include <string_view>

namespace bandgp {

struct Term;

/// The parameters that terms can have, in the order in which every list has them.  A shape lists its own.
enum class Quantity { variance, lengthscale, period, smoothness, quality };
inline constexpr std::size_t kQuantities = 5;

/// What a parameter is measured in.
enum class Unit {
  variance,  // squares of the values' unit
  time,
  none
};

/// The limits of training: beyond them the data do not determine a parameter.  They are relative to the data.
/// A variance is in variances of the values; a time has its lower limit in median spacings and its upper one
/// in spans of the data; a number without unit is as it is.
struct Range {
  double lower, upper;
};

/// The least variance of a term, in variances of the values: e⁻⁶⁰.  Even beside the least noise, e⁻³⁴, it is
/// nothing: a term that the data do not support is given this variance.
inline constexpr double kVanishingVariance = 8.7565107626965204e-27;

struct Parameter {
  std::string_view name;     // in texts, flags and files
  std::string_view meaning;  // for people, who have not read the formula
  Unit unit;
  double Term::*member;  // where a term holds its value
  Range range;
};

}  // namespace bandgp
