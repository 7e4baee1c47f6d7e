// SPDX-License-Identifier: Apache-2.0
#include "bandgp/report/blocks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "bandgp/io/base64.hpp"

namespace bandgp {
namespace {

constexpr std::size_t kLongestChunk = 256;
constexpr std::size_t kShort = 1 << 18;  // up to here 8 bytes a time are no burden

/// Stretches of times, each as offsets from its first: a stretch ends where a float no longer tells its times
/// apart to a thousandth of their smallest gap.
struct Chunks {
  std::vector<double> starts, origins;  // index and time of each stretch's first
  std::vector<float> offsets;
};

Chunks split(std::span<const double> times) {
  constexpr double kPrecision = 1e-3 * 0x1p24;  // span of a stretch / smallest gap in it, at most
  Chunks chunks;
  std::size_t start = 0;
  double gap = 0;
  for (std::size_t i = 0; i < times.size(); ++i) {
    if (i > 0 && times[i] > times[i - 1])
      gap = std::min(gap > 0 ? gap : std::numeric_limits<double>::infinity(), times[i] - times[i - 1]);
    if (i == 0 || i - start == kLongestChunk || times[i] - times[start] > kPrecision * gap) {
      start = i;
      gap = 0;
      chunks.starts.push_back(static_cast<double>(i));
      chunks.origins.push_back(times[i]);
    }
    chunks.offsets.push_back(static_cast<float>(times[i] - times[start]));
  }
  return chunks;
}

std::vector<std::uint16_t> quantised(std::span<const double> values, double low, double step) {
  std::vector<std::uint16_t> result(values.size());
  std::ranges::transform(values, result.begin(), [&](double v) {
    return static_cast<std::uint16_t>(std::clamp(std::round((v - low) / step), 0.0, 65535.0));
  });
  return result;
}

}  // namespace

std::string Blocks::add(const std::string& base64) {
  std::string id = fmt::format("block-{}", ++count_);
  html_ += fmt::format("<script type=\"text/plain\" id=\"{}\">", id);
  html_ += base64;
  html_ += "</script>\n";
  return id;
}

Blocks::Json Blocks::times(std::span<const double> values) {
  const Chunks chunks = values.size() > kShort ? split(values) : Chunks();
  if (values.size() <= kShort || chunks.starts.size() > values.size() / 4)
    return {{"kind", "doubles"}, {"block", add(to_base64(values))}};
  return {{"kind", "chunks"},
          {"starts", add(to_base64(chunks.starts))},
          {"origins", add(to_base64(chunks.origins))},
          {"block", add(to_base64(chunks.offsets))}};
}

Blocks::Json Blocks::numbers(std::span<const double> values) {
  const auto [low, high] = std::ranges::minmax_element(values);
  const double origin = values.empty() ? 0 : *low + (*high - *low) / 2;
  std::vector<float> floats(values.size());
  std::ranges::transform(values, floats.begin(), [&](double v) { return static_cast<float>(v - origin); });
  return {{"kind", "floats"}, {"origin", origin}, {"block", add(to_base64(floats))}};
}

Blocks::Json Blocks::steps(std::span<const double> values) {
  const auto [low, high] = std::ranges::minmax_element(values);
  const double origin = values.empty() ? 0 : *low;
  const double step = values.empty() || !(*high > *low) ? 1 : (*high - *low) / 65535;
  return {{"kind", "steps"},
          {"origin", origin},
          {"step", step},
          {"block", add(to_base64(quantised(values, origin, step)))}};
}

Blocks::Json Blocks::logarithms(std::span<const double> values) {
  // What is a millionth of the largest is as good as nothing on any screen.
  const double most = values.empty() ? 0 : *std::ranges::max_element(values);
  const double least = most > 0 ? 1e-6 * most : 1;
  std::vector<double> logs(values.size());
  std::ranges::transform(values, logs.begin(), [&](double v) { return std::log(std::max(v, least)); });
  Json json = steps(logs);
  json["kind"] = "logarithms";
  return json;
}

}  // namespace bandgp
