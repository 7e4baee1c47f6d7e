// SPDX-License-Identifier: Apache-2.0
// Scores from their definitions, and the paper's central claim on a small scale: the certified band predicts
// as the exact GP does, at less cost, and better than FITC and VFE of comparable order.
#include "bandgp/fit/cross_validate.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "support/close.hpp"
#include "support/dense_gp.hpp"
#include "support/simulate.hpp"

namespace {

using namespace bandgp;
using support::Random;

TEST(Scores, are_their_definitions) {
  Random random(1);
  const std::size_t n = 12;
  const std::vector<double> truth = random.normals(n), mean = random.normals(n);
  dense::Matrix c(n, n);
  std::vector<double> covariance(n * n), variance(n);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      c(i, j) = std::exp(-0.5L * static_cast<long double>((i - j) * (i - j))) * (i == j ? 1.7L : 1.0L);
      covariance[i * n + j] = static_cast<double>(c(i, j));
    }
    variance[i] = covariance[i * (n + 1)];
  }
  const Scores scores = score(truth, mean, variance, covariance);
  const dense::Matrix l = *dense::cholesky(c);
  dense::Vector r(n);
  double square = 0, spread = 0, average = 0, marginal = 0, crps = 0;
  for (const double y : truth) average += y / n;
  long double log_determinant = 0;
  for (std::size_t i = 0; i < n; ++i) {
    r[i] = truth[i] - mean[i];
    square += std::pow(truth[i] - mean[i], 2);
    spread += std::pow(truth[i] - average, 2);
    log_determinant += 2 * std::log(l(i, i));
    marginal +=
        0.5 * (std::log(2 * std::numbers::pi * variance[i]) + std::pow(truth[i] - mean[i], 2) / variance[i]) /
        n;
    const double h = 1e-3, s = std::sqrt(variance[i]);  // ∫(F − 1{y ≤ x})² dx by the midpoint rule
    for (double x = mean[i] - 12 * s; x < mean[i] + 12 * s; x += h) {
      const double f = 0.5 * std::erfc((mean[i] - x - h / 2) / (s * std::numbers::sqrt2));
      crps += h * std::pow(f - (truth[i] <= x + h / 2 ? 1 : 0), 2) / n;
    }
  }
  EXPECT_NEAR(scores.nmse, square / spread, 1e-12);
  EXPECT_NEAR(scores.nlpd_marginal, marginal, 1e-12);
  EXPECT_NEAR(scores.nlpd_joint,
              static_cast<double>((dense::dot(r, dense::solve(l, r)) + log_determinant +
                                   n * std::log(2 * std::numbers::pi_v<long double>)) /
                                  2),
              1e-10);
  EXPECT_NEAR(scores.crps, crps, 1e-4);
  EXPECT_TRUE(std::isnan(score(truth, mean, variance, {}).nlpd_joint));
}

struct Average {
  double nmse = 0, nlpd = 0;
};

Average validate(const Table& table, const Cut& cut) {
  FitOptions options;
  options.cut = cut;
  options.standard_errors = false;
  Average mean;
  for (const FoldResult& fold : cross_validate(table, options, {.folds = 3})) {
    EXPECT_EQ(fold.failure, "");
    mean.nmse += fold.scores.nmse / 3;
    mean.nlpd += fold.scores.nlpd_joint / 3;
  }
  return mean;
}

TEST(CrossValidation, bears_out_the_papers_claims_on_a_small_scale) {
  Random random(5);
  Table table;
  table.time = support::gaps_of_one(random, 900, false);
  table.value = support::draw_se(random, table.time, 1, 4);
  support::add_noise(random, table.value, 0.05);
  const Average exact = validate(table, {.method = Method::exact});
  for (const Method method : {Method::band, Method::dual, Method::automatic}) {
    const Average certified = validate(table, {.method = method});
    EXPECT_NEAR(certified.nmse, exact.nmse, 1e-3 * exact.nmse) << method_name(method);
    EXPECT_NEAR(certified.nlpd, exact.nlpd, 1e-3 * std::abs(exact.nlpd)) << method_name(method);
    // What it costs is measured by ./dev bench (train), not here.
  }
  for (const Method method : {Method::fitc, Method::vfe}) {
    const Average sparse =
        validate(table, {.method = method, .inducing = 30});  // the band keeps about 30 a side
    EXPECT_GT(sparse.nmse, 1.1 * exact.nmse) << method_name(method);
    EXPECT_GT(sparse.nlpd, exact.nlpd + 10) << method_name(method);
  }
}

TEST(CrossValidation, tells_failures_with_their_reason) {
  Random random(6);
  Table table;
  table.time = support::gaps_of_one(random, 300, true);
  table.value = support::draw_se(random, table.time, 1, 20);
  table.value[7] = kUnset;
  FitOptions options;
  options.cut = {.method = Method::band, .rule = Cut::Rule::bandwidth, .bandwidth = 2};
  options.fix = {{"variance", 1}, {"lengthscale", 20}, {"noise", 1e-4}};
  for (const FoldResult& fold : cross_validate(table, options, {.folds = 2})) {
    EXPECT_NE(fold.failure, "");
    EXPECT_TRUE(std::isnan(fold.scores.nmse));
  }
  EXPECT_EQ(complete_rows(table).time.size(), 299U);
}

}  // namespace
