// SPDX-License-Identifier: Apache-2.0
// Writing, and reading from disk; what the fields must satisfy is in model_reader.cpp.
#include "bandgp/io/model_file.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cmath>
#include <cstring>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "bandgp/fit/parameters.hpp"
#include "bandgp/io/base64.hpp"
#include "bandgp/io/checksum.hpp"
#include "bandgp/io/cut_name.hpp"
#include "bandgp/io/result_json.hpp"
#include "bandgp/io/trace_blocks.hpp"
#include "bandgp/io/write_file.hpp"
#include "bandgp/version.hpp"

namespace bandgp {
namespace {

using Json = nlohmann::ordered_json;  // prints doubles so that they read back bit by bit, and what is not
                                      // finite as null

/// {prefix + name: value}, null where there are no values.
Json named(const Kernel& kernel, const char* prefix, const std::vector<double>& values) {
  const std::vector<std::string> names = parameter_names(kernel);
  if (values.size() != names.size()) return nullptr;
  Json object = Json::object();
  for (std::size_t i = 0; i < names.size(); ++i) object[prefix + names[i]] = values[i];
  return object;
}

Json to_json(const Cut& cut) {
  return {{"method", method_name(cut.method)},
          {"rule", cut_name(cut.rule)},
          {"bandwidth", cut.bandwidth},
          {"reach", cut.reach},
          {"tolerance", cut.tolerance},
          {"index_band", cut.index_band},
          {"inducing", cut.inducing},
          {"move_inducing", cut.move_inducing},
          {"neighbours", cut.neighbours},
          {"taper_range", cut.taper.range},
          {"taper", smoothness_name(cut.taper.smoothness)},
          {"inducing_inputs", cut.inducing_inputs}};
}

Json to_json(const Units& units) {
  return {{"time_origin", units.time_origin},
          {"time_unit", units.time_unit},
          {"value_origin", units.value_origin},
          {"value_unit", units.value_unit}};
}

Json to_json(const TimeAxis& axis) {
  return {{"unit", axis.unit},
          {"format", axis.format},
          {"origin", axis.origin},
          {"zone", axis.zone},
          {"digits", axis.digits}};
}

Json blocks_of(const Series& series) {
  return {{"time", to_base64(series.time)},
          {"value", to_base64(series.value)},
          {"variance", to_base64(series.variance)},
          {"group", to_base64(series.group)},
          {"row", to_base64(series.row)}};
}

Json to_json(const Source& source) {
  return {{"file", source.file},
          {"time_name", source.time_name},
          {"value_name", source.value_name},
          {"bad_lines", source.bad_lines}};
}

Json to_json(const DualState& dual) {
  std::vector<double> runs;
  for (const GaussianGrid::Run& run : dual.runs) runs.insert(runs.end(), {run.begin, run.end});
  const GridDesign& design = dual.design;
  std::vector<double> beta(2), covariance(4);  // of a mean with one coefficient fewer: 0
  for (Index a = 0; a < dual.mean.count; ++a) {
    beta[static_cast<std::size_t>(a)] = dual.mean.beta[static_cast<std::size_t>(a)];
    for (Index b = 0; b < dual.mean.count; ++b)
      covariance[static_cast<std::size_t>(2 * a + b)] = dual.mean.entry(a, b);
  }
  return {{"spacing", design.spacing},
          {"vectors", design.vectors},
          {"half_vectors", design.half_vectors},
          {"cut", design.cut},
          {"bandwidth", design.bandwidth},
          {"g", design.g},
          {"amplitude", design.amplitude},
          {"largest", dual.largest},
          {"middle", dual.middle},
          {"half_span", dual.half_span},
          {"beta", beta},
          {"beta_covariance", covariance},
          {"runs", to_base64(runs)},
          {"factor", to_base64(dual.factor)},
          {"inverse_diagonal", to_base64(dual.inverse_diagonal)},
          {"weights", to_base64(dual.weights)}};
}

/// The dual form of the fit, where it takes less room than the data; the file then holds it instead.
std::shared_ptr<const DualState> smaller_than_data(const FitResult& fit) {
  if (fit.dual) return fit.dual;
  if (fit.method != "dual" || !std::isfinite(fit.nll)) return nullptr;
  const Series& series = *fit.series;
  const std::size_t data = series.time.size() + series.value.size() + series.variance.size() +
                           series.group.size() + series.row.size();
  std::optional<DualState> state;
  try {
    state = fit.with_posterior([](Posterior& posterior) { return posterior.dual_state(); });
  } catch (const std::runtime_error&) {  // no posterior at these parameters: the data are kept
    return nullptr;
  }
  if (!state || static_cast<std::size_t>(state->doubles()) >= data) return nullptr;
  return std::make_shared<const DualState>(std::move(*state));
}

std::string read_model(std::istream& in, const std::string& name) {
  constexpr std::size_t kChunk = 1 << 20, kLargest = std::size_t{1} << 36;  // 10⁹ points take 53 GB
  std::string text;
  for (;;) {
    const std::size_t size = text.size();
    text.resize(size + kChunk);
    in.read(text.data() + size, kChunk);
    text.resize(size + static_cast<std::size_t>(in.gcount()));
    if (text.empty() || text.front() != '{') throw std::invalid_argument(name + ": is not a bandgp model");
    if (text.size() > kLargest) throw std::invalid_argument(name + ": is too large for a bandgp model");
    if (!in) return text;
  }
}

}  // namespace

std::string series_checksum(const Series& series) {
  std::string text;
  for (const auto* values : {&series.time, &series.value, &series.variance}) text += to_base64(*values) + ",";
  text += to_base64(std::vector<double>{series.units.time_origin, series.units.time_unit,
                                        series.units.value_origin, series.units.value_unit});
  return fmt::format("{:016x}", fnv1a(text));
}

std::string to_model_text(const FitResult& fit) {
  const std::shared_ptr<const DualState> dual = smaller_than_data(fit);
  const Json model = {
      {"format", "bandgp-model"},
      {"format_version", kModelVersion},
      {"bandgp", version()},
      {"kernel", to_text(fit.model.kernel)},
      {"noise", fit.model.noise},
      {"parameters", named(fit.model.kernel, "", parameter_values(fit.model))},
      {"mean", mean_name(fit.model.mean)},
      {"mean_coefficients", fit.mean},
      {"standard_errors", named(fit.model.kernel, "", fit.standard_errors)},
      {"nll", fit.nll},
      {"gradient", named(fit.model.kernel, "log_", fit.gradient)},
      {"certificate", to_json(fit.certificate)},
      {"method", fit.method},
      {"bandwidth", fit.bandwidth},
      {"reach", fit.reach},
      {"condition", fit.condition},
      {"rounding", fit.rounding},
      {"status", status_name(fit.status)},
      {"message", fit.message},
      {"evaluations", fit.evaluations},
      {"rejected",
       {{"not_positive_definite", fit.rejected_not_positive_definite},
        {"too_large", fit.rejected_too_large}}},
      {"seconds", fit.seconds},
      {"cut", to_json(fit.cut)},
      {"units", to_json(fit.series->units)},
      {"time_axis", to_json(fit.series->axis)},
      {"series", to_json(fit.series->report)},
      {"source", to_json(fit.source)},
      {"data_checksum", fit.series->size() > 0 ? series_checksum(*fit.series) : fit.data_checksum},
      {"trace", trace_to_json(fit.trace)},
      {"dual", dual ? to_json(*dual) : Json()},
      {"blocks", dual ? Json() : blocks_of(*fit.series)}};
  return with_checksum(model.dump(1, ' ', false, Json::error_handler_t::replace));  // names in any encoding
}

void save_model(const FitResult& fit, const std::string& path) { write_file(path, to_model_text(fit)); }

FitResult load_model(const std::string& path) {
  if (path == "-") return from_model_text(read_model(std::cin, "standard input"), "standard input");
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::invalid_argument(fmt::format("cannot open {}: {}", path, std::strerror(errno)));
  return from_model_text(read_model(file, path), path);
}

}  // namespace bandgp
