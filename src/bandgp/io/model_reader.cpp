// SPDX-License-Identifier: Apache-2.0
// Reading a model text.  Nothing in it is trusted: every size, sign and order that the library relies on is
// checked.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "bandgp/base/quote.hpp"
#include "bandgp/fit/parameters.hpp"
#include "bandgp/io/base64.hpp"
#include "bandgp/io/checksum.hpp"
#include "bandgp/io/cut_name.hpp"
#include "bandgp/io/json_fields.hpp"
#include "bandgp/io/model_file.hpp"
#include "bandgp/io/trace_blocks.hpp"

namespace bandgp {
namespace {

using json::Fields;
using json::refuse;
using json::require;

UpperBound bound(const Fields& fields, const std::string& key) {
  return fields.at(key).is_null() ? UpperBound::infinite() : UpperBound::exactly(fields.not_negative(key));
}

Certificate read_certificate(const Fields& fields) {
  return {fields.flag("positive_definite"), bound(fields, "rho"), bound(fields, "nll_error"),
          bound(fields, "mean_error"), bound(fields, "variance_error")};
}

Cut read_cut(const Fields& fields) {
  const std::string text = fields.text("rule");
  const auto rule = parse_cut(text);
  if (!rule) refuse(fmt::format("cut.rule {} is not known", quote(text)));
  Cut cut{parse_method(fields.text("method")), *rule,
          fields.index("bandwidth"),           fields.not_negative("reach"),
          fields.finite("tolerance"),          fields.flag("index_band")};
  cut.inducing = fields.index("inducing");
  cut.move_inducing = fields.flag("move_inducing");
  cut.neighbours = fields.index("neighbours");
  cut.taper = {fields.not_negative("taper_range"), parse_smoothness(fields.text("taper"))};
  cut.inducing_inputs = fields.list("inducing_inputs");
  require(std::ranges::all_of(cut.inducing_inputs, [](double z) { return std::isfinite(z); }),
          "an inducing input is not finite");
  require_valid(cut);
  return cut;
}

/// Dividing by a power of two, and by its square, is exact.
double power_of_two(const Fields& fields, const std::string& key) {
  int exponent = 0;
  const double value = fields.finite(key);
  if (!(value > 0) || std::frexp(value, &exponent) != 0.5 || !std::isnormal(value) ||
      !std::isnormal(1 / value)) {
    refuse(fmt::format("units.{} is not a power of two", key));
  }
  return value;
}

Units read_units(const Fields& fields) {
  return {fields.finite("time_origin"), power_of_two(fields, "time_unit"), fields.finite("value_origin"),
          power_of_two(fields, "value_unit")};
}

/// What the times mean; they must be within the calendar where there is one.
TimeAxis read_axis(const Fields& fields, const SeriesReport& report) {
  TimeAxis axis;
  axis.unit = fields.text("unit");
  axis.format = fields.text("format");
  axis.origin = fields.integer("origin");
  axis.zone = static_cast<int>(fields.integer("zone", 24 * 60));
  axis.digits = static_cast<int>(fields.index("digits", 9));
  try {
    require_valid(axis);
    if (axis.is_calendar())
      for (const double time : {report.first_time, report.last_time}) to_text(axis, time);
  } catch (const std::invalid_argument& error) {
    refuse(fmt::format("time_axis: {}", error.what()));
  }
  return axis;
}

SeriesReport read_report(const Fields& fields) {
  SeriesReport report;
  report.rows = fields.index("rows");
  report.dropped = fields.index("dropped");
  report.thinned = fields.index("thinned");
  report.merged = fields.index("merged");
  report.used = fields.index("used");
  report.was_sorted = fields.flag("sorted");
  report.min_gap = fields.not_negative("min_gap");
  report.mean_gap = fields.not_negative("mean_gap");
  report.max_gap = fields.not_negative("max_gap");
  report.span = fields.not_negative("span");
  report.first_time = fields.finite("first_time");
  report.last_time = fields.finite("last_time");
  return report;
}

bool increases(const auto& values) {
  return std::ranges::adjacent_find(values, std::ranges::greater_equal{}) == values.end();
}

void check_order(const Series& series) {
  const auto finite = [](double value) { return std::isfinite(value); };
  require(series.size() >= 1, "blocks.time is empty");
  require(std::ranges::all_of(series.time, finite), "blocks.time is not finite");
  require(increases(series.time), "blocks.time does not increase");
  require(series.time.size() == 1 || std::isfinite(series.time.back() - series.time.front()),
          "blocks.time overflows");
  require(std::ranges::all_of(series.value, finite), "blocks.value is not finite");
  require(std::ranges::all_of(series.variance, [](double v) { return std::isfinite(v) && v >= 0; }),
          "blocks.variance is negative or not finite");

  require(series.observations() >= series.size(), "blocks.value is shorter than blocks.time");
  require(series.has_ties() == (series.observations() > series.size()),
          "blocks.group does not fit blocks.value");
  if (series.has_ties()) {
    require(series.group.size() == series.time.size() + 1, "blocks.group does not fit blocks.time");
    require(
        series.group.front() == 0 && series.group.back() == series.observations() && increases(series.group),
        "blocks.group does not increase from 0 to the number of values");
  }
  require(series.variance.empty() || series.variance.size() == series.value.size(),
          "blocks.variance does not fit blocks.value");
  require(series.row.size() == series.value.size(), "blocks.row does not fit blocks.value");
  std::vector<Index> rows = series.row;
  std::ranges::sort(rows);
  require(
      rows.front() >= 0 && rows.back() < series.report.rows && std::ranges::adjacent_find(rows) == rows.end(),
      "blocks.row is not a set of rows");
}

/// What the report says must be what the points say.
void check_report(const Series& series) {
  const SeriesReport& said = series.report;
  require(said.rows == said.used + said.dropped + said.thinned,
          "series.rows is not used + dropped + thinned");
  const IndexRange all{0, series.size()};
  const SeriesReport is = subseries(series, {&all, 1}).report;
  require(said.used == is.used && said.merged == is.merged,
          "series.used and series.merged do not fit the blocks");
  const double size = std::max({is.span, std::abs(is.first_time), std::abs(is.last_time)});
  const auto close = [](double a, double b, double unit) { return std::abs(a - b) <= 1e-12 * unit; };
  require(close(said.first_time, is.first_time, size) && close(said.last_time, is.last_time, size) &&
              close(said.span, is.span, is.span) && close(said.min_gap, is.min_gap, is.min_gap) &&
              close(said.max_gap, is.max_gap, is.max_gap) && close(said.mean_gap, is.mean_gap, is.mean_gap),
          "series does not describe the times in blocks");
}

constexpr Index kWidestDual = 1000;  // of any basis, whatever the series

/// A posterior in its dual form; everything that prediction will index with is checked here.
DualState read_dual(const Fields& fields, Mean mean) {
  DualState dual;
  GridDesign& design = dual.design;
  const auto positive = [&](const char* key) {
    const double value = fields.finite(key);
    if (!std::isnormal(value) || value < 0 || !std::isnormal(1 / value))
      refuse(fmt::format("dual.{} is not positive", key));
    return value;
  };
  design.spacing = positive("spacing");
  design.vectors = static_cast<int>(fields.index("vectors", kMostVectors));
  design.half_vectors = static_cast<int>(fields.index("half_vectors", kMostVectors));
  require(design.vectors >= kLeastVectors && design.half_vectors >= kLeastVectors, "dual.vectors is 0");
  design.cut = positive("cut");
  design.bandwidth = fields.index("bandwidth", kWidestDual);
  design.g = positive("g");
  design.amplitude = positive("amplitude");
  dual.largest = positive("largest");
  dual.middle = fields.finite("middle");
  dual.half_span = positive("half_span");
  const std::vector<double> beta = fields.list("beta"), covariance = fields.list("beta_covariance");
  require(beta.size() == 2 && covariance.size() == 4, "dual.beta has not the size of a mean");
  dual.mean.count = coefficient_count(mean);
  for (std::size_t a = 0; a < static_cast<std::size_t>(dual.mean.count); ++a) {
    dual.mean.beta.push_back(beta[a]);
    for (std::size_t b = 0; b < static_cast<std::size_t>(dual.mean.count); ++b)
      dual.mean.covariance.push_back(covariance[2 * a + b]);
  }
  dual.inverse_diagonal = fields.block("inverse_diagonal", doubles_from_base64);
  dual.factor = fields.block("factor", doubles_from_base64);
  dual.weights = fields.block("weights", doubles_from_base64);
  const std::vector<double> runs = fields.block("runs", doubles_from_base64);
  const auto finite = [](double value) { return std::isfinite(value); };
  require(std::ranges::all_of(dual.inverse_diagonal, [](double v) { return std::isfinite(v) && v > 0; }),
          "dual.inverse_diagonal is not positive");
  require(std::ranges::all_of(dual.factor, finite) && std::ranges::all_of(dual.weights, finite),
          "dual.factor or dual.weights is not finite");
  const auto whole = [](double value) { return std::abs(value) < 0x1p50 && value == std::floor(value); };
  require(runs.size() % 2 == 0 && !runs.empty() && std::ranges::all_of(runs, whole) && increases(runs),
          "dual.runs do not increase");
  double nodes = 0;
  Index bandwidth = 0;
  for (std::size_t i = 0; i < runs.size(); i += 2) {
    dual.runs.push_back({runs[i], runs[i + 1], static_cast<Index>(nodes)});
    nodes += runs[i + 1] - runs[i];
    require(nodes <= static_cast<double>(dual.nodes()), "dual.runs do not fit dual.inverse_diagonal");
    bandwidth = std::max(bandwidth, std::min(design.bandwidth, dual.runs.back().length() - 1));
  }
  require(nodes == static_cast<double>(dual.nodes()), "dual.runs do not fit dual.inverse_diagonal");
  require(std::ssize(dual.factor) == dual.nodes() * (bandwidth + 1), "dual.factor does not fit dual.runs");
  require(std::ssize(dual.weights) == dual.nodes() * (1 + dual.mean.count),
          "dual.weights does not fit dual.runs");
  return dual;
}

Series read_series(const Fields& file) {
  Series series;
  series.units = read_units(file.object("units"));
  series.report = read_report(file.object("series"));
  if (file.has("time_axis"))  // files of before it are of plain numbers
    series.axis = read_axis(file.object("time_axis"), series.report);
  if (file.at("blocks").is_null()) {
    require(!file.at("dual").is_null(), "has neither data nor a dual form");
    return series;
  }
  const Fields blocks = file.object("blocks");
  series.time = blocks.block("time", doubles_from_base64);
  series.value = blocks.block("value", doubles_from_base64);
  series.variance = blocks.block("variance", doubles_from_base64);
  series.group = blocks.block("group", indices_from_base64);
  series.row = blocks.block("row", indices_from_base64);
  check_order(series);
  check_report(series);
  return series;
}

Model read_model(const Fields& file, const Series& series) {
  Model model{parse_kernel(file.text("kernel")), file.finite("noise"), parse_mean(file.text("mean"))};
  if (series.size() > 0) {
    require_valid(model, series);
  } else {
    require_valid(model.kernel);
    require(std::isfinite(model.noise) && model.noise >= 0, "noise is negative");
  }
  require(survives_units(model, series.units), "kernel or noise is too far from the size of the data");
  require(model.mean != Mean::zero || series.units.value_origin == 0,
          "a model with mean zero has centred values");
  return model;
}

FitStatus read_status(const Fields& file) {
  const std::string text = file.text("status");
  for (int i = 0; i <= static_cast<int>(FitStatus::too_large); ++i) {
    if (status_name(static_cast<FitStatus>(i)) == text) return static_cast<FitStatus>(i);
  }
  refuse(fmt::format("status {} is not known", quote(text)));
}

/// What files from before these fields do not have.
void read_origin(const Fields& file, Index version, FitResult& fit) {
  if (file.has("source")) {
    const Fields source = file.object("source");
    fit.source = {source.text("file"), source.text("time_name"), source.text("value_name"),
                  source.index("bad_lines")};
  }
  if (file.has("data_checksum")) fit.data_checksum = file.text("data_checksum");
  require(fit.data_checksum.empty() ||
              (fit.data_checksum.size() == 16 &&
               fit.data_checksum.find_first_not_of("0123456789abcdef") == std::string::npos),
          "data_checksum is not 16 hexadecimal digits");
  if (fit.series->size() > 0) {
    const std::string checksum = series_checksum(*fit.series);
    require(fit.data_checksum.empty() || fit.data_checksum == checksum,
            "data_checksum is not that of blocks");
    fit.data_checksum = checksum;
  }
  if (file.has("trace")) fit.trace = trace_from_json(file.object("trace"), fit.model.kernel, version);
}

FitResult read_fit(const Fields& file, Index version) {
  constexpr Index kMostEvaluations = std::numeric_limits<int>::max();
  const auto count = [&](const Fields& fields, const char* key) {
    return static_cast<int>(fields.index(key, kMostEvaluations));
  };
  auto series = std::make_shared<const Series>(read_series(file));
  FitResult fit;
  fit.model = read_model(file, *series);
  const std::vector<std::string> names = parameter_names(fit.model.kernel);
  fit.mean = file.list("mean_coefficients");
  fit.standard_errors = file.named("standard_errors", "", names);
  fit.gradient = file.named("gradient", "log_", names);
  fit.nll = file.finite_or("nll", kUnset);
  fit.certificate = read_certificate(file.object("certificate"));
  fit.method = file.text("method");
  // Earlier programs kept sums in a band and on a grid at once; elements are what holds them now.
  const bool band_and_grid = fit.method == "mixed";
  if (band_and_grid) fit.method = "elements";
  require(!has_bandwidth(fit.method) || parse_method(fit.method) != Method::automatic, "method is not known");
  fit.bandwidth = band_and_grid ? 0 : file.index("bandwidth");
  const bool of_grid = fit.method == "dual" || series->size() == 0;
  const bool of_inputs = fit.method == "fitc" || fit.method == "vfe";  // there may be as many as points
  require(fit.bandwidth < (of_grid ? kWidestDual : series->size() + (of_inputs ? 1 : 0)),
          "bandwidth is too wide");
  fit.reach = file.not_negative("reach");
  fit.condition = file.finite_or("condition", std::numeric_limits<double>::infinity());
  fit.rounding = file.finite_or("rounding", kUnset);
  fit.status = read_status(file);
  fit.message = file.text("message");
  fit.evaluations = count(file, "evaluations");
  fit.rejected_not_positive_definite = count(file.object("rejected"), "not_positive_definite");
  fit.rejected_too_large = count(file.object("rejected"), "too_large");
  fit.seconds = file.not_negative("seconds");
  fit.cut = read_cut(file.object("cut"));
  fit.certificate.other_model = fit.certificate.positive_definite && !is_same_model(fit.cut.method);
  if (series->size() == 0) {
    require(fit.model.kernel.is_single_se() && fit.method == "dual",
            "a model without data needs one se term in its dual form");
    fit.dual = std::make_shared<const DualState>(read_dual(file.object("dual"), fit.model.mean));
  }
  if (version > 1)  // they are for readers that do not know the grammar of kernels
    require(file.named("parameters", "", names) == parameter_values(fit.model),
            "parameters are not those of kernel and noise");
  fit.series = std::move(series);
  read_origin(file, version, fit);

  const auto coefficients = static_cast<std::size_t>(coefficient_count(fit.model.mean));
  require(fit.mean.empty() || fit.mean.size() == coefficients, "mean_coefficients does not fit the mean");
  require(std::ranges::none_of(fit.standard_errors, [](double e) { return e < 0; }),
          "a standard error is negative");
  require(std::ranges::none_of(fit.message, [](char c) { return (c >= 0 && c < ' ') || c == 127; }),
          "message is not one line of text");
  return fit;
}

}  // namespace

FitResult from_model_text(const std::string& text, const std::string& name) {
  try {
    const auto json = nlohmann::json::parse(text, nullptr, false);
    if (json.is_discarded()) refuse("is truncated or damaged: not JSON");
    const Fields file(json, "");
    if (!json.contains("format") || json["format"] != "bandgp-model") refuse("is not a bandgp model");
    const Index version = file.index("format_version");
    if (version < 1 || version > kModelVersion)
      refuse(
          fmt::format("has format version {}; this program reads versions 1 to {}", version, kModelVersion));
    if (!checksum_holds(text)) refuse("was altered or damaged: its checksum does not hold");
    return read_fit(file, version);
  } catch (const std::invalid_argument& error) {
    throw std::invalid_argument(fmt::format("{}: {}", name, error.what()));
  }
}

}  // namespace bandgp
