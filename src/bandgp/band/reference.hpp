// SPDX-License-Identifier: Apache-2.0
// The oracle: the obvious version of every routine of the band engine, three loops each, on a row-contiguous
// lower half.  No blocking, no vectors, no cleverness; the fast versions must agree with it.
#pragma once
#include <cmath>
#include <optional>
#include <span>
#include <vector>

#include "bandgp/base/index.hpp"

namespace bandgp::reference {

/// Lower half of a symmetric matrix on an envelope; entries outside read as 0.
struct Matrix {
  std::vector<Index> first;               // row i keeps columns first[i] … i
  std::vector<std::vector<double>> rows;  // rows[i][j − first[i]]

  explicit Matrix(std::vector<Index> first_columns) : first(std::move(first_columns)), rows(first.size()) {
    for (Index i = 0; i < size(); ++i) rows[at(i)].resize(at(i - first[at(i)] + 1));
  }
  Index size() const { return static_cast<Index>(first.size()); }
  bool keeps(Index i, Index j) const { return first[at(i)] <= j && j <= i; }
  double get(Index i, Index j) const { return keeps(i, j) ? rows[at(i)][at(j - first[at(i)])] : 0.0; }
  double& set(Index i, Index j) { return rows[at(i)][at(j - first[at(i)])]; }

 private:
  static std::size_t at(Index i) { return static_cast<std::size_t>(i); }
};

/// A = L Lᵀ in place; the first row whose pivot is not positive, if any.
inline std::optional<Index> cholesky(Matrix& a) {
  for (Index i = 0; i < a.size(); ++i) {
    for (Index j = a.first[static_cast<std::size_t>(i)]; j <= i; ++j) {
      double s = a.get(i, j);
      for (Index l = 0; l < j; ++l) s -= a.get(i, l) * a.get(j, l);
      if (i == j && !(s > 0)) return i;
      a.set(i, j) = i == j ? std::sqrt(s) : s / a.get(j, j);
    }
  }
  return std::nullopt;
}

inline double log_determinant(const Matrix& l) {
  double sum = 0;
  for (Index i = 0; i < l.size(); ++i) sum += 2 * std::log(l.get(i, i));
  return sum;
}

/// b ← L⁻¹ b and b ← L⁻ᵀ b.
inline void solve_lower(const Matrix& l, std::span<double> b) {
  for (Index i = 0; i < l.size(); ++i) {
    for (Index j = 0; j < i; ++j)
      b[static_cast<std::size_t>(i)] -= l.get(i, j) * b[static_cast<std::size_t>(j)];
    b[static_cast<std::size_t>(i)] /= l.get(i, i);
  }
}
inline void solve_upper(const Matrix& l, std::span<double> b) {
  for (Index i = l.size() - 1; i >= 0; --i) {
    for (Index j = i + 1; j < l.size(); ++j)
      b[static_cast<std::size_t>(i)] -= l.get(j, i) * b[static_cast<std::size_t>(j)];
    b[static_cast<std::size_t>(i)] /= l.get(i, i);
  }
}

/// Z = (L Lᵀ)⁻¹ on an envelope that contains L's: Z_ij = [i = j]/L_jj² − Σ_{m>j} Z_im L_mj / L_jj, last
/// column first.
inline Matrix selected_inverse(const Matrix& l, std::vector<Index> envelope) {
  Matrix z(std::move(envelope));
  const auto symmetric = [&z](Index i, Index j) { return i >= j ? z.get(i, j) : z.get(j, i); };
  for (Index j = l.size() - 1; j >= 0; --j) {
    for (Index i = l.size() - 1; i >= j; --i) {
      if (!z.keeps(i, j)) continue;
      double s = i == j ? 1 / l.get(j, j) : 0.0;
      for (Index m = j + 1; m < l.size(); ++m) {
        if (l.keeps(m, j)) s -= symmetric(i, m) * l.get(m, j);
      }
      z.set(i, j) = s / l.get(j, j);
    }
  }
  return z;
}

}  // namespace bandgp::reference
