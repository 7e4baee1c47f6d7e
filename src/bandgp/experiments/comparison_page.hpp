// SPDX-License-Identifier: Apache-2.0
// A comparison as charts and tables of a page.
#pragma once
#include "bandgp/experiments/comparison.hpp"
#include "bandgp/report/document.hpp"

namespace bandgp {

/// NMSE and joint NLPD (marginal where there is no joint one) against the seconds of training.
PageSection comparison_charts(std::span<const MethodResult> results);
/// Every number; failures with their reasons as notes.
PageSection comparison_table(std::span<const MethodResult> results);

/// `fitc`, or `se + se (auto)`: what a method is called on a chart, without its size.
std::string series_name(const MethodChoice& choice);
/// 4 digits, – where there is none.
std::string number_text(double value, int digits = 4);

}  // namespace bandgp
