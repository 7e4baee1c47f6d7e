// SPDX-License-Identifier: Apache-2.0
#include "bandgp/band/two_ended.hpp"

#include <algorithm>
#include <cmath>

#include "bandgp/base/sum_of_logs.hpp"

namespace bandgp {
namespace {

constexpr Index kPair = 2 * simd::kPanel;  // panels are factored in pairs
/// Below this many rows there is nothing to share: half 0 takes them all.
constexpr Index kLeast = 256;

}  // namespace

void TwoEnded::shape(std::span<const Index> first) {
  size_ = static_cast<Index>(first.size());
  padded_ = round_up(size_, kPair);
  Index bandwidth = 0;
  for (Index i = 0; i < size_; ++i) bandwidth = std::max(bandwidth, i - first[static_cast<std::size_t>(i)]);
  between_ = round_up(bandwidth, kPair);
  if (size_ < kLeast || padded_ < 4 * between_) between_ = 0;
  half_[0].own = between_ > 0 ? round_down((padded_ - between_) / 2, kPair) : padded_;
  half_[1].own = padded_ - half_[0].own - between_;
  const auto rows = [&](int which) { return half_[which].own + between_; };
  first_.assign(static_cast<std::size_t>(rows(0)), 0);
  for (Index i = 0; i < rows(0); ++i)
    first_[static_cast<std::size_t>(i)] = i < size_ ? first[static_cast<std::size_t>(i)] : i;
  half_[0].envelope.keep(first_);
  if (half_[1].own == 0) return;
  // Seen from the back, row i begins with the last row that reaches it.
  first_.assign(static_cast<std::size_t>(rows(1)), 0);
  Index last = padded_ - 1;
  for (Index row = 0; row < rows(1); ++row) {
    const Index i = mirrored(row);
    last = i < size_ ? std::min(last, size_ - 1) : i;
    while (last > i && first[static_cast<std::size_t>(last)] > i) --last;
    first_[static_cast<std::size_t>(row)] = mirrored(last);
  }
  half_[1].envelope.keep(first_);
}

double* TwoEnded::entry(int which, Index i, Index j) {
  Half& half = half_[which];
  const Index row = half.own + i, column = half.own + j;
  return half.envelope.panel_first()[row / simd::kPanel] <= column ? &half.matrix(row, column) : nullptr;
}

std::optional<NotPositiveDefinite> TwoEnded::factor(const std::function<void(int)>& fill) {
  std::optional<NotPositiveDefinite> bad[2];
  in_both([&](int which) {
    Half& half = half_[which];
    if (half.own == 0) return;
    half.matrix.shape(half.envelope);
    fill(which);
    if (which == 0) {
      given_.resize(static_cast<std::size_t>(between_ * between_));
      for (Index i = 0; i < between_; ++i) {
        for (Index j = 0; j <= i; ++j) given_[static_cast<std::size_t>(i * between_ + j)] = value(0, i, j);
      }
    }
    bad[which] = factorize(half.matrix, half.matrix.all());
  });
  if (bad[0]) return bad[0];
  if (bad[1]) return NotPositiveDefinite{mirrored(bad[1]->row)};
  if (between_ > 0 && !join()) return NotPositiveDefinite{half_[0].own};
  return std::nullopt;
}

/// Each half ends with a factor of M_ss less its own share; C takes off both, and its factors go in their
/// place.
bool TwoEnded::join() {
  const Index e = between_;
  joined_.assign(static_cast<std::size_t>(e * e), 0.0);
  const auto c = [&](Index i, Index j) -> double& { return joined_[static_cast<std::size_t>(i * e + j)]; };
  const auto square = [&](int which, Index i, Index j) {  // (LLᵀ)_ij of the rows between
    double sum = 0;
    for (Index k = 0; k <= std::min(i, j); ++k) sum += value(which, i, k) * value(which, j, k);
    return sum;
  };
  for (Index i = 0; i < e; ++i) {
    for (Index j = 0; j <= i; ++j)
      c(i, j) =
          square(0, i, j) + square(1, e - 1 - i, e - 1 - j) - given_[static_cast<std::size_t>(i * e + j)];
  }
  for (int which = 0; which < 2; ++which) {
    double* inverse = half_[which].matrix.inverse_diagonal() + half_[which].own;
    const auto at = [&](Index i, Index j) { return which == 0 ? c(i, j) : c(e - 1 - j, e - 1 - i); };
    for (Index i = 0; i < e; ++i) {
      for (Index j = 0; j <= i; ++j) {
        double sum = at(i, j);
        for (Index k = 0; k < j; ++k) sum -= value(which, i, k) * value(which, j, k);
        if (j == i) {
          if (!(sum > 0)) return false;
          inverse[i] = 1 / std::sqrt(sum);
        }
        if (double* to = entry(which, i, j)) *to = sum * inverse[j];  // outside the envelope it is 0
      }
    }
  }
  return true;
}

double TwoEnded::log_determinant() {
  double sum = sum_of_logs(half_[0].matrix.inverse_diagonal(), std::min(size_, half_[0].own + between_));
  if (half_[1].own > 0) {  // padding comes first there, and adds log 1
    sum += sum_of_logs(half_[1].matrix.inverse_diagonal(), half_[1].own);
  }
  return -2 * sum;
}

void TwoEnded::solve(double* column) {
  if (half_[1].own == 0) {
    bandgp::solve(half_[0].matrix, {column, 1, 0});
    return;
  }
  const Index e = between_, rows = half_[1].own + e;
  mirrored_.reserve(rows);
  double *other = mirrored_.data(), *ends[2] = {column, other};
  double* last = column + half_[0].own;  // of the rows between
  in_both([&](int which) {
    if (which == 1) {
      for (Index row = 0; row < half_[1].own; ++row) other[row] = column[mirrored(row)];
      std::fill_n(other + half_[1].own, e, 0.0);
    }
    solve_lower(half_[which].matrix, own(which), {ends[which], 1, 0});
    if (which == 1) solve_lower(half_[1].matrix, between(1), {other, 1, 0});
  });
  // From 0 the second half came to −L_C⁻¹ L_s1 x₁: times L_C it is what the rows between still have to take.
  for (Index i = 0; i < e; ++i) {
    double sum = 0;
    for (Index k = 0; k <= i; ++k) sum += value(1, i, k) * other[half_[1].own + k];
    last[e - 1 - i] += sum;
  }
  solve_lower(half_[0].matrix, between(0), {column, 1, 0});
  solve_upper(half_[0].matrix, between(0), {column, 1, 0});
  for (Index i = 0; i < e; ++i) other[half_[1].own + i] = last[e - 1 - i];
  in_both([&](int which) {
    solve_upper(half_[which].matrix, own(which), {ends[which], 1, 0});
    if (which == 1) {
      for (Index row = 0; row < half_[1].own; ++row) column[mirrored(row)] = other[row];
    }
  });
}

void TwoEnded::invert() {
  in_both([&](int which) {
    Half& half = half_[which];
    if (half.own == 0) return;
    half.inversion.start(half.matrix, half.matrix);
    half.inversion.run(half.matrix.all());
  });
}

}  // namespace bandgp
