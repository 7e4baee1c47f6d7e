// SPDX-License-Identifier: Apache-2.0
// A fit ends at the best optimum there is, and its status says so only then: signals with hardly any noise,
// bad starts, sums with a term that the data do not support, an interrupt in the middle of a search.
#include <gtest/gtest.h>

#include <algorithm>
#include <numbers>

#include "bandgp/fit/fit.hpp"
#include "bandgp/fit/parameters.hpp"
#include "bandgp/fit/remarks.hpp"
#include "bandgp/gp/simulate.hpp"
#include "support/close.hpp"
#include "support/dense_fit.hpp"
#include "support/effort.hpp"
#include "support/random.hpp"

namespace {

using namespace bandgp;
using Values = std::vector<double>;

std::shared_ptr<const Series> series_of(const Values& time, const Values& value) {
  return std::make_shared<const Series>(make_series(time, value));
}

std::shared_ptr<const Series> simulated(const char* kernel, double noise, Index n, bool irregular,
                                        std::uint64_t seed) {
  const Values time = simulate_times(n, 1, 0, irregular, seed);
  return series_of(time, bandgp::simulate(parse_kernel(kernel), noise, time, seed));
}

/// sin(t/10) with noise of this standard deviation.
std::shared_ptr<const Series> sine(Index n, double sigma) {
  support::Random random(3);
  Values time, value;
  for (Index i = 0; i < n; ++i) {
    time.push_back(static_cast<double>(i));
    value.push_back(std::sin(time.back() / 10) + sigma * random.normal());
  }
  return series_of(time, value);
}

FitResult fitted(const std::shared_ptr<const Series>& series, const char* kernel,
                 const std::map<std::string, double>& init = {}) {
  FitOptions options;
  options.kernel = parse_kernel(kernel);
  options.init = init;
  return fit(series, options);
}

/// What the dense loss could still fall by: a pattern search over the logs, in steps that shrink to 1e-3.
double dense_gain(const FitResult& result) {
  const double begin = support::dense_nll(*result.series, result.model);
  Model best = result.model;
  double least = begin;
  for (double step = 0.3; step > 1e-3; step *= 0.5) {
    for (std::size_t i = 0; i < parameter_values(best).size(); ++i) {
      for (const double sign : {-1.0, 1.0}) {
        Model moved = best;
        set_parameter(moved, i, parameter_values(best)[i] * std::exp(sign * step));
        const double nll = support::dense_nll(*result.series, moved);
        if (nll < least) {
          least = nll;
          best = moved;
        }
      }
    }
  }
  return begin - least;
}

bool remarked(const FitResult& result, const std::string& part) {
  return std::ranges::any_of(remarks(result),
                             [&](const std::string& remark) { return remark.find(part) != remark.npos; });
}

double largest(const Values& gradient) {
  double largest = 0;
  for (const double g : gradient) largest = std::max(largest, std::abs(g));
  return largest;
}

TEST(Optimum, of_a_smooth_signal_with_hardly_any_noise_is_the_dense_one) {
  // Noise of 1e-4 … 3e-6 of the signal: the exact gradient is off by 1e5 and more, the NLL by 1e-3.
  const Index n = support::kSanitized ? 80 : 120;
  int exact = 0;
  for (const double sigma : {1e-4, 1e-5, 3e-6}) {
    for (const std::uint64_t seed : {1U, 2U}) {
      const FitResult result =
          fitted(simulated("1*se(lengthscale=7)", sigma * sigma, n, seed == 1, seed), "se");
      SCOPED_TRACE(testing::Message() << "noise " << sigma << ", seed " << seed << ": " << result.message);
      EXPECT_TRUE(result.status == FitStatus::converged || result.status == FitStatus::rounding);
      EXPECT_EQ(result.status == FitStatus::rounding, result.rounding > 0.01);
      EXPECT_LT(dense_gain(result), 0.05 + 2 * result.rounding);
      EXPECT_CLOSE(std::log(result.model.noise), 2 * std::log(sigma), 1);
      if (result.status == FitStatus::converged) {
        ++exact;
        EXPECT_LT(largest(result.gradient), 30);  // beside a curvature of 1e5
      }
    }
  }
  EXPECT_GE(exact, 4);
}

TEST(Optimum, hidden_by_rounding_is_not_called_one) {
  const FitResult result = fitted(sine(support::kSanitized ? 150 : 400, 0), "se");
  EXPECT_EQ(result.status, FitStatus::rounding) << result.message;
  EXPECT_GT(result.rounding, 0.01);
  EXPECT_NE(result.message.find("rounding"), std::string::npos);
  EXPECT_TRUE(remarked(result, "double precision is the limit"));
}

TEST(Optimum, is_reached_from_a_start_that_is_far_off) {
  const auto series = simulated("2*se(lengthscale=4)", 0.05, 400, true, 7);
  const FitResult usual = fitted(series, "se");
  ASSERT_EQ(usual.status, FitStatus::converged);
  for (const auto& init : {std::map<std::string, double>{{"lengthscale", 1000}, {"noise", 1e-9}},
                           {{"lengthscale", 1000}, {"noise", 1e-9}, {"variance", 1}},
                           {{"lengthscale", 0.3}},
                           {{"noise", 1e-9}}}) {
    const FitResult other = fitted(series, "se", init);
    EXPECT_EQ(other.status, FitStatus::converged) << other.message;
    EXPECT_CLOSE(other.nll, usual.nll, 1e-5) << init.size();
  }
}

TEST(Optimum, is_reached_from_starts_with_next_to_no_variance) {
  const auto series = simulated("1*se(lengthscale=40) + 0.3*se(lengthscale=3)", 0.01, 400, false, 3);
  const FitResult one = fitted(series, "se"), two = fitted(series, "se + se");
  const FitResult from_nothing =
      fitted(series, "se", {{"variance", 1e-12}, {"lengthscale", 40}, {"noise", 1}});
  EXPECT_LT(from_nothing.nll, one.nll + 1e-3) << from_nothing.message;
  for (const double variance : {1e-8, 1e-12, 1e-30}) {
    const FitResult other = fitted(series, "se + se",
                                   {{"variance_1", 1},
                                    {"lengthscale_1", 40},
                                    {"variance_2", variance},
                                    {"lengthscale_2", 3},
                                    {"noise", 0.1}});
    EXPECT_LT(other.nll, two.nll + 1e-3) << variance << ": " << to_text(other.model.kernel);
  }
}

TEST(Optimum, with_more_noise_is_found_where_the_loss_is_flat_below_it) {
  // Two minima 1.1 nats apart: noise 1.2e-7, and none.
  Values time = simulate_times(257, 1, 0, false, 96);
  const auto series = series_of(
      time, bandgp::simulate(parse_kernel("1*se(lengthscale=1.921452510173198)"), 1.6e-8, time, 96));
  const FitResult result = fitted(series, "se");
  const FitResult told = fitted(series, "se", {{"variance", 1}, {"lengthscale", 1.92}, {"noise", 1e-7}});
  EXPECT_EQ(result.status, FitStatus::converged) << result.message;
  EXPECT_LT(result.nll, told.nll + 1e-3);
}

TEST(Optimum, of_a_sum_is_never_above_that_of_its_parts) {
  struct Case {
    const char *truth, *sum;
    std::vector<const char*> parts;
    double noise;
  };
  const Case cases[] = {{"1*se(lengthscale=6)", "se + se", {"se"}, 1e-2},
                        {"1*se(lengthscale=6)", "se + se", {"se"}, 1e-6},
                        {"1*matern32(lengthscale=8)", "se + matern32", {"se", "matern32"}, 1e-2},
                        {"1*matern12(lengthscale=8)", "matern12 + matern32", {"matern12", "matern32"}, 1e-2}};
  const Index n = support::kSanitized ? 100 : 200;
  for (const Case& c : cases) {
    for (const std::uint64_t seed : {1U, 2U, 3U}) {
      const auto series = simulated(c.truth, c.noise, n, seed != 2, seed);
      const FitResult sum = fitted(series, c.sum);
      SCOPED_TRACE(testing::Message() << c.sum << ", noise " << c.noise << ", seed " << seed << ": "
                                      << to_text(sum.model.kernel) << ", " << sum.message);
      EXPECT_TRUE(sum.status == FitStatus::converged || sum.status == FitStatus::at_bound);
      for (const char* part : c.parts) EXPECT_LE(sum.nll, fitted(series, part).nll + 2e-3) << part;
    }
  }
}

TEST(Optimum, of_a_nearly_noise_free_sine_is_no_higher_for_two_terms_than_for_one) {
  const auto series = sine(support::kSanitized ? 100 : 300, 1e-4);
  const FitResult one = fitted(series, "se"), two = fitted(series, "se + se");
  EXPECT_LE(two.nll, one.nll + 2e-3 + one.rounding + two.rounding) << to_text(two.model.kernel);
}

/// A few sines at irregular times with noise of 1e-7: at the optimum of `se` the covariance is as good as
/// singular, and beside a term without variance it may be singular indeed.
TEST(Optimum, of_a_sum_with_hardly_any_noise_is_not_called_converged_above_its_parts) {
  support::Random random(12);
  const int problems = support::kSanitized ? 6 : 10;
  int seen = 0;
  for (int problem = 0; problem < problems; ++problem) {
    Values time, value;
    for (int i = 0; i < 90; ++i) time.push_back(random.uniform(0, 80));
    std::ranges::sort(time);
    const double f = random.uniform(0.1, 1.5), g = random.uniform(0.1, 1.5);
    for (const double t : time) value.push_back(std::sin(f * t) + std::cos(g * t) + 1e-7 * random.normal());
    if (support::short_effort() && problem != 5 && problem != 7) continue;  // those lost their part once
    ++seen;
    const auto series = series_of(time, value);
    const FitResult part = fitted(series, "se");
    for (const char* kernel : {"se + wendland2", "se + matern52"}) {
      const FitResult sum = fitted(series, kernel);
      EXPECT_LT(sum.nll, part.nll + 1 + 10 * (part.rounding + sum.rounding)) << problem << ' ' << kernel;
      if (sum.nll > part.nll + 0.2) {
        EXPECT_EQ(sum.status, FitStatus::rounding) << problem << ' ' << kernel;
      }
    }
  }
  EXPECT_GE(seen, support::kSanitized ? 1 : 2);
}

TEST(Optimum, without_support_for_a_term_has_it_at_zero_variance_and_says_so) {
  const auto series = simulated("1*se(lengthscale=10.376240627464192)", 1e-3, 379, false, 3);
  int vanished = 0;
  for (const char* kernel : {"se + se", "se + matern12", "se + se + se"}) {
    const FitResult result = fitted(series, kernel);
    const FitResult alone = fitted(series, "se");
    EXPECT_LE(result.nll, alone.nll + 2e-3) << kernel;
    EXPECT_EQ(result.status, FitStatus::converged) << kernel << ": " << result.message;
    for (std::size_t t = 0; t < result.model.kernel.terms.size(); ++t) {
      const Term& term = result.model.kernel.terms[t];
      if (term.variance > 1e-20) continue;
      ++vanished;
      EXPECT_TRUE(remarked(result, "term " + std::to_string(t + 1) + " is not supported by the data"));
      const std::size_t first = result.model.kernel.first_parameter(t);
      for (std::size_t i = first; i < first + term.parameters().size(); ++i)
        EXPECT_TRUE(std::isnan(result.standard_errors[i]));
      EXPECT_CLOSE(result.nll, alone.nll, 2e-3);
    }
    EXPECT_TRUE(std::isfinite(result.predict(Values{3.5}).mean[0]));
  }
  EXPECT_GE(vanished, 2);
}

TEST(Optimum, at_a_bound_is_said_to_be_there) {
  // A walk with a drift: the longest length-scale allowed, where the loss still falls, and a last Newton step
  // of the other parameters.
  for (const std::uint64_t seed : {4U, 11U}) {
    support::Random random(seed);
    const Values time = simulate_times(300, 1, 0, false, seed);
    Values value = bandgp::simulate(parse_kernel("1*se(lengthscale=8)"), 0.01, time, seed);
    double walk = 0;
    for (std::size_t i = 0; i < value.size(); ++i) {
      walk += 0.3 * random.normal();
      value[i] += walk + 0.5 * time[i];
    }
    const FitResult result = fitted(series_of(time, value), "matern12 + matern32");
    EXPECT_EQ(result.status, FitStatus::at_bound) << seed << ": " << result.message;
  }
}

TEST(Optimum, of_a_sum_of_a_long_series_is_that_of_a_search_on_all_of_it) {
  // From 3,000 points on the many starts are looked at on a part.
  const auto series = simulated("1*se(lengthscale=60) + 0.2*matern12(lengthscale=5)", 0.01, 3000, true, 5);
  FitOptions options;
  options.kernel = parse_kernel("se + matern12");
  const FitResult in_part = fit(series, options);
  options.coarse_to_fine = false;
  const FitResult on_all = fit(series, options);
  EXPECT_EQ(in_part.status, FitStatus::converged) << in_part.message;
  EXPECT_CLOSE(in_part.nll, on_all.nll, 1e-3);
  const auto whole = [](const FitResult& result) {
    return std::ranges::count(result.trace, result.series->size(), &TraceEntry::n);
  };
  EXPECT_EQ(whole(on_all), on_all.evaluations);
  EXPECT_LT(4 * whole(in_part), whole(on_all));
}

TEST(Optimum, interrupted_while_a_sum_is_searched_is_the_best_of_the_parts) {
  const auto series = simulated("1*se(lengthscale=6)", 1e-2, 200, true, 4);
  const FitResult one = fitted(series, "se");
  for (const char* kernel : {"se + se", "se + matern12", "matern12 + matern32"}) {
    FitOptions options;
    options.kernel = parse_kernel(kernel);
    const std::string whole = kernel;
    int of_the_sum = 0;
    double least = std::numeric_limits<double>::infinity();
    options.progress = [&](const TraceEntry& entry) {
      if (entry.kernel == whole) ++of_the_sum;
      if (of_the_sum < 3) least = std::min(least, entry.nll);
    };
    options.cancelled = [&] { return of_the_sum >= 3; };  // the parts are done, the sum has only begun
    const FitResult result = fit(series, options);
    EXPECT_EQ(result.status, FitStatus::cancelled) << kernel << ": " << result.message;
    EXPECT_LE(result.nll, least + 0.2) << kernel;
  }
}

}  // namespace
