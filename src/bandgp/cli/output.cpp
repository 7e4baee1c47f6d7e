// SPDX-License-Identifier: Apache-2.0
#include "bandgp/cli/output.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "bandgp/base/quote.hpp"
#include "bandgp/cli/shell.hpp"
#include "bandgp/cli/style.hpp"
#include "bandgp/cli/times.hpp"
#include "bandgp/io/columns.hpp"
#include "bandgp/io/result_json.hpp"
#include "bandgp/io/write_file.hpp"
#include "bandgp/series/gaps.hpp"

namespace bandgp::cli {
namespace {

constexpr std::size_t kLabelWidth = 12;

/// Two digits, rounded up: what is printed still is a bound.
std::string bound_text(UpperBound bound) {
  const double value = bound.value();
  if (value == 0 || !std::isfinite(value)) return fmt::format("{:g}", value);
  const double unit = std::pow(10.0, std::floor(std::log10(value)) - 1);
  const double rounded = unit > 0 ? std::ceil(value / unit * (1 - 1e-12)) * unit : value;
  return fmt::format("{:.2g}", rounded);
}

/// When time 0 is, in ISO 8601.
std::string origin_text(const TimeAxis& axis) {
  return to_text({.unit = "d", .format = "%Y-%m-%dT%H:%M:%SZ", .origin = axis.origin}, 0);
}

/// ` d`, or nothing where the unit is not known.
std::string unit_text(const TimeAxis& axis) { return axis.unit.empty() ? "" : " " + axis.unit; }

std::string_view unit_name(std::string_view unit) {
  if (unit == "s") return "seconds";
  if (unit == "min") return "minutes";
  if (unit == "h") return "hours";
  return unit == "d" ? "days" : "years of 365.25 days";
}

/// `a, b, c and 5 more`
std::string short_list(const std::vector<std::string>& names) {
  constexpr std::size_t kMost = 6;
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), kMost); ++i) text += (i > 0 ? ", " : "") + names[i];
  return names.size() > kMost ? fmt::format("{} and {} more", text, names.size() - kMost) : text;
}

/// The column that was not used and has the name of the values' standard errors; empty where none has, or
/// several have.
std::string likely_errors(const Input& input) {
  std::vector<std::string> likely;
  for (const std::string& column : input.unused) {
    if (is_error_name(column)) likely.push_back(column);
  }
  if (likely.size() > 1)
    std::erase_if(likely, [&](const std::string& column) { return !column.starts_with(input.value_column); });
  return likely.size() == 1 ? likely.front() : "";
}

std::string columns_text(const Input& input) {
  if (input.value_column.empty()) return "";
  const bool named = !input.value_name.empty();
  const auto shown = [&](const std::string& column) {
    return named ? printable(column) : "column " + column;
  };
  const std::string time = !input.time_column.empty() ? shown(input.time_column)
                           : !input.time_name.empty() ? printable(input.time_name)
                                                      : "row";
  std::string text = fmt::format("\n{} against {}", shown(input.value_column), time);
  if (!input.error_column.empty()) text += fmt::format(", errors {}", shown(input.error_column));
  if (input.unused.empty()) return text;
  std::vector<std::string> unused;
  for (const std::string& column : input.unused) unused.push_back(shown(column));
  text += fmt::format("; not used: {}", short_list(unused));
  const std::string errors = input.error_column.empty() ? likely_errors(input) : "";
  if (!errors.empty())
    text += fmt::format(" ({} like standard errors: --yerr {})",
                        input.unused.size() == 1 ? "looks" : printable(errors) + " looks",
                        printable(shell_word(errors)));
  return text;
}

}  // namespace

void print(const Json& result) {
  write_stdout(result.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");  // names in any encoding
}

std::string field(std::string_view label, std::string_view text) {
  std::string lines = paint(fmt::format("{:{}}", label, kLabelWidth), Colour::bold);
  for (const char c : text) {
    lines += c;
    if (c == '\n') lines.append(kLabelWidth, ' ');
  }
  return lines + "\n";
}

Json named_json(const std::string& prefix, const std::vector<std::string>& names,
                std::span<const double> values) {
  if (values.size() != names.size()) return nullptr;
  Json object = Json::object();
  for (std::size_t i = 0; i < names.size(); ++i) object[prefix + names[i]] = values[i];
  return object;
}

Json certificate_json(const Certificate& certificate) {
  if (certificate.other_model) return nullptr;
  return to_json(certificate);
}

Json series_json(const Input& input) {
  const SeriesReport& report = input.series->report;
  const Gaps gaps = find_gaps(*input.series);
  const TimeAxis& axis = input.series->axis;
  Json json = to_json(report);
  json["bad_lines"] = input.bad_lines;
  json["time_name"] = input.time_name;
  json["value_name"] = input.value_name;
  json["gaps"] = gaps.count;
  json["gap_limit"] = gaps.limit;
  const auto text_or_null = [](const std::string& text) { return text.empty() ? Json() : Json(text); };
  json["time_column"] = text_or_null(input.time_column);
  json["value_column"] = text_or_null(input.value_column);
  json["error_column"] = text_or_null(input.error_column);
  json["unused_columns"] = input.unused;
  json["time_unit"] = text_or_null(axis.unit);
  json["time_format"] = axis.is_plain() ? Json("number") : Json(axis.format);
  json["time_origin"] = axis.is_calendar() ? Json(origin_text(axis)) : Json();
  json["first"] = to_text(axis, report.first_time);
  json["last"] = to_text(axis, report.last_time);
  return json;
}

void add_size(Json& result, const Series& series) {
  result["n"] = series.observations();
  if (series.has_ties()) result["distinct_times"] = series.size();
}

std::string input_text(const Input& input) {
  const SeriesReport& report = input.series->report;
  std::string text =
      fmt::format("{}: {}, {} used", printable(input.name), counted(report.rows, "row"), report.used);
  if (report.dropped > 0) text += fmt::format(", {} dropped (not finite)", report.dropped);
  if (report.thinned > 0) text += fmt::format(", {} thinned out", report.thinned);
  if (input.bad_lines > 0) text += fmt::format("; {} skipped", counted(input.bad_lines, "malformed line"));
  if (report.merged > 0) {
    text += fmt::format("; {} an earlier time: {}",
                        report.merged == 1 ? "1 repeats" : fmt::format("{} repeat", report.merged),
                        counted(input.series->size(), "distinct time"));
  }
  if (!report.was_sorted) text += "; were not in time order, now sorted";
  text += columns_text(input);
  const TimeAxis& axis = input.series->axis;
  const std::string unit = unit_text(axis);
  const auto shown = [&](double time) {
    return axis.is_plain() ? fmt::format("{:.10g}", time) : to_text(axis, time);
  };
  text += fmt::format("\ntimes {} to {}", shown(report.first_time), shown(report.last_time));
  if (input.series->size() > 1) {
    text += fmt::format(", span {:.6g}{}, spacing {:.6g}{} on average ({:.6g} to {:.6g})", report.span, unit,
                        report.mean_gap, unit, report.min_gap, report.max_gap);
  }
  if (axis.is_calendar()) text += fmt::format("\nunit of time {} ({})", axis.unit, unit_name(axis.unit));
  if (axis.is_epoch()) text += fmt::format("\nread as {}, unit of time {}", axis.format, axis.unit);
  const Gaps gaps = find_gaps(*input.series);
  if (gaps.usual == 0) return text;
  text += gaps.regular ? "\nregular" : "\nirregular";
  if (gaps.count == 0) return text + ", no gaps";
  return text + fmt::format(", {} longer than {:.4g}, the longest {:.6g} after {}",
                            counted(gaps.count, "gap"), gaps.limit, gaps.largest,
                            time_text(*input.series, gaps.largest_from));
}

std::string certificate_text(const Certificate& certificate) {
  if (!certificate.positive_definite) return "no certificate: the banded covariance is not positive definite";
  if (certificate.other_model) return "another model than the exact GP: there is nothing to certify";
  if (!certificate.holds()) {
    return "no certificate: the band leaves out too much for any bound; widen it, or leave it to --bandwidth "
           "auto";
  }
  if (certificate.rho.value() == 0) return "nothing was left out of the covariance: this is the exact GP";
  return fmt::format(
      "the exact GP's NLL is within {} nats of this one,\n"
      "its curve within {} and its variance within {} throughout the span of the data",
      bound_text(certificate.nll_error), bound_text(certificate.mean_error),
      bound_text(certificate.variance_error));
}

std::string exactness_text(const Certificate& certificate, double rounding) {
  std::string text = certificate_text(certificate);
  constexpr double kNegligible = 1e-6;  // nats, where nothing was left out
  constexpr double kShows = 0.01;       // nats from which it would be wrong to call the answer exact
  const double least = certificate.rho.value() == 0 ? kNegligible : certificate.nll_error.value();
  if (certificate.holds() && !(rounding <= std::max(kShows, least))) {
    text = certificate.rho.value() == 0
               ? "nothing was left out of the covariance, but rounding keeps this from being the exact GP"
               : fmt::format("what was left out of the covariance changes the NLL by at most {} nats,\n"
                             "but rounding keeps this from being the exact GP",
                             bound_text(certificate.nll_error));
  }
  if (certificate.holds() && !(rounding <= least))
    text += fmt::format("\nrounding, not what was left out, is the limit here: about {:.1g} nats of NLL",
                        rounding);
  return text;
}

std::string band_text(std::string_view method, Index bandwidth, double reach) {
  std::string text = fmt::format("{} {} a side", bandwidth, bandwidth == 1 ? "neighbour" : "neighbours");
  if (method == "dual") return "dual: " + text + ", on a grid of Gaussians";
  if (method == "markov") return "markov: the states of the terms, filtered from point to point";
  if (method == "columns") return "columns: waves over the whole series, a constant and two a harmonic";
  if (method == "elements") return "elements: chunks of points, joined in a front of Gaussians and states";
  if (method == "exact") return "exact: the dense covariance";
  if (method == "fitc" || method == "vfe") return fmt::format("{}: {} inducing inputs", method, bandwidth);
  if (method == "vecchia") return fmt::format("vecchia: each point given the {} before it", bandwidth);
  if (method == "taper") text = "taper: " + text;
  if (reach > 0) text += fmt::format(", all within {:.4g}", reach);
  return text;
}

std::string seconds_text(double seconds) {
  if (seconds < 1e-3) return fmt::format("{:.3g} µs", 1e6 * seconds);
  if (seconds < 1) return fmt::format("{:.3g} ms", 1e3 * seconds);
  if (seconds < 120) return fmt::format("{:.3g} s", seconds);
  if (seconds < 7200) return fmt::format("{:.2g} min", seconds / 60);
  return fmt::format("{:.2g} h", seconds / 3600);
}

}  // namespace bandgp::cli
