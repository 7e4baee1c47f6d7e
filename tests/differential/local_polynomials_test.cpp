// SPDX-License-Identifier: Apache-2.0
// Gaussians through polynomials on chunks of points, against the Gaussians themselves: the bound holds and is
// used well.
#include "bandgp/basis/local_polynomials.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <numbers>

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

/// Weights (points, stations) that interpolate at Chebyshev's nodes of [middle − half, middle + half].
std::vector<std::vector<long double>> interpolation(const std::vector<long double>& station,
                                                    long double middle, long double half,
                                                    const std::vector<double>& at) {
  const auto q = static_cast<long double>(station.size());
  std::vector<std::vector<long double>> weights;
  for (const double x : at) {
    const long double angle = std::acos(std::clamp((x - middle) / half, -1.0L, 1.0L));
    std::vector<long double>& row = weights.emplace_back();
    for (const long double to : station) {
      long double sum = 1;
      for (std::size_t m = 1; m < station.size(); ++m)
        sum += 2 * std::cos(static_cast<long double>(m) * to) * std::cos(static_cast<long double>(m) * angle);
      row.push_back(sum / q);
    }
  }
  return weights;
}

TEST(LocalPolynomials, gaussians_are_what_the_bound_says) {
  Random random(31);
  double closest = 0;
  int seen = 0;
  for (int trial = 0; trial < 150; ++trial) {
    const Index n = random.integer(1, 60);
    const double gap = random.log_uniform(0.01, 100);
    const Points points = random_points(random, n, gap);
    const Term term{Se{}, random.log_uniform(0.01, 100), gap * random.log_uniform(0.3, 300)};
    const WeightedPoints weighted{n, points.time.data(), points.weight.data(),
                                  *std::ranges::max_element(points.weight)};
    const GridDemand demand = demand_for(term, weighted, static_cast<double>(n), 1e-3);
    const GridDesign design = design_grid(demand);
    const Index columns = random.integer(4, 28);
    const double half = term.lengthscale * random.log_uniform(0.1, 2),
                 bound = polynomial_error(design, demand, columns, half).value();
    SCOPED_TRACE(testing::Message() << "trial " << trial << ", n " << n << ", columns " << columns
                                    << ", half " << half << ", ℓ " << term.lengthscale);
    for (Index begin = 0; begin < n;) {
      const double from = points.time[static_cast<std::size_t>(begin)];
      std::vector<double> at;
      Index end = begin;
      for (; end < n && points.time[static_cast<std::size_t>(end)] <= from + 2 * half; ++end)
        at.push_back(points.time[static_cast<std::size_t>(end)]);
      std::vector<long double> station;
      for (Index k = 0; k < columns; ++k)
        station.push_back(std::numbers::pi_v<long double> * (static_cast<long double>(k) + 0.5L) /
                          static_cast<long double>(columns));
      const long double middle = static_cast<long double>(from) + half;
      const auto weights = interpolation(station, middle, half, at);
      const double reach = design.cut * design.spacing;
      std::vector<std::vector<double>> own(at.size());
      for (double node = std::ceil((from - reach) / design.spacing) * design.spacing;
           node <= at.back() + reach; node += design.spacing) {
        const auto gaussian = [&](long double x) {
          const long double z = (x - node) / term.lengthscale;
          return design.amplitude * std::exp(-z * z);
        };
        std::vector<long double> values;
        for (const long double angle : station) values.push_back(gaussian(middle + half * std::cos(angle)));
        for (std::size_t i = 0; i < at.size(); ++i) {
          long double error = -gaussian(at[i]);
          for (std::size_t k = 0; k < values.size(); ++k) error += weights[i][k] * values[k];
          own[i].push_back(static_cast<double>(points.weight[static_cast<std::size_t>(begin) + i] * error));
        }
      }
      const double found = norm(own);
      const double rounding = (1e-17 + 1e-19 * std::abs(from) / term.lengthscale) * design.amplitude *
                              weighted.largest_weight *
                              std::sqrt(static_cast<double>(own.size() * own[0].size()));
      EXPECT_LE(found, bound + rounding);
      ++seen;
      if (found > 100 * rounding) closest = std::max(closest, found / bound);
      begin = end;
    }
  }
  std::cout << seen << " chunks, true error / bound at most " << closest << '\n';
  EXPECT_GT(seen, 300);
  EXPECT_GT(closest, 1e-3);  // a bound that is never near would cost columns
}

}  // namespace
