// SPDX-License-Identifier: Apache-2.0
#include "bandgp/kernel/kernel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace bandgp {

double Kernel::variance() const {
  double sum = 0;
  for (const Term& term : terms) sum += term.variance;
  return sum;
}

double Kernel::operator()(double lag) const {
  // From here on every shape is 0 in double (exp(−745.2) is), and r² or r itself may be ∞.
  constexpr double kVanishes = 1000;
  double sum = 0;
  for (const Term& term : terms) {
    const double r = std::abs(lag) / term.lengthscale;
    if (r >= kVanishes) continue;
    sum += term.variance * std::visit([r](auto shape) { return decltype(shape)::at(r).value; }, term.shape);
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
    const double unit = std::visit([](auto shape) { return decltype(shape)::support; }, term.shape);
    reach = std::max(reach, std::isinf(unit) ? unit : unit * term.lengthscale);
  }
  return reach;
}

bool Kernel::complete() const {
  return std::ranges::none_of(
      terms, [](const Term& term) { return std::isnan(term.variance) || std::isnan(term.lengthscale); });
}

std::vector<std::string> parameter_names(const Kernel& kernel) {
  if (kernel.terms.size() == 1) return {"variance", "lengthscale", "noise"};
  std::vector<std::string> names;
  for (std::size_t i = 1; i <= kernel.terms.size(); ++i) {
    names.push_back(fmt::format("variance_{}", i));
    names.push_back(fmt::format("lengthscale_{}", i));
  }
  names.emplace_back("noise");
  return names;
}

void require_valid(const Kernel& kernel) {
  if (kernel.terms.empty()) throw std::invalid_argument("kernel: has no terms");
  const std::vector<std::string> names = parameter_names(kernel);
  for (std::size_t i = 0; i < kernel.terms.size(); ++i) {
    const double parameters[] = {kernel.terms[i].variance, kernel.terms[i].lengthscale};
    for (std::size_t p = 0; p < 2; ++p) {
      if (std::isfinite(parameters[p]) && parameters[p] > 0) continue;
      const std::string& name = names[2 * i + p];
      throw std::invalid_argument(
          std::isnan(parameters[p])
              ? fmt::format("kernel: {} is not set", name)
              : fmt::format("kernel: {} is {}, must be finite and positive", name, parameters[p]));
    }
  }
}

}  // namespace bandgp
