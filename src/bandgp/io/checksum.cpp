// SPDX-License-Identifier: Apache-2.0
#include "bandgp/io/checksum.hpp"

#include <fmt/format.h>

namespace bandgp {
namespace {

std::string closing(std::string_view payload) {
  return fmt::format(",\n \"checksum\": \"fnv1a64:{:016x}\"\n}}\n", fnv1a(payload));
}

}  // namespace

std::uint64_t fnv1a(std::string_view text) {
  std::uint64_t state = 0xcbf29ce484222325;
  for (const char c : text) state = (state ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return state;
}

std::string with_checksum(std::string object) {
  while (!object.empty() && object.back() != '}') object.pop_back();
  if (!object.empty()) object.pop_back();
  while (!object.empty() && (object.back() == '\n' || object.back() == ' ')) object.pop_back();
  object += closing(object);
  return object;
}

bool checksum_holds(std::string_view text) {
  static const std::size_t length = closing("").size();
  if (text.size() < length) return false;
  const std::string_view payload = text.substr(0, text.size() - length);
  return text.substr(payload.size()) == closing(payload);
}

}  // namespace bandgp
