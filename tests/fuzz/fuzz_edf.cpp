// SPDX-License-Identifier: Apache-2.0
// A recording.  Without a channel's name only those with one signal are read to the end, so the first is
// asked for too.
#include <cstdint>
#include <cstdlib>
#include <sstream>
#include <stdexcept>

#include "bandgp/io/edf.hpp"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

void try_out(const std::string& content, const std::string& channel) {
  if (!bandgp::is_edf(content)) return;
  std::istringstream in(content);
  bandgp::ByteSource source(in, "f.edf");
  try {
    const bandgp::Table table = bandgp::read_edf(source, {.channel = channel});
    require(!table.value.empty() && table.time.size() == table.value.size());
    require(table.value.size() <= content.size());
    for (std::size_t i = 1; i < table.time.size(); ++i) require(table.time[i] > table.time[i - 1]);
  } catch (const std::invalid_argument& error) {
    require(std::string(error.what()).find('\n') == std::string::npos);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string content(reinterpret_cast<const char*>(data), size);
  try_out(content, "");
  if (content.size() > 272) try_out(content, content.substr(256, content.find_last_not_of(' ', 271) - 255));
  return 0;
}
