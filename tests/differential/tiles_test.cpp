// SPDX-License-Identifier: Apache-2.0
// The tile kernels against loops in long double: every instruction set, every shape, lags from 0 through the
// region where exp underflows to far beyond it.
#include "bandgp/kernel/tiles.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <iostream>
#include <limits>
#include <string>

#include "support/close.hpp"
#include "support/dense_gp.hpp"
#include "support/isa.hpp"
#include "support/problems.hpp"
#include "support/random.hpp"

namespace {

using namespace bandgp;
using support::Random;
using support::u;
using Real = long double;

std::vector<AnyShape> all_shapes() {
  return {Se{}, Matern12{}, Matern32{}, Matern52{}, Wendland2{}, Wendland4{}};
}
static_assert(
    kShapes == 8,
    "a new shape that stretches belongs into all_shapes() and slope(), any other into Oscillations");

/// −r ρ'(r), from the derivatives of the formulas in dense_gp.hpp.
Real slope(const std::string& shape, Real r) {
  const Real a3 = std::sqrt(3.0L) * r, a5 = std::sqrt(5.0L) * r;
  if (shape == "se") return r * r * std::exp(-r * r / 2);
  if (shape == "matern12") return r * std::exp(-r);
  if (shape == "matern32") return a3 * a3 * std::exp(-a3);
  if (shape == "matern52") return a5 * a5 * (1 + a5) * std::exp(-a5) / 3;
  if (r >= 1) return 0;
  if (shape == "wendland2") return 20 * r * r * std::pow(1 - r, 3);
  return 56 * r * r * std::pow(1 - r, 5) * (1 + 5 * r) / 3;
}

/// How many times a relative error of r comes back in ρ and in its slope: |r ρ'/ρ| and a little more.
Real sensitivity(const std::string& shape, Real r) {
  if (shape == "se") return 2 + r * r;
  if (shape.starts_with("wendland")) return 2 + 8 * r / std::max(std::abs(1 - r), 1e-17L);
  return 2 + 3 * r;
}

/// Results below e^−708 are 0 (times at most a², a ≤ 1600, for the Matérn polynomials); around r = 1
/// Wendland's are s³ and smaller with s a rounding error.
constexpr Real kFlushed = 1e-301L;
constexpr Real kSupportEnd = 1e-44L;

Real allowed(const std::string& shape, Real r, Real value) {
  const Real floor = shape.starts_with("wendland") ? kSupportEnd : kFlushed;
  return 4 * u * value * (1 + sensitivity(shape, r)) + floor;
}

/// Eight rows and `count` columns, with scaled lags that cover everything.
struct Lags {
  double rows[8];
  std::vector<double> columns;
  double inverse_lengthscale;

  Lags(Random& random, Index count) : columns(static_cast<std::size_t>(count)) {
    inverse_lengthscale = 1 / random.log_uniform(0.01, 100);
    const double scales[] = {0.3, 1, 5, 38, 500, 1e6};  // of r
    const double scale = scales[random.integer(0, 5)] / inverse_lengthscale;
    for (double& row : rows) row = random.uniform(-scale, scale);
    for (double& column : columns) {
      column = random.chance(0.1) ? rows[random.integer(0, 7)] : random.uniform(-scale, scale);
    }
  }
  Real r(Index row, std::size_t column) const {
    return std::abs(static_cast<Real>(rows[row]) - columns[column]) * inverse_lengthscale;
  }
};

TEST(Tiles, exp_is_good_to_two_units_in_the_last_place_and_zero_below_minus_708) {
  const std::size_t fill = AnyShape(Matern12{}).index();  // exp(−r), nothing else
  Random random(1);
  support::for_each_isa([&] {
    const auto exp_of_minus = [&](const double* r, double* out) {
      const double origin = 0;
      tile_kernels().fill[fill][0](r, &origin, 1, TermNumbers{}, false, out);
    };
    alignas(64) double r[8], out[8];
    Real worst = 0;
    for (int i = 0; i < 200000; ++i) {
      for (double& x : r)
        x = i % 3 == 0   ? random.uniform(0, 708)
            : i % 3 == 1 ? random.uniform(0, 2)
                         : random.log_uniform(1e-20, 708);
      exp_of_minus(r, out);
      for (int l = 0; l < 8; ++l) {
        const Real expected = std::exp(-static_cast<Real>(r[l]));
        const Real ulp = std::nextafter(static_cast<double>(expected), 2.0) - static_cast<double>(expected);
        worst = std::max(worst, std::abs(out[l] - expected) / ulp);
      }
    }
    EXPECT_LE(worst, 2.0L);
    std::cout << simd::isa_name(simd::active()) << ": exp off by at most " << static_cast<double>(worst)
              << " ulp\n";

    const double infinity = std::numeric_limits<double>::infinity();
    const double ends[8] = {0, 708, std::nextafter(708, 709), 709, 745.2, 1e6, 1e300, infinity};
    exp_of_minus(ends, out);
    EXPECT_EQ(out[0], 1);
    EXPECT_CLOSE(out[1], std::exp(-708.0L), 4 * u * std::exp(-708.0L));
    for (int l = 2; l < 8; ++l) EXPECT_EQ(out[l], 0) << ends[l];
  });
}

TEST(Tiles, fill_is_the_covariance_function) {
  Random random(2);
  for (int trial = 0; trial < 400; ++trial) {
    const Index count = random.integer(1, 40);
    const Lags lags(random, count);
    const double variance = random.log_uniform(1e-6, 1e6);
    for (const AnyShape& shape : all_shapes()) {
      const std::string name(shape_name(shape));
      support::for_each_isa([&] {
        alignas(64) double out[8 * 40 + 8];
        for (double& x : out) x = 3.5;
        const TermNumbers numbers{.variance = variance, .inverse_lengthscale = lags.inverse_lengthscale};
        tile_kernels().fill[shape.index()][0](lags.rows, lags.columns.data(), count, numbers, false, out);
        alignas(64) double sum[8 * 40];
        std::fill_n(sum, 8 * count, 3.5);
        tile_kernels().fill[shape.index()][0](lags.rows, lags.columns.data(), count, numbers, true, sum);
        for (Index c = 0; c < count; ++c) {
          for (Index row = 0; row < 8; ++row) {
            const Real r = lags.r(row, static_cast<std::size_t>(c)), expected = dense::shape_value(name, r);
            const double value = out[8 * c + row];
            ASSERT_LE(std::abs(value - variance * expected), variance * allowed(name, r, expected))
                << name << " r " << static_cast<double>(r);
            ASSERT_TRUE(value >= 0 && value <= variance) << name << " r " << static_cast<double>(r);
            ASSERT_EQ(sum[8 * c + row], value + 3.5) << "adding";
            if (r == 0) {
              ASSERT_EQ(value, variance) << name;
            }
          }
        }
        for (Index i = 8 * count; i < 8 * 40 + 8; ++i) ASSERT_EQ(out[i], 3.5) << "wrote past the end";
      });
    }
  }
}

TEST(Tiles, fill_of_a_sum_of_terms_is_the_sum) {
  Random random(3);
  for (int trial = 0; trial < 300; ++trial) {
    const Index count = random.integer(1, 20);
    const Lags lags(random, count);
    Kernel kernel;
    const Index terms = random.integer(1, 4);
    for (Index t = 0; t < terms; ++t) {
      kernel.terms.push_back({random.pick(all_shapes()), random.log_uniform(1e-3, 1e3),
                              random.log_uniform(0.1, 10) / lags.inverse_lengthscale});
    }
    support::for_each_isa([&] {
      alignas(64) double out[8 * 20];
      fill_covariance(kernel, lags.rows, lags.columns.data(), count, out);
      for (Index c = 0; c < count; ++c) {
        for (Index row = 0; row < 8; ++row) {
          const Real lag =
              std::abs(static_cast<Real>(lags.rows[row]) - lags.columns[static_cast<std::size_t>(c)]);
          Real expected = 0, error = 0;
          for (const Term& term : kernel.terms) {
            const std::string name(shape_name(term.shape));
            const Real r = lag / term.lengthscale, value = dense::shape_value(name, r);
            expected += term.variance * value;
            error += term.variance * allowed(name, r, value);
          }
          ASSERT_LE(std::abs(out[8 * c + row] - expected), 2 * error);
          ASSERT_LE(std::abs(kernel(static_cast<double>(lag)) - expected), 2 * error) << "Kernel::operator()";
        }
      }
    });
  }
}

TEST(Tiles, contract_sums_weighted_values_and_slopes) {
  Random random(4);
  for (int trial = 0; trial < 400; ++trial) {
    const Index count = random.integer(1, 40);
    const Lags lags(random, count);
    alignas(64) double weights[8 * 40];
    for (double& w : weights) w = random.normal();
    for (const AnyShape& shape : all_shapes()) {
      const std::string name(shape_name(shape));
      Real expected[2] = {0.25L, -0.5L}, error[2] = {u, u};
      for (Index c = 0; c < count; ++c) {
        for (Index row = 0; row < 8; ++row) {
          const Real r = lags.r(row, static_cast<std::size_t>(c)), w = weights[8 * c + row];
          const Real value[2] = {dense::shape_value(name, r), slope(name, r)};
          for (int s = 0; s < 2; ++s) {
            expected[s] += w * value[s];
            error[s] +=
                std::abs(w) * (allowed(name, r, value[s]) + u * static_cast<Real>(count + 8) * value[s]);
          }
        }
      }
      support::for_each_isa([&] {
        TileSums sums{{0.25, -0.5}};
        const TermNumbers numbers{.inverse_lengthscale = lags.inverse_lengthscale};
        tile_kernels().contract[shape.index()][0](lags.rows, lags.columns.data(), count, numbers, weights,
                                                  sums);
        ASSERT_LE(std::abs(sums[Quantity::variance] - expected[0]), error[0]) << name;
        ASSERT_LE(std::abs(sums[Quantity::lengthscale] - expected[1]), error[1]) << name;
      });
    }
  }
}

/// Every term with a factor, and the shapes that oscillate, against the formulas in long double; slopes
/// against their differences.
TEST(Tiles, oscillating_terms_are_the_long_double_formulas) {
  Random random(14);
  int seen = 0;
  for (int trial = 0; trial < 600; ++trial) {
    const char* texts[] = {"se*cos",       "se*periodic",  "matern12*cos",      "matern12*periodic",
                           "matern32*cos", "matern52*cos", "matern32*periodic", "matern52*periodic",
                           "sho",          "periodic"};
    Kernel kernel = parse_kernel(texts[trial % 10]);
    Term& term = kernel.terms[0];
    term.variance = random.log_uniform(0.1, 10);
    term.lengthscale = random.log_uniform(0.5, 100);
    term.period = random.log_uniform(0.2, 50);
    term.smoothness = random.log_uniform(0.2, 5);
    term.quality = trial % 7 == 0 ? 0.5 : random.log_uniform(0.3, 1e4);
    double rows[8];
    std::vector<double> columns(5);
    for (double& row : rows) row = random.uniform(0, 60);
    for (double& column : columns) column = random.uniform(0, 60);
    columns[0] = rows[3];
    const auto at = [&](const Term& of, Real lag) {
      return dense::term_value(support::dense_term(of), std::abs(lag));
    };
    support::for_each_isa([&] {
      alignas(64) double out[8 * 5], weights[8 * 5];
      for (double& w : weights) w = random.normal();
      fill_covariance(kernel, rows, columns.data(), 5, out);
      TileSums sums;
      contract_term(tile_kernels(), term, rows, columns.data(), 5, weights, sums);
      std::vector<Real> expected(term.parameters().size());
      for (Index c = 0; c < 5; ++c) {
        for (Index r = 0; r < 8; ++r) {
          const Real lag = static_cast<Real>(rows[r]) - columns[static_cast<std::size_t>(c)];
          const Real value = at(term, lag);
          // The lag in periods is rounded to u times itself, and its sine follows.
          const Real allowed = 16 * u * term.variance * (4 + 7 * std::abs(lag) / term.period);
          ASSERT_LE(std::abs(out[8 * c + r] - value), allowed)
              << to_text(kernel) << " at " << static_cast<double>(lag);
          for (std::size_t k = 0; k < expected.size(); ++k) {
            double Term::*member = term.parameters()[k].member;
            // A covariance turns with the log of its period as often as the lag has periods.
            const Real h = member == &Term::period ? 1e-3L / (1 + 30 * std::abs(lag) / term.period) : 1e-3L;
            const auto moved = [&](int steps) {
              dense::Term other = support::dense_term(term);
              const Real factor = std::exp(h * steps);
              if (member == &Term::variance) other.variance *= factor;
              if (member == &Term::lengthscale) other.lengthscale *= factor;
              if (member == &Term::period) other.period *= factor;
              if (member == &Term::smoothness) other.smoothness *= factor;
              if (member == &Term::quality) other.quality *= factor;
              return dense::term_value(other, std::abs(lag));
            };
            const Real slope =
                (45 * (moved(1) - moved(-1)) - 9 * (moved(2) - moved(-2)) + moved(3) - moved(-3)) / (60 * h);
            expected[k] += weights[8 * c + r] * slope;
          }
        }
      }
      std::vector<double> gradient(expected.size() + 1);
      gradient_from_sums(kernel, std::vector<TileSums>{sums}, 0, gradient);
      for (std::size_t k = 0; k < expected.size(); ++k)
        EXPECT_NEAR(gradient[k], static_cast<double>(expected[k]),
                    1e-8 * term.variance * (1 + 300 / term.period))
            << to_text(kernel) << ' ' << term.parameters()[k].name;
      ++seen;
    });
  }
  EXPECT_GE(seen, 600);
}

TEST(Tiles, tail_sums_exactly_the_entries_that_the_limits_leave_out) {
  Random random(5);
  for (int trial = 0; trial < 400; ++trial) {
    const Index count = random.integer(1, 40), c0 = random.integer(0, 100000);
    const Lags lags(random, count);
    const double variance = random.log_uniform(1e-3, 1e3);
    double first[8], last[8];
    for (int row = 0; row < 8; ++row) {
      first[row] = static_cast<double>(c0 + random.integer(-3, count + 3));
      last[row] = first[row] + static_cast<double>(random.integer(-1, count));
    }
    std::vector<double> weight(static_cast<std::size_t>(count));
    for (double& w : weight) w = random.log_uniform(1e-3, 1e3);
    for (const AnyShape& shape : all_shapes()) {
      const std::string name(shape_name(shape));
      Real expected[8] = {}, error[8] = {};
      for (Index row = 0; row < 8; ++row) {
        for (Index c = 0; c < count; ++c) {
          const auto index = static_cast<double>(c0 + c);
          if (first[row] <= index && index <= last[row]) continue;
          const auto column = static_cast<std::size_t>(c);
          const Real r = lags.r(row, column), value = dense::shape_value(name, r);
          expected[row] += variance * weight[column] * value;
          error[row] += variance * weight[column] *
                        (allowed(name, r, value) + u * static_cast<Real>(count + 8) * value);
        }
      }
      support::for_each_isa([&] {
        double sums[8];
        for (int row = 0; row < 8; ++row) sums[row] = row;
        tile_kernels().tail[shape.index()](lags.rows, lags.columns.data(), c0, count, variance,
                                           lags.inverse_lengthscale, weight.data(), {first, last}, sums);
        for (int row = 0; row < 8; ++row) {
          ASSERT_LE(std::abs(sums[row] - row - expected[row]), error[row] + 2 * u * (row + expected[row]))
              << name;
        }
      });
    }
  }
}

TEST(Tiles, clip_zeroes_what_lies_left_of_the_first_column) {
  Random random(6);
  for (int trial = 0; trial < 200; ++trial) {
    const Index count = random.integer(1, 20), c0 = random.integer(0, 1000);
    double first[8];
    for (double& f : first) f = static_cast<double>(c0 + random.integer(-2, count + 2));
    support::for_each_isa([&] {
      alignas(64) double tile[8 * 20];
      for (Index i = 0; i < 8 * count; ++i) tile[i] = static_cast<double>(i + 1);
      tile_kernels().clip(tile, c0, count, first);
      for (Index c = 0; c < count; ++c) {
        for (Index row = 0; row < 8; ++row) {
          const double expected =
              static_cast<double>(c0 + c) < first[row] ? 0 : static_cast<double>(8 * c + row + 1);
          ASSERT_EQ(tile[8 * c + row], expected);
        }
      }
    });
  }
}

TEST(Tiles, weights_are_the_inverse_minus_the_outer_product_on_kept_entries) {
  Random random(7);
  for (int trial = 0; trial < 400; ++trial) {
    const Index c0 = 8 * random.integer(0, 1000);
    const bool diagonal = random.chance(0.5);
    alignas(64) double z[64];
    double rows[8], columns[8], first[8];
    for (double& value : z) value = random.normal();
    for (int i = 0; i < 8; ++i) {
      rows[i] = random.normal();
      columns[i] = random.normal();
      first[i] = static_cast<double>(c0 + random.integer(-2, 10));
    }
    support::for_each_isa([&] {
      alignas(64) double out[64];
      tile_kernels().weights(z, rows, columns, c0, first, diagonal, out);
      for (Index c = 0; c < 8; ++c) {
        for (Index row = 0; row < 8; ++row) {
          const bool kept = static_cast<double>(c0 + c) >= first[row] && (!diagonal || row > c);
          const Real product = static_cast<Real>(rows[row]) * columns[c],
                     expected = kept ? z[8 * c + row] - product : 0;
          ASSERT_LE(std::abs(out[8 * c + row] - expected),
                    kept ? u * (2 * std::abs(product) + std::abs(expected)) : 0);
        }
      }
    });
  }
}

}  // namespace
