// SPDX-License-Identifier: Apache-2.0
// What is read off residuals: how much rounding costs, and whether the model holds.
#include <gtest/gtest.h>

#include "bandgp/gp/simulate.hpp"
#include "support/simulate.hpp"
#include "support/truth.hpp"

namespace {

using namespace bandgp;
using support::Case;
using support::Random;
using support::Real;
using support::Times;

struct Form {
  const char *kernel, *name;
  Method method;
};
constexpr Form kForms[] = {
    {"1*se(lengthscale=10)", "band", Method::band},
    {"1*se(lengthscale=10)", "dual", Method::dual},
    {"1*se(lengthscale=10) + 0.1*se(lengthscale=3)", "elements", Method::dual},
    {"1*se(lengthscale=30) + 0.1*matern12(lengthscale=0.7)", "elements", Method::automatic},
};

/// The estimate must not be far below the truth: ten times it, with the certificate, covers the error at
/// every noise; and where the truth says that rounding is the limit, so must the estimate.
TEST(Residual, rounding_is_told_when_it_is_the_limit) {
  Random random(3);
  int told = 0;
  for (const Form& form : kForms) {
    Case c;
    c.time = support::make_times(random, 200, Times::irregular, 1);
    for (const double t : c.time) c.value.push_back(std::sin(t / 7) + 0.3 * std::cos(t / 3));
    for (const double noise : {1e-2, 1e-4, 1e-6, 1e-8, 1e-10, 1e-12}) {
      c.model = {form.kernel, noise, noise == 1e-6 ? Mean::linear : Mean::zero};
      c.cut = {.method = form.method, .tolerance = 1e-4};
      const EvaluationResult result = evaluate(support::make_series(c), c.model, c.cut);
      if (result.failure) continue;
      SCOPED_TRACE(testing::Message() << c << ' ' << result.likelihood.method);
      if (noise == 1e-2) {
        EXPECT_EQ(result.likelihood.method, form.name);
      }
      const Real exact = *dense::nll(support::exact_problem(c));
      const auto error = static_cast<double>(std::abs(result.likelihood.nll - exact));
      const double cut = result.likelihood.certificate.nll_error.value();
      EXPECT_LE(error, cut + 10 * result.rounding + 1e-13 * std::abs(result.likelihood.nll));
      EXPECT_LE(result.rounding, cut + 1e-13 / noise + 1e-10);  // and it is no idle warning
      if (error > 10 * cut + 1e-9) {
        EXPECT_GT(result.rounding, cut);
        ++told;
      }
    }
  }
  EXPECT_GE(told, 6);
}

/// White where the model holds: mean square 1, no correlation with what follows.
TEST(Residual, whitened_residuals_are_white_in_every_representation) {
  struct Drawn {
    const char *kernel, *name;
    Method method;
    double lengthscales[2], variances[2];
  };
  const Drawn cases[] = {
      {"1*se(lengthscale=4)", "band", Method::band, {4, 0}, {1, 0}},
      {"1*se(lengthscale=4)", "dual", Method::dual, {4, 0}, {1, 0}},
      {"1*se(lengthscale=3) + 2*se(lengthscale=40)", "elements", Method::dual, {3, 40}, {1, 2}},
      {"1*se(lengthscale=2) + 2*se(lengthscale=200)", "elements", Method::automatic, {2, 200}, {1, 2}},
      {"1*se(lengthscale=40) + 1*matern32(lengthscale=200)", "elements", Method::automatic, {0, 0}, {0, 0}},
  };
  constexpr std::size_t n = 8000;
  constexpr double kNoise = 0.05;
  Random random(8);
  for (const Drawn& drawn : cases) {
    Case c;
    c.time = support::gaps_of_one(random, n, false);
    c.value.assign(n, 3.0);
    for (int t = 0; t < 2 && drawn.variances[t] > 0; ++t) {
      const auto part = support::draw_se(random, c.time, drawn.variances[t], drawn.lengthscales[t]);
      for (std::size_t i = 0; i < n; ++i) c.value[i] += part[i];
    }
    if (drawn.variances[0] == 0) {
      const auto curve = simulate(drawn.kernel, 0, c.time, 11);
      for (std::size_t i = 0; i < n; ++i) c.value[i] += curve[i];
    }
    support::add_noise(random, c.value, kNoise);
    c.model = {drawn.kernel, kNoise, Mean::constant};
    c.cut = {.method = drawn.method, .tolerance = 0.01};
    Posterior posterior = support::make_posterior(c);
    EXPECT_EQ(posterior.likelihood().method, drawn.name);
    const std::vector<double> before = posterior.predict(std::vector{c.time[5], c.time[77]}).mean;
    const std::vector<double> z = posterior.whitened_residuals(5);
    ASSERT_EQ(z.size(), n);
    const double spread = 4.5 / std::sqrt(static_cast<double>(n));
    for (const std::size_t lag : std::vector<std::size_t>{0, 1, 2, 3, 5, 40}) {
      double sum = 0;
      for (std::size_t i = lag; i < n; ++i) sum += z[i] * z[i - lag];
      EXPECT_NEAR(sum / static_cast<double>(n - lag), lag == 0 ? 1 : 0,
                  lag == 0 ? std::sqrt(2.0) * spread : spread)
          << drawn.kernel << ' ' << drawn.name << " lag " << lag;
    }
    EXPECT_EQ(posterior.whitened_residuals(5), z);
    EXPECT_EQ(posterior.predict(std::vector{c.time[5], c.time[77]}).mean, before);  // and it still predicts
  }
}

/// In a band they are L⁻¹(y − Hβ) of the dense model.
TEST(Residual, of_a_full_band_are_the_dense_ones) {
  Random random(2);
  Case c;
  c.time = support::make_times(random, 60, Times::irregular, 1);
  c.value = random.normals(60);
  c.model = {"1*matern32(lengthscale=9)", 0.1, Mean::zero};
  c.cut = {.method = Method::band, .rule = Cut::Rule::bandwidth, .bandwidth = 59};
  const std::vector<double> z = support::make_posterior(c).whitened_residuals();
  const dense::Matrix l = *dense::cholesky(dense::covariance(support::exact_problem(c)));
  for (std::size_t i = 0; i < 60; ++i) {
    Real y = 0;
    for (std::size_t j = 0; j <= i; ++j) y += l(i, j) * z[j];
    EXPECT_NEAR(static_cast<double>(y), c.value[i], 1e-12);
  }
}

}  // namespace
