// SPDX-License-Identifier: Apache-2.0
#include "bandgp/cli/text_stream.hpp"

namespace bandgp::cli {

void write_json(TextStream& out, std::span<const std::string> names,
                std::span<const std::vector<double>> columns,
                const std::function<std::string(double)>& first_text) {
  out.text(fmt::format("{{\n  \"rows\": {}", columns[0].size()));
  for (std::size_t c = 0; c < names.size(); ++c) {
    out.text(fmt::format(",\n  \"{}\": [", names[c]));
    for (std::size_t row = 0; row < columns[c].size(); ++row) {
      if (row > 0) out.text(", ");
      if (c == 0 && first_text) {
        out.text(fmt::format("\"{}\"", first_text(columns[c][row])));
      } else {
        out.number(columns[c][row]);
      }
    }
    out.text("]");
  }
  out.text("\n}\n");
}

}  // namespace bandgp::cli
