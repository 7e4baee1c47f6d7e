// SPDX-License-Identifier: Apache-2.0
#include "bandgp/cli/words.hpp"

#include <algorithm>

#include "bandgp/base/error.hpp"

namespace bandgp::cli {

std::string flag_spelling(Option option, std::string_view value) {
  if (option == Option::data) return "--data DIR";
  if (option == Option::data_file) return "--data FILE";
  std::string flag = "--" + std::string(option_name(option));
  std::ranges::replace(flag, '_', '-');
  if (!value.empty()) flag.append(" ").append(value);
  return flag;
}

std::string words_of(const std::exception& error) {
  const auto* typed = dynamic_cast<const Error*>(&error);
  return typed != nullptr ? words(typed->message(), flag_spelling) : error.what();
}

}  // namespace bandgp::cli
