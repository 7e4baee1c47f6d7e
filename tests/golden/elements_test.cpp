// SPDX-License-Identifier: Apache-2.0
// Sums of SE and Markov terms of any lengths by elements and the front, against the dense long double model:
// likelihood, gradient, predictions, components, leave-one-out, covariances; and no bound is broken.
#include <gtest/gtest.h>

#include <iostream>

#include "bandgp/gp/elements_representation.hpp"
#include "support/isa.hpp"
#include "support/truth.hpp"

namespace {

using namespace bandgp;
using support::Case;
using support::Random;
using support::Real;
using support::Times;
using support::Truth;
using support::u;
using support::Used;

/// One to four terms, SE or Markov, of lengths from a gap to thousands of them.
Case random_sum(Random& random, std::size_t n) {
  Case c;
  const double gap = random.log_uniform(0.1, 10);
  c.time = support::make_times(random, n, static_cast<Times>(random.integer(0, 2)), gap);
  if (n > 8 && random.chance(0.3)) {
    for (std::size_t i = n / 2; i < n; ++i) c.time[i] += gap * random.log_uniform(10, 3000);
  }
  if (n > 4 && random.chance(0.3)) c.time[3] = c.time[2] = c.time[1];
  c.value = random.normals(n);
  const Index smooth = random.integer(0, 2), rough = random.integer(smooth == 0 ? 1 : 0, 2);
  for (Index t = 0; t < smooth; ++t)
    c.model.kernel.terms.push_back({Se{}, random.log_uniform(0.1, 10), gap * random.log_uniform(1, 300)});
  const AnyShape shapes[] = {Matern12{}, Matern32{}, Matern52{}};
  for (Index t = 0; t < rough; ++t)
    c.model.kernel.terms.push_back(
        {shapes[random.integer(0, 2)], random.log_uniform(0.1, 10), gap * random.log_uniform(0.3, 3000)});
  c.model.noise = random.log_uniform(1e-3, 1);
  if (random.chance(0.4)) {
    for (std::size_t i = 0; i < n; ++i) c.variance.push_back(random.log_uniform(1e-3, 1));
  }
  c.model.mean = static_cast<Mean>(random.integer(0, n > 5 ? 2 : 1));
  return c;
}

/// One to three terms, at least one of which oscillates and at least one of which is SE.
Case oscillating_sum(Random& random, std::size_t n, double least_smoothness = 0.6) {
  Case c = random_sum(random, n);
  const double gap = n > 1 ? (c.time.back() - c.time.front()) / static_cast<double>(n) : 1;
  const char* const sums[] = {"se*cos",
                              "se*periodic",
                              "se*periodic + se",
                              "se + sho",
                              "se + matern32*cos + matern12",
                              "se*cos + matern12",
                              "se*periodic + matern32*cos",
                              "se + matern12*periodic"};
  c.model.kernel = parse_kernel(sums[random.integer(0, 7)]);
  for (Term& term : c.model.kernel.terms) {
    term.variance = random.log_uniform(0.1, 10);
    term.lengthscale = gap * random.log_uniform(0.5, 30);
    term.period = gap * random.log_uniform(1, 30);
    term.smoothness = random.log_uniform(least_smoothness, 5);
    term.quality = random.chance(0.1) ? 0.5 : random.log_uniform(0.3, 1e4);
  }
  return c;
}

std::unique_ptr<ElementsRepresentation> make_elements(double tolerance) {
  return std::make_unique<ElementsRepresentation>(tolerance, 1e10);
}

/// Likelihood, gradient, predictions, covariances and leave-one-out of random problems.
template <class Draw>
void expect_everything(Random& random, int trials, const Draw& draw) {
  Used used;
  for (int trial = 0; trial < trials; ++trial) {
    const Case c = draw(trial);
    const std::size_t n = c.size();
    const Truth truth(c);
    if (!truth.usable() || truth.condition > 1e11L) continue;
    SCOPED_TRACE(testing::Message() << "trial " << trial << ": " << c);
    const auto series = std::make_shared<const Series>(support::make_series(c));
    const std::vector<double> times = support::test_times(random, c);
    const dense::Prediction expected =
        *dense::predict(truth.problem, dense::Vector(times.begin(), times.end()));
    const auto loo = n > 5 && n <= 50 && std::ranges::count(c.time, c.time[1]) == 1
                         ? dense::loo(truth.problem)
                         : std::nullopt;
    support::for_each_isa([&] {
      ++used.compared;
      Evaluator evaluator(*series, c.model.mean, make_elements(1e-12));
      Likelihood likelihood;
      ASSERT_FALSE(evaluator.evaluate(to_internal(c.model, series->units), true, likelihood));
      support::expect_likelihood(nll_to_user(likelihood.nll, *series), likelihood.gradient, truth, used);
      Posterior posterior(series, c.model, make_elements(1e-12));
      support::expect_posterior(posterior, truth, times, expected, loo, used);
    });
    if (testing::Test::HasFatalFailure()) return;
  }
  used.report(trials);
}

TEST(Elements, everything_equals_the_dense_model) {
  Random random(21);
  expect_everything(random, support::trials(12, 250), [&](int trial) {
    return random_sum(random, trial % 25 == 24 ? 150 : static_cast<std::size_t>(random.integer(1, 50)));
  });
}

TEST(Elements, everything_that_oscillates_equals_the_dense_model) {
  Random random(31);
  // Sanitized, fronts of hundreds of rows take minutes: few points and few harmonics have smaller ones.
  const Index most = support::kSanitized ? 6 : 25;
  const double least_smoothness = support::kSanitized ? 2.5 : 1;
  expect_everything(random, support::trials(3, 40), [&](int) {
    return oscillating_sum(random, static_cast<std::size_t>(random.integer(1, most)), least_smoothness);
  });
}

struct Bounds {
  double largest = 0;  // true error of the NLL over its bound
  int held = 0, within = 0;
  void report(int problems) const {
    std::cout << held << " certified, " << within
              << " within their tolerance; NLL true error / bound at most " << largest << '\n';
    EXPECT_GT(held, problems * 8 / 10);
    EXPECT_EQ(within, held);
  }
};

/// Every bound of one problem, against the dense truth.
void expect_bounds(Random& random, const Case& c, Bounds& bounds) {
  const double tolerance = random.log_uniform(1e-4, 100);
  const dense::Problem problem = support::exact_problem(c);
  const auto solved = dense::solve_gls(problem);
  const Real condition = support::condition(dense::covariance(problem));
  if (!solved || condition > 1e10L) return;
  SCOPED_TRACE(testing::Message() << c << ", tolerance " << tolerance);
  const auto series = std::make_shared<const Series>(support::make_series(c));
  Posterior posterior(series, c.model, make_elements(tolerance));
  const Certificate& certificate = posterior.likelihood().certificate;
  if (!certificate.holds()) return;
  ++bounds.held;
  bounds.within += certificate.nll_error.value() <= tolerance ? 1 : 0;
  const Real n = static_cast<Real>(c.size()),
             rounding = 16 * u * condition * (n + solved->quadratic) + 1e-10L;
  const Real error = std::abs(posterior.likelihood().nll - *dense::nll(problem));
  EXPECT_LE(error, certificate.nll_error.value() + rounding);
  if (certificate.nll_error.value() > 0)
    bounds.largest = std::max(bounds.largest, static_cast<double>(error / certificate.nll_error.value()));
  std::vector<double> times;
  const auto [low, high] = std::ranges::minmax(c.time);
  for (int i = 0; i < 5; ++i) times.push_back(random.uniform(low, high));
  const dense::Prediction truth = *dense::predict(problem, dense::Vector(times.begin(), times.end()));
  const Prediction result = posterior.predict(times);
  const double unit = series->units.value_unit;
  const Real prior = dense::kernel(problem, 0), scale = std::sqrt(prior * (n + solved->quadratic));
  for (std::size_t t = 0; t < times.size(); ++t) {
    EXPECT_LE(std::abs(result.mean[t] - truth.mean[t]),
              certificate.mean_error.value() * unit + 16 * u * condition * (scale + std::abs(truth.mean[t])));
    EXPECT_LE(std::abs(result.variance[t] - truth.variance[t]),
              certificate.variance_error.value() * unit * unit +
                  64 * u * condition * std::max(prior, truth.variance[t]));
  }
}

TEST(Elements, no_bound_is_ever_broken_by_the_dense_truth) {
  Random random(22);
  Bounds bounds;
  const int problems = support::trials(200, 10000);
  for (int trial = 0; trial < problems && !HasFailure(); ++trial)
    expect_bounds(random, random_sum(random, static_cast<std::size_t>(random.integer(2, 30))), bounds);
  bounds.report(problems);
}

TEST(Elements, no_bound_of_what_oscillates_is_ever_broken_by_the_dense_truth) {
  Random random(32);
  Bounds bounds;
  const int problems = support::trials(60, 5500);
  for (int trial = 0; trial < problems && !HasFailure(); ++trial)
    expect_bounds(random, oscillating_sum(random, static_cast<std::size_t>(random.integer(2, 12)), 1),
                  bounds);
  bounds.report(problems);
}

/// Beside matern12 the noise may vanish: the bounds count on what such a term adds to it.
TEST(Elements, no_bound_is_broken_where_matern12_takes_the_place_of_noise) {
  Random random(30);
  Bounds bounds;
  const int problems = support::trials(100, 3000);
  for (int trial = 0; trial < problems && !HasFailure(); ++trial) {
    Case c;
    const auto n = static_cast<std::size_t>(random.integer(2, 30));
    c.time = support::make_times(random, n, static_cast<Times>(random.integer(0, 1)), 1);
    c.value = random.normals(n);
    c.model.kernel.terms = {{Se{}, random.log_uniform(0.1, 10), random.log_uniform(1, 300)},
                            {Matern12{}, random.log_uniform(0.1, 10), random.log_uniform(0.3, 100)}};
    c.model.noise = random.log_uniform(1e-12, 1e-6);
    c.model.mean = Mean::zero;
    expect_bounds(random, c, bounds);
  }
  bounds.report(problems);
}

TEST(Elements, auto_takes_them_for_sums_and_agrees_with_the_band) {
  Random random(23);
  const std::size_t n = support::kSanitized ? 2000 : 20000;
  Case c;
  c.time = support::make_times(random, n, Times::irregular, 1);
  for (const double t : c.time) c.value.push_back(std::sin(t / 30) + std::sin(t / 2) + 0.3 * random.normal());
  c.model = {"1*matern12(lengthscale=1.5) + 2*se(lengthscale=40)", 0.1, Mean::constant};
  const Series series = support::make_series(c);
  const EvaluationResult elements = evaluate(series, c.model, {.tolerance = 1e-7});
  const EvaluationResult band = evaluate(series, c.model, {.method = Method::band, .tolerance = 1e-7});
  support::expect_same_likelihood(elements, band, 1e-7);
  EXPECT_EQ(elements.likelihood.method, "elements");
}

/// What is left out is chosen for data that the model fits, and chosen anew where they turn out otherwise:
/// with signals and noise of any size the certificate is within the tolerance and the band's result within
/// both.
TEST(Elements, tolerance_is_kept_whether_or_not_the_model_fits) {
  Random random(26);
  const std::size_t n = support::kSanitized ? 600 : 3000;
  for (const char* kernel : {"1*se(lengthscale=60) + 0.5*matern12(lengthscale=1.5)",
                             "1*se(lengthscale=40) + 1*se(lengthscale=1.5)",
                             "3*se(lengthscale=80) + 0.1*se(lengthscale=25) + 0.5*matern32(lengthscale=1)"}) {
    for (const double size : {0.01, 1.0, 100.0}) {
      SCOPED_TRACE(testing::Message() << kernel << ", values times " << size);
      Case c;
      c.time = support::make_times(random, n, Times::irregular, 1);
      for (const double t : c.time)
        c.value.push_back(size * (std::sin(t / 30) + 0.5 * std::sin(t / 2) + 0.3 * random.normal()));
      c.model = {kernel, random.log_uniform(0.003, 1), Mean::linear};
      const Series series = support::make_series(c);
      const EvaluationResult band = evaluate(series, c.model, {.method = Method::band, .tolerance = 1e-7});
      for (const double tolerance : {1.0, 1e-2, 1e-5}) {
        Evaluator evaluator(series, c.model.mean, make_elements(tolerance));
        Likelihood elements;
        ASSERT_FALSE(evaluator.evaluate(to_internal(c.model, series.units), false, elements));
        const double bound = elements.certificate.nll_error.value();
        EXPECT_LE(bound, tolerance);
        EXPECT_LE(std::abs(nll_to_user(elements.nll, series) - band.likelihood.nll),
                  bound + 1e-7 + 1e-12 * std::abs(band.likelihood.nll));
      }
    }
  }
}

/// White values at irregular times about a unit apart.
Case white(Random& random, std::size_t n, const Model& model) {
  Case c;
  c.time = support::make_times(random, n, Times::irregular, 1);
  c.value = random.normals(n);
  c.model = model;
  return c;
}

/// A time far away has the prior's variance, and leaves the variances of the others alone.
TEST(Elements, a_far_prediction_changes_no_other) {
  Random random(28);
  const Case c = white(random, 400, {"1*se(lengthscale=20) + 0.5*matern12(lengthscale=3)", 0.1, Mean::zero});
  const auto series = std::make_shared<const Series>(support::make_series(c));
  Posterior posterior(series, c.model, make_elements(1e-6));
  const std::vector<double> near = {c.time[10] + 0.3, c.time[390] + 0.3};
  const Prediction alone = posterior.predict(near);
  const Prediction both = posterior.predict(std::vector{near[0], near[1], 1e30, -1e30});
  for (std::size_t t = 0; t < near.size(); ++t) {
    EXPECT_NEAR(both.mean[t], alone.mean[t], 1e-9);
    EXPECT_NEAR(both.variance[t], alone.variance[t], 1e-9);
  }
  for (const std::size_t t : {std::size_t{2}, std::size_t{3}}) EXPECT_NEAR(both.variance[t], 1.5, 1e-6);
}

/// A term that is short beyond all measure is white noise, and not lost.
TEST(Elements, a_term_of_no_length_is_noise) {
  Random random(29);
  Case c = white(random, 300, {"1*se(lengthscale=50) + 0.5*se(lengthscale=1e-20)", 0.1, Mean::zero});
  const EvaluationResult two = evaluate(support::make_series(c), c.model, {});
  ASSERT_FALSE(two.failure);
  c.model = {"1*se(lengthscale=50)", 0.6, Mean::zero};
  const EvaluationResult one = evaluate(support::make_series(c), c.model, {});
  EXPECT_NEAR(two.likelihood.nll, one.likelihood.nll, 0.02);
}

/// Differences of the gradient keep the form of the last evaluation.
TEST(Elements, frozen_gives_the_same_likelihood) {
  Random random(25);
  for (int trial = 0; trial < 20; ++trial) {
    const Case c = trial % 4 == 3 ? oscillating_sum(random, 300, 1) : random_sum(random, 300);
    const Series series = support::make_series(c);
    auto made = make_elements(1e-6);
    ElementsRepresentation& elements = *made;
    Evaluator evaluator(series, c.model.mean, std::move(made));
    Likelihood chosen, kept;
    ASSERT_FALSE(evaluator.evaluate(to_internal(c.model, series.units), true, chosen));
    elements.freeze();
    for (int again = 0; again < 2; ++again) {
      ASSERT_FALSE(evaluator.evaluate(to_internal(c.model, series.units), true, kept));
      EXPECT_CLOSE(kept.nll, chosen.nll, 1e-9L * std::abs(chosen.nll));
      for (std::size_t i = 0; i < kept.gradient.size(); ++i)
        EXPECT_CLOSE(kept.gradient[i], chosen.gradient[i], 1e-7L * (1 + std::abs(chosen.gradient[i])));
    }
  }
}

/// Each term by itself against the dense formulas: mean kₜᵀα, variance kₜ(0) − kₜᵀA⁻¹kₜ + what the mean adds.
TEST(Elements, components_equal_the_dense_ones) {
  Random random(24);
  int seen = 0;
  for (int trial = 0; trial < 20; ++trial) {
    const Case c = trial % 3 == 2 ? oscillating_sum(random, 30) : random_sum(random, 30);
    const dense::Problem problem = support::exact_problem(c);
    const auto solved = dense::solve_gls(problem);
    const Real condition = support::condition(dense::covariance(problem));
    if (!solved || condition > 1e9L) continue;
    ++seen;
    SCOPED_TRACE(testing::Message() << "trial " << trial << ": " << c);
    const auto series = std::make_shared<const Series>(support::make_series(c));
    const auto [low, high] = std::ranges::minmax(c.time);
    std::vector<double> times;
    for (int i = 0; i < 8; ++i) times.push_back(random.uniform(low - 1, high + 1));
    const InternalCut band{.method = Method::band, .tolerance = 1e-12};
    Posterior elements(series, c.model, make_elements(1e-12)),
        banded(series, c.model, std::make_unique<AutoRepresentation>(band, 1e10));
    const std::vector<Component> a = elements.components(times), b = banded.components(times);
    ASSERT_EQ(a.size(), problem.terms.size());
    for (std::size_t term = 0; term < problem.terms.size(); ++term) {
      dense::Problem alone = problem;
      alone.terms = {problem.terms[term]};
      dense::Matrix cross(times.size(), c.size()), prior(times.size(), times.size());
      for (std::size_t i = 0; i < times.size(); ++i) {
        for (std::size_t k = 0; k < c.size(); ++k)
          cross(i, k) = dense::kernel(alone, times[i] - problem.x[k]);
        for (std::size_t k = 0; k < times.size(); ++k)
          prior(i, k) = dense::kernel(alone, times[i] - static_cast<Real>(times[k]));
      }
      const dense::Prediction expected = dense::krige(
          *solved, cross, prior, dense::Matrix(times.size(), static_cast<std::size_t>(problem.mean)));
      const Real scale = std::sqrt(dense::kernel(problem, 0) * (30 + solved->quadratic));
      for (std::size_t t = 0; t < times.size(); ++t) {
        const Real slack = 1e-8L * scale + 16 * u * condition * scale;
        EXPECT_CLOSE(a[term].mean[t], expected.mean[t], slack);
        EXPECT_CLOSE(b[term].mean[t], expected.mean[t], slack);
        const Real size =
            std::max(1e-8L, 64 * u * condition) * std::max(dense::kernel(problem, 0), expected.variance[t]);
        EXPECT_CLOSE(a[term].variance[t], expected.variance[t], size);
        EXPECT_CLOSE(b[term].variance[t], expected.variance[t], size);
      }
    }
  }
  EXPECT_GE(seen, 15);
}

}  // namespace
