// SPDX-License-Identifier: Apache-2.0
#include "bandgp/fit/trainer.hpp"

#include <algorithm>
#include <cmath>

#include "bandgp/fit/starts.hpp"
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

/// The ranges of all parameters, in logs.
struct Box {
  std::vector<double> lower, upper;
  Box(const Model& model, const DataScale& scale) {
    for (const auto& parameter : parameters(model)) {
      const Range range = range_on(scale, *parameter.kind);
      lower.push_back(std::log(range.lower));
      upper.push_back(std::log(range.upper));
    }
  }
};

/// Inducing inputs as the optimiser sees them, where they may move: in length-scales of the start, so that
/// steps are of one size with those of the logs.
class MovingInputs {
 public:
  MovingInputs(Stage& stage, const Model& start, bool move, Trainer& trainer)
      : representation_(stage.representation()), unit_(start.kernel.terms.front().lengthscale) {
    Likelihood likelihood;
    if (move && representation_.inducing_inputs().empty())
      (void)trainer.evaluate(stage, start, false, likelihood);  // puts them in their places
    if (move) inputs_ = representation_.inducing_inputs();
  }
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
    for (std::size_t j = 0; j < out.size(); ++j) out[j] = unit_ * representation_.inducing_gradient()[j];
  }

 private:
  Representation& representation_;
  double unit_;
  std::span<double> inputs_;
};

}  // namespace

Stage::Stage(const Series& series, Mean mean, const Cut& cut, double max_bytes, Index threads, int number)
    : evaluator_(std::make_unique<Evaluator>(series, mean, make_representation(cut, max_bytes, threads))),
      number_(number) {}

Trainer::Trainer(const FitOptions& options, FitResult& result) : options_(options), result_(result) {}

double Trainer::seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
}

double Trainer::evaluate(Stage& stage, const Model& model, bool with_gradient, Likelihood& out) {
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

Candidate Trainer::descend(Stage& stage, const Parameters& parameters, const Candidate& start,
                           double step_tolerance, int max_evaluations) {
  if (parameters.free_count() == 0) {
    Likelihood likelihood;
    const double nll = evaluate(stage, start.model, false, likelihood);
    return {start.model, nll, {}, std::isfinite(nll) ? BfgsStatus::converged : BfgsStatus::stalled};
  }
  Likelihood likelihood;
  const MovingInputs inputs(stage, start.model, options_.cut.move_inducing, *this);
  const std::size_t logs = parameters.free_count();
  const Objective objective = [&](std::span<const double> x, std::span<double> gradient) {
    inputs.place(x.subspan(logs));
    const double nll = evaluate(stage, parameters.model(x.first(logs)), true, likelihood);
    if (std::isfinite(nll)) {
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
  if (x.size() == logs) options.inverse_hessian = start.inverse_hessian;
  options.step_tolerance = step_tolerance;
  options.value_tolerance = 1e-3 * step_tolerance;  // nats
  options.max_evaluations = max_evaluations;
  options.cancelled = options_.cancelled;
  const BfgsResult result = minimize(objective, x, options);
  inputs.place(std::span(result.x).subspan(logs));
  return {parameters.model(std::span(result.x).first(logs)), result.value,
          x.size() == logs ? result.inverse_hessian : std::vector<double>{}, result.status};
}

void Trainer::retreat(Stage& stage, const Parameters& parameters, Candidate& candidate) {
  Likelihood likelihood;
  Model model = candidate.model;
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
                                      const Model& model) const {
  const Box box(model, data_scale(stage.series(), model.mean));
  const std::vector<double> x = parameters.free_logs(model), lower = parameters.pick(box.lower),
                            upper = parameters.pick(box.upper);
  std::vector<bool> inside(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) inside[i] = x[i] > lower[i] + 1e-3 && x[i] < upper[i] - 1e-3;
  return inside;
}

Candidate Trainer::best_of(Stage& stage, const Parameters& parameters, std::vector<Model> starts,
                           std::size_t tries, int head_start) {
  constexpr double kStepTolerance = 1e-4;
  std::vector<Candidate> candidates;
  Likelihood likelihood;
  for (const Model& model : starts) {
    if (cancelled() && !candidates.empty()) break;  // the first start is looked at in any case
    Candidate start;
    start.model = parameters.model(parameters.free_logs(model));  // fixed values in place
    if (starts.size() == 1) {
      start.nll = 0;  // nothing to judge
    } else if (head_start > 0 && !cancelled()) {
      start = descend(stage, parameters, start, kStepTolerance, head_start);
    } else {
      start.nll = evaluate(stage, start.model, false, likelihood);
    }
    candidates.push_back(start);
  }
  std::ranges::stable_sort(candidates, {}, &Candidate::nll);
  if (candidates.size() > tries) candidates.resize(tries);
  Candidate best;
  if (!starts.empty()) best.model = starts.front();
  for (const Candidate& start : candidates) {
    if (starts.size() > 1 && start.nll < best.nll) best = start;
  }
  for (const Candidate& start : candidates) {
    if (!std::isfinite(start.nll) || cancelled()) continue;
    const Candidate found =
        descend(stage, parameters, start, kStepTolerance, std::min(60, options_.max_evaluations));
    if (found.nll <= best.nll) best = found;
  }
  return best;
}

}  // namespace bandgp
