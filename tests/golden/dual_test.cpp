// SPDX-License-Identifier: Apache-2.0
// The dual band against the dense long double model, which knows nothing of grids: length-scales from half a
// gap to 10⁴ gaps, gaps in the data, errors of every size.  Allowed: 1e-10 of the loss, 1e-8 of the gradient
// and of the prior's scale or, where that is more, what a backward error of u ‖A‖ makes of them.
#include <gtest/gtest.h>

#include "support/isa.hpp"
#include "support/truth.hpp"

namespace {

using namespace bandgp;
using support::Case;
using support::Random;
using support::Real;
using support::Times;
using support::Truth;
using support::Used;

Cut dual_cut(double tolerance) { return {.method = Method::dual, .tolerance = tolerance}; }

/// One SE term, `ratio` mean gaps long; a long gap now and then, equal times, errors of the points.
Case random_case(Random& random, std::size_t n, double ratio) {
  const double gap = random.log_uniform(0.01, 100);
  Case c;
  c.time = support::make_times(random, n, static_cast<Times>(random.integer(0, 2)), gap);
  if (n > 5 && random.chance(0.3)) {
    const double jump = gap * ratio * random.log_uniform(1, 1e3);
    for (std::size_t i = n / 2; i < n; ++i) c.time[i] += jump;
  }
  if (n > 4 && random.chance(0.3)) c.time[3] = c.time[2] = c.time[1];
  c.value = random.normals(n);
  c.model.kernel.terms = {{Se{}, random.log_uniform(0.1, 10), gap * ratio}};
  c.model.noise = random.log_uniform(1e-4, 1);
  if (random.chance(0.5)) {
    if (random.chance(0.3)) c.model.noise = 0;
    for (std::size_t i = 0; i < n; ++i) c.variance.push_back(random.log_uniform(1e-3, 10));
  }
  c.model.mean = static_cast<Mean>(random.integer(0, n > 4 ? 2 : 1));
  return c;
}

void expect_equal_to_dense(Case c, Used& used) {
  const Truth truth(c);
  if (!truth.usable()) return;
  c.cut = dual_cut(static_cast<double>(1e-12L * std::max<Real>(1, std::abs(*dense::nll(truth.problem)))));
  SCOPED_TRACE(testing::Message() << c);
  const Series series = support::make_series(c);
  support::for_each_isa([&] {
    ++used.compared;
    const EvaluationResult result = evaluate(series, c.model, c.cut);
    ASSERT_FALSE(result.failure);
    EXPECT_EQ(result.likelihood.method, "dual");
    support::expect_likelihood(result.likelihood.nll, result.likelihood.gradient, truth, used);
  });
}

TEST(Dual, loss_and_gradient_equal_the_dense_ones_at_every_lengthscale) {
  Random random(1);
  Used used;
  const int repeats = support::kSanitized ? 1 : support::short_effort() ? 2 : 6;
  for (const double ratio : {0.5, 1.0, 3.0, 10.0, 100.0, 1e3, 1e4}) {
    for (const std::size_t n : {1U, 2U, 3U, 5U, 8U, 9U, 17U, 40U, 90U}) {
      for (int repeat = 0; repeat < repeats; ++repeat)
        expect_equal_to_dense(random_case(random, n, ratio), used);
      if (HasFatalFailure()) return;
    }
    expect_equal_to_dense(random_case(random, support::kSanitized ? 120 : 300, ratio), used);
  }
  used.report(7 * (9 * repeats + 1));
}

TEST(Dual, predictions_and_leave_one_out_equal_the_dense_ones_inside_and_outside_the_data) {
  Random random(2);
  Used used;
  const int trials = support::trials(30, 200);
  for (int trial = 0; trial < trials; ++trial) {
    const double ratio = random.log_uniform(0.5, 1e4);
    Case c =
        random_case(random, static_cast<std::size_t>(trial % 40 == 39 ? 200 : random.integer(3, 40)), ratio);
    c.cut = dual_cut(1e-13);
    const Truth truth(c);
    if (!truth.usable() || truth.condition > 1e11L) continue;
    SCOPED_TRACE(testing::Message() << "trial " << trial << ": " << c);
    std::vector<double> times = support::test_times(random, c);
    for (const double far : {1.0, 3.0, 5.0, 8.0})  // where windows leave the data
      times.push_back(std::ranges::max(c.time) + far * c.model.kernel.terms[0].lengthscale);
    const dense::Prediction expected =
        *dense::predict(truth.problem, dense::Vector(times.begin(), times.end()));
    // Leaving one out must leave the mean determined.
    const auto loo = c.size() > 4 && c.size() <= 60 && std::ranges::count(c.time, c.time[1]) == 1
                         ? dense::loo(truth.problem)
                         : std::nullopt;
    support::for_each_isa([&] {
      ++used.compared;
      Posterior posterior = support::make_posterior(c);
      ASSERT_EQ(posterior.likelihood().method, "dual");
      support::expect_posterior(posterior, truth, times, expected, loo, used);
    });
    if (HasFatalFailure()) return;
  }
  used.report(trials);
}

TEST(Dual, a_variance_far_below_the_signal_keeps_its_digits) {
  // Noise 1e-10 of the signal: k(0) − k*ᵀA⁻¹k* would have no digit left of a variance of 1e-11.
  Random random(3);
  Case c;
  c.time = support::make_times(random, 60, Times::irregular, 1);
  for (const double t : c.time) c.value.push_back(std::sin(t / 5) + 1e-5 * random.normal());
  c.model = {"1*se(lengthscale=12)", 1e-10, Mean::zero};
  c.cut = dual_cut(1e-6);
  std::vector<double> times;
  for (std::size_t i = 5; i < 55; ++i) times.push_back(0.5 * (c.time[i] + c.time[i + 1]));
  const dense::Prediction expected =
      *dense::predict(support::exact_problem(c), dense::Vector(times.begin(), times.end()));
  support::for_each_isa([&] {
    const Prediction result = support::make_posterior(c).predict(times);
    for (std::size_t t = 0; t < times.size(); ++t) {
      EXPECT_LT(expected.variance[t], 1e-9L);
      EXPECT_CLOSE(result.variance[t], expected.variance[t], 1e-4L * expected.variance[t]);
      EXPECT_CLOSE(result.mean[t], expected.mean[t], 1e-7L);
    }
  });
}

TEST(Dual, equals_the_band_on_a_hundred_thousand_points) {
  Random random(4);
  const std::size_t n = support::kSanitized ? 5000 : 100000;
  Case c;
  c.time = support::make_times(random, n, Times::irregular, 1);
  for (std::size_t i = n / 3; i < n; ++i) c.time[i] += 1000;
  for (const double t : c.time) c.value.push_back(std::sin(t / 7) + 0.3 * random.normal());
  for (std::size_t i = 0; i < n; ++i) c.variance.push_back(random.log_uniform(0.01, 0.1));
  c.model = {"1*se(lengthscale=4)", 0.02, Mean::linear};
  const Series series = support::make_series(c);
  const EvaluationResult dual = evaluate(series, c.model, dual_cut(1e-6));
  const EvaluationResult band = evaluate(series, c.model, {.method = Method::band, .tolerance = 1e-6});
  support::expect_same_likelihood(dual, band, 1e-6);
  EXPECT_EQ(dual.likelihood.method, "dual");
  EXPECT_EQ(band.likelihood.method, "band");
}

void expect_faithful_draws(const char* kernel, const Cut& cut) {
  SCOPED_TRACE(kernel);
  Random random(5);
  Case c;
  c.time = support::make_times(random, 40, Times::irregular, 1);
  for (std::size_t i = 20; i < 40; ++i) c.time[i] += 200;  // nodes are missing in the gap
  for (const double t : c.time) c.value.push_back(5 + 0.02 * t + std::sin(t / 4) + 0.3 * random.normal());
  c.model = {kernel, 0.1, Mean::linear};
  c.cut = cut;
  Posterior posterior = support::make_posterior(c);
  const std::vector<double> times = {c.time[3], 25.3, 21.0, 120.0, 121.5, 230.0, 300.0, -40.0};
  const std::vector<double> mean = posterior.predict(times).mean, covariance = posterior.covariance(times);
  const Index draws = 4000;
  const std::vector<PosteriorFunction> curves = posterior.functions(draws, 7);
  std::vector<double> sum(times.size()), product(times.size() * times.size());
  for (const PosteriorFunction& f : curves) {
    const std::vector<double> values = f(times);
    for (std::size_t s = 0; s < times.size(); ++s) {
      sum[s] += values[s] - mean[s];
      for (std::size_t t = 0; t < times.size(); ++t)
        product[s * times.size() + t] += (values[s] - mean[s]) * (values[t] - mean[t]);
    }
    EXPECT_EQ(f(std::vector<double>{times[4]})[0], values[4]);  // alone or among others
  }
  for (std::size_t s = 0; s < times.size(); ++s) {
    const double deviation = std::sqrt(covariance[s * times.size() + s]);
    EXPECT_CLOSE(sum[s] / draws, 0, 4.5 * deviation / std::sqrt(draws)) << times[s];
    for (std::size_t t = 0; t < times.size(); ++t) {
      const double other = std::sqrt(covariance[t * times.size() + t]);
      EXPECT_CLOSE(product[s * times.size() + t] / draws, covariance[s * times.size() + t],
                   4.5 * std::sqrt(2.0 / draws) * deviation * other);
    }
  }
  EXPECT_EQ(posterior.functions(2, 7)[1](times), curves[1](times));
  EXPECT_NE(posterior.functions(2, 8)[1](times), curves[1](times));
}

TEST(Dual, drawn_curves_have_the_posterior_mean_and_covariance_and_stay_what_they_are) {
  expect_faithful_draws("1*se(lengthscale=6)", dual_cut(1e-8));
  expect_faithful_draws("0.7*se(lengthscale=6) + 0.5*se(lengthscale=1.5)", dual_cut(1e-8));
  expect_faithful_draws("0.7*se(lengthscale=6) + 0.5*se(lengthscale=1.5)",
                        {.method = Method::band, .tolerance = 1e-8});
}

}  // namespace
