// SPDX-License-Identifier: Apache-2.0
#include "bandgp/fit/explain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "bandgp/fit/starts.hpp"

namespace bandgp {
namespace {

struct LengthOfTime {
  double seconds;
  const char* name;
};
constexpr LengthOfTime kLengths[] = {
    {31557600, "years"}, {86400, "days"}, {3600, "hours"}, {60, "minutes"}, {1, "seconds"}};

class Describer {
 public:
  Describer(const FitResult& fit) : fit_(fit), internal_(to_internal(fit.model, fit.series->units)) {}

  ComponentStory story(std::size_t index) const {
    const Term& term = fit_.model.kernel.terms[index];
    const bool seen = fit_.series->size() == 0 || !has_vanished(internal_.kernel.terms[index], data_scale());
    if (!seen) return {"unsupported", "the data do not support it: its variance ended at zero", kUnset};
    const bool sho = std::holds_alternative<Sho>(term.shape);
    const bool repeats = is_strictly_periodic(term) || std::holds_alternative<PeriodicFactor>(term.factor);
    if (term.has_factor() && term.lengthscale < 0.5 * term.period)
      return {"short-term",
              fmt::format("forgets itself over {}, too soon to repeat after its period of {}",
                          time(index, &Term::lengthscale), time(index, &Term::period)),
              kUnset};
    if (repeats) {
      const std::string how = is_strictly_periodic(term)
                                  ? "always in the same shape"
                                  : "forgetting its shape over " + time(index, &Term::lengthscale);
      return {
          "season",
          fmt::format("repeats every {}, {}{}", time(index, &Term::period), how, wave_text(term.smoothness)),
          kUnset};
    }
    if (sho && term.quality <= 0.5)
      return {"short-term", fmt::format("returns to the mean without swinging, within about {}",
                                        plain_time(term.period / (2 * std::numbers::pi * term.quality)))};
    if (sho)
      return {"oscillation", fmt::format("swings with a period of {}, losing its phase over {}",
                                         time(index, &Term::period), plain_time(memory(term)))};
    if (term.has_factor())
      return {"oscillation", fmt::format("swings with a period of {}, losing its phase over {}",
                                         time(index, &Term::period), time(index, &Term::lengthscale))};
    return {is_trend(term) ? "trend" : "short-term",
            fmt::format("{} that forgets itself over {}", curve_text(term), time(index, &Term::lengthscale))};
  }

 private:
  /// Slower than a tenth of the span.
  bool is_trend(const Term& term) const { return term.lengthscale > 0.1 * fit_.series->report.span; }

  DataScale data_scale() const { return bandgp::data_scale(*fit_.series, fit_.model.mean); }

  static const char* curve_text(const Term& term) {
    switch (matern_states(term)) {
      case 1:
        return "a jagged curve";
      case 2:
        return "a curve with a changing slope";
      case 3:
        return "a fairly smooth curve";
      default:
        return "a smooth curve";
    }
  }

  static const char* wave_text(double smoothness) {
    return smoothness > 2 ? ", nearly a sine" : smoothness < 0.5 ? ", with sharp features" : "";
  }

  std::string time(std::size_t term, double Term::*member) const {
    const std::size_t at = fit_.model.kernel.parameter_index(term, member);
    const double error = at < fit_.standard_errors.size() ? fit_.standard_errors[at] : kUnset;
    return time_with_error(fit_.model.kernel.terms[term].*member, error, fit_.series->axis.unit);
  }
  std::string plain_time(double value) const {
    return time_with_error(value, kUnset, fit_.series->axis.unit);
  }

  const FitResult& fit_;
  InternalModel internal_;
};

double variance_of(std::span<const double> values) {
  const auto n = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
  double sum = 0;
  for (const double v : values) sum += (v - mean) * (v - mean);
  return sum / n;
}

/// The noise of an observation, on average (user's units).
double mean_noise(const FitResult& fit) {
  const std::vector<double>& known = fit.series->variance;
  if (known.empty()) return fit.model.noise;
  const double unit = fit.series->units.value_unit;
  return fit.model.noise +
         unit * unit * std::accumulate(known.begin(), known.end(), 0.0) / static_cast<double>(known.size());
}

}  // namespace

std::string time_with_error(double value, double error, const std::string& unit) {
  std::string name;
  const auto seconds = static_cast<double>(unit_seconds(unit));
  if (seconds > 0) {
    // The largest unit of which there are one and a half: 24 hours, but 7 days.
    const auto* chosen = std::ranges::find_if(
        kLengths, [&](const LengthOfTime& length) { return value * seconds >= 1.5 * length.seconds; });
    if (chosen == std::end(kLengths)) --chosen;
    const double scale = seconds / chosen->seconds;
    value *= scale;
    error *= scale;
    name = std::string(" ") + chosen->name;
  } else if (!unit.empty()) {
    name = " " + unit;
  }
  const bool alone = !(error > 0) || !std::isfinite(error);
  // The place of the last digit told: the error's second, or the value's third.
  const int last = static_cast<int>(std::floor(std::log10(alone ? value / 10 : error))) - 1;
  if (!(value < 1e7 && last > -12)) return fmt::format("{:.3g}{}", value, name);
  const double place = std::pow(10.0, last);
  const auto text = [&](double number) {
    return fmt::format("{:.{}f}", last > 0 ? place * std::round(number / place) : number, std::max(0, -last));
  };
  return alone ? text(value) + name : text(value) + " ± " + text(error) + name;
}

std::vector<ComponentStory> describe_components(const FitResult& fit) {
  const Describer describer(fit);
  std::vector<ComponentStory> stories;
  for (std::size_t t = 0; t < fit.model.kernel.terms.size(); ++t) stories.push_back(describer.story(t));
  return stories;
}

std::vector<ComponentStory> describe_components(const FitResult& fit, Posterior& posterior) {
  std::vector<ComponentStory> stories = describe_components(fit);
  const Series& series = *fit.series;
  if (series.size() == 0) return stories;
  constexpr std::size_t kMostTimes = 2000;
  const auto n = static_cast<std::size_t>(series.size());
  const std::size_t count = std::min(n, kMostTimes);
  std::vector<double> times;
  for (std::size_t i = 0; i < count; ++i)
    times.push_back(series.units.time_out(series.time[n > count ? i * n / count : i]));
  const std::vector<Component> components = posterior.components(times, false);
  double all = mean_noise(fit);
  for (std::size_t t = 0; t < stories.size(); ++t) all += stories[t].share = variance_of(components[t].mean);
  for (ComponentStory& story : stories) story.share = all > 0 ? story.share / all : kUnset;
  return stories;
}

}  // namespace bandgp
