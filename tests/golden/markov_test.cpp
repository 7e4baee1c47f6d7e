// SPDX-License-Identifier: Apache-2.0
// Markov terms: the filter and its adjoint against the same model in quadruple precision, on gaps from 1e-6
// to 1e3 length-scales and noise from 1e-10 to 1e10 of the signal; predictions, leave-one-out, draws and
// covariances against the dense model.
#include <gtest/gtest.h>

#include "bandgp/gp/markov_representation.hpp"
#include "bandgp/gp/posterior.hpp"
#include "bandgp/markov/filter.hpp"
#include "bandgp/methods/make_representation.hpp"
#include "support/effort.hpp"
#include "support/isa.hpp"
#include "support/quad_markov.hpp"
#include "support/truth.hpp"

namespace {

using namespace bandgp;
using support::Case;
using support::Random;

/// What math.md §7 promises on this grid: of the NLL relative to max(n, |NLL|), of the gradient relative to
/// |g| + 10⁻³n.  A slope that is many orders of magnitude smaller than the others, as that of a term where
/// the data are nothing like the model, is relative to itself a little less accurate.
constexpr double kNll = 5e-12, kGradient = 5e-8, kOneSlope = 2e-7;

struct Made {
  std::vector<markov::StateTerm> terms;
  quad::Problem truth;
};

/// Terms around one length-scale, points at `gap` length-scales with ties, noise of its own at every point.
Made make_problem(Random& random, std::size_t n, int terms, double gap, double noise, bool from_model) {
  Made made;
  for (int t = 0; t < terms; ++t) {
    const int states = static_cast<int>(random.integer(1, 3));
    const double variance = random.log_uniform(0.3, 3), lengthscale = random.log_uniform(0.5, 2);
    made.terms.push_back({states, variance, std::sqrt(2.0 * states - 1) / lengthscale});
    made.truth.terms.push_back({states, variance, lengthscale});
  }
  double time = 0, level = 0;
  const bool ties = random.chance(0.5), unequal = random.chance(0.5);
  for (std::size_t i = 0; i < n; ++i) {
    if (i > 0 && !(ties && random.chance(0.2))) time += gap * random.uniform(0.1, 1.9);
    made.truth.time.push_back(time);
    made.truth.noise.push_back(noise * (unequal ? random.log_uniform(0.1, 10) : 1.0));
    if (from_model) level = level * std::exp(-gap) + std::sqrt(-std::expm1(-2 * gap)) * random.normal();
    made.truth.value.push_back(level + std::sqrt(from_model ? noise : 1.0) * random.normal());
  }
  return made;
}

/// NLL and gradient by the library's filter: log variance and log lengthscale of every term, then all noise.
struct Computed {
  double nll;
  std::vector<double> gradient;
};
Computed compute(const Made& made, Index threads) {
  const auto n = static_cast<Index>(made.truth.time.size());
  std::vector<double> time, noise;
  for (const quad::Real t : made.truth.time) time.push_back(static_cast<double>(t));
  for (const quad::Real d : made.truth.noise) noise.push_back(static_cast<double>(d));
  markov::Filter filter(threads);
  filter.prepare(made.terms, time.data(), n);
  const Index stride = round_up(n, 8) + round_up(filter.carried_size(), 8);
  AlignedBuffer column;
  column.reserve(stride);
  std::fill_n(column.data(), stride, 0.0);
  for (Index i = 0; i < n; ++i)
    column.data()[i] = static_cast<double>(made.truth.value[static_cast<std::size_t>(i)]);
  EXPECT_EQ(filter.factor(noise.data(), {column.data(), 1, stride}), -1);
  double q = 0;
  for (Index i = 0; i < n; ++i) q += column.data()[i] * column.data()[i];
  Computed result;
  result.nll = 0.5 * (q + filter.log_determinant() + static_cast<double>(n) * std::log(2 * std::numbers::pi));
  std::vector<markov::TermSlopes> slopes(made.terms.size());
  const double by_noise = filter.gradient({column.data(), 1, stride}, noise.data(), slopes);
  for (const markov::TermSlopes& s : slopes)
    result.gradient.insert(result.gradient.end(), {s.by_log_variance, s.by_log_lengthscale});
  result.gradient.push_back(by_noise);
  return result;
}

double norm(const std::vector<double>& v) {
  double square = 0;
  for (const double x : v) square += x * x;
  return std::sqrt(square);
}

std::vector<double> true_gradient(const quad::Problem& p) {
  std::vector<double> gradient;
  for (std::size_t t = 0; t < p.terms.size(); ++t) {
    gradient.push_back(static_cast<double>(
        quad::slope(p, [t](quad::Problem& moved, quad::Real factor) { moved.terms[t].variance *= factor; })));
    gradient.push_back(static_cast<double>(quad::slope(
        p, [t](quad::Problem& moved, quad::Real factor) { moved.terms[t].lengthscale *= factor; })));
  }
  gradient.push_back(static_cast<double>(quad::slope(p, [](quad::Problem& moved, quad::Real factor) {
    for (quad::Real& d : moved.noise) d *= factor;
  })));
  return gradient;
}

TEST(Markov, the_truth_of_these_tests_is_the_dense_model_in_quadruple_precision) {
  Random random(11);
  for (int terms = 1; terms <= 3; ++terms) {
    const Made made = make_problem(random, 40, terms, 0.5, 1e-3, true);
    const quad::Real a = quad::filter_nll(made.truth), b = quad::dense_nll(made.truth);
    EXPECT_LT(std::abs(static_cast<double>(a - b)), 1e-22 * (1 + std::abs(static_cast<double>(b))));
  }
}

TEST(Markov, nll_and_gradient_equal_those_in_quadruple_precision_on_a_grid_of_problems) {
  int seen = 0;
  double worst_nll = 0, worst_gradient = 0, worst_slope = 0;
  Random random(14);
  // Differences in quadruple precision are slow: they look at shorter series.
  const std::size_t n = support::kSanitized ? 40 : support::short_effort() ? 60 : 600;
  const std::size_t for_gradient = support::kSanitized ? 8 : support::short_effort() ? 12 : 120;
  for (int terms = 1; terms <= 4; ++terms) {
    for (const double gap : {1e-6, 1e-4, 1e-2, 0.3, 3.0, 60.0, 1e3}) {
      for (const double noise : {1e-10, 1e-5, 1e-2, 1.0, 1e4, 1e10}) {
        for (const bool from_model : {true, false}) {
          const Made made = make_problem(random, n, terms, gap, noise, from_model);
          const double truth = static_cast<double>(quad::filter_nll(made.truth));
          const Computed computed = compute(made, 1);
          const double error =
              std::abs(computed.nll - truth) / std::max(static_cast<double>(n), std::abs(truth));
          EXPECT_LT(error, kNll) << terms << " terms, gap " << gap << ", noise " << noise;
          worst_nll = std::max(worst_nll, error);
          const Made shorter = make_problem(random, for_gradient, terms, gap, noise, from_model);
          const std::vector<double> gradient = true_gradient(shorter.truth),
                                    slopes = compute(shorter, 1).gradient;
          const double least = 1e-3 * static_cast<double>(for_gradient), length = norm(gradient);
          for (std::size_t i = 0; i < gradient.size(); ++i) {
            const double error_here = std::abs(slopes[i] - gradient[i]);
            const double off = error_here / (length + least),
                         of_itself = error_here / (std::abs(gradient[i]) + least);
            const auto where = [&] {
              return testing::Message()
                     << terms << " terms, gap " << gap << ", noise " << noise << ", parameter " << i << ": "
                     << slopes[i] << ", truth " << gradient[i];
            };
            EXPECT_LT(off, kGradient) << where();
            EXPECT_LT(of_itself, kOneSlope) << where();
            worst_gradient = std::max(worst_gradient, off);
            worst_slope = std::max(worst_slope, of_itself);
          }
          ++seen;
        }
      }
    }
  }
  EXPECT_EQ(seen, 4 * 7 * 6 * 2);
  std::printf("worst error of the NLL %.1e, of the gradient %.1e, of one slope %.1e\n", worst_nll,
              worst_gradient, worst_slope);
}

TEST(Markov, results_do_not_depend_on_the_number_of_threads_or_blocks_of_points) {
  Random random(5);
  for (int terms = 1; terms <= 3; ++terms) {
    const Made made = make_problem(random, 20000, terms, 0.1, 0.1, true);
    const Computed one = compute(made, 1), two = compute(made, 2);
    EXPECT_EQ(one.nll, two.nll);
    EXPECT_EQ(one.gradient, two.gradient);
  }
}

Case markov_case(Random& random, std::size_t n, Mean mean) {
  Case c;
  c.time = support::make_times(random, n, support::Times::irregular, 1.0);
  if (random.chance(0.5)) c.time[5] = c.time[4];
  for (std::size_t i = 0; i < n; ++i) c.value.push_back(3 + random.normal());
  const int terms = static_cast<int>(random.integer(1, 3));
  for (int t = 0; t < terms; ++t) {
    Term term;
    const char* const shapes[] = {"matern12", "matern32", "matern52"};
    term = parse_kernel(shapes[random.integer(0, 2)]).terms[0];
    term.variance = random.log_uniform(0.2, 5);
    term.lengthscale = random.log_uniform(0.3, 30);
    c.model.kernel.terms.push_back(term);
  }
  c.model.noise = random.log_uniform(1e-3, 1);
  c.model.mean = mean;
  const bool known = random.chance(0.5);
  for (std::size_t i = 0; known && i < n; ++i) c.variance.push_back(random.log_uniform(1e-3, 1));
  return c;
}

TEST(Markov, auto_takes_the_filter_for_every_sum_of_matern_terms_and_predicts_as_the_dense_model) {
  Random random(3);
  const int trials = support::trials(20, 100);
  int seen = 0;
  for (int trial = 0; trial < trials; ++trial) {
    const Case c = markov_case(random, 30, static_cast<Mean>(random.integer(0, 2)));
    Case dense = c;
    dense.cut.method = Method::exact;
    Posterior posterior = support::make_posterior(c), exact = support::make_posterior(dense);
    EXPECT_EQ(posterior.likelihood().method, "markov");
    EXPECT_EQ(posterior.likelihood().certificate.rho.value(), 0);
    EXPECT_NEAR(posterior.likelihood().nll, exact.likelihood().nll, 1e-9 * 30);
    std::vector<double> at = c.time;
    for (int t = 0; t < 20; ++t) at.push_back(random.uniform(c.time[0] - 20, c.time[0] + 60));
    const Prediction a = posterior.predict(at), b = exact.predict(at);
    const double scale = c.model.kernel.variance();
    for (std::size_t t = 0; t < at.size(); ++t) {
      EXPECT_NEAR(a.mean[t], b.mean[t], 1e-8 * std::sqrt(scale));
      EXPECT_NEAR(a.variance[t], b.variance[t], 1e-8 * scale);
    }
    const std::vector<double> cov_a = posterior.covariance(at), cov_b = exact.covariance(at);
    for (std::size_t i = 0; i < cov_a.size(); ++i) EXPECT_NEAR(cov_a[i], cov_b[i], 1e-8 * scale);
    const std::vector<Component> parts_a = posterior.components(at), parts_b = exact.components(at);
    for (std::size_t p = 0; p < parts_a.size(); ++p) {
      for (std::size_t t = 0; t < at.size(); ++t) {
        EXPECT_NEAR(parts_a[p].mean[t], parts_b[p].mean[t], 1e-8 * std::sqrt(scale));
        EXPECT_NEAR(parts_a[p].variance[t], parts_b[p].variance[t], 1e-8 * scale);
      }
    }
    const LeaveOneOut left_a = posterior.leave_one_out(), left_b = exact.leave_one_out();
    for (std::size_t i = 0; i < left_a.mean.size(); ++i) {
      EXPECT_NEAR(left_a.mean[i], left_b.mean[i], 1e-7 * std::sqrt(scale));
      EXPECT_NEAR(left_a.variance[i], left_b.variance[i], 1e-7 * scale);
    }
    ++seen;
  }
  EXPECT_EQ(seen, trials);
}

TEST(Markov, draws_have_the_mean_and_the_covariance_of_the_posterior) {
  Random random(9);
  const Case c = markov_case(random, 25, Mean::linear);
  Posterior posterior = support::make_posterior(c);
  std::vector<double> at = {c.time[0] - 3, c.time[3], c.time[3] + 0.4, c.time[10] + 0.01, c.time[0] + 40};
  const Prediction before = posterior.predict(at);
  const std::vector<double> covariance = posterior.covariance(at);
  constexpr Index kDraws = 20000;
  const std::vector<double> draws = posterior.sample(at, kDraws, 1);
  const std::size_t m = at.size();
  for (std::size_t a = 0; a < m; ++a) {
    double mean = 0;
    for (Index k = 0; k < kDraws; ++k) mean += draws[static_cast<std::size_t>(k) * m + a] / kDraws;
    EXPECT_NEAR(mean, before.mean[a], 5 * std::sqrt(before.variance[a] / kDraws));
    for (std::size_t b = 0; b < m; ++b) {
      double sum = 0;
      for (Index k = 0; k < kDraws; ++k) {
        const double* row = draws.data() + static_cast<std::size_t>(k) * m;
        sum += (row[a] - before.mean[a]) * (row[b] - before.mean[b]) / kDraws;
      }
      EXPECT_NEAR(sum, covariance[a * m + b],
                  6 * std::sqrt(2 * before.variance[a] * before.variance[b] / kDraws));
    }
  }
  // Draws leave predictions as they were, and the same seed gives the same draws.
  EXPECT_EQ(posterior.predict(at).mean, before.mean);
  EXPECT_EQ(posterior.sample(at, 2, 7), posterior.sample(at, 2, 7));
}

TEST(Markov, rounding_is_not_made_up_where_there_is_hardly_any_noise) {
  // A band's residual b − Aα would tell millions of nats here: rounding in A's entries, which the filter has
  // none of.
  for (const double noise : {1e-4, 1e-10, 1e-12}) {
    quad::Problem truth;
    truth.terms.push_back({3, 1, 30});
    Case c;
    c.model = {"1*matern52(lengthscale=30)", noise, Mean::zero};
    Random random(9);
    for (int i = 0; i < 400; ++i) {
      c.time.push_back(i);
      c.value.push_back(std::sin(i / 20.0) + 1e-5 * random.normal());
      truth.time.push_back(c.time.back());
      truth.value.push_back(c.value.back());
      truth.noise.push_back(noise);
    }
    const auto series = std::make_shared<const Series>(make_series(c.time, c.value, {}, {.center = false}));
    Posterior posterior(series, c.model, make_representation({}, 0));
    const double exact = static_cast<double>(quad::filter_nll(truth));
    EXPECT_LE(std::abs(posterior.likelihood().nll - exact), posterior.rounding()) << noise;
    EXPECT_LT(posterior.rounding(), 1e-11 * (400 + std::abs(exact))) << noise;
  }
}

}  // namespace
