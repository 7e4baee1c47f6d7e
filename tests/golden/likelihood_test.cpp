// SPDX-License-Identifier: Apache-2.0
// Loss and gradient against the dense long double model cut in the same way, and against published numbers.
// Errors are allowed to be 1e-10 of the loss and 1e-8 of the gradient or, where that is more, what a backward
// error of u ‖A‖ makes of them: u κ (n + q).
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <iostream>

#include "bandgp/io/csv.hpp"
#include "support/analytic_gradient.hpp"
#include "support/gpml.hpp"
#include "support/isa.hpp"
#include "support/problems.hpp"

namespace {

using namespace bandgp;
using support::Case;
using support::Random;
using support::Real;
using support::Times;
using support::u;

/// What is worth knowing when all is well: how much of the allowance was used, and how often there was no
/// value.
struct Tally {
  Real nll = 0, gradient = 0;  // largest error / allowance
  int problems = 0, compared = 0, not_positive_definite = 0;
  void report(const char* what) const {
    std::cout << what << ": " << compared << " compared, " << not_positive_definite
              << " not positive definite; used " << static_cast<double>(nll)
              << " of the allowance for the loss, " << static_cast<double>(gradient) << " for the gradient\n";
    EXPECT_GT(problems, 0);
    support::expect_seen(compared + not_positive_definite, problems);
  }
};

void expect_equal_to_dense(const Case& c, Tally& tally) {
  SCOPED_TRACE(testing::Message() << c);
  ++tally.problems;
  const dense::Problem problem = support::cut_problem(c);
  const Real condition = support::condition(dense::covariance(problem));
  if (condition > 1e13L && condition < 1e30L)
    return;  // whether a pivot is positive is then a matter of rounding
  const Series series = support::make_series(c);
  const auto truth = dense::solve_gls(problem);
  const auto nll = dense::nll(problem);
  const dense::Vector gradient = nll ? support::analytic_gradient(problem, *truth) : dense::Vector();
  support::for_each_isa([&] {
    const EvaluationResult result = evaluate(series, c.model, c.cut);
    if (!nll) {
      ++tally.not_positive_definite;
      ASSERT_TRUE(result.failure);
      EXPECT_EQ(result.failure->kind, Failure::Kind::not_positive_definite);
      EXPECT_TRUE(0 <= result.failure->row && result.failure->row < series.size());
      return;
    }
    ++tally.compared;
    ASSERT_FALSE(result.failure);
    const Real backward = u * condition * (static_cast<Real>(c.size()) + truth->quadratic);
    const Real allowed = std::max(1e-10L * std::abs(*nll), backward);
    EXPECT_CLOSE(result.likelihood.nll, *nll, allowed);
    tally.nll = std::max(tally.nll, std::abs(result.likelihood.nll - *nll) / allowed);
    ASSERT_EQ(result.likelihood.gradient.size(), gradient.size());
    for (std::size_t i = 0; i < gradient.size(); ++i) {
      const Real slack = std::max(1e-8L * std::max<Real>(1, std::abs(gradient[i])), 4 * backward);
      EXPECT_CLOSE(result.likelihood.gradient[i], gradient[i], slack) << "parameter " << i;
      tally.gradient =
          std::max(tally.gradient, std::abs(result.likelihood.gradient[i] - gradient[i]) / slack);
    }
    EXPECT_TRUE(result.likelihood.certificate.positive_definite);
  });
}

Cut index_cut(Index k) { return {.rule = Cut::Rule::bandwidth, .bandwidth = k}; }
Cut reach_cut(double reach) { return {.rule = Cut::Rule::reach, .reach = reach}; }

constexpr Mean kMeans[] = {Mean::zero, Mean::constant, Mean::linear};

Mean any_mean(Random& random, std::size_t n) {
  return n < 2 ? kMeans[random.integer(0, 1)] : kMeans[random.integer(0, 2)];
}

TEST(LikelihoodGolden, gradient_equals_differences_of_the_dense_loss) {
  Random random(8);
  for (int trial = 0; trial < support::trials(10, 40); ++trial) {
    const auto n = static_cast<std::size_t>(random.integer(3, 24));
    Case c;
    c.time = support::make_times(random, n, Times::irregular, 1);
    if (trial % 3 == 0) std::fill(c.time.begin(), c.time.begin() + 2, c.time[2]);
    c.value = random.normals(n);
    const std::vector<AnyShape> smooth = {Se{}, Matern12{}, Matern32{},
                                          Matern52{}};  // in the length-scale, everywhere
    for (Index t = random.integer(1, 3); t > 0; --t) {
      c.model.kernel.terms.push_back(
          {random.pick(smooth), random.log_uniform(0.2, 5), random.log_uniform(0.5, 5)});
    }
    c.model.noise = random.log_uniform(0.1, 1);
    for (std::size_t i = 0; trial % 2 == 0 && i < n; ++i) c.variance.push_back(random.log_uniform(0.01, 10));
    c.model.mean = any_mean(random, n - 2);
    c.cut = index_cut(static_cast<Index>(n));
    const dense::Problem problem = support::cut_problem(c);
    const auto solved = dense::solve_gls(problem);
    ASSERT_TRUE(solved);
    const dense::Vector expected = dense::gradient(problem),
                        formula = support::analytic_gradient(problem, *solved);
    const EvaluationResult result = evaluate(support::make_series(c), c.model, c.cut);
    ASSERT_FALSE(result.failure);
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const Real size = std::max<Real>(1, std::abs(expected[i]));
      EXPECT_CLOSE(formula[i], expected[i], 1e-11L * size) << c << ", parameter " << i;
      EXPECT_CLOSE(result.likelihood.gradient[i], expected[i], 1e-10L * size) << c << ", parameter " << i;
    }
  }
}

TEST(LikelihoodGolden, equals_the_dense_model_for_every_size_cut_and_sampling) {
  Tally tally;
  Random random(1);
  for (const std::size_t n : {1U, 2U, 3U, 5U, 7U, 8U, 9U, 16U, 17U, 200U}) {
    const auto last = static_cast<Index>(n) - 1;
    for (const Times kind : {Times::regular, Times::irregular, Times::clustered}) {
      for (int cut = 0; cut < 7; ++cut) {
        const int repeats = n == 200 ? 1 : support::kSanitized || support::short_effort() ? 2 : 8;
        for (int repeat = 0; repeat < repeats; ++repeat) {
          const double gap = random.log_uniform(0.01, 100);
          Case c;
          c.time = support::make_times(random, n, kind, gap);
          c.value = random.normals(n);
          c.model.kernel = support::make_kernel(random, n == 200 ? 2 : 3, gap);
          c.model.noise = random.log_uniform(1e-3, 1);
          c.model.mean = any_mean(random, n);
          if (random.chance(0.5)) {
            for (std::size_t i = 0; i < n; ++i) c.variance.push_back(random.log_uniform(1e-3, 1));
          }
          const Index bands[] = {0, 1, std::max<Index>(0, last), last + 6, std::min<Index>(last, 11)};
          c.cut = cut < 5 ? index_cut(bands[cut]) : reach_cut(gap * (cut == 5 ? 1.5 : 10.5));
          expect_equal_to_dense(c, tally);
          if (HasFatalFailure()) return;
        }
      }
    }
  }
  tally.report("sizes, cuts, sampling");
}

TEST(LikelihoodGolden, equals_the_dense_model_for_every_shape_and_sums_of_them) {
  Tally tally;
  Random random(2);
  const auto shapes = support::all_shapes();
  std::vector<std::vector<std::size_t>> sums;
  for (std::size_t a = 0; a < shapes.size(); ++a) {
    sums.push_back({a});
    for (std::size_t b = a; b < shapes.size(); ++b) sums.push_back({a, b});
    sums.push_back({a, (a + 1) % shapes.size(), (a + 3) % shapes.size()});
  }
  for (const auto& sum : sums) {
    for (const std::size_t n : {9U, 25U}) {
      Case c;
      c.time = support::make_times(random, n, Times::irregular, 1);
      c.value = random.normals(n);
      for (const std::size_t shape : sum) {
        c.model.kernel.terms.push_back(
            {shapes[shape], random.log_uniform(0.2, 5), random.log_uniform(0.7, 9)});
      }
      c.model.noise = random.log_uniform(1e-2, 0.5);
      c.model.mean = any_mean(random, n);
      c.cut = random.chance(0.5) ? index_cut(static_cast<Index>(n)) : reach_cut(random.uniform(5, 20));
      expect_equal_to_dense(c, tally);
    }
  }
  tally.report("shapes and sums");
}

TEST(LikelihoodGolden, equal_times_count_as_separate_observations) {
  Tally tally;
  Random random(3);
  for (int trial = 0; trial < support::trials(20, 60); ++trial) {
    const std::size_t distinct = static_cast<std::size_t>(random.integer(1, 20));
    const std::vector<double> times =
        support::make_times(random, distinct, trial % 2 == 0 ? Times::regular : Times::irregular, 1);
    Case c;
    const int known = trial % 3;  // none, one for all, each its own
    for (const double t : times) {
      const Index copies = random.chance(0.5) ? 1 : random.integer(2, 4);
      for (Index i = 0; i < copies; ++i) {
        c.time.push_back(t);
        c.value.push_back(random.normal());
        if (known > 0) c.variance.push_back(known == 1 ? 0.3 : random.log_uniform(1e-3, 10));
      }
    }
    for (std::size_t i = c.size(); i-- > 1;) {  // any order
      const auto other = static_cast<std::size_t>(random.integer(0, static_cast<Index>(i)));
      std::swap(c.time[i], c.time[other]);
      std::swap(c.value[i], c.value[other]);
      if (known > 0) std::swap(c.variance[i], c.variance[other]);
    }
    c.model.kernel = support::make_kernel(random, 2, 1);
    c.model.noise = random.log_uniform(0.01, 1);
    c.model.mean = any_mean(random, distinct);
    c.cut = trial % 4 == 0   ? index_cut(random.integer(0, 6))
            : trial % 4 == 1 ? reach_cut(random.uniform(0.6, 6.4))
                             : index_cut(40);
    expect_equal_to_dense(c, tally);
    if (HasFatalFailure()) return;
  }
  tally.report("equal times");
}

TEST(LikelihoodGolden, known_variances_alone_are_enough) {
  Tally tally;
  Random random(4);
  for (int trial = 0; trial < 10; ++trial) {
    Case c;
    c.time = support::make_times(random, 17, Times::irregular, 1);
    c.value = random.normals(17);
    for (std::size_t i = 0; i < 17; ++i) c.variance.push_back(random.log_uniform(0.01, 1));
    c.model.kernel = support::make_kernel(random, 2, 1);
    c.model.noise = 0;
    c.model.mean = any_mean(random, 17);
    c.cut = index_cut(20);
    expect_equal_to_dense(c, tally);
    EXPECT_EQ(evaluate(support::make_series(c), c.model, c.cut).likelihood.gradient.back(), 0);
  }
  tally.report("no noise of its own");
}

TEST(LikelihoodGolden, scales_and_offsets_of_times_and_values_cost_no_digits) {
  struct Scale {
    double value, offset, gap, start;
  };
  constexpr Scale kScales[] = {{1e-21, 0, 1, 0},         {1e-21, 3e-19, 1e-9, 0}, {1, 1e9, 1, 0},
                               {1e-3, 1e6, 1, 1.7e9},    {1e9, 0, 3600, 1.7e9},   {1e21, 1e22, 1e12, -4e12},
                               {1e-150, 0, 1e-100, 0},   {1e120, 0, 1e100, 0},    {1, -1e9, 86400, 1.7e9},
                               {2, 5, 1. / 1024, 2.46e6}};
  Tally tally;
  Random random(5);
  for (const Scale& scale : kScales) {
    for (const Mean mean : kMeans) {
      for (const bool known : {false, true}) {
        if (mean == Mean::zero && scale.offset != 0) continue;  // then the offset is the data
        const std::size_t n = 17;
        Case c;
        c.time =
            support::make_times(random, n, random.chance(0.5) ? Times::regular : Times::irregular, scale.gap);
        for (double& t : c.time) t = scale.start + t;
        for (const double y : random.normals(n)) c.value.push_back(scale.offset + scale.value * y);
        const double unit = scale.value * scale.value;
        for (std::size_t i = 0; known && i < n; ++i) c.variance.push_back(unit * random.log_uniform(0.01, 1));
        c.model.kernel = support::make_kernel(random, 2, scale.gap, unit);
        c.model.noise = unit * random.log_uniform(0.01, 1);
        c.model.mean = mean;
        c.cut = random.chance(0.5) ? index_cut(20) : reach_cut(scale.gap * 11.3);
        SCOPED_TRACE(testing::Message() << "values of size " << scale.value << " around " << scale.offset
                                        << ", gap " << scale.gap << ", start " << scale.start);
        expect_equal_to_dense(c, tally);
      }
    }
  }
  tally.report("scales and offsets");
}

TEST(LikelihoodGolden, an_offset_of_the_values_under_mean_zero_is_part_of_the_data) {
  Tally tally;
  Random random(6);
  Case c;
  c.time = support::make_times(random, 16, Times::regular, 1);
  for (const double y : random.normals(16)) c.value.push_back(1e6 + y);
  c.model.kernel = parse_kernel("2*se(lengthscale=2)");
  c.model.noise = 0.5;
  c.model.mean = Mean::zero;
  c.cut = index_cut(15);
  expect_equal_to_dense(c, tally);
}

TEST(LikelihoodGolden, mean_coefficients_are_those_of_generalised_least_squares) {
  Random random(7);
  for (int trial = 0; trial < 20; ++trial) {
    Case c;
    const double start = trial % 2 == 0 ? 0 : 1000;
    c.time = support::make_times(random, 20, Times::irregular, 1);
    for (double& t : c.time) t += start;
    for (const double t : c.time) c.value.push_back(3 - 0.25 * t + random.normal());
    c.model.kernel = support::make_kernel(random, 2, 1);
    c.model.noise = random.log_uniform(0.05, 1);
    c.model.mean = kMeans[1 + trial % 2];
    c.cut = index_cut(random.chance(0.5) ? 20 : 12);
    const dense::Problem problem = support::cut_problem(c);
    const auto expected = dense::mean_coefficients(problem);
    if (!expected) continue;
    const std::vector<double> beta = support::make_posterior(c).mean_coefficients();
    ASSERT_EQ(beta.size(), expected->size());
    const Real condition = support::condition(dense::covariance(problem));
    const Real span = std::abs(start) + 40;
    for (std::size_t i = 0; i < beta.size(); ++i)
      EXPECT_CLOSE(beta[i], (*expected)[i], 64 * u * condition * span) << c;
  }
}

TEST(LikelihoodGolden, a_band_that_is_too_narrow_is_reported_and_not_repaired) {
  Case c;
  for (int i = 0; i < 60; ++i) {
    c.time.push_back(0.2 * i);
    c.value.push_back(std::sin(0.2 * i));
  }
  c.model.kernel = parse_kernel("5*se(lengthscale=1)");
  c.model.noise = 0.1;
  const Series series = support::make_series(c);
  int failures = 0;
  for (Index k = 0; k < 60; ++k) {
    c.cut = index_cut(k);
    const auto truth = dense::nll(support::cut_problem(c));
    support::for_each_isa([&] {
      const EvaluationResult result = evaluate(series, c.model, c.cut);
      EXPECT_EQ(result.failure.has_value(), !truth.has_value()) << "k " << k;
      EXPECT_EQ(result.likelihood.bandwidth, k);
    });
    failures += truth ? 0 : 1;
  }
  EXPECT_GT(failures, 5);
}

// --- published numbers
// ------------------------------------------------------------------------------------------------

/// The folder of longer published inputs, or nothing: then the test says so and ends.
std::filesystem::path reference_folder() {
  const char* data = std::getenv("BANDGP_DATA");
  return std::filesystem::path(data == nullptr ? "" : data) / "gp_reference";
}

#define SKIP_WITHOUT_DATA()                                                               \
  if (!std::filesystem::exists(reference_folder())) {                                     \
    GTEST_SKIP() << "skipped: no data at " << reference_folder() << " (set BANDGP_DATA)"; \
  }

Case case_of(const support::Points& points) {
  Case c;
  c.time = points.x;
  c.value = points.y;
  c.model.mean = Mean::zero;
  c.cut = index_cut(static_cast<Index>(points.x.size()));
  return c;
}

Case read_case(const char* file, bool with_errors = false) {
  const Table table = read_csv((reference_folder() / file).string(), {.yerr = with_errors ? "yerr" : ""});
  Case c;
  c.time = table.time;
  c.value = table.value;
  c.variance = table.variance;
  c.model.mean = Mean::zero;
  c.cut = index_cut(static_cast<Index>(table.time.size()));
  return c;
}

/// Half a unit of the last digit that was printed.
constexpr double half_digit(int digits_after_the_point) {
  double unit = 0.5;
  for (int i = 0; i < digits_after_the_point; ++i) unit /= 10;
  return unit;
}

EvaluationResult evaluate_case(const Case& c) { return evaluate(support::make_series(c), c.model, c.cut); }

Kernel one_term(AnyShape shape, double variance, double lengthscale) {
  return {{{shape, variance, lengthscale}}};
}

/// An optimum as optimisers find it: their usual stopping rule is a gradient of 1e-5.
void expect_flat(const EvaluationResult& result) {
  for (const double g : result.likelihood.gradient) EXPECT_CLOSE(g, 0, 1e-5);
}

TEST(LikelihoodGolden, mistakes_in_the_cut_or_the_mean_are_refused) {
  const std::vector<double> t = {0, 1, 2, 3}, y = {1, 2, 0, 4};
  const Series centred = bandgp::make_series(t, y);
  const Model model{parse_kernel("1*se(lengthscale=1)"), 0.1, Mean::constant};
  const Model zero{model.kernel, 0.1, Mean::zero};
  for (const Cut& cut :
       {Cut{.tolerance = -1}, Cut{.tolerance = 0},
        Cut{.rule = Cut::Rule::bandwidth, .bandwidth = 2, .tolerance = -1},
        Cut{.rule = Cut::Rule::bandwidth, .bandwidth = -1}, Cut{.rule = Cut::Rule::reach, .reach = -1}}) {
    EXPECT_THROW((void)evaluate(centred, model, cut), std::invalid_argument);
    FitOptions options;
    options.cut = cut;
    EXPECT_THROW((void)fit(std::make_shared<const Series>(centred), options), std::invalid_argument);
  }
  EXPECT_THROW((void)evaluate(centred, zero, {}), std::invalid_argument);
  EXPECT_NO_THROW((void)evaluate(bandgp::make_series(t, y, {}, {.center = false}), zero, {}));
}

TEST(LikelihoodGolden, a_vanishing_lengthscale_leaves_white_noise_and_a_finite_gradient) {
  const std::vector<double> t = {0, 1, 2, 3}, y = {1, 2, 0, 4};
  const Series series = bandgp::make_series(t, y);
  for (const AnyShape& shape : support::all_shapes()) {
    const Model model{Kernel(std::vector<Term>{{shape, 2.0, 1e-160}}), 0.1, Mean::constant};
    support::for_each_isa([&] {
      const EvaluationResult result = evaluate(series, model, {});
      ASSERT_FALSE(result.failure);
      ASSERT_EQ(result.likelihood.gradient.size(), 3U);
      for (const double g : result.likelihood.gradient) EXPECT_TRUE(std::isfinite(g)) << shape_name(shape);
      EXPECT_EQ(result.likelihood.gradient[1], 0) << shape_name(shape);
    });
  }
}

TEST(PublishedByGpml, simple_optimum) {
  Case c = case_of(support::gpml_simple());
  ASSERT_EQ(c.size(), 20U);
  c.model.kernel = one_term(Se{}, std::exp(2 * -0.10446336), std::exp(-0.63521501));
  c.model.noise = std::exp(2 * -2.38237100);
  const EvaluationResult result = evaluate_case(c);
  ASSERT_FALSE(result.failure);
  EXPECT_CLOSE(result.likelihood.nll, -2.782129589953, half_digit(12) + 1e-12);
  expect_flat(result);
  // The published digits are those of the same place.
  EXPECT_CLOSE(0.5 * std::log(c.model.kernel.terms[0].variance), -0.1045, half_digit(4));
}

TEST(PublishedByGpml, demo_regression_optimum) {
  Case c = case_of(support::gpml_demo_regression());
  c.model.kernel = one_term(Se{}, 1.9856437 * 1.9856437, 0.3703166);
  c.model.noise = 0.1491881 * 0.1491881;
  const EvaluationResult result = evaluate_case(c);
  ASSERT_FALSE(result.failure);
  EXPECT_CLOSE(result.likelihood.nll, 14.131090784910, half_digit(11));
  EXPECT_CLOSE(result.likelihood.nll, 14.13, half_digit(2));
  expect_flat(result);
}

TEST(PublishedByGpml, demo_regression_matern32) {
  Case c = case_of(support::gpml_demo_regression());
  for (std::size_t i = 0; i < c.size(); ++i) c.value[i] -= 0.5 * c.time[i] + 1;
  c.model.kernel = one_term(Matern32{}, 1, 0.25);
  c.model.noise = 0.01;
  const EvaluationResult result = evaluate_case(c);
  ASSERT_FALSE(result.failure);
  EXPECT_CLOSE(result.likelihood.nll, 11.970631724635, half_digit(12) + 1e-12);
  EXPECT_CLOSE(result.likelihood.nll, 11.97, half_digit(2));
}

TEST(Published, george_first) {
  SKIP_WITHOUT_DATA();
  Case c = read_case("george_first_xy.csv", true);
  ASSERT_EQ(c.size(), 15U);
  double mean = 0, variance = 0;
  for (const double y : c.value) mean += y / 15;
  for (const double y : c.value) variance += (y - mean) * (y - mean) / 15;
  c.model.kernel = one_term(Se{}, variance, std::sqrt(0.5));
  c.model.noise = 0;
  const EvaluationResult result = evaluate_case(c);
  ASSERT_FALSE(result.failure);
  EXPECT_CLOSE(-result.likelihood.nll, -11.816510286983, half_digit(12) + 1e-12);
  EXPECT_CLOSE(-result.likelihood.nll, -11.82, half_digit(2));
}

TEST(Published, george_scaling) {
  SKIP_WITHOUT_DATA();
  const Case all = read_case("george_scaling_first2000_xy.csv");
  ASSERT_EQ(all.size(), 2000U);
  struct Row {
    std::size_t n;
    double log_likelihood;
    int digits;
  };
  for (const Row& row :
       {Row{100, 133.946394918124, 12}, Row{1000, 1374.5708082219, 10}, Row{2000, 2755.9515991285, 10}}) {
    if (support::kSanitized && row.n > 100) break;  // minutes
    Case c = all;
    c.time.resize(row.n);
    c.value.resize(row.n);
    c.variance.assign(row.n, 0.01);
    c.model.kernel = one_term(Se{}, 0.443195437637469, 1);
    c.model.noise = 0;
    // Condition number n·0.44/0.01: the recomputation in double carries u κ n of its own.
    const double allowed = half_digit(row.digits) + u * 45 * static_cast<double>(row.n * row.n);
    for (const Cut& cut : {index_cut(2000), Cut{.tolerance = 1e-9}}) {
      c.cut = cut;
      const EvaluationResult result = evaluate_case(c);
      ASSERT_FALSE(result.failure);
      const double promised =
          cut.rule == Cut::Rule::tolerance ? result.likelihood.certificate.nll_error.value() : 0;
      EXPECT_LE(promised, 1e-9);
      EXPECT_CLOSE(-result.likelihood.nll, row.log_likelihood, allowed + promised) << "n " << row.n;
    }
    if (row.n == 100) {  // george's own number, from an approximate solver
      EXPECT_CLOSE(-evaluate_case(c).likelihood.nll, 133.946394912, 1e-8);
    }
  }
}

}  // namespace
