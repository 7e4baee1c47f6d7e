// SPDX-License-Identifier: Apache-2.0
// Any text is refused with std::invalid_argument, or loads a model that prints as itself and predicts without
// harm.
#include <cstdint>
#include <cstdlib>
#include <stdexcept>

#include "bandgp/io/checksum.hpp"
#include "bandgp/io/model_file.hpp"

namespace {

void try_out(const std::string& text) {
  bandgp::FitResult fit;
  try {
    fit = bandgp::from_model_text(text, "m.json");
  } catch (const std::invalid_argument&) {
    return;
  }
  const std::string printed = bandgp::to_model_text(fit);
  if (bandgp::to_model_text(bandgp::from_model_text(printed, "m.json")) != printed) std::abort();
  if (fit.series->size() > 64) return;
  try {
    const double times[] = {fit.series->report.first_time, fit.series->report.last_time, 0};
    fit.posterior()->predict(times);
  } catch (const std::runtime_error&) {  // not positive definite: an outcome
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  try_out(text);
  // Past the checksum: the same object, signed anew.
  const std::size_t old = text.rfind(",\n \"checksum\"");
  const std::string object = old == text.npos ? text : text.substr(0, old) + "}";
  try_out(bandgp::with_checksum(object));
  return 0;
}
