// SPDX-License-Identifier: Apache-2.0
// JSON that is not trusted: a field of the right kind and range, or std::invalid_argument naming it.
#pragma once
#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "bandgp/base/index.hpp"

namespace bandgp::json {

constexpr Index kLargest = Index{1} << 53;

[[noreturn]] inline void refuse(const std::string& what) { throw std::invalid_argument(what); }

inline void require(bool holds, const char* what) {
  if (!holds) refuse(what);
}

/// One object of the file with its place in it, for messages.
class Fields {
 public:
  Fields(const nlohmann::json& object, std::string place) : object_(object), place_(std::move(place)) {
    if (!object_.is_object()) refuse(place_.empty() ? "is not a bandgp model" : place_ + " is not an object");
  }

  const nlohmann::json& at(const std::string& key) const {
    const auto found = object_.find(key);
    if (found == object_.end()) refuse(name(key) + " is missing");
    return *found;
  }
  bool has(const std::string& key) const { return object_.contains(key); }
  Fields object(const std::string& key) const { return {at(key), name(key)}; }
  bool flag(const std::string& key) const {
    if (!at(key).is_boolean()) refuse(name(key) + " is not true or false");
    return at(key).get<bool>();
  }
  std::string text(const std::string& key) const {
    if (!at(key).is_string()) refuse(name(key) + " is not a text");
    return at(key).get<std::string>();
  }
  Index index(const std::string& key, Index most = kLargest) const {
    const nlohmann::json& value = at(key);
    if (!value.is_number_integer()) refuse(name(key) + " is not a whole number");
    const auto number = value.get<Index>();
    if (number < 0 || number > most) refuse(fmt::format("{} is not within 0 to {}", name(key), most));
    return number;
  }
  /// Of either sign.
  Index integer(const std::string& key, Index most = kLargest) const {
    const nlohmann::json& value = at(key);
    if (!value.is_number_integer()) refuse(name(key) + " is not a whole number");
    const auto number = value.get<Index>();
    if (number < -most || number > most)
      refuse(fmt::format("{} is not within {} to {}", name(key), -most, most));
    return number;
  }
  double finite(const std::string& key) const { return number(at(key), name(key)); }
  double not_negative(const std::string& key) const {
    const double value = finite(key);
    if (value < 0) refuse(name(key) + " is negative");
    return value;
  }
  double finite_or(const std::string& key, double otherwise) const {
    return at(key).is_null() ? otherwise : finite(key);
  }
  /// The numbers named prefix + names[i]; none where the field is null.
  std::vector<double> named(const std::string& key, const char* prefix,
                            const std::vector<std::string>& names) const {
    if (at(key).is_null()) return {};
    const Fields fields = object(key);
    std::vector<double> values;
    values.reserve(names.size());
    for (const std::string& parameter : names)
      values.push_back(fields.finite_or(prefix + parameter, std::numeric_limits<double>::quiet_NaN()));
    return values;
  }
  std::vector<double> list(const std::string& key) const {
    if (!at(key).is_array()) refuse(name(key) + " is not a list");
    std::vector<double> values;
    for (const auto& value : at(key)) values.push_back(number(value, name(key)));
    return values;
  }
  std::vector<std::string> texts(const std::string& key) const {
    if (!at(key).is_array()) refuse(name(key) + " is not a list");
    std::vector<std::string> values;
    for (const auto& value : at(key)) {
      if (!value.is_string()) refuse(name(key) + " is not a list of texts");
      values.push_back(value.get<std::string>());
    }
    return values;
  }
  template <class Decode>
  auto block(const std::string& key, Decode decode) const {
    auto values = decode(text(key));
    if (!values) refuse(name(key) + " is not base64 of 8-byte numbers");
    return std::move(*values);
  }

 private:
  std::string name(const std::string& key) const { return place_.empty() ? key : place_ + "." + key; }
  static double number(const nlohmann::json& value, const std::string& name) {
    if (!value.is_number()) refuse(name + " is not a number");
    const auto number = value.get<double>();
    if (!std::isfinite(number)) refuse(name + " is not finite");
    return number;
  }

  const nlohmann::json& object_;
  std::string place_;
};

}  // namespace bandgp::json
