// SPDX-License-Identifier: Apache-2.0
#include "bandgp/fit/standard_errors.hpp"

#include <Eigen/Dense>
#include <cmath>

namespace bandgp {

Curvature curvature(Trainer& trainer, Stage& stage, const Parameters& parameters, const Model& at,
                    std::span<const double> free_gradient, const std::vector<bool>& active) {
  // Forward differences with step 1e-4: the third derivative costs 1e-4 of the curvature, the gradient's own
  // rounding (1e-10 of its scale) 1e-6.
  constexpr double kStep = 1e-4;
  const std::vector<double> x = parameters.free_logs(at);
  std::vector<std::size_t> index;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (active[i]) index.push_back(i);
  }
  const auto p = static_cast<Eigen::Index>(index.size());
  Curvature result{std::vector<double>(x.size(), kUnset), std::vector<double>(x.size(), 0.0)};
  Eigen::MatrixXd hessian(p, p);
  Likelihood likelihood;
  for (Eigen::Index j = 0; j < p; ++j) {
    std::vector<double> moved = x;
    moved[index[static_cast<std::size_t>(j)]] += kStep;
    if (trainer.cancelled()) return result;
    if (!std::isfinite(trainer.evaluate(stage, parameters.model(moved), true, likelihood))) return result;
    const std::vector<double> gradient = parameters.pick(likelihood.gradient);
    for (Eigen::Index i = 0; i < p; ++i) {
      const std::size_t k = index[static_cast<std::size_t>(i)];
      hessian(i, j) = (gradient[k] - free_gradient[k]) / kStep;
    }
  }
  hessian = 0.5 * (hessian + hessian.transpose()).eval();
  const Eigen::LLT<Eigen::MatrixXd> llt(hessian);
  if (p == 0 || llt.info() != Eigen::Success) return result;
  const Eigen::MatrixXd inverse = llt.solve(Eigen::MatrixXd::Identity(p, p));
  for (Eigen::Index i = 0; i < p; ++i) {
    const std::size_t k = index[static_cast<std::size_t>(i)];
    result.standard_errors[k] = std::sqrt(inverse(i, i));
    for (Eigen::Index j = 0; j < p; ++j) {
      result.newton_step[k] -= inverse(i, j) * free_gradient[index[static_cast<std::size_t>(j)]];
    }
  }
  return result;
}

}  // namespace bandgp
