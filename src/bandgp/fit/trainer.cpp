// SPDX-License-Identifier: Apache-2.0
#include "bandgp/fit/trainer.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "bandgp/fit/starts.hpp"
#include "bandgp/methods/inducing_inputs.hpp"
#include "bandgp/methods/make_representation.hpp"

namespace bandgp {
namespace {

/// A parameter's range, which is relative to the data, in internal units.
Range range_on(const DataScale& scale, const Parameter& parameter) {
  const auto [lower, upper] = parameter.range;
  switch (parameter.unit) {
    case Unit::variance: {
      const double variance = scale.variance > 0 ? scale.variance : 1;
      return {lower * variance, upper * variance};
    }
    case Unit::time:
      return {lower * scale.gap, upper * std::max(scale.span, scale.gap)};
    case Unit::none:
      break;
  }
  return parameter.range;
}

/// The range of a period: from two spacings to the span, where data tell of it; beyond that the range of
/// other times, where the model is there already because it was given such a start.
Range period_range(const DataScale& scale, const Parameter& parameter, double period) {
  const Range range{2 * scale.gap, std::max(scale.span, 2 * scale.gap)};
  const bool holds = period >= range.lower * (1 - 1e-9) && period <= range.upper * (1 + 1e-9);
  return holds ? range : range_on(scale, parameter);
}

/// The ranges of all parameters, in logs.
struct Box {
  std::vector<double> lower, upper;
  Box(const InternalModel& model, const DataScale& scale) {
    for (const auto& parameter : parameters(model)) {
      const Range range = parameter.kind->member == &Term::period
                              ? period_range(scale, *parameter.kind, *parameter.value)
                              : range_on(scale, *parameter.kind);
      lower.push_back(std::log(range.lower));
      upper.push_back(std::log(range.upper));
    }
  }
};

/// The logs of all parameters, terms of one form in the order of their memories: se + se with its terms
/// exchanged is the same model.
std::vector<double> logs_in_order(InternalModel model) {
  std::ranges::stable_sort(model.kernel.terms, [](const Term& a, const Term& b) {
    return std::tuple(a.shape.index(), a.factor.index(), memory(a)) <
           std::tuple(b.shape.index(), b.factor.index(), memory(b));
  });
  std::vector<double> values = parameter_values(model);
  for (double& value : values) value = std::log(value);
  return values;
}

/// Inducing inputs as the optimiser sees them, where they may move: in length-scales of the start, so that
/// steps are of one size with those of the logs.
class MovingInputs {
 public:
  MovingInputs(Stage& stage, const InternalModel& start, bool move, Trainer& trainer)
      : inducing_(move ? inducing_inputs(stage.representation()) : nullptr),
        unit_(shortest_time(start.kernel.terms.front())) {
    if (inducing_ == nullptr) return;
    Likelihood likelihood;
    if (inducing_->inputs().empty())
      (void)trainer.evaluate(stage, start, false, likelihood);  // puts them in their places
    inputs_ = inducing_->inputs();
  }
  bool any() const { return !inputs_.empty(); }
  void append_to(std::vector<double>& x, BfgsOptions& options) const {
    for (const double z : inputs_) {
      x.push_back(z / unit_);
      options.lower.push_back(-std::numeric_limits<double>::infinity());
      options.upper.push_back(std::numeric_limits<double>::infinity());
    }
  }
  void place(std::span<const double> x) const {
    for (std::size_t j = 0; j < x.size(); ++j) inputs_[j] = unit_ * x[j];
  }
  void gradient(std::span<double> out) const {
    for (std::size_t j = 0; j < out.size(); ++j) out[j] = unit_ * inducing_->input_gradient()[j];
  }

 private:
  InducingInputs* inducing_;  // null where they stay where they are
  double unit_;
  std::span<double> inputs_;
};

}  // namespace

Stage::Stage(const Series& series, Mean mean, const InternalCut& cut, double max_bytes, Index threads,
             int number)
    : cut_(cut),
      evaluator_(std::make_unique<Evaluator>(series, mean, make_representation(cut, max_bytes, threads))),
      number_(number) {}

Trainer::Trainer(const FitOptions& options, FitResult& result) : options_(options), result_(result) {}

double Trainer::seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
}

double Trainer::evaluate(Stage& stage, const InternalModel& model, bool with_gradient, Likelihood& out) {
  const auto failure = stage.evaluator().evaluate(model, with_gradient, out);
  double nll = out.nll;
  if (failure) {
    nll = std::numeric_limits<double>::infinity();
    const bool too_large = failure->kind == Failure::Kind::too_large;
    ++(too_large ? result_.rejected_too_large : result_.rejected_not_positive_definite);
    if (too_large) smallest_refused_ = std::min(smallest_refused_, failure->bytes);
  } else if (!std::isfinite(nll)) {
    nll = std::numeric_limits<double>::infinity();
  }
  ++result_.evaluations;
  const Series& series = stage.series();
  TraceEntry entry{result_.evaluations,
                   stage.number(),
                   series.size(),
                   nll_to_user(nll, series),
                   parameter_values(to_user(model, series.units)),
                   stage.representation().bandwidth(),
                   seconds(),
                   shapes_text(model.kernel)};
  if (options_.progress) options_.progress(entry);
  result_.trace.push_back(std::move(entry));
  return nll;
}

double Trainer::evaluate_profiled(Stage& stage, InternalModel& model, Likelihood& out) {
  const double nll = evaluate(stage, model, false, out);
  if (!std::isfinite(nll)) return nll;
  // With all variances s times as large the loss is ½q/s + ½n log s + …, least at s = q/n.
  const auto n = static_cast<double>(stage.series().observations());
  const double s = std::clamp(out.q / n, 1e-6, 1e6);
  for (const auto& parameter : bandgp::parameters(model)) {
    if (parameter.kind->unit == Unit::variance) *parameter.value *= s;
  }
  return nll + 0.5 * (out.q / s - out.q + n * std::log(s));
}

bool Trainer::scale_is_free(const Stage& stage, const Parameters& parameters) const {
  const Series& series = stage.series();
  return series.variance.empty() && !series.has_ties() && exact_model() &&
         parameters.fixed_variance() <= kVanishedVariance * data_scale(series, parameters.mean()).variance;
}

Candidate Trainer::descend(Stage& stage, const Parameters& parameters, const Candidate& start,
                           double step_tolerance, int max_evaluations) {
  if (parameters.free_count() == 0) {
    Likelihood likelihood;
    const double nll = evaluate(stage, start.model, false, likelihood);
    Candidate only = start;
    only.nll = nll;
    only.inverse_hessian.clear();
    only.status = std::isfinite(nll) ? BfgsStatus::converged : BfgsStatus::stalled;
    return only;
  }
  Likelihood likelihood;
  const MovingInputs inputs(stage, start.model, options_.cut.move_inducing, *this);
  const std::size_t logs = parameters.free_count();
  // Where the condition is large, so are the differences between the slopes in θ's directions, and most of
  // them are due to the common scale of the variances: its best value is known, and is put in place.
  const bool profile = start.doubtful && !inputs.any() && scale_is_free(stage, parameters);
  const auto loss = [&](std::span<const double> x) {
    InternalModel model = parameters.model(x);
    return profile ? evaluate_profiled(stage, model, likelihood) : evaluate(stage, model, false, likelihood);
  };
  bool by_differences = false;
  Differences differences;
  if (start.difference_step.size() == logs) differences.step = start.difference_step;
  const Objective objective = [&](std::span<const double> x, std::span<double> gradient) {
    inputs.place(x.subspan(logs));
    InternalModel model = parameters.model(x.first(logs));
    double nll = profile ? evaluate_profiled(stage, model, likelihood)
                         : evaluate(stage, model, !by_differences, likelihood);
    if (!std::isfinite(nll)) return nll;
    const bool doubtful = gradient_is_doubtful(likelihood) && !inputs.any();
    if ((profile || by_differences) && !doubtful) nll = evaluate(stage, model, true, likelihood);
    by_differences = doubtful;
    if (doubtful) {
      if (!difference(loss, x, nll, options_.cancelled, differences))
        return std::numeric_limits<double>::infinity();
      std::ranges::copy(differences.gradient, gradient.begin());
    } else {
      std::ranges::copy(parameters.pick(likelihood.gradient), gradient.begin());
      inputs.gradient(gradient.subspan(logs));
    }
    return nll;
  };
  const Box box(start.model, data_scale(stage.series(), start.model.mean));
  BfgsOptions options;
  options.lower = parameters.pick(box.lower);
  options.upper = parameters.pick(box.upper);
  std::vector<double> x = parameters.free_logs(start.model);
  inputs.append_to(x, options);
  const bool same_variables = start.inverse_hessian.size() == x.size() * x.size();
  if (!inputs.any() && start.profiled == profile && same_variables)
    options.inverse_hessian = start.inverse_hessian;
  options.step_tolerance = step_tolerance;
  options.value_tolerance = 1e-3 * step_tolerance;  // nats
  // A slope is small beside √n, about what the log of a parameter that n points determine has one standard
  // error away from the minimum.
  options.gradient_tolerance = std::sqrt(step_tolerance * static_cast<double>(stage.series().size()));
  options.max_evaluations = max_evaluations;
  // A gradient by differences takes two evaluations of the loss for each parameter.
  const int of_differences = 2 * static_cast<int>(logs) + 1;
  options.exhausted = [&, begin = result_.evaluations] {
    return result_.evaluations - begin >= of_differences * max_evaluations;
  };
  options.cancelled = options_.cancelled;
  options.rounding = [&](std::span<const double> at) {
    const InternalModel model = parameters.model(at.first(logs));
    if (!std::isfinite(evaluate(stage, model, false, likelihood))) return 0.0;
    return stage.evaluator().rounding();
  };
  const BfgsResult result = minimize(objective, x, options);
  inputs.place(std::span(result.x).subspan(logs));
  Candidate found{parameters.model(std::span(result.x).first(logs)),
                  result.value,
                  inputs.any() ? std::vector<double>{} : result.inverse_hessian,
                  result.status,
                  start.family,
                  by_differences,
                  profile,
                  differences.step};
  if (profile && std::isfinite(result.value)) {
    InternalModel scaled = found.model;
    (void)evaluate_profiled(stage, scaled, likelihood);
    const double nll = evaluate(stage, scaled, false, likelihood);  // rounding may make it singular there
    if (std::isfinite(nll)) found.model = scaled;
    found.nll = std::isfinite(nll) ? nll : evaluate(stage, found.model, false, likelihood);
  }
  return found;
}

void Trainer::retreat(Stage& stage, const Parameters& parameters, Candidate& candidate) {
  Likelihood likelihood;
  InternalModel model = candidate.model;
  for (int step = 0; step < 40 && !cancelled(); ++step) {
    if (std::isfinite(evaluate(stage, model, false, likelihood))) {
      if (step == 0) return;
      candidate = Candidate();  // what was learned of the curvature was learned elsewhere
      candidate.model = model;
      return;
    }
    for (Term& term : model.kernel.terms) term.lengthscale *= 0.95;
    model.noise *= 1.1;
    model = parameters.model(parameters.free_logs(model));  // fixed values stay
  }
}

std::vector<bool> Trainer::inside_box(const Stage& stage, const Parameters& parameters,
                                      const InternalModel& model) const {
  const Box box(model, data_scale(stage.series(), model.mean));
  const std::vector<double> x = parameters.free_logs(model), lower = parameters.pick(box.lower),
                            upper = parameters.pick(box.upper);
  std::vector<bool> inside(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) inside[i] = x[i] > lower[i] + 1e-3 && x[i] < upper[i] - 1e-3;
  return inside;
}

Candidate Trainer::look_at(Stage& stage, const Parameters& parameters, const InternalModel& start,
                           bool profile) {
  Candidate candidate;
  const Box box(start, data_scale(stage.series(), start.mean));
  const std::vector<double> lower = parameters.pick(box.lower), upper = parameters.pick(box.upper);
  std::vector<double> x = parameters.free_logs(start);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = std::clamp(x[i], lower[i], upper[i]);
  candidate.model = parameters.model(x);  // fixed values in place
  Likelihood likelihood;
  candidate.nll = profile ? evaluate_profiled(stage, candidate.model, likelihood)
                          : evaluate(stage, candidate.model, false, likelihood);
  candidate.doubtful = std::isfinite(candidate.nll) && gradient_is_doubtful(likelihood);
  return candidate;
}

std::vector<Candidate> Trainer::race(Stage& stage, const Parameters& parameters,
                                     std::vector<Candidate> starts, std::span<const Round> rounds) {
  constexpr double kStepTolerance = 1e-4, kSamePlace = 0.02, kSameValue = 1e-4;
  std::erase_if(starts, [](const Candidate& start) { return !std::isfinite(start.nll); });
  std::ranges::stable_sort(starts, {}, &Candidate::nll);
  const auto same_place = [&](const Candidate& a, const Candidate& b) {
    const bool both_ended = a.status == BfgsStatus::converged && b.status == BfgsStatus::converged;
    if (both_ended && std::abs(a.nll - b.nll) < kSameValue) return true;
    const std::vector<double> x = logs_in_order(a.model), y = logs_in_order(b.model);
    return std::ranges::equal(x, y, [](double u, double v) { return std::abs(u - v) < kSamePlace; });
  };
  for (const Round& round : rounds) {
    for (Candidate& start : starts) {
      if (cancelled()) break;
      if (start.status == BfgsStatus::converged) continue;
      const Candidate found = descend(stage, parameters, start, kStepTolerance,
                                      std::min(round.evaluations, options_.max_evaluations));
      if (found.nll <= start.nll + 1e-9 * std::abs(start.nll)) start = found;
    }
    std::ranges::stable_sort(starts, {}, &Candidate::nll);
    std::vector<Candidate> kept;
    for (const bool by_family : {true, false}) {
      for (const Candidate& start : starts) {
        const auto of_family = std::ranges::count(kept, start.family, &Candidate::family);
        const bool wanted =
            by_family ? of_family < static_cast<std::ptrdiff_t>(round.of_family) : kept.size() < round.keep;
        if (wanted && std::ranges::none_of(kept, [&](const auto& k) { return same_place(k, start); }))
          kept.push_back(start);
      }
    }
    starts = std::move(kept);
    std::ranges::stable_sort(starts, {}, &Candidate::nll);
  }
  return starts;
}

}  // namespace bandgp
