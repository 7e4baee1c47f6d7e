// SPDX-License-Identifier: Apache-2.0
// sample_page OUT.html: a report with dates on its axis, made of a ReportData by hand.
#include <cmath>
#include <fstream>
#include <random>

#include "bandgp/report/report_data.hpp"

int main(int, char** argv) {
  std::mt19937_64 random(1);
  std::normal_distribution<double> noise(0, 0.7);
  std::vector<double> time, value;
  for (int i = 0; i < 400; ++i) {
    if (i > 200 && i < 260) continue;  // a gap
    time.push_back(i);
    value.push_back(20 + 5 * std::sin(i / 9.0) + noise(random));
  }
  bandgp::Series series = bandgp::make_series(time, value);
  series.axis = {.unit = "h", .format = "%Y-%m-%d %H:%M", .origin = 1709251200};  // 2024-03-01 00:00 UTC
  bandgp::FitResult fit = bandgp::fit(std::make_shared<const bandgp::Series>(std::move(series)), {});
  fit.source = {"hourly.csv", "when", "temperature"};
  bandgp::ReportOptions options;
  options.command = "bandgp fit hourly.csv";
  options.created = "2024-03-01 12:00 UTC";
  std::ofstream(argv[1]) << bandgp::report_page(bandgp::collect_report(fit, options));
}
