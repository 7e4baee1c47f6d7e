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

/// Where the inverse of the covariance of these terms and the noise has died away by so many nepers; 35 are
/// what a basis beside a band is usually held for.
inline constexpr double kNepersOfInverse = 35;
double inverse_length(const Kernel& kernel, const Observations& points, double nepers);

double band_nanoseconds(Index n, const MeanWidth& width);
double dual_nanoseconds(Index n, double nodes, Index bandwidth);
/// Columns of local polynomials that are held at a point, for long terms of at least this length-scale beside
/// a band whose inverse has this length.
double local_columns(double gap, double lengthscale, double inverse);
/// Short terms of this width in the band, `columns` to a point, `nodes` in all, in a matrix `bandwidth` wide.
double mixed_nanoseconds(Index n, const MeanWidth& width, double columns, double nodes, double bandwidth);

}  // namespace bandgp
