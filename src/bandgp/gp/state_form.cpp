// SPDX-License-Identifier: Apache-2.0
#include "bandgp/gp/state_form.hpp"

#include <type_traits>
#include <variant>

#include "bandgp/kernel/harmonics.hpp"

namespace bandgp {

namespace {

/// The shapes whose states make_state_form() knows.  One more with states needs a form here and loops in
/// markov/; without them it must not compile.
template <class Shape>
constexpr bool has_form =
    !HasStates<Shape> || std::is_same_v<Shape, Matern12> || std::is_same_v<Shape, Matern32> ||
    std::is_same_v<Shape, Matern52> || std::is_same_v<Shape, Sho>;
template <class... Shapes>
constexpr bool all_have_forms(std::type_identity<std::variant<Shapes...>>) {
  return (has_form<Shapes> && ...);
}
static_assert(all_have_forms(std::type_identity<AnyShape>{}));

}  // namespace

Index StateForm::states() const {
  Index sum = 0;
  for (const markov::StateTerm& term : terms) sum += term.states;
  return sum;
}

Index StateForm::states(const Part& part) const {
  Index sum = 0;
  for (std::size_t k = part.first; k < part.first + part.count; ++k) sum += terms[k].states;
  return sum;
}

StateForm make_state_form(const Kernel& kernel, std::span<const std::size_t> indices, double allowed) {
  using markov::StateKind;
  StateForm form;
  for (const std::size_t index : indices) {
    const Term& term = kernel.terms[index];
    const int p = state_count(term.shape);
    StateForm::Part part{index, form.terms.size(), 1, {}};
    const auto add = [&](double variance, double turns) {  // turns: of the factor, in a unit of time
      const StateKind kind = turns > 0 ? StateKind::turning : StateKind::matern;
      form.terms.push_back(
          {turns > 0 ? 2 * p : p, variance, markov::rate_of(p, term.lengthscale), kind, turns, 0});
    };
    if (std::holds_alternative<Sho>(term.shape)) {
      form.terms.push_back({p, term.variance, 0, StateKind::oscillator, 1 / term.period, term.quality});
    } else if (std::holds_alternative<PeriodicFactor>(term.factor)) {
      const Harmonics kept = harmonics(term.smoothness, allowed / term.variance);
      part.count = kept.coefficient.size();
      part.by_smoothness = kept.slope;
      form.left_out = form.left_out + UpperBound::of(term.variance) * kept.rest;
      for (std::size_t k = 0; k < part.count; ++k)
        add(kept.coefficient[k] * term.variance, static_cast<double>(k) / term.period);
    } else {
      add(term.variance, term.has_factor() ? 1 / term.period : 0);
    }
    form.parts.push_back(std::move(part));
  }
  return form;
}

void put_slopes(const Kernel& kernel, const StateForm::Part& part, std::span<const markov::TermSlopes> slopes,
                std::span<double> out) {
  double sum[kQuantities] = {};
  const auto by = [&](Quantity quantity) -> double& { return sum[static_cast<std::size_t>(quantity)]; };
  for (std::size_t k = 0; k < part.count; ++k) {
    const markov::TermSlopes& own = slopes[part.first + k];
    by(Quantity::variance) += own.by_log_variance;
    by(Quantity::lengthscale) += own.by_log_lengthscale;
    by(Quantity::period) += own.by_log_period;
    by(Quantity::quality) += own.by_log_quality;
    if (!part.by_smoothness.empty()) by(Quantity::smoothness) += part.by_smoothness[k] * own.by_log_variance;
  }
  std::size_t at = kernel.first_parameter(part.term);
  visit_term(kernel.terms[part.term], [&]<class S, class F>(S, F) {
    for (const Quantity quantity : parameters_of<S, F>) out[at++] = by(quantity);
  });
}

}  // namespace bandgp
