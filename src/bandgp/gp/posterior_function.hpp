// SPDX-License-Identifier: Apache-2.0
// One draw of the latent curve: f(x) = h(x)ᵀβ + Σ_j φ_j(x) v_j with v ~ N(w, S) drawn once, over the grids of
// all terms.  Nodes that no
// data touch have v ~ N(0, 1) each, from a generator that knows their place: the curve is the same whenever
// and wherever it is looked at.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "bandgp/basis/gaussian_grid.hpp"
#include "bandgp/series/series.hpp"

namespace bandgp {

class PosteriorFunction {
 public:
  /// At any times, in any order; O(window) each.
  std::vector<double> operator()(std::span<const double> times) const;

 private:
  friend class Posterior;
  struct Part {  // one term's
    std::shared_ptr<const GaussianGrid> grid;
    std::vector<double> weights;  // of the nodes that data touch
    std::uint64_t seed;           // of those that none touch
  };
  double value_at(const Part& part, double begin, const double* window) const;

  std::vector<Part> parts_;
  double beta_[2] = {};
  double middle_ = 0, half_span_ = 1;
  Units units_;
};

}  // namespace bandgp
