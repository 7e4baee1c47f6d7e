// SPDX-License-Identifier: Apache-2.0
#include "bandgp/gp/bandwidth_rules.hpp"

#include <fmt/format.h>

#include <cmath>
#include <stdexcept>

#include "bandgp/bandwidth/choose.hpp"
#include "bandgp/bandwidth/grid_rules.hpp"
#include "bandgp/bandwidth/rules.hpp"
#include "bandgp/gp/observations.hpp"

namespace bandgp {

BandwidthRules bandwidth_rules(const Model& model, double gap, Index n, double nats) {
  require_valid(model.kernel);
  if (!(model.noise > 0) || !std::isfinite(model.noise))
    throw std::invalid_argument(
        fmt::format("noise is {}, must be positive where there are no data", model.noise));
  if (!(gap > 0) || !std::isfinite(gap))
    throw std::invalid_argument(fmt::format("gap is {}, must be finite and positive", gap));
  if (n <= 0) throw std::invalid_argument(fmt::format("n is {}, must be positive", n));
  const Kernel& kernel = model.kernel;
  const double rho = rho_for_tolerance(nats, static_cast<double>(n), n);
  return {n,
          gap,
          corollary_bandwidth(kernel, model.noise, gap, n),
          theorem_bandwidth(kernel, model.noise, gap, n),
          grid_bandwidth(kernel, gap, n, model.noise),
          grid_bandwidth(kernel, gap, n, rho * model.noise)};
}

BandwidthRules bandwidth_rules(const Model& model, const Series& series, double nats) {
  require_usable(model, series);
  const InternalModel internal = to_internal(model, series.units);
  Observations points(series);
  points.at(internal.noise);
  const Index n = points.size();
  const double noise = points.smallest_noise();
  const WeightedPoints weighted = points.weighted();
  const double rho = rho_for_tolerance(nats, points.noise_weighted_square(model.mean != Mean::zero), n);
  const double gap =
      n > 1 ? series.report.min_gap / series.units.time_unit : std::numeric_limits<double>::infinity();
  Envelope envelope;
  return {n,
          n > 1 ? series.report.min_gap : kUnset,
          corollary_bandwidth(internal.kernel, noise, gap, n),
          theorem_bandwidth(internal.kernel, noise, gap, n),
          choose_band(internal.kernel, weighted, 1.0, envelope).bandwidth,
          choose_band(internal.kernel, weighted, rho, envelope).bandwidth};
}

}  // namespace bandgp
