// SPDX-License-Identifier: Apache-2.0
// The page: what web/ made of it, with the numbers in between.  Text from the data goes into the page as JSON
// and is put on the screen by textContent: it is never markup.
#include <cmath>

#include "bandgp/io/result_json.hpp"
#include "bandgp/report/assets.hpp"
#include "bandgp/report/blocks.hpp"
#include "bandgp/report/inert.hpp"
#include "bandgp/report/report_data.hpp"
#include "bandgp/version.hpp"

namespace bandgp {
namespace {

using Json = nlohmann::ordered_json;  // what is not finite becomes null

Json series_json(const FitResult& fit) {
  Json json = to_json(fit.series->report);
  json["bad_lines"] = fit.source.bad_lines;
  return json;
}

Json certificate_json(const Certificate& certificate) {
  Json json = to_json(certificate);
  json["other_model"] = certificate.other_model;
  json["holds"] = certificate.holds();
  return json;
}

Json parameters_json(const FitResult& fit) {
  Json list = Json::array();
  for (const auto& [name, kind, value] : parameters(fit.model)) {
    const std::size_t i = list.size();
    const double error = i < fit.standard_errors.size() ? fit.standard_errors[i] : kUnset;
    list.push_back({{"name", name},
                    {"value", *value},
                    {"error", error},
                    {"unit", unit_name(kind->unit)},
                    {"meaning", kind->meaning}});
  }
  return list;
}

Json fit_json(const FitResult& fit) {
  std::vector<std::string> shapes;
  shapes.reserve(fit.model.kernel.terms.size());
  for (const Term& term : fit.model.kernel.terms) shapes.push_back(term_title(term));
  return {{"shapes", shapes},
          {"kernel", to_text(fit.model.kernel)},
          {"mean", mean_name(fit.model.mean)},
          {"mean_coefficients", fit.mean},
          {"parameters", parameters_json(fit)},
          {"noise", fit.model.noise},
          {"status", status_name(fit.status)},
          {"message", fit.message},
          {"nll", fit.nll},
          {"method", fit.method},
          {"bandwidth", has_bandwidth(fit.method) ? Json(fit.bandwidth) : Json()},
          {"reach", fit.reach},
          {"condition", fit.condition},
          {"tolerance", fit.cut.rule == Cut::Rule::tolerance ? Json(fit.cut.tolerance) : Json()},
          {"evaluations", fit.evaluations},
          {"seconds", fit.seconds},
          {"rounding", fit.rounding},
          {"certificate", certificate_json(fit.certificate)}};
}

Json trace_json(const std::vector<TraceEntry>& trace) {
  Json json = {{"evaluation", Json::array()}, {"stage", Json::array()},     {"n", Json::array()},
               {"nll", Json::array()},        {"bandwidth", Json::array()}, {"seconds", Json::array()}};
  for (const TraceEntry& entry : trace) {
    json["evaluation"].push_back(entry.evaluation);
    json["stage"].push_back(entry.stage);
    json["n"].push_back(entry.n);
    json["nll"].push_back(entry.nll);
    json["bandwidth"].push_back(entry.bandwidth);
    json["seconds"].push_back(entry.seconds);
  }
  return json;
}

Json matrix_json(const ReportMatrix& matrix) {
  return {{"rows", matrix.rows},
          {"size", matrix.size},
          {"bandwidth", matrix.bandwidth},
          {"kept", matrix.kept},
          {"row", matrix.row},
          {"first", matrix.first},
          {"window_begin", matrix.window_begin},
          {"window_first", matrix.window_first}};
}

Json points_json(const ReportPoints& points, Blocks& blocks) {
  if (points.time.empty()) return nullptr;
  return {{"count", points.time.size()},
          {"of", points.of},
          {"time", blocks.times(points.time)},
          {"value", blocks.numbers(points.value)},
          {"error", points.error.empty() ? Json() : blocks.logarithms(points.error)},
          {"standardised", points.standardised.empty() ? Json() : blocks.steps(points.standardised)}};
}

Json curve_json(const ReportCurve& curve, Blocks& blocks) {
  if (curve.time.empty()) return nullptr;
  return {{"count", curve.time.size()},
          {"time", blocks.times(curve.time)},
          {"mean", blocks.numbers(curve.mean)},
          {"deviation", blocks.logarithms(curve.deviation)}};
}

/// What each term is; and its curve, all at the same times, where there are several.
Json components_json(const ReportData& data, Blocks& blocks) {
  Json list = Json::array();
  for (const ReportComponent& component : data.components) {
    list.push_back({{"kind", component.story.kind},
                    {"sentence", component.story.sentence},
                    {"share", component.story.share},
                    {"mean", component.mean.empty() ? Json() : blocks.numbers(component.mean)},
                    {"deviation", component.mean.empty() ? Json() : blocks.logarithms(component.deviation)}});
  }
  return {{"time", data.component_time.empty() ? Json() : blocks.times(data.component_time)}, {"list", list}};
}

/// As many digits as a chart can show.
Json short_numbers(const std::vector<double>& values) {
  Json list = Json::array();
  for (const double value : values) {
    const double unit = value > 0 ? std::pow(10.0, std::floor(std::log10(value)) - 4) : 0;
    list.push_back(unit > 0 && std::isfinite(unit) ? std::round(value / unit) * unit : value);
  }
  return list;
}

Json spectrum_json(const Spectrum& spectrum) {
  if (spectrum.period.empty()) return nullptr;
  Json peaks = Json::array();
  for (const Peak& peak : spectrum.peaks) {
    std::vector<double> aliases;
    aliases.reserve(peak.aliases.size());
    for (const Alias& alias : peak.aliases) aliases.push_back(1 / alias.frequency);
    peaks.push_back({{"period", peak.period()},
                     {"error", peak.period_error()},
                     {"power", peak.power},
                     {"log10_false_alarm", peak.log10_false_alarm},
                     {"wanders", peak.wanders},
                     {"width", peak.width},
                     {"harmonic", peak.harmonic},
                     {"harmonic_of", peak.fundamental ? Json(*peak.fundamental) : Json()},
                     {"aliases", aliases}});
  }
  return {{"period", short_numbers(spectrum.period)},
          {"power", short_numbers(spectrum.power)},
          {"noise", short_numbers(spectrum.noise)},
          {"peaks", peaks}};
}

Json axis_json(const ReportAxis& axis) {
  return {{"form", axis.form},
          {"unit", axis.unit},
          {"origin", axis.origin ? Json(*axis.origin) : Json()},
          {"zone", axis.zone}};
}

}  // namespace

std::string report_page(const ReportData& data) {
  Blocks blocks;
  const FitResult& fit = data.fit;
  const Json points = points_json(data.points, blocks);
  const Json curve = curve_json(data.curve, blocks), components = components_json(data, blocks);
  Json matrices = Json::array();
  for (const ReportMatrix& matrix : data.matrices) matrices.push_back(matrix_json(matrix));
  const Json report = {
      {"version", version()},
      {"created", data.created},
      {"command", data.command},
      {"remark", data.remark},
      {"file", fit.source.file},
      {"time_name", fit.source.time_name},
      {"value_name", fit.source.value_name},
      {"axis", axis_json(data.axis)},
      {"series", series_json(fit)},
      {"fit", fit_json(fit)},
      {"points", points},
      {"curve", curve},
      {"components", components},
      {"forecast_from", data.forecast_from ? Json(*data.forecast_from) : Json()},
      {"diagnostics",
       {{"loo_nmse", data.diagnostics.loo_nmse},
        {"loo_nlpd", data.diagnostics.loo_nlpd},
        {"coverage_95", data.diagnostics.coverage_95}}},
      {"noise",
       {{"count", data.noise.count},
        {"rank", data.noise.rank},
        {"quantile", data.noise.quantile},
        {"autocorrelation", data.noise.autocorrelation},
        {"pit", data.noise.pit}}},
      {"spectra", {{"data", spectrum_json(data.spectrum)}, {"residuals", spectrum_json(data.spectrum_left)}}},
      {"trace", trace_json(fit.trace)},
      {"matrices", matrices},
      {"covariance", data.covariance ? matrix_json(*data.covariance) : Json()}};
  std::string page(page_head());
  page += "<script type=\"application/json\" id=\"report\">" + inert(report) + "</script>\n";
  page += blocks.html();
  page += page_tail();
  return page;
}

}  // namespace bandgp
