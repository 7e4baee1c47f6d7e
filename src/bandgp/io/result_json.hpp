// SPDX-License-Identifier: Apache-2.0
// The parts of a result that the model file, the command line and the report write alike.
#pragma once
#include <nlohmann/json.hpp>

#include "bandgp/bandwidth/certificate.hpp"
#include "bandgp/series/series.hpp"

namespace bandgp {

inline nlohmann::ordered_json to_json(const Certificate& certificate) {
  return {{"positive_definite", certificate.positive_definite},
          {"rho", certificate.rho.value()},
          {"nll_error", certificate.nll_error.value()},
          {"mean_error", certificate.mean_error.value()},
          {"variance_error", certificate.variance_error.value()}};
}

inline nlohmann::ordered_json to_json(const SeriesReport& report) {
  return {{"rows", report.rows},
          {"used", report.used},
          {"dropped", report.dropped},
          {"merged", report.merged},
          {"thinned", report.thinned},
          {"sorted", report.was_sorted},
          {"min_gap", report.min_gap},
          {"mean_gap", report.mean_gap},
          {"max_gap", report.max_gap},
          {"span", report.span},
          {"first_time", report.first_time},
          {"last_time", report.last_time}};
}

}  // namespace bandgp
