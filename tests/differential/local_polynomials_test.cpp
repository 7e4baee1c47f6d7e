// SPDX-License-Identifier: Apache-2.0
// Gaussians through polynomials on chunks of points, against the Gaussians themselves: the bound holds, is
// used well, and chunks cover every point once.
#include "bandgp/basis/local_polynomials.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <iostream>

#include "support/random.hpp"

namespace {

using namespace bandgp;
using support::Random;

struct Points {
  std::vector<double> time, weight;
};

Points random_points(Random& random, Index n, double gap) {
  Points points;
  double at = random.uniform(-100, 100);
  const double spread = random.uniform(0, 1);
  const bool own_noise = random.chance(0.5);
  for (Index i = 0; i < n; ++i) {
    at += gap * (1 - spread + 2 * spread * random.uniform(0, 1));
    if (random.chance(0.02)) at += gap * random.log_uniform(1, 100);
    points.time.push_back(at);
    points.weight.push_back(own_noise ? random.log_uniform(0.1, 10) : 1);
  }
  while (points.time.size() % 8 != 0) points.time.push_back(points.time.back() + 1);
  return points;
}

/// ‖E‖₂ from below, by a few steps of the power method.
double norm(const std::vector<std::vector<double>>& e) {
  std::vector<double> v(e.empty() ? 0 : e[0].size(), 1.0);
  double norm = 0;
  for (int step = 0; step < 30; ++step) {
    std::vector<double> next(v.size(), 0.0);
    for (const auto& row : e) {
      double sum = 0;
      for (std::size_t j = 0; j < v.size(); ++j) sum += row[j] * v[j];
      for (std::size_t j = 0; j < v.size(); ++j) next[j] += row[j] * sum;
    }
    double before = 0, after = 0;
    for (std::size_t j = 0; j < v.size(); ++j) before += v[j] * v[j], after += next[j] * next[j];
    if (before == 0 || after == 0) return norm;
    norm = std::sqrt(std::sqrt(after / before));
    const double scale = 1 / std::sqrt(after);
    for (std::size_t j = 0; j < v.size(); ++j) v[j] = next[j] * scale;
  }
  return norm;
}

TEST(LocalPolynomials, gaussians_are_what_the_bound_says) {
  Random random(31);
  double closest = 0, longest = 0;
  for (int trial = 0; trial < 400; ++trial) {
    const Index n = random.integer(1, 120);
    const double gap = random.log_uniform(0.01, 100);
    Points points = random_points(random, n, gap);
    const Term term{Se{}, random.log_uniform(0.01, 100), gap * random.log_uniform(0.3, 300)};
    const WeightedPoints weighted{n, points.time.data(), points.weight.data(),
                                  *std::ranges::max_element(points.weight)};
    const GridDemand demand = demand_for(term, weighted, static_cast<double>(n), 1e-3);
    const GridDesign design = design_grid(demand);
    const Index columns = 8 * random.integer(1, kMostColumns / 8);
    const double target = random.log_uniform(1e-13, 1e-2),
                 half = longest_half(design, demand, columns, target);
    const double bound = polynomial_error(design, demand, columns, half).value();
    ASSERT_LE(bound, target);
    LocalPolynomials polynomials;
    polynomials.lay_out(points.time.data(), n, columns, half);
    SCOPED_TRACE(testing::Message() << "trial " << trial << ", n " << n << ", columns " << columns
                                    << ", half " << half << ", ℓ " << term.lengthscale);
    std::vector<std::vector<double>> error;
    Index covered = 0, panel = 0;
    for (const LocalPolynomials::Chunk& chunk : polynomials.chunks()) {
      ASSERT_EQ(chunk.begin, covered);
      ASSERT_EQ(chunk.panel, panel);
      ASSERT_LE(8 * chunk.panels, columns);
      if (chunk.end - chunk.begin > 8) {
        EXPECT_LE(chunk.half, half);
      }
      covered = chunk.end;
      panel += chunk.panels;
      // Every node within a window of the chunk, eight at a time.
      LocalPolynomials::Stations at;
      polynomials.stations(chunk, points.time.data(), n, at);
      const double from = points.time[static_cast<std::size_t>(chunk.begin)] - design.cut * design.spacing,
                   to = points.time[static_cast<std::size_t>(std::min(chunk.end, n) - 1)] +
                        design.cut * design.spacing;
      std::vector<std::vector<double>> own(static_cast<std::size_t>(std::min(chunk.end, n) - chunk.begin));
      for (double node = from; node <= to; node += 8 * design.spacing) {
        const auto gaussian = [&](double x, Index r) {
          const double z = (x - node - static_cast<double>(r) * design.spacing) / term.lengthscale;
          return design.amplitude * std::exp(-z * z);
        };
        alignas(64) double values[8 * kMostColumns], coefficients[8 * kMostColumns], w[64];
        for (Index k = 0; k < 8 * chunk.panels; ++k) {
          for (Index r = 0; r < 8; ++r) values[8 * k + r] = gaussian(at[static_cast<std::size_t>(k)], r);
        }
        polynomials.coefficients(chunk, values, n, coefficients);
        for (Index i = chunk.begin; i < std::min(chunk.end, n); ++i) {
          double sum[8] = {};
          for (Index a = 0; a < chunk.panels; ++a) {
            double* const out[1] = {w};
            polynomials.fill(chunk, a, 1, i / 8, points.time.data(), n, out);
            for (Index m = 0; m < 8; ++m) {
              for (Index r = 0; r < 8; ++r) sum[r] += w[8 * (i % 8) + m] * coefficients[64 * a + 8 * m + r];
            }
          }
          const auto at_point = static_cast<std::size_t>(i);
          for (Index r = 0; r < 8; ++r) {
            const double difference = sum[r] - gaussian(points.time[at_point], r);
            if (chunk.identity) {
              EXPECT_EQ(difference, 0);
            }
            own[static_cast<std::size_t>(i - chunk.begin)].push_back(points.weight[at_point] * difference);
          }
        }
      }
      const double rounding = 1e-14 * design.amplitude * weighted.largest_weight *
                              std::sqrt(static_cast<double>(own.size() * own[0].size()));
      const double found = norm(own);
      EXPECT_LE(found, bound + rounding);
      if (found > 100 * rounding) closest = std::max(closest, found / bound);
      if (!chunk.identity) longest = std::max(longest, chunk.half / term.lengthscale);
    }
    ASSERT_EQ(covered, round_up(n, 8));
    ASSERT_EQ(panel, polynomials.panels());
  }
  std::cout << "true error / bound at most " << closest << ", half-lengths up to " << longest << " ℓ\n";
  EXPECT_GT(closest, 1e-3);  // a bound that is never near would cost columns
}

}  // namespace
