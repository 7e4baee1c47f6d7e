// SPDX-License-Identifier: Apache-2.0
#include "bandgp/kernel/kernel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <limits>
#include <numbers>
#include <stdexcept>

namespace bandgp {
namespace {

Parameter parameter(Quantity quantity) {
  switch (quantity) {
    case Quantity::variance:
      return {"variance",
              "variance of the curve",
              Unit::variance,
              &Term::variance,
              {kVanishingVariance, std::exp(12.0)}};
    case Quantity::lengthscale:
      return {"lengthscale",
              "time over which the curve forgets itself",
              Unit::time,
              &Term::lengthscale,
              {0.1, 10}};
    case Quantity::period:
      return {"period", "time after which the curve repeats itself", Unit::time, &Term::period, {0.1, 10}};
    case Quantity::smoothness:
      return {"smoothness",
              "how smooth what repeats is: a sine where large",
              Unit::none,
              &Term::smoothness,
              {0.1, 100}};
    case Quantity::quality:
      break;
  }
  return {"quality", "periods that an oscillation lasts, times π", Unit::none, &Term::quality, {0.05, 1e5}};
}

template <class S, class F>
std::span<const Parameter> list_of() {
  static const auto list = [] {
    std::array<Parameter, parameters_of<S, F>.size()> all{};
    std::ranges::transform(parameters_of<S, F>, all.begin(), parameter);
    return all;
  }();
  return list;
}

}  // namespace

std::span<const Parameter> Term::parameters() const {
  return visit_term(*this, []<class S, class F>(S, F) { return list_of<S, F>(); });
}

bool Term::has(double Term::*member) const {
  return std::ranges::find(parameters(), member, &Parameter::member) != parameters().end();
}

std::string term_title(const Term& term) {
  const std::string_view factor = std::visit([](auto f) { return decltype(f)::title; }, term.factor);
  std::string title(shape_title(term.shape));
  return factor.empty() ? title : title.append(" × ").append(factor);
}

double memory(const Term& term) {
  if (std::holds_alternative<Sho>(term.shape)) return term.period * term.quality / std::numbers::pi;
  return std::isnan(term.lengthscale) ? std::numeric_limits<double>::infinity() : term.lengthscale;
}

double shortest_time(const Term& term) {
  double shortest = std::numeric_limits<double>::infinity();
  if (!std::isnan(term.lengthscale)) shortest = term.lengthscale;
  if (!std::isnan(term.period)) {
    // A periodic curve of smoothness λ looks like one of length-scale λP/2π over short times.
    const double smooth = std::isnan(term.smoothness) ? 1 : std::min(1.0, term.smoothness);
    shortest = std::min(shortest, 0.5 * smooth * term.period / std::numbers::pi);
  }
  return shortest;
}

std::string_view unit_name(Unit unit) {
  return unit == Unit::variance ? "variance" : unit == Unit::time ? "time" : "none";
}

const Parameter& noise_parameter() {
  static const Parameter noise = {
      "noise", "variance of the noise", Unit::variance, nullptr, {std::exp(-34.0), std::exp(6.0)}};
  return noise;
}

double Kernel::variance() const {
  double sum = 0;
  for (const Term& term : terms) sum += term.variance;
  return sum;
}

double Kernel::operator()(double lag) const {
  // From here on every shape with a tail is 0 in double (exp(−745.2) is), and r² or r itself may be ∞.
  constexpr double kVanishes = 1000;
  double sum = 0;
  for (const Term& term : terms) {
    if (std::abs(lag) / term.lengthscale >= kVanishes && can_be_banded(term)) continue;
    sum += term.variance * visit_term(term, [&]<class S, class F>(S, F) {
             return at_lag<S, F>(std::abs(lag), term.numbers()).value;
           });
  }
  return sum;
}

Kernel Kernel::subset(unsigned bits) const {
  Kernel result;
  for (std::size_t t = 0; t < terms.size(); ++t) {
    if (t >= 32 ? bits == ~0U : (bits >> t & 1U) != 0) result.terms.push_back(terms[t]);
  }
  return result;
}

double Kernel::support() const {
  double reach = 0;
  for (const Term& term : terms) {
    const double unit = std::visit(
        []<class S>(S) {
          if constexpr (HasTail<S>) return double{S::support};
          return std::numeric_limits<double>::infinity();
        },
        term.shape);
    reach = std::max(reach, std::isinf(unit) ? unit : unit * term.lengthscale);
  }
  return reach;
}

bool Kernel::complete() const {
  return std::ranges::all_of(terms, [](const Term& term) {
    return std::ranges::none_of(
        term.parameters(), [&](const Parameter& parameter) { return std::isnan(term.*parameter.member); });
  });
}

std::size_t Kernel::parameter_count() const { return first_parameter(terms.size()); }

std::size_t Kernel::first_parameter(std::size_t term) const {
  std::size_t before = 0;
  for (std::size_t t = 0; t < term; ++t) before += terms[t].parameters().size();
  return before;
}

std::size_t Kernel::parameter_index(std::size_t term, double Term::*member) const {
  const std::span<const Parameter> own = terms[term].parameters();
  const auto at = std::ranges::find(own, member, &Parameter::member);
  assert(at != own.end());
  return first_parameter(term) + static_cast<std::size_t>(at - own.begin());
}

std::vector<std::string> parameter_names(const Kernel& kernel) {
  std::vector<std::string> names;
  for (std::size_t t = 0; t < kernel.terms.size(); ++t) {
    const std::string number = kernel.terms.size() == 1 ? "" : fmt::format("_{}", t + 1);
    for (const Parameter& parameter : kernel.terms[t].parameters())
      names.push_back(std::string(parameter.name) + number);
  }
  names.emplace_back(noise_parameter().name);
  return names;
}

void require_valid(const Kernel& kernel) {
  if (kernel.terms.empty()) throw std::invalid_argument("kernel: has no terms");
  const std::vector<std::string> names = parameter_names(kernel);
  auto name = names.begin();
  for (const Term& term : kernel.terms) {
    for (const Parameter& parameter : term.parameters()) {
      const double value = term.*parameter.member;
      if (!std::isfinite(value) || value <= 0) {
        throw std::invalid_argument(
            std::isnan(value) ? fmt::format("kernel: {} is not set", *name)
                              : fmt::format("kernel: {} is {}, must be finite and positive", *name, value));
      }
      ++name;
    }
  }
}

}  // namespace bandgp
