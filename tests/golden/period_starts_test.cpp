// SPDX-License-Identifier: Apache-2.0
// Fits of kernels with periods of which no start is given end where fits from the true parameters end.
#include "bandgp/fit/period_starts.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "bandgp/fit/fit.hpp"
#include "bandgp/gp/simulate.hpp"
#include "bandgp/io/read_table.hpp"
#include "support/effort.hpp"
#include "support/random.hpp"

namespace {

using namespace bandgp;
using support::Random;
using Values = std::vector<double>;

FitOptions options_for(const Kernel& kernel) {
  FitOptions options;
  options.kernel = kernel;
  options.standard_errors = false;
  return options;
}

/// A kernel of these shapes with random parameters, of periods that a series of this length tells.
Kernel random_kernel(Random& random, const char* shapes, double span) {
  Kernel kernel = shapes;
  double period = random.log_uniform(5, 12);
  for (Term& term : kernel.terms) {
    term.variance = random.log_uniform(0.5, 2);
    const bool oscillates = term.has(&Term::period);
    if (oscillates) {
      term.period = period;
      period *= random.uniform(2.6, 4.6);  // no harmonic of the other
    }
    if (term.has(&Term::quality)) term.quality = random.log_uniform(15, 60);
    if (term.has(&Term::smoothness)) term.smoothness = random.uniform(0.8, 2);
    if (term.has(&Term::lengthscale))
      term.lengthscale = oscillates ? random.uniform(0.1, 0.3) * span : random.log_uniform(20, 60);
  }
  return kernel;
}

TEST(PeriodStarts, lead_to_the_optimum_that_the_truth_leads_to) {
  Random random(11);
  const char* shapes[] = {
      "matern32*cos", "sho", "matern12*periodic", "matern32 + sho", "matern52 + matern32*cos", "sho + sho"};
  const int trials = support::trials(6, 36);
  int seen = 0, behind = 0;
  for (int trial = 0; trial < trials; ++trial, ++seen) {
    const bool has_harmonics = trial % 6 == 2;  // and many states
    const Index n = has_harmonics ? 250 : random.integer(500, 1200);
    Values time(static_cast<std::size_t>(n));
    double t = random.uniform(0, 1000);
    for (double& x : time) x = t += random.uniform(0.2, 1.8);
    const Kernel truth = random_kernel(random, shapes[trial % 6], time.back() - time.front());
    const double noise = random.log_uniform(0.05, 0.3);
    const Values value = simulate(truth, noise, time, static_cast<std::uint64_t>(trial));
    const auto series = std::make_shared<const Series>(make_series(time, value));
    Kernel open = truth;
    for (Term& term : open.terms)
      for (const Parameter& own : term.parameters()) term.*own.member = kUnset;
    const FitResult found = fit(series, options_for(open));
    const FitResult from_truth = fit(series, options_for(truth));
    if (found.nll > from_truth.nll + 0.5) {
      ++behind;
      std::printf("%s: %.3f nats behind; truth %s, found %s\n", shapes[trial % 6], found.nll - from_truth.nll,
                  to_text(from_truth.model.kernel).c_str(), to_text(found.model.kernel).c_str());
    }
  }
  EXPECT_EQ(seen, trials);
  EXPECT_LE(behind, 0.04 * trials);
}

TEST(PeriodStarts, of_a_second_term_are_those_that_the_first_leaves) {
  Random random(12);
  Values time(2000), value(2000);
  for (std::size_t i = 0; i < time.size(); ++i) {
    time[i] = 3 * (static_cast<double>(i) + random.uniform(-0.2, 0.2));
    const double angle = 2 * std::numbers::pi * time[i];
    value[i] =
        3 * std::sin(angle / 100) + 1.5 * std::sin(angle / 50) + std::cos(angle / 17) + 0.3 * random.normal();
  }
  const Series series = make_series(time, value);
  PeriodStarts starts(series);
  const Kernel cosine = "1*matern32(lengthscale=1)*cos(period=1)";
  const Kernel periodic = "1*matern32(lengthscale=1)*periodic(period=1, smoothness=1)";
  const double unit = series.units.time_unit;
  EXPECT_NEAR(unit * starts.beside({}, cosine.terms[0]).front(), 100, 0.5);
  Kernel first = periodic;
  first.terms[0].period = 100 / unit;  // with its harmonics
  EXPECT_NEAR(unit * starts.beside(first, cosine.terms[0]).front(), 17, 0.1);
  Kernel one = cosine;
  one.terms[0].period = 100 / unit;
  EXPECT_NEAR(unit * starts.beside(one, cosine.terms[0]).front(), 50, 0.3);
  // A pulse may have its power at twice its frequency.
  const std::vector<double> of_pulse = starts.beside({}, periodic.terms[0]);
  EXPECT_TRUE(std::ranges::any_of(of_pulse, [&](double p) { return std::abs(unit * p - 200) < 2; }));
}

TEST(PeriodStarts, are_there_for_any_series) {
  const Kernel kernel = "1*sho(period=1, quality=1)";
  for (const Values& value : {Values{1, 2}, Values{1, 2, 1, 2, 1, 2, 1}, Values{1, 2, 3, 4, 5, 6, 7, 8}}) {
    Values time(value.size());
    for (std::size_t i = 0; i < time.size(); ++i) time[i] = static_cast<double>(i);
    const Series series = make_series(time, value);
    const std::vector<double> periods = PeriodStarts(series).beside({}, kernel.terms[0]);
    ASSERT_FALSE(periods.empty());
    for (const double period : periods) EXPECT_TRUE(std::isfinite(period) && period > 0);
  }
}

TEST(PeriodStarts, a_given_one_is_kept) {
  Values time(400), value(400);
  Random random(13);
  for (std::size_t i = 0; i < time.size(); ++i) {
    time[i] = static_cast<double>(i);
    value[i] = 2 * std::sin(2 * std::numbers::pi * time[i] / 40) +
               0.5 * std::sin(2 * std::numbers::pi * time[i] / 11) + 0.3 * random.normal();
  }
  const auto series = std::make_shared<const Series>(make_series(time, value));
  FitOptions options = options_for("matern32*cos");
  const double free = fit(series, options).model.kernel.terms[0].period;
  EXPECT_NEAR(free, 40, 1);
  options.fix["period"] = 11;
  EXPECT_EQ(fit(series, options).model.kernel.terms[0].period, 11);
  // A start beyond the span, of which the data cannot tell, is not pulled into it.
  FitOptions far = options_for("matern52(lengthscale=50)*cos(period=3000)");
  far.fix["period"] = 3000;
  EXPECT_EQ(fit(series, far).model.kernel.terms[0].period, 3000);
  // Without one, no period is longer than the span or shorter than two spacings.
  Values noise = random.normals(400);
  const auto white = std::make_shared<const Series>(make_series(time, noise));
  const double period = fit(white, options_for("sho")).model.kernel.terms[0].period;
  EXPECT_GE(period, 2 * (1 - 1e-9));
  EXPECT_LE(period, 399 * (1 + 1e-9));
}

TEST(PeriodStarts, find_the_year_in_the_air) {
  const char* folder = std::getenv("BANDGP_DATA");
  const std::filesystem::path path =
      std::filesystem::path(folder == nullptr ? "" : folder) / "co2/statsmodels_co2_weekly.csv";
  if (folder == nullptr || !std::filesystem::exists(path)) GTEST_SKIP() << "skipped: no data at " << path;
  FitOptions options = options_for("matern52 + matern32*cos");
  options.mean = Mean::linear;
  const FitResult result = fit(read_table(path.string(), {}), options);
  EXPECT_NEAR(result.model.kernel.terms[1].period, 365.25, 0.5);
}

}  // namespace
