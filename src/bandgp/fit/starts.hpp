// SPDX-License-Identifier: Apache-2.0
// Where training begins.  The paper's advice is a short length-scale and a large noise; a handful of other
// candidates is looked at on little data, and sums of terms start from the fit with one term fewer.
#pragma once
#include "bandgp/gp/cut.hpp"
#include "bandgp/gp/model.hpp"

namespace bandgp {

/// What the candidates are made from, internal units.
struct DataScale {
  double gap = 1;       // median spacing
  double mean_gap = 1;  // far longer where points come in clusters
  double near_gap = 1;  // a twentieth of the points are closer together than this
  double span = 1;
  double variance = 1;  // of the values (about 0 for a zero mean)
};
DataScale data_scale(const Series& series, Mean mean);

/// The longest length-scale that starts of a term have: the span, or what a band can hold where the term has
/// to be in one.
double longest_start(const Kernel& kernel, const Term& term, const InternalCut& cut, const DataScale& scale);
/// The paper's start: ℓ = 1.5 gaps, half of the variance noise; the variance shared by the terms.
InternalModel paper_start(const Kernel& kernel, Mean mean, const DataScale& scale);
/// Length-scales from the spacing of the points to the longest allowed, for a kernel of one term.
std::vector<double> grid_lengthscales(const DataScale& scale, double longest);
/// A kernel of one term with this length-scale and ratio of noise to variance.
InternalModel one_term_start(const Kernel& kernel, Mean mean, const DataScale& scale, double lengthscale,
                             double noise_ratio);
/// `smaller` fits the kernel without term `added`: candidates for that term on both sides of the scales that
/// the others have.  In groups of one length-scale each, whose members share out the variance differently.
/// None but the next slower one is longer than `longest_allowed`.
std::vector<std::vector<InternalModel>> split_starts(const InternalModel& smaller, const Kernel& kernel,
                                                     std::size_t added, const DataScale& scale,
                                                     double longest_allowed);
/// `smaller` as a model of the whole kernel: term `added` has the least variance there is.
InternalModel with_vanishing_term(const InternalModel& smaller, const Kernel& kernel, std::size_t added,
                                  const DataScale& scale);
/// A term with no more than this much of the data's variance has vanished.
inline constexpr double kVanishedVariance = 1e3 * kVanishingVariance;
bool has_vanished(const Term& term, const DataScale& scale);

}  // namespace bandgp
