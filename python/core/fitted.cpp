// SPDX-License-Identifier: Apache-2.0
#include "fitted.hpp"

#include <fmt/chrono.h>

#include <ctime>

#include "bandgp/io/write_file.hpp"
#include "words.hpp"

namespace bandgp::python {
namespace {

template <typename Write>
void write_or_refuse(Write write) {
  try {
    write();
  } catch (const std::runtime_error& error) {
    throw FileError(error.what());
  }
}

}  // namespace

void Fitted::save(const std::string& path) const {
  const std::string text = to_model_text(fit_);
  write_or_refuse([&] { write_file(path, text); });
}

void Fitted::report(const std::string& path, const std::string& command,
                    const std::optional<std::string>& horizon) const {
  write_or_refuse([&] { require_writable(path); });  // before the work, not after it
  ReportOptions options;
  options.command = command;
  options.created = fmt::format("{:%Y-%m-%d %H:%M} UTC", fmt::gmtime(std::time(nullptr)));
  options.threads = threads_;
  options.spelling = argument_spelling;
  if (horizon) options.horizon = parse_duration(fit_.series->axis, *horizon);
  if (horizon && !(options.horizon > 0))
    throw std::invalid_argument("horizon: " + *horizon + " is not positive");
  const std::string page = report_page(collect_report(fit_, options));
  write_or_refuse([&] { write_file(path, page); });
}

}  // namespace bandgp::python
