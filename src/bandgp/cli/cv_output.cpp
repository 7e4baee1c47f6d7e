// SPDX-License-Identifier: Apache-2.0
#include "bandgp/cli/cv_output.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "bandgp/cli/style.hpp"
#include "bandgp/experiments/comparison_page.hpp"

namespace bandgp::cli {
namespace {

struct Column {
  const char* heading;
  int digits;
  double (*value)(const MethodAverage&);
  /// How far from the best it could be; smallest is best.
  double (*badness)(double) = [](double v) { return v; };
  std::string text(double shown) const {
    return std::isfinite(shown) ? fmt::format("{:.{}g}", shown, digits) : "–";
  }
};

const Column kColumns[] = {
    {"NMSE", 4, [](const MethodAverage& a) { return a.scores.nmse; }},
    {"NLPD joint", 6, [](const MethodAverage& a) { return a.scores.nlpd_joint; }},
    {"NLPD each", 4, [](const MethodAverage& a) { return a.scores.nlpd_marginal; }},
    {"CRPS", 4, [](const MethodAverage& a) { return a.scores.crps; }},
    {"95 % cover", 3, [](const MethodAverage& a) { return 100 * a.scores.coverage_95; },
     [](double v) { return std::abs(v - 95); }},
    {"train s", 3, [](const MethodAverage& a) { return a.fit_seconds; }},
    {"predict s", 3, [](const MethodAverage& a) { return a.predict_seconds; }},
};

/// Width in characters, not bytes.
std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(text, [](char c) { return (c & 0xC0) != 0x80; }));
}

std::string padded(const std::string& text, std::size_t width, bool right) {
  const std::string space(width - std::min(width, width_of(text)), ' ');
  return right ? space + text : text + space;
}

/// Columns as wide as their widest cell; the first one to the left, the others to the right.
std::string aligned(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> width(rows.front().size());
  for (const auto& row : rows) {
    for (std::size_t c = 0; c < row.size(); ++c) width[c] = std::max(width[c], width_of(row[c]));
  }
  std::string text;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t c = 0; c < row.size(); ++c)
      line += (c > 0 ? "  " : "") + padded(row[c], width[c], c > 0);
    line.erase(line.find_last_not_of(' ') + 1);
    text += (&row == &rows.front() ? paint(line, Colour::bold) : line) + "\n";
  }
  return text;
}

std::string failures_text(const CvSummary& summary) {
  std::string text;
  for (const std::string& failure : failures_of(summary.results)) text += failure + "\n";
  return text;
}

std::vector<MethodAverage> averages_of(const CvSummary& summary) {
  std::vector<MethodAverage> averages;
  averages.reserve(summary.results.size());
  for (const MethodResult& result : summary.results) averages.push_back(average_of(result));
  return averages;
}

/// The methods without a failure that no other betters by as much as is printed.
std::vector<std::size_t> best_of(std::span<const MethodAverage> averages, const Column& column) {
  std::vector<std::size_t> best;
  for (std::size_t m = 0; m < averages.size(); ++m) {
    const double value = column.value(averages[m]), badness = column.badness(value);
    if (!averages[m].whole() || !std::isfinite(badness)) continue;
    const bool beaten = std::ranges::any_of(averages, [&](const MethodAverage& other) {
      const double theirs = column.value(other);
      return other.whole() && column.badness(theirs) < badness && column.text(theirs) != column.text(value);
    });
    if (!beaten) best.push_back(m);
  }
  return best;
}

}  // namespace

Json cv_json(const CvSummary& summary) {
  Json methods = Json::array();
  for (const MethodResult& result : summary.results) methods.push_back(method_json(result));
  return {{"folds", summary.folds},
          {"seed", summary.seed},
          {"scheme", scheme_name(summary.scheme)},
          {"kernel", to_text(summary.results.front().choice.kernel)},
          {"mean", mean_name(summary.mean)},
          {"complete", summary.complete},
          {"series", series_json(summary.input)},
          {"methods", methods}};
}

std::string cv_text(const CvSummary& summary) {
  std::vector<std::vector<std::string>> rows = {{"method"}};
  for (const Column& column : kColumns) rows[0].emplace_back(fmt::format("{} ", column.heading));
  rows[0].emplace_back("failed");
  const std::vector<MethodAverage> averages = averages_of(summary);
  std::vector<std::vector<std::size_t>> best;  // of every column
  for (const Column& column : kColumns) best.push_back(best_of(averages, column));
  for (std::size_t m = 0; m < averages.size(); ++m) {
    const MethodAverage& average = averages[m];
    rows.push_back({summary.results[m].choice.name()});
    for (std::size_t c = 0; c < best.size(); ++c) {
      const bool wins = std::ranges::count(best[c], m) > 0;
      rows.back().push_back(kColumns[c].text(kColumns[c].value(average)) + (wins ? "*" : " "));
    }
    rows.back().push_back(average.done == summary.folds && average.failures == 0 ? ""
                          : average.done < summary.folds
                              ? fmt::format("{} of {} done", average.done, summary.folds)
                              : fmt::format("{} of {}", average.failures, average.done));
  }
  return field("Read", input_text(summary.input)) +
         field("Folds", fmt::format("{} {}, seed {}, the same for every method; means over them, * the best",
                                    summary.folds, scheme_name(summary.scheme), summary.seed)) +
         "\n" + aligned(rows) + failures_text(summary);
}

std::string cv_page(const CvSummary& summary, const std::string& created) {
  Page page;
  const std::string file = summary.input.name.substr(summary.input.name.find_last_of('/') + 1);
  page.title = summary.input.value_name.empty() ? file : summary.input.value_name;
  page.subtitle = fmt::format(
      "{}, {} observations: {} methods on the same {} {} folds (seed {}). "
      "Seconds are those of fit --method, where a band or its dual finds the start.",
      file, summary.input.series->report.used, summary.results.size(), summary.folds,
      scheme_name(summary.scheme), summary.seed);
  page.command = summary.command;
  page.created = created;
  page.remark = cv_reservation(summary);
  const std::vector<MethodAverage> averages = averages_of(summary);
  const auto best = [&](const char* label, const Column& column, const char* unit) {
    const std::vector<std::size_t> winners = best_of(averages, column);
    if (winners.empty()) return;
    const std::string name = summary.results[winners[0]].choice.name();
    page.cards.push_back(
        {label, winners.size() == 1 ? name : fmt::format("{} and {} more", name, winners.size() - 1),
         fmt::format("{} {}", column.text(column.value(averages[winners[0]])), unit),
         "mean of the folds, among the methods without a failure"});
  };
  best("Smallest error", kColumns[0], "NMSE");
  best("Best joint density", kColumns[1], "nats a fold");
  best("Best density of each", kColumns[2], "nats an observation");
  best("Most honest intervals", kColumns[4], "% inside 95 %");
  best("Shortest training", kColumns[5], "s");
  page.sections.push_back(comparison_charts(summary.results));
  page.sections.push_back(comparison_table(summary.results));
  return document_page(page);
}

std::string cv_reservation(const CvSummary& summary) {
  Index done = 0, failures = 0, all = 0, stopped = 0;
  for (const MethodResult& result : summary.results) {
    const MethodAverage average = average_of(result);
    done += average.done;
    failures += average.failures;
    stopped += average.not_converged;
    all += std::ssize(result.folds);
  }
  if (!summary.complete) return fmt::format("interrupted: {} of {} fits are done", done, all);
  std::string text;
  if (failures > 0) text = fmt::format("{} of {} fits failed", failures, all);
  if (stopped > 0) text += fmt::format("{}{} of {} did not converge", text.empty() ? "" : ", ", stopped, all);
  return text;
}

}  // namespace bandgp::cli
