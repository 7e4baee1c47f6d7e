// SPDX-License-Identifier: Apache-2.0
// Strictly periodic terms as columns over the whole series, on top of every representation that can hold the
// other terms, against the dense model in long double: predictions, covariances, leave-one-out, components,
// draws, whitened residuals, files; and no bound is broken.  Likelihood and gradient are in
// oscillation_test.cpp.
#include <gtest/gtest.h>

#include <iostream>

#include "bandgp/gp/columns_representation.hpp"
#include "bandgp/gp/simulate.hpp"
#include "bandgp/io/model_file.hpp"
#include "support/effort.hpp"
#include "support/isa.hpp"
#include "support/simulate.hpp"
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

/// Kernels whose other terms are held by nothing, states, a band, a grid and elements.
const char* const kKernels[] = {"periodic",
                                "periodic + periodic",
                                "periodic + matern12",
                                "matern32*cos + periodic + periodic",
                                "wendland2 + periodic",
                                "periodic + se",
                                "se + periodic + matern12",
                                "periodic + se + periodic + se"};

const char* kernel_of(int trial) { return kKernels[static_cast<std::size_t>(trial) % std::size(kKernels)]; }

Case random_case(Random& random, const char* text, std::size_t n) {
  Case c;
  const double gap = random.log_uniform(0.1, 10);
  c.time = support::make_times(random, n, static_cast<Times>(random.integer(0, 2)), gap);
  if (n > 8 && random.chance(0.3)) {
    for (std::size_t i = n / 2; i < n; ++i) c.time[i] += gap * random.log_uniform(10, 300);
  }
  if (n > 4 && random.chance(0.3)) c.time[3] = c.time[2] = c.time[1];
  c.value = random.normals(n);
  c.model.kernel = parse_kernel(text);
  for (Term& term : c.model.kernel.terms) {
    term.variance = random.log_uniform(0.1, 10);
    term.lengthscale = gap * random.log_uniform(0.5, 100);
    term.period = gap * random.log_uniform(1.5, 60);
    term.smoothness = random.log_uniform(0.2, 5);
  }
  c.model.noise = random.log_uniform(1e-3, 1);
  if (random.chance(0.4)) {
    for (std::size_t i = 0; i < n; ++i) c.variance.push_back(random.log_uniform(1e-3, 1));
  }
  c.model.mean = static_cast<Mean>(random.integer(0, n > 5 ? 2 : 1));
  c.cut.tolerance = 1e-11;
  return c;
}

TEST(GlobalColumns, predictions_covariances_and_leave_one_out_equal_the_dense_ones) {
  Random random(31);
  Used used;
  const int trials = support::trials(40, 400);
  for (int trial = 0; trial < trials; ++trial) {
    Case c = random_case(random, kernel_of(trial), static_cast<std::size_t>(random.integer(1, 40)));
    const bool smooth = std::ranges::all_of(
        c.model.kernel.terms, [](const Term& t) { return has_basis(t) || is_strictly_periodic(t); });
    if (smooth && trial % 3 > 0) c.cut.method = trial % 3 == 1 ? Method::dual : Method::band;
    const Truth truth(c);
    if (!truth.usable() || truth.condition > 1e10L) continue;
    SCOPED_TRACE(testing::Message() << "trial " << trial << ": " << c);
    // 10⁸ periods away a period's last digit is a turn.
    std::vector<double> times = support::test_times(random, c);
    const auto [low, high] = std::ranges::minmax(c.time);
    std::erase_if(times, [&](double t) { return std::abs(t - low) > 1e3 * (high - low + 1); });
    const dense::Prediction expected =
        *dense::predict(truth.problem, dense::Vector(times.begin(), times.end()));
    const auto loo =
        c.size() > 5 && std::ranges::count(c.time, c.time[1]) == 1 ? dense::loo(truth.problem) : std::nullopt;
    support::for_each_isa([&] {
      ++used.compared;
      Posterior posterior = support::make_posterior(c);
      support::expect_posterior(posterior, truth, times, expected, loo, used);
    });
    if (HasFatalFailure()) return;
  }
  used.report(trials);
}

/// A component is the prediction of one term's curve from all the data: its own covariance with them.
TEST(GlobalColumns, components_are_those_of_the_dense_model) {
  Random random(32);
  int compared = 0;
  for (int trial = 0; trial < support::trials(20, 100); ++trial) {
    const Case c = random_case(random, kernel_of(trial), 30);
    const Truth truth(c);
    if (!truth.usable() || truth.condition > 1e9L) continue;
    SCOPED_TRACE(c);
    std::vector<double> times;
    for (int i = 0; i < 6; ++i) times.push_back(random.uniform(c.time.front(), c.time.back() + 20));
    Posterior posterior = support::make_posterior(c);
    (void)posterior.predict(times, false);  // in any order
    const std::vector<Component> components = posterior.components(times);
    ASSERT_EQ(components.size(), c.model.kernel.terms.size());
    for (std::size_t k = 0; k < components.size(); ++k) {
      const dense::Term own = support::dense_term(c.model.kernel.terms[k]);
      dense::Matrix cross(times.size(), c.size()), prior(times.size(), times.size()),
          mean(times.size(), static_cast<std::size_t>(c.model.mean));
      for (std::size_t s = 0; s < times.size(); ++s) {
        for (std::size_t i = 0; i < c.size(); ++i)
          cross(s, i) = dense::term_value(own, std::abs(Real(times[s]) - Real(c.time[i])));
        prior(s, s) = own.variance;
      }
      const dense::Prediction expected = dense::krige(*truth.solved, cross, prior, mean);
      for (std::size_t s = 0; s < times.size(); ++s) {
        EXPECT_CLOSE(components[k].mean[s], expected.mean[s], truth.mean_error(expected.mean[s]));
        EXPECT_CLOSE(components[k].variance[s], expected.variance[s],
                     truth.variance_error(expected.variance[s]));
        ++compared;
      }
    }
  }
  EXPECT_GT(compared, 100);
}

TEST(GlobalColumns, no_bound_is_ever_broken_by_the_dense_truth) {
  Random random(33);
  double largest = 0;
  int held = 0, shortened = 0;
  const int problems = support::trials(250, 5000);
  for (int trial = 0; trial < problems && !HasFailure(); ++trial) {
    Case c = random_case(random, kernel_of(trial), static_cast<std::size_t>(random.integer(2, 30)));
    c.cut.tolerance = random.log_uniform(1e-4, 100);
    const dense::Problem problem = support::exact_problem(c);
    const Truth truth(c);
    if (!truth.usable() || truth.condition > 1e10L) continue;
    SCOPED_TRACE(testing::Message() << c << ", tolerance " << c.cut.tolerance);
    Posterior posterior = support::make_posterior(c);
    const Certificate& certificate = posterior.likelihood().certificate;
    if (!certificate.holds()) continue;
    ++held;
    EXPECT_LE(certificate.nll_error.value(), c.cut.tolerance);
    const Real n = static_cast<Real>(c.size()),
               rounding = 16 * u * truth.condition * (n + truth.solved->quadratic) + 1e-10L;
    const Real error = std::abs(posterior.likelihood().nll - *dense::nll(problem));
    EXPECT_LE(error, certificate.nll_error.value() + rounding);
    shortened += error > 4 * rounding ? 1 : 0;
    if (error > 4 * rounding)
      largest = std::max(largest, static_cast<double>(error / certificate.nll_error.value()));
    std::vector<double> times;
    for (int i = 0; i < 4; ++i) times.push_back(random.uniform(c.time.front(), c.time.back()));
    const dense::Prediction expected = *dense::predict(problem, dense::Vector(times.begin(), times.end()));
    const Prediction result = posterior.predict(times);
    const double unit = posterior.series().units.value_unit;
    for (std::size_t t = 0; t < times.size(); ++t) {
      EXPECT_LE(std::abs(result.mean[t] - expected.mean[t]),
                certificate.mean_error.value() * unit + truth.mean_error(expected.mean[t]));
      EXPECT_LE(
          std::abs(result.variance[t] - expected.variance[t]),
          certificate.variance_error.value() * unit * unit + truth.variance_error(expected.variance[t]));
    }
  }
  std::cout << held << " certified, " << shortened << " of them visibly short of harmonics or entries; NLL "
            << "true error / bound at most " << largest << '\n';
  EXPECT_GT(held, problems * 7 / 10);
  EXPECT_GT(shortened, problems / 20);
}

/// The harmonics themselves: with few of them the error shows, has the sign that left out variance gives the
/// determinant, and stays below its bound.
TEST(GlobalColumns, harmonics_are_as_few_as_the_tolerance_allows) {
  Random random(34);
  Case c = random_case(random, "periodic", 40);
  c.model.kernel = "1*periodic(period=7.3, smoothness=0.3)";
  c.model.noise = 0.1;
  const Series series = support::make_series(c);
  const InternalModel model = to_internal(c.model, series.units);
  const Real exact = *dense::nll(support::exact_problem(c));
  Index before = 0;
  for (const double tolerance : {10.0, 1.0, 1e-2, 1e-6, 1e-10}) {
    auto held =
        std::make_unique<ColumnsRepresentation>(std::make_unique<NoiseRepresentation>(), tolerance, 1e9);
    const ColumnsRepresentation& columns = *held;
    Evaluator evaluator(series, c.model.mean, std::move(held));
    Likelihood likelihood;
    ASSERT_FALSE(evaluator.evaluate(model, true, likelihood));
    EXPECT_GT(columns.columns(), before);
    EXPECT_LE(likelihood.certificate.nll_error.value(), tolerance);
    EXPECT_LE(std::abs(nll_to_user(likelihood.nll, series) - exact),
              likelihood.certificate.nll_error.value() + 1e-11);
    before = columns.columns();
  }
  EXPECT_LT(before, 80);
}

/// While differences of the gradient are taken, the number of harmonics stays.
TEST(GlobalColumns, frozen_columns_keep_their_number) {
  Random random(35);
  Case c = random_case(random, "periodic", 40);
  c.model.kernel = "1*periodic(period=7.3, smoothness=0.5)";
  const Series series = support::make_series(c);
  InternalModel model = to_internal(c.model, series.units);
  auto held = std::make_unique<ColumnsRepresentation>(std::make_unique<NoiseRepresentation>(), 1e-3, 1e9);
  const ColumnsRepresentation& columns = *held;
  Evaluator evaluator(series, c.model.mean, std::move(held));
  Likelihood likelihood;
  ASSERT_FALSE(evaluator.evaluate(model, true, likelihood));
  const Index count = columns.columns();
  evaluator.representation().freeze();
  model.kernel.terms[0].smoothness *= 0.3;
  ASSERT_FALSE(evaluator.evaluate(model, true, likelihood));
  EXPECT_EQ(columns.columns(), count);
  evaluator.representation().thaw();
  ASSERT_FALSE(evaluator.evaluate(model, true, likelihood));
  EXPECT_GT(columns.columns(), count);
}

/// Moments of many draws against the covariance, which is the dense one.
TEST(GlobalColumns, draws_have_the_mean_and_covariance_of_the_posterior) {
  Random random(36);
  for (const char* text : {"periodic", "periodic + matern32", "se + periodic", "wendland2 + periodic"}) {
    SCOPED_TRACE(text);
    Case c = random_case(random, text, 25);
    c.cut.tolerance = 1e-6;
    Posterior posterior = support::make_posterior(c);
    const double span = c.time.back() - c.time.front();
    const std::vector<double> times{c.time[7], c.time.front() + 0.31 * span, c.time.front() + 0.33 * span,
                                    c.time.back() + 0.05 * span};
    const std::vector<double> covariance = posterior.covariance(times), mean = posterior.predict(times).mean;
    constexpr Index kDraws = 4000;
    const std::vector<double> draws = posterior.sample(times, kDraws, 3);
    const std::size_t m = times.size();
    for (std::size_t s = 0; s < m; ++s) {
      for (std::size_t t = 0; t <= s; ++t) {
        double sum = 0, product = 0;
        for (std::size_t k = 0; k < kDraws; ++k) {
          sum += draws[k * m + s] - mean[s];
          product += (draws[k * m + s] - mean[s]) * (draws[k * m + t] - mean[t]);
        }
        const double vs = covariance[s * m + s], vt = covariance[t * m + t], c_st = covariance[s * m + t];
        EXPECT_NEAR(sum / kDraws, 0, 4.5 * std::sqrt(vs / kDraws));
        EXPECT_NEAR(product / kDraws, c_st, 4.5 * std::sqrt((vs * vt + c_st * c_st) / kDraws));
      }
    }
    EXPECT_EQ(posterior.predict(times).mean, mean);  // and it predicts as before
  }
}

/// In little memory on long series, where a matrix of all points would take 3 GB; and K is homogeneous in the
/// variances: Σ ∂NLL/∂log σ², the noise's included, is ½(n − yᵀA⁻¹y).
TEST(GlobalColumns, long_series_take_linear_memory_and_obey_the_law_of_scales) {
  const std::size_t n = support::kSanitized ? 3000 : 20000;
  Random random(40);
  Case c;
  c.time = support::gaps_of_one(random, n, false);
  c.value = random.normals(n);
  for (const char* text :
       {"2*periodic(period=37, smoothness=0.8)",
        "2*periodic(period=37, smoothness=0.8) + 1*periodic(period=91, smoothness=2)",
        "2*periodic(period=37, smoothness=0.8) + 1*sho(period=7, quality=3)",
        "2*periodic(period=37, smoothness=0.8) + 1*se(lengthscale=200)",
        "1*se(lengthscale=40) + 2*periodic(period=37, smoothness=0.8) + 1*matern12(lengthscale=3)"}) {
    SCOPED_TRACE(text);
    c.model = {text, 0.3, Mean::zero};
    const Series series = support::make_series(c);
    const EvaluationResult result = evaluate(series, c.model, {.tolerance = 1e-6}, 1e8);
    ASSERT_FALSE(result.failure);
    EXPECT_LE(result.likelihood.certificate.nll_error.value(), 1e-6);
    double sum = result.likelihood.gradient.back();
    for (std::size_t t = 0; t < c.model.kernel.terms.size(); ++t)
      sum += result.likelihood.gradient[c.model.kernel.parameter_index(t, &Term::variance)];
    EXPECT_NEAR(sum, 0.5 * (static_cast<double>(n) - result.likelihood.q), 1e-9 * static_cast<double>(n));
    EXPECT_LT(estimate_cost(series, c.model, {}).bytes, 1e8);
  }
}

/// White where the model holds, over every representation; and predictions go on as before.
TEST(GlobalColumns, whitened_residuals_are_white) {
  constexpr std::size_t n = 6000;
  Random random(37);
  const std::pair<const char*, const char*> cases[] = {
      {"2*periodic(period=37, smoothness=0.8)", "columns"},
      {"2*periodic(period=37, smoothness=0.8) + 1*matern32(lengthscale=30)", "markov"},
      {"2*periodic(period=37, smoothness=0.8) + 1*se(lengthscale=40)", "dual"},
      {"2*periodic(period=37, smoothness=0.8) + 1*se(lengthscale=1)", "band"},
      {"1*se(lengthscale=40) + 2*periodic(period=37, smoothness=0.8) + 1*matern12(lengthscale=3)",
       "elements"}};
  for (const auto& [text, name] : cases) {
    SCOPED_TRACE(text);
    Case c;
    c.time = support::gaps_of_one(random, n, false);
    c.model = {text, 0.1, Mean::constant};
    c.value = simulate(c.model.kernel, c.model.noise, c.time, 5);
    Posterior posterior = support::make_posterior(c);
    EXPECT_EQ(posterior.likelihood().method, name);
    const std::vector<double> at{c.time[5], c.time[77] + 0.3, c.time.back() + 3};
    const Prediction before = posterior.predict(at);
    const std::vector<double> z = posterior.whitened_residuals(5);
    ASSERT_EQ(z.size(), n);
    const double spread = 4.5 / std::sqrt(static_cast<double>(n));
    for (const std::size_t lag : std::vector<std::size_t>{0, 1, 2, 3, 37}) {
      double sum = 0;
      for (std::size_t i = lag; i < n; ++i) sum += z[i] * z[i - lag];
      EXPECT_NEAR(sum / static_cast<double>(n - lag), lag == 0 ? 1 : 0,
                  lag == 0 ? std::sqrt(2.0) * spread : spread)
          << "lag " << lag;
    }
    EXPECT_LT(posterior.rounding(), 1e-4);
    const Prediction after = posterior.predict(at);
    EXPECT_EQ(after.mean, before.mean);
    EXPECT_EQ(after.variance, before.variance);
  }
}

/// The estimate of rounding against the dense truth, where there is next to no noise; the data are the
/// model's, for beside data that it does not explain the truth itself would be short of digits.
TEST(GlobalColumns, rounding_is_told) {
  Random random(38);
  int seen = 0;
  const int trials = support::trials(40, 200);
  for (int trial = 0; trial < trials; ++trial) {
    Case c = random_case(random, kernel_of(trial), 40);
    c.model.noise = random.log_uniform(1e-9, 1e-5);
    c.variance.clear();
    c.value = simulate(c.model.kernel, c.model.noise, c.time, static_cast<std::uint64_t>(trial));
    c.cut.tolerance = 1e-12;
    Posterior posterior = support::make_posterior(c);
    const auto nll = dense::nll(support::exact_problem(c));
    if (!nll || !posterior.likelihood().certificate.holds()) continue;
    const double error = static_cast<double>(std::abs(posterior.likelihood().nll - *nll));
    EXPECT_LE(error, 30 * posterior.rounding() + posterior.likelihood().certificate.nll_error.value() + 1e-10)
        << c;
    ++seen;
  }
  EXPECT_GE(4 * seen, 3 * trials);
}

TEST(GlobalColumns, a_model_file_predicts_what_the_fit_does) {
  for (const char* text : {"periodic(period=10)", "periodic(period=10) + se(lengthscale=30)",
                           "periodic(period=10) + matern12"}) {
    SCOPED_TRACE(text);
    Random random(39);
    Case c;
    c.time = support::gaps_of_one(random, 300, false);
    for (const double t : c.time)
      c.value.push_back(std::sin(0.2 * std::numbers::pi * t) + 0.3 * random.normal());
    const auto series = std::make_shared<const Series>(support::make_series(c));
    FitOptions options;
    options.kernel = text;
    const FitResult fitted = fit(series, options);
    EXPECT_NE(fitted.method, "exact");
    const std::string file = to_model_text(fitted);
    const FitResult again = from_model_text(file, "file");
    const std::vector<double> at{3.3, 150, 333};
    const Prediction before = fitted.predict(at), after = again.predict(at);
    EXPECT_EQ(before.mean, after.mean);
    EXPECT_EQ(before.variance, after.variance);
    EXPECT_EQ(again.method, fitted.method);
    EXPECT_EQ(to_model_text(again), file);
  }
}

}  // namespace
