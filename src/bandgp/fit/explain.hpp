// SPDX-License-Identifier: Apache-2.0
// What each term of a fitted kernel is, in words: trend, season or short-term, over which times, and how much
// of the data it accounts for.
#pragma once
#include <string>
#include <vector>

#include "bandgp/fit/fit.hpp"

namespace bandgp {

struct ComponentStory {
  std::string kind;       // trend, season, oscillation, short-term or unsupported
  std::string sentence;   // "repeats every 11.0 ± 0.1 years, forgetting its shape over 35 ± 9 years"
  double share = kUnset;  // of the variance of the data; not known where there is no posterior
};

/// One for each term.  Times are told in a unit that suits them where the series has one.
std::vector<ComponentStory> describe_components(const FitResult& fit);

/// The same with their shares: the variance over the data of each component's mean, and of the noise on
/// average, of the sum of all of these.  Long series are asked at 2,000 of their times.
std::vector<ComponentStory> describe_components(const FitResult& fit, Posterior& posterior);

/// `11.02 ± 0.13 years`: an error to two digits and the value to as many; a value alone to three digits.
std::string time_with_error(double value, double error, const std::string& unit);

}  // namespace bandgp
