// SPDX-License-Identifier: Apache-2.0
// The rules that choose a bandwidth, against the paper's Table 1, their own definitions and their edges.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "bandgp/bandwidth/choose.hpp"
#include "bandgp/bandwidth/rules.hpp"
#include "support/close.hpp"
#include "support/random.hpp"

namespace {

using namespace bandgp;
using support::Random;
using Real = long double;
constexpr double kInf = std::numeric_limits<double>::infinity();

struct Row {
  double gap, variance, lengthscale, noise;
  Index corollary, theorem, lemma;
};
constexpr Row kTable1[] = {
    {0.2, 5, 1, 0.1, 19, 20, 16}, {0.1, 1, 0.75, 0.01, 31, 32, 26}, {0.2, 0.8, 2, 0.05, 38, 40, 30}};

Kernel one_se(double variance, double lengthscale) { return {{{Se{}, variance, lengthscale}}}; }

/// Points with their weights, padded as row sums want them.
struct Points {
  std::vector<double> x, weight;
  Index n;
  double largest = 0;

  Points(std::vector<double> times, std::vector<double> noise)
      : x(std::move(times)), n(static_cast<Index>(x.size())) {
    for (const double d : noise) {
      weight.push_back(1 / std::sqrt(d));
      largest = std::max(largest, weight.back());
    }
    while (x.size() % 8 != 0) {
      x.push_back(x.back() + 1);
      weight.push_back(0);
    }
  }
  WeightedPoints view() const { return {n, x.data(), weight.data(), largest}; }
};

Points regular(Index n, double gap, double noise) {
  std::vector<double> x;
  for (Index i = 0; i < n; ++i) x.push_back(gap * static_cast<double>(i));
  return {x, std::vector<double>(static_cast<std::size_t>(n), noise)};
}

/// wᵢ Σ wⱼ k(xᵢ−xⱼ) over the j that `drops(i, j)`, for row i.
template <class Drops>
Real row_sum(const Kernel& kernel, const Points& points, Index i, Drops drops) {
  Real sum = 0;
  for (Index j = 0; j < points.n; ++j) {
    const auto a = static_cast<std::size_t>(i), b = static_cast<std::size_t>(j);
    if (i != j && drops(i, j))
      sum += static_cast<Real>(points.weight[a]) * points.weight[b] * kernel(points.x[a] - points.x[b]);
  }
  return sum;
}

TEST(Bandwidth, table_1_of_the_paper) {
  for (const Row& row : kTable1) {
    SCOPED_TRACE(testing::Message() << "gap " << row.gap << ", variance " << row.variance);
    const Kernel kernel = one_se(row.variance, row.lengthscale);
    EXPECT_EQ(corollary_bandwidth(kernel, row.noise, row.gap, 2000), row.corollary);
    EXPECT_EQ(theorem_bandwidth(kernel, row.noise, row.gap, 2000), row.theorem);
    const Points points = regular(2000, row.gap, row.noise);
    Envelope envelope;
    const Choice lemma = choose_band(kernel, points.view(), 1.0, envelope);
    EXPECT_EQ(lemma.bandwidth, row.lemma);
    EXPECT_EQ(envelope.bandwidth(), row.lemma);
    EXPECT_LT(lemma.row_sum.value(), 1);
  }
}

TEST(Bandwidth, rules_are_clipped_to_n_minus_one) {
  for (const Row& row : kTable1) {
    for (const Index n : {1, 2, 3, 16, 20, 31, 39}) {
      const Kernel kernel = one_se(row.variance, row.lengthscale);
      EXPECT_EQ(corollary_bandwidth(kernel, row.noise, row.gap, n), std::min(n - 1, row.corollary));
      EXPECT_EQ(theorem_bandwidth(kernel, row.noise, row.gap, n), std::min(n - 1, row.theorem));
      const Points points = regular(n, row.gap, row.noise);
      Envelope envelope;
      EXPECT_LE(choose_band(kernel, points.view(), 1.0, envelope).bandwidth, std::min(n - 1, row.lemma));
    }
  }
}

TEST(Bandwidth, tiny_gaps_overflow_nothing) {
  const Kernel kernel = one_se(1, 1);
  for (const double gap : {1e-9, 1e-20, 1e-160, 1e-300, std::numeric_limits<double>::denorm_min(), 0.0}) {
    EXPECT_EQ(corollary_bandwidth(kernel, 0.01, gap, 5000), 4999) << gap;
    EXPECT_EQ(theorem_bandwidth(kernel, 0.01, gap, 5000), 4999) << gap;
  }
  // one point has no gap
  EXPECT_EQ(corollary_bandwidth(kernel, 0.01, kInf, 1), 0);
  EXPECT_EQ(theorem_bandwidth(kernel, 0.01, kInf, 1), 0);
}

TEST(Bandwidth, the_corollary_says_two_where_its_logarithm_is_not_positive) {
  EXPECT_EQ(corollary_bandwidth(1, 1, 1, 1, 100), 2);     // argument 2/3
  EXPECT_EQ(corollary_bandwidth(1, 0.1, 1, 5, 100), 2);   // far below
  EXPECT_EQ(corollary_bandwidth(1.5, 1, 1, 1, 100), 2);   // exactly 1
  EXPECT_EQ(corollary_bandwidth(1.51, 1, 1, 1, 100), 2);  // √(3/2 + a little), rounded up
  EXPECT_EQ(corollary_bandwidth(1, 1, 1, 1, 2), 1);
  EXPECT_EQ(corollary_bandwidth(1, 1, 1, 1, 1), 0);
  EXPECT_EQ(corollary_bandwidth(20, 1, 1, 1, 100), 3);  // √(1.5 + 2 log(40/3)) = 2.58
}

TEST(Bandwidth, the_theorem_is_the_smallest_k_that_satisfies_its_inequality) {
  EXPECT_EQ(theorem_bandwidth(1, 1, 100, 1, 50), 0);  // radicand 3 + 2 log(4/300) < 0
  EXPECT_EQ(theorem_bandwidth(1, 0.01, 1e-3, 1, 50),
            2);  // a gap of 100 length-scales: √3, by the factor exp(−3δ²/2ℓ²)
  Random random(1);
  for (int trial = 0; trial < 2000; ++trial) {
    const double variance = random.log_uniform(1e-3, 1e3), lengthscale = random.log_uniform(0.1, 10),
                 noise = random.log_uniform(1e-5, 10), gap = random.log_uniform(0.05, 10);
    // In logarithms: where ℓ ≪ δ both sides underflow.
    const Real ratio = static_cast<Real>(gap) / lengthscale,
               right = std::log(0.75L * noise * ratio * ratio) - 1.5L * ratio * ratio;
    const auto margin = [&](Index k) {
      const Real kr = static_cast<Real>(k) * ratio;
      return right - (std::log(static_cast<Real>(variance)) - kr * kr / 2);
    };
    const Index k = theorem_bandwidth(variance, lengthscale, noise, gap, 1000000);
    EXPECT_GE(margin(k), -1e-12L * (1 + std::abs(right)));
    if (k > 0) {
      EXPECT_LE(margin(k - 1), 1e-12L * (1 + std::abs(right)));
    }
  }
}

TEST(Bandwidth, the_papers_rules_are_for_one_se_term_only) {
  for (const char* text : {"1*matern32(lengthscale=1)", "1*se(lengthscale=1) + 1*se(lengthscale=2)",
                           "1*wendland2(lengthscale=1)"}) {
    EXPECT_FALSE(corollary_bandwidth(parse_kernel(text), 0.1, 1, 100)) << text;
    EXPECT_FALSE(theorem_bandwidth(parse_kernel(text), 0.1, 1, 100)) << text;
  }
}

TEST(Bandwidth, rho_for_tolerance_keeps_the_loss_within_the_nats_and_wastes_little) {
  for (const double nats : {1e-9, 1e-3, 0.01, 1.0, 100.0}) {
    for (const double q : {0.0, 1.0, 1e4, 1e9}) {
      for (const Index n : {1, 100, 1000000}) {
        const Real rho = rho_for_tolerance(nats, q, n);
        ASSERT_TRUE(0 < rho && rho < 1);
        const Real error = 0.5L * (rho / (1 - rho) * q - static_cast<Real>(n) * std::log1p(-rho));
        EXPECT_LE(error, nats) << q << ' ' << n;
        if (2 * nats < 0.01 * (q + static_cast<double>(n))) {
          EXPECT_GE(error, 0.99L * nats) << q << ' ' << n;
        }
      }
    }
  }
}

TEST(Bandwidth, the_tail_bound_covers_everything_beyond_its_reach) {
  Random random(2);
  for (int trial = 0; trial < 300; ++trial) {
    std::vector<double> x, noise;
    double t = 0;
    const Index n = random.integer(1, 60);
    for (Index i = 0; i < n; ++i) {
      x.push_back(t);
      t += random.chance(0.3) ? random.uniform(0.001, 0.1) : random.uniform(0.1, 3);
      noise.push_back(random.log_uniform(1e-3, 1e3));
    }
    const Points points(x, noise);
    Kernel kernel = parse_kernel("1*se + 1*matern12 + 1*matern32 + 1*matern52 + 1*wendland2 + 1*wendland4");
    for (Term& term : kernel.terms) term.lengthscale = random.log_uniform(0.05, 10);
    std::swap(kernel.terms[0], kernel.terms[static_cast<std::size_t>(random.integer(0, 5))]);
    kernel.terms.resize(static_cast<std::size_t>(random.integer(1, 3)));
    const TailBound tail(kernel, points.view());
    for (const double reach : {0.0, 0.1, 1.0, 5.0, 20.0, 1e4}) {
      for (Index i = 0; i < n; ++i) {
        const Real sum = row_sum(kernel, points, i, [&](Index a, Index b) {
          return std::abs(points.x[static_cast<std::size_t>(a)] - points.x[static_cast<std::size_t>(b)]) >
                 reach;
        });
        ASSERT_LE(sum, tail(reach).value() * (1 + 1e-14L));
      }
    }
    for (const double target : {1e-12, 1e-3, 1.0, 1e6}) {
      const double reach = tail.reach_for(target);
      EXPECT_LE(tail(reach).value(), target);
      EXPECT_LE(reach, x.back() - x.front());
    }
  }
}

TEST(Bandwidth, certify_sums_what_an_envelope_leaves_out_and_knows_when_it_is_too_much) {
  const Kernel kernel = parse_kernel("1*se(lengthscale=2) + 0.3*matern12(lengthscale=1)");
  const Points points = regular(203, 0.5, 0.2);
  for (Index k = 0; k < 40; ++k) {
    Envelope envelope;
    envelope.keep_band(points.n, k);
    Real largest = 0;
    for (Index i = 0; i < points.n; ++i) {
      largest = std::max(largest,
                         row_sum(kernel, points, i, [k](Index a, Index b) { return std::abs(a - b) > k; }));
    }
    const UpperBound rho = certify(kernel, points.view(), TailBound(kernel, points.view()), envelope, 1e-9);
    if (largest > 1) {
      EXPECT_FALSE(rho.is_finite()) << k;
    } else {
      EXPECT_CLOSE(rho.value(), largest, 3e-9L + 1e-12L * largest);
      EXPECT_GE(rho.value(), largest * (1 - 1e-15L));
    }
  }
}

}  // namespace
