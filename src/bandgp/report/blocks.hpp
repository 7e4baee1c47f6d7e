// SPDX-License-Identifier: Apache-2.0
// Numbers inside a page, packed: what an eye can tell apart is kept, the rest is not.
#pragma once
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

namespace bandgp {

/// Arrays as <script> elements that no browser runs, each with an id.  What is needed to unpack one is
/// returned as JSON: {"block": id, "kind": …, …}.  web/blocks.js is the way back.
class Blocks {
 public:
  using Json = nlohmann::ordered_json;

  /// Times in order, to a thousandth of the smallest gap around them or better: 8 bytes each, or on a long
  /// series 4 bytes each from an origin that changes now and then.
  Json times(std::span<const double> values);
  /// 4 bytes each, from the middle of their range.
  Json numbers(std::span<const double> values);
  /// 2 bytes each: to 1/65535 of the range of the logarithm; not negative.
  Json logarithms(std::span<const double> values);
  /// 2 bytes each: to 1/65535 of the range.
  Json steps(std::span<const double> values);

  const std::string& html() const { return html_; }

 private:
  std::string add(const std::string& base64);

  std::string html_;
  int count_ = 0;
};

}  // namespace bandgp
