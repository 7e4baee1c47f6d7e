// SPDX-License-Identifier: Apache-2.0
// Training, read from the bottom up: fit() is coarse to fine, then the curvature at the minimum.
#include "bandgp/fit/fit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "bandgp/base/error.hpp"
#include "bandgp/fit/search.hpp"
#include "bandgp/fit/standard_errors.hpp"
#include "bandgp/fit/starts.hpp"
#include "bandgp/fit/trainer.hpp"
#include "bandgp/methods/inducing_inputs.hpp"
#include "bandgp/methods/make_representation.hpp"

namespace bandgp {
namespace {

/// Up to this many points everything is done on all of them; above, the search for a good start uses a part.
constexpr Index kSmall = 6000, kCoarse = 4096, kMiddle = 65536;
/// The many starts of a sum are looked at on a part this long of a series that is at least twice as long.
constexpr Index kPartForSums = 1500;
/// The search is content with this certificate; the last stage wants one that leaves the optimum where it is:
/// ∂NLL/∂log ℓ is off by about 40 times the NLL's error.                                             [math.md
/// §5]
constexpr double kLooseTolerance = 0.1, kTightTolerance = 1e-5;
/// Work longer than this is announced before it is done.
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

template <UnitSystem system>
CutIn<system> with_tolerance(CutIn<system> cut, double tolerance) {
  if (cut.rule == CutRule::tolerance) cut.tolerance = tolerance;
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
    case BfgsStatus::rounding:
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

/// `seen`: an NLL that the search saw, in user's units, and that training lost; NaN where it lost none.
Message outcome_of(const FitResult& result, const Parameters& parameters, const std::vector<bool>& inside,
                   double seen) {
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
    case FitStatus::rounding: {
      const bool lost = std::isfinite(seen);
      Message message = after(lost ? MessageCode::lost_to_rounding : MessageCode::rounding);
      message.fields.push_back(lost ? Field{"seen", seen} : Field{"rounding", result.rounding});
      message.fields.push_back(
          {"noise", std::max(1e-8 * result.model.kernel.variance(), 100 * result.model.noise)});
      return message;
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
    result.status = FitStatus::stalled;
  }
}

/// One more factorisation, and residuals of it.
double rounding_at(Evaluator& evaluator, const InternalModel& model) {
  Likelihood likelihood;
  return evaluator.evaluate(model, false, likelihood) ? kUnset : evaluator.rounding();
}

/// Puts differences of the NLL in the place of a gradient that rounding has spoiled.
void gradient_by_differences(Evaluator& evaluator, const InternalModel& at, Likelihood& likelihood) {
  InternalOptionals fixed(likelihood.gradient.size());
  if (at.noise == 0) fixed.back() = 0.0;  // no logarithm: its own gradient is left as it is
  const Parameters parameters(at.kernel, at.mean, fixed);
  Likelihood moved;
  const auto nll = [&](std::span<const double> x) {
    return evaluator.evaluate(parameters.model(x), false, moved) ? std::numeric_limits<double>::infinity()
                                                                 : moved.nll;
  };
  evaluator.representation().freeze();  // the same entries throughout
  Differences differences;
  if (difference(nll, parameters.free_logs(at), likelihood.nll, {}, differences))
    parameters.replace(likelihood.gradient, differences.gradient);
  evaluator.representation().thaw();
}

/// With a tolerance the band is as narrow as the certificate allows, so that narrowing it is no advice; a
/// bandwidth that the user fixed may be wider than it needs to be.
std::vector<Message> cheaper_alternatives(const Cut& cut, const Kernel& kernel, double thin) {
  if (cut.method == Method::exact) return {{MessageCode::use_automatic_for_exact}};
  if (cut.method == Method::fitc || cut.method == Method::vfe) return {{MessageCode::fewer_inducing}};
  if (cut.method == Method::vecchia) return {{MessageCode::fewer_neighbours}};
  if (cut.method == Method::taper) return {{MessageCode::shorter_taper}};
  const bool asked_for = cut.method == Method::band || cut.rule != Cut::Rule::tolerance || cut.index_band;
  const bool dual = std::ranges::any_of(kernel.terms, has_grid);
  std::vector<Message> advice;
  if (asked_for && cut.rule != Cut::Rule::tolerance)
    advice.push_back({MessageCode::use_automatic_bandwidth, {{"dual", Index{dual ? 1 : 0}}}});
  else if (asked_for && dual)
    advice.push_back({MessageCode::use_automatic_method});
  if (thin > 0)
    advice.push_back({MessageCode::thin_series, {{"thin", thin}, {"neighbours", kThinnedBandwidth}}});
  return advice;
}

std::string held(const Cut& cut, Index bandwidth) {
  if (cut.method == Method::exact) return "the dense covariance";
  if (cut.method == Method::fitc || cut.method == Method::vfe)
    return fmt::format("{} inducing inputs", bandwidth);
  if (cut.method == Method::vecchia) return fmt::format("{} neighbours", bandwidth);
  if (bandwidth == 0) return "this kernel";
  return fmt::format("a band of {} neighbours", bandwidth);
}

CostEstimate cost_at(Evaluator& evaluator, const InternalModel& model, const Cut& cut) {
  const Series& series = evaluator.series();
  const Cost cost = evaluator.cost(model);
  const double thin = series.units.time_unit * cost.reach / kThinnedBandwidth;
  return {series.size(),
          cost.bandwidth,
          cost.bytes,
          cost.seconds,
          1,
          thin,
          held(cut, cost.bandwidth),
          cheaper_alternatives(cut, model.kernel, thin),
          cost.method,
          cost.places};
}

/// Tells what training on all the data costs when that is much; false when it must not or shall not be spent.
bool affordable(Stage& stage, const InternalModel& model, const FitOptions& options, int free,
                double max_bytes, FitResult& result) {
  CostEstimate cost = cost_at(stage.evaluator(), model, options.cut);
  cost.evaluations = expected_evaluations(free);
  // Whoever has cancelled is told that first: what all the data would need was not asked for any more.
  const bool cancelled = options.cancelled && options.cancelled();
  if (cancelled && (cost.seconds_per_evaluation > kParting || cost.bytes > max_bytes)) {
    result.status = FitStatus::cancelled;
    set_outcome(result, {MessageCode::cancelled_in_search,
                         {{"n", cost.n}, {"seconds", cost.seconds_per_evaluation}}});
    return false;
  }
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
  const double seconds = static_cast<double>(cost.evaluations) * cost.seconds_per_evaluation;
  if (seconds > kLongSeconds && options.accept_cost && !options.accept_cost(cost)) {
    result.status = FitStatus::cancelled;
    set_outcome(result, {MessageCode::cost_refused});
    return false;
  }
  return true;
}

/// How training ended on all the data.
struct Ending {
  Candidate found;
  Parameters parameters;  // those that are trained: not those of terms that have vanished
  Likelihood likelihood;  // at the model found, with its gradient
  std::vector<bool> inside;
  Curvature curvature;
  double rounding = kUnset;
};

/// What the loss would fall by in a step that is best for this curvature.
double decrement(const Curvature& curve, std::span<const double> gradient) {
  const std::size_t p = gradient.size();
  double sum = 0;
  for (std::size_t i = 0; i < p; ++i) {
    for (std::size_t j = 0; j < p; ++j) sum += gradient[i] * curve.inverse_hessian[i * p + j] * gradient[j];
  }
  return 0.5 * sum;
}

double longest(std::span<const double> step) {
  double longest = 0;
  for (const double s : step) longest = std::max(longest, std::abs(s));
  return longest;
}

/// Nats that a minimum may still be above the bottom, for a fit that is called converged.
constexpr double kConverged = 1e-4;

/// Nats from which rounding is said to hide the minimum: what the user tolerates, or what convergence allows.
double largest_rounding(const FitOptions& options) { return std::max(options.cut.tolerance, kConverged); }

/// Whether the Hessian and the gradient say that this is a minimum, to the rounding of the loss.
bool is_minimum(const Ending& end) {
  const double rounding = std::isfinite(end.rounding) ? end.rounding : 0;
  return end.curvature.known && end.curvature.downward.empty() &&
         end.curvature.decrement <= std::max(kConverged, rounding);
}

/// The Hessian, by differences, tells whether training has come to a minimum.  A short Newton step is taken
/// as it is; where more is left, or the loss curves downwards, the optimiser goes on with that Hessian.
/// False: θ has no value any more.
bool settle(Trainer& trainer, Stage& stage, const FitOptions& options, Ending& end) {
  constexpr int kRounds = 4;
  Differences differences;
  differences.largest_rise = 0.4;  // the third derivative must not decide what a Newton step could gain
  bool by_differences = false;
  const auto evaluate_at = [&](const InternalModel& model) {
    const double nll = trainer.evaluate(stage, model, true, end.likelihood);
    if (!std::isfinite(nll)) return false;
    Likelihood moved;
    const auto loss = [&](std::span<const double> x) {
      return trainer.evaluate(stage, end.parameters.model(x), false, moved);
    };
    by_differences = gradient_is_doubtful(end.likelihood) &&
                     difference(loss, end.parameters.free_logs(model), nll, options.cancelled, differences);
    if (by_differences) end.parameters.replace(end.likelihood.gradient, differences.gradient);
    return true;
  };
  for (int round = 0;; ++round) {
    if (!evaluate_at(end.found.model)) {  // as good as singular: a neighbour may not be
      end.found.status = BfgsStatus::stalled;
      trainer.retreat(stage, end.parameters, end.found);
      if (!evaluate_at(end.found.model)) return false;
    }
    end.inside = trainer.inside_box(stage, end.parameters, end.found.model);
    end.curvature = {};
    if (trainer.cancelled()) return true;
    Likelihood factored;  // without the gradient, which uses the factor up
    const bool is_factored = std::isfinite(trainer.evaluate(stage, end.found.model, false, factored));
    end.rounding = is_factored ? stage.evaluator().rounding() : kUnset;
    const bool doubtful = end.found.status == BfgsStatus::stalled || end.found.status == BfgsStatus::rounding;
    if (!(options.standard_errors || doubtful) || trainer.cancelled()) return true;
    if (!(end.rounding <= largest_rounding(options))) return true;  // curvatures would be those of rounding
    const Likelihood before = end.likelihood;
    const std::vector<double> gradient = end.parameters.pick(before.gradient);
    stage.representation().freeze();  // the same entries throughout
    end.curvature = curvature(trainer, stage, end.parameters, end.found.model, before.nll, gradient,
                              end.inside, by_differences ? &differences : nullptr, end.rounding);
    stage.representation().thaw();
    end.likelihood = before;
    const Curvature& curve = end.curvature;
    if (!curve.known || trainer.cancelled()) return true;

    const double step = longest(curve.newton_step);
    const std::vector<double> at = end.parameters.free_logs(end.found.model);
    if (step > 1e-5 && step < 0.05) {  // the exact Hessian sees a little farther than BFGS did
      std::vector<double> polished = at;
      for (std::size_t i = 0; i < at.size(); ++i) polished[i] += curve.newton_step[i];
      const InternalModel model = end.parameters.model(polished);
      if (evaluate_at(model) && end.likelihood.nll <= before.nll) {
        end.found.model = model;
        std::vector<double> left = end.parameters.pick(end.likelihood.gradient);
        for (std::size_t i = 0; i < left.size(); ++i)
          if (!end.inside[i]) left[i] = 0;  // its bound holds it, however steep the loss is there
        end.curvature.decrement = decrement(curve, left);
        if (is_minimum(end)) return true;
        end.found.inverse_hessian = curve.inverse_hessian;
      } else {
        end.likelihood = before;
      }
    }
    const bool may_go_on =
        round < kRounds && end.found.status != BfgsStatus::out_of_evaluations && !options.cut.move_inducing;
    if (is_minimum(end) || !may_go_on) return true;
    Candidate start = end.found;
    start.inverse_hessian = curve.inverse_hessian;
    if (!curve.downward.empty()) {
      constexpr double kKick = 0.3;
      std::vector<double> kicked = end.parameters.free_logs(start.model);
      for (std::size_t i = 0; i < kicked.size(); ++i) kicked[i] += kKick * curve.downward[i];
      start.model = end.parameters.model(kicked);
    }
    const int evaluations = by_differences ? options.max_evaluations / 4 : options.max_evaluations;
    const Candidate next = trainer.descend(stage, end.parameters, start, 1e-6, evaluations);
    const double gain = end.likelihood.nll - next.nll;
    if (!(gain > 0.1 * kConverged)) return true;
    end.found = next;
  }
}

/// The kernel with the periods that it starts from, in internal units: given ones, and the likeliest of
/// `periods`, which is made where one is not given.
Kernel with_periods(Kernel kernel, const InternalOptionals& fixed, const InternalOptionals& init,
                    const Series& series, std::optional<PeriodStarts>& periods) {
  Kernel before;  // terms that have their periods
  std::vector<std::size_t> open;
  for (std::size_t t = 0; t < kernel.terms.size(); ++t) {
    Term& term = kernel.terms[t];
    if (!term.has(&Term::period)) continue;
    const std::size_t at = kernel.parameter_index(t, &Term::period);
    const std::optional<double> start = fixed[at] ? fixed[at] : init[at];
    if (start) {
      term.period = *start;
      before.terms.push_back(term);
    } else {
      open.push_back(t);
    }
  }
  for (const std::size_t t : open) {
    if (!periods) periods.emplace(series);
    kernel.terms[t].period = periods->beside(before, kernel.terms[t]).front();
    before.terms.push_back(kernel.terms[t]);
  }
  return kernel;
}

/// A descent from a place that may be as good as singular, where it cannot begin: then from beside it, with
/// more noise, or on a fixed band with shorter terms.
Candidate descend_from_edge(Trainer& trainer, Stage& stage, const Parameters& parameters,
                            const Candidate& start, int max_evaluations) {
  constexpr int kSteps = 12;
  constexpr double kMoreNoise = 3;
  Candidate found = trainer.descend(stage, parameters, start, 1e-6, max_evaluations);
  if (std::isfinite(found.nll) || trainer.cancelled()) return found;
  Likelihood likelihood;
  Candidate stays, beside;
  stays.model = beside.model = start.model;
  stays.nll = trainer.evaluate(stage, start.model, false, likelihood);
  stays.status = BfgsStatus::stalled;
  for (int step = 0; step < kSteps && !std::isfinite(found.nll) && !trainer.cancelled(); ++step) {
    beside.model.noise *= kMoreNoise;
    beside.model = parameters.model(parameters.free_logs(beside.model));  // fixed values stay
    found = trainer.descend(stage, parameters, beside, 1e-6, max_evaluations);
  }
  if (!std::isfinite(found.nll) && !std::isfinite(stays.nll) && !trainer.cancelled()) {
    beside.model = start.model;
    trainer.retreat(stage, parameters, beside);
    found = trainer.descend(stage, parameters, beside, 1e-6, max_evaluations);
  }
  return stays.nll < found.nll ? stays : found;
}

/// A sum is never worse than its parts: where the kernel without one of its terms does as well, that term
/// gets no variance.  `points` is how many the parts were found on.
void prefer_parts(Trainer& trainer, Stage& stage, const std::vector<Candidate>& parts, Index points,
                  const InternalOptionals& fixed, int max_evaluations, Ending& end) {
  const DataScale scale = data_scale(stage.series(), end.found.model.mean);
  const double ratio = static_cast<double>(stage.series().size()) / static_cast<double>(points);
  for (Candidate part : parts) {
    if (trainer.cancelled()) return;
    Likelihood likelihood;
    const double nll = trainer.evaluate(stage, part.model, false, likelihood);
    Ending other{part, trained_parameters(part.model, fixed, scale), {}, {}, {}, kUnset};
    // Fitted to a part of the data, each parameter is off by a standard error of that part, which costs half
    // a nat there and `ratio` times as much on all of them; four times that is seldom exceeded.
    const double may_gain = points == stage.series().size()
                                ? 0.2
                                : 2 * ratio * static_cast<double>(other.parameters.free_count());
    if (std::isfinite(nll) && nll - may_gain > end.found.nll) continue;
    for (double& h : part.inverse_hessian) h /= ratio;
    other.found = descend_from_edge(trainer, stage, other.parameters, part, max_evaluations);
    if (other.found.nll <= end.found.nll + kLeastGain) end = other;
  }
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
    case FitStatus::rounding:
      return "rounding";
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
  const InternalCut cut = bandgp::to_internal(options.cut, units);
  const InternalOptionals fixed =
      to_internal(by_index(options.fix, options.kernel, "fix", true), options.kernel, units);
  Optionals given_init = by_index(options.init, options.kernel, "init", false);
  const std::vector<double> in_text = parameter_values(Model{options.kernel, kUnset, options.mean});
  for (std::size_t i = 0; i < in_text.size(); ++i) {
    if (!given_init[i] && std::isfinite(in_text[i]))
      given_init[i] = in_text[i];  // values in the kernel's text are starting values
  }
  const InternalOptionals init = to_internal(given_init, options.kernel, units);
  std::optional<PeriodStarts> periods;
  const Kernel kernel = with_periods(options.kernel, fixed, init, *series, periods);
  Trainer trainer(options, result);

  // Coarse to fine: look for the right valley on little data, then walk down on more and more of it.
  const bool coarse = options.coarse_to_fine && series->size() > kSmall;
  // The dense GP and what resembles it start from where the same GP ends in a band or its dual: on part of
  // the data, and at a fraction of the cost.
  const bool own_search = options.own_search || cut.method == Method::automatic ||
                          cut.method == Method::band || cut.method == Method::dual;
  const InternalCut loose = with_tolerance(own_search ? cut : InternalCut{}, kLooseTolerance);
  const InternalCut tight = with_tolerance(cut, std::min(cut.tolerance, kTightTolerance));
  int number = 0;
  SearchResult found_by_search;
  Candidate best;
  {
    const Series part = coarse ? part_of(*series, kCoarse) : Series{};
    Stage stage(coarse ? part : *series, options.mean, loose, max_bytes, options.threads, number++);
    const bool in_part = options.coarse_to_fine && options.kernel.terms.size() > 1 &&
                         stage.series().size() >= 2 * kPartForSums;
    const Series shorter = in_part ? part_of(stage.series(), kPartForSums) : Series{};
    if (in_part)
      stage.add_part(
          std::make_unique<Stage>(shorter, options.mean, loose, max_bytes, options.threads, stage.number()));
    found_by_search =
        search(trainer, stage, kernel, options.mean, fixed, init, periods ? &*periods : nullptr);
    best = found_by_search.best;
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
  const Index searched = looked_at;
  const DataScale scale = data_scale(*series, options.mean);
  const Parameters parameters = trained_parameters(best.model, fixed, scale);
  if (coarse && series->size() > 4 * kMiddle && !trainer.cancelled()) {
    const Series part = part_of(*series, kMiddle);
    Stage stage(part, options.mean, loose, max_bytes, options.threads, number++);
    if (cost_at(stage.evaluator(), best.model, options.cut).seconds_per_evaluation <=
        kLongSeconds) {  // else it saves nothing worth its own cost
      rescale(kMiddle);
      const Candidate found = trainer.descend(stage, parameters, best, 1e-4, options.max_evaluations);
      if (std::isfinite(found.nll)) best = found;
    }
  }

  Stage stage(*series, options.mean, tight, max_bytes, options.threads, number);
  if (!affordable(stage, best.model, options, static_cast<int>(parameters.free_count()), max_bytes, result)) {
    result.model = bandgp::to_user(best.model, units);
    result.nll = kUnset;
    result.seconds = trainer.seconds();
    return result;
  }
  rescale(series->size());
  if (coarse && cut.rule != Cut::Rule::tolerance) trainer.retreat(stage, parameters, best);
  Ending end{descend_from_edge(trainer, stage, parameters, best, options.max_evaluations),
             parameters,
             {},
             {},
             {},
             kUnset};
  if (!std::isfinite(end.found.nll)) end.found.model = best.model;
  prefer_parts(trainer, stage, found_by_search.parts, searched, fixed, options.max_evaluations, end);

  // The final word at θ: loss, gradient and certificate, all on the same cut.
  if (!settle(trainer, stage, options, end)) {
    explain_no_start(result, trainer, max_bytes);
    result.model = bandgp::to_user(end.found.model, units);
    result.seconds = trainer.seconds();
    return result;
  }
  const Candidate& found = end.found;
  Likelihood& likelihood = end.likelihood;
  const bool other_model = !is_same_model(cut.method);
  const bool at_minimum =
      is_minimum(end) || (found.status == BfgsStatus::converged && (!end.curvature.known || other_model));
  result.status = to_fit_status(at_minimum ? BfgsStatus::converged : found.status);
  if (!at_minimum && result.status == FitStatus::converged) result.status = FitStatus::stalled;
  if (result.status == FitStatus::converged && std::ranges::count(end.inside, false) > 0)
    result.status = FitStatus::at_bound;
  if (!(end.rounding <= largest_rounding(options))) result.status = FitStatus::rounding;
  // What the search saw at its own tolerance, on these data, must not have been far below.
  double seen = kUnset;
  if (!coarse && own_search && best.nll < likelihood.nll - 2 * kLooseTolerance &&
      result.status != FitStatus::rounding) {
    result.status = FitStatus::rounding;
    seen = nll_to_user(best.nll, *series);
  }
  if (trainer.cancelled()) result.status = FitStatus::cancelled;
  std::vector<double> errors = end.curvature.standard_errors;
  if (errors.empty()) errors.assign(end.parameters.free_count(), kUnset);
  result.model = bandgp::to_user(found.model, units);
  result.standard_errors = end.parameters.spread(errors);
  const std::vector<double> values = parameter_values(result.model);
  for (std::size_t i = 0; i < values.size(); ++i) result.standard_errors[i] *= values[i];  // from log θ to θ
  if (InducingInputs* const inducing = inducing_inputs(stage.representation())) {
    for (const double z : inducing->inputs()) result.cut.inducing_inputs.push_back(units.time_out(z));
  }
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
  set_outcome(result, outcome_of(result, end.parameters, end.inside, seen));
  return result;
}

std::shared_ptr<Posterior> FitResult::build_posterior(Index threads) const {
  if (dual) return std::make_shared<Posterior>(series, model, *dual);
  return std::make_shared<Posterior>(
      series, model, make_representation(bandgp::to_internal(cut, series->units), 0, threads));
}

CostEstimate estimate_cost(const Series& series, const Model& model, const Cut& cut, double max_bytes) {
  require_valid(model, series);
  Evaluator evaluator(series, model.mean,
                      make_representation(bandgp::to_internal(cut, series.units), max_bytes));
  return cost_at(evaluator, bandgp::to_internal(model, series.units), cut);
}

EvaluationResult evaluate(const Series& series, const Model& model, const Cut& cut, double max_bytes,
                          Index threads) {
  require_valid(model, series);
  Evaluator evaluator(series, model.mean,
                      make_representation(bandgp::to_internal(cut, series.units), max_bytes, threads));
  const InternalModel internal = bandgp::to_internal(model, series.units);
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
  if (gradient_is_doubtful(result.likelihood))
    gradient_by_differences(evaluator, internal, result.likelihood);
  result.likelihood = to_user(result.likelihood, series);
  result.rounding = rounding_at(evaluator, internal);
  return result;
}

}  // namespace bandgp
