// SPDX-License-Identifier: Apache-2.0
#include "bandgp/cli/fit_output.hpp"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <cmath>

#include "bandgp/cli/style.hpp"
#include "bandgp/cli/times.hpp"
#include "bandgp/cli/words.hpp"
#include "bandgp/fit/parameters.hpp"

namespace bandgp::cli {
namespace {

/// The median time between evaluations of the last stage, on all the data.
double evaluation_seconds(const FitResult& fit) {
  std::vector<double> seconds;
  for (std::size_t i = 1; i < fit.trace.size(); ++i) {
    const int last = fit.trace.back().stage;
    if (fit.trace[i - 1].stage == last && fit.trace[i].n == fit.series->size()) {
      seconds.push_back(fit.trace[i].seconds - fit.trace[i - 1].seconds);
    }
  }
  if (seconds.empty()) return kUnset;
  const auto middle = seconds.begin() + static_cast<std::ptrdiff_t>(seconds.size() / 2);
  std::nth_element(seconds.begin(), middle, seconds.end());
  return *middle;
}

/// A fixed width is known even where no matrix of that width could be factored.
Json bandwidth_json(const FitResult& fit) {
  if (!has_bandwidth(fit.method)) return nullptr;
  if (fit.certificate.positive_definite) return fit.bandwidth;
  if (fit.cut.rule != Cut::Rule::bandwidth) return nullptr;
  return std::min(fit.cut.bandwidth, fit.series->size() - 1);
}

double two_digits(double value) {
  if (value == 0) return 0;
  const double unit = std::pow(10.0, std::floor(std::log10(value)) - 1);
  return std::round(value / unit) * unit;
}

/// A value with digits enough to see a hundred-thousandth of the data's spread, however far from 0 they lie.
std::string value_text(double value, const Series& series) {
  const double ratio = std::abs(value) / series.units.value_unit;
  const double digits = ratio > 10 ? 5 + std::ceil(std::log10(ratio)) : 6;
  return fmt::format("{:.{}g}", value, static_cast<int>(std::min(digits, 17.0)));
}

/// Which representation, and why that one.
std::string method_text(const FitSummary& summary) {
  const FitResult& fit = summary.fit;
  const Cut& cut = summary.options.cut;
  const std::string what = band_text(fit.method, fit.bandwidth, fit.reach);
  double longest = 0;
  bool any_basis = false;
  for (const Term& term : fit.model.kernel.terms) {
    any_basis = any_basis || has_basis(term);
    longest = std::max(longest, memory(term));
  }
  const double gap = fit.series->report.mean_gap > 0 ? fit.series->report.mean_gap : 1;
  std::string why;
  if (cut.rule != Cut::Rule::tolerance) {
    why = "the width was given";
  } else if (cut.method != Method::automatic) {
    why = fmt::format("as asked for by --method {}", method_name(cut.method));
  } else if (fit.method == "dual") {
    why = fmt::format("cheaper than a band of the covariance, for the length-scale spans {:.3g} points",
                      longest / gap);
  } else if (fit.method == "columns") {
    why = "the time is linear in the points, and only harmonics that do not count are left out";
  } else if (fit.method == "markov") {
    why = "nothing is left out, and the time is linear in the points at any length-scale";
  } else if (fit.method == "elements") {
    why = "the time is linear in the points, whatever the length-scales";
  } else if (!any_basis) {
    why = "the dual is for se terms";
  } else {
    why = fmt::format("cheaper than the dual, for the length-scale{} {:.3g} points",
                      fit.model.kernel.terms.size() == 1 ? " spans only" : "s span up to", longest / gap);
  }
  return (fit.method == "band" ? "band of the covariance: " : "") + what + "\n" + why;
}

std::string left_out_text(const FitSummary& summary) {
  if (!summary.left_out) return summary.no_left_out;
  return fmt::format(
      "left out in turn: NMSE {:.4g} (0 is perfect, 1 no better than the average), NLPD {:.5g} nats,\n"
      "{:.4g} % of the observations within their 95 % intervals",
      summary.left_out->loo_nmse, summary.left_out->loo_nlpd, 100 * summary.left_out->coverage_95);
}

std::string cost_text(const FitResult& fit) {
  std::string text =
      fmt::format("{} in {}", counted(fit.evaluations, "evaluation"), seconds_text(fit.seconds));
  const double each = evaluation_seconds(fit);
  if (std::isfinite(each)) text += fmt::format(", {} each on all the data", seconds_text(each));
  rusage usage{};
  if (getrusage(RUSAGE_SELF, &usage) == 0)
    text += fmt::format("; {:.3g} MB of memory", static_cast<double>(usage.ru_maxrss) / 1e3);  // given in kB
  return text;
}

/// What each term is and how much of the data it accounts for.
std::string components_text(const FitSummary& summary) {
  constexpr std::size_t kLongestLine = 80;  // with room for the share behind it
  std::string text;
  for (std::size_t t = 0; t < summary.components.size(); ++t) {
    const ComponentStory& story = summary.components[t];
    const std::string number = summary.components.size() > 1 ? fmt::format("{}. ", t + 1) : "";
    const std::string line = fmt::format("{}{}: {}", number, story.kind, story.sentence);
    text += (t == 0 ? "" : "\n") + line;
    if (story.share > 0 && story.kind != "unsupported")
      text += fmt::format("{}{:.3g} % of the variance", line.size() > kLongestLine ? ";\n   " : "; ",
                          100 * story.share);
  }
  return text;
}

Json components_json(const FitSummary& summary) {
  Json list = Json::array();
  for (std::size_t t = 0; t < summary.components.size(); ++t) {
    const ComponentStory& story = summary.components[t];
    list.push_back({{"term", shapes_text(Kernel(std::vector{summary.fit.model.kernel.terms[t]}))},
                    {"kind", story.kind},
                    {"share", story.share},
                    {"sentence", story.sentence}});
  }
  return list;
}

/// How it ended, and what to beware of.
std::string status_text(const FitSummary& summary) {
  const FitStatus status = summary.fit.status;
  std::string text =
      paint(status == FitStatus::converged ? "converged" : summary.fit.message_as(flag_spelling),
            status == FitStatus::converged  ? summary.remarks.empty() ? Colour::good : Colour::doubtful
            : status == FitStatus::at_bound ? Colour::doubtful
                                            : Colour::bad);
  for (std::string remark : summary.remarks) {
    const std::size_t colon = remark.find(": ");  // two short lines rather than a long one
    if (colon != remark.npos) remark[colon + 1] = '\n';
    text += "\nbut " + remark;
  }
  return text;
}

std::string parameters_text(const FitResult& fit, const FitOptions& options) {
  const auto all = parameters(fit.model);
  std::string text = fmt::format("{}, {} mean", to_text(options.kernel), mean_name(fit.model.mean));
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto& [name, kind, value] = all[i];
    text += fmt::format("\n{:<14} {:.6g}", name, *value);
    const bool in_time = kind->unit == Unit::time && !fit.series->axis.unit.empty();
    const std::string unit = in_time ? " " + fit.series->axis.unit : "";
    if (options.fix.contains(name)) {
      text += unit + " (fixed)";
    } else if (i < fit.standard_errors.size() && std::isfinite(fit.standard_errors[i])) {
      text += fmt::format(" ± {:g}", two_digits(fit.standard_errors[i])) + unit;
    } else {
      text += unit;
    }
    if (kind == &noise_parameter() && *value > 0)
      text += fmt::format(", a standard deviation of {:.4g}{}", std::sqrt(*value),
                          fit.series->variance.empty() ? "" : " beyond the errors given");
  }
  if (fit.mean.size() == 1) text += fmt::format("\n{:<14} {}", "mean", value_text(fit.mean[0], *fit.series));
  if (fit.mean.size() > 1) {  // time 0 may lie far away: the middle of the data says more
    const SeriesReport& report = fit.series->report;
    const double middle = report.first_time + 0.5 * report.span;
    const TimeAxis& axis = fit.series->axis;
    text += fmt::format(
        "\n{:<14} {} at {}, the middle of the data", "mean",
        value_text(fit.mean[0] + fit.mean[1] * middle, *fit.series),
        axis.is_plain() ? fmt::format("{:.6g}", middle) : time_text(*fit.series, std::round(middle)));
    text += fmt::format("\n{:<14} {:.6g} {}", "slope", fit.mean[1],
                        axis.unit.empty() ? "a unit of time" : "/ " + axis.unit);
  }
  return text;
}

}  // namespace

std::string reservation(const FitResult& fit) {
  if (fit.status != FitStatus::converged && fit.status != FitStatus::at_bound)
    return fit.message_as(flag_spelling);
  return fit.certified() ? "" : certificate_text(fit.certificate);
}

std::string model_reservation(const FitResult& model) {
  if (model.status == FitStatus::converged || model.status == FitStatus::at_bound) return reservation(model);
  if (model.status != FitStatus::cancelled) return "the model's training: " + model.message_as(flag_spelling);
  const std::string reached = std::isfinite(model.nll) ? fmt::format(", NLL {:.6g}", model.nll) : "";
  return fmt::format(
      "the model's training was interrupted after {}{}; its parameters are the best it had found",
      counted(model.evaluations, "evaluation"), reached);
}

Json fit_json(const FitSummary& summary) {
  const FitResult& fit = summary.fit;
  const std::vector<std::string> names = parameter_names(fit.model.kernel);
  const std::vector<double> values = parameter_values(fit.model);
  Json json;
  add_size(json, *summary.input.series);
  json["method"] = fit.method;
  json["bandwidth"] = bandwidth_json(fit);
  json["nll"] = fit.nll;
  json["evaluation_seconds"] = evaluation_seconds(fit);
  json["gradient"] = named_json("log_", names, fit.gradient);
  json["certificate"] = certificate_json(fit.certificate);
  json["kernel"] = to_text(fit.model.kernel);
  for (std::size_t i = 0; i < names.size(); ++i) json[names[i]] = values[i];
  json["mean"] = fit.mean;
  json["standard_errors"] = named_json("", names, fit.standard_errors);
  json["status"] = status_name(fit.status);
  json["message"] = fit.message_as(flag_spelling);
  json["evaluations"] = fit.evaluations;
  json["seconds"] = fit.seconds;
  json["series"] = series_json(summary.input);
  json["parameters"] = named_json("", names, values);
  json["reach"] = fit.reach;
  json["condition"] = fit.condition;
  json["rounding"] = fit.rounding;
  if (fit.status == FitStatus::cancelled &&
      !fit.certificate.positive_definite)  // stopped before there were any
    json["certificate"] = json["condition"] = json["rounding"] = nullptr;
  json["rejected"] = {{"not_positive_definite", fit.rejected_not_positive_definite},
                      {"too_large", fit.rejected_too_large}};
  json["leave_one_out"] = nullptr;
  if (summary.left_out)
    json["leave_one_out"] = {{"nmse", summary.left_out->loo_nmse},
                             {"nlpd", summary.left_out->loo_nlpd},
                             {"coverage_95", summary.left_out->coverage_95}};
  json["components"] = components_json(summary);
  json["remarks"] = summary.remarks;
  return json;
}

std::string fit_text(const FitSummary& summary) {
  const FitResult& fit = summary.fit;
  std::string text = field("Read", input_text(summary.input)) +
                     field(fit.status == FitStatus::cancelled ? "Best so far" : "Fitted",
                           parameters_text(fit, summary.options));
  if (fit.certificate.positive_definite) {
    if (!summary.components.empty()) text += field("Components", components_text(summary));
    text += field("NLL", fmt::format("{:.10g}", fit.nll)) + field("Quality", left_out_text(summary)) +
            field("Exactness", exactness_text(fit.certificate, fit.rounding)) +
            field("Method", method_text(summary));
  }
  text += field("Cost", cost_text(fit)) + field("Status", status_text(summary));
  if (!summary.output.empty()) text += field("Model", "written to " + summary.output);
  if (!summary.report.empty()) text += field("Report", "written to " + summary.report);
  return text;
}

}  // namespace bandgp::cli
