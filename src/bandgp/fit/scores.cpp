// SPDX-License-Identifier: Apache-2.0
#include "bandgp/fit/scores.hpp"

#include <Eigen/Dense>
#include <cmath>
#include <numbers>
#include <numeric>

namespace bandgp {
namespace {

constexpr double kQuantile = 1.959963984540054;  // Φ(1.96) = 0.975

/// −log N(y; μ, C) through a dense Cholesky.
double joint_density(std::span<const double> truth, std::span<const double> mean,
                     std::span<const double> covariance) {
  const auto n = static_cast<Eigen::Index>(truth.size());
  using Vector = Eigen::Map<const Eigen::VectorXd>;
  using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const Eigen::LLT<Eigen::MatrixXd> llt(Eigen::Map<const RowMajor>(covariance.data(), n, n));
  if (llt.info() != Eigen::Success) return kUnset;
  const Eigen::MatrixXd& l = llt.matrixLLT();
  const Eigen::VectorXd z = llt.matrixL().solve(Vector(truth.data(), n) - Vector(mean.data(), n));
  return 0.5 * z.squaredNorm() + l.diagonal().array().log().sum() +
         0.5 * static_cast<double>(n) * std::log(2 * std::numbers::pi);
}

}  // namespace

Scores score(std::span<const double> truth, std::span<const double> mean, std::span<const double> variance,
             std::span<const double> covariance) {
  const auto n = static_cast<double>(truth.size());
  const double average = std::accumulate(truth.begin(), truth.end(), 0.0) / n;
  double square = 0, spread = 0, density = 0, crps = 0, inside = 0;
  for (std::size_t i = 0; i < truth.size(); ++i) {
    const double r = truth[i] - mean[i], deviation = std::sqrt(variance[i]), z = r / deviation;
    square += r * r;
    spread += (truth[i] - average) * (truth[i] - average);
    density += 0.5 * (std::log(2 * std::numbers::pi * variance[i]) + z * z);
    // ∫(F − 1{y ≤ ·})² for a Gaussian F (Gneiting & Raftery 2007).
    crps += deviation *
            (z * std::erf(z / std::numbers::sqrt2) +
             std::sqrt(2 / std::numbers::pi) * std::exp(-0.5 * z * z) - 1 / std::sqrt(std::numbers::pi));
    inside += std::abs(z) <= kQuantile ? 1 : 0;
  }
  Scores scores{square / spread, kUnset, density / n, crps / n, inside / n};
  if (!covariance.empty()) scores.nlpd_joint = joint_density(truth, mean, covariance);
  return scores;
}

}  // namespace bandgp
