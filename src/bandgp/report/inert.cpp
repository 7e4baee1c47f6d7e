// SPDX-License-Identifier: Apache-2.0
#include "bandgp/report/inert.hpp"

namespace bandgp {

std::string inert(const nlohmann::ordered_json& json) {
  std::string text;
  for (const char c : json.dump(-1, ' ', true, nlohmann::ordered_json::error_handler_t::replace)) {
    switch (c) {  // outside of strings JSON has none of these
      case '<':
        text += "\\u003c";
        break;
      case '>':
        text += "\\u003e";
        break;
      case '&':
        text += "\\u0026";
        break;
      default:
        text += c;
    }
  }
  return text;
}

}  // namespace bandgp
