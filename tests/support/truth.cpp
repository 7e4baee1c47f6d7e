// SPDX-License-Identifier: Apache-2.0
#include "support/truth.hpp"

namespace support {

std::vector<double> test_times(Random& random, const Case& c) {
  const auto [low, high] = std::ranges::minmax(c.time);
  const double span = high > low ? high - low : 1;
  std::vector<double> times;
  for (int i = 0; i < 12; ++i) times.push_back(random.uniform(low, high));
  for (int i = 0; i < 4; ++i) times.push_back(random.pick(c.time));
  for (const double far : {0.01, 0.1, 0.3, 1.0, 10.0, 1e6}) {
    times.push_back(high + far * span);
    times.push_back(low - far * span);
  }
  std::ranges::sort(times, [](double a, double b) { return std::sin(1e3 * a) < std::sin(1e3 * b); });
  return times;
}

void expect_within(Real actual, Real expected, Real allowed, Real& used) {
  EXPECT_CLOSE(actual, expected, allowed);
  used = std::max(used, std::abs(actual - expected) / allowed);
}

void expect_likelihood(double nll, const std::vector<double>& gradient, const Truth& truth, Used& used) {
  const Real backward =
      u * truth.condition * (static_cast<Real>(truth.problem.size()) + truth.solved->quadratic);
  const Real exact = *dense::nll(truth.problem);
  expect_within(nll, exact, std::max(1e-10L * std::max<Real>(1, std::abs(exact)), backward), used.nll);
  // Terms that oscillate have more parameters, whose slopes are told by differences.
  const bool oscillates = gradient.size() > 2 * truth.problem.terms.size() + 1;
  const dense::Vector slope =
      oscillates ? dense::gradient(truth.problem) : analytic_gradient(truth.problem, *truth.solved);
  ASSERT_EQ(gradient.size(), slope.size());
  for (std::size_t i = 0; i < slope.size(); ++i) {
    SCOPED_TRACE(testing::Message() << "parameter " << i);
    expect_within(gradient[i], slope[i],
                  std::max(1e-8L * std::max<Real>(1, std::abs(slope[i])), 4 * backward), used.gradient);
  }
}

void expect_posterior(bandgp::Posterior& posterior, const Truth& truth, const std::vector<double>& times,
                      const dense::Prediction& expected, const std::optional<dense::LeaveOneOut>& loo,
                      Used& used) {
  const bandgp::Prediction result = posterior.predict(times);
  const std::vector<double> covariance = posterior.covariance(times);
  for (std::size_t t = 0; t < times.size(); ++t) {
    SCOPED_TRACE(testing::Message() << "at " << times[t]);
    expect_within(result.mean[t], expected.mean[t], truth.mean_error(expected.mean[t]), used.mean);
    expect_within(result.variance[t], expected.variance[t], truth.variance_error(expected.variance[t]),
                  used.variance);
    EXPECT_GE(result.variance[t], 0);
    for (std::size_t s = 0; s < times.size(); ++s) {
      const Real larger = std::max(std::abs(expected.variance[t]), std::abs(expected.variance[s]));
      EXPECT_CLOSE(covariance[s * times.size() + t], expected.covariance(s, t), truth.variance_error(larger))
          << "and " << times[s];
    }
  }
  if (!loo) return;
  const bandgp::LeaveOneOut out = posterior.leave_one_out();
  const Real spread =
      std::sqrt(truth.prior * (static_cast<Real>(truth.problem.size()) + truth.solved->quadratic));
  for (std::size_t i = 0; i < out.mean.size(); ++i) {
    const auto row = static_cast<std::size_t>(posterior.series().row[i]);
    SCOPED_TRACE(testing::Message() << "row " << row);
    const Real size = std::abs(loo->mean[row]), deviation = std::sqrt(loo->variance[row]);
    expect_within(out.mean[i], loo->mean[row],
                  std::max(1e-8L * (size + std::sqrt(truth.prior)),
                           16 * u * truth.condition * (spread + size + deviation)),
                  used.loo);
    EXPECT_CLOSE(out.variance[i], loo->variance[row],
                 std::max(1e-8L, 64 * u * truth.condition) * std::max(truth.prior, loo->variance[row]));
  }
}

void expect_same_likelihood(const bandgp::EvaluationResult& a, const bandgp::EvaluationResult& b,
                            double nats) {
  ASSERT_FALSE(a.failure || b.failure);
  EXPECT_CLOSE(a.likelihood.nll, b.likelihood.nll, 2 * nats + 1e-12 * std::abs(b.likelihood.nll));
  ASSERT_EQ(a.likelihood.gradient.size(), b.likelihood.gradient.size());
  for (std::size_t i = 0; i < b.likelihood.gradient.size(); ++i) {
    EXPECT_CLOSE(a.likelihood.gradient[i], b.likelihood.gradient[i],
                 1e-8 * (std::abs(b.likelihood.gradient[i]) + 1000));
  }
}

}  // namespace support
