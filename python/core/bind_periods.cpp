// SPDX-License-Identifier: Apache-2.0
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <stdexcept>

#include "arrays.hpp"
#include "bandgp/period/periods.hpp"
#include "bindings.hpp"

namespace bandgp::python {
namespace {

Baseline baseline_of(const std::string& mean) {
  if (mean == "linear") return Baseline::linear;
  if (mean == "constant") return Baseline::constant;
  throw std::invalid_argument("mean is constant or linear, not " + mean);
}

nb::dict to_dict(const Peak& peak) {
  nb::dict out;
  out["period"] = peak.period();
  out["period_error"] = peak.period_error();
  out["frequency"] = peak.frequency;
  out["frequency_error"] = peak.frequency_error;
  out["amplitude"] = peak.amplitude;
  out["power"] = peak.power;
  out["log10_false_alarm"] = peak.log10_false_alarm;
  out["wanders"] = peak.wanders;
  out["width"] = peak.width;
  out["harmonic"] = peak.harmonic;
  out["harmonic_of"] = peak.fundamental;
  nb::list aliases;
  for (const Alias& alias : peak.aliases) aliases.append(1 / alias.frequency);
  out["aliases"] = nb::tuple(aliases);
  return out;
}

/// A number, or a duration on the axis of the series, as text; 0 where there is none.
double period_of(const Series& series, const std::optional<std::string>& text) {
  return text ? parse_duration(series.axis, *text) : 0;
}

nb::dict periods(const SharedSeries& shared, const std::string& mean,
                 const std::optional<std::string>& shortest, const std::optional<std::string>& longest,
                 double false_alarm, std::size_t peaks) {
  PeriodOptions options;
  options.baseline = baseline_of(mean);
  options.shortest = period_of(*shared.series, shortest);
  options.longest = period_of(*shared.series, longest);
  options.false_alarm = false_alarm;
  options.most_peaks = peaks;
  Periods found;
  {
    const nb::gil_scoped_release unlocked;
    found = find_periods(samples_of(*shared.series), options);
  }
  std::vector<double> frequency(found.power.size());
  for (std::size_t i = 0; i < frequency.size(); ++i) frequency[i] = found.grid.at(static_cast<Index>(i));
  nb::list list;
  for (const Peak& peak : found.peaks) list.append(to_dict(peak));
  nb::dict out;
  out["frequency"] = to_numpy(std::move(frequency));
  out["power"] = to_numpy(std::move(found.power));
  out["noise"] = to_numpy(std::move(found.level));
  out["rest"] = to_numpy(std::move(found.rest));
  out["peaks"] = list;
  nb::list sampling;
  for (const double repeat : found.sampling) sampling.append(1 / repeat);
  out["sampling_periods"] = nb::tuple(sampling);
  return out;
}

/// The power at given multiples of a frequency.
nb::ndarray<nb::numpy, double> spectrum(const SharedSeries& shared, const std::string& mean, double step,
                                        Index first, Index count) {
  std::vector<double> power;
  const Baseline baseline = baseline_of(mean);
  {
    const nb::gil_scoped_release unlocked;
    const Samples samples = samples_of(*shared.series);
    if (!(step > 0) || !(samples.span * step < 1) || first < 1 || count < 1)
      throw std::invalid_argument("frequencies must be positive, and their step below 1/span");
    const BaselineColumns columns(samples, baseline);
    const std::vector<double> residual = columns.remove_from(samples, samples.value);
    Periodogram periodogram(samples, columns, {step, first, count});
    power = periodogram.gains(residual);
    double total = 0;
    for (std::size_t i = 0; i < residual.size(); ++i) total += samples.weight[i] * residual[i] * residual[i];
    for (double& p : power) p /= total;
  }
  return to_numpy(std::move(power));
}

}  // namespace

void bind_periods(nb::module_& m) {
  m.def("periods", &periods, nb::arg("series"), nb::kw_only(), nb::arg("mean"), nb::arg("shortest").none(),
        nb::arg("longest").none(), nb::arg("false_alarm"), nb::arg("peaks"));
  m.def("spectrum", &spectrum, nb::arg("series"), nb::kw_only(), nb::arg("mean"), nb::arg("step"),
        nb::arg("first"), nb::arg("count"), "The periodogram at count multiples of step, from the first.");
}

}  // namespace bandgp::python
