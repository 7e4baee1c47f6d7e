// SPDX-License-Identifier: Apache-2.0
// What is asked of a fit uses the factor that training ended with.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "bandgp/fit/fit.hpp"
#include "bandgp/io/model_file.hpp"
#include "bandgp/report/report_data.hpp"
#include "support/random.hpp"

namespace {

using namespace bandgp;
using Values = std::vector<double>;

struct Asked {
  const char* what;
  const char* kernel;
  Cut cut;
  const char* method;  // in use at the optimum
};
const Asked kAsked[] = {
    {"states", "matern12", {}, "markov"},
    {"a band", "matern12", {.method = Method::band}, "band"},
    {"the dual", "se", {.method = Method::dual}, "dual"},
    {"a sum, partly in a basis", "se + matern12", {}, ""},
    {"a fixed band", "se", {.rule = Cut::Rule::bandwidth, .bandwidth = 40}, "band"},
    {"the dense matrix", "se", {.method = Method::exact}, "exact"},
    {"inducing inputs", "se", {.method = Method::fitc, .inducing = 40}, "fitc"},
    {"neighbours", "se", {.method = Method::vecchia, .neighbours = 20}, "vecchia"},
};

FitResult fitted(const Asked& asked, Index n = 300) {
  support::Random random(7);
  Values time, value;
  for (Index i = 0; i < n; ++i) {
    time.push_back(static_cast<double>(i) + 0.3 * random.uniform(0, 1));
    value.push_back(3 + std::sin(time.back() / 15) + 0.3 * random.normal());
  }
  FitOptions options;
  options.kernel = asked.kernel;
  options.cut = asked.cut;
  return fit(std::make_shared<const Series>(make_series(time, value)), options);
}

/// Training evaluates so often on all the data, and then factors once more, without the gradient that uses a
/// factor up: rounding, the model file, the report's curve and residuals and, last of all, leave-one-out come
/// from that factor.
TEST(Fitted, file_report_and_summary_factor_no_more_than_training_did) {
  for (const Asked& asked : kAsked) {
    SCOPED_TRACE(asked.what);
    const FitResult result = fitted(asked);
    if (*asked.method != 0) {
      ASSERT_EQ(result.method, asked.method);
    }
    const auto evaluations = std::ranges::count(result.trace, result.trace.back().stage, &TraceEntry::stage);
    EXPECT_EQ(result.posterior()->factorizations(), evaluations + 1);

    const std::string file = to_model_text(result);
    const ReportData report = collect_report(result, {});
    const LeaveOneOut left_out = result.posterior()->leave_one_out();
    const Diagnostics summary = diagnose(*result.series, left_out);
    EXPECT_EQ(report.diagnostics.loo_nmse, summary.loo_nmse);
    EXPECT_TRUE(std::isfinite(result.rounding));
    EXPECT_EQ(result.posterior()->factorizations(), evaluations + 1);

    const Values times{10.5, 299.25, 400};  // leave-one-out has used the factor up
    (void)result.predict(times);
    (void)result.predict(times);
    EXPECT_EQ(result.posterior()->factorizations(), evaluations + 2);
  }
}

TEST(Fitted, the_factor_of_training_answers_as_one_made_anew) {
  for (const Asked& asked : kAsked) {
    SCOPED_TRACE(asked.what);
    const FitResult result = fitted(asked);
    FitResult anew = result;
    anew.forget_posterior();
    EXPECT_NE(anew.posterior(), result.posterior());
    const Values times{-20, 10.5, 150, 299.25, 400};
    const Prediction a = result.predict(times), b = anew.predict(times);
    EXPECT_EQ(a.mean, b.mean);
    EXPECT_EQ(a.variance, b.variance);
    EXPECT_EQ(result.posterior()->whitened_residuals(3), anew.posterior()->whitened_residuals(3));
    EXPECT_EQ(result.posterior()->whitened_residuals(3), anew.posterior()->whitened_residuals(3))
        << "asked twice";
    EXPECT_EQ(result.rounding, anew.posterior()->rounding());
    EXPECT_EQ(result.posterior()->leave_one_out().mean, anew.posterior()->leave_one_out().mean);
    EXPECT_EQ(result.posterior()->leave_one_out().variance, anew.posterior()->leave_one_out().variance);
  }
}

TEST(Fitted, copies_share_the_posterior) {
  const FitResult result = fitted(kAsked[0]);
  const FitResult copy = result;
  EXPECT_EQ(copy.posterior(), result.posterior());
  const FitResult loaded = from_model_text(to_model_text(result), "model");
  EXPECT_EQ(loaded.posterior(), loaded.posterior()) << "a result from a file builds it once";
  EXPECT_EQ(loaded.posterior()->factorizations(), 1);
}

/// The search works on a part of the data; the dense matrix of all of them would not fit.
TEST(Cancelled, is_told_before_the_memory_that_all_the_data_would_need) {
  support::Random random(3);
  Values time, value;
  for (Index i = 0; i < 7000; ++i) {
    time.push_back(static_cast<double>(i));
    value.push_back(std::sin(time.back() / 15) + 0.3 * random.normal());
  }
  const auto series = std::make_shared<const Series>(make_series(time, value));
  for (const bool cancels : {false, true}) {
    int seen = 0;
    FitOptions options;
    options.cut.method = Method::exact;
    options.max_bytes = 5e7;
    options.progress = [&seen](const TraceEntry&) { ++seen; };
    options.cancelled = [&] { return cancels && seen >= 40; };
    const FitResult result = fit(series, options);
    EXPECT_EQ(status_name(result.status), cancels ? "cancelled" : "too_large") << result.message;
    EXPECT_EQ(result.outcome->code,
              cancels ? MessageCode::cancelled_in_search : MessageCode::stage_too_large);
    EXPECT_TRUE(std::isfinite(result.model.noise)) << "the best so far";
  }
}

}  // namespace
