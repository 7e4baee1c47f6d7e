// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include "arrays.hpp"
#include "bandgp/base/guarded.hpp"
#include "bandgp/io/cut_name.hpp"
#include "bandgp/methods/make_representation.hpp"
#include "bindings.hpp"

namespace bandgp::python {
namespace {

Model model_of(const std::string& kernel, double noise, const std::string& mean,
               const ReadDuration& duration = no_duration) {
  return {parse_kernel(kernel, duration), noise, parse_mean(mean)};
}

Cut cut_of(const std::string& method, const std::string& rule, double tolerance, Index bandwidth,
           double reach, Index inducing, bool move_inducing, Index neighbours, double taper_range,
           const std::string& taper) {
  Cut cut;
  cut.method = parse_method(method);
  cut.rule = *parse_cut(rule);
  cut.tolerance = tolerance;
  cut.bandwidth = bandwidth;
  cut.reach = reach;
  cut.inducing = inducing;
  cut.move_inducing = move_inducing;
  cut.neighbours = neighbours;
  cut.taper = {taper_range, parse_smoothness(taper)};
  require_valid(cut);
  return cut;
}

/// The loss at one θ after another, with the memory of the first.
class Loss {
 public:
  Loss(const SharedSeries& shared, const std::string& mean, const Cut& cut, Index threads)
      : series_(shared.series), mean_(parse_mean(mean)), cut_(cut), threads_(threads) {}

  /// The NLL, or the reason why there is none: singular, too_large; and its gradient by log parameter.
  nb::tuple operator()(const std::string& kernel, double noise, bool with_gradient) {
    const Model model{parse_kernel(kernel, durations_on(series_->axis)), noise, mean_};
    require_usable(model, *series_);
    std::optional<Failure> failure;
    Likelihood likelihood;
    {
      const nb::gil_scoped_release unlocked;
      failure = evaluator_.use(
          [&] {
            return std::make_unique<Evaluator>(
                *series_, mean_, make_representation(to_internal(cut_, series_->units), 0, threads_));
          },
          [&](Evaluator& evaluator) {
            return evaluator.evaluate(to_internal(model, series_->units), with_gradient, likelihood);
          });
    }
    const bool singular = failure && failure->kind == Failure::Kind::not_positive_definite;
    return nb::make_tuple(nll_to_user(likelihood.nll, *series_), to_numpy(std::move(likelihood.gradient)),
                          failure ? (singular ? "singular" : "too_large") : "");
  }

 private:
  std::shared_ptr<const Series> series_;
  Mean mean_;
  Cut cut_;
  Index threads_;
  Guarded<Evaluator> evaluator_;
};

/// Everything `bandgp nll` tells.
nb::dict evaluation(const SharedSeries& shared, const std::string& kernel, double noise,
                    const std::string& mean, const Cut& cut, Index threads) {
  const Model model = model_of(kernel, noise, mean, durations_on(shared.series->axis));
  require_usable(model, *shared.series);
  EvaluationResult result;
  {
    const nb::gil_scoped_release unlocked;
    result = evaluate(*shared.series, model, cut, 0, threads);
  }
  if (result.failure && result.failure->kind == Failure::Kind::not_positive_definite)
    throw std::runtime_error("the covariance is not positive definite at these parameters (row " +
                             std::to_string(result.failure->row + 1) + ")");
  if (result.failure) throw std::bad_alloc();
  const Likelihood& likelihood = result.likelihood;
  const Certificate& c = likelihood.certificate;
  nb::dict out;
  out["nll"] = likelihood.nll;
  out["gradient"] = to_numpy(std::vector<double>(likelihood.gradient));
  out["method"] = likelihood.method;
  out["bandwidth"] = nb::none();
  if (has_bandwidth(likelihood.method)) out["bandwidth"] = likelihood.bandwidth;
  out["reach"] = likelihood.reach;
  out["condition"] = likelihood.condition;
  out["rounding"] = result.rounding;
  out["evaluation_seconds"] = result.evaluation_seconds;
  out["certificate"] = nb::none();
  if (!c.other_model)
    out["certificate"] = nb::make_tuple(c.positive_definite, c.rho.value(), c.nll_error.value(),
                                        c.mean_error.value(), c.variance_error.value());
  return out;
}

nb::dict to_dict(const BandwidthRules& rules, double nats) {
  nb::dict tolerance, out;
  tolerance["nats"] = nats;
  tolerance["bandwidth"] = rules.tolerance;
  out["n"] = rules.n;
  out["min_gap"] = rules.min_gap;
  out["corollary"] = rules.corollary;
  out["theorem"] = rules.theorem;
  out["lemma"] = rules.lemma;
  out["tolerance"] = tolerance;
  return out;
}

}  // namespace

void bind_tools(nb::module_& m) {
  nb::class_<Cut>(m, "Cut");
  m.def("make_cut", &cut_of, nb::kw_only(), nb::arg("method"), nb::arg("rule"), nb::arg("tolerance"),
        nb::arg("bandwidth"), nb::arg("reach"), nb::arg("inducing"), nb::arg("move_inducing"),
        nb::arg("neighbours"), nb::arg("taper_range"), nb::arg("taper"));
  m.def(
      "parameter_names",
      [](const std::string& kernel) { return parameter_names(parse_kernel(kernel, any_duration)); },
      nb::arg("kernel"));
  m.def(
      "parameter_units",
      [](const std::string& kernel) {
        std::vector<std::string_view> units;
        const Model model{parse_kernel(kernel, any_duration)};
        for (const auto& parameter : parameters(model)) units.push_back(unit_name(parameter.kind->unit));
        return units;
      },
      nb::arg("kernel"), "variance, time or none, for each of parameter_names().");
  m.def(
      "is_single_se",
      [](const std::string& kernel) { return parse_kernel(kernel, any_duration).is_single_se(); },
      nb::arg("kernel"));
  m.def(
      "kernel_text",
      [](const std::string& text, const std::vector<double>& values) {
        Model model{parse_kernel(text)};
        auto all = parameters(model);
        all.pop_back();  // the noise is not part of the text
        if (values.size() != all.size())
          throw std::invalid_argument(
              fmt::format("the kernel has {} parameters, not {}", all.size(), values.size()));
        for (std::size_t i = 0; i < all.size(); ++i) *all[i].value = values[i];
        return to_text(model.kernel);
      },
      nb::arg("text"), nb::arg("values"),
      "The same kernel with these values of its parameters, the noise left out; NaN leaves one open.");

  nb::class_<Loss>(m, "Loss")
      .def(nb::init<const SharedSeries&, const std::string&, const Cut&, Index>(), nb::arg("series"),
           nb::arg("mean"), nb::arg("cut"), nb::arg("threads"))
      .def("__call__", &Loss::operator(), nb::arg("kernel"), nb::arg("noise"), nb::arg("with_gradient"));
  m.def("evaluate", &evaluation, nb::arg("series"), nb::arg("kernel"), nb::arg("noise"), nb::arg("mean"),
        nb::arg("cut"), nb::arg("threads"));

  m.def(
      "bandwidth_on_grid",
      [](const std::string& kernel, double noise, double gap, Index n, double nats) {
        return to_dict(bandwidth_rules(model_of(kernel, noise, "constant"), gap, n, nats), nats);
      },
      nb::arg("kernel"), nb::arg("noise"), nb::arg("gap"), nb::arg("n"), nb::arg("nats"));
  m.def(
      "bandwidth_on_series",
      [](const SharedSeries& shared, const std::string& kernel, double noise, const std::string& mean,
         double nats) {
        const Model model = model_of(kernel, noise, mean, durations_on(shared.series->axis));
        BandwidthRules rules;
        {
          const nb::gil_scoped_release unlocked;
          rules = bandwidth_rules(model, *shared.series, nats);
        }
        return to_dict(rules, nats);
      },
      nb::arg("series"), nb::arg("kernel"), nb::arg("noise"), nb::arg("mean"), nb::arg("nats"));

  m.def(
      "simulate",
      [](const std::string& kernel, double noise, const Doubles& times, std::uint64_t seed) {
        std::vector<double> values;
        {
          const nb::gil_scoped_release unlocked;
          values = simulate(parse_kernel(kernel), noise, view(times), seed);
        }
        return to_numpy(std::move(values));
      },
      nb::arg("kernel"), nb::arg("noise"), nb::arg("times"), nb::arg("seed"));
  m.def(
      "simulate_times",
      [](Index n, double gap, double start, bool irregular, std::uint64_t seed) {
        std::vector<double> times;
        {
          const nb::gil_scoped_release unlocked;
          times = simulate_times(n, gap, start, irregular, seed);
        }
        return to_numpy(std::move(times));
      },
      nb::arg("n"), nb::arg("gap"), nb::arg("start"), nb::arg("irregular"), nb::arg("seed"));
}

}  // namespace bandgp::python
