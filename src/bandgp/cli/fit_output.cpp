// SPDX-License-Identifier: Apache-2.0
#include "bandgp/cli/fit_output.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

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
  if (fit.certificate.positive_definite) return fit.bandwidth;
  if (fit.cut.rule != Cut::Rule::bandwidth) return nullptr;
  return std::min(fit.cut.bandwidth, fit.series->size() - 1);
}

double two_digits(double value) {
  if (value == 0) return 0;
  const double unit = std::pow(10.0, std::floor(std::log10(value)) - 1);
  return std::round(value / unit) * unit;
}

std::string parameters_text(const FitResult& fit, const FitOptions& options) {
  const std::vector<std::string> names = parameter_names(fit.model.kernel);
  const std::vector<double> values = parameter_values(fit.model);
  std::string text = fmt::format("{}, {} mean", to_text(options.kernel), mean_name(fit.model.mean));
  for (std::size_t i = 0; i < names.size(); ++i) {
    text += fmt::format("\n{:<14} {:.6g}", names[i], values[i]);
    if (names[i].starts_with("lengthscale") && !fit.series->axis.unit.empty())
      text += " " + fit.series->axis.unit;
    if (options.fix.contains(names[i])) {
      text += " (fixed)";
    } else if (i < fit.standard_errors.size() && std::isfinite(fit.standard_errors[i])) {
      text += fmt::format(" ± {:g}", two_digits(fit.standard_errors[i]));
    }
  }
  if (!fit.mean.empty())
    text += fmt::format("\n{:<14} {:.6g}", fit.mean.size() == 1 ? "mean" : "mean at 0", fit.mean[0]);
  if (fit.mean.size() > 1) text += fmt::format("\n{:<14} {:.6g}", "mean slope", fit.mean[1]);
  return text;
}

}  // namespace

std::string reservation(const FitResult& fit) {
  if (fit.status != FitStatus::converged && fit.status != FitStatus::at_bound) return fit.message;
  return fit.certified() ? "" : certificate_text(fit.certificate);
}

Json fit_json(const FitResult& fit, const Input& input) {
  const std::vector<std::string> names = parameter_names(fit.model.kernel);
  const std::vector<double> values = parameter_values(fit.model);
  Json json;
  add_size(json, *input.series);
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
  json["message"] = fit.message;
  json["evaluations"] = fit.evaluations;
  json["seconds"] = fit.seconds;
  json["series"] = series_json(input);
  json["reach"] = fit.reach;
  json["condition"] = fit.condition;
  json["rejected"] = {{"not_positive_definite", fit.rejected_not_positive_definite},
                      {"too_large", fit.rejected_too_large}};
  return json;
}

std::string fit_text(const FitResult& fit, const Input& input, const FitOptions& options) {
  std::string text = field("Read", input_text(input)) + field("Fitted", parameters_text(fit, options));
  if (fit.certificate.positive_definite) {
    text += field("NLL", fmt::format("{:.10g}", fit.nll)) +
            field("Exactness", exactness_text(fit.certificate, fit.condition)) +
            field("Band", band_text(fit.method, fit.bandwidth, fit.reach));
  }
  text += field("Effort", fmt::format("{} evaluations, {}", fit.evaluations, seconds_text(fit.seconds)));
  if (fit.status == FitStatus::at_bound) {
    return text +
           field("Status",
                 "converged, with a parameter at the edge of what is tried: the data do not determine it");
  }
  return text + field("Status", fit.status == FitStatus::converged ? "converged" : fit.message);
}

}  // namespace bandgp::cli
