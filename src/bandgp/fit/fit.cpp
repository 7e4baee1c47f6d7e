// SPDX-License-Identifier: Apache-2.0
// Training, read from the bottom up: fit() is coarse to fine, then the curvature at the minimum.
#include "bandgp/fit/fit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "bandgp/base/error.hpp"
#include "bandgp/fit/standard_errors.hpp"
#include "bandgp/fit/starts.hpp"
#include "bandgp/fit/trainer.hpp"
#include "bandgp/methods/make_representation.hpp"

namespace bandgp {
namespace {

/// Up to this many points everything is done on all of them; above, the search for a good start uses a part.
constexpr Index kSmall = 6000, kCoarse = 4096, kMiddle = 65536;
/// The search is content with this certificate; the last stage wants one that leaves the optimum where it is:
/// ∂NLL/∂log ℓ is off by about 40 times the NLL's error.                                             [math.md
/// §5]
constexpr double kLooseTolerance = 0.1, kTightTolerance = 1e-5;
/// An evaluation longer than this is announced before it is spent.
constexpr double kLongSeconds = 10;
/// After a cancellation the best so far is still evaluated on all the data, if that takes no longer than
/// this.
constexpr double kParting = 1;
/// A band this wide is what thinning the series is recommended to bring about.
constexpr double kThinnedBandwidth = 200;

/// Contiguous pieces of the series: spacing and noise stay what they are, unlike in a thinned one.
Series part_of(const Series& series, Index size) {
  constexpr Index kPieces = 4;
  std::vector<IndexRange> ranges;
  for (Index piece = 0; piece < kPieces; ++piece) {
    const Index begin = (series.size() - size / kPieces) * piece / (kPieces - 1);
    ranges.push_back({begin, begin + size / kPieces});
  }
  return subseries(series, ranges);
}

/// The best model found on a stage, from starts made of the data; sums start from the fit with one term
/// fewer.
Candidate search(Trainer& trainer, Stage& stage, const Kernel& kernel, Mean mean, const Optionals& fixed,
                 const Optionals& init) {
  const DataScale scale = data_scale(stage.series(), mean);
  const Parameters parameters(kernel, mean, fixed);
  std::vector<Model> starts;
  const std::size_t terms = kernel.terms.size();
  bool all_given = true;
  for (std::size_t i = 0; i < fixed.size(); ++i) all_given = all_given && (fixed[i] || init[i]);
  if (all_given) {
    starts.push_back(paper_start(kernel, mean, scale));
  } else if (terms == 1) {
    starts = grid_starts(kernel, mean, scale);
    starts.push_back(paper_start(kernel, mean, scale));
  } else {
    std::vector<std::size_t> leave_out = {terms - 1};
    if (kernel.terms.front().shape.index() != kernel.terms.back().shape.index()) leave_out.push_back(0);
    for (const std::size_t term : leave_out) {
      Kernel smaller = kernel;
      smaller.terms.erase(smaller.terms.begin() + static_cast<std::ptrdiff_t>(term));
      const Candidate base = search(trainer, stage, smaller, mean, without_term(fixed, kernel, term),
                                    without_term(init, kernel, term));
      if (!std::isfinite(base.nll)) continue;
      const std::vector<Model> split = split_starts(base.model, kernel, term, scale);
      starts.insert(starts.end(), split.begin(), split.end());
    }
    starts.push_back(paper_start(kernel, mean, scale));
  }
  for (Model& model : starts) {
    const auto all = bandgp::parameters(model);
    for (std::size_t i = 0; i < init.size(); ++i) {
      if (init[i]) *all[i].value = *init[i];
      if (fixed[i]) *all[i].value = *fixed[i];
    }
  }
  return terms == 1 ? trainer.best_of(stage, parameters, std::move(starts), 2, 0)
                    : trainer.best_of(stage, parameters, std::move(starts), 3, 12);
}

Cut with_tolerance(Cut cut, double tolerance) {
  if (cut.rule == Cut::Rule::tolerance) cut.tolerance = tolerance;
  return cut;
}

Certificate to_user(Certificate certificate, const Units& units) {
  const UpperBound unit = UpperBound::exactly(units.value_unit);
  certificate.mean_error = certificate.mean_error * unit;
  certificate.variance_error = certificate.variance_error * unit * unit;
  return certificate;
}

Likelihood to_user(Likelihood likelihood, const Series& series) {
  likelihood.nll = nll_to_user(likelihood.nll, series);
  likelihood.reach *= series.units.time_unit;
  likelihood.certificate = to_user(likelihood.certificate, series.units);
  return likelihood;
}

FitStatus to_fit_status(BfgsStatus status) {
  switch (status) {
    case BfgsStatus::converged:
      return FitStatus::converged;
    case BfgsStatus::out_of_evaluations:
      return FitStatus::out_of_evaluations;
    case BfgsStatus::cancelled:
      return FitStatus::cancelled;
    case BfgsStatus::stalled:
      break;
  }
  return FitStatus::stalled;
}

/// How training ended, as a value and in the library's words.
void set_outcome(FitResult& result, Message outcome) {
  result.message = words(outcome);
  result.outcome = std::move(outcome);
}

Message outcome_of(const FitResult& result, const Parameters& parameters, const std::vector<bool>& inside) {
  const auto after = [&](MessageCode code) {
    return Message{code, {{"evaluations", Index{result.evaluations}}, {"nll", result.nll}}};
  };
  switch (result.status) {
    case FitStatus::converged:
      return after(MessageCode::converged);
    case FitStatus::at_bound: {
      const std::vector<std::string> names = parameter_names(result.model.kernel);
      std::vector<double> outside(inside.size());
      for (std::size_t i = 0; i < inside.size(); ++i) outside[i] = inside[i] ? 0 : 1;
      const std::vector<double> spread = parameters.spread(outside);
      std::string which;
      for (std::size_t i = 0; i < names.size(); ++i)
        if (spread[i] == 1) which += (which.empty() ? "" : ", ") + names[i];
      return {MessageCode::at_bound, {{"parameters", which}}};
    }
    case FitStatus::out_of_evaluations:
      return after(MessageCode::out_of_evaluations);
    case FitStatus::cancelled:
      return after(MessageCode::cancelled);
    default:
      return after(MessageCode::stalled);
  }
}

/// The search never found a usable θ: because of memory, or because the fixed band is too narrow everywhere.
void explain_no_start(FitResult& result, const Trainer& trainer, double max_bytes) {
  if (trainer.cancelled()) {
    result.status = FitStatus::cancelled;
    set_outcome(result, {MessageCode::cancelled_at_start});
  } else if (result.rejected_too_large > 0) {
    result.status = FitStatus::too_large;
    set_outcome(result, {MessageCode::too_large_everywhere,
                         {{"bytes", trainer.smallest_refused()}, {"allowed", max_bytes}}});
  } else if (result.cut.rule == Cut::Rule::tolerance) {
    result.status = FitStatus::not_positive_definite;
    set_outcome(result, {MessageCode::singular_everywhere,
                         {{"rejected", Index{result.rejected_not_positive_definite}},
                          {"evaluations", Index{result.evaluations}},
                          {"noise", 1e-6 * result.model.kernel.variance()}}});
  } else {
    result.status = FitStatus::not_positive_definite;
    set_outcome(result, {MessageCode::band_too_narrow_everywhere,
                         {{"rejected", Index{result.rejected_not_positive_definite}},
                          {"evaluations", Index{result.evaluations}}}});
  }
  result.nll = kUnset;
}

/// One more factorisation at the optimum, with the memory of the training: rounding is estimated from it, and
/// the summary, the report, the model file and predictions use it.
void hand_over(Stage& stage, FitResult& result) {
  try {
    auto posterior = std::make_shared<Posterior>(result.series, result.model, stage.take_evaluator());
    result.rounding = posterior->rounding();
    result.kept = std::make_shared<Guarded<Posterior>>(std::move(posterior));
  } catch (const std::exception&) {  // whoever asks for the posterior is told
    result.rounding = kUnset;
  }
}

/// One more factorisation, and residuals of it.
double rounding_at(Evaluator& evaluator, const Model& model) {
  Likelihood likelihood;
  return evaluator.evaluate(model, false, likelihood) ? kUnset : evaluator.rounding();
}

/// With a tolerance the band is as narrow as the certificate allows, so that narrowing it is no advice; a
/// bandwidth that the user fixed may be wider than it needs to be.
std::vector<Message> cheaper_alternatives(const Cut& cut, const Kernel& kernel, double thin) {
  if (cut.method == Method::exact) return {{MessageCode::use_automatic_for_exact}};
  if (cut.method == Method::fitc || cut.method == Method::vfe) return {{MessageCode::fewer_inducing}};
  if (cut.method == Method::vecchia) return {{MessageCode::fewer_neighbours}};
  if (cut.method == Method::taper) return {{MessageCode::shorter_taper}};
  const bool asked_for = cut.method == Method::band || cut.rule != Cut::Rule::tolerance || cut.index_band;
  const bool dual = std::ranges::any_of(kernel.terms, has_basis);
  std::vector<Message> advice;
  if (asked_for && cut.rule != Cut::Rule::tolerance)
    advice.push_back({MessageCode::use_automatic_bandwidth, {{"dual", Index{dual ? 1 : 0}}}});
  else if (asked_for && dual)
    advice.push_back({MessageCode::use_automatic_method});
  advice.push_back({MessageCode::thin_series, {{"thin", thin}, {"neighbours", kThinnedBandwidth}}});
  return advice;
}

std::string held(const Cut& cut, Index bandwidth) {
  if (cut.method == Method::exact) return "the dense covariance";
  if (cut.method == Method::fitc || cut.method == Method::vfe)
    return fmt::format("{} inducing inputs", bandwidth);
  if (cut.method == Method::vecchia) return fmt::format("{} neighbours", bandwidth);
  return fmt::format("a band of {} neighbours", bandwidth);
}

CostEstimate cost_of(Representation& representation, const Series& series, const Model& internal,
                     const Cut& cut) {
  Observations points(series);
  points.at(internal.noise);
  const Cost cost =
      representation.cost(internal.kernel, points, points.noise_weighted_square(internal.mean != Mean::zero));
  const double thin = series.units.time_unit * cost.reach / kThinnedBandwidth;
  return {series.size(),
          cost.bandwidth,
          cost.bytes,
          cost.seconds,
          thin,
          held(cut, cost.bandwidth),
          cheaper_alternatives(cut, internal.kernel, thin)};
}

CostEstimate cost_at(Stage& stage, const Model& model, const Cut& cut) {
  return cost_of(stage.representation(), stage.series(), model, cut);
}

/// Tells what a full evaluation at θ costs when that is much; false when it must not or shall not be spent.
bool affordable(Stage& stage, const Model& model, const FitOptions& options, double max_bytes,
                FitResult& result) {
  const CostEstimate cost = cost_at(stage, model, options.cut);
  if (cost.bytes > max_bytes) {
    result.status = FitStatus::too_large;
    set_outcome(result, {MessageCode::stage_too_large,
                         {{"what", cost.what},
                          {"n", cost.n},
                          {"bytes", cost.bytes},
                          {"seconds", cost.seconds_per_evaluation},
                          {"allowed", max_bytes}},
                         cost.advice});
    return false;
  }
  const bool cancelled = options.cancelled && options.cancelled();
  if (cancelled && cost.seconds_per_evaluation > kParting) {
    result.status = FitStatus::cancelled;
    set_outcome(result, {MessageCode::cancelled_in_search,
                         {{"n", cost.n}, {"seconds", cost.seconds_per_evaluation}}});
    return false;
  }
  if (cost.seconds_per_evaluation > kLongSeconds && options.accept_cost && !options.accept_cost(cost)) {
    result.status = FitStatus::cancelled;
    set_outcome(result, {MessageCode::cost_refused});
    return false;
  }
  return true;
}

void require_fittable(const Series& series, const FitOptions& options) {
  if (options.kernel.terms.empty()) throw InvalidArgument({MessageCode::kernel_without_terms});
  require_valid(options.cut);
  require_centred_for(options.mean, series);
  if (options.mean == Mean::linear && series.size() < 2) {
    throw InvalidArgument({MessageCode::linear_mean_of_one_time});
  }
  const double unit = series.units.value_unit;
  if (!std::isnormal(unit * unit)) {
    throw InvalidArgument({MessageCode::values_out_of_scale, {{"size", unit}}});
  }
  const auto fixed_noise = options.fix.find("noise");
  if (fixed_noise != options.fix.end() && fixed_noise->second == 0 && !series.all_errors_known()) {
    throw InvalidArgument({MessageCode::fixed_noise_without_errors});
  }
  const auto [low, high] = std::minmax_element(series.value.begin(), series.value.end());
  if (*low == *high && (options.mean != Mean::zero || *low == 0)) {
    if (series.observations() == 1)
      throw InvalidArgument({MessageCode::one_observation, {{"thinned", series.report.thinned}}});
    throw InvalidArgument(
        {MessageCode::equal_values,
         {{"observations", series.observations()}, {"value", series.units.value_out(*low)}}});
  }
}

}  // namespace

std::string_view status_name(FitStatus status) {
  switch (status) {
    case FitStatus::converged:
      return "converged";
    case FitStatus::at_bound:
      return "at_bound";
    case FitStatus::out_of_evaluations:
      return "out_of_evaluations";
    case FitStatus::cancelled:
      return "cancelled";
    case FitStatus::not_positive_definite:
      return "not_positive_definite";
    case FitStatus::too_large:
      return "too_large";
    case FitStatus::stalled:
      break;
  }
  return "stalled";
}

FitResult fit(const Table& table, const FitOptions& options) {
  const SeriesOptions centred{.center = options.mean != Mean::zero};
  FitResult result = fit(std::make_shared<const Series>(make_series(table, centred)), options);
  result.source = {"", table.time_name, table.value_name, table.bad_lines};
  return result;
}

FitResult fit(const std::shared_ptr<const Series>& series, const FitOptions& given) {
  FitOptions options = given;
  if (options.tolerance) options.cut.tolerance = *options.tolerance;
  require_fittable(*series, options);
  FitResult result;
  result.series = series;
  const Units& units = series->units;
  const double max_bytes = options.max_bytes > 0 ? options.max_bytes : default_max_bytes();
  const Cut cut = bandgp::to_internal(options.cut, units);
  const Optionals fixed =
      to_internal(by_index(options.fix, options.kernel, "fix", true), options.kernel, units);
  Optionals init = by_index(options.init, options.kernel, "init", false);
  const std::vector<double> in_text = parameter_values({options.kernel, kUnset, options.mean});
  for (std::size_t i = 0; i < in_text.size(); ++i) {
    if (!init[i] && std::isfinite(in_text[i]))
      init[i] = in_text[i];  // values in the kernel's text are starting values
  }
  init = to_internal(init, options.kernel, units);
  const Parameters parameters(options.kernel, options.mean, fixed);
  Trainer trainer(options, result);

  // Coarse to fine: look for the right valley on little data, then walk down on more and more of it.
  const bool coarse = options.coarse_to_fine && series->size() > kSmall;
  // The dense GP and what resembles it start from where the same GP ends in a band or its dual: on part of
  // the data, and at a fraction of the cost.
  const bool own_search = options.own_search || cut.method == Method::automatic ||
                          cut.method == Method::band || cut.method == Method::dual;
  const Cut loose = with_tolerance(own_search ? cut : Cut{}, kLooseTolerance);
  const Cut tight = with_tolerance(cut, std::min(cut.tolerance, kTightTolerance));
  int number = 0;
  Candidate best;
  {
    const Series part = coarse ? part_of(*series, kCoarse) : Series{};
    Stage stage(coarse ? part : *series, options.mean, loose, max_bytes, options.threads, number++);
    best = search(trainer, stage, options.kernel, options.mean, fixed, init);
  }
  result.model = bandgp::to_user(best.model, units);
  result.cut = with_tolerance(options.cut, tight.tolerance);
  result.cut.inducing_inputs.clear();
  if (!std::isfinite(best.nll)) {
    explain_no_start(result, trainer, max_bytes);
    result.seconds = trainer.seconds();
    return result;
  }
  Index looked_at = coarse ? kCoarse : series->size();
  const auto rescale = [&](Index n) {  // the loss grows with n, and its curvature with it
    for (double& h : best.inverse_hessian) h *= static_cast<double>(looked_at) / static_cast<double>(n);
    looked_at = n;
  };
  if (coarse && series->size() > 4 * kMiddle && !trainer.cancelled()) {
    const Series part = part_of(*series, kMiddle);
    Stage stage(part, options.mean, loose, max_bytes, options.threads, number++);
    if (cost_at(stage, best.model, options.cut).seconds_per_evaluation <=
        kLongSeconds) {  // else it saves nothing worth its own cost
      rescale(kMiddle);
      const Candidate found = trainer.descend(stage, parameters, best, 1e-4, options.max_evaluations);
      if (std::isfinite(found.nll)) best = found;
    }
  }

  Stage stage(*series, options.mean, tight, max_bytes, options.threads, number);
  if (!affordable(stage, best.model, options, max_bytes, result)) {
    result.model = bandgp::to_user(best.model, units);
    result.nll = kUnset;
    result.seconds = trainer.seconds();
    return result;
  }
  rescale(series->size());
  if (coarse && cut.rule != Cut::Rule::tolerance) trainer.retreat(stage, parameters, best);
  Candidate found = trainer.descend(stage, parameters, best, 1e-6, options.max_evaluations);
  if (!std::isfinite(found.nll)) found.model = best.model;
  result.status = trainer.cancelled() ? FitStatus::cancelled : to_fit_status(found.status);

  // The final word at θ: loss, gradient and certificate, all on the same cut.
  Likelihood likelihood;
  const auto evaluate_at = [&](const Model& model) {
    return std::isfinite(trainer.evaluate(stage, model, true, likelihood));
  };
  if (!evaluate_at(found.model)) {
    explain_no_start(result, trainer, max_bytes);
    result.model = bandgp::to_user(found.model, units);
    result.seconds = trainer.seconds();
    return result;
  }
  const std::vector<double> at = parameters.free_logs(found.model);
  const std::vector<bool> inside = trainer.inside_box(stage, parameters, found.model);
  if (result.status == FitStatus::converged && std::ranges::count(inside, false) > 0)
    result.status = FitStatus::at_bound;
  std::vector<double> errors(at.size(), kUnset);
  if (options.standard_errors && !trainer.cancelled()) {
    stage.representation().freeze();  // the same entries throughout
    const Curvature curve =
        curvature(trainer, stage, parameters, found.model, parameters.pick(likelihood.gradient), inside);
    errors = curve.standard_errors;
    stage.representation().thaw();
    double longest = 0;
    for (const double step : curve.newton_step) longest = std::max(longest, std::abs(step));
    if (longest > 1e-5 && longest < 0.05) {  // the exact Hessian sees a little farther than BFGS did
      std::vector<double> polished = at;
      for (std::size_t i = 0; i < at.size(); ++i) polished[i] += curve.newton_step[i];
      const Likelihood before = likelihood;
      if (evaluate_at(parameters.model(polished)) && likelihood.nll <= before.nll) {
        found.model = parameters.model(polished);
      } else {
        likelihood = before;
      }
    }
  }
  if (trainer.cancelled()) result.status = FitStatus::cancelled;
  result.model = bandgp::to_user(found.model, units);
  result.standard_errors = parameters.spread(errors);
  const std::vector<double> values = parameter_values(result.model);
  for (std::size_t i = 0; i < values.size(); ++i) result.standard_errors[i] *= values[i];  // from log θ to θ
  for (const double z : stage.representation().inducing_inputs())
    result.cut.inducing_inputs.push_back(units.time_out(z));
  likelihood = to_user(likelihood, *series);
  result.nll = likelihood.nll;
  result.gradient = likelihood.gradient;
  result.certificate = likelihood.certificate;
  result.method = likelihood.method;
  result.bandwidth = likelihood.bandwidth;
  result.reach = likelihood.reach;
  result.condition = likelihood.condition;
  result.mean = mean_in_user_units(likelihood.coefficients, units, stage.evaluator().global_columns());
  hand_over(stage, result);
  result.seconds = trainer.seconds();
  set_outcome(result, outcome_of(result, parameters, inside));
  return result;
}

std::shared_ptr<Posterior> FitResult::build_posterior(Index threads) const {
  if (dual) return std::make_shared<Posterior>(series, model, *dual);
  return std::make_shared<Posterior>(
      series, model, make_representation(bandgp::to_internal(cut, series->units), 0, threads));
}

CostEstimate estimate_cost(const Series& series, const Model& model, const Cut& cut) {
  require_valid(model, series);
  const auto representation = make_representation(bandgp::to_internal(cut, series.units), 0);
  return cost_of(*representation, series, bandgp::to_internal(model, series.units), cut);
}

EvaluationResult evaluate(const Series& series, const Model& model, const Cut& cut, double max_bytes,
                          Index threads) {
  require_valid(model, series);
  Evaluator evaluator(series, model.mean,
                      make_representation(bandgp::to_internal(cut, series.units), max_bytes, threads));
  const Model internal = bandgp::to_internal(model, series.units);
  EvaluationResult result;
  for (int pass = 0; pass < 2; ++pass) {  // the first takes the memory, the second is the one that counts
    if (result.evaluation_seconds > kLongSeconds) break;  // beside which taking memory does not show
    const auto begin = std::chrono::steady_clock::now();
    result.failure = evaluator.evaluate(internal, true, result.likelihood);
    result.evaluation_seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    result.likelihood.bandwidth = evaluator.representation().bandwidth();
    result.likelihood.method = evaluator.representation().name();
    if (result.failure) return result;
  }
  result.likelihood = to_user(result.likelihood, series);
  result.rounding = rounding_at(evaluator, internal);
  return result;
}

}  // namespace bandgp
