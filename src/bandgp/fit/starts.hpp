// SPDX-License-Identifier: Apache-2.0
// Where training begins.  The paper's advice is a short length-scale and a large noise; a handful of other
// candidates is looked at on little data, and sums of terms start from the fit with one term fewer.
#pragma once
#include "bandgp/gp/model.hpp"

namespace bandgp {

/// What the candidates are made from, internal units.
struct DataScale {
  double gap = 1;       // median spacing
  double mean_gap = 1;  // far longer where points come in clusters
  double span = 1;
  double variance = 1;  // of the values (about 0 for a zero mean)
};
DataScale data_scale(const Series& series, Mean mean);

/// The paper's start: ℓ = 1.5 gaps, half of the variance noise; the variance shared by the terms.
Model paper_start(const Kernel& kernel, Mean mean, const DataScale& scale);
/// A grid over length-scale and noise share, for a kernel of one term.
std::vector<Model> grid_starts(const Kernel& kernel, Mean mean, const DataScale& scale);
/// `smaller` fits the kernel without term `added`: candidates for that term on both sides of the scales it
/// has.
std::vector<Model> split_starts(const Model& smaller, const Kernel& kernel, std::size_t added,
                                const DataScale& scale);

}  // namespace bandgp
