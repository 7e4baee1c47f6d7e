// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "bandgp/io/base64.hpp"
#include "bandgp/report/curve_times.hpp"
#include "bandgp/report/report_data.hpp"
#include "support/random.hpp"

namespace {

using namespace bandgp;
using Json = nlohmann::json;
using Values = std::vector<double>;

std::shared_ptr<const Series> series_of(int n, double gap = 0) {
  support::Random random(2);
  Values time, value;
  for (int i = 0; i < n; ++i) {
    time.push_back(i + (i > n / 2 ? gap : 0));
    value.push_back(100 + std::sin(time.back() / 8) + 0.2 * random.normal());
  }
  return std::make_shared<const Series>(make_series(time, value));
}

const FitResult& small_fit() {
  static const FitResult result = fit(series_of(200, 50), {});
  return result;
}

std::string between(const std::string& text, const std::string& begin, const std::string& end) {
  const std::size_t from = text.find(begin);
  if (from == text.npos) return "";
  return text.substr(from + begin.size(), text.find(end, from) - from - begin.size());
}

Json json_of(const std::string& page) {
  return Json::parse(between(page, R"(<script type="application/json" id="report">)", "</script>"));
}

/// The numbers of a block that holds doubles.
Values block(const std::string& page, const Json& description) {
  const std::string id = description["block"];
  return *doubles_from_base64(between(page, R"(<script type="text/plain" id=")" + id + R"(">)", "</script>"));
}

void expect_increasing(const Values& times) {
  EXPECT_EQ(std::ranges::adjacent_find(times, std::ranges::greater_equal{}), times.end());
}

double widest_gap(const Values& times, double from, double to) {
  double widest = 0;
  for (std::size_t i = 1; i < times.size(); ++i) {
    if (times[i] > from && times[i - 1] < to) widest = std::max(widest, times[i] - times[i - 1]);
  }
  return widest;
}

TEST(CurveTimes, are_fine_near_data_and_few_in_long_gaps) {
  Values data;
  for (int i = 0; i <= 1000; ++i) data.push_back(i < 500 ? i : i + 5000);
  const Kernel kernel("2*se(lengthscale=6)");
  const Values times = curve_times(data, kernel);
  expect_increasing(times);
  EXPECT_LT(times.front(), 0);
  EXPECT_GT(times.back(), 6000);
  EXPECT_LE(widest_gap(times, 0, 499 + 18), 0.5 * (1 + 1e-9));  // ℓ/12, and three ℓ into the gap
  EXPECT_LE(widest_gap(times, 5500 - 18, 6000), 0.5 * (1 + 1e-9));
  EXPECT_LT(times.size(), 2400U);
  EXPECT_GT(widest_gap(times, 600, 5400), 100);
}

TEST(CurveTimes, rough_curves_stop_at_every_observation) {
  support::Random random(4);
  Values data;
  double t = 0;
  for (int i = 0; i < 500; ++i) data.push_back(t += 0.1 + std::abs(random.normal()));
  const Values times = curve_times(data, Kernel("1*matern12(lengthscale=40)"));
  expect_increasing(times);
  for (const double at : data) EXPECT_TRUE(std::ranges::binary_search(times, at)) << at;
}

TEST(CurveTimes, are_limited_in_number) {
  Values data(300'000);
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<double>(i) + (i > 150'000 ? 1e7 : 0);
  for (const char* kernel :
       {"1*se(lengthscale=0.5)", "1*matern12(lengthscale=0.5)", "1*se(lengthscale=300)"}) {
    const Values times = curve_times(data, Kernel(kernel));
    expect_increasing(times);
    EXPECT_LE(times.size(), 400'001U) << kernel;
    EXPECT_GE(times.size(), 2000U) << kernel;
    EXPECT_LE(widest_gap(times, 0, 150'000), 25 * (1 + 1e-9)) << kernel;
    // The gap has its own times, whatever the budget.
    EXPECT_GE(std::ranges::count_if(times, [](double x) { return x > 150'001 && x < 1.01e7; }), 40) << kernel;
  }
  EXPECT_LE(curve_times(0, 1e9, Kernel("1*se(lengthscale=1)")).size(), 500'000U);
  const Values one = curve_times(Values{5}, Kernel("1*se(lengthscale=1)"));
  EXPECT_GE(one.size(), 3U);
  expect_increasing(one);
}

TEST(Report, has_the_numbers_of_the_fit) {
  const ReportData data = collect_report(small_fit(), {.command = "bandgp fit 'a b.csv'", .created = "now"});
  const std::string page = report_page(data);
  const Json json = json_of(page);
  EXPECT_EQ(json["fit"]["parameters"][1]["name"], "lengthscale");
  EXPECT_EQ(json["fit"]["parameters"][1]["value"], small_fit().model.kernel.terms[0].lengthscale);
  EXPECT_EQ(json["fit"]["parameters"][1]["error"], small_fit().standard_errors[1]);
  EXPECT_EQ(json["fit"]["certificate"]["nll_error"], small_fit().certificate.nll_error.value());
  EXPECT_EQ(json["command"], "bandgp fit 'a b.csv'");
  EXPECT_EQ(json["trace"]["nll"].size(), small_fit().trace.size());
  EXPECT_EQ(json["series"]["used"], 200);
  const Values time = block(page, json["points"]["time"]);
  ASSERT_EQ(time.size(), 200U);
  EXPECT_EQ(time[150], 200);
  Posterior& posterior = *small_fit().posterior();
  const Diagnostics expected = diagnose(*small_fit().series, posterior.leave_one_out());
  EXPECT_EQ(json["diagnostics"]["loo_nmse"], expected.loo_nmse);
  EXPECT_EQ(json["diagnostics"]["coverage_95"], expected.coverage_95);
  EXPECT_EQ(json["noise"]["rank"].size(), 200U);
}

TEST(Report, the_curve_is_the_posterior) {
  const ReportData data = collect_report(small_fit(), {});
  const Prediction expected = small_fit().predict(data.curve.time);
  for (std::size_t i = 0; i < data.curve.time.size(); ++i) {
    EXPECT_EQ(data.curve.mean[i], expected.mean[i]);
    EXPECT_EQ(data.curve.deviation[i], std::sqrt(expected.variance[i]));
  }
}

TEST(Report, the_matrices_are_those_that_are_factored) {
  FitResult band = small_fit();
  band.model.kernel = Kernel("1*se(lengthscale=4)");
  band.cut = {.method = Method::band, .rule = Cut::Rule::bandwidth, .bandwidth = 30};
  band.forget_posterior();  // it is that of the model before
  const ReportData data = collect_report(band, {});
  ASSERT_EQ(data.matrices.size(), 1U);
  const ReportMatrix& matrix = data.matrices[0];
  EXPECT_EQ(matrix.rows, "points");
  EXPECT_EQ(collect_report(small_fit(), {}).covariance.has_value(), small_fit().method != "band");
  EXPECT_EQ(matrix.size, 200);
  EXPECT_EQ(matrix.bandwidth, 30);
  EXPECT_EQ(matrix.kept, 200 * 31 - 30 * 31 / 2);
  for (std::size_t i = 0; i < matrix.row.size(); ++i)
    EXPECT_EQ(matrix.first[i], std::max<Index>(0, matrix.row[i] - 30));
  for (std::size_t i = 0; i < matrix.window_first.size(); ++i) {
    const Index row = matrix.window_begin + static_cast<Index>(i);
    EXPECT_EQ(matrix.window_first[i], std::max<Index>(0, row - 30));
  }
}

TEST(Report, text_from_the_data_is_never_markup) {
  FitResult fit = small_fit();
  fit.source = {"</script><script>alert(1)</script>", "<!--", "a\xe2\x80\xa8]]>&amp;\xff\x01"};
  const std::string page = report_page(collect_report(fit, {.command = "<img src=x onerror=alert(1)>"}));
  const std::string clean = report_page(collect_report(small_fit(), {}));
  const auto count = [](const std::string& text, const std::string& what) {
    std::size_t found = 0;
    for (std::size_t at = text.find(what); at != text.npos; at = text.find(what, at + 1)) ++found;
    return found;
  };
  for (const char* mark : {"<script", "</script", "<!--", "<img", "\xe2\x80\xa8", "\xff"})
    EXPECT_EQ(count(page, mark), count(clean, mark)) << mark;
  const Json json = json_of(page);
  EXPECT_EQ(json["file"], fit.source.file);
  EXPECT_EQ(json["time_name"], "<!--");
  EXPECT_EQ(json["value_name"], "a\xe2\x80\xa8]]>&amp;\xef\xbf\xbd\x01");  // what is not UTF-8 is replaced
  EXPECT_EQ(json["command"], "<img src=x onerror=alert(1)>");
}

TEST(Report, a_fit_that_failed_has_a_page_without_a_curve) {
  FitResult failed = small_fit();
  failed.status = FitStatus::not_positive_definite;
  failed.outcome = text_message("the band is too narrow");
  failed.nll = kUnset;
  failed.certificate = {};
  const ReportData data = collect_report(failed, {});
  EXPECT_TRUE(data.curve.time.empty());
  EXPECT_EQ(data.points.time.size(), 200U);
  EXPECT_NE(data.remark.find("the band is too narrow"), std::string::npos);
  const Json json = json_of(report_page(data));
  EXPECT_TRUE(json["curve"].is_null() && json["fit"]["nll"].is_null());
}

TEST(Report, more_points_than_a_page_can_bear_are_shown_by_their_extremes_slow) {
  constexpr int kCount = 1'500'000;
  Values time(kCount), value(kCount);
  for (std::size_t i = 0; i < kCount; ++i) {
    time[i] = static_cast<double>(i);
    value[i] = std::sin(static_cast<double>(i));
  }
  value[777'777] = 50;
  value[1'234'567] = -60;
  FitResult fit;  // not fitted: only the points matter
  fit.model = {Kernel("1*se(lengthscale=1)"), 1.0, Mean::constant};
  fit.nll = kUnset;
  fit.series = std::make_shared<const Series>(make_series(time, value));
  const ReportPoints points = collect_report(fit, {}).points;
  EXPECT_EQ(points.of, kCount);
  EXPECT_LE(points.value.size(), std::size_t{1} << 20);
  EXPECT_EQ(*std::ranges::max_element(points.value), 50);
  EXPECT_EQ(*std::ranges::min_element(points.value), -60);
  expect_increasing(points.time);
}

}  // namespace
