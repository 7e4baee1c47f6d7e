// SPDX-License-Identifier: Apache-2.0
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cmath>
#include <limits>

#include "arrays.hpp"
#include "bindings.hpp"
#include "fitted.hpp"

namespace bandgp::python {
namespace {

constexpr std::int64_t kMissing = std::numeric_limits<std::int64_t>::min();  // NumPy's NaT

/// Ticks since 1970, of which a second has so many, as times on a calendar axis.
std::vector<double> times_of(const TimeAxis& axis, const Integers& ticks, std::int64_t per_second) {
  std::vector<double> times(ticks.size());
  for (std::size_t i = 0; i < times.size(); ++i) {
    const std::int64_t tick = ticks.data()[i];
    std::int64_t seconds = tick / per_second, rest = tick % per_second;
    if (rest < 0) rest += per_second, --seconds;
    const auto nanos = static_cast<std::int32_t>(rest * (1'000'000'000 / per_second));
    times[i] = tick == kMissing ? kUnset : time_of(axis, {seconds, nanos});
  }
  return times;
}

SharedSeries series_of(const Doubles& time, const Doubles& value, const std::optional<Doubles>& variance,
                       const TimeAxis& axis, bool center, double thin) {
  const std::span<const double> errors = variance ? view(*variance) : std::span<const double>{};
  const nb::gil_scoped_release unlocked;
  Series series = make_series(view(time), view(value), errors, {.center = center, .thin = thin});
  series.axis = axis;
  return {std::make_shared<const Series>(std::move(series))};
}

Table read(const std::string& path, const ReadOptions& options) {
  const nb::gil_scoped_release unlocked;
  try {
    return read_table(path, options);
  } catch (const std::runtime_error& error) {
    throw FileError(error.what());
  }
}

nb::dict report_of(const SharedSeries& shared) {
  const SeriesReport& report = shared.series->report;
  nb::dict out;
  out["rows"] = report.rows;
  out["used"] = report.used;
  out["dropped"] = report.dropped;
  out["merged"] = report.merged;
  out["thinned"] = report.thinned;
  out["sorted"] = report.was_sorted;
  out["min_gap"] = report.min_gap;
  out["mean_gap"] = report.mean_gap;
  out["max_gap"] = report.max_gap;
  out["span"] = report.span;
  out["first_time"] = report.first_time;
  out["last_time"] = report.last_time;
  return out;
}

/// One for each observation, in time order, in the user's units.
std::vector<double> observation_times(const Series& series) {
  std::vector<double> times;
  times.reserve(series.value.size());
  for (Index i = 0; i < series.size(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    const Index count = series.has_ties() ? series.group[at + 1] - series.group[at] : 1;
    times.insert(times.end(), static_cast<std::size_t>(count), series.units.time_out(series.time[at]));
  }
  return times;
}

std::vector<double> observation_values(const Series& series) {
  std::vector<double> values(series.value);
  for (double& value : values) value = series.units.value_out(value);
  return values;
}

}  // namespace

void bind_data(nb::module_& m) {
  nb::class_<TimeAxis>(m, "TimeAxis")
      .def(
          "__init__",
          [](TimeAxis* self, const std::string& unit, const std::string& format, std::int64_t origin,
             int zone, int digits) {
            new (self) TimeAxis{unit, format, origin, zone, digits};
            require_valid(*self);
          },
          nb::arg("unit") = "", nb::arg("format") = "", nb::arg("origin") = 0, nb::arg("zone") = 0,
          nb::arg("digits") = 0)
      .def_ro("unit", &TimeAxis::unit)
      .def_ro("format", &TimeAxis::format)
      .def_ro("origin", &TimeAxis::origin)
      .def_ro("zone", &TimeAxis::zone)
      .def_ro("digits", &TimeAxis::digits)
      .def_prop_ro("is_calendar", &TimeAxis::is_calendar)
      .def(
          "times_of",
          [](const TimeAxis& axis, const Integers& ticks, std::int64_t per_second) {
            return to_numpy(times_of(axis, ticks, per_second));
          },
          nb::arg("ticks"), nb::arg("per_second"))
      .def(
          "text", [](const TimeAxis& axis, double time) { return to_text(axis, time); }, nb::arg("time"));

  nb::class_<Table>(m, "Table")
      .def_prop_ro(
          "time", [](const Table& table) { return to_numpy(table.time); }, nb::rv_policy::move)
      .def_prop_ro(
          "value", [](const Table& table) { return to_numpy(table.value); }, nb::rv_policy::move)
      .def_prop_ro(
          "variance", [](const Table& table) { return to_numpy(table.variance); }, nb::rv_policy::move)
      .def_ro("time_name", &Table::time_name)
      .def_ro("value_name", &Table::value_name)
      .def_ro("axis", &Table::axis)
      .def_ro("bad_lines", &Table::bad_lines)
      .def_ro("unused", &Table::unused);
  m.def(
      "read_table",
      [](const std::string& path, const std::string& x, const std::string& y, const std::string& yerr,
         double step, bool skip_bad, const std::string& time_format, const std::string& time_unit,
         const std::string& channel) {
        return read(path, {x, y, yerr, step, skip_bad, time_format, time_unit, channel});
      },
      nb::arg("path"), nb::kw_only(), nb::arg("x") = "", nb::arg("y") = "", nb::arg("yerr") = "",
      nb::arg("step") = 0.0, nb::arg("skip_bad") = false, nb::arg("time_format") = "",
      nb::arg("time_unit") = "", nb::arg("channel") = "");

  nb::class_<SharedSeries>(m, "Series")
      .def_prop_ro("observations", [](const SharedSeries& self) { return self.series->observations(); })
      .def_prop_ro("distinct_times", [](const SharedSeries& self) { return self.series->size(); })
      .def_prop_ro("axis", [](const SharedSeries& self) { return self.series->axis; })
      .def_prop_ro("report", &report_of)
      .def_prop_ro(
          "rows",
          [](const SharedSeries& self) {
            const std::vector<Index>& row = self.series->row;
            return to_numpy(std::vector<std::int64_t>(row.begin(), row.end()));
          },
          nb::rv_policy::move)
      .def_prop_ro(
          "times", [](const SharedSeries& self) { return to_numpy(observation_times(*self.series)); },
          nb::rv_policy::move)
      .def_prop_ro(
          "values", [](const SharedSeries& self) { return to_numpy(observation_values(*self.series)); },
          nb::rv_policy::move);
  m.def("make_series", &series_of, nb::arg("time"), nb::arg("value"), nb::arg("variance").none(),
        nb::arg("axis"), nb::arg("center"), nb::arg("thin"));
}

}  // namespace bandgp::python
