// SPDX-License-Identifier: Apache-2.0
#include "bandgp/fit/standard_errors.hpp"

#include <Eigen/Dense>
#include <cmath>

namespace bandgp {

namespace {

using Indices = std::vector<std::size_t>;

/// Forward differences of the gradient with step 1e-4: the third derivative costs 1e-4 of the curvature, the
/// gradient's own rounding (1e-10 of its scale) 1e-6.
bool from_gradients(Trainer& trainer, Stage& stage, const Parameters& parameters,
                    const std::vector<double>& x, const Indices& index, std::span<const double> at_x,
                    Eigen::MatrixXd& hessian) {
  constexpr double kStep = 1e-4;
  Likelihood likelihood;
  for (std::size_t j = 0; j < index.size(); ++j) {
    std::vector<double> moved = x;
    moved[index[j]] += kStep;
    if (trainer.cancelled()) return false;
    if (!std::isfinite(trainer.evaluate(stage, parameters.model(moved), true, likelihood))) return false;
    const std::vector<double> gradient = parameters.pick(likelihood.gradient);
    for (std::size_t i = 0; i < index.size(); ++i)
      hessian(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j)) =
          (gradient[index[i]] - at_x[index[i]]) / kStep;
  }
  return true;
}

/// Differences of the loss: the diagonal is known, an entry beside it takes one evaluation more.
bool from_values(Trainer& trainer, Stage& stage, const Parameters& parameters, const std::vector<double>& x,
                 double value, const Indices& index, const Differences& known, Eigen::MatrixXd& hessian) {
  Likelihood likelihood;
  for (std::size_t j = 0; j < index.size(); ++j) {
    const std::size_t a = index[j];
    const auto column = static_cast<Eigen::Index>(j);
    hessian(column, column) = known.curvature[a];
    for (std::size_t i = 0; i < j; ++i) {
      const std::size_t b = index[i];
      const double h = known.measured[a], k = known.measured[b];
      std::vector<double> moved = x;
      moved[a] += h;
      moved[b] -= k;  // downhill where both logs raise the variance: the two steps must not add up
      if (trainer.cancelled()) return false;
      const double nll = trainer.evaluate(stage, parameters.model(moved), false, likelihood);
      if (!std::isfinite(nll)) return false;
      const double alone = known.gradient[a] * h - known.gradient[b] * k +
                           0.5 * (known.curvature[a] * h * h + known.curvature[b] * k * k);
      const auto row = static_cast<Eigen::Index>(i);
      hessian(row, column) = hessian(column, row) = (alone - (nll - value)) / (h * k);
    }
  }
  return true;
}

}  // namespace

Curvature curvature(Trainer& trainer, Stage& stage, const Parameters& parameters, const InternalModel& at,
                    double value, std::span<const double> free_gradient, const std::vector<bool>& active,
                    const Differences* differences, double rounding) {
  const std::vector<double> x = parameters.free_logs(at);
  std::vector<std::size_t> index;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (active[i]) index.push_back(i);
  }
  const auto p = static_cast<Eigen::Index>(index.size());
  Curvature result;
  result.standard_errors.assign(x.size(), kUnset);
  result.newton_step.assign(x.size(), 0.0);
  Eigen::MatrixXd hessian(p, p);
  Eigen::VectorXd slope(p);
  for (Eigen::Index j = 0; j < p; ++j) slope[j] = free_gradient[index[static_cast<std::size_t>(j)]];
  const bool by_values = differences != nullptr;
  const bool done = by_values
                        ? from_values(trainer, stage, parameters, x, value, index, *differences, hessian)
                        : from_gradients(trainer, stage, parameters, x, index, free_gradient, hessian);
  if (!done) return result;
  result.known = hessian.allFinite();
  if (!result.known) return result;
  if (p == 0) {
    result.decrement = 0;
    return result;
  }
  // In units in which each parameter has curvature one, or in the steps of the differences of the loss,
  // entries are in nats.  A Hessian is symmetric: how far differences of the gradient are from that is how
  // far they can be trusted; differences of the loss are off by a few times its rounding.
  Eigen::VectorXd unit(p);
  for (Eigen::Index i = 0; i < p; ++i)
    unit[i] = by_values ? differences->measured[index[static_cast<std::size_t>(i)]]
                        : 1 / std::sqrt(std::max(1.0, std::abs(hessian(i, i))));
  Eigen::MatrixXd scaled = unit.asDiagonal() * hessian * unit.asDiagonal();
  const double doubt =
      1e-9 + (by_values ? 4 * rounding : (scaled - scaled.transpose()).cwiseAbs().maxCoeff());
  hessian = 0.5 * (hessian + hessian.transpose()).eval();
  scaled = 0.5 * (scaled + scaled.transpose()).eval();
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> eigen(scaled);
  const Eigen::VectorXd along = eigen.eigenvectors().transpose() * unit.asDiagonal() * slope;
  const Eigen::VectorXd size = eigen.eigenvalues().cwiseAbs().cwiseMax(doubt);
  result.decrement = 0.5 * (along.array().square() / size.array()).sum();
  const Eigen::MatrixXd axes = unit.asDiagonal() * eigen.eigenvectors();
  const Eigen::MatrixXd absolute_inverse = axes * size.cwiseInverse().asDiagonal() * axes.transpose();
  result.inverse_hessian.assign(x.size() * x.size(), 0.0);
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (!active[i]) result.inverse_hessian[i * x.size() + i] = 1;  // held by its bound until the slope turns
  }
  for (Eigen::Index i = 0; i < p; ++i) {
    for (Eigen::Index j = 0; j < p; ++j)
      result.inverse_hessian[index[static_cast<std::size_t>(i)] * x.size() +
                             index[static_cast<std::size_t>(j)]] = absolute_inverse(i, j);
  }
  if (eigen.eigenvalues()[0] < -2 * doubt - 1e-3) {
    result.downward.assign(x.size(), 0.0);
    const double length = (along[0] > 0 ? -1 : 1) * axes.col(0).norm();
    for (Eigen::Index i = 0; i < p; ++i)
      result.downward[index[static_cast<std::size_t>(i)]] = axes(i, 0) / length;
  }
  const Eigen::LLT<Eigen::MatrixXd> llt(hessian);
  if (llt.info() != Eigen::Success) return result;
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
