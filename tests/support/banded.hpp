// SPDX-License-Identifier: Apache-2.0
// Random symmetric matrices on envelopes, and their way into and out of the panels of the band engine.
#pragma once
#include <algorithm>
#include <cmath>
#include <vector>

#include "bandgp/band/panel_band.hpp"
#include "bandgp/band/reference.hpp"
#include "support/random.hpp"

namespace support {

using bandgp::Index;
using First = std::vector<Index>;  // first kept column of every row

std::size_t at(Index i);

First band_first(Index n, Index k);

/// Not decreasing; now and then a gap that splits the matrix, now and then a long stretch of equal first
/// columns.
First random_first(Random& random, Index n);

/// An envelope that contains the given one.
First wider_first(Random& random, const First& first);

/// Random entries under a dominant diagonal: condition number below 20.
bandgp::reference::Matrix well_conditioned(Random& random, const First& first);

/// G Gᵀ rounded, plus 1e-10 of its diagonal, with rows and columns scaled over 12 decades: positive definite,
/// and as badly conditioned as double still factors safely.
bandgp::reference::Matrix badly_conditioned(Random& random, const First& first);

/// What a likelihood would put into the panels: 0 left of the envelope, 1 on the diagonal past n, and above
/// the diagonal whatever was there.
void pack(const bandgp::reference::Matrix& a, bandgp::PanelBand& band);

bandgp::reference::Matrix unpack(bandgp::PanelBand& band);

}  // namespace support
