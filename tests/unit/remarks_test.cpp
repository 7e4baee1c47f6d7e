// SPDX-License-Identifier: Apache-2.0
#include "bandgp/fit/remarks.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "bandgp/fit/diagnostics.hpp"
#include "support/random.hpp"

namespace bandgp {
namespace {

struct Data {
  std::vector<double> time, value;
};

Data noise(std::size_t n, double slope = 0) {
  support::Random random(4);
  Data data;
  for (std::size_t i = 0; i < n; ++i) {
    data.time.push_back(1000 + 0.25 * static_cast<double>(i));
    data.value.push_back(50 + slope * data.time.back() + 3 * random.normal());
  }
  return data;
}

TEST(WhiteNoise, is_the_closed_form_without_known_errors) {
  const Data data = noise(200, 0.1);
  const auto n = static_cast<double>(data.time.size());
  double t = 0, y = 0, tt = 0, ty = 0, yy = 0, raw = 0;
  for (std::size_t i = 0; i < data.time.size(); ++i) t += data.time[i] / n, y += data.value[i] / n;
  for (std::size_t i = 0; i < data.time.size(); ++i) {
    tt += std::pow(data.time[i] - t, 2);
    ty += (data.time[i] - t) * (data.value[i] - y);
    yy += std::pow(data.value[i] - y, 2);
    raw += data.value[i] * data.value[i];
  }
  const auto nll = [&](double squares) {
    return 0.5 * n * (std::log(2 * std::numbers::pi * squares / n) + 1);
  };
  const Series centred = make_series(data.time, data.value);
  // The minimum is found to 1e-3 in log noise, where the loss is n/4 · (1e-3)² above it.
  const double rounding = 1e-6 * n;
  EXPECT_NEAR(white_noise_nll(centred, Mean::constant), nll(yy), rounding);
  EXPECT_NEAR(white_noise_nll(centred, Mean::linear), nll(yy - ty * ty / tt), rounding);
  EXPECT_NEAR(white_noise_nll(make_series(data.time, data.value, {}, {.center = false}), Mean::zero),
              nll(raw), rounding);
}

TEST(WhiteNoise, known_errors_may_be_all_there_is) {
  const Data data = noise(500);
  const std::vector<double> variance(500, 9.0);  // as large as the noise
  double squares = 0, mean = 0;
  for (const double y : data.value) mean += y / 500;
  for (const double y : data.value) squares += (y - mean) * (y - mean);
  const double largest = 0.5 * (squares / 9 + 500 * std::log(2 * std::numbers::pi * 9));  // no further noise
  const double found = white_noise_nll(make_series(data.time, data.value, variance), Mean::constant);
  EXPECT_LE(found, largest + 1e-6);
  EXPECT_GE(found, 0.5 * 500 * (std::log(2 * std::numbers::pi * squares / 500) + 1) - 1e-3);
}

std::vector<std::string> remarks_on(const Data& data, const char* kernel) {
  FitOptions options;
  options.kernel = kernel;
  return remarks(fit(Table{data.time, data.value, {}, "", "", 0}, options));
}

TEST(Remarks, noise_is_noise) {
  const auto said = remarks_on(noise(400), "se");
  ASSERT_EQ(said.size(), 1U);
  EXPECT_NE(said[0].find("not distinguishable from 0"), std::string::npos) << said[0];
}

TEST(Remarks, a_curve_needs_none) {
  Data data = noise(400);
  for (std::size_t i = 0; i < data.time.size(); ++i) data.value[i] += 20 * std::sin(data.time[i] / 3);
  EXPECT_TRUE(remarks_on(data, "se").empty());
}

TEST(Remarks, few_points) {
  const auto said = remarks_on(noise(5), "se");
  ASSERT_EQ(said.size(), 1U);
  EXPECT_NE(said[0].find("only 5 observations for 4 parameters"), std::string::npos) << said[0];
}

TEST(Remarks, a_fit_that_was_cancelled_is_not_judged) {
  const Data data = noise(400);
  FitResult result = fit(Table{data.time, data.value, {}, "", "", 0}, FitOptions{});
  ASSERT_EQ(remarks(result).size(), 1U);
  result.status = FitStatus::cancelled;
  EXPECT_TRUE(remarks(result).empty());
}

TEST(Remarks, a_period_longer_than_the_series) {
  Data data = noise(400);  // over 99.75
  for (std::size_t i = 0; i < data.time.size(); ++i) data.value[i] += 20 * std::sin(data.time[i] / 3);
  FitOptions options;
  options.kernel = "matern32*cos(period=99)";
  options.fix = {{"period", 99}};
  const Table table{data.time, data.value, {}, "", "", 0};
  EXPECT_TRUE(remarks(fit(table, options)).empty());
  options.kernel = "matern32*cos(period=101)";
  options.fix = {{"period", 101}};
  const auto said = remarks(fit(table, options));
  ASSERT_EQ(said.size(), 1U);
  EXPECT_NE(said[0].find("its period (101) is longer than the series (99.75)"), std::string::npos) << said[0];
}

TEST(Advice, a_band_that_was_asked_for_comes_with_another_way_first) {
  const Data data = noise(3000);
  const Series series = make_series(data.time, data.value);
  const auto advice = [&](const char* kernel, const Cut& cut) {
    return words(estimate_cost(series, {kernel, 1.0, Mean::constant}, cut).advice);
  };
  const char *se = "1*se(lengthscale=20)", *matern = "1*matern32(lengthscale=20)";
  EXPECT_EQ(advice(se, {.method = Method::band}).find("method=auto needs no such band; thin="), 0U);
  EXPECT_EQ(
      advice(se, {.rule = Cut::Rule::bandwidth, .bandwidth = 9}).find("bandwidth=auto with method=auto"), 0U);
  EXPECT_EQ(advice(matern, {.method = Method::band}).find("thin="), 0U)
      << "nothing but a band is there for it";
  EXPECT_EQ(advice(matern, {}), "") << "a filter has no neighbours to be rid of";
}

TEST(Diagnostics, by_hand) {
  const Series series = make_series(std::vector<double>{0, 1, 2, 3}, std::vector<double>{1, 2, 4, 5});
  const Diagnostics d = diagnose(series, {{1.5, 2, 3, 9}, {1, 1, 4, 4}});
  EXPECT_NEAR(d.loo_nmse, (0.25 + 0 + 1 + 16) / (4 + 1 + 1 + 4), 1e-14);
  const double logs = 2 * std::log(2 * std::numbers::pi) + 2 * std::log(8 * std::numbers::pi);
  EXPECT_NEAR(d.loo_nlpd, (0.5 * logs + 0.5 * (0.25 + 0 + 0.25 + 4)) / 4, 1e-14);
  EXPECT_EQ(d.coverage_95, 0.75);
}

}  // namespace
}  // namespace bandgp
