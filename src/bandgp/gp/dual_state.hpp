// SPDX-License-Identifier: Apache-2.0
// A posterior in its dual form, without the data: the basis, M's factor and the weights.  O(m·b) numbers.
#pragma once
#include <vector>

#include "bandgp/basis/gaussian_grid.hpp"
#include "bandgp/gp/global_columns.hpp"

namespace bandgp {

struct DualState {
  GridDesign design;
  std::vector<GaussianGrid::Run> runs;
  std::vector<double> factor;            // (m, b+1): row j holds L(j, j−b … j), 0 where there is no entry
  std::vector<double> inverse_diagonal;  // (m,) 1/L_jj
  std::vector<double> weights;           // (1 + p, m): w of the values, then of the p columns of the mean
  double largest = 1;                    // diagonal entry of M
  ColumnWeights mean;                    // of the columns of the mean
  double middle = 0, half_span = 1;      // of those columns

  Index nodes() const { return static_cast<Index>(inverse_diagonal.size()); }
  Index doubles() const {
    return static_cast<Index>(factor.size() + inverse_diagonal.size() + weights.size() + 3 * runs.size());
  }
};

}  // namespace bandgp
