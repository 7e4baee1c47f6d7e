// SPDX-License-Identifier: Apache-2.0
#include "bandgp/experiments/comparison_page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace bandgp {
namespace {

/// The same look for a method wherever it appears.
int mark_of(const MethodChoice& choice) {
  if (choice.kernel.terms.size() > 1) return 7;
  switch (choice.method) {
    case Method::band:
      return choice.parameter ? 0 : 5;
    case Method::fitc:
      return 1;
    case Method::vfe:
      return 2;
    case Method::vecchia:
      return 3;
    case Method::taper:
      return 4;
    case Method::exact:
      return 6;
    case Method::dual:
      return 8;
    default:
      return 9;
  }
}

/// No better than a constant; how much worse a method is tells a table as well as a chart.
constexpr double kWorstNmse = 1.5;

using Value = double (*)(const MethodAverage&);

PageChart chart(std::span<const MethodResult> results, const std::string& title, const std::string& label,
                Value value) {
  PageChart chart{title, "", "", {"seconds of training, mean of the folds", true}, {label, true}, {}, {}};
  for (const MethodResult& result : results) {
    const MethodAverage average = average_of(result);
    const double y = value(average);
    if (!std::isfinite(y)) continue;
    const std::string name = series_name(result.choice);
    if (chart.series.empty() || chart.series.back().name != name)
      chart.series.push_back({name, mark_of(result.choice), false, {}});
    PageSeries& series = chart.series.back();
    // What has no size of its own is named on the chart.
    const std::string tag = result.choice.parameter ? std::to_string(*result.choice.parameter) : name;
    series.points.push_back({average.fit_seconds, y, tag, !average.valid()});
    series.line = series.points.size() > 1;
    if (!(y > 0)) chart.y.log = false;
  }
  return chart;
}

}  // namespace

std::string series_name(const MethodChoice& choice) {
  const std::string_view method = method_name(choice.method);
  if (choice.kernel.terms.size() > 1) return fmt::format("{} ({})", to_text(choice.kernel), method);
  if (choice.method == Method::band) return choice.parameter ? "band, k fixed" : "band, certified";
  return std::string(method);
}

std::string number_text(double value, int digits) {
  if (!std::isfinite(value)) return "–";
  std::string text = fmt::format("{:.{}g}", value, digits);
  if (text.starts_with('-')) text.replace(0, 1, "−");
  return text;
}

PageSection comparison_charts(std::span<const MethodResult> results) {
  const bool joint = std::ranges::any_of(
      results, [](const MethodResult& r) { return std::isfinite(average_of(r).scores.nlpd_joint); });
  PageSection section{"runtime",
                      "Accuracy against runtime",
                      "Each mark is a method at one size of its approximation (the number beside the first "
                      "and the last), averaged over the "
                      "folds. Lower is better on both axes: the best are in the lower left corner.",
                      {},
                      {"hollow: a matrix lost positive definiteness during training, or a fold failed"},
                      {},
                      {}};
  section.charts.push_back(chart(results, "Error of the prediction", "NMSE",
                                 [](const MethodAverage& average) { return average.scores.nmse; }));
  section.charts.push_back(
      joint ? chart(results, "Error of the predictive density", "joint NLPD of a fold",
                    [](const MethodAverage& average) { return average.scores.nlpd_joint; })
            : chart(results, "Error of the predictive density", "NLPD of an observation",
                    [](const MethodAverage& average) { return average.scores.nlpd_marginal; }));
  section.charts[0].y.most = kWorstNmse;
  section.charts[0].how =
      "Squared error over the variance of what was held out; 1 is no better than its mean.";
  section.charts[1].how =
      joint ? "−log p of all that a fold holds out together, in nats."
            : "−log p of an observation held out, in nats; folds are too large for their joint density.";
  if (std::ranges::any_of(results,
                          [](const MethodResult& r) { return r.choice.method == Method::vecchia; }) &&
      joint)
    section.charts[1].how +=
        " Vecchia predicts each observation by itself: its joint density is the product of those.";
  return section;
}

PageSection comparison_table(std::span<const MethodResult> results) {
  PageTable table{"Scores of every method, averaged over the folds",
                  {"Method", "Size", "NMSE", "NLPD, joint", "NLPD, each", "CRPS", "95 % covers", "NLL",
                   "Train [s]", "Predict [s]", "Evaluations", "Width", "Not positive definite", "At a bound",
                   "Not converged", "Failures"},
                  {}};
  PageSection section{"numbers", "Every number", "", {}, {}, {}, {}};
  for (const MethodResult& result : results) {
    const MethodAverage average = average_of(result);
    if (average.done == 0) continue;
    const Scores& scores = average.scores;
    const auto folds = [&](Index count) {
      return count > 0 ? fmt::format("{} of {}", count, average.done) : std::string();
    };
    table.rows.push_back(
        {series_name(result.choice), result.choice.parameter ? std::to_string(*result.choice.parameter) : "",
         number_text(scores.nmse), number_text(scores.nlpd_joint, 6), number_text(scores.nlpd_marginal),
         number_text(scores.crps),
         std::isfinite(scores.coverage_95) ? fmt::format("{:.1f} %", 100 * scores.coverage_95) : "–",
         number_text(average.nll, 7), number_text(average.fit_seconds, 3),
         number_text(average.predict_seconds, 3), number_text(average.evaluations, 3),
         std::to_string(average.bandwidth), folds(average.rejecting), folds(average.at_bound),
         folds(average.not_converged), folds(average.failures)});
  }
  for (const std::string& failure : failures_of(results)) section.notes.push_back(failure + ".");
  section.lead =
      "Width is the widest band of the matrix that is factored, or the number of inducing inputs. Not "
      "positive definite: in how many folds "
      "the training met such a matrix; such steps are refused, and a result found at their edge is not the "
      "optimum. At a bound: training ended at the edge of the parameters that are tried. Scores are means "
      "over "
      "the folds that did not fail.";
  section.tables.push_back(std::move(table));
  return section;
}

}  // namespace bandgp
