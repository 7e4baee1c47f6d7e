// SPDX-License-Identifier: Apache-2.0
// The number of threads changes nothing, to the last bit.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "bandgp/fit/fit.hpp"

namespace bandgp {
namespace {

Series irregular(Index n, std::uint64_t seed) {
  std::mt19937_64 generator(seed);
  std::uniform_real_distribution<double> gap(0.2, 1.8);
  std::normal_distribution<double> normal;
  std::vector<double> time, value, variance;
  double t = 0;
  for (Index i = 0; i < n; ++i) {
    time.push_back(t += gap(generator));
    value.push_back(std::sin(0.3 * t) + 0.2 * normal(generator));
    variance.push_back(0.01 + 0.02 * gap(generator));
  }
  return make_series(time, value, variance);
}

constexpr Index kShared = 2 * kLeastShared;  // so many that both threads work

TEST(Threads, leave_likelihood_and_gradient_the_same_bit_for_bit) {
  for (const Index n : {Index{1}, Index{7}, Index{500}, kShared}) {
    const Series series = irregular(n, 3);
    const Model model{"0.7*se(lengthscale=4) + 0.1*matern12(lengthscale=0.5)", 0.02, Mean::constant};
    const EvaluationResult one = evaluate(series, model, {}, 0, 1);
    const EvaluationResult two = evaluate(series, model, {}, 0, 2);
    ASSERT_FALSE(one.failure || two.failure);
    EXPECT_EQ(one.likelihood.nll, two.likelihood.nll);
    EXPECT_EQ(one.likelihood.gradient, two.likelihood.gradient);
    EXPECT_EQ(one.likelihood.certificate.nll_error.value(), two.likelihood.certificate.nll_error.value());
  }
}

TEST(Threads, report_the_same_failing_row) {
  const Series series = irregular(kShared, 4);
  const Model model{"1*se(lengthscale=6)", 1e-4, Mean::constant};
  const Cut narrow{.rule = Cut::Rule::bandwidth, .bandwidth = 4};
  const EvaluationResult one = evaluate(series, model, narrow, 0, 1);
  const EvaluationResult two = evaluate(series, model, narrow, 0, 2);
  ASSERT_TRUE(one.failure && two.failure);
  EXPECT_EQ(one.failure->row, two.failure->row);
}

TEST(Threads, leave_training_and_prediction_the_same_bit_for_bit) {
  const auto series = std::make_shared<const Series>(irregular(kShared, 5));
  std::vector<double> grid;
  for (double t = -20; t < kShared; t += 3.7) grid.push_back(t);
  FitOptions options;
  const FitResult one = fit(series, options);
  options.threads = 2;
  const FitResult two = fit(series, options);
  EXPECT_EQ(one.nll, two.nll);
  EXPECT_EQ(to_text(one.model.kernel), to_text(two.model.kernel));
  const Prediction a = one.posterior(1)->predict(grid), b = two.posterior(2)->predict(grid);
  EXPECT_EQ(a.mean, b.mean);
  EXPECT_EQ(a.variance, b.variance);
}

}  // namespace
TEST(Threads, leave_the_dual_and_sums_the_same_bit_for_bit) {
  const Series series = irregular(kShared, 6);
  for (const char* kernel : {"1*se(lengthscale=60)", "1*se(lengthscale=80) + 0.5*matern12(lengthscale=2)",
                             "1*se(lengthscale=80) + 0.5*se(lengthscale=2)"}) {
    const Model model{kernel, 0.1, Mean::linear};
    const EvaluationResult one = evaluate(series, model, {}, 0, 1), two = evaluate(series, model, {}, 0, 2);
    ASSERT_FALSE(one.failure || two.failure);
    EXPECT_NE(one.likelihood.method, "band") << kernel;
    EXPECT_EQ(one.likelihood.nll, two.likelihood.nll);
    EXPECT_EQ(one.likelihood.gradient, two.likelihood.gradient);
  }
}

}  // namespace bandgp
