// SPDX-License-Identifier: Apache-2.0
// Training ends where the exact GP's likelihood has its minimum: at the fitted θ the dense Newton step −H⁻¹g
// is below 1e-4 in every log parameter, whatever the kernel, the sampling, the mean and the cut.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <map>
#include <numbers>

#include "bandgp/fit/fit.hpp"
#include "bandgp/fit/parameters.hpp"
#include "bandgp/io/csv.hpp"
#include "support/close.hpp"
#include "support/dense_lapack.hpp"
#include "support/effort.hpp"
#include "support/random.hpp"
#include "support/simulate.hpp"

namespace {

using namespace bandgp;
using support::Random;
using Values = std::vector<double>;

/// Optima agree to this in every log parameter: a hundredth of a typical standard error and less.
constexpr double kOptimum = 1e-4;

struct Data {
  Values time, value, variance = {};
};

std::shared_ptr<const Series> series_of(const Data& data, Mean mean) {
  return std::make_shared<const Series>(
      make_series(data.time, data.value, data.variance, {.center = mean != Mean::zero}));
}

lapack::Problem dense_problem(const Data& data, const Model& model) {
  lapack::Problem problem{data.time, data.value, data.variance};
  for (const Term& term : model.kernel.terms)
    problem.terms.push_back({std::string(shape_name(term.shape)), term.variance, term.lengthscale});
  problem.noise = model.noise;
  problem.mean = static_cast<int>(model.mean);
  return problem;
}

Values logs(const Model& model) {
  Values result = parameter_values(model);
  for (double& x : result) x = std::log(x);
  return result;
}

/// The terms of a sum in the order of their length-scales: equal shapes may have changed places.
Model ordered(Model model) {
  std::ranges::sort(model.kernel.terms, {}, &Term::lengthscale);
  return model;
}

void expect_same_optimum(const FitResult& a, const FitResult& b, double allowed) {
  const Values x = logs(ordered(a.model)), y = logs(ordered(b.model));
  ASSERT_EQ(x.size(), y.size());
  for (std::size_t i = 0; i < x.size(); ++i) EXPECT_CLOSE(x[i], y[i], allowed) << "parameter " << i;
}

/// What is worth knowing when all is well.
struct Tally {
  double step = 0, error = 0;  // largest dense Newton step; largest relative difference of a standard error
};

/// At the fitted θ: the dense model agrees about the loss, the minimum and the standard errors.
void expect_dense_optimum(const FitResult& result, const Data& data, Tally& tally) {
  EXPECT_EQ(result.status, FitStatus::converged) << result.message;
  EXPECT_TRUE(result.certified());
  const lapack::Problem problem = dense_problem(data, result.model);
  const Values values = parameter_values(result.model);
  std::vector<std::size_t> free;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (std::isfinite(result.standard_errors.at(i))) free.push_back(i);
  }
  ASSERT_FALSE(free.empty());
  const lapack::Newton newton = lapack::newton(problem, free);
  EXPECT_CLOSE(result.nll, newton.nll,
               result.certificate.nll_error.value() + 1e-9 * std::abs(newton.nll) + 1e-8);
  for (std::size_t i = 0; i < free.size(); ++i) {
    EXPECT_CLOSE(newton.step[i], 0, kOptimum) << "parameter " << free[i];
    const double error = result.standard_errors[free[i]] / values[free[i]];
    EXPECT_CLOSE(error, newton.standard_errors[i], 0.01 * newton.standard_errors[i])
        << "parameter " << free[i];
    tally.step = std::max(tally.step, std::abs(newton.step[i]));
    tally.error = std::max(tally.error, std::abs(error / newton.standard_errors[i] - 1));
  }
}

FitOptions options_for(const std::string& kernel, Mean mean, Cut cut = {}) {
  FitOptions options;
  options.kernel = parse_kernel(kernel);
  options.mean = mean;
  options.cut = cut;
  return options;
}

Cut index_cut(Index k) { return {.rule = Cut::Rule::bandwidth, .bandwidth = k}; }

// --- simulated series --------------------------------------------------------------------------------------

enum class Sampling { regular, irregular, ties };

/// The kernel's text with the true values; the fit gets the shapes alone.
struct Truth {
  const char *name, *kernel, *fitted;
  double noise;
  Mean mean;
  Sampling sampling;
  bool known_errors;
  Index bandwidth;  // enough for the fixed-k mode
  friend std::ostream& operator<<(std::ostream& out, const Truth& truth) { return out << truth.name; }
};

constexpr const char *kSe = "2*se(lengthscale=4)", *kSum = "3*se(lengthscale=25) + 0.5*se(lengthscale=2)",
                     *kMatern = "1.5*matern32(lengthscale=6)";
const Truth kTruths[] = {
    {"se_regular_zero", kSe, "se", 0.2, Mean::zero, Sampling::regular, false, 90},
    {"se_irregular_constant", kSe, "se", 0.05, Mean::constant, Sampling::irregular, false, 120},
    {"se_irregular_linear", kSe, "se", 0.5, Mean::linear, Sampling::irregular, false, 120},
    {"se_errors_zero", kSe, "se", 0.1, Mean::zero, Sampling::irregular, true, 120},
    {"se_ties_constant", kSe, "se", 0.2, Mean::constant, Sampling::ties, false, 120},
    {"se_ties_errors_linear", kSe, "se", 0.1, Mean::linear, Sampling::ties, true, 120},
    {"sum_regular_constant", kSum, "se + se", 0.1, Mean::constant, Sampling::regular, false, 399},
    {"sum_irregular_zero", kSum, "se + se", 0.05, Mean::zero, Sampling::irregular, false, 399},
    {"sum_errors_constant", kSum, "se + se", 0.05, Mean::constant, Sampling::regular, true, 399},
    {"matern32_regular_zero", kMatern, "matern32", 0.1, Mean::zero, Sampling::regular, false, 399},
    {"matern32_irregular_linear", kMatern, "matern32", 0.1, Mean::linear, Sampling::irregular, false, 399},
    {"matern32_ties_errors_constant", kMatern, "matern32", 0.1, Mean::constant, Sampling::ties, true, 399},
};

Data simulate(const Truth& truth, std::size_t n, std::uint64_t seed) {
  Random random(seed);
  Data data;
  double t = 0;
  for (std::size_t i = 0; i < n; ++i) {
    if (truth.sampling == Sampling::regular) t = static_cast<double>(i);
    if (truth.sampling == Sampling::irregular) t += random.uniform(0.1, 1.9);
    if (truth.sampling == Sampling::ties) t += random.chance(0.3) ? 0 : random.uniform(0.2, 2.5);
    data.time.push_back(t);
    if (truth.known_errors) data.variance.push_back(truth.noise * random.log_uniform(0.2, 5));
  }
  Model model{parse_kernel(truth.kernel), truth.noise, Mean::zero};
  lapack::Problem problem = dense_problem(data, model);
  data.value = lapack::draw(problem, random.normals(n));
  for (std::size_t i = 0; i < n; ++i) {
    if (truth.mean != Mean::zero) data.value[i] += 30;
    if (truth.mean == Mean::linear) data.value[i] -= 0.05 * data.time[i];
  }
  return data;
}

class SimulatedSeries : public testing::TestWithParam<Truth> {};

TEST_P(SimulatedSeries, adaptive_and_fixed_bandwidth_end_at_the_dense_optimum) {
  const Truth& truth = GetParam();
  const std::size_t n = support::kSanitized ? 150 : 400;
  const Data data = simulate(truth, n, 17);
  const auto series = series_of(data, truth.mean);
  Tally tally;
  const FitResult adaptive = fit(series, options_for(truth.fitted, truth.mean));
  expect_dense_optimum(adaptive, data, tally);
  const FitResult fixed = fit(series, options_for(truth.fitted, truth.mean, index_cut(truth.bandwidth)));
  expect_dense_optimum(fixed, data, tally);
  expect_same_optimum(adaptive, fixed, kOptimum);
  EXPECT_EQ(fixed.bandwidth, std::min(truth.bandwidth, series->size() - 1));
  EXPECT_LE(adaptive.certificate.nll_error.value(), 1e-5);
  EXPECT_EQ(adaptive.mean.size(), static_cast<std::size_t>(truth.mean));
  std::cout << truth << ": " << to_text(adaptive.model.kernel) << ", noise " << adaptive.model.noise
            << "; dense Newton step at most " << tally.step << ", standard errors off by at most "
            << tally.error << ", " << adaptive.evaluations << " and " << fixed.evaluations
            << " evaluations\n";
}

INSTANTIATE_TEST_SUITE_P(training, SimulatedSeries, testing::ValuesIn(kTruths),
                         [](const testing::TestParamInfo<Truth>& truth) {
                           return std::string(truth.param.name);
                         });

const Truth& plain_truth() { return kTruths[1]; }

TEST(Training, a_loose_tolerance_moves_the_certificate_and_not_the_optimum) {
  const Data data = simulate(plain_truth(), 400, 3);
  const auto series = series_of(data, Mean::constant);
  FitOptions options = options_for("se", Mean::constant);
  options.cut.tolerance = 1;
  const FitResult loose = fit(series, options);
  options.cut.tolerance = 1e-8;
  const FitResult tight = fit(series, options);
  expect_same_optimum(loose, tight, 1e-5);
  EXPECT_LE(tight.certificate.nll_error.value(), 1e-8);
  EXPECT_GT(tight.bandwidth, loose.bandwidth);
}

TEST(Training, an_adaptive_index_band_ends_at_the_same_optimum) {
  const Data data = simulate(plain_truth(), 400, 4);
  FitOptions options = options_for("se", Mean::constant);
  const FitResult reach = fit(series_of(data, Mean::constant), options);
  options.cut.index_band = true;
  const FitResult index = fit(series_of(data, Mean::constant), options);
  expect_same_optimum(reach, index, 1e-5);
  EXPECT_TRUE(index.certified());
  EXPECT_EQ(index.reach, 0);
  EXPECT_EQ(index.method, "band");
}

TEST(Training, the_optimum_is_the_same_in_other_units) {
  const Data data = simulate(plain_truth(), 300, 5);
  Data other = data;
  for (double& t : other.time) t = 1.7e9 + 3600 * t;
  for (double& y : other.value) y = 1e-6 * y;
  const FitResult a = fit(series_of(data, Mean::constant), options_for("se", Mean::constant));
  const FitResult b = fit(series_of(other, Mean::constant), options_for("se", Mean::constant));
  const Values x = logs(a.model), y = logs(b.model);
  EXPECT_CLOSE(y[0], x[0] - 12 * std::log(10), kOptimum);
  EXPECT_CLOSE(y[1], x[1] + std::log(3600), kOptimum);
  EXPECT_CLOSE(y[2], x[2] - 12 * std::log(10), kOptimum);
  EXPECT_CLOSE(b.nll, a.nll - 300 * 6 * std::log(10), 1e-6 * std::abs(a.nll));
  EXPECT_CLOSE(b.mean[0], 1e-6 * a.mean[0], 1e-9 * std::abs(a.mean[0]));
}

/// Of a long series with little noise: the selected inverse must not let rounding grow from row to row.
TEST(Training, the_gradient_stays_right_over_many_rows_with_little_noise) {
  const std::size_t n = support::kSanitized ? 600 : 1600;
  Random random(6);
  Data data;
  for (double t = 0; data.time.size() < n; ++t) {
    if (random.chance(0.8)) data.time.push_back(t);
  }
  data.value = random.normals(n);
  for (const char* kernel : {"0.9*se(lengthscale=6)", "0.6*se(lengthscale=20) + 0.003*se(lengthscale=2)"}) {
    for (const double noise : {1e-2, 1e-4, 1e-6}) {
      const Model model{parse_kernel(kernel), noise, Mean::zero};
      const Values truth = lapack::evaluate(dense_problem(data, model)).gradient;
      const EvaluationResult result = evaluate(*series_of(data, Mean::zero), model, {});
      ASSERT_FALSE(result.failure);
      const double largest =
          std::abs(*std::ranges::max_element(truth, {}, [](double g) { return std::abs(g); }));
      for (std::size_t i = 0; i < truth.size(); ++i)
        EXPECT_CLOSE(result.likelihood.gradient[i], truth[i], 1e-6 * largest)
            << kernel << ", noise " << noise;
    }
  }
}

// --- real and published ------------------------------------------------------------------------------------

std::filesystem::path data_folder() {
  const char* data = std::getenv("BANDGP_DATA");
  return data == nullptr ? "" : data;
}

TEST(Training, sunspots_end_at_the_dense_optimum) {
  const auto path = data_folder() / "sunspots/sunspots_3315_1749-01_2025-03.csv";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "skipped: no data at " << path;
  if (support::kSanitized) GTEST_SKIP() << "skipped: a dense matrix of 3315² under a sanitizer";
  const Table table = read_csv(path, {.x = "decyear", .y = "SN"});
  ASSERT_EQ(table.value.size(), 3315U);
  const Data data{table.time, table.value};
  const auto series = series_of(data, Mean::constant);
  Tally tally;
  const FitResult adaptive = fit(series, options_for("se", Mean::constant));
  expect_dense_optimum(adaptive, data, tally);
  const FitResult fixed = fit(series, options_for("se", Mean::constant, index_cut(200)));
  EXPECT_EQ(fixed.status, FitStatus::converged);
  EXPECT_TRUE(fixed.certified());
  expect_same_optimum(adaptive, fixed, kOptimum);
  std::cout << "sunspots: " << to_text(adaptive.model.kernel) << ", noise " << adaptive.model.noise
            << ", NLL " << adaptive.nll << ", dense Newton step at most " << tally.step
            << ", standard errors off by at most " << tally.error << ", bandwidth " << adaptive.bandwidth
            << "\n";
}

TEST(Training, reaches_the_optima_published_with_gpml) {
  struct Published {
    const char* file;
    double log_lengthscale, log_sigma, log_noise_sigma, nll;
  };
  const Published published[] = {
      {"gpml_simple_xy.csv", -0.63521501, -0.10446336, -2.38237100, -2.782129589953},
      {"gpml_demoRegression_xy.csv", std::log(0.3703166), std::log(1.9856437), std::log(0.1491881),
       14.131090784910},
  };
  for (const Published& p : published) {
    const auto path = data_folder() / "gp_reference" / p.file;
    if (!std::filesystem::exists(path)) GTEST_SKIP() << "skipped: no data at " << path;
    const Table table = read_csv(path, {.x = "x", .y = "y"});
    const FitResult result =
        fit(series_of({table.time, table.value}, Mean::zero), options_for("se", Mean::zero));
    SCOPED_TRACE(p.file);
    EXPECT_EQ(result.status, FitStatus::converged) << result.message;
    EXPECT_CLOSE(std::log(result.model.kernel.terms[0].lengthscale), p.log_lengthscale, kOptimum);
    EXPECT_CLOSE(0.5 * std::log(result.model.kernel.terms[0].variance), p.log_sigma, kOptimum);
    EXPECT_CLOSE(0.5 * std::log(result.model.noise), p.log_noise_sigma, kOptimum);
    EXPECT_CLOSE(result.nll, p.nll, 1e-7);
  }
}

// --- long series -------------------------------------------------------------------------------------------

Data smooth_noise(Random& random, std::size_t n, double lengthscale, double noise, bool regular) {
  Data data;
  data.time = support::gaps_of_one(random, n, regular);
  data.value = support::draw_se(random, data.time, 1, lengthscale);
  support::add_noise(random, data.value, noise);
  return data;
}

TEST(Training, coarse_to_fine_ends_where_the_full_search_does_slow) {
  const std::size_t n = support::kSanitized ? 6500 : 50000;
  for (const bool regular : {false, true}) {
    if (regular && support::kSanitized) continue;
    Random random(7);
    const auto series = series_of(smooth_noise(random, n, 3, 0.1, regular), Mean::constant);
    FitOptions options = options_for("se", Mean::constant);
    options.standard_errors = !support::kSanitized;
    const FitResult coarse = fit(series, options);
    EXPECT_EQ(coarse.status, FitStatus::converged) << coarse.message;
    EXPECT_TRUE(coarse.certified());
    EXPECT_EQ(coarse.trace.front().n, 4096);
    EXPECT_EQ(coarse.trace.back().n, series->size());
    int on_all = 0;
    for (const TraceEntry& entry : coarse.trace) on_all += entry.n == series->size() ? 1 : 0;
    EXPECT_LT(on_all, 25);
    options.coarse_to_fine = false;
    const FitResult full = fit(series, options);
    EXPECT_EQ(full.trace.front().n, series->size());
    expect_same_optimum(coarse, full, kOptimum);
    EXPECT_CLOSE(coarse.nll, full.nll, 1e-3);
    std::cout << (regular ? "regular" : "irregular") << ", n " << n << ": " << to_text(coarse.model.kernel)
              << ", noise " << coarse.model.noise << "; " << coarse.seconds << " s coarse to fine (" << on_all
              << " evaluations on all points), " << full.seconds << " s on all points\n";
  }
}

TEST(Training, three_stages_end_at_a_minimum_slow) {
  if (support::kSanitized) GTEST_SKIP() << "skipped: 300,000 points under a sanitizer";
  Random random(8);
  const auto series = series_of(smooth_noise(random, 300000, 2, 0.2, false), Mean::constant);
  const FitResult result = fit(series, options_for("se", Mean::constant));
  EXPECT_EQ(result.status, FitStatus::converged) << result.message;
  EXPECT_EQ(result.trace.back().stage, 2);
  EXPECT_EQ(result.trace.back().n, 300000);
  // In units of the standard errors the gradient is nothing, and the truth is within a few of them.
  const Values values = parameter_values(result.model), truth = {1, 2, 0.2};
  for (std::size_t i = 0; i < values.size(); ++i) {
    EXPECT_LT(std::abs(result.gradient[i]) * result.standard_errors[i] / values[i], 1e-2) << i;
    EXPECT_LT(std::abs(values[i] - truth[i]), 4 * result.standard_errors[i]) << i;
  }
  std::cout << "n 300,000: " << to_text(result.model.kernel) << ", noise " << result.model.noise << ", "
            << result.evaluations << " evaluations, " << result.seconds << " s\n";
}

// --- what fit() promises besides ---------------------------------------------------------------------------

TEST(Training, a_fixed_band_that_is_too_narrow_is_counted_and_never_crashes) {
  const Data data =
      simulate({"", "2*se(lengthscale=8)", "se", 0.01, Mean::constant, Sampling::regular, false, 0}, 300, 9);
  const auto series = series_of(data, Mean::constant);
  int hopeless = 0, rejected = 0;
  for (const Index k : {0, 1, 2, 4, 7, 11, 20, 40}) {
    for (const char* start : {"", "2*se(lengthscale=8)"}) {
      FitOptions options = options_for(*start == '\0' ? "se" : start, Mean::constant, index_cut(k));
      if (*start != '\0') options.init["noise"] = 0.01;
      const FitResult result = fit(series, options);
      SCOPED_TRACE(testing::Message() << "k " << k << ", start " << start << ": " << result.message);
      EXPECT_EQ(static_cast<std::size_t>(result.evaluations), result.trace.size());
      rejected += result.rejected_not_positive_definite;
      if (result.status == FitStatus::not_positive_definite) {
        ++hopeless;
        EXPECT_GT(result.rejected_not_positive_definite, 0);
        EXPECT_FALSE(result.certified());
        EXPECT_TRUE(std::isnan(result.nll));
      } else {
        EXPECT_TRUE(std::isfinite(result.nll));
        EXPECT_TRUE(result.certificate.positive_definite || !result.certified());
        EXPECT_EQ(result.bandwidth, k);
      }
      for (const double value : parameter_values(result.model))
        EXPECT_TRUE(std::isfinite(value) && value > 0);
    }
  }
  EXPECT_GT(hopeless, 0);
  EXPECT_GT(rejected, 0);
}

TEST(Training, a_fixed_band_that_fits_a_part_but_not_all_of_a_long_series_steps_back_slow) {
  Random random(5);
  std::vector<double> time, value;
  double t = 0, a = 0, b = 0;
  for (int i = 0; i < 9000; ++i) {
    time.push_back(t += random.uniform(0.5, 1.5));
    a = 0.9 * a + 0.4 * random.normal();
    b = 0.8 * b + 0.4 * a;
    value.push_back(b + 0.1 * random.normal());
  }
  FitOptions options;
  options.cut = {.rule = Cut::Rule::bandwidth, .bandwidth = 2};
  const FitResult result = fit(std::make_shared<const Series>(make_series(time, value)), options);
  EXPECT_TRUE(std::isfinite(result.nll)) << status_name(result.status) << ": " << result.message;
}

TEST(Training, clusters_of_points_do_not_hide_a_length_scale_of_many_clusters) {
  // Visits 30 apart of 10 points within 0.002 each; the curve varies over three visits.
  Random random(6);
  std::vector<double> time, value;
  for (int visit = 0; visit < 120; ++visit) {
    for (int i = 0; i < 10; ++i) {
      time.push_back(30.0 * visit + 0.0002 * i);
      value.push_back(std::sin(time.back() / 60) + std::sin(time.back() / 143) + 0.05 * random.normal());
    }
  }
  FitOptions options = options_for("se", Mean::constant);
  const FitResult found = fit(std::make_shared<const Series>(make_series(time, value)), options);
  options.init = {{"lengthscale", 80}};
  const FitResult told = fit(std::make_shared<const Series>(make_series(time, value)), options);
  EXPECT_NEAR(found.nll, told.nll, 1e-3);
  EXPECT_GT(found.model.kernel.terms[0].lengthscale, 30);
}

TEST(Training, cancelling_at_any_time_returns_a_finite_model) {
  const Data data = simulate(plain_truth(), 200, 10);
  const auto series = series_of(data, Mean::constant);
  for (const char* kernel : {"se", "se + se", "2*se(lengthscale=4)"}) {
    FitOptions options = options_for(kernel, Mean::constant);
    if (options.kernel.complete()) options.init["noise"] = 0.05;
    const int all = fit(series, options).evaluations;
    const int stride = (support::kSanitized ? 37 : 7) * (support::short_effort() ? 3 : 1);
    int stops = 0;
    for (int stop = 0; stop < all; stop += stop < 5 ? 1 : stride) {
      ++stops;
      int seen = 0;
      options.progress = [&seen](const TraceEntry&) { ++seen; };
      options.cancelled = [&seen, stop] { return seen >= stop; };
      const FitResult result = fit(series, options);
      SCOPED_TRACE(testing::Message() << kernel << ", cancelled after " << stop << " of " << all);
      // Cancelled during the standard errors, the minimum has been found and they are missing.
      const bool only_errors = result.status == FitStatus::converged && std::isnan(result.standard_errors[0]);
      EXPECT_TRUE(result.status == FitStatus::cancelled || only_errors) << result.message;
      for (const double value : parameter_values(result.model))
        EXPECT_TRUE(std::isfinite(value) && value > 0);
      EXPECT_EQ(static_cast<std::size_t>(result.evaluations), result.trace.size());
      // At most one for each number of terms, to have anything, and one for the last word.
      EXPECT_LE(result.evaluations, stop + 1 + static_cast<int>(options.kernel.terms.size()));
      if (!std::isfinite(result.nll)) continue;
      EXPECT_TRUE(result.certified());
      for (const TraceEntry& entry :
           result.trace) {  // the best so far of this kernel; the search allows 0.1 nats
        if (entry.parameters.size() == result.gradient.size()) {
          EXPECT_LE(result.nll, entry.nll + 0.2);
        }
      }
    }
    EXPECT_GE(stops, std::min(all, 5));
  }
}

TEST(Training, the_trace_is_complete_and_progress_sees_it) {
  const Data data = simulate(plain_truth(), 200, 11);
  const auto series = series_of(data, Mean::constant);
  std::vector<TraceEntry> seen;
  FitOptions options = options_for("se + matern32", Mean::constant, index_cut(12));  // rejections among them
  options.progress = [&seen](const TraceEntry& entry) { seen.push_back(entry); };
  const FitResult result = fit(series, options);
  ASSERT_EQ(seen.size(), result.trace.size());
  EXPECT_EQ(static_cast<std::size_t>(result.evaluations), result.trace.size());
  int infinite = 0;
  for (std::size_t i = 0; i < seen.size(); ++i) {
    const TraceEntry &a = seen[i], &b = result.trace[i];
    EXPECT_EQ(b.evaluation, static_cast<int>(i) + 1);
    EXPECT_EQ(a.evaluation, b.evaluation);
    EXPECT_EQ(a.nll, b.nll);
    EXPECT_EQ(a.parameters, b.parameters);
    EXPECT_TRUE(b.parameters.size() == 5 || (b.stage == 0 && b.parameters.size() == 3));
    EXPECT_EQ(b.n, 200);
    infinite += std::isinf(b.nll) ? 1 : 0;
    if (i > 0) {
      EXPECT_GE(b.stage, seen[i - 1].stage);
      EXPECT_GE(b.seconds, seen[i - 1].seconds);
    }
  }
  EXPECT_EQ(infinite, result.rejected_not_positive_definite + result.rejected_too_large);
  EXPECT_GE(result.seconds, seen.back().seconds);
}

TEST(Training, trace_values_are_those_of_a_single_evaluation) {
  const Data data = simulate(plain_truth(), 150, 12);
  const auto series = series_of(data, Mean::constant);
  const FitResult result = fit(series, options_for("se", Mean::constant, index_cut(60)));
  for (const TraceEntry& entry : result.trace) {
    Model model = result.model;
    for (std::size_t i = 0; i < 3; ++i) set_parameter(model, i, entry.parameters[i]);
    const EvaluationResult single = evaluate(*series, model, index_cut(60));
    if (single.failure) {
      EXPECT_TRUE(std::isinf(entry.nll));
    } else {
      EXPECT_CLOSE(entry.nll, single.likelihood.nll, 1e-8 * std::abs(entry.nll) + 1e-8);
    }
  }
}

TEST(Training, fixed_parameters_stay_and_the_others_are_optimal_given_them) {
  const Data data = simulate(plain_truth(), 250, 13);
  const auto series = series_of(data, Mean::constant);
  Tally tally;
  for (const std::map<std::string, double>& fixed : {std::map<std::string, double>{{"noise", 0.3}},
                                                     {{"lengthscale", 2.5}},
                                                     {{"variance", 7}, {"noise", 0.1}}}) {
    FitOptions options = options_for("se", Mean::constant);
    options.fix = fixed;
    const FitResult result = fit(series, options);
    const Values values = parameter_values(result.model);
    const std::vector<std::string> names = parameter_names(options.kernel);
    for (std::size_t i = 0; i < names.size(); ++i) {
      EXPECT_EQ(std::isnan(result.standard_errors[i]), fixed.contains(names[i])) << names[i];
      if (fixed.contains(names[i])) {
        EXPECT_EQ(values[i], fixed.at(names[i]));
      }
    }
    expect_dense_optimum(result, data, tally);
    for (const TraceEntry& entry : result.trace) {
      for (std::size_t i = 0; i < names.size(); ++i) {
        if (fixed.contains(names[i])) {
          EXPECT_EQ(entry.parameters[i], fixed.at(names[i]));
        }
      }
    }
  }
}

TEST(Training, with_everything_fixed_it_is_an_evaluation) {
  const Data data = simulate(plain_truth(), 250, 14);
  const auto series = series_of(data, Mean::constant);
  FitOptions options = options_for("se", Mean::constant);
  options.fix = {{"variance", 2}, {"lengthscale", 4}, {"noise", 0.05}};
  const FitResult result = fit(series, options);
  EXPECT_EQ(result.status, FitStatus::converged) << result.message;
  const Model model{parse_kernel("2*se(lengthscale=4)"), 0.05, Mean::constant};
  EXPECT_CLOSE(result.nll, lapack::evaluate(dense_problem(data, model)).nll, 1e-5);
  EXPECT_EQ(parameter_values(result.model), (Values{2, 4, 0.05}));
}

TEST(Training, starting_values_are_where_it_starts) {
  const Data data = simulate(plain_truth(), 250, 15);
  const auto series = series_of(data, Mean::constant);
  FitOptions options = options_for("3*se(lengthscale=2)", Mean::constant);
  options.init = {{"noise", 0.2}, {"lengthscale", 5}};  // the map goes before the text
  const FitResult all = fit(series, options);
  const Values expected = {3, 5, 0.2};
  for (std::size_t i = 0; i < 3; ++i)
    EXPECT_CLOSE(all.trace.front().parameters[i], expected[i], 1e-12 * expected[i]);
  // With one value given, every start has it.
  options = options_for("se", Mean::constant);
  options.init = {{"lengthscale", 5}};
  const FitResult one = fit(series, options);
  EXPECT_CLOSE(one.trace.front().parameters[1], 5, 1e-12 * 5);
  const FitResult none = fit(series, options_for("se", Mean::constant));
  expect_same_optimum(all, none, kOptimum);
  expect_same_optimum(one, none, kOptimum);
}

/// The text of the std::invalid_argument that fit() throws.
std::string refusal(const Data& data, const FitOptions& options) {
  try {
    fit(series_of(data, options.mean), options);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "not refused";
}

TEST(Training, mistakes_are_refused_by_name) {
  const Data data = simulate(plain_truth(), 50, 16);
  const auto has = [](const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos ? testing::AssertionSuccess()
                                                : testing::AssertionFailure() << text << " lacks " << part;
  };
  FitOptions options = options_for("se", Mean::constant);
  options.init = {{"length", 3}};
  EXPECT_TRUE(
      has(refusal(data, options), "init: no parameter \"length\"; there are variance, lengthscale, noise"));
  options.init = {};
  options.fix = {{"variance_1", 3}};
  EXPECT_TRUE(has(refusal(data, options), "fix: no parameter \"variance_1\""));
  for (const double bad : {-1.0, 0.0, std::nan(""), std::numeric_limits<double>::infinity()}) {
    options.fix = {{"lengthscale", bad}};
    EXPECT_TRUE(has(refusal(data, options), "fix: lengthscale must be positive"));
  }
  options.fix = {};
  options.cut.tolerance = 0;
  EXPECT_TRUE(has(refusal(data, options), "tolerance must be positive"));
  options.cut = index_cut(-1);
  EXPECT_TRUE(has(refusal(data, options), "bandwidth must not be negative"));
  options.cut = {};
  options.kernel.terms.clear();
  EXPECT_TRUE(has(refusal(data, options), "no term"));
}

TEST(Training, equal_values_are_refused) {
  for (const double y : {0.0, 42.0, -1e-9}) {
    for (const Mean mean : {Mean::constant, Mean::linear}) {
      const Data data{{1, 2, 3, 4, 5}, {y, y, y, y, y}};
      const std::string text = refusal(data, options_for("se", mean));
      EXPECT_NE(text.find("all 5 values are equal"), std::string::npos) << text;
    }
  }
  const std::string zeros = refusal({{1, 2, 3}, {0, 0, 0}}, options_for("se", Mean::zero));
  EXPECT_NE(zeros.find("nothing to fit"), std::string::npos) << zeros;
}

TEST(Training, one_or_two_points_are_refused_or_end_without_a_crash) {
  for (const Mean mean : {Mean::zero, Mean::constant, Mean::linear}) {
    for (const char* kernel : {"se", "se + se", "matern12"}) {
      for (const Data& data :
           {Data{{3}, {2}}, Data{{3, 4}, {2, 5}}, Data{{3, 3}, {2, 5}}, Data{{1, 2, 4}, {1, 3, 2}}}) {
        SCOPED_TRACE(testing::Message() << kernel << ", " << mean_name(mean) << " mean, " << data.time.size()
                                        << " points from " << data.time[0] << " to " << data.time.back());
        FitResult result;
        try {
          result = fit(series_of(data, mean), options_for(kernel, mean));
        } catch (const std::invalid_argument& error) {
          EXPECT_TRUE(mean != Mean::zero && data.time.front() == data.time.back()) << error.what();
          continue;
        }
        EXPECT_FALSE(result.message.empty());
        for (const double value : parameter_values(result.model))
          EXPECT_TRUE(std::isfinite(value) && value > 0);
      }
    }
  }
}

TEST(Training, a_band_that_does_not_fit_says_so_and_how_to_thin) {
  Random random(20);
  const auto series = series_of(smooth_noise(random, 8000, 20, 0.1, true), Mean::constant);
  FitOptions options = options_for("se", Mean::constant);
  options.standard_errors = false;
  options.cut.method = Method::band;
  for (const double bytes : {1e4, 8e6}) {  // nothing fits; the search's part fits and the series does not
    options.max_bytes = bytes;
    const FitResult result = fit(series, options);
    SCOPED_TRACE(result.message);
    EXPECT_EQ(result.status, FitStatus::too_large);
    EXPECT_NE(result.message.find("thin"), std::string::npos);
    EXPECT_FALSE(result.certified());
    EXPECT_TRUE(std::isnan(result.nll));
    EXPECT_EQ(static_cast<std::size_t>(result.evaluations), result.trace.size());
    for (const double value : parameter_values(result.model)) EXPECT_TRUE(std::isfinite(value) && value > 0);
  }
}

TEST(Training, out_of_evaluations_is_said) {
  const Data data = simulate(plain_truth(), 200, 21);
  FitOptions options = options_for("se", Mean::constant);
  options.max_evaluations = 2;
  const FitResult result = fit(series_of(data, Mean::constant), options);
  EXPECT_EQ(result.status, FitStatus::out_of_evaluations) << result.message;
  EXPECT_TRUE(result.certified());
}

TEST(Training, the_same_input_gives_the_same_bits) {
  const Data data = simulate(plain_truth(), 100, 22);
  const FitResult a = fit(series_of(data, Mean::linear), options_for("se + matern12", Mean::linear));
  const FitResult b = fit(series_of(data, Mean::linear), options_for("se + matern12", Mean::linear));
  EXPECT_EQ(parameter_values(a.model), parameter_values(b.model));
  EXPECT_EQ(a.nll, b.nll);
  EXPECT_EQ(a.evaluations, b.evaluations);
}

TEST(Training, pure_noise_is_at_a_bound_or_flat_and_said_so) {
  Random random(23);
  Data data;
  for (int i = 0; i < 200; ++i) {
    data.time.push_back(i);
    data.value.push_back(random.normal());
  }
  const FitResult result = fit(series_of(data, Mean::constant), options_for("se", Mean::constant));
  EXPECT_TRUE(result.certified()) << result.message;
  // No worse than white noise with its own variance.
  double mean = 0, square = 0;
  for (const double y : data.value) mean += y / 200;
  for (const double y : data.value) square += (y - mean) * (y - mean) / 200;
  EXPECT_LE(result.nll, 100 * (1 + std::log(2 * std::numbers::pi * square)) + 1e-3);
}

}  // namespace
