// SPDX-License-Identifier: Apache-2.0
// The dual band against the dense long double model, which knows nothing of grids: length-scales from half a
// gap to 10⁴ gaps, gaps in the data, errors of every size.  Allowed: 1e-10 of the loss, 1e-8 of the gradient
// and of the prior's scale or, where that is more, what a backward error of u ‖A‖ makes of them.
#include <gtest/gtest.h>

#include <iostream>

#include "support/analytic_gradient.hpp"
#include "support/isa.hpp"
#include "support/problems.hpp"

namespace {

using namespace bandgp;
using support::Case;
using support::Random;
using support::Real;
using support::Times;
using support::u;

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

struct Used {
  Real nll = 0, gradient = 0, mean = 0, variance = 0, loo = 0;
  int compared = 0;
  void report() const {
    std::cout << compared << " compared; used of the allowance: loss " << static_cast<double>(nll)
              << ", gradient " << static_cast<double>(gradient) << ", mean " << static_cast<double>(mean)
              << ", variance " << static_cast<double>(variance) << ", leave-one-out "
              << static_cast<double>(loo) << '\n';
  }
};

void note(Real& used, Real actual, Real expected, Real allowed) {
  used = std::max(used, std::abs(actual - expected) / allowed);
}

void expect_equal_to_dense(Case c, Used& used) {
  const dense::Problem problem = support::exact_problem(c);
  const Real condition = support::condition(dense::covariance(problem));
  if (condition > 1e12L) return;
  const auto solved = dense::solve_gls(problem);
  const Real nll = *dense::nll(problem);
  const dense::Vector gradient = support::analytic_gradient(problem, *solved);
  c.cut = dual_cut(static_cast<double>(1e-12L * std::max<Real>(1, std::abs(nll))));
  SCOPED_TRACE(testing::Message() << c);
  const Series series = support::make_series(c);
  support::for_each_isa([&] {
    ++used.compared;
    const EvaluationResult result = evaluate(series, c.model, c.cut);
    ASSERT_FALSE(result.failure);
    EXPECT_EQ(result.likelihood.method, "dual");
    const Real backward = u * condition * (static_cast<Real>(c.size()) + solved->quadratic);
    const Real allowed = std::max(1e-10L * std::max<Real>(1, std::abs(nll)), backward);
    EXPECT_CLOSE(result.likelihood.nll, nll, allowed);
    note(used.nll, result.likelihood.nll, nll, allowed);
    for (std::size_t i = 0; i < gradient.size(); ++i) {
      const Real slack = std::max(1e-8L * std::max<Real>(1, std::abs(gradient[i])), 4 * backward);
      EXPECT_CLOSE(result.likelihood.gradient[i], gradient[i], slack) << "parameter " << i;
      note(used.gradient, result.likelihood.gradient[i], gradient[i], slack);
    }
  });
}

TEST(Dual, loss_and_gradient_equal_the_dense_ones_at_every_lengthscale) {
  Random random(1);
  Used used;
  for (const double ratio : {0.5, 1.0, 3.0, 10.0, 100.0, 1e3, 1e4}) {
    for (const std::size_t n : {1U, 2U, 3U, 5U, 8U, 9U, 17U, 40U, 90U}) {
      for (int repeat = 0; repeat < (support::kSanitized ? 1 : 6); ++repeat)
        expect_equal_to_dense(random_case(random, n, ratio), used);
      if (HasFatalFailure()) return;
    }
    expect_equal_to_dense(random_case(random, support::kSanitized ? 120 : 300, ratio), used);
  }
  used.report();
}

std::vector<double> test_times(Random& random, const Case& c) {
  const auto [low, high] = std::ranges::minmax(c.time);
  const double span = high > low ? high - low : 1;
  std::vector<double> times;
  for (int i = 0; i < 12; ++i) times.push_back(random.uniform(low, high));
  for (int i = 0; i < 4; ++i) times.push_back(random.pick(c.time));
  for (const double far : {0.01, 0.3, 1.0, 10.0, 1e6}) {
    times.push_back(high + far * span);
    times.push_back(low - far * span);
  }
  const double l = c.model.kernel.terms[0].lengthscale;
  for (const double far : {1.0, 3.0, 5.0, 8.0}) times.push_back(high + far * l);
  return times;
}

TEST(Dual, predictions_and_leave_one_out_equal_the_dense_ones_inside_and_outside_the_data) {
  Random random(2);
  Used used;
  for (int trial = 0; trial < (support::kSanitized ? 30 : 200); ++trial) {
    const double ratio = random.log_uniform(0.5, 1e4);
    Case c =
        random_case(random, static_cast<std::size_t>(trial % 40 == 39 ? 200 : random.integer(3, 40)), ratio);
    const dense::Problem problem = support::exact_problem(c);
    const Real condition = support::condition(dense::covariance(problem));
    const auto solved = dense::solve_gls(problem);
    if (!solved || condition > 1e11L) continue;
    c.cut = dual_cut(1e-13);
    SCOPED_TRACE(testing::Message() << "trial " << trial << ": " << c);
    const std::vector<double> times = test_times(random, c);
    const dense::Vector xs(times.begin(), times.end());
    const dense::Prediction expected = *dense::predict(problem, xs);
    // Leaving one out must leave the mean determined.
    const auto loo = c.size() > 4 && c.size() <= 60 && std::ranges::count(c.time, c.time[1]) == 1
                         ? dense::loo(problem)
                         : std::nullopt;
    const Real prior = dense::kernel(problem, 0);
    const Real spread = std::sqrt(prior * (static_cast<Real>(c.size()) + solved->quadratic));
    support::for_each_isa([&] {
      ++used.compared;
      Posterior posterior = support::make_posterior(c);
      ASSERT_EQ(posterior.likelihood().method, "dual");
      const Prediction result = posterior.predict(times);
      const std::vector<double> covariance = posterior.covariance(times);
      for (std::size_t t = 0; t < times.size(); ++t) {
        SCOPED_TRACE(testing::Message() << "at " << times[t]);
        const Real size = std::max(prior, std::abs(expected.variance[t]));
        const Real mean_slack = std::max(1e-8L * (std::abs(expected.mean[t]) + std::sqrt(prior)),
                                         4 * u * (condition * spread + 8 * std::abs(expected.mean[t])));
        const Real slack = std::max(1e-8L, 16 * u * condition) * size;
        EXPECT_CLOSE(result.mean[t], expected.mean[t], mean_slack);
        EXPECT_CLOSE(result.variance[t], expected.variance[t], slack);
        EXPECT_GE(result.variance[t], 0);
        note(used.mean, result.mean[t], expected.mean[t], mean_slack);
        note(used.variance, result.variance[t], expected.variance[t], slack);
        for (std::size_t s = 0; s < times.size(); ++s) {
          const Real pair = std::max(1e-8L, 16 * u * condition) *
                            std::max({prior, std::abs(expected.variance[t]), std::abs(expected.variance[s])});
          EXPECT_CLOSE(covariance[s * times.size() + t], expected.covariance(s, t), pair)
              << "and " << times[s];
        }
      }
      if (!loo) return;
      const LeaveOneOut out = posterior.leave_one_out();
      for (std::size_t i = 0; i < c.size(); ++i) {
        const auto row = static_cast<std::size_t>(posterior.series().row[i]);
        const Real mean_slack = std::max(
            1e-8L * (std::abs(loo->mean[row]) + std::sqrt(prior)),
            16 * u * condition * (spread + std::abs(loo->mean[row]) + std::sqrt(loo->variance[row])));
        const Real slack = std::max(1e-8L, 64 * u * condition) * std::max(prior, loo->variance[row]);
        EXPECT_CLOSE(out.mean[i], loo->mean[row], mean_slack) << "row " << row;
        EXPECT_CLOSE(out.variance[i], loo->variance[row], slack) << "row " << row;
        note(used.loo, out.mean[i], loo->mean[row], mean_slack);
      }
    });
    if (HasFatalFailure()) return;
  }
  used.report();
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
  ASSERT_FALSE(dual.failure || band.failure);
  EXPECT_EQ(dual.likelihood.method, "dual");
  EXPECT_EQ(band.likelihood.method, "band");
  EXPECT_CLOSE(dual.likelihood.nll, band.likelihood.nll, 2e-6 + 1e-12 * std::abs(band.likelihood.nll));
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_CLOSE(dual.likelihood.gradient[i], band.likelihood.gradient[i],
                 1e-8 * (std::abs(band.likelihood.gradient[i]) + 1000));
  }
}

TEST(Dual, drawn_curves_have_the_posterior_mean_and_covariance_and_stay_what_they_are) {
  Random random(5);
  Case c;
  c.time = support::make_times(random, 40, Times::irregular, 1);
  for (std::size_t i = 20; i < 40; ++i) c.time[i] += 200;  // nodes are missing in the gap
  for (const double t : c.time) c.value.push_back(5 + 0.02 * t + std::sin(t / 4) + 0.3 * random.normal());
  c.model = {"1*se(lengthscale=6)", 0.1, Mean::linear};
  c.cut = dual_cut(1e-8);
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

}  // namespace
