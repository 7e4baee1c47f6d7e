// SPDX-License-Identifier: Apache-2.0
// Prediction, covariance, samples and leave-one-out against the dense long double model cut in the same way.
// Errors are allowed to be 1e-8 of the prior's scale or, where that is more, what a backward error of u ‖A‖
// makes of them: u κ √(k(0) (n + q)) for a mean, u κ k(0) for a variance.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <iostream>

#include "bandgp/io/csv.hpp"
#include "bandgp/methods/make_representation.hpp"
#include "support/isa.hpp"
#include "support/truth.hpp"

namespace {

using namespace bandgp;
using support::Case;
using support::Random;
using support::Real;
using support::test_times;
using support::Times;
using support::Truth;
using support::u;

/// Nothing of the cross-covariances is left out that double would notice.
constexpr double kTiny = 1e-13;
Cut index_cut(Index k) { return {.rule = Cut::Rule::bandwidth, .bandwidth = k, .tolerance = kTiny}; }
Cut reach_cut(double reach) { return {.rule = Cut::Rule::reach, .reach = reach, .tolerance = kTiny}; }

constexpr Mean kMeans[] = {Mean::zero, Mean::constant, Mean::linear};

Case random_case(Random& random, std::size_t n) {
  const double gap = random.log_uniform(0.1, 10);
  Case c;
  c.time = support::make_times(random, n, static_cast<Times>(random.integer(0, 2)), gap);
  if (n > 4 && random.chance(0.3)) c.time[3] = c.time[2] = c.time[1];
  const double offset = random.chance(0.5) ? 0 : 100;
  for (std::size_t i = 0; i < n; ++i) c.value.push_back(offset + random.normal());
  c.model.kernel = support::make_kernel(random, 3, gap);
  c.model.noise = random.log_uniform(1e-3, 1);
  c.model.mean = kMeans[random.integer(0, n < 4 ? 1 : 2)];
  const bool known = random.chance(0.5);
  for (std::size_t i = 0; known && i < n; ++i) c.variance.push_back(random.log_uniform(1e-3, 1));
  const int kind = static_cast<int>(random.integer(0, 3));
  const auto last = static_cast<Index>(n) - 1;
  c.cut = kind == 0   ? index_cut(random.integer(0, std::max<Index>(0, last)))
          : kind == 1 ? reach_cut(gap * random.uniform(1.2, 20))
                      : index_cut(last + random.integer(0, 5));
  return c;
}

dense::Vector widened(const std::vector<double>& x) { return {x.begin(), x.end()}; }

TEST(PosteriorGolden, mean_and_variance_equal_the_dense_ones_inside_and_outside_the_data) {
  Random random(1);
  int compared = 0;
  const int trials = support::trials(60, 300);
  for (int trial = 0; trial < trials; ++trial) {
    const std::size_t n = trial % 50 == 49 ? 150 : static_cast<std::size_t>(random.integer(1, 40));
    const Case c = random_case(random, n);
    const Truth truth(c);
    if (!truth.usable()) continue;
    SCOPED_TRACE(testing::Message() << "trial " << trial << ": " << c);
    const std::vector<double> times = test_times(random, c);
    dense::Prediction expected = *dense::predict(truth.problem, widened(times));
    // Without a certificate the cut covariance and K*f need not fit together; a negative variance is then
    // told as 0.
    dense::Problem known_mean = truth.problem;
    known_mean.mean = 0;
    const dense::Vector alone = dense::predict(known_mean, widened(times))->variance;
    for (std::size_t t = 0; t < times.size(); ++t) expected.variance[t] += std::max<Real>(0, -alone[t]);
    support::for_each_isa([&] {
      Posterior posterior = support::make_posterior(c);
      const Prediction result = posterior.predict(times);
      ASSERT_EQ(result.mean.size(), times.size());
      for (std::size_t t = 0; t < times.size(); ++t) {
        SCOPED_TRACE(testing::Message() << "at " << times[t]);
        EXPECT_CLOSE(result.mean[t], expected.mean[t], truth.mean_error(expected.mean[t]));
        EXPECT_CLOSE(result.variance[t], expected.variance[t], truth.variance_error(expected.variance[t]));
        EXPECT_GE(result.variance[t], 0);
        EXPECT_CLOSE(result.variance_observed[t], result.variance[t] + c.model.noise,
                     2 * u * (result.variance[t] + c.model.noise));
      }
      EXPECT_EQ(posterior.predict(times, false).mean, result.mean);
      EXPECT_TRUE(posterior.predict(times, false).variance.empty());
      ++compared;
    });
    if (HasFailure()) return;
  }
  std::cout << compared << " posteriors compared\n";
  support::expect_seen(compared, trials);
}

TEST(PosteriorGolden, covariance_equals_the_dense_one) {
  Random random(2);
  int compared = 0;
  const int trials = support::trials(30, 150);
  for (int trial = 0; trial < trials; ++trial) {
    const Case c = random_case(random, static_cast<std::size_t>(random.integer(1, 40)));
    const Truth truth(c);
    if (!truth.usable()) continue;
    SCOPED_TRACE(testing::Message() << "trial " << trial << ": " << c);
    const std::vector<double> times = test_times(random, c);
    const dense::Prediction expected = *dense::predict(truth.problem, widened(times));
    support::for_each_isa([&] {
      Posterior posterior = support::make_posterior(c);
      const std::vector<double> covariance = posterior.covariance(times);
      const std::size_t m = times.size();
      ASSERT_EQ(covariance.size(), m * m);
      for (std::size_t s = 0; s < m; ++s) {
        for (std::size_t t = 0; t < m; ++t) {
          const Real size = std::sqrt(std::max(truth.prior, expected.variance[s]) *
                                      std::max(truth.prior, expected.variance[t]));
          EXPECT_CLOSE(covariance[s * m + t], expected.covariance(s, t),
                       std::max(1e-8L, 16 * u * truth.condition) * size)
              << times[s] << ", " << times[t];
          EXPECT_CLOSE(covariance[s * m + t], covariance[t * m + s], 16 * u * size);
        }
      }
      ++compared;
    });
    if (HasFailure()) return;
  }
  support::expect_seen(compared, trials);
}

TEST(PosteriorGolden, leave_one_out_equals_refitting_without_each_observation) {
  Random random(3);
  int compared = 0;
  const int trials = support::trials(40, 200);
  for (int trial = 0; trial < trials; ++trial) {
    const std::size_t n = static_cast<std::size_t>(random.integer(4, 30));
    const Case c = random_case(random, n);
    const Truth truth(c);
    if (!truth.usable()) continue;
    const auto expected = dense::loo(truth.problem);
    if (!expected) continue;
    SCOPED_TRACE(testing::Message() << "trial " << trial << ": " << c);
    support::for_each_isa([&] {
      Posterior posterior = support::make_posterior(c);
      const LeaveOneOut result = posterior.leave_one_out();
      ASSERT_EQ(result.mean.size(), n);
      for (std::size_t i = 0; i < n; ++i) {
        const auto row = static_cast<std::size_t>(posterior.series().row[i]);
        const Real noise = c.model.noise + truth.problem.known(row);
        // Without a certificate the cut model may know an observation better than its own error; told is that
        // error.
        const bool clamped = expected->variance[row] < noise;
        const Real variance = clamped ? noise : expected->variance[row];
        EXPECT_CLOSE(result.variance[i], variance, truth.variance_error(variance) + 4 * u * noise)
            << "row " << row;
        if (clamped && posterior.series().has_ties()) continue;
        EXPECT_CLOSE(result.mean[i], expected->mean[row], 4 * truth.mean_error(expected->mean[row]))
            << "row " << row;
      }
      ++compared;
    });
    if (HasFailure()) return;
  }
  std::cout << compared << " compared\n";
  support::expect_seen(compared, trials);
}

TEST(PosteriorGolden, far_from_all_data_the_prior_comes_back) {
  Random random(4);
  for (const Mean mean : kMeans) {
    for (const char* kernel : {"2*se(lengthscale=3)", "2*matern12(lengthscale=3)",
                               "1*wendland4(lengthscale=5) + 1*matern52(lengthscale=2)"}) {
      Case c;
      c.time = support::make_times(random, 30, Times::irregular, 1);
      for (double& t : c.time) t += t > 15 ? 1e5 : 0;  // a gap in which nothing is known either
      c.value = random.normals(30);
      c.model.kernel = parse_kernel(kernel);
      c.model.noise = 0.1;
      c.model.mean = mean;
      c.cut = {.tolerance = 1e-6};
      const std::vector<double> times = {5e4, -1e4, 3e5, 1e9, -1e12, 1e100};
      const dense::Prediction expected = *dense::predict(support::exact_problem(c), widened(times));
      Posterior posterior = support::make_posterior(c);
      const Prediction result = posterior.predict(times);
      const std::vector<double> covariance = posterior.covariance(times);
      for (std::size_t t = 0; t < times.size(); ++t) {
        SCOPED_TRACE(testing::Message() << c << ", at " << times[t]);
        const double relative = 1e-6;  // the tolerance's order; with a linear mean, of the extrapolated line
        EXPECT_CLOSE(result.mean[t], expected.mean[t], relative * (1 + std::abs(expected.mean[t])));
        EXPECT_CLOSE(result.variance[t], expected.variance[t], relative * std::abs(expected.variance[t]));
        EXPECT_CLOSE(covariance[t * times.size() + t], expected.variance[t],
                     relative * std::abs(expected.variance[t]));
        if (mean == Mean::zero) {
          EXPECT_EQ(result.mean[t], 0);
          EXPECT_EQ(result.variance[t], 2);
        }
      }
    }
  }
}

TEST(PosteriorGolden, kernels_with_a_support_need_no_more_memory_than_their_band) {
  constexpr Index kPoints = 1500;
  constexpr double kMaxBytes = 8e6;  // the matrix of all points takes 18e6, predictions with it twice that
  Random random(6);
  const std::vector<double> time = support::make_times(random, kPoints, Times::irregular, 1),
                            value = random.normals(kPoints);
  const auto series = std::make_shared<const Series>(make_series(time, value));
  const Model model{parse_kernel("2*wendland2(lengthscale=20)"), 0.1, Mean::constant};
  const InternalCut cut = to_internal(Cut{.tolerance = 1e-9}, series->units),
                    exact = to_internal(Cut{.method = Method::exact}, series->units);
  Posterior band(series, model, make_representation(cut, kMaxBytes)),
      dense(series, model, make_representation(exact, 0));
  const std::vector<double> at = {time.front() - 5, time[700] + 0.1, time.back() + 25};
  const Prediction found = band.predict(at), expected = dense.predict(at);
  for (std::size_t t = 0; t < at.size(); ++t) {
    EXPECT_CLOSE(found.mean[t], expected.mean[t], 1e-9);
    EXPECT_CLOSE(found.variance[t], expected.variance[t], 1e-9);
  }
}

TEST(PosteriorGolden, slow_curves_are_extrapolated_from_all_the_data) {
  // A length-scale beyond the span: every observation matters just outside it.
  Case c;
  Random random(5);
  for (int i = 0; i < 80; ++i) {
    c.time.push_back(i);
    c.value.push_back(0.05 * i + 0.3 * random.normal());
  }
  c.model.kernel = parse_kernel("4*matern32(lengthscale=100)");
  c.model.noise = 0.1;
  c.model.mean = Mean::zero;
  c.cut = {.tolerance = 1e-8};
  const std::vector<double> times = {79, 79.5, 90, 100, 120, 150, 200, -10, -60, -100};
  const Truth truth(c);
  const dense::Prediction expected = *dense::predict(truth.problem, widened(times));
  Posterior posterior = support::make_posterior(c);
  const Prediction result = posterior.predict(times);
  const std::vector<double> covariance = posterior.covariance(times);
  for (std::size_t t = 0; t < times.size(); ++t) {
    SCOPED_TRACE(testing::Message() << "at " << times[t]);
    EXPECT_CLOSE(result.mean[t], expected.mean[t], 1e-8);
    EXPECT_CLOSE(result.variance[t], expected.variance[t], 1e-8);
    EXPECT_CLOSE(covariance[t * times.size() + t], expected.variance[t], 1e-8);
  }
}

TEST(PosteriorGolden, the_order_of_calls_and_of_times_does_not_matter) {
  Random random(6);
  for (int trial = 0; trial < 20; ++trial) {
    Case c = random_case(random, 33);
    c.cut = trial % 2 == 0 ? Cut{.tolerance = 0.01} : index_cut(40);
    const std::vector<double> times = test_times(random, c);
    std::vector<double> sorted = times;
    std::ranges::sort(sorted);
    Posterior first = support::make_posterior(c), second = support::make_posterior(c);
    const Prediction a = first.predict(times);
    const LeaveOneOut loo = first.leave_one_out();
    const std::vector<double> covariance = first.covariance(times);
    const Prediction again = first.predict(times);
    EXPECT_EQ(again.mean, a.mean);
    EXPECT_EQ(again.variance, a.variance);
    EXPECT_EQ(second.covariance(times), covariance);
    EXPECT_EQ(second.leave_one_out().variance, loo.variance);
    EXPECT_EQ(second.leave_one_out().mean, loo.mean);
    const Prediction b = second.predict(sorted);
    for (std::size_t t = 0; t < times.size(); ++t) {
      const auto place =
          static_cast<std::size_t>(std::ranges::lower_bound(sorted, times[t]) - sorted.begin());
      EXPECT_EQ(a.mean[t], b.mean[place]);
      EXPECT_EQ(a.variance[t], b.variance[place]);
    }
    EXPECT_TRUE(second.predict({}).mean.empty());
  }
}

TEST(PosteriorGolden, a_posterior_that_does_not_exist_says_so) {
  Case c;
  for (int i = 0; i < 60; ++i) {
    c.time.push_back(0.2 * i);
    c.value.push_back(std::sin(0.2 * i));
  }
  c.model.kernel = parse_kernel("5*se(lengthscale=1)");
  c.model.noise = 0.1;
  c.cut = index_cut(4);
  EXPECT_THROW((void)support::make_posterior(c), std::runtime_error);
  c.cut = index_cut(59);
  Posterior posterior = support::make_posterior(c);
  const double nan[] = {std::numeric_limits<double>::quiet_NaN()};
  EXPECT_THROW((void)posterior.predict(nan), std::invalid_argument);
}

TEST(PosteriorGolden, samples_have_the_predicted_mean_and_covariance) {
  Random random(7);
  for (const Mean mean : kMeans) {
    Case c;
    c.time = support::make_times(random, 30, Times::irregular, 1);
    c.value = random.normals(30);
    c.model.kernel = parse_kernel("1.5*se(lengthscale=2) + 0.5*matern12(lengthscale=5)");
    c.model.noise = 0.2;
    c.model.mean = mean;
    c.cut = index_cut(30);
    const std::vector<double> times = {c.time[3], 40, c.time[0] + 0.3, 7.7, 7.70001, -3, c.time[20], 1e4};
    constexpr Index kDraws = 20000;
    const std::size_t m = times.size();
    Posterior posterior = support::make_posterior(c);
    const std::vector<double> draws = posterior.sample(times, kDraws, 42);
    ASSERT_EQ(draws.size(), m * static_cast<std::size_t>(kDraws));
    const std::vector<double> covariance = posterior.covariance(times),
                              center = posterior.predict(times).mean;
    // Sums over draws are normal: five standard errors, for 44 numbers, fail by chance once in 40,000 seeds.
    const double draws_count = static_cast<double>(kDraws);
    for (std::size_t s = 0; s < m; ++s) {
      Real sum = 0;
      for (std::size_t d = 0; d < static_cast<std::size_t>(kDraws); ++d) sum += draws[d * m + s] - center[s];
      EXPECT_CLOSE(sum / draws_count, 0, 5 * std::sqrt(covariance[s * m + s] / draws_count));
      for (std::size_t t = 0; t <= s; ++t) {
        Real product = 0;
        for (std::size_t d = 0; d < static_cast<std::size_t>(kDraws); ++d) {
          product += (draws[d * m + s] - center[s]) * (draws[d * m + t] - center[t]);
        }
        const double v = covariance[s * m + s] * covariance[t * m + t], cross = covariance[s * m + t];
        EXPECT_CLOSE(product / draws_count, cross, 5 * std::sqrt((v + cross * cross) / draws_count))
            << times[s] << ", " << times[t];
      }
    }
    EXPECT_EQ(posterior.sample(times, 3, 42),
              std::vector<double>(draws.begin(), draws.begin() + static_cast<Index>(3 * m)));
    EXPECT_NE(posterior.sample(times, 3, 43), posterior.sample(times, 3, 42));
  }
}

TEST(PosteriorGolden, samples_of_a_smooth_curve_on_a_fine_grid_are_smooth) {
  // The covariance of 300 points within one length-scale is singular to rounding: no jitter may show.
  Case c;
  for (int i = 0; i < 10; ++i) {
    c.time.push_back(i);
    c.value.push_back(std::sin(0.5 * i));
  }
  c.model.kernel = parse_kernel("1*se(lengthscale=2)");
  c.model.noise = 0.01;
  c.cut = index_cut(9);
  std::vector<double> grid(300);
  for (std::size_t i = 0; i < grid.size(); ++i) grid[i] = 3 + 0.01 * static_cast<double>(i);
  const std::vector<double> path = support::make_posterior(c).sample(grid, 1, 1);
  // Third differences: (0.01/2)³ from the curve itself; from rounding, √20 times the root of up to 300 pivots
  // of u κ.
  const double condition = 10 / c.model.noise, rounding = std::sqrt(20 * 300 * u * condition);
  for (std::size_t i = 3; i < grid.size(); ++i) {
    EXPECT_CLOSE(path[i] - 3 * path[i - 1] + 3 * path[i - 2] - path[i - 3], 0, 1e-6 + rounding);
  }
}

TEST(PublishedPosterior, gpml_demo_regression_matern32_predictions) {
  const char* data = std::getenv("BANDGP_DATA");
  const auto folder = std::filesystem::path(data == nullptr ? "" : data) / "gp_reference";
  if (!std::filesystem::exists(folder))
    GTEST_SKIP() << "skipped: no data at " << folder << " (set BANDGP_DATA)";
  const auto column = [&](const char* name) {
    return read_csv((folder / "gpml_demoRegression_pred_matern32.csv").string(), {.x = "z", .y = name}).value;
  };
  const Table training = read_csv((folder / "gpml_demoRegression_xy.csv").string());
  const std::vector<double> times =
      read_csv((folder / "gpml_demoRegression_pred_matern32.csv").string(), {.x = "z", .y = "f_mean"}).time;
  const std::vector<double> mean = column("f_mean"), variance = column("f_var"), observed = column("y_var");
  Case c;
  c.time = training.time;
  c.value = training.value;
  for (std::size_t i = 0; i < c.size(); ++i) c.value[i] -= 0.5 * c.time[i] + 1;
  c.model.kernel = parse_kernel("1*matern32(lengthscale=0.25)");
  c.model.noise = 0.01;
  c.model.mean = Mean::zero;
  c.cut = {.tolerance = kTiny};
  const Prediction result = support::make_posterior(c).predict(times);
  ASSERT_GT(times.size(), 50U);
  for (std::size_t t = 0; t < times.size(); ++t) {
    EXPECT_CLOSE(result.mean[t] + 0.5 * times[t] + 1, mean[t], 1e-12) << times[t];
    EXPECT_CLOSE(result.variance[t], variance[t], 1e-12) << times[t];
    EXPECT_CLOSE(result.variance_observed[t], observed[t], 1e-12) << times[t];
  }
}

}  // namespace
