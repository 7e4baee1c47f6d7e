// SPDX-License-Identifier: Apache-2.0
#include "bandgp/cli/report_output.hpp"

#include <fmt/chrono.h>

#include <ctime>

#include "bandgp/cli/progress.hpp"
#include "bandgp/cli/words.hpp"
#include "bandgp/io/write_file.hpp"
#include "bandgp/report/report_data.hpp"

namespace bandgp::cli {

std::string now_text() { return fmt::format("{:%Y-%m-%d %H:%M} UTC", fmt::gmtime(std::time(nullptr))); }

Source source_of(const Input& input) {
  return {input.name, input.time_name, input.value_name, input.bad_lines};
}

std::size_t write_report(const FitResult& fit, const std::string& command, Index threads,
                         const std::string& path, bool quiet, double horizon) {
  constexpr double kEvaluations = 3;  // the curve, whitened residuals and leave-one-out, beside one factor
  WorkProgress progress(quiet);
  const double expected = kEvaluations * evaluation_seconds(fit);
  progress.expect(expected, fmt::format("computing the report of {} points", fit.series->size()));
  progress.count("parts", expected);
  ReportOptions options;
  options.command = command;
  options.created = now_text();
  options.threads = threads;
  options.horizon = horizon;
  options.spelling = flag_spelling;
  options.progress = [&](Index done, Index of) { progress.show(done, of); };
  const std::string page = report_page(collect_report(fit, options));
  write_file(path, page);
  return page.size();
}

}  // namespace bandgp::cli
