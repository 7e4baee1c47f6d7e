// SPDX-License-Identifier: Apache-2.0
// Terms that oscillate, in every form that holds them, against the dense model in long double.
#include <gtest/gtest.h>

#include <iostream>

#include "bandgp/gp/elements_representation.hpp"
#include "bandgp/gp/markov_representation.hpp"
#include "bandgp/kernel/harmonics.hpp"
#include "support/effort.hpp"
#include "support/problems.hpp"

namespace {

using namespace bandgp;
using support::Case;
using support::Random;
using support::Times;
using Real = long double;

/// Draws what the text left open; lengths are up to so many gaps.
Kernel draw(Random& random, const std::string& text, double gap, double longest, double least_smoothness) {
  Kernel kernel = parse_kernel(text);
  for (Term& term : kernel.terms) {
    term.variance = random.log_uniform(0.1, 3);
    term.lengthscale = gap * random.log_uniform(0.5, longest);
    term.period = gap * random.log_uniform(1.5, 60);
    // Columns take any number of harmonics, states as many as they have room for.
    term.smoothness = random.log_uniform(is_strictly_periodic(term) ? 0.2 : least_smoothness, 5);
    term.quality = random.chance(0.2) ? 0.5 : random.log_uniform(0.3, 1e4);
  }
  return kernel;
}

Case problem(Random& random, const std::string& text, double longest = 200, double least_smoothness = 0.4) {
  Case c;
  const double gap = random.log_uniform(0.01, 100);
  const auto n = static_cast<std::size_t>(random.integer(1, 60));
  c.time = support::make_times(random, n, random.chance(0.5) ? Times::irregular : Times::clustered, gap);
  if (n > 4 && random.chance(0.3)) c.time[3] = c.time[2];
  c.value = random.normals(n);
  if (random.chance(0.3)) {
    for (std::size_t i = 0; i < n; ++i) c.variance.push_back(random.log_uniform(0.01, 1));
  }
  c.model = {draw(random, text, gap, longest, least_smoothness), random.log_uniform(1e-4, 1),
             static_cast<Mean>(random.integer(0, 2))};
  c.cut = {.method = Method::automatic, .tolerance = 1e-10};
  return c;
}

/// What |g| and 10⁻³n amount to: the gradient's allowance is relative to it.
Real scale(const dense::Vector& gradient, std::size_t n) {
  Real sum = 0;
  for (const Real g : gradient) sum += g * g;
  return std::sqrt(sum) + 1e-3L * static_cast<Real>(n);
}

struct Errors {
  Real nll = 0, gradient = 0;
  int seen = 0;
};

/// `methods` are those that auto may choose, or elements alone.
Errors compare(const std::string& text, std::string_view methods, int problems, std::uint64_t seed) {
  Random random(seed);
  Errors worst;
  for (int trial = 0; trial < problems; ++trial) {
    const bool elements = methods == "elements";
    const Case c =
        elements ? problem(random, text, 30, random.chance(0.1) ? 0.2 : 0.7) : problem(random, text);
    const dense::Problem truth = support::exact_problem(c);
    const auto nll = dense::nll(truth);
    if (!nll || c.size() <= static_cast<std::size_t>(c.model.mean)) continue;
    const Series series = support::make_series(c);
    std::unique_ptr<Representation> made = make_representation(to_internal(c.cut, series.units), 0, 1);
    if (elements) made = std::make_unique<ElementsRepresentation>(c.cut.tolerance, 1e10);
    Evaluator evaluator(series, c.model.mean, std::move(made));
    Likelihood out;
    const InternalModel model = to_internal(c.model, series.units);
    EXPECT_FALSE(evaluator.evaluate(model, true, out)) << c;
    EXPECT_NE(methods.find(out.method), methods.npos) << out.method << ' ' << c;
    const dense::Vector gradient = dense::gradient(truth);
    const Real error = std::abs(nll_to_user(out.nll, series) - *nll) /
                       std::max<Real>(std::abs(*nll), static_cast<Real>(c.size()));
    Real by = 0;
    for (std::size_t k = 0; k < gradient.size(); ++k)
      by = std::max(by, std::abs(out.gradient[k] - gradient[k]) / scale(gradient, c.size()));
    EXPECT_LE(error, 1e-10L) << c;
    EXPECT_LE(by, 1e-7L) << c;
    EXPECT_LE(std::abs(nll_to_user(out.nll, series) - *nll),
              out.certificate.nll_error.value() + 1e-11 * std::abs(static_cast<double>(*nll)) + 1e-11)
        << c;
    worst.nll = std::max(worst.nll, error);
    worst.gradient = std::max(worst.gradient, by);
    ++worst.seen;
  }
  std::cout << text << ": NLL off by " << static_cast<double>(worst.nll) << ", gradient by "
            << static_cast<double>(worst.gradient) << " in " << worst.seen << " problems" << std::endl;
  EXPECT_GE(worst.seen, problems * 3 / 4);
  return worst;
}

TEST(Oscillation, in_states_is_the_dense_model) {
  std::uint64_t seed = 1;
  for (const char* text :
       {"sho", "matern12*cos", "matern32*cos", "matern52*cos", "sho + sho", "sho + matern12",
        "matern32*cos + matern12 + sho", "matern12*periodic", "matern32*periodic + matern32"})
    compare(text, "markov", support::trials(12, 60), seed++);
}

/// Strictly periodic terms are columns on top of what holds the others: any of the methods that are named.
TEST(Oscillation, in_columns_is_the_dense_model) {
  const std::string any = "band dual elements";
  std::uint64_t seed = 101;
  for (const auto& [text, methods] :
       std::vector<std::pair<const char*, std::string>>{{"periodic", "columns"},
                                                        {"periodic + periodic", "columns"},
                                                        {"periodic + periodic + periodic", "columns"},
                                                        {"periodic + matern12", "markov"},
                                                        {"matern32*cos + periodic + periodic", "markov"},
                                                        {"sho + periodic", "markov"},
                                                        {"matern12*periodic + periodic", "markov"},
                                                        {"periodic + wendland4", "band"},
                                                        {"periodic + se", any},
                                                        {"se + periodic + matern32", any},
                                                        {"se + periodic + se", any}})
    compare(text, methods, support::trials(15, 80), seed++);
}

TEST(Oscillation, in_elements_is_the_dense_model) {
  std::uint64_t seed = 101;
  for (const char* text : {"se*cos", "se*periodic", "se*cos + se", "se*periodic + matern32",
                           "se*periodic + se + matern12", "se*cos + se*periodic + matern52", "se + sho",
                           "se + sho + matern32*cos", "se + matern12 + sho + matern52*cos",
                           "matern32*cos + se", "se + matern12*periodic", "se*periodic + sho + matern32"})
    compare(text, "elements", support::trials(4, 40), seed++);
}

/// Long beside the gaps, so that a cell has points enough for polynomials times waves.
TEST(Oscillation, in_elements_with_many_points_in_a_cell_is_the_dense_model) {
  Random random(151);
  for (const char* text : {"se*cos", "se*periodic", "se*cos + se*periodic + se"}) {
    for (int trial = 0; trial < support::trials(1, 6); ++trial) {
      Case c = problem(random, text, 2, 1);
      c.time = support::make_times(random, 160, Times::irregular, 1);
      c.value = random.normals(160);
      c.variance = trial % 2 == 0 ? std::vector<double>{} : std::vector<double>(160, 0.1);
      for (std::size_t i = 0; i < c.variance.size(); ++i) c.variance[i] = random.log_uniform(0.01, 1);
      for (Term& term : c.model.kernel.terms) {
        term.lengthscale = random.log_uniform(50, 500);
        term.period = random.log_uniform(3, 300);
      }
      const dense::Problem truth = support::exact_problem(c);
      const Series series = support::make_series(c);
      Evaluator evaluator(series, c.model.mean, std::make_unique<ElementsRepresentation>(1e-10, 1e10));
      Likelihood out;
      ASSERT_FALSE(evaluator.evaluate(to_internal(c.model, series.units), true, out)) << c;
      const Real nll = *dense::nll(truth);
      EXPECT_LE(std::abs(nll_to_user(out.nll, series) - nll), 1e-10L * std::max<Real>(160, std::abs(nll)))
          << c;
      const dense::Vector gradient = dense::gradient(truth);
      for (std::size_t k = 0; k < gradient.size(); ++k)
        EXPECT_LE(std::abs(out.gradient[k] - gradient[k]), 1e-7L * scale(gradient, 160)) << c << ", " << k;
    }
  }
}

TEST(Oscillation, auto_takes_elements_for_long_series_and_agrees_with_the_band) {
  Random random(152);
  const std::size_t n = support::kSanitized ? 1000 : 3000;
  Case c;
  c.time = support::make_times(random, n, Times::irregular, 1);
  c.value = random.normals(n);
  c.model = {"1*se(lengthscale=300)*periodic(period=70, smoothness=1.5)", 0.5, Mean::constant};
  const Series series = support::make_series(c);
  const EvaluationResult elements = evaluate(series, c.model, {.tolerance = 1e-7}),
                         band = evaluate(series, c.model, {.method = Method::band, .tolerance = 1e-7});
  EXPECT_EQ(elements.likelihood.method, "elements");
  EXPECT_LE(std::abs(elements.likelihood.nll - band.likelihood.nll), 2e-7);
  // Far longer than the series: few weights, however many points.
  c.model.kernel = "1*se(lengthscale=1e7)*periodic(period=70, smoothness=1.5)";
  const EvaluationResult longer = evaluate(series, c.model, {.tolerance = 1e-7});
  ASSERT_FALSE(longer.failure);
  EXPECT_EQ(longer.likelihood.method, "elements");
}

/// Whether one or many draws are made: their mean and covariance are the posterior's.
TEST(Oscillation, draws_of_the_posterior_have_its_mean_and_covariance) {
  Random random(153);
  Case c;
  c.time = support::make_times(random, 40, Times::irregular, 1);
  c.value = random.normals(40);
  c.model = {"1*se(lengthscale=8)*periodic(period=5, smoothness=1) + 0.5*sho(period=3, quality=2)", 0.2,
             Mean::constant};
  const auto series = std::make_shared<const Series>(support::make_series(c));
  Posterior posterior(series, c.model, std::make_unique<ElementsRepresentation>(1e-6, 1e10));
  ASSERT_TRUE(posterior.samples_in_linear_time());
  const std::vector<double> times = {c.time[5] + 0.3, c.time[20] + 0.4, c.time[39] + 2};
  const Prediction mean = posterior.predict(times);
  const std::vector<double> covariance = posterior.covariance(times);
  constexpr int kDraws = 4000;
  const std::vector<double> draws = posterior.sample(times, kDraws, 7);
  for (std::size_t s = 0; s < 3; ++s) {
    for (std::size_t t = 0; t < 3; ++t) {
      double sum = 0, product = 0;
      for (std::size_t k = 0; k < kDraws; ++k) {
        sum += draws[3 * k + s] / kDraws;
        product += (draws[3 * k + s] - mean.mean[s]) * (draws[3 * k + t] - mean.mean[t]) / kDraws;
      }
      const double variance = std::sqrt(mean.variance[s] * mean.variance[t]);
      EXPECT_NEAR(sum, mean.mean[s], 5 * std::sqrt(mean.variance[s] / kDraws));
      EXPECT_NEAR(product, covariance[3 * s + t], 5 * variance * std::sqrt(2.0 / kDraws));
    }
  }
}

TEST(Oscillation, harmonics_sum_up_to_the_periodic_correlation) {
  for (const double smoothness : {0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 30.0}) {
    for (const double most : {1e-3, 1e-6, 1e-10, 1e-14}) {
      const Harmonics kept = harmonics(smoothness, most);
      EXPECT_LE(kept.rest.value(), most);
      const auto sum = [&](Real lambda, Real turns) {
        Real total = 0;
        const Harmonics all = harmonics(static_cast<double>(lambda), 1e-18);
        for (std::size_t k = 0; k < all.coefficient.size(); ++k)
          total += all.coefficient[k] * std::cos(2 * std::numbers::pi_v<Real> * static_cast<Real>(k) * turns);
        return total;
      };
      for (const double turns : {0.0, 0.07, 0.31, 0.5}) {
        const Real s = std::sin(std::numbers::pi_v<Real> * turns);
        const Real exact = std::exp(-2 * s * s / (Real(smoothness) * smoothness));
        EXPECT_NEAR(static_cast<double>(sum(smoothness, turns)), static_cast<double>(exact), 1e-13);
        Real partial = 0;
        for (std::size_t k = 0; k < kept.coefficient.size(); ++k)
          partial +=
              kept.coefficient[k] * std::cos(2 * std::numbers::pi_v<Real> * static_cast<Real>(k) * turns);
        EXPECT_LE(std::abs(static_cast<double>(partial - exact)), kept.rest.value() + 1e-13);
      }
      // Slopes by differences.
      const double h = 1e-5;
      const Harmonics up = harmonics(smoothness * std::exp(h), 1e-18),
                      down = harmonics(smoothness * std::exp(-h), 1e-18);
      for (std::size_t k = 0; k < kept.coefficient.size(); ++k) {
        const double slope = (std::log(up.coefficient[k]) - std::log(down.coefficient[k])) / (2 * h);
        EXPECT_NEAR(kept.slope[k], slope, 1e-5 * (1 + std::abs(slope)));
      }
    }
  }
}

}  // namespace
