// SPDX-License-Identifier: Apache-2.0
// A draw is judged by its model: with A = LLᵀ the numbers L⁻¹y are independent standard normals, so their
// squares sum to χ² and, over many seeds, any product of two values averages to its covariance.
#include "bandgp/gp/simulate.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "bandgp/fit/fit.hpp"

namespace bandgp {
namespace {

const std::vector<const char*> kKernels = {
    "2*se(lengthscale=1.5)",
    "0.5*se(lengthscale=0.05)",
    "3*se(lengthscale=40)",
    "2*matern12(lengthscale=3)",
    "2*matern32(lengthscale=3)",
    "2*matern52(lengthscale=3)",
    "1*matern52(lengthscale=300)",
    "2*wendland2(lengthscale=5)",
    "2*wendland4(lengthscale=5)",
    "2*se(lengthscale=3)*cos(period=1.7)",
    "2*se(lengthscale=6)*periodic(period=3, smoothness=0.8)",
    "2*matern32(lengthscale=3)*cos(period=2)",
    "2*matern12(lengthscale=3)*periodic(period=2, smoothness=1.5)",
    "2*sho(period=4, quality=6)",
    "1*sho(period=4, quality=0.5) + 1*sho(period=30, quality=0.3)",
    "1*se(lengthscale=6) + 0.5*matern32(lengthscale=1) + 0.3*wendland2(lengthscale=2)"};

/// Close together, far apart, very far apart.
std::vector<double> awkward_times() { return {10, 10.001, 10.5, 11, 12.25, 12.5, 16, 19, 19.75, 400}; }

/// Lower Cholesky factor of the model's covariance, by three loops.
std::vector<double> cholesky(const Kernel& kernel, double noise, const std::vector<double>& t) {
  const std::size_t n = t.size();
  std::vector<double> l(n * n);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      double s = kernel(t[i] - t[j]) + (i == j ? noise : 0);
      for (std::size_t k = 0; k < j; ++k) s -= l[i * n + k] * l[j * n + k];
      l[i * n + j] = i == j ? std::sqrt(s) : s / l[j * n + j];
    }
  }
  return l;
}

std::vector<double> whitened(const std::vector<double>& l, std::vector<double> y) {
  const std::size_t n = y.size();
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t k = 0; k < i; ++k) y[i] -= l[i * n + k] * y[k];
    y[i] /= l[i * n + i];
  }
  return y;
}

TEST(Simulate, whitened_draws_are_independent_standard_normals) {
  constexpr int kSeeds = 20000;
  for (const char* text : kKernels) {
    const Kernel kernel = text;
    const std::vector<double> t = awkward_times();
    const std::size_t n = t.size();
    constexpr double kNoise = 1e-4;  // small: it must not hide the kernel
    const std::vector<double> l = cholesky(kernel, kNoise, t);
    std::vector<double> product(n * n), mean(n);
    double fourth = 0;
    for (int seed = 0; seed < kSeeds; ++seed) {
      const std::vector<double> z =
          whitened(l, simulate(kernel, kNoise, t, static_cast<std::uint64_t>(seed)));
      for (std::size_t i = 0; i < n; ++i) {
        mean[i] += z[i] / kSeeds;
        fourth += std::pow(z[i], 4) / (kSeeds * static_cast<double>(n));
        for (std::size_t j = 0; j <= i; ++j) product[i * n + j] += z[i] * z[j] / kSeeds;
      }
    }
    // Standard deviations: 1/√N of a mean and of a product, √(2/N) of a square, √(96/Nn) of a fourth power;
    // five of them for some hundred comparisons.
    const double one = 1 / std::sqrt(kSeeds);
    for (std::size_t i = 0; i < n; ++i) {
      EXPECT_NEAR(mean[i], 0, 5 * one) << text << " " << i;
      for (std::size_t j = 0; j < i; ++j) EXPECT_NEAR(product[i * n + j], 0, 5 * one) << text << i << j;
      EXPECT_NEAR(product[i * n + i], 1, 5 * std::sqrt(2.0) * one) << text << " " << i;
    }
    EXPECT_NEAR(fourth, 3, 5 * std::sqrt(96.0 / (kSeeds * static_cast<double>(n)))) << text;
  }
}

TEST(Simulate, long_draws_have_the_expected_loss) {
  // At the truth the loss is ½χ²_n + ½ log|A| + …: yᵀA⁻¹y is n ± √(2n).
  constexpr Index kPoints = 20000;
  for (const char* text : {"2*se(lengthscale=0.3)", "2*se(lengthscale=20)", "1*se(lengthscale=3000)",
                           "2*matern12(lengthscale=2)", "2*matern32(lengthscale=2)",
                           "2*matern52(lengthscale=4)", "2*wendland4(lengthscale=9)"}) {
    const Kernel kernel = text;
    double total = 0;
    for (std::uint64_t seed = 0; seed < 4; ++seed) {
      const std::vector<double> t = simulate_times(kPoints, 1, 1749, seed % 2 == 1, seed);
      const std::vector<double> y = simulate(kernel, 0.01, t, seed);
      const Series series = make_series(t, y, {}, {.center = false});
      Evaluator evaluator(series, Mean::zero, std::make_unique<AutoRepresentation>(InternalCut{}, 0, 1));
      Likelihood likelihood;
      ASSERT_FALSE(
          evaluator.evaluate(to_internal({kernel, 0.01, Mean::zero}, series.units), false, likelihood));
      total += likelihood.q;
    }
    EXPECT_NEAR(total, 4.0 * kPoints, 5 * std::sqrt(2 * 4.0 * kPoints)) << text;
  }
}

TEST(Simulate, a_fit_finds_the_parameters_again) {
  const std::vector<double> t = simulate_times(20000, 0.5, 0, true, 3);
  const Table table{t, simulate("4*se(lengthscale=7)", 0.25, t, 3), {}, "", "", 0};
  FitOptions options;
  options.mean = Mean::zero;
  const FitResult result = fit(table, options);
  ASSERT_EQ(result.status, FitStatus::converged);
  EXPECT_NEAR(result.model.kernel.terms[0].variance, 4, 5 * result.standard_errors[0]);
  EXPECT_NEAR(result.model.kernel.terms[0].lengthscale, 7, 5 * result.standard_errors[1]);
  EXPECT_NEAR(result.model.noise, 0.25, 5 * result.standard_errors[2]);
}

TEST(Simulate, depends_on_the_seed_alone) {
  const std::vector<double> t = {3, 1, 2, 2, 8};
  for (const char* text : kKernels) {
    const Kernel kernel = text;
    const std::vector<double> y = simulate(kernel, 0, t, 5), again = simulate(kernel, 0, t, 5);
    EXPECT_EQ(y, again);
    EXPECT_NE(y, simulate(kernel, 0, t, 6));
    EXPECT_EQ(y[2], y[3]) << "equal times are one point of the curve";
    const std::vector<double> sorted = simulate(kernel, 0, std::vector<double>{1, 2, 2, 3, 8}, 5);
    EXPECT_EQ(y, (std::vector<double>{sorted[3], sorted[0], sorted[1], sorted[2], sorted[4]}));
    const std::vector<double> noisy = simulate(kernel, 0.5, t, 5);
    EXPECT_NE(noisy[2], noisy[3]) << "but two observations";
  }
}

TEST(Simulate, terms_and_seeds_do_not_share_numbers) {
  // Two equal terms of one sum must not be one term counted twice, nor one seed's term another seed's.
  const std::vector<double> t = simulate_times(4000, 50, 0, false, 0);  // far apart: independent values
  const auto sum = simulate("1*se(lengthscale=1) + 1*se(lengthscale=1)", 0, t, 1);
  double square = 0;
  for (const double y : sum) square += y * y / static_cast<double>(t.size());
  EXPECT_NEAR(square, 2, 5 * 2 * std::sqrt(2.0 / static_cast<double>(t.size())));
  for (std::uint64_t a = 0; a < 20; ++a) {
    const auto x = simulate("1*se(lengthscale=1)", 0, t, a), y = simulate("1*se(lengthscale=1)", 0, t, a + 1);
    double product = 0;
    for (std::size_t i = 0; i < t.size(); ++i) product += x[i] * y[i];
    EXPECT_LT(std::abs(product), 5 * std::sqrt(static_cast<double>(t.size())));
  }
}

TEST(Simulate, times) {
  EXPECT_EQ(simulate_times(4, 0.5, 10, false, 0), (std::vector<double>{10, 10.5, 11, 11.5}));
  const auto t = simulate_times(100000, 2, 0, true, 9);
  double low = 1e9, high = 0;
  for (std::size_t i = 1; i < t.size(); ++i) {
    low = std::min(low, t[i] - t[i - 1]);
    high = std::max(high, t[i] - t[i - 1]);
  }
  EXPECT_GE(low, 0.2 - 1e-9);
  EXPECT_LE(high, 3.8 + 1e-9);
  EXPECT_NEAR(t.back() / static_cast<double>(t.size() - 1), 2, 5 * 2 * 1.8 / std::sqrt(12.0 * 1e5));
  EXPECT_TRUE(simulate("1*se(lengthscale=1)", 0, {}, 1).empty());
}

TEST(Simulate, refuses_what_has_no_meaning) {
  const std::vector<double> t = {0, 1};
  EXPECT_THROW(simulate("se", 0, t, 1), std::invalid_argument);
  EXPECT_THROW(simulate("1*se(lengthscale=1)", -1, t, 1), std::invalid_argument);
  EXPECT_THROW(simulate("1*se(lengthscale=1)", 0, std::vector<double>{0, NAN}, 1), std::invalid_argument);
  const std::vector<double> dense = simulate_times(3000, 1, 0, false, 0);
  EXPECT_THROW(simulate("1*wendland2(lengthscale=1000)", 0.1, dense, 1, 1e6), std::runtime_error);
}

}  // namespace
}  // namespace bandgp
