// SPDX-License-Identifier: Apache-2.0
// The first byte chooses options, the rest is the file, behind the magic text.
#include <cstdint>
#include <cstdlib>
#include <sstream>
#include <stdexcept>

#include "bandgp/io/npy.hpp"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  bandgp::ReadOptions options;
  if (data[0] & 1) options.skip_bad = true;
  if (data[0] & 2) options.yerr = "3";
  if (data[0] & 4) options.y = "2";
  if (data[0] & 8) options.step = 0.5;
  if (data[0] & 16) options.time_format = "%Y%m%d";
  std::istringstream in(std::string(bandgp::kNpyMagic) +
                        std::string(reinterpret_cast<const char*>(data + 1), size - 1));
  bandgp::ByteSource source(in, "f.npy");
  try {
    if (data[0] & 128) {
      bandgp::Index bad = 0;
      require(!bandgp::read_npy_times(source, options, {}, bad).empty());
      return 0;
    }
    const bandgp::Table table = bandgp::read_npy(source, options);
    require(!table.value.empty() && table.time.size() == table.value.size());
    require(table.variance.empty() || table.variance.size() == table.value.size());
    require(8 * size + 64 >= table.value.size());  // no number without a byte of its own
  } catch (const std::invalid_argument& error) {
    require(std::string(error.what()).find('\n') == std::string::npos);
  }
  return 0;
}
