// SPDX-License-Identifier: Apache-2.0
#include "bandgp/cli/numbers.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <sstream>
#include <stdexcept>

#include "bandgp/base/quote.hpp"

namespace bandgp::cli {
namespace {

[[noreturn]] void refuse(const std::string& what) { throw std::invalid_argument(what); }

double number(const std::string& flag, std::string_view text) {
  const std::string_view given = text;
  if (text.starts_with('+')) text.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc::result_out_of_range)
    refuse(fmt::format("{}: {} is out of range", flag, quote(given)));
  if (error != std::errc() || end != text.data() + text.size()) {
    refuse(fmt::format("{}: {} is not a number", flag, quote(given)));
  }
  return value;
}

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> items;
  std::istringstream in(text);
  for (std::string item; std::getline(in, item, ',');) items.push_back(item);
  return items;
}

std::string trimmed(const std::string& text) {
  const std::size_t first = text.find_first_not_of(" \t");
  return first == text.npos ? "" : text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

/// Whether a text is a number with letters behind it, as durations are.
bool is_duration(const std::string& text) {
  const std::size_t end = text.find_last_of("0123456789.");
  return end != text.npos && end + 1 < text.size() && text.find_first_of("0123456789.+-") == 0;
}

double positive_duration(const std::string& place, const std::string& text, const ReadDuration& duration) {
  double value = 0;
  try {
    value = duration(text);
  } catch (const std::invalid_argument& error) {
    refuse(fmt::format("{}: {}", place, error.what()));
  }
  if (!std::isfinite(value) || !(value > 0))
    refuse(fmt::format("{} is {}, must be finite and positive", place, quote(text)));
  return value;
}

}  // namespace

double finite_number(const std::string& flag, const std::string& text) {
  const double value = number(flag, text);
  if (!std::isfinite(value)) refuse(fmt::format("{} is {}, must be finite", flag, value));
  return value;
}

double positive_number(const std::string& flag, const std::string& text) {
  const double value = number(flag, text);
  if (!std::isfinite(value) || !(value > 0))
    refuse(fmt::format("{} is {}, must be finite and positive", flag, value));
  return value;
}

Index whole_number(const std::string& flag, const std::string& text) {
  const double value = number(flag, text);  // 1e9 is a whole number too
  if (value < 0) refuse(fmt::format("{} is {}, must not be negative", flag, value));
  if (!(value <= 0x1p53) || value != std::floor(value))
    refuse(fmt::format("{} is {}, must be a whole number", flag, text));
  return static_cast<Index>(value);
}

std::map<std::string, double> assignments(const std::string& flag, const Text& text, const Kernel& kernel,
                                          const ReadDuration& duration) {
  std::map<std::string, double> values;
  if (!text) return values;
  const std::vector<std::string> names = parameter_names(kernel);
  std::vector<Unit> units;
  for (const Term& term : kernel.terms) {
    for (const Parameter& own : term.parameters()) units.push_back(own.unit);
  }
  units.push_back(noise_parameter().unit);
  for (const std::string& item : split(*text)) {
    const std::size_t equals = item.find('=');
    if (equals == item.npos) refuse(fmt::format("{}: {} is not name=value", flag, quote(item)));
    const std::string name = trimmed(item.substr(0, equals));
    const std::string value = trimmed(item.substr(equals + 1));
    const auto at = std::ranges::find(names, name);
    if (at == names.end()) {
      refuse(
          fmt::format("{}: no parameter {}; the kernel has {}", flag, quote(name), fmt::join(names, ", ")));
    }
    const bool may_be_zero = name == "noise" && flag == "--fix";  // known errors may be all there is
    const std::string place = fmt::format("{} {}", flag, name);
    const bool is_time = units[static_cast<std::size_t>(at - names.begin())] == Unit::time;
    const double number = may_be_zero                     ? finite_number(place, value)
                          : is_time && is_duration(value) ? positive_duration(place, value, duration)
                                                          : positive_number(place, value);
    if (number < 0) refuse(fmt::format("{} is {}, must not be negative", place, number));
    if (!values.emplace(name, number).second) refuse(fmt::format("{}: {} is given twice", flag, name));
  }
  return values;
}

}  // namespace bandgp::cli
