// SPDX-License-Identifier: Apache-2.0
#include "bandgp/experiments/fold_json.hpp"

namespace bandgp {
namespace {

using Json = nlohmann::ordered_json;

std::optional<FitStatus> parse_status(const std::string& name) {
  for (const FitStatus status : {FitStatus::converged, FitStatus::at_bound, FitStatus::stalled,
                                 FitStatus::rounding, FitStatus::out_of_evaluations, FitStatus::cancelled,
                                 FitStatus::not_positive_definite, FitStatus::too_large}) {
    if (name == status_name(status)) return status;
  }
  return std::nullopt;
}

double number_of(const Json& value) { return value.is_null() ? kUnset : value.get<double>(); }

}  // namespace

Json fold_json(const FoldResult& result) {
  return {{"nmse", result.scores.nmse},
          {"nlpd_joint", result.scores.nlpd_joint},
          {"nlpd_marginal", result.scores.nlpd_marginal},
          {"crps", result.scores.crps},
          {"coverage_95", result.scores.coverage_95},
          {"fit_seconds", result.fit_seconds},
          {"predict_seconds", result.predict_seconds},
          {"bandwidth", result.bandwidth},
          {"nll", result.nll},
          {"kernel", result.kernel},
          {"noise", result.noise},
          {"status", status_name(result.status)},
          {"evaluations", result.evaluations},
          {"rejected", result.rejected},
          {"failure", result.failure.empty() ? Json() : Json(result.failure)}};
}

std::optional<FoldResult> fold_from_json(const Json& json) {
  try {
    FoldResult result;
    result.scores = {number_of(json.at("nmse")), number_of(json.at("nlpd_joint")),
                     number_of(json.at("nlpd_marginal")), number_of(json.at("crps")),
                     number_of(json.at("coverage_95"))};
    result.fit_seconds = number_of(json.at("fit_seconds"));
    result.predict_seconds = number_of(json.at("predict_seconds"));
    result.bandwidth = json.at("bandwidth").get<Index>();
    result.nll = number_of(json.at("nll"));
    result.kernel = json.at("kernel").get<std::string>();
    result.noise = number_of(json.at("noise"));
    const auto status = parse_status(json.at("status").get<std::string>());
    if (!status) return std::nullopt;
    result.status = *status;
    result.evaluations = json.at("evaluations").get<int>();
    result.rejected = json.at("rejected").get<int>();
    if (!json.at("failure").is_null()) result.failure = json.at("failure").get<std::string>();
    return result;
  } catch (const Json::exception&) {
    return std::nullopt;
  }
}

}  // namespace bandgp
