// SPDX-License-Identifier: Apache-2.0
#include "bandgp/methods/sliding_factor.hpp"

#include <algorithm>
#include <cmath>

namespace bandgp {

void SlidingFactor::start(Index most) {
  most_ = most;
  size_ = 0;
  columns_.resize(static_cast<std::size_t>(most * most));
  row_.resize(static_cast<std::size_t>(most));
}

bool SlidingFactor::push_back(const double* covariances, double own) {
  double* row = row_.data();
  std::copy_n(covariances, size_, row);
  solve_lower(row);
  for (Index j = 0; j < size_; ++j) own -= row[j] * row[j];
  if (!(own > 0)) return false;
  for (Index j = 0; j < size_; ++j) column(j)[size_] = row[j];
  column(size_)[size_] = std::sqrt(own);
  ++size_;
  return true;
}

/// One rotation a column takes the leaving column up (Gill, Golub, Murray and Saunders 1974); every entry
/// moves one row up and one column left.
void SlidingFactor::pop_front() {
  const Index rest = --size_;
  double* x = row_.data();
  std::copy_n(column(0) + 1, rest, x);
  for (Index j = 0; j < rest; ++j) {
    const double* from = column(j + 1) + 1;
    double* to = column(j);
    const double r = std::sqrt(from[j] * from[j] + x[j] * x[j]), c = from[j] / r, s = x[j] / r;
    to[j] = r;
    for (Index i = j + 1; i < rest; ++i) {
      const double l = from[i], y = x[i];
      to[i] = c * l + s * y;
      x[i] = c * y - s * l;
    }
  }
}

void SlidingFactor::solve_lower(double* b) const {
  for (Index j = 0; j < size_; ++j) {
    const double* l = column(j);
    const double value = b[j] /= l[j];
    for (Index i = j + 1; i < size_; ++i) b[i] -= value * l[i];
  }
}

void SlidingFactor::solve_upper(double* b) const {
  for (Index j = size_ - 1; j >= 0; --j) {
    const double* l = column(j);
    double sum[4] = {};
    Index i = j + 1;
    for (; i + 4 <= size_; i += 4) {
      for (Index r = 0; r < 4; ++r) sum[r] += l[i + r] * b[i + r];
    }
    for (; i < size_; ++i) sum[0] += l[i] * b[i];
    b[j] = (b[j] - ((sum[0] + sum[1]) + (sum[2] + sum[3]))) / l[j];
  }
}

}  // namespace bandgp
