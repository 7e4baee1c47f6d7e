// SPDX-License-Identifier: Apache-2.0
// The band engine against band/reference.hpp, against LAPACK, and against the definition of what it computes:
// for every instruction set, every remainder of a panel, and matrices from harmless to nearly singular.
// Backward errors come first: they need no condition number.
#include <gtest/gtest.h>

#include <cstring>
#include <iostream>
#include <limits>
#include <optional>

#include "bandgp/band/cholesky.hpp"
#include "bandgp/band/reference.hpp"
#include "bandgp/band/selected_inverse.hpp"
#include "bandgp/band/solve.hpp"
#include "support/banded.hpp"
#include "support/close.hpp"
#include "support/isa.hpp"

extern "C" {
void dpbtrf_(const char* uplo, const int* n, const int* kd, double* ab, const int* ldab, int* info);
void dpbtrs_(const char* uplo, const int* n, const int* kd, const int* nrhs, const double* ab,
             const int* ldab, double* b, const int* ldb, int* info);
}

namespace {

using namespace bandgp;
using reference::Matrix;
using simd::kBlock;
using simd::kPanel;
using support::at;
using support::First;
using support::Random;
using support::u;
using Real = long double;

constexpr Index kSizes[] = {1, 2, 3, 5, 7, 8, 9, 15, 16, 17, 23, 24, 25, 31, 32, 33, 64, 65, 200};
constexpr Index kColumns[] = {1, 2, 3, 9};

std::vector<Index> bandwidths(Index n) { return {0, 1, 2, 7, 8, 9, 15, 16, 17, 31, 33, n - 1, n + 5}; }

/// A matrix, where it was put, and its factor.
struct Factored {
  Envelope envelope;
  PanelBand band;
  explicit Factored(const Matrix& a) {
    envelope.keep(a.first);
    band.shape(envelope);
    support::pack(a, band);
  }
  std::optional<NotPositiveDefinite> factorize() { return bandgp::factorize(band, band.all()); }
  std::vector<double> storage() {
    const double* data = band.column(0, 0);
    return {data, data + envelope.doubles()};
  }
};

Real widest(const Matrix& a) {
  Index k = 0;
  for (Index i = 0; i < a.size(); ++i) k = std::max(k, i - a.first[at(i)]);
  return static_cast<Real>(k);
}

/// |A − LLᵀ|_ij in units of u √(a_ii a_jj): at most about the number of terms in the sum.
Real backward_error(const Matrix& a, const Matrix& l) {
  Real worst = 0;
  for (Index i = 0; i < a.size(); ++i) {
    for (Index j = a.first[at(i)]; j <= i; ++j) {
      Real sum = a.get(i, j);
      for (Index m = a.first[at(i)]; m <= j; ++m) sum -= static_cast<Real>(l.get(i, m)) * l.get(j, m);
      const Real error = std::abs(sum) / (u * std::sqrt(static_cast<Real>(a.get(i, i)) * a.get(j, j)));
      if (!(error <= worst)) worst = error;  // NaN stays
    }
  }
  return worst;
}

/// The matrix in every instruction set's test, by size, band and kind.
template <class Body>
void for_each_matrix(Body body) {
  Random random(20251);
  for (const Index n : kSizes) {
    std::vector<First> shapes;
    for (const Index k : bandwidths(n)) shapes.push_back(support::band_first(n, k));
    for (int i = 0; i < 6; ++i) shapes.push_back(support::random_first(random, n));
    for (std::size_t s = 0; s < shapes.size(); ++s) {
      for (const bool well : {true, false}) {
        SCOPED_TRACE(testing::Message()
                     << "n " << n << ", shape " << s << (well ? ", well" : ", badly") << " conditioned");
        const Matrix a = well ? support::well_conditioned(random, shapes[s])
                              : support::badly_conditioned(random, shapes[s]);
        body(a, well, random);
        if (testing::Test::HasFailure()) return;
      }
    }
  }
}

TEST(BandEngine, an_envelope_keeps_what_its_definition_says) {
  Random random(1);
  for (int trial = 0; trial < 300; ++trial) {
    const Index n = random.integer(1, 70);
    std::vector<double> x(at(n));
    double t = random.uniform(-5, 5);
    for (double& value : x) value = t += random.chance(0.2) ? random.uniform(0, 20) : random.uniform(0.01, 1);
    const double reach = random.chance(0.1)   ? 0
                         : random.chance(0.1) ? x[at(random.integer(0, n - 1))] - x[0]
                                              : random.log_uniform(0.05, 50);
    Envelope envelope;
    envelope.keep_reach(x, reach);
    ASSERT_EQ(envelope.size(), n);
    Index widest_row = 0;
    for (Index i = 0; i < n; ++i) {
      for (Index j = 0; j <= i; ++j) {
        ASSERT_EQ(x[at(i)] - x[at(j)] <= reach, j >= envelope.first(i))
            << "n " << n << " i " << i << " j " << j;
      }
      widest_row = std::max(widest_row, i - envelope.first(i));
      ASSERT_EQ(envelope.row_first()[i], static_cast<double>(envelope.first(i)));
    }
    EXPECT_EQ(envelope.bandwidth(), widest_row);
    // Panels: their first columns are multiples of 8 that cover every row; last_panel and window follow.
    Index window = 0, doubles = 0;
    for (Index p = 0; p < envelope.panels(); ++p) {
      const Index from = envelope.panel_first()[p];
      ASSERT_EQ(from, round_down(envelope.first(kPanel * p), kPanel));
      doubles += kPanel * (kPanel * (p + 1) - from);
      Index last = p;
      for (Index q = p; q < envelope.panels(); ++q) {
        if (envelope.panel_first()[q] <= kPanel * p) last = q;
      }
      ASSERT_EQ(envelope.last_panel(p), last);
      window = std::max(window, last - p + 1);
    }
    EXPECT_EQ(envelope.window(), window);
    EXPECT_EQ(envelope.doubles(), doubles);
  }
}

TEST(BandEngine, the_factor_reproduces_the_matrix_to_rounding) {
  Real worst = 0, worst_reference = 0;
  for_each_matrix([&](const Matrix& a, bool well, Random&) {
    Matrix expected = a;
    ASSERT_FALSE(reference::cholesky(expected));
    const Real terms = widest(a) + 4;
    worst_reference = std::max(worst_reference, backward_error(a, expected) / terms);
    support::for_each_isa([&] {
      Factored f(a);
      ASSERT_FALSE(f.factorize());
      const Matrix l = support::unpack(f.band);
      const Real error = backward_error(a, l) / terms;
      worst = std::max(worst, error);
      ASSERT_LE(error, 2.0L);
      for (Index i = 0; i < f.envelope.padded_size(); ++i) {
        const Real inverse = f.band.inverse_diagonal()[i];
        ASSERT_LE(std::abs(inverse * f.band(i, i) - 1), 4 * u) << "row " << i;
        // nothing left of the envelope, nothing above the diagonal, 1 past n
        for (Index j = f.envelope.panel_first()[i / kPanel]; j < f.envelope.first(i); ++j)
          ASSERT_EQ(f.band(i, j), 0);
        for (Index j = i + 1; j < kPanel * (i / kPanel + 1); ++j)
          ASSERT_EQ(f.band.column(i / kPanel, j)[i % kPanel], 0);
        if (i >= a.size()) {
          ASSERT_EQ(f.band(i, i), 1);
        }
      }
      if (!well) return;
      for (Index i = 0; i < a.size(); ++i) {
        for (Index j = a.first[at(i)]; j <= i; ++j) {
          ASSERT_LE(std::abs(l.get(i, j) - expected.get(i, j)),
                    40 * static_cast<double>(terms) * u * std::sqrt(a.get(i, i)));
        }
      }
    });
  });
  std::cout << "largest |A - LL'| in units of u (k+4) sqrt(a_ii a_jj): " << static_cast<double>(worst)
            << ", reference " << static_cast<double>(worst_reference) << '\n';
}

TEST(BandEngine, the_log_determinant_is_that_of_the_factor) {
  for_each_matrix([&](const Matrix& a, bool, Random&) {
    support::for_each_isa([&] {
      Factored f(a);
      ASSERT_FALSE(f.factorize());
      Real expected = 0;
      for (Index i = 0; i < a.size(); ++i) expected += 2 * std::log(static_cast<Real>(f.band(i, i)));
      const Real n = static_cast<Real>(a.size());
      ASSERT_LE(std::abs(log_determinant(f.band) - expected), u * (12 * n + 4 * std::abs(expected) + 4));
    });
  });
}

TEST(BandEngine, the_log_determinant_of_extreme_pivots_neither_overflows_nor_underflows) {
  for (const double scale : {1e-300, 1e-150, 1e150, 1e300}) {
    Matrix a(support::band_first(1000, 0));
    for (Index i = 0; i < a.size(); ++i) a.set(i, i) = scale;
    support::for_each_isa([&] {
      Factored f(a);
      ASSERT_FALSE(f.factorize());
      const Real expected = 1000 * std::log(static_cast<Real>(scale));
      EXPECT_CLOSE(log_determinant(f.band), expected, u * (12000 + 4 * std::abs(expected)));
    });
  }
}

TEST(BandEngine, solves_have_small_residuals_for_any_number_of_right_hand_sides) {
  Real worst = 0;
  for_each_matrix([&](const Matrix& a, bool, Random&) {
    support::for_each_isa([&] {
      Factored f(a);
      ASSERT_FALSE(f.factorize());
      const Matrix l = support::unpack(f.band);
      const Index n = a.size(), stride = f.envelope.padded_size() + 2 * kPanel;
      const Real units = u * (widest(a) + 4);
      std::vector<double> single;
      for (const Index columns : kColumns) {
        Random same(7);
        AlignedBuffer b;
        b.reserve(columns * stride);
        std::fill_n(b.data(), columns * stride, 0.0);
        for (Index c = 0; c < columns; ++c) {
          for (Index i = 0; i < n; ++i) b.data()[c * stride + i] = same.normal();
        }
        const std::vector<double> given(b.data(), b.data() + columns * stride);
        solve_lower(f.band, f.band.all(), {b.data(), columns, stride});
        const std::vector<double> halfway(b.data(), b.data() + columns * stride);
        solve_upper(f.band, f.band.all(), {b.data(), columns, stride});
        for (Index c = 0; c < columns; ++c) {
          const double *rhs = given.data() + c * stride, *half = halfway.data() + c * stride,
                       *x = b.data() + c * stride;
          for (Index i = 0; i < n; ++i) {
            Real lower = rhs[i], lower_size = 0, upper = half[i], upper_size = 0;
            for (Index j = l.first[at(i)]; j <= i; ++j) {
              const Real product = static_cast<Real>(l.get(i, j)) * half[j];
              lower -= product;
              lower_size += std::abs(product);
            }
            for (Index j = i; j < n && l.keeps(j, i); ++j) {
              const Real product = static_cast<Real>(l.get(j, i)) * x[j];
              upper -= product;
              upper_size += std::abs(product);
            }
            const Real error =
                std::max(std::abs(lower) / (units * lower_size), std::abs(upper) / (units * upper_size));
            worst = std::max(worst, error);
            ASSERT_LE(error, 2.0L) << "row " << i << ", right-hand side " << c + 1 << " of " << columns;
          }
          for (Index i = n; i < stride; ++i) ASSERT_EQ(x[i], 0) << "past n";
        }
        // The first right-hand side does not notice the others.
        if (single.empty()) single.assign(b.data(), b.data() + n);
        ASSERT_EQ(std::memcmp(single.data(), b.data(), sizeof(double) * at(n)), 0);
      }
    });
  });
  std::cout << "largest residual of a solve in units of u (k+4) |L||x|: " << static_cast<double>(worst)
            << '\n';
}

TEST(BandEngine, solves_agree_with_the_reference) {
  for_each_matrix([&](const Matrix& a, bool well, Random& random) {
    if (!well) return;
    const std::vector<double> rhs = random.normals(at(a.size()));
    Matrix l = a;
    ASSERT_FALSE(reference::cholesky(l));
    std::vector<double> lower = rhs;
    reference::solve_lower(l, lower);
    std::vector<double> both = lower;
    reference::solve_upper(l, both);
    double largest = 0;
    for (const double x : lower) largest = std::max(largest, std::abs(x));
    support::for_each_isa([&] {
      Factored f(a);
      ASSERT_FALSE(f.factorize());
      AlignedBuffer b;
      b.reserve(f.envelope.padded_size());
      std::fill_n(b.data(), f.envelope.padded_size(), 0.0);
      std::copy(rhs.begin(), rhs.end(), b.data());
      const double allowed = 100 * static_cast<double>(widest(a) + 4) * u * largest;  // condition number < 20
      solve_lower(f.band, f.band.all(), {b.data(), 1, 0});
      for (Index i = 0; i < a.size(); ++i) ASSERT_LE(std::abs(b.data()[i] - lower[at(i)]), allowed);
      solve_upper(f.band, f.band.all(), {b.data(), 1, 0});
      for (Index i = 0; i < a.size(); ++i) ASSERT_LE(std::abs(b.data()[i] - both[at(i)]), allowed);
    });
  });
}

TEST(BandEngine, factor_and_solution_agree_with_lapack) {
  Random random(3);
  for (const Index n : kSizes) {
    for (const Index k : bandwidths(n)) {
      SCOPED_TRACE(testing::Message() << "n " << n << " k " << k);
      const Matrix a = support::well_conditioned(random, support::band_first(n, k));
      const int order = static_cast<int>(n), kd = static_cast<int>(std::min(k, n - 1)), ldab = kd + 1,
                nrhs = 3;
      std::vector<double> ab(at(n * ldab)), x = random.normals(at(n * nrhs));
      const std::vector<double> rhs = x;
      for (Index j = 0; j < n; ++j) {
        for (Index i = j; i <= std::min<Index>(n - 1, j + kd); ++i) ab[at(i - j + j * ldab)] = a.get(i, j);
      }
      int info = -1;
      dpbtrf_("L", &order, &kd, ab.data(), &ldab, &info);
      ASSERT_EQ(info, 0);
      dpbtrs_("L", &order, &kd, &nrhs, ab.data(), &ldab, x.data(), &order, &info);
      ASSERT_EQ(info, 0);
      const double units = 100 * static_cast<double>(kd + 4) * u;  // condition number < 20
      support::for_each_isa([&] {
        Factored f(a);
        ASSERT_FALSE(f.factorize());
        for (Index j = 0; j < n; ++j) {
          for (Index i = j; i <= std::min<Index>(n - 1, j + kd); ++i) {
            ASSERT_LE(std::abs(f.band(i, j) - ab[at(i - j + j * ldab)]), units * std::sqrt(a.get(i, i)));
          }
        }
        const Index stride = f.envelope.padded_size();
        AlignedBuffer b;
        b.reserve(nrhs * stride);
        std::fill_n(b.data(), nrhs * stride, 0.0);
        for (Index c = 0; c < nrhs; ++c) std::copy_n(rhs.data() + c * n, n, b.data() + c * stride);
        solve_lower(f.band, f.band.all(), {b.data(), nrhs, stride});
        solve_upper(f.band, f.band.all(), {b.data(), nrhs, stride});
        double largest = 0;
        for (const double value : x) largest = std::max(largest, std::abs(value));
        for (Index c = 0; c < nrhs; ++c) {
          for (Index i = 0; i < n; ++i)
            ASSERT_LE(std::abs(b.data()[c * stride + i] - x[at(c * n + i)]), units * largest);
        }
      });
    }
  }
}

/// Z = (LLᵀ)⁻¹ on an envelope, by the recurrence in long double: what exact arithmetic would make of this
/// very L.
std::vector<std::vector<Real>> exact_inverse(const Matrix& l) {
  const std::size_t n = l.rows.size();
  std::vector<std::vector<Real>> z(n, std::vector<Real>(n));
  for (std::size_t j = n; j-- > 0;) {
    for (std::size_t i = n; i-- > j;) {
      const Index jj = static_cast<Index>(j);
      Real s = i == j ? 1 / static_cast<Real>(l.get(jj, jj)) : 0.0L;
      for (std::size_t m = j + 1; m < n; ++m) s -= z[i][m] * l.get(static_cast<Index>(m), jj);
      z[i][j] = z[j][i] = s / l.get(jj, jj);
    }
  }
  return z;
}

/// √(z_ii z_jj) max over the row sums √(a_ll z_ll): the size against which an entry of the inverse has an
/// error of u. (a_ll z_ll is 1 for a diagonal matrix and the condition number, diagonal scaling aside, at
/// most.)
struct InverseSize {
  std::vector<Real> root;
  Real condition = 1;
  InverseSize(const Matrix& a, const std::vector<std::vector<Real>>& z) {
    for (std::size_t i = 0; i < z.size(); ++i) {
      root.push_back(std::sqrt(z[i][i]));
      condition = std::max(condition, z[i][i] * a.get(static_cast<Index>(i), static_cast<Index>(i)));
    }
  }
  Real of(Index i, Index j) const { return root[at(i)] * root[at(j)] * condition; }
};

TEST(BandEngine, the_selected_inverse_is_the_inverse_on_the_envelope) {
  Real worst = 0;
  for_each_matrix([&](const Matrix& a, bool well, Random& random) {
    if (a.size() == 200 && support::kSanitized) return;
    const First wide = support::wider_first(random, a.first);
    Matrix reference_l = a;
    ASSERT_FALSE(reference::cholesky(reference_l));
    const Matrix reference_z = reference::selected_inverse(reference_l, wide);
    support::for_each_isa([&] {
      Factored f(a);
      ASSERT_FALSE(f.factorize());
      const auto exact = exact_inverse(support::unpack(f.band));
      const InverseSize size(a, exact);
      const Real units = u * (widest(a) + 4);

      Envelope wide_envelope;
      wide_envelope.keep(wide);
      PanelBand z;
      z.shape(wide_envelope);
      SelectedInverse inversion;
      inversion.start(f.band, z);
      inversion.run(z.all());
      for (Index i = 0; i < a.size(); ++i) {
        for (Index j = wide[at(i)]; j <= i; ++j) {
          const Real error = std::abs(z(i, j) - exact[at(i)][at(j)]) / (units * size.of(i, j));
          worst = std::max(worst, error);
          ASSERT_LE(error, 4.0L) << "wide envelope, i " << i << " j " << j;
          if (well) {
            ASSERT_LE(std::abs(z(i, j) - reference_z.get(i, j)), 100 * units * size.of(i, j));
          }
        }
        for (Index j = i + 1; j < std::min(a.size(), kPanel * (i / kPanel + 1));
             ++j) {  // the diagonal block is full
          const Real error = std::abs(z.column(i / kPanel, j)[i % kPanel] - exact[at(i)][at(j)]);
          ASSERT_LE(error, 4 * units * size.of(i, j))
              << "upper half of a diagonal block, i " << i << " j " << j;
        }
      }

      Envelope same_envelope;
      same_envelope.keep(a.first);
      PanelBand copy;
      copy.shape(same_envelope);
      inversion.start(f.band, copy);
      inversion.run(copy.all());
      inversion.start(f.band, f.band);
      inversion.run(f.band.all());
      for (Index i = 0; i < a.size(); ++i) {
        for (Index j = a.first[at(i)]; j <= i; ++j) {
          ASSERT_LE(std::abs(f.band(i, j) - exact[at(i)][at(j)]), 4 * units * size.of(i, j))
              << "in place, i " << i << " j " << j;
          ASSERT_EQ(f.band(i, j), copy(i, j)) << "in place and beside differ, i " << i << " j " << j;
        }
      }
    });
  });
  std::cout << "largest error of the selected inverse in units of u (k+4) sqrt(z_ii z_jj) max a_ll z_ll: "
            << static_cast<double>(worst) << '\n';
}

TEST(BandEngine, ranges_of_an_even_number_of_panels_give_the_same_bits_as_one_range) {
  Random random(5);
  for (int trial = 0; trial < 40; ++trial) {
    const Index n = random.integer(1, 260);
    const First first =
        random.chance(0.5) ? support::band_first(n, random.integer(0, 70)) : support::random_first(random, n);
    const Matrix a = support::badly_conditioned(random, first);
    SCOPED_TRACE(testing::Message() << "trial " << trial << " n " << n);
    const std::vector<double> rhs = random.normals(at(n));
    support::for_each_isa([&] {
      const auto run = [&](Index panels) {
        Factored f(a);
        const Index all = f.envelope.panels();
        AlignedBuffer b;
        b.reserve(f.envelope.padded_size());
        std::fill_n(b.data(), f.envelope.padded_size(), 0.0);
        std::copy(rhs.begin(), rhs.end(), b.data());
        for (Index p = 0; p < all; p += panels) {
          const PanelRange range{p, std::min(all, p + panels)};
          EXPECT_FALSE(factorize(f.band, range));
          solve_lower(f.band, range, {b.data(), 1, 0});
        }
        SelectedInverse inversion;
        inversion.start(f.band, f.band);
        for (Index end = all; end > 0;) {
          const PanelRange range{std::max<Index>(0, end - panels), end};
          solve_upper(f.band, range, {b.data(), 1, 0});
          inversion.run(range);
          end = range.begin;
        }
        std::vector<double> result = f.storage();
        result.insert(result.end(), b.data(), b.data() + n);
        return result;
      };
      const std::vector<double> whole = run(n);
      for (const Index panels : {2, 4, 10}) {
        const std::vector<double> parts = run(panels);
        ASSERT_EQ(std::memcmp(whole.data(), parts.data(), sizeof(double) * whole.size()), 0)
            << panels << " panels at a time";
      }
    });
  }
}

TEST(BandEngine, ranges_of_different_lengths_give_a_factor_of_the_same_quality) {
  Random random(6);
  for (int trial = 0; trial < 40; ++trial) {
    const Index n = random.integer(1, 130);
    const Matrix a = support::badly_conditioned(random, support::random_first(random, n));
    support::for_each_isa([&] {
      Factored f(a);
      for (Index p = 0; p < f.envelope.panels();) {
        const PanelRange range{p, std::min(f.envelope.panels(), p + 2 * random.integer(1, 3))};
        ASSERT_FALSE(factorize(f.band, range));
        p = range.end;
      }
      ASSERT_LE(backward_error(a, support::unpack(f.band)), 2 * (widest(a) + 4));
    });
  }
}

TEST(BandEngine, the_first_pivot_that_is_not_positive_is_reported) {
  Random random(8);
  for (const Index n : {1, 2, 7, 8, 9, 16, 17, 33, 65}) {
    std::vector<First> shapes = {support::random_first(random, n), support::random_first(random, n)};
    for (const Index k : {0, 1, 7, 8, 9, 17, 64}) shapes.push_back(support::band_first(n, k));
    for (const First& first : shapes) {
      const Matrix a = support::well_conditioned(random, first);
      Matrix l = a;
      ASSERT_FALSE(reference::cholesky(l));
      for (Index row = 0; row < n; ++row) {
        Matrix bad = a;
        bad.set(row, row) -= random.uniform(1.01, 3) * l.get(row, row) * l.get(row, row);
        if (row + 1 < n && random.chance(0.5)) {  // rows after it may be bad as well: the first counts
          const Index other = random.integer(row + 1, n - 1);
          bad.set(other, other) = -1;
        }
        Matrix expected = bad;
        const auto reference_row = reference::cholesky(expected);
        ASSERT_TRUE(reference_row && *reference_row == row);
        support::for_each_isa([&] {
          Factored f(bad);
          const auto failure = f.factorize();
          ASSERT_TRUE(failure) << "n " << n << " row " << row;
          ASSERT_EQ(failure->row, row) << "n " << n;
        });
      }
    }
  }
}

TEST(BandEngine, zero_on_the_diagonal_and_nan_anywhere_are_not_positive_definite) {
  Random random(9);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const Index n : {1, 3, 8, 9, 17, 40}) {
    for (const First& first : {support::band_first(n, 0), support::band_first(n, 9),
                               support::band_first(n, n), support::random_first(random, n)}) {
      const Matrix a = support::well_conditioned(random, first);
      for (Index i = 0; i < n; ++i) {
        for (Index j = first[at(i)]; j <= i; ++j) {
          Matrix bad = a;
          bad.set(i, j) = nan;
          Matrix expected = bad;
          const auto reference_row = reference::cholesky(expected);
          ASSERT_TRUE(reference_row);
          support::for_each_isa([&] {
            Factored f(bad);
            const auto failure = f.factorize();
            ASSERT_TRUE(failure) << "NaN at " << i << ", " << j << " of " << n;
            ASSERT_EQ(failure->row, *reference_row) << "NaN at " << i << ", " << j << " of " << n;
          });
        }
        Matrix bad = a;
        for (Index j = first[at(i)]; j <= i; ++j) bad.set(i, j) = 0;
        support::for_each_isa([&] {
          Factored f(bad);
          const auto failure = f.factorize();
          ASSERT_TRUE(failure && failure->row == i) << "zero row " << i << " of " << n;
        });
      }
    }
  }
}

TEST(BandEngine, quadratic_forms_agree_with_loops) {
  Random random(10);
  for (int trial = 0; trial < 200; ++trial) {
    const Index p0 = random.integer(0, 3), p1 = p0 + random.integer(1, 7), panels = p1 + random.integer(0, 2);
    Envelope envelope;
    envelope.keep_band(kPanel * panels, kPanel * (p1 - p0) + random.integer(0, 9));
    PanelBand z;
    z.shape(envelope);
    std::vector<std::vector<double>> dense(at(kPanel * panels), std::vector<double>(at(kPanel * panels)));
    for (Index i = 0; i < kPanel * panels; ++i) {
      for (Index j = 0; j <= i; ++j) dense[at(i)][at(j)] = dense[at(j)][at(i)] = random.normal();
    }
    for (Index p = 0; p < panels; ++p) {
      for (Index c = envelope.panel_first()[p]; c < kPanel * (p + 1); ++c) {
        for (Index r = 0; r < kPanel; ++r) z.column(p, c)[r] = dense[at(kPanel * p + r)][at(c)];
      }
    }
    const Index rows = kPanel * (p1 - p0);
    AlignedBuffer v;
    v.reserve(kPanel * rows);
    for (Index i = 0; i < kPanel * rows; ++i) v.data()[i] = random.normal();
    support::for_each_isa([&] {
      alignas(64) double out[kPanel];
      simd::panel_kernels().quadratic_form(z.panels(), p0, p1, v.data(), out);
      for (Index t = 0; t < kPanel; ++t) {
        Real sum = 0, size = 0;
        for (Index i = 0; i < rows; ++i) {
          for (Index j = 0; j < rows; ++j) {
            const Real product = static_cast<Real>(v.data()[kPanel * i + t]) *
                                 dense[at(kPanel * p0 + i)][at(kPanel * p0 + j)] * v.data()[kPanel * j + t];
            sum += product;
            size += std::abs(product);
          }
        }
        ASSERT_LE(std::abs(out[t] - sum), 2 * u * static_cast<Real>(rows + 4) * size)
            << "right-hand side " << t;
      }
    });
  }
}

}  // namespace
