// SPDX-License-Identifier: Apache-2.0
// A factorisation from both ends against the one that goes through: solves, determinant, inverse and failure,
// on envelopes with gaps, at sizes around the one where halves begin.
#include "bandgp/band/two_ended.hpp"

#include <gtest/gtest.h>

#include "bandgp/band/reference.hpp"
#include "support/banded.hpp"
#include "support/effort.hpp"
#include "support/isa.hpp"

namespace {

using namespace bandgp;
using reference::Matrix;
using support::at;
using support::Random;

/// Now and then a gap; a gap may lie anywhere, also among the rows between the halves.
support::First gappy_first(Random& random, Index n, Index k) {
  support::First first = support::band_first(n, k);
  Index start = 0;
  for (Index i = 0; i < n; ++i) {
    if (random.chance(0.01)) start = i;
    first[at(i)] = std::max(first[at(i)], start);
  }
  return first;
}

void fill(TwoEnded& ends, const Matrix& a, int which) {
  TwoEnded::Half& half = ends.half(which);
  std::fill_n(half.matrix.column(0, 0), half.envelope.doubles(), 0.0);
  const auto natural = [&](Index row) { return which == 0 ? row : ends.mirrored(row); };
  for (Index row = 0; row < half.envelope.padded_size(); ++row) {
    const Index i = natural(row);
    for (Index column = half.envelope.first(row); column <= row; ++column) {
      const Index j = natural(column);
      half.matrix(row, column) =
          i < a.size() ? a.get(std::max(i, j), std::min(i, j)) : (row == column ? 1 : 0);
    }
  }
}

void expect_equal_to_reference(Random& random, const Matrix& a, Worker& worker) {
  Matrix l = a;
  ASSERT_FALSE(reference::cholesky(l));
  TwoEnded ends(worker);
  ends.shape(a.first);
  const auto fill_half = [&](int which) { fill(ends, a, which); };
  ASSERT_FALSE(ends.factor(fill_half));
  EXPECT_NEAR(ends.log_determinant(), reference::log_determinant(l), 1e-12 * static_cast<double>(a.size()));
  const std::vector<double> b = random.normals(at(a.size()));
  std::vector<double> x = b;
  reference::solve_lower(l, x);
  reference::solve_upper(l, x);
  AlignedBuffer column;
  column.reserve(ends.padded_size());
  std::fill_n(column.data(), ends.padded_size(), 0.0);
  std::ranges::copy(b, column.data());
  ends.solve(column.data());
  for (Index i = 0; i < a.size(); ++i) EXPECT_NEAR(column.data()[i], x[at(i)], 1e-12) << "row " << i;
  for (Index i = a.size(); i < ends.padded_size(); ++i) EXPECT_EQ(column.data()[i], 0);

  const Matrix z = reference::selected_inverse(l, a.first);
  ends.invert();
  Index seen = 0;
  for (int which = 0; which < 2; ++which) {
    TwoEnded::Half& half = ends.half(which);
    if (half.own == 0) continue;
    for (Index row = 0; row < half.envelope.padded_size(); ++row) {
      const Index i = which == 0 ? row : ends.mirrored(row);
      if (i >= a.size()) continue;
      for (Index c = half.envelope.first(row); c <= row; ++c) {
        const Index j = which == 0 ? c : ends.mirrored(c);
        EXPECT_NEAR(half.matrix(row, c), z.get(std::max(i, j), std::min(i, j)), 1e-12) << i << ' ' << j;
        if (which == 0 || c < half.own) ++seen;
      }
    }
  }
  Index kept = 0;
  for (Index i = 0; i < a.size(); ++i) kept += i - a.first[at(i)] + 1;
  EXPECT_EQ(seen, kept);  // every entry once, when those between count in the first half
}

TEST(TwoEnded, solves_and_inverts_as_the_reference_does) {
  support::for_each_isa([] {
    Random random(4);
    for (const bool threaded : {false, true}) {
      Worker worker(threaded);
      const bool few = support::kSanitized && support::short_effort();
      const std::vector<Index> sizes = few ? std::vector<Index>{1, 16, 257, 301}
                                           : std::vector<Index>{1, 5, 16, 255, 256, 257, 263, 272, 301, 400};
      const std::vector<Index> widths =
          few ? std::vector<Index>{0, 8, 17, 60} : std::vector<Index>{0, 1, 8, 15, 16, 17, 23, 60, 100};
      for (const Index n : sizes) {
        for (const Index k : widths) {
          SCOPED_TRACE(testing::Message() << "n " << n << " k " << k);
          expect_equal_to_reference(random, support::well_conditioned(random, support::band_first(n, k)),
                                    worker);
          expect_equal_to_reference(random, support::well_conditioned(random, gappy_first(random, n, k)),
                                    worker);
        }
      }
    }
  });
}

TEST(TwoEnded, says_where_a_matrix_is_not_positive_definite) {
  Random random(9);
  Worker worker(true);
  const Index n = 500;
  for (const Index bad : {3, 200, 240, 250, 260, 300, 499}) {
    Matrix a = support::well_conditioned(random, support::band_first(n, 9));
    a.set(bad, bad) = -1;
    TwoEnded ends(worker);
    ends.shape(a.first);
    const auto failure = ends.factor([&](int which) { fill(ends, a, which); });
    ASSERT_TRUE(failure);
    EXPECT_NEAR(static_cast<double>(failure->row), static_cast<double>(bad), 32);
  }
}

}  // namespace
