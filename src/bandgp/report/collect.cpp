// SPDX-License-Identifier: Apache-2.0
// From a fit to what its report shows.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>

#include "bandgp/report/curve_times.hpp"
#include "bandgp/report/report_data.hpp"

namespace bandgp {
namespace {

/// A page with more observations than this would be slow to open; groups of them are then shown by three.
constexpr std::size_t kMostPoints = std::size_t{1} << 20;
constexpr Index kLags = 40, kBins = 20;
/// Rows of a matrix that are drawn from afar; those that are drawn one by one.
constexpr Index kFarRows = 512, kNearRows = 96;

ReportAxis axis_of(const TimeAxis& axis) {
  if (axis.is_plain() || unit_seconds(axis.unit) == 0) return {"number", axis.unit, std::nullopt};
  return {"timestamp", axis.unit, static_cast<double>(axis.origin), axis.is_zoned() ? "UTC" : ""};
}

/// For every group of neighbours: its smallest, its largest and its most surprising observation.
std::vector<std::size_t> for_the_eye(const std::vector<double>& value, const std::vector<double>& surprise) {
  std::vector<std::size_t> chosen;
  const std::size_t group = (3 * value.size() + kMostPoints - 1) / kMostPoints;
  for (std::size_t begin = 0; begin < value.size(); begin += group) {
    const std::size_t end = std::min(begin + group, value.size());
    std::size_t three[3] = {begin, begin, begin};
    for (std::size_t i = begin; i < end; ++i) {
      if (value[i] < value[three[0]]) three[0] = i;
      if (value[i] > value[three[1]]) three[1] = i;
      if (!surprise.empty() && std::abs(surprise[i]) > std::abs(surprise[three[2]])) three[2] = i;
    }
    std::ranges::sort(three);
    chosen.insert(chosen.end(), std::begin(three), std::unique(std::begin(three), std::end(three)));
  }
  return chosen;
}

ReportPoints points_of(const Series& series, const std::vector<double>& standardised) {
  ReportPoints points;
  points.of = series.observations();
  const Units& units = series.units;
  for (Index i = 0; i < series.size(); ++i) {
    const auto place = static_cast<std::size_t>(i);
    const Index count = series.has_ties() ? series.group[place + 1] - series.group[place] : 1;
    points.time.insert(points.time.end(), static_cast<std::size_t>(count),
                       units.time_out(series.time[place]));
  }
  for (const double value : series.value) points.value.push_back(units.value_out(value));
  for (const double variance : series.variance)
    points.error.push_back(units.value_unit * std::sqrt(variance));
  points.standardised = standardised;
  if (points.value.size() <= kMostPoints) return points;
  const std::vector<std::size_t> chosen = for_the_eye(points.value, points.standardised);
  for (auto* values : {&points.time, &points.value, &points.error, &points.standardised}) {
    if (values->empty()) continue;
    std::vector<double> fewer;
    fewer.reserve(chosen.size());
    for (const std::size_t i : chosen) fewer.push_back((*values)[i]);
    *values = std::move(fewer);
  }
  return points;
}

/// The curve's times behind the data up to the horizon, in steps like those before.
void go_on(std::vector<double>& times, double last, double horizon, const Kernel& kernel) {
  constexpr double kFewest = 50, kMost = 20000;
  std::erase_if(times, [&](double t) { return t > last; });
  double shortest = std::numeric_limits<double>::infinity();
  for (const Term& term : kernel.terms) shortest = std::min(shortest, shortest_time(term));
  const double steps = std::ceil(std::clamp(12 * horizon / shortest, kFewest, kMost));
  for (double i = 1; i <= steps; ++i) times.push_back(last + horizon * i / steps);
}

ReportCurve curve_of(Posterior& posterior, const FitResult& fit, double horizon) {
  const Series& series = *fit.series;
  ReportCurve curve;
  if (series.size() > 0) {
    std::vector<double> times(series.time.size());
    std::ranges::transform(series.time, times.begin(), [&](double x) { return series.units.time_out(x); });
    curve.time = curve_times(times, fit.model.kernel);
  } else {
    curve.time = curve_times(series.report.first_time, series.report.last_time, fit.model.kernel);
  }
  if (horizon > 0) go_on(curve.time, series.report.last_time, horizon, fit.model.kernel);
  Prediction prediction = posterior.predict(curve.time);
  curve.mean = std::move(prediction.mean);
  curve.deviation = std::move(prediction.variance);
  for (double& v : curve.deviation) v = std::sqrt(std::max(0.0, v));
  return curve;
}

ReportMatrix matrix_of(const BandShape& shape) {
  const auto& entries = *shape.entries;
  ReportMatrix matrix;
  matrix.rows = shape.rows;
  matrix.size = entries.size();
  matrix.bandwidth = entries.bandwidth();
  Index widest = 0;
  for (Index i = 0; i < matrix.size; ++i) {
    const Index width = i - entries.first(i);
    matrix.kept += static_cast<double>(width + 1);
    if (width > widest - entries.first(widest)) widest = i;
  }
  const Index steps = std::min(matrix.size, kFarRows);
  for (Index s = 0; s < steps; ++s) {
    const Index row = steps > 1 ? s * (matrix.size - 1) / (steps - 1) : 0;
    matrix.row.push_back(row);
    matrix.first.push_back(entries.first(row));
  }
  // As many rows as the widest one and half as many again, its diagonal entry in the lower right.
  const Index rows = std::min({matrix.size, kNearRows, std::max<Index>(12, 2 * matrix.bandwidth)});
  matrix.window_begin = std::clamp<Index>(widest - 3 * rows / 4, 0, matrix.size - rows);
  for (Index i = matrix.window_begin; i < matrix.window_begin + rows; ++i)
    matrix.window_first.push_back(entries.first(i));
  return matrix;
}

/// Ranks of up to about 400 order statistics: every one in the tails, where a plot of quantiles is read.
std::vector<Index> ranks_of(Index count) {
  constexpr Index kTail = 60, kMiddle = 280;
  std::vector<Index> ranks;
  if (count <= 2 * kTail + kMiddle) {
    ranks.resize(static_cast<std::size_t>(count));
    std::iota(ranks.begin(), ranks.end(), Index{0});
    return ranks;
  }
  for (Index i = 0; i < kTail; ++i) ranks.push_back(i);
  // From the tails inwards at a constant ratio, so that the plot is evenly filled.
  const double ratio = std::pow(static_cast<double>(count) / 2 / kTail, 2.0 / kMiddle);
  for (double rank = kTail; rank < static_cast<double>(count) / 2; rank = std::max(rank + 1, rank * ratio))
    ranks.push_back(static_cast<Index>(rank));
  const std::size_t half = ranks.size();
  for (std::size_t i = half; i-- > 0;) ranks.push_back(count - 1 - ranks[i]);
  return ranks;
}

ReportNoise noise_of(std::vector<double> white, const Diagnostics& diagnostics) {
  ReportNoise noise;
  noise.count = std::ssize(white);
  noise.pit = pit_histogram(diagnostics.standardised, kBins);
  noise.autocorrelation = autocorrelation(white, kLags);
  noise.rank = ranks_of(noise.count);
  std::ranges::sort(white);
  for (const Index rank : noise.rank) noise.quantile.push_back(white[static_cast<std::size_t>(rank)]);
  return noise;
}

/// The band that the covariance itself would need where it is not what is factored.
std::optional<ReportMatrix> covariance_of(const FitResult& fit) {
  const Series& series = *fit.series;
  if (series.size() == 0 || fit.method == "band") return std::nullopt;
  const InternalCut cut{.method = Method::band, .tolerance = fit.cut.tolerance};
  Evaluator evaluator(series, fit.model.mean, std::make_unique<BandRepresentation>(cut, 0));
  evaluator.cost(to_internal(fit.model, series.units));
  return matrix_of(evaluator.representation().shapes().front());
}

/// What every term is; where there are several, with its curve at some of the times of the whole one.
void add_components(Posterior& posterior, const FitResult& fit, ReportData& data) {
  constexpr std::size_t kMostTimes = 40'000;
  for (ComponentStory& story : describe_components(fit, posterior))
    data.components.push_back({std::move(story), {}, {}});
  if (data.components.size() < 2 || data.curve.time.empty()) return;
  const std::vector<double>& all = data.curve.time;
  const std::size_t step = (all.size() + kMostTimes - 1) / kMostTimes;
  for (std::size_t i = 0; i < all.size(); i += step) data.component_time.push_back(all[i]);
  if (data.component_time.back() < all.back()) data.component_time.push_back(all.back());
  std::vector<Component> curves = posterior.components(data.component_time);
  for (std::size_t t = 0; t < curves.size(); ++t) {
    data.components[t].mean = std::move(curves[t].mean);
    data.components[t].deviation = std::move(curves[t].variance);
    for (double& v : data.components[t].deviation) v = std::sqrt(std::max(0.0, v));
  }
}

bool has_posterior(const FitResult& fit) {
  return std::isfinite(fit.nll) && fit.model.kernel.complete() && std::isfinite(fit.model.noise);
}

/// Everything that needs the posterior, in the order in which one factor serves all: predictions may use up
/// what whitening needs of it, and leave-one-out uses up the rest.
void ask(Posterior& posterior, const FitResult& fit, const ReportOptions& options, ReportData& data) {
  const bool with_data = fit.series->size() > 0;
  Index done = 0;
  const auto next = [&] {  // the factor, residuals, the curve, leave-one-out
    if (options.progress) options.progress(++done, with_data ? 4 : 2);
  };
  next();
  std::vector<double> white = with_data ? posterior.whitened_residuals() : std::vector<double>{};
  if (with_data) next();
  data.curve = curve_of(posterior, fit, options.horizon);
  if (options.horizon > 0) data.forecast_from = fit.series->report.last_time;
  add_components(posterior, fit, data);
  next();
  for (const BandShape& shape : posterior.shapes()) data.matrices.push_back(matrix_of(shape));
  if (!with_data) return;
  data.diagnostics = diagnose(*fit.series, posterior.leave_one_out());
  data.noise = noise_of(std::move(white), data.diagnostics);
  next();
}

}  // namespace

ReportData collect_report(const FitResult& fit, const ReportOptions& options) {
  ReportData data;
  data.fit = fit;
  data.fit.message = fit.message_as(options.spelling);
  data.command = options.command;
  data.created = options.created;
  data.axis = axis_of(fit.series->axis);
  const bool with_data = fit.series->size() > 0;
  if (!has_posterior(fit)) {
    data.remark = "There is no curve, because there is no fit: " + data.fit.message + ".";
  } else {
    try {
      fit.with_posterior([&](Posterior& posterior) { ask(posterior, fit, options, data); }, options.threads);
      data.covariance = covariance_of(fit);
      if (!with_data) {
        data.remark = words({MessageCode::report_without_data}, options.spelling);
      }
    } catch (const std::runtime_error& error) {  // an outcome at these parameters, not a mistake
      data.remark = fmt::format("There is no curve at these parameters: {}.", error.what());
    }
  }
  if (with_data) {
    data.spectrum = spectrum_of(*fit.series);
    data.spectrum_left = spectrum_of_residuals(*fit.series, data.diagnostics.standardised);
    data.points = points_of(*fit.series, data.diagnostics.standardised);
  }
  data.diagnostics.standardised.clear();
  return data;
}

}  // namespace bandgp
