// SPDX-License-Identifier: Apache-2.0
// What an evaluation with gradient costs in each representation, before anything is built: for the choice
// between them.  Nanoseconds on one thread, fitted to measurements
// (docs/decisions/004-choice-of-representation.md); only their ratio matters.
#pragma once
#include "bandgp/gp/observations.hpp"
#include "bandgp/kernel/kernel.hpp"

namespace bandgp {

/// The reach at which row sums of what lies beyond fall to about `target`, with points as dense as on
/// average.
double estimate_reach(const Kernel& kernel, const Observations& points, double target);

/// Mean over rows of (k, k²): how many points lie within `reach` before a point, from a sample of rows.
struct MeanWidth {
  double width = 0, square = 0;
};
MeanWidth estimate_width(const Observations& points, double reach);

double band_nanoseconds(Index n, const MeanWidth& width);
double dual_nanoseconds(Index n, double nodes, Index bandwidth);
/// Before a grid is designed.
double dual_nanoseconds(const Term& term, const Observations& points);
/// SE terms, oscillating or not, beside each other and beside Markov terms; ρ is what the certificate allows.
double elements_nanoseconds(const Kernel& kernel, const Observations& points, double rho);

}  // namespace bandgp
