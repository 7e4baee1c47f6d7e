// SPDX-License-Identifier: Apache-2.0
#include "bandgp/experiments/choice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <stdexcept>

#include "bandgp/base/quote.hpp"

namespace bandgp {
namespace {

bool has_inducing(Method method) { return method == Method::fitc || method == Method::vfe; }
bool has_neighbours(Method method) { return method == Method::vecchia || method == Method::taper; }

Index parameter_from(std::string_view method, std::string_view text) {
  Index value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 1)
    throw std::invalid_argument(fmt::format("the parameter of {} is a whole number from 1 on, not {}", method,
                                            quote(std::string(text))));
  return value;
}

}  // namespace

Cut MethodChoice::cut(double tolerance) const {
  Cut cut{.method = method, .tolerance = tolerance};
  if (!parameter) return cut;
  if (method == Method::band) {
    cut.rule = Cut::Rule::bandwidth;
    cut.bandwidth = *parameter;
  } else if (has_inducing(method)) {
    cut.inducing = *parameter;
  } else {
    cut.neighbours = *parameter;
  }
  return cut;
}

std::string MethodChoice::name() const {
  const std::string_view plain = method_name(method);
  return parameter ? fmt::format("{}:{}", plain, *parameter) : std::string(plain);
}

MethodChoice parse_choice(std::string_view text, const Kernel& kernel) {
  const std::size_t colon = text.find(':');
  const std::string_view name = text.substr(0, colon);
  MethodChoice choice{parse_method(name), {}, kernel};
  const bool sized = has_inducing(choice.method) || has_neighbours(choice.method);
  if (colon != std::string_view::npos) {
    if (!sized && choice.method != Method::band)
      throw std::invalid_argument(fmt::format("{} has no parameter: write it without \":\"", name));
    choice.parameter = parameter_from(name, text.substr(colon + 1));
  } else if (sized) {
    choice.parameter = has_inducing(choice.method) ? Cut{}.inducing : Cut{}.neighbours;
  }
  return choice;
}

std::vector<MethodChoice> parse_choices(std::string_view text, const Kernel& kernel) {
  std::vector<MethodChoice> choices;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    std::string_view item = text.substr(begin, end - begin);
    begin = end + 1;
    while (item.starts_with(' ')) item.remove_prefix(1);
    while (item.ends_with(' ')) item.remove_suffix(1);
    MethodChoice choice = parse_choice(item, kernel);
    for (const MethodChoice& before : choices) {
      if (before.name() == choice.name())
        throw std::invalid_argument(fmt::format("{} is there twice", choice.name()));
    }
    choices.push_back(std::move(choice));
  }
  return choices;
}

}  // namespace bandgp
