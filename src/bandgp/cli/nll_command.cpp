// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>

#include "bandgp/cli/commands.hpp"
#include "bandgp/cli/output.hpp"
#include "bandgp/cli/reference.hpp"
#include "bandgp/cli/words.hpp"
#include "bandgp/fit/fit.hpp"
#include "bandgp/fit/parameters.hpp"
#include "bandgp/io/write_file.hpp"

namespace bandgp::cli {
namespace {

struct NllFlags {
  DataFlags data;
  ModelFlags model;
  CutFlags cut;
  CommonFlags common;
  bool plan = false;
};

/// An evaluation that takes longer than this is announced.
constexpr double kLongSeconds = 10;

std::string failure_text(const Failure& failure, const Likelihood& likelihood, const CostEstimate& cost,
                         const Cut& cut) {
  if (failure.kind == Failure::Kind::not_positive_definite && cut.rule == Cut::Rule::tolerance) {
    return fmt::format(
        "the covariance is singular in double precision (row {}): the noise is too small beside the "
        "variance, raise it",
        failure.row + 1);
  }
  if (failure.kind == Failure::Kind::not_positive_definite) {
    return fmt::format(
        "with {} the banded covariance is not positive definite (row {}): widen the band, or leave it to "
        "--bandwidth auto",
        band_text("band", likelihood.bandwidth, 0), failure.row + 1);
  }
  return fmt::format("{} on {} points needs {:.1f} GB of memory and about {:.0f} s; {}", cost.what, cost.n,
                     failure.bytes / 1e9, failure.seconds, words(cost.advice, flag_spelling));
}

Json to_json(const EvaluationResult& result, const Input& input, const Model& model,
             const std::string& message) {
  const Likelihood& likelihood = result.likelihood;
  const bool failed = result.failure.has_value();
  Json json;
  add_size(json, *input.series);
  json["method"] = likelihood.method;
  json["bandwidth"] = has_bandwidth(likelihood.method) ? Json(likelihood.bandwidth) : Json();
  json["nll"] = failed ? kUnset : likelihood.nll;
  json["evaluation_seconds"] = failed ? kUnset : result.evaluation_seconds;
  const std::vector<double> gradient = failed ? std::vector<double>{} : likelihood.gradient;
  json["gradient"] = named_json("log_", parameter_names(model.kernel), gradient);
  json["certificate"] = certificate_json(failed ? Certificate{} : likelihood.certificate);
  if (failed && result.failure->kind == Failure::Kind::too_large) json["certificate"] = nullptr;
  json["reach"] = failed ? kUnset : likelihood.reach;
  json["condition"] = failed ? kUnset : likelihood.condition;
  json["rounding"] = failed ? kUnset : result.rounding;
  json["kernel"] = to_text(model.kernel);
  json["noise"] = model.noise;
  json["parameters"] = named_json("", parameter_names(model.kernel), parameter_values(model));
  if (!message.empty()) json["message"] = message;
  return json;
}

std::string to_text(const EvaluationResult& result, const Input& input, const Model& model) {
  const Likelihood& likelihood = result.likelihood;
  const std::vector<std::string> names = parameter_names(model.kernel);
  std::string gradient;
  for (std::size_t i = 0; i < names.size(); ++i) {
    gradient += fmt::format("{}{:<16} {:.8g}", i > 0 ? "\n" : "", "log_" + names[i], likelihood.gradient[i]);
  }
  return field("Read", input_text(input)) + field("NLL", fmt::format("{:.10g}", likelihood.nll)) +
         field("Gradient", gradient) +
         field("Exactness", exactness_text(likelihood.certificate, result.rounding)) +
         field("Method", fmt::format("{}; {} an evaluation",
                                     band_text(likelihood.method, likelihood.bandwidth, likelihood.reach),
                                     seconds_text(result.evaluation_seconds)));
}

/// What an evaluation would do, without doing it.
int print_plan(const CostEstimate& cost, const Input& input, const Model& model, double allowed, bool json) {
  const bool fits = cost.bytes <= allowed;
  const std::string refusal =
      fits ? ""
           : fmt::format("needs {:.3g} GB of memory, where {:.3g} GB are allowed; {}", cost.bytes / 1e9,
                         allowed / 1e9, words(cost.advice, flag_spelling));
  if (json) {
    Json terms = Json::array();
    for (std::size_t t = 0; t < cost.places.size(); ++t)
      terms.push_back({{"kernel", bandgp::to_text(Kernel{{model.kernel.terms[t]}})},
                       {"where", cost.places[t].where},
                       {"rows", cost.places[t].rows}});
    Json plan;
    add_size(plan, *input.series);
    plan["method"] = cost.method;
    plan["terms"] = std::move(terms);
    plan["bytes"] = cost.bytes;
    plan["evaluation_seconds"] = cost.seconds_per_evaluation;
    if (!fits) plan["message"] = refusal;
    print(plan);
    return fits ? 0 : 1;
  }
  std::string terms;
  for (std::size_t t = 0; t < cost.places.size(); ++t) {
    const TermPlace& place = cost.places[t];
    const std::string_view what = place.where == "band"   ? "neighbours a side, in a band of the covariance"
                                  : place.where == "grid" ? "Gaussians on a grid"
                                  : place.where == "columns" ? "columns over the whole series"
                                  : place.rows == 1          ? "state, carried from point to point"
                                                             : "states, carried from point to point";
    terms += fmt::format("{}{}: {} {}", t > 0 ? "\n" : "", bandgp::to_text(Kernel{{model.kernel.terms[t]}}),
                         place.rows, what);
  }
  write_stdout(field("Read", input_text(input)) + field("Method", std::string(cost.method)) +
               (terms.empty() ? "" : field("Terms", terms)) +
               field("Cost", fmt::format("about {} an evaluation with gradient on one thread, {:.3g} MB",
                                         seconds_text(cost.seconds_per_evaluation), cost.bytes / 1e6)) +
               (fits ? "" : field("Refused", refusal)));
  return fits ? 0 : 1;
}

int nll(const NllFlags& flags) {
  check(flags.common);
  Model model = given_model(flags.model, any_duration);  // mistakes are told before anything is read
  const Cut cut = given_cut(flags.cut, flags.common, model.kernel);
  const Input input = read_input(flags.data, model.mean);
  model = given_model(flags.model, durations_on(input.series->axis));
  require_usable(model, *input.series);
  const double max_bytes = given_max_bytes(flags.common);
  const CostEstimate cost = estimate_cost(*input.series, model, cut, max_bytes);
  if (flags.plan)
    return print_plan(cost, input, model, max_bytes > 0 ? max_bytes : default_max_bytes(), flags.common.json);
  if (cost.seconds_per_evaluation > kLongSeconds && !flags.common.quiet) {
    fmt::print(stderr, "bandgp: {} on {} points takes about {:.0f} s; {}\n", cost.what, cost.n,
               cost.seconds_per_evaluation, words(cost.advice, flag_spelling));
  }
  const EvaluationResult result = evaluate(*input.series, model, cut, max_bytes, thread_count(flags.common));

  std::string message;
  if (result.failure) {
    message = failure_text(*result.failure, result.likelihood, cost, cut);
  } else if (!std::isfinite(result.likelihood.nll)) {
    message = "the NLL is not a finite number at these parameters";
  } else if (!result.likelihood.certificate.holds() && !result.likelihood.certificate.other_model) {
    message = certificate_text(result.likelihood.certificate);
  } else if (!(result.rounding <= cut.tolerance)) {
    message = exactness_text(result.likelihood.certificate, result.rounding);
  }
  if (flags.common.json) {
    print(to_json(result, input, model, message));
  } else if (result.failure) {
    write_stdout(field("Read", input_text(input)) + field("NLL", "none: " + message));
  } else {
    write_stdout(to_text(result, input, model));
  }
  return message.empty() ? 0 : 1;
}

}  // namespace

void add_nll(CLI::App& program, Run& run) {
  auto flags = std::make_shared<NllFlags>();
  CLI::App* command = program.add_subcommand(
      "nll", "negative log-likelihood at given parameters: value, gradient, certificate");
  add_data_flags(*command, flags->data)->required();
  add_parameter_flags(*command, flags->model);
  add_kernel_flag(*command, flags->model);
  add_mean_flag(*command, flags->model);
  add_cut_flags(*command, flags->cut);
  add_method_flag(*command, flags->common);
  command
      ->add_flag("--plan", flags->plan,
                 "tell where every term would be held and what an evaluation takes, and evaluate nothing")
      ->group("Output");
  add_memory_flag(*command, flags->common);
  add_common_flags(*command, flags->common);
  set_examples(*command, {"bandgp nll data/sunspots.csv --variance 1500 --lengthscale 1.5 --noise 300",
                          "bandgp nll data/sunspots.csv --kernel '1500*se(lengthscale=2) + "
                          "200*matern12(lengthscale=0.3)' --noise 150"});
  command->callback([flags, &run] { run = [flags] { return nll(*flags); }; });
}

}  // namespace bandgp::cli
