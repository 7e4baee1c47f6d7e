// SPDX-License-Identifier: Apache-2.0
// Minimises a smooth function of a few variables inside a box.  Dense BFGS: with p ≤ 20 variables the whole
// inverse Hessian is p² numbers, it can start from an earlier stage's, and a rejected point (f = ∞) only
// shortens the step. Has never heard of a GP.
#pragma once
#include <functional>
#include <limits>
#include <span>
#include <vector>

namespace bandgp {

/// Returns f(x) and writes the gradient; +∞ rejects x (the gradient is then not read), as does NaN in either.
using Objective = std::function<double(std::span<const double> x, std::span<double> gradient)>;

struct BfgsOptions {
  std::vector<double> lower, upper;     // box; empty: none
  std::vector<double> inverse_hessian;  // p×p start, row-major; empty: steepest descent first
  double step_tolerance = 1e-6;         // converged when the next step moves no variable by more than this
  double value_tolerance = 1e-10;       // … or promises less than this
  /// … and no free variable's slope exceeds this.  An inverse Hessian that is far too small promises little
  /// wherever it is: without this test such a matrix would end the search.
  double gradient_tolerance = std::numeric_limits<double>::infinity();
  double largest_step = 2;  // of any variable in one iteration
  int max_evaluations = 200;
  std::function<bool()> exhausted;  // asked before every evaluation: true ends as max_evaluations does
  std::function<bool()> cancelled;  // asked before every evaluation
  /// About how far f(x) may be off because of rounding.  Asked where the line search finds no descent: a step
  /// may then raise f by as much, if the slope along it falls.  Empty: a few units in the last place of f.
  std::function<double(std::span<const double> x)> rounding;
};

enum class BfgsStatus {
  converged,
  rounding,  // no step improves f by more than what rounding may do to it, and the tolerances are not met
  stalled,   // no step improves f
  out_of_evaluations,
  cancelled
};

struct BfgsResult {
  BfgsStatus status = BfgsStatus::stalled;
  std::vector<double> x, gradient, inverse_hessian;
  double value = std::numeric_limits<double>::infinity();
  int evaluations = 0, rejected = 0;
};

BfgsResult minimize(const Objective& f, std::vector<double> x, const BfgsOptions& options);

}  // namespace bandgp
