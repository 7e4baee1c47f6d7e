// SPDX-License-Identifier: Apache-2.0
#include "bandgp/fit/search.hpp"

#include <algorithm>
#include <cmath>

#include "bandgp/fit/starts.hpp"

namespace bandgp {
namespace {

/// Ratios of noise to variance that are looked at for each length-scale, as far down as the loss falls.
constexpr double kNoiseRatios[] = {1, 0.1, 0.01, 1e-4, 1e-6, 1e-8, 1e-10, 1e-12};

/// No start has more than this much of the data's variance.
constexpr double kMostVariance = 100;

/// Everything about the model that is looked for.
struct Task {
  Trainer& trainer;
  Stage& stage;
  const Kernel& kernel;
  Mean mean;
  const InternalOptionals &fixed, &init;
  PeriodStarts* periods;
  DataScale scale;
  Parameters parameters;

  Task(Trainer& t, Stage& s, const Kernel& k, Mean m, const InternalOptionals& f, const InternalOptionals& i,
       PeriodStarts* p)
      : trainer(t),
        stage(s),
        kernel(k),
        mean(m),
        fixed(f),
        init(i),
        periods(p),
        scale(data_scale(s.series(), m)),
        parameters(k, m, f) {}

  bool all_given() const {
    for (std::size_t i = 0; i < fixed.size(); ++i) {
      if (!fixed[i] && !init[i]) return false;
    }
    return true;
  }
  bool any_init() const {
    return std::ranges::any_of(init, [](const auto& value) { return value.has_value(); });
  }
  InternalModel with_values(InternalModel model, const InternalOptionals& values) const {
    const auto all = bandgp::parameters(model);
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (values[i]) *all[i].value = *values[i];
    }
    return model;
  }
  double longest_start(std::size_t term) const {
    return bandgp::longest_start(kernel, kernel.terms[term], stage.cut(), scale);
  }
  bool scale_is_free() const { return trainer.scale_is_free(stage, parameters); }
  /// The kernel with the periods that one of its terms may start from beside these others; as it is where the
  /// term has no period, or a given one.
  std::vector<Kernel> forms(std::size_t term, const Kernel& others) const {
    if (periods == nullptr || !kernel.terms[term].has(&Term::period)) return {kernel};
    const std::size_t at = kernel.parameter_index(term, &Term::period);
    if (fixed[at] || init[at]) return {kernel};
    Kernel alive = others;
    std::erase_if(alive.terms, [&](const Term& other) { return has_vanished(other, scale); });
    std::vector<Kernel> all;
    for (const double period : periods->beside(alive, kernel.terms[term])) {
      all.push_back(kernel);
      all.back().terms[term].period = period;
    }
    return all;
  }
};

/// For a kernel of one term, with its period: the best ratio of noise to variance for each length-scale of a
/// grid, with the given values in place.
std::vector<Candidate> look_over(const Task& task, const Kernel& form, const InternalOptionals& given) {
  const bool profile = task.scale_is_free() &&
                       std::ranges::none_of(given, [](const auto& value) { return value.has_value(); });
  std::vector<Candidate> found;
  InternalModel last;
  bool any = false;
  for (const double lengthscale : grid_lengthscales(task.scale, task.longest_start(0))) {
    Candidate best;
    int rises = 0;
    for (const double ratio : kNoiseRatios) {
      if (task.trainer.cancelled() && any) break;  // the first start is looked at in any case
      const InternalModel start =
          task.with_values(one_term_start(form, task.mean, task.scale, lengthscale, ratio), given);
      const std::vector<double> place = task.parameters.free_logs(start);
      if (any && place == task.parameters.free_logs(last)) continue;  // given values leave nothing to vary
      last = start;
      any = true;
      const Candidate candidate = task.trainer.look_at(task.stage, task.parameters, start, profile);
      if (candidate.nll < best.nll) {
        best = candidate;
        rises = 0;
      } else if (++rises == 2) {
        break;
      }
      // With the noise that the data have, and still less of the variance: a curve far larger than the data.
      if (candidate.model.kernel.variance() > kMostVariance * task.scale.variance) break;
    }
    if (std::isfinite(best.nll)) found.push_back(best);
  }
  return found;
}

/// Once the noise is far below what the curve leaves unexplained the loss hardly depends on it, and nothing
/// leads back to a larger one that may be better: looks at those.
Candidate with_more_noise(const Task& task, Candidate found) {
  constexpr double kLittle = 1e-5;
  const double variance = found.model.kernel.variance();
  const std::vector<std::optional<double>>& fixed = task.fixed;
  if (fixed.back() || !(found.model.noise < kLittle * variance)) return found;
  Candidate best = found;
  int unfelt = 0;
  for (double ratio = 1e-3; ratio * variance > 3 * found.model.noise && ratio > 1e-13; ratio *= 0.1) {
    if (task.trainer.cancelled()) return best;
    InternalModel model = found.model;
    model.noise = ratio * variance;
    const Candidate other = task.trainer.look_at(task.stage, task.parameters, model, false);
    if (other.nll < best.nll - 1e-6 * std::abs(best.nll) - 1e-3) best = other;
    unfelt = std::abs(other.nll - found.nll) < 1e-3 ? unfelt + 1 : 0;
    if (unfelt == 2) break;  // over a factor of ten, nor will less be
  }
  if (!(best.nll < found.nll)) return found;
  const Candidate lower = task.trainer.descend(task.stage, task.parameters, best, 1e-4, 60);
  return lower.nll < best.nll ? lower : best;
}

/// Those that are better than their neighbours in the list.
std::vector<Candidate> valleys(const std::vector<Candidate>& list) {
  std::vector<Candidate> lowest;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const bool below_last = i == 0 || list[i].nll <= list[i - 1].nll;
    const bool below_next = i + 1 == list.size() || list[i].nll < list[i + 1].nll;
    if (below_last && below_next) lowest.push_back(list[i]);
  }
  return lowest;
}

Candidate search_one_term(const Task& task) {
  constexpr Trainer::Round kRounds[] = {{15, 2}, {60, 1}};
  constexpr std::size_t kMostValleys = 3;
  std::vector<Candidate> starts;
  const auto append_best = [&](std::vector<Candidate> found, std::size_t most) {
    std::ranges::stable_sort(found, {}, &Candidate::nll);
    if (found.size() > most) found.resize(most);
    starts.insert(starts.end(), found.begin(), found.end());
  };
  for (const Kernel& form : task.forms(0, {})) {
    if (task.any_init()) {
      append_best(look_over(task, form, task.init), 2);
      if (task.trainer.cancelled() && !starts.empty()) return starts.front();
    }
    append_best(valleys(look_over(task, form, InternalOptionals(task.init.size()))), kMostValleys);
    if (task.trainer.cancelled() && !starts.empty()) break;
  }
  if (starts.empty()) {  // nothing of the grid has a value: the paper's start may
    const InternalModel start = task.with_values(paper_start(task.kernel, task.mean, task.scale), task.init);
    starts.push_back(task.trainer.look_at(task.stage, task.parameters, start, false));
    if (!std::isfinite(starts.front().nll)) return starts.front();
  }
  const std::vector<Candidate> kept =
      task.trainer.race(task.stage, task.parameters, std::move(starts), kRounds);
  return with_more_noise(task, kept.empty() ? Candidate() : kept.front());
}

/// Noise that the loss does not feel tells nothing of the noise beside one term more, and with hardly any
/// noise evaluations are expensive and their gradients doubtful: the largest one that costs next to nothing.
double noise_for_starts(const Task& task, const Candidate& smaller) {
  constexpr double kNextToNothing = 0.05;  // nats
  const double variance = smaller.model.kernel.variance();
  if (task.fixed.back()) return smaller.model.noise;
  for (const double ratio : {1e-4, 1e-6, 1e-8, 1e-10}) {
    if (ratio * variance < 10 * smaller.model.noise || task.trainer.cancelled()) break;
    InternalModel model = smaller.model;
    model.noise = ratio * variance;
    Likelihood likelihood;
    if (task.trainer.evaluate(task.stage, model, false, likelihood) < smaller.nll + kNextToNothing)
      return model.noise;
  }
  return smaller.model.noise;
}

/// What a look at many starts for a sum found.
struct Finalists {
  std::vector<Candidate> sums;   // the best first
  std::vector<Candidate> parts;  // see SearchResult
};

Finalists look_for_sum(const Task& task, std::span<const Trainer::Round> rounds) {
  const std::size_t terms = task.kernel.terms.size();
  const bool profile = task.scale_is_free() && !task.any_init();
  Finalists result;
  std::vector<Candidate> starts;
  std::vector<std::size_t> seen;                 // terms that were left out
  for (std::size_t term = terms; term-- > 0;) {  // leaving out either of two equal terms is the same
    const Term& left_out = task.kernel.terms[term];
    const bool given = task.fixed[task.kernel.first_parameter(term)].has_value();
    const bool same = std::ranges::any_of(
        seen, [&](std::size_t other) { return task.kernel.terms[other].same_form(left_out); });
    if (same && !task.any_init() && !given) continue;
    if (task.trainer.cancelled() && !result.parts.empty()) break;
    seen.push_back(term);
    Kernel smaller = task.kernel;
    smaller.terms.erase(smaller.terms.begin() + static_cast<std::ptrdiff_t>(term));
    const Candidate base =
        search(task.trainer, task.stage, smaller, task.mean, without_term(task.fixed, task.kernel, term),
               without_term(task.init, task.kernel, term), task.periods)
            .best;
    if (!std::isfinite(base.nll)) continue;
    const std::vector<Kernel> forms = task.forms(term, base.model.kernel);
    if (!given) {
      Candidate part = base;
      part.model = with_vanishing_term(base.model, forms.front(), term, task.scale);
      result.parts.push_back(part);
    }
    InternalModel origin = base.model;
    origin.noise = noise_for_starts(task, base);
    for (const Kernel& form : forms) {
      for (const std::vector<InternalModel>& group :
           split_starts(origin, form, term, task.scale, task.longest_start(term))) {
        Candidate best;
        for (const InternalModel& model : group) {
          if (task.trainer.cancelled() && !(result.parts.empty() && starts.empty())) break;
          const Candidate candidate =
              task.trainer.look_at(task.stage, task.parameters, task.with_values(model, task.init), profile);
          if (candidate.nll < best.nll) best = candidate;
        }
        best.family = term;
        if (std::isfinite(best.nll)) starts.push_back(best);
      }
    }
  }
  if (starts.empty() || !task.trainer.cancelled()) {
    const InternalModel start = task.with_values(paper_start(task.kernel, task.mean, task.scale), task.init);
    if (result.parts.empty() || !task.trainer.cancelled())
      starts.push_back(task.trainer.look_at(task.stage, task.parameters, start, false));
  }
  result.sums = task.trainer.race(task.stage, task.parameters, std::move(starts), rounds);
  return result;
}

double points_ratio(const Task& task, Index points) {
  return static_cast<double>(task.stage.series().size()) / static_cast<double>(points);
}

/// What a descent on the whole series may gain, nats.  Fitted to a part of the data, each parameter is off by
/// a standard error of that part, which costs half a nat there and the ratio of the lengths as much on all of
/// them; four times that is seldom exceeded.
double may_gain(const Task& task, Index points, const Parameters& parameters) {
  return 2 * points_ratio(task, points) * static_cast<double>(parameters.free_count());
}

/// What was found on a part of the series, with its loss on all of it.
void bring_from_part(const Task& task, Index points, Candidate& candidate) {
  const double ratio = points_ratio(task, points);
  for (double& h : candidate.inverse_hessian) h /= ratio;  // the loss grows with n, and its curvature with it
  Likelihood likelihood;
  candidate.nll = task.trainer.evaluate(task.stage, candidate.model, false, likelihood);
  candidate.doubtful = std::isfinite(candidate.nll) && gradient_is_doubtful(likelihood);
  candidate.status = BfgsStatus::out_of_evaluations;
}

/// The parts of a sum, found on a part of the series, on all of it; without those that are far above `best`.
std::vector<Candidate> parts_on_all(const Task& task, const std::vector<Candidate>& parts, Index points,
                                    double best) {
  std::vector<Candidate> kept;
  for (Candidate part : parts) {
    bring_from_part(task, points, part);
    const Parameters trained = trained_parameters(part.model, task.fixed, task.scale);
    const bool far_above = part.nll - may_gain(task, points, trained) > best;
    if (!std::isfinite(part.nll) || (far_above && !task.trainer.cancelled())) continue;
    if (!task.trainer.cancelled()) {
      const Candidate lower = task.trainer.descend(task.stage, trained, part, 1e-4, 60);
      if (lower.nll < part.nll) part = lower;
    }
    kept.push_back(part);
  }
  return kept;
}

/// Many starts, on a part of the series where it has one, and the best few of them on all of it.
Finalists find_sum(const Task& task) {
  constexpr Trainer::Round kAllAtOnce[] = {{5, 10, 4}, {10, 5, 2}, {20, 3}, {60, 1}};
  constexpr Trainer::Round kOnPart[] = {{5, 8, 3}, {10, 4, 2}, {20, 3, 1}};
  constexpr Trainer::Round kOnAll[] = {{8, 2}, {60, 1}};
  Stage* part = task.stage.part();
  if (part == nullptr) return look_for_sum(task, kAllAtOnce);
  const Task on_part(task.trainer, *part, task.kernel, task.mean, task.fixed, task.init, task.periods);
  Finalists found = look_for_sum(on_part, kOnPart);
  const Index points = part->series().size();
  for (Candidate& sum : found.sums) bring_from_part(task, points, sum);
  found.sums = task.trainer.race(task.stage, task.parameters, std::move(found.sums), kOnAll);
  const double best = found.sums.empty() ? std::numeric_limits<double>::infinity() : found.sums.front().nll;
  found.parts = parts_on_all(task, found.parts, points, best);
  return found;
}

SearchResult search_sum(const Task& task) {
  Finalists found = find_sum(task);
  SearchResult result{found.sums.empty() ? Candidate() : found.sums.front(), std::move(found.parts)};
  if (std::isfinite(result.best.nll)) result.best = with_more_noise(task, result.best);
  for (const Candidate& part : result.parts) {
    if (!(result.best.nll < part.nll - kLeastGain)) result.best = part;
  }
  if (!std::isfinite(result.best.nll) && result.best.model.kernel.terms.empty())
    result.best.model = paper_start(task.kernel, task.mean, task.scale);
  return result;
}

/// Whether a free variance is so small that the loss hardly depends on it: flat in its log, like a minimum,
/// whether the data support the term or not.
bool on_plateau(const Task& task, const Candidate& candidate) {
  constexpr double kLittle = 1e-5;
  if (!std::isfinite(candidate.nll)) return false;
  const auto all = bandgp::parameters(candidate.model);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const bool is_term = all[i].kind->unit == Unit::variance && all[i].kind != &noise_parameter();
    if (is_term && !task.fixed[i] && *all[i].value < kLittle * task.scale.variance) return true;
  }
  return false;
}

}  // namespace

SearchResult search(Trainer& trainer, Stage& stage, const Kernel& kernel, Mean mean,
                    const InternalOptionals& fixed, const InternalOptionals& init, PeriodStarts* periods) {
  const Task task(trainer, stage, kernel, mean, fixed, init, periods);
  const auto from_many_starts = [&](const Task& given) {
    return kernel.terms.size() == 1 ? SearchResult{search_one_term(given), {}} : search_sum(given);
  };
  SearchResult found;
  if (task.all_given()) {
    constexpr int kEvaluations = 60;
    Candidate start;
    start.model = task.with_values(task.with_values(paper_start(kernel, mean, task.scale), init), fixed);
    found.best = trainer.descend(stage, task.parameters, start, 1e-4, kEvaluations);
  } else {
    found = from_many_starts(task);
  }
  if (!task.any_init() || !on_plateau(task, found.best) || trainer.cancelled()) return found;
  const InternalOptionals none(init.size());
  SearchResult other = from_many_starts(Task(trainer, stage, kernel, mean, fixed, none, periods));
  return other.best.nll < found.best.nll ? other : found;
}

Parameters trained_parameters(const InternalModel& model, const InternalOptionals& fixed,
                              const DataScale& scale) {
  InternalOptionals held = fixed;
  const std::vector<double> values = parameter_values(model);
  for (std::size_t t = 0; t < model.kernel.terms.size(); ++t) {
    if (!has_vanished(model.kernel.terms[t], scale)) continue;
    const std::size_t first = model.kernel.first_parameter(t);
    for (std::size_t i = first; i < first + model.kernel.terms[t].parameters().size(); ++i)
      held[i] = values[i];
  }
  return {model.kernel, model.mean, held};
}

}  // namespace bandgp
