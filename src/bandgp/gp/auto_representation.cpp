// SPDX-License-Identifier: Apache-2.0
#include "bandgp/gp/auto_representation.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>

#include "bandgp/gp/cost_model.hpp"

namespace bandgp {
namespace {

/// What stands for any design until one is made: spacing 0.4 ℓ, windows of 28 nodes, T = 5 ℓ, b = 16.
constexpr double kSpacing = 0.4, kWindow = 28, kReach = 5;
constexpr Index kBandwidth = 16;

}  // namespace

AutoRepresentation::AutoRepresentation(const InternalCut& cut, double max_bytes, Index threads)
    : method_(cut.rule == CutRule::tolerance && !cut.index_band ? cut.method : Method::band),
      cut_(cut),
      max_bytes_(max_bytes > 0 ? max_bytes : default_max_bytes()),
      band_(cut, max_bytes_, threads),
      dual_(cut.tolerance, max_bytes_, threads),
      mixed_(cut.tolerance, max_bytes_, threads),
      markov_(max_bytes_, threads),
      current_(&band_) {}

double AutoRepresentation::nanoseconds(const Kernel& kernel, unsigned long_terms, const Observations& points,
                                       double target) const {
  const Index n = points.size();
  const double span = points.span();
  Kernel rest;
  double nodes = 0, longest = 0, shortest = std::numeric_limits<double>::infinity(), bandwidth = 0;
  for (std::size_t t = 0; t < kernel.terms.size(); ++t) {
    const Term& term = kernel.terms[t];
    if ((long_terms >> t & 1U) == 0) {
      rest.terms.push_back(term);
      continue;
    }
    nodes += std::min(span / (kSpacing * term.lengthscale) + kWindow, kWindow * static_cast<double>(n));
    longest = std::max(longest, term.lengthscale);
    shortest = std::min(shortest, term.lengthscale);
  }
  for (std::size_t t = 0; t < kernel.terms.size();
       ++t) {  // nodes of each term that a node of the longest meets
    if ((long_terms >> t & 1U) != 0)
      bandwidth += std::min(2 * kReach * longest / (kSpacing * kernel.terms[t].lengthscale), nodes);
  }
  if (long_terms != 0 && kernel.terms.size() == 1) return dual_nanoseconds(n, nodes, kBandwidth);
  const double reach = rest.terms.empty() ? 0 : estimate_reach(rest, points, target);
  const MeanWidth width = rest.terms.empty() ? MeanWidth{} : estimate_width(points, reach);
  const double columns = long_terms == 0 ? 0
                                         : local_columns(span / static_cast<double>(n), shortest,
                                                         inverse_length(rest, points, kNepersOfInverse));
  const double bytes = 8 * static_cast<double>(n) * (width.width + 8 + columns) + 8 * nodes * bandwidth;
  if (bytes > 0.9 * max_bytes_) return std::numeric_limits<double>::infinity();
  return long_terms == 0 ? band_nanoseconds(n, width)
                         : mixed_nanoseconds(n, width, columns, nodes, bandwidth);
}

unsigned AutoRepresentation::cheapest_split(const Kernel& kernel, const Observations& points,
                                            double q_bound) const {
  const std::size_t terms = kernel.terms.size();
  const unsigned all = terms >= 32 ? 0 : (1U << terms) - 1;
  if (method_ == Method::band || all == 0) return 0;
  if (method_ == Method::dual) {
    if (!std::ranges::all_of(kernel.terms, has_basis))
      throw std::invalid_argument("the dual band is for se terms; use method auto or band");
    return all;
  }
  if (points.size() < 2) return 0;
  // The longest terms that have a basis, one more at a time.
  std::vector<std::size_t> order;
  for (std::size_t t = 0; t < terms; ++t) {
    if (has_basis(kernel.terms[t])) order.push_back(t);
  }
  std::ranges::sort(order, std::greater{}, [&](std::size_t t) { return kernel.terms[t].lengthscale; });
  const double target = rho_for_tolerance(cut_.tolerance, q_bound, points.size());
  unsigned split = 0, best = 0;
  double least = nanoseconds(kernel, 0, points, target);
  for (const std::size_t t : order) {
    split |= 1U << t;
    const double cost = nanoseconds(kernel, split, points, target);
    if (cost < least) {
      least = cost;
      best = split;
    }
  }
  return best;
}

std::optional<Failure> AutoRepresentation::choose_split(unsigned long_terms, const Kernel& kernel,
                                                        const Observations& points, double q_bound,
                                                        bool& certified) {
  certified = true;
  if (long_terms == 0) {
    current_ = &band_;
    return band_.choose(kernel, points, q_bound);
  }
  if (kernel.terms.size() == 1) {
    current_ = &dual_;
    const auto failure = dual_.choose(kernel, points, q_bound);
    certified = dual_.reaches_tolerance();
    return failure;
  }
  current_ = &mixed_;
  mixed_.set_long_terms(long_terms);
  const auto failure = mixed_.choose(kernel, points, q_bound);
  certified = mixed_.reaches_tolerance();
  return failure;
}

std::optional<Failure> AutoRepresentation::choose(const Kernel& kernel, const Observations& points,
                                                  double q_bound) {
  if (frozen_) return current_->choose(kernel, points, q_bound);
  if (in_states(kernel)) {
    current_ = &markov_;
    return markov_.choose(kernel, points, q_bound);
  }
  const unsigned split = cheapest_split(kernel, points, q_bound);
  bool certified = true;
  const auto failure = choose_split(split, kernel, points, q_bound, certified);
  const bool usable = !failure && certified;
  if (usable || split == 0 || method_ == Method::dual) return failure;
  return choose_split(0, kernel, points, q_bound, certified);
}

Cost AutoRepresentation::cost(const Kernel& kernel, const Observations& points, double q_bound) {
  if (in_states(kernel)) return markov_.cost(kernel, points, q_bound);
  const unsigned split = cheapest_split(kernel, points, q_bound);
  if (split == 0) return band_.cost(kernel, points, q_bound);
  if (kernel.terms.size() == 1) return dual_.cost(kernel, points, q_bound);
  mixed_.set_long_terms(split);
  return mixed_.cost(kernel, points, q_bound);
}

void AutoRepresentation::freeze() {
  frozen_ = true;
  band_.set_cut({.rule = CutRule::envelope, .tolerance = cut_.tolerance});
  mixed_.keep_entries(true);
}

void AutoRepresentation::thaw() {
  frozen_ = false;
  band_.set_cut(cut_);
  mixed_.keep_entries(false);
}

}  // namespace bandgp
