// SPDX-License-Identifier: Apache-2.0
// One problem, told twice: as the library takes it and as the dense truth takes it.
#pragma once
#include <algorithm>
#include <cmath>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "bandgp/fit/fit.hpp"
#include "bandgp/methods/make_representation.hpp"
#include "support/close.hpp"
#include "support/dense_gp.hpp"
#include "support/random.hpp"

namespace support {

using bandgp::Index;
using Real = long double;

/// All in the user's units; times in any order, equal times allowed.
struct Case {
  std::vector<double> time, value, variance = {};
  bandgp::Model model = {};
  bandgp::Cut cut = {};

  std::size_t size() const { return time.size(); }
};

/// The shapes that stretch, and so can be cut to a band.
std::vector<bandgp::AnyShape> all_shapes();
/// A term of a kernel as the dense model knows it.
dense::Term dense_term(const bandgp::Term& term);

std::ostream& operator<<(std::ostream& out, const Case& c);

/// Each row's place among the distinct times.
std::vector<Index> ranks(const std::vector<double>& time);

/// The dense model without any cut.
dense::Problem exact_problem(const Case& c);

/// The dense model with what the index band or the reach leaves out set to 0.
dense::Problem cut_problem(const Case& c);

bandgp::Series make_series(const Case& c);

bandgp::Posterior make_posterior(const Case& c);

/// ‖A‖_∞ ‖A⁻¹‖₂, the latter by inverse iteration: never far below the condition number.
Real condition(const dense::Matrix& a);

enum class Times { regular, irregular, clustered };

/// `count` distinct increasing times with a mean gap near `gap`.
std::vector<double> make_times(Random& random, std::size_t count, Times kind, double gap);

/// One to `most` terms of any shape, length-scales between 0.3 and 8 gaps.
bandgp::Kernel make_kernel(Random& random, Index most, double gap, double variance = 1);

}  // namespace support
