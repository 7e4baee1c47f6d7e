// SPDX-License-Identifier: Apache-2.0
// The dual's certificate against brute force: on thousands of random problems with loose tolerances no bound
// may be broken by the dense, exact GP in long double.
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <iostream>

#include "support/problems.hpp"

namespace {

using namespace bandgp;
using support::Case;
using support::Random;
using support::Real;
using support::Times;
using support::u;

const int kProblems = support::trials(600, 10000);

Case random_problem(Random& random) {
  const auto n = static_cast<std::size_t>(random.integer(1, 30));
  const double gap = random.log_uniform(0.01, 100), ratio = random.log_uniform(0.3, 1e3);
  Case c;
  c.time = support::make_times(random, n, static_cast<Times>(random.integer(0, 2)), gap);
  if (n > 5 && random.chance(0.2)) {
    const double jump = gap * ratio * random.log_uniform(1, 100);
    for (std::size_t i = n / 2; i < n; ++i) c.time[i] += jump;
  }
  if (n > 5 && random.chance(0.15)) c.time[0] = c.time[1];
  const double size = random.log_uniform(0.1, 30);
  for (std::size_t i = 0; i < n; ++i)
    c.value.push_back(random.chance(0.5) ? size * random.normal() : size * (i % 2 == 0 ? 1 : -1));
  c.model.kernel.terms = {{Se{}, random.log_uniform(0.1, 10), gap * ratio}};
  c.model.noise = random.log_uniform(1e-5, 10);
  if (random.chance(0.4)) {
    for (std::size_t i = 0; i < n; ++i) c.variance.push_back(random.log_uniform(1e-4, 10));
  }
  c.model.mean = static_cast<Mean>(random.integer(0, n > 3 ? 2 : 1));
  c.cut = {.method = Method::dual, .tolerance = random.log_uniform(1e-4, 1e3)};
  return c;
}

TEST(DualCertificate, no_bound_is_ever_broken_by_the_dense_truth) {
  Random random(11);
  std::vector<double> nll_ratio, mean_ratio, variance_ratio;
  int kept = 0;
  for (int trial = 0; trial < kProblems; ++trial) {
    const Case c = random_problem(random);
    const dense::Problem problem = support::exact_problem(c);
    const auto solved = dense::solve_gls(problem);
    ASSERT_TRUE(solved);
    // Rounding in double is another matter than what is left out: u κ (n + q), as in the other tests.
    const Real condition = support::condition(dense::covariance(problem));
    if (condition > 1e10L) continue;
    SCOPED_TRACE(testing::Message() << "problem " << trial << ": " << c);
    Posterior posterior = support::make_posterior(c);
    const Units& units = posterior.series().units;
    const Certificate& certificate = posterior.likelihood().certificate;
    ASSERT_TRUE(certificate.positive_definite);
    if (!certificate.holds()) continue;
    const Real n = static_cast<Real>(c.size()),
               rounding = 1e-10L + 16 * u * condition * (n + solved->quadratic);
    const Real error = std::abs(posterior.likelihood().nll - *dense::nll(problem));
    EXPECT_LE(error, certificate.nll_error.value() + rounding);
    if (certificate.nll_error.value() <= c.cut.tolerance) ++kept;
    nll_ratio.push_back(static_cast<double>(error / certificate.nll_error.value()));
    std::vector<double> times;
    const auto [low, high] = std::ranges::minmax(c.time);
    for (int i = 0; i < 6; ++i) times.push_back(i == 0 ? low : i == 1 ? high : random.uniform(low, high));
    const dense::Prediction truth = *dense::predict(problem, dense::Vector(times.begin(), times.end()));
    const Prediction result = posterior.predict(times);
    const Real prior = dense::kernel(problem, 0);
    const Real mean_bound = certificate.mean_error.value() * units.value_unit,
               variance_bound = certificate.variance_error.value() * units.value_unit * units.value_unit;
    for (std::size_t t = 0; t < times.size(); ++t) {
      const Real mean_error = std::abs(result.mean[t] - truth.mean[t]),
                 variance_error = std::abs(result.variance[t] - truth.variance[t]);
      const Real scale = std::sqrt(prior * (n + solved->quadratic)) + std::abs(truth.mean[t]);
      EXPECT_LE(mean_error, mean_bound + 16 * u * condition * scale);
      EXPECT_LE(variance_error, variance_bound + 64 * u * condition * std::max(prior, truth.variance[t]));
      if (mean_bound > 1e-9L * scale) mean_ratio.push_back(static_cast<double>(mean_error / mean_bound));
      variance_ratio.push_back(static_cast<double>(variance_error / variance_bound));
    }
    if (HasFailure()) return;
  }
  const auto report = [](const char* name, std::vector<double>& ratio) {
    std::ranges::sort(ratio);
    std::cout << name << ": true error / bound, median " << ratio[ratio.size() / 2] << ", max "
              << ratio.back() << " of " << ratio.size() << '\n';
  };
  report("NLL", nll_ratio);
  report("mean", mean_ratio);
  report("variance", variance_ratio);
  std::cout << "tolerance kept by " << kept << " of " << nll_ratio.size() << '\n';
  EXPECT_GT(nll_ratio.size(), static_cast<std::size_t>(0.9 * kProblems));
  EXPECT_EQ(static_cast<std::size_t>(kept), nll_ratio.size());
}

/// A basis that is off by ε in the direction that hurts most, and weights that miss their minimum: the bound
/// of what that does to the loss holds, and is close.
TEST(DualCertificate, basis_that_is_off_changes_the_loss_by_no_more_than_its_bound) {
  Random random(12);
  Real closest = 0;
  int held = 0;
  const int trials = support::trials(500, 5000);
  for (int trial = 0; trial < trials; ++trial) {
    const auto n = random.integer(2, 8), m = random.integer(1, 4);
    const Real size = random.log_uniform(0.1, 100), cut = random.log_uniform(1e-4, 0.3);
    using Matrix = Eigen::Matrix<Real, Eigen::Dynamic, Eigen::Dynamic>;
    using Vector = Eigen::Matrix<Real, Eigen::Dynamic, 1>;
    const Matrix basis = Matrix::NullaryExpr(n, m, [&] { return Real{3 * random.normal()}; });
    const Vector y = Vector::NullaryExpr(n, [&] { return size * Real{random.normal()}; });
    const Matrix gram = Matrix::Identity(m, m) + basis.transpose() * basis;
    Vector w = gram.llt().solve(basis.transpose() * y);
    if (random.chance(0.5)) w += 1e-3L * size * Vector::NullaryExpr(m, [&] { return Real{random.normal()}; });
    const Vector r = y - basis * w;
    const Real q = r.squaredNorm() + w.squaredNorm(), missed = (basis.transpose() * r - w).norm();
    const Matrix off = (random.chance(0.5) ? cut : -cut) * r * w.transpose() / (r.norm() * w.norm());
    const Matrix exact = basis + off;
    const auto loss = [](const Matrix& covariance, Real square) {
      const Matrix l = covariance.llt().matrixL();
      return 0.5L * square + l.diagonal().array().log().sum();
    };
    const Matrix one = Matrix::Identity(n, n);
    const Matrix a = one + exact * exact.transpose();
    const Real error = std::abs(loss(one + basis * basis.transpose(), q) - loss(a, y.dot(a.llt().solve(y))));
    GridErrors errors;
    errors.cut = UpperBound::of(static_cast<double>(cut));
    errors.gram = errors.relative_cut();
    errors.residual = UpperBound::of(static_cast<double>(missed / std::sqrt(q)));
    const Certificate certificate = dual_certificate(errors, static_cast<Index>(m),
                                                     {.n = static_cast<Index>(n),
                                                      .q = static_cast<double>(q),
                                                      .weights = static_cast<double>(w.squaredNorm())});
    if (!certificate.holds()) continue;
    ++held;
    EXPECT_LE(error, certificate.nll_error.value());
    closest = std::max(closest, error / certificate.nll_error.value());
  }
  std::cout << "loss: true error / bound at most " << static_cast<double>(closest) << ", " << held << " of "
            << trials << " certified\n";
  EXPECT_GT(held, trials / 2);
  EXPECT_GT(closest, 0.9L);
}

}  // namespace
