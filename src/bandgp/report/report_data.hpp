// SPDX-License-Identifier: Apache-2.0
// All that a report shows.  Plain numbers in the user's units: whoever has them can have a page.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "bandgp/fit/diagnostics.hpp"
#include "bandgp/fit/explain.hpp"
#include "bandgp/fit/fit.hpp"
#include "bandgp/fit/spectrum.hpp"

namespace bandgp {

/// How times are to be written: as numbers, or as dates where `origin` (seconds since 1970, UTC) says when
/// time 0 was and `unit` (s, min, h, d or y) what a time is counted in.
struct ReportAxis {
  std::string form = "number";  // number or timestamp
  std::string unit;             // shown behind numbers; empty: not known
  std::optional<double> origin;
  std::string zone = {};  // of dates: UTC, or empty where the file names none
};

/// Observations, in time order; all arrays of one length or empty.
struct ReportPoints {
  std::vector<double> time, value;
  std::vector<double> error;         // known standard errors; empty: none
  std::vector<double> standardised;  // leave-one-out residuals; empty: there are none
  Index of = 0;                      // how many observations these stand for
};

/// The posterior: the curve and the standard deviation of what it says about itself.
struct ReportCurve {
  std::vector<double> time, mean, deviation;
};

/// A term of the kernel by itself: what it is in words, and its share of the curve.
struct ReportComponent {
  ComponentStory story;
  std::vector<double> mean, deviation;  // at ReportData::component_time; empty where there is one term
};

/// A banded matrix, as seen from afar and from near its widest row.
struct ReportMatrix {
  std::string rows;  // points or nodes
  Index size = 0, bandwidth = 0;
  double kept = 0;                // entries on and below the diagonal
  std::vector<Index> row, first;  // row i keeps columns first … row
  Index window_begin = 0;         // a stretch of consecutive rows
  std::vector<Index> window_first;
};

/// What white noise can be told by: n values, their order statistics by rank, and autocorrelations.
struct ReportNoise {
  Index count = 0;
  std::vector<Index> rank;              // 0 … count−1
  std::vector<double> quantile;         // the value of that rank
  std::vector<double> autocorrelation;  // lags 1, 2, …
  std::vector<Index> pit;               // histogram of Φ(z), leave-one-out
};

struct ReportData {
  FitResult fit;
  std::string command;  // that writes this page again, quoted for a shell
  std::string created;  // when, as text
  ReportAxis axis;
  ReportPoints points;
  ReportCurve curve;
  std::vector<double> component_time;
  std::vector<ReportComponent> components;
  std::optional<double> forecast_from;  // the last time of the data, where the curve is a forecast behind it
  Diagnostics diagnostics;              // its residuals are in points
  ReportNoise noise;
  Spectrum spectrum, spectrum_left;  // of the data, and of leave-one-out residuals; empty: not known
  std::vector<ReportMatrix> matrices;
  /// The covariance as a band, at the same tolerance, where that is not what is factored.
  std::optional<ReportMatrix> covariance;
  std::string remark;  // what is missing, and how to get it; empty: nothing
};

struct ReportOptions {
  std::string command = {}, created = {};
  Spelling spelling = plain_spelling;  // of options in the page's remarks
  Index threads = 1;
  double horizon = 0;  // how far the curve goes on behind the data (user's units); 0: a little
  std::function<void(Index done, Index of)> progress = {};  // parts of the work, as they are done
};

/// Predicts, leaves out one by one, and gathers.  A fit that failed gives a report without a curve.
ReportData collect_report(const FitResult& fit, const ReportOptions& options);

/// One HTML file that needs nothing else.
std::string report_page(const ReportData& data);

}  // namespace bandgp
