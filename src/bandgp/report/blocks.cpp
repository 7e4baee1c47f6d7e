// SPDX-License-Identifier: Apache-2.0
#include "bandgp/report/blocks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "bandgp/io/base64.hpp"

namespace bandgp {
namespace {

constexpr std::size_t kChunk = 256;      // web/blocks.js knows it too
constexpr std::size_t kShort = 1 << 18;  // up to here 8 bytes a time are no burden

/// Origins and offsets, if the times come back to a thousandth of the smallest gap of their chunk.
bool split(std::span<const double> times, std::vector<double>& origins, std::vector<float>& offsets) {
  for (std::size_t begin = 0; begin < times.size(); begin += kChunk) {
    const std::size_t end = std::min(begin + kChunk, times.size());
    double gap = std::numeric_limits<double>::infinity(), error = 0;
    origins.push_back(times[begin]);
    for (std::size_t i = begin; i < end; ++i) {
      const auto offset = static_cast<float>(times[i] - times[begin]);
      offsets.push_back(offset);
      error = std::max(error, std::abs(times[begin] + static_cast<double>(offset) - times[i]));
      if (i > begin && times[i] > times[i - 1]) gap = std::min(gap, times[i] - times[i - 1]);
    }
    if (!(error <= 1e-3 * gap)) return false;
  }
  return true;
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
  const std::string id = fmt::format("block-{}", ++count_);
  html_ += fmt::format("<script type=\"text/plain\" id=\"{}\">", id);
  html_ += base64;
  html_ += "</script>\n";
  return id;
}

Blocks::Json Blocks::times(std::span<const double> values) {
  std::vector<double> origins;
  std::vector<float> offsets;
  if (values.size() <= kShort || !split(values, origins, offsets))
    return {{"kind", "doubles"}, {"block", add(to_base64(values))}};
  return {{"kind", "chunks"}, {"origins", add(to_base64(origins))}, {"block", add(to_base64(offsets))}};
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
