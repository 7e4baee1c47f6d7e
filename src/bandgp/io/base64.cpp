// SPDX-License-Identifier: Apache-2.0
#include "bandgp/io/base64.hpp"

#include <array>
#include <bit>
#include <cstdint>
#include <type_traits>

namespace bandgp {
namespace {

static_assert(sizeof(double) == 8 && sizeof(Index) == 8);

constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::uint8_t kNoDigit = 255;

constexpr std::array<std::uint8_t, 256> kDigit = [] {
  std::array<std::uint8_t, 256> digit{};
  digit.fill(kNoDigit);
  for (std::size_t i = 0; i < kAlphabet.size(); ++i) {
    digit[static_cast<std::uint8_t>(kAlphabet[i])] = static_cast<std::uint8_t>(i);
  }
  return digit;
}();

/// The unsigned number with as many bits.
template <class T>
using Bits = std::conditional_t<sizeof(T) == 8, std::uint64_t,
                                std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint16_t>>;

/// Byte `at` of an array of numbers laid out little-endian.
template <class T>
std::uint32_t byte_of(std::span<const T> values, std::size_t at) {
  return static_cast<std::uint8_t>(std::bit_cast<Bits<T>>(values[at / sizeof(T)]) >> (8 * (at % sizeof(T))));
}

template <class T>
std::string encode(std::span<const T> values) {
  const std::size_t bytes = sizeof(T) * values.size();
  std::string text;
  text.reserve((bytes + 2) / 3 * 4);
  for (std::size_t at = 0; at < bytes; at += 3) {
    std::uint32_t three = byte_of(values, at) << 16;
    if (at + 1 < bytes) three |= byte_of(values, at + 1) << 8;
    if (at + 2 < bytes) three |= byte_of(values, at + 2);
    text += kAlphabet[three >> 18];
    text += kAlphabet[three >> 12 & 63];
    text += at + 1 < bytes ? kAlphabet[three >> 6 & 63] : '=';
    text += at + 2 < bytes ? kAlphabet[three & 63] : '=';
  }
  return text;
}

template <class T>
std::optional<std::vector<T>> decode(std::string_view text) {
  if (text.size() % 4 != 0) return std::nullopt;
  std::size_t padding = 0;
  while (padding < 2 && padding < text.size() && text[text.size() - 1 - padding] == '=') ++padding;
  const std::size_t bytes = text.size() / 4 * 3 - padding;
  if (bytes % 8 != 0) return std::nullopt;

  std::vector<std::uint64_t> words(bytes / 8);
  const std::size_t digits = text.size() - padding;
  std::uint32_t bits = 0;  // the last few digits, newest lowest
  std::size_t written = 0;
  for (std::size_t i = 0; i < digits; ++i) {
    const std::uint8_t digit = kDigit[static_cast<std::uint8_t>(text[i])];
    if (digit == kNoDigit) return std::nullopt;
    bits = bits << 6 | digit;
    if (i % 4 == 0) continue;  // six bits: not a byte yet
    const std::size_t spare = 2 * (3 - i % 4);
    const auto byte = static_cast<std::uint8_t>(bits >> spare);
    words[written / 8] |= static_cast<std::uint64_t>(byte) << (8 * (written % 8));
    ++written;
  }
  // Bits that belong to no byte must be 0: one array, one text.
  if (padding > 0 && (bits & (padding == 1 ? 3U : 15U)) != 0) return std::nullopt;

  std::vector<T> values(words.size());
  for (std::size_t i = 0; i < words.size(); ++i) values[i] = std::bit_cast<T>(words[i]);
  return values;
}

}  // namespace

std::string to_base64(std::span<const double> values) { return encode(values); }
std::string to_base64(std::span<const Index> values) { return encode(values); }
std::string to_base64(std::span<const float> values) { return encode(values); }
std::string to_base64(std::span<const std::uint16_t> values) { return encode(values); }
std::optional<std::vector<double>> doubles_from_base64(std::string_view text) { return decode<double>(text); }
std::optional<std::vector<Index>> indices_from_base64(std::string_view text) { return decode<Index>(text); }

}  // namespace bandgp
