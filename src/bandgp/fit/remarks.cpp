// SPDX-License-Identifier: Apache-2.0
#include "bandgp/fit/remarks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "bandgp/fit/starts.hpp"

namespace bandgp {
namespace {

/// NLL of independent values with variances noise + known, the mean's coefficients by weighted least squares.
double independent_nll(const Series& series, Mean mean, std::span<const double> time, double noise) {
  double w0 = 0, w1 = 0, w2 = 0, y0 = 0, y1 = 0, yy = 0, logs = 0;
  for (std::size_t i = 0; i < series.value.size(); ++i) {
    const double d = noise + (series.variance.empty() ? 0 : series.variance[i]), w = 1 / d, x = time[i],
                 y = series.value[i];
    w0 += w;
    w1 += w * x;
    w2 += w * x * x;
    y0 += w * y;
    y1 += w * x * y;
    yy += w * y * y;
    logs += std::log(2 * std::numbers::pi * d);
  }
  if (mean != Mean::zero) yy -= y0 * y0 / w0;
  const double spread = w2 - w1 * w1 / w0, slope = y1 - w1 * y0 / w0;
  if (mean == Mean::linear && spread > 0) yy -= slope * slope / spread;
  return 0.5 * (std::max(0.0, yy) + logs);
}

}  // namespace

double white_noise_nll(const Series& series, Mean mean) {
  // Times of the observations, between −1 and 1.
  const double middle = 0.5 * (series.time.front() + series.time.back());
  const double half = std::max(0.5 * (series.time.back() - series.time.front()), 1e-300);
  std::vector<double> time;
  double square = 0;
  for (Index i = 0; i < series.size(); ++i) {
    const Index ties = series.has_ties() ? series.group[static_cast<std::size_t>(i) + 1] -
                                               series.group[static_cast<std::size_t>(i)]
                                         : 1;
    time.insert(time.end(), static_cast<std::size_t>(ties),
                (series.time[static_cast<std::size_t>(i)] - middle) / half);
  }
  for (const double y : series.value) square += y * y / static_cast<double>(series.value.size());
  const auto at = [&](double log_noise) {
    return independent_nll(series, mean, time, square * std::exp(log_noise));
  };
  // Golden section; the loss has one minimum in log noise where no errors are known, and is flat where they
  // are all there is.
  constexpr double kGolden = 0.6180339887498949;
  double low = -30, high = 3, a = high - kGolden * (high - low), b = low + kGolden * (high - low);
  double at_a = at(a), at_b = at(b);
  while (high - low > 1e-3) {
    if (at_a < at_b) {
      high = std::exchange(b, a);
      at_b = at_a;
      at_a = at(a = high - kGolden * (high - low));
    } else {
      low = std::exchange(a, b);
      at_a = at_b;
      at_b = at(b = low + kGolden * (high - low));
    }
  }
  return nll_to_user(std::min(at_a, at_b), series);
}

std::vector<std::string> remarks(const FitResult& fit) {
  std::vector<std::string> remarks;
  if (!std::isfinite(fit.nll) || fit.series->size() == 0) return remarks;
  const Series& series = *fit.series;
  const std::vector<Term>& terms = fit.model.kernel.terms;
  const bool rounded = fit.rounding > std::max(fit.cut.tolerance, 1e-4);
  if (fit.status == FitStatus::rounding && !rounded)
    remarks.emplace_back(
        "double precision is the limit: with less noise than this the NLL is lower, and the covariance "
        "singular");
  if (fit.status == FitStatus::rounding && rounded)
    remarks.push_back(fmt::format(
        "double precision is the limit: with this little noise (a {:.1g} of the curve's variance) rounding "
        "changes the NLL by about {:.1g} nats",
        fit.model.noise / fit.model.kernel.variance(), fit.rounding));
  if (fit.status == FitStatus::cancelled) return remarks;  // what follows judges a fit that ended by itself
  const DataScale scale = data_scale(series, fit.model.mean);
  const InternalModel internal = to_internal(fit.model, series.units);
  const auto vanished = [&](std::size_t term) { return has_vanished(internal.kernel.terms[term], scale); };
  for (std::size_t i = 0; i < terms.size() && terms.size() > 1; ++i) {
    if (vanished(i))
      remarks.push_back(fmt::format(
          "term {} is not supported by the data: its variance ended at (numerically) zero", i + 1));
  }
  const Index parameters = std::ssize(parameter_names(fit.model.kernel)) + coefficient_count(fit.model.mean);
  if (series.observations() < 3 * parameters) {
    remarks.push_back(
        fmt::format("only {} observations for {} parameters: these values are hardly determined",
                    series.observations(), parameters));
    return remarks;
  }
  // Twice the gain in NLL is χ² with two degrees of freedom a term under noise alone: beyond 3 nats in 5 % of
  // cases.
  const double noise_alone = white_noise_nll(series, fit.model.mean);
  if (fit.nll > noise_alone - 3) {
    remarks.push_back(
        fmt::format("noise alone describes these data as well (NLL {:.2f}, with the curve {:.2f}): the "
                    "curve's variance is not "
                    "distinguishable from 0",
                    noise_alone, fit.nll));
    return remarks;
  }
  for (std::size_t i = 0; i < terms.size(); ++i) {
    if (vanished(i)) continue;
    if (terms[i].has(&Term::period) && terms[i].period > series.report.span)
      remarks.push_back(
          fmt::format("term {} does not oscillate within these data: its period ({:.4g}) is longer than the "
                      "series ({:.4g})",
                      i + 1, terms[i].period, series.report.span));
    for (std::size_t j = i + 1; j < terms.size(); ++j) {
      const bool same = !vanished(j) && terms[i].same_form(terms[j]) &&
                        std::abs(std::log(terms[i].lengthscale / terms[j].lengthscale)) < 0.05;
      if (same)
        remarks.push_back(fmt::format(
            "terms {} and {} have the same shape and length-scale ({:.4g} and {:.4g}): one of them would do",
            i + 1, j + 1, terms[i].lengthscale, terms[j].lengthscale));
    }
    // Averaged over a length-scale, a term must rise above the noise to be seen.
    const double seen = terms[i].variance * std::max(1.0, terms[i].lengthscale / series.report.mean_gap);
    if (terms.size() > 1 && seen < 0.1 * fit.model.noise)
      remarks.push_back(
          fmt::format("term {} is lost in the noise (its variance is {:.2g}): the others would do", i + 1,
                      terms[i].variance));
  }
  return remarks;
}

}  // namespace bandgp
