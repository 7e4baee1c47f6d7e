// SPDX-License-Identifier: Apache-2.0
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include "arrays.hpp"
#include "bandgp/fit/diagnostics.hpp"
#include "bandgp/fit/parameters.hpp"
#include "bandgp/fit/remarks.hpp"
#include "bandgp/report/curve_times.hpp"
#include "bandgp/series/forecast_times.hpp"
#include "bindings.hpp"
#include "fitted.hpp"
#include "training.hpp"
#include "words.hpp"

namespace bandgp::python {
namespace {

using Array = nb::ndarray<nb::numpy, double>;

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

nb::tuple train(const SharedSeries& shared, FitOptions options, const nb::object& progress,
                const nb::object& announce) {
  Callbacks callbacks(progress, announce);
  callbacks.attach(options);
  FitResult result;
  {
    const nb::gil_scoped_release unlocked;
    result = fit(shared.series, options);
  }
  auto fitted = std::make_unique<Fitted>(std::move(result), options.threads);
  return nb::make_tuple(nb::cast(std::move(fitted)), callbacks.raised());
}

nb::tuple predict(Fitted& self, const Doubles& times, bool with_variance) {
  Prediction p;
  {
    const nb::gil_scoped_release unlocked;
    p = self.with_posterior(
        [&](Posterior& posterior) { return posterior.predict(view(times), with_variance); });
  }
  return nb::make_tuple(to_numpy(std::move(p.mean)), to_numpy(std::move(p.variance)),
                        to_numpy(std::move(p.variance_observed)));
}

Array covariance(Fitted& self, const Doubles& times) {
  std::vector<double> values;
  {
    const nb::gil_scoped_release unlocked;
    values = self.with_posterior([&](Posterior& posterior) { return posterior.covariance(view(times)); });
  }
  return to_numpy(std::move(values), {times.size(), times.size()});
}

Array sample(Fitted& self, const Doubles& times, Index count, std::uint64_t seed) {
  std::vector<double> values;
  {
    const nb::gil_scoped_release unlocked;
    values =
        self.with_posterior([&](Posterior& posterior) { return posterior.sample(view(times), count, seed); });
  }
  return to_numpy(std::move(values), {at(count), times.size()});
}

/// Means and variances, a row for each term.
nb::tuple components(Fitted& self, const Doubles& times) {
  std::vector<double> mean, variance;
  std::size_t terms = 0;
  {
    const nb::gil_scoped_release unlocked;
    const std::vector<Component> parts =
        self.with_posterior([&](Posterior& posterior) { return posterior.components(view(times)); });
    terms = parts.size();
    for (const Component& part : parts) {
      mean.insert(mean.end(), part.mean.begin(), part.mean.end());
      variance.insert(variance.end(), part.variance.begin(), part.variance.end());
    }
  }
  return nb::make_tuple(to_numpy(std::move(mean), {terms, times.size()}),
                        to_numpy(std::move(variance), {terms, times.size()}));
}

std::vector<PosteriorFunction> functions(Fitted& self, Index count, std::uint64_t seed) {
  const nb::gil_scoped_release unlocked;
  return self.with_posterior([&](Posterior& posterior) { return posterior.functions(count, seed); });
}

/// Means, variances and standardised residuals in time order, then NMSE, NLPD and coverage.
nb::tuple leave_one_out(Fitted& self) {
  LeaveOneOut left_out;
  Diagnostics d;
  {
    const nb::gil_scoped_release unlocked;
    left_out = self.with_posterior([](Posterior& posterior) { return posterior.leave_one_out(); });
    d = diagnose(*self.fit().series, left_out);
  }
  return nb::make_tuple(to_numpy(std::move(left_out.mean)), to_numpy(std::move(left_out.variance)),
                        to_numpy(std::move(d.standardised)), d.loo_nmse, d.loo_nlpd, d.coverage_95);
}

Array whitened(Fitted& self, std::uint64_t seed) {
  std::vector<double> values;
  {
    const nb::gil_scoped_release unlocked;
    values = self.with_posterior([&](Posterior& posterior) { return posterior.whitened_residuals(seed); });
  }
  return to_numpy(std::move(values));
}

std::vector<double> nice_times(const Fitted& self) {
  const FitResult& fit = self.fit();
  const Series& series = *fit.series;
  if (series.size() == 0)
    return curve_times(series.report.first_time, series.report.last_time, fit.model.kernel);
  std::vector<double> times(series.time);
  for (double& time : times) time = series.units.time_out(time);
  return curve_times(times, fit.model.kernel);
}

/// Times after the data: durations as text, such as 48h or a number of the axis' units; no step: its spacing.
std::vector<double> forecast_times(const Fitted& self, const std::string& horizon,
                                   const std::optional<std::string>& step) {
  const Series& series = *self.fit().series;
  const double by = step ? parse_duration(series.axis, *step) : 0;
  if (step && !(by > 0)) throw std::invalid_argument("step: " + *step + " is not positive");
  return times_after(series, parse_duration(series.axis, horizon), by);
}

nb::object certificate(const Fitted& self) {
  const Certificate& c = self.fit().certificate;
  if (c.other_model) return nb::none();
  return nb::make_tuple(c.positive_definite, c.rho.value(), c.nll_error.value(), c.mean_error.value(),
                        c.variance_error.value());
}

nb::tuple trace_row(const TraceEntry& entry) {
  return nb::make_tuple(entry.evaluation, entry.stage, entry.n, entry.nll, entry.parameters, entry.bandwidth,
                        entry.seconds);
}

nb::list trace(const Fitted& self) {
  nb::list rows;
  for (const TraceEntry& entry : self.fit().trace) rows.append(trace_row(entry));
  return rows;
}

std::string model_text(const Fitted& self) {
  const nb::gil_scoped_release unlocked;
  return to_model_text(self.fit());
}

std::unique_ptr<Fitted> from_text(const std::string& text, const std::string& name, Index threads) {
  const nb::gil_scoped_release unlocked;
  return std::make_unique<Fitted>(from_model_text(text, name), threads);
}

}  // namespace

void bind_fitted(nb::module_& m) {
  m.def(
      "fit",
      [](const SharedSeries& series, const std::string& kernel, const std::string& mean, const Cut& cut,
         const std::map<std::string, double>& init, const std::map<std::string, double>& fix,
         int max_evaluations, bool standard_errors, double max_bytes, Index threads,
         const nb::object& progress, const nb::object& announce) {
        FitOptions options;
        options.kernel = parse_kernel(kernel, durations_on(series.series->axis));
        options.mean = parse_mean(mean);
        options.cut = cut;
        options.init = init;
        options.fix = fix;
        options.max_evaluations = max_evaluations;
        options.standard_errors = standard_errors;
        options.max_bytes = max_bytes;
        options.threads = threads;
        return train(series, std::move(options), progress, announce);
      },
      nb::arg("series"), nb::kw_only(), nb::arg("kernel"), nb::arg("mean"), nb::arg("cut"), nb::arg("init"),
      nb::arg("fix"), nb::arg("max_evaluations"), nb::arg("standard_errors"), nb::arg("max_bytes"),
      nb::arg("threads"), nb::arg("progress").none(), nb::arg("announce").none());

  nb::class_<PosteriorFunction>(m, "Curve", "One draw of the latent curve, to be evaluated anywhere.")
      .def(
          "__call__",
          [](const PosteriorFunction& self, const Doubles& times) {
            std::vector<double> values;
            {
              const nb::gil_scoped_release unlocked;
              values = self(view(times));
            }
            return to_numpy(std::move(values));
          },
          nb::arg("times"));

  nb::class_<Fitted>(m, "Fitted")
      .def_static("from_text", &from_text, nb::arg("text"), nb::arg("name"), nb::arg("threads"))
      .def("to_text", &model_text)
      .def("save", &Fitted::save, nb::arg("path"), nb::call_guard<nb::gil_scoped_release>())
      .def("report", &Fitted::report, nb::arg("path"), nb::arg("command"),
           nb::call_guard<nb::gil_scoped_release>())
      .def(
          "set_source",
          [](Fitted& self, const std::string& file, const std::string& time_name,
             const std::string& value_name, Index bad_lines) {
            self.set_source({file, time_name, value_name, bad_lines});
          },
          nb::arg("file"), nb::arg("time_name"), nb::arg("value_name"), nb::arg("bad_lines"))
      .def("predict", &predict, nb::arg("times"), nb::arg("with_variance"))
      .def("covariance", &covariance, nb::arg("times"))
      .def("sample", &sample, nb::arg("times"), nb::arg("count"), nb::arg("seed"))
      .def("components", &components, nb::arg("times"))
      .def("functions", &functions, nb::arg("count"), nb::arg("seed"))
      .def("leave_one_out", &leave_one_out)
      .def("whitened_residuals", &whitened, nb::arg("seed"))
      .def("curve_times", [](const Fitted& self) { return to_numpy(nice_times(self)); })
      .def(
          "forecast_times",
          [](const Fitted& self, const std::string& horizon, const std::optional<std::string>& step) {
            return to_numpy(forecast_times(self, horizon, step));
          },
          nb::arg("horizon"), nb::arg("step").none())
      .def_prop_ro("series", [](const Fitted& self) { return SharedSeries{self.fit().series}; })
      .def_prop_ro("status", [](const Fitted& self) { return status_name(self.fit().status); })
      .def_prop_ro("message", [](const Fitted& self) { return self.fit().message_as(argument_spelling); })
      .def_prop_ro("certified", [](const Fitted& self) { return self.fit().certified(); })
      .def_prop_ro("kernel", [](const Fitted& self) { return to_text(self.fit().model.kernel); })
      .def_prop_ro("mean", [](const Fitted& self) { return mean_name(self.fit().model.mean); })
      .def_prop_ro("cut", [](const Fitted& self) { return self.fit().cut; })
      .def_prop_ro("parameters", [](const Fitted& self) { return parameter_values(self.fit().model); })
      .def_prop_ro("standard_errors", [](const Fitted& self) { return self.fit().standard_errors; })
      .def_prop_ro("gradient", [](const Fitted& self) { return self.fit().gradient; })
      .def_prop_ro("coefficients", [](const Fitted& self) { return self.fit().mean; })
      .def_prop_ro("nll", [](const Fitted& self) { return self.fit().nll; })
      .def_prop_ro("certificate", &certificate)
      .def_prop_ro("method", [](const Fitted& self) { return self.fit().method; })
      .def_prop_ro("bandwidth", [](const Fitted& self) { return self.fit().bandwidth; })
      .def_prop_ro("reach", [](const Fitted& self) { return self.fit().reach; })
      .def_prop_ro("condition", [](const Fitted& self) { return self.fit().condition; })
      .def_prop_ro("rounding", [](const Fitted& self) { return self.fit().rounding; })
      .def_prop_ro("evaluations", [](const Fitted& self) { return self.fit().evaluations; })
      .def_prop_ro("seconds", [](const Fitted& self) { return self.fit().seconds; })
      .def_prop_ro("remarks", [](const Fitted& self) { return remarks(self.fit()); })
      .def_prop_ro("trace", &trace);
}

}  // namespace bandgp::python
