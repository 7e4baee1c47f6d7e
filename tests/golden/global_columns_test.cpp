// SPDX-License-Identifier: Apache-2.0
// Global columns, A = A₀ + ΓΓᵀ, and the columns of the mean beside them, over every representation: the NLL
// and its gradient against the dense model with ΓΓᵀ written into the covariance.
#include <gtest/gtest.h>

#include <Eigen/Dense>

#include "bandgp/methods/make_representation.hpp"
#include "support/problems.hpp"

namespace {

using namespace bandgp;
using support::Case;
using support::Random;

using Real = long double;
using Matrix = Eigen::Matrix<Real, Eigen::Dynamic, Eigen::Dynamic>;
using Vector = Eigen::Matrix<Real, Eigen::Dynamic, 1>;

/// Two columns as a strictly periodic term has them, in internal time.
double wave(int c, double x) { return c == 0 ? 0.8 * std::cos(1.3 * x) : 0.5 * std::sin(1.3 * x); }

/// ½[yᵀA⁻¹y − its part along the mean's columns + log|A|] + (n/2) log 2π with A = K + D + ΓΓᵀ, dense.
Real dense_nll(const Series& series, const InternalModel& model) {
  const auto n = static_cast<Eigen::Index>(series.size());
  Matrix a(n, n), h(n, coefficient_count(model.mean));
  Vector y(n);
  const Real middle = 0.5L * (Real(series.time.front()) + Real(series.time.back())),
             half = 0.5L * (Real(series.time.back()) - Real(series.time.front()));
  for (Eigen::Index i = 0; i < n; ++i) {
    const double x = series.time[static_cast<std::size_t>(i)];
    y[i] = series.value[static_cast<std::size_t>(i)];
    if (h.cols() > 0) h(i, 0) = 1;
    if (h.cols() > 1) h(i, 1) = (x - middle) / half;
    for (Eigen::Index j = 0; j < n; ++j) {
      const double z = series.time[static_cast<std::size_t>(j)];
      Real sum = i == j ? Real(model.noise) : 0;
      for (const Term& term : model.kernel.terms)
        sum += Real(term.variance) * dense::shape_value(std::string(shape_name(term.shape)),
                                                        std::abs(Real(x) - Real(z)) / Real(term.lengthscale));
      for (int c = 0; c < 2; ++c) sum += Real(wave(c, x)) * Real(wave(c, z));
      a(i, j) = sum;
    }
  }
  const Eigen::LLT<Matrix> llt(a);
  const Matrix l = llt.matrixL();
  Vector z = llt.matrixL().solve(y);
  if (h.cols() > 0) {
    const Matrix g = llt.matrixL().solve(h);
    z -= g * (g.transpose() * g).ldlt().solve(g.transpose() * z);
  }
  Real nll = 0.5L * (z.dot(z) + Real(n) * std::log(2 * std::numbers::pi_v<Real>));
  for (Eigen::Index i = 0; i < n; ++i) nll += std::log(l(i, i));
  return nll;
}

void expect_dense(const Case& c, const char* method) {
  SCOPED_TRACE(method);
  const Series series = support::make_series(c);
  const InternalModel internal = to_internal(c.model, series.units);
  Evaluator evaluator(series, c.model.mean, make_representation(to_internal(c.cut, series.units), 0));
  for (int column = 0; column < 2; ++column)
    evaluator.add_column([column](double x) { return wave(column, x); });
  Likelihood likelihood;
  ASSERT_FALSE(evaluator.evaluate(internal, true, likelihood));
  EXPECT_NEAR(likelihood.nll, static_cast<double>(dense_nll(series, internal)), 1e-7) << likelihood.method;
  std::vector<double*> parameters;
  InternalModel moved = internal;
  for (Term& term : moved.kernel.terms) {
    parameters.push_back(&term.variance);
    parameters.push_back(&term.lengthscale);
  }
  parameters.push_back(&moved.noise);
  constexpr Real kStep = 1e-3L, kWeight[] = {4.0L / 5, -1.0L / 5, 4.0L / 105, -1.0L / 280};
  for (std::size_t p = 0; p < parameters.size(); ++p) {
    const double at = *parameters[p];
    Real slope = 0;
    for (int k = 1; k <= 4; ++k) {
      for (const int sign : {-1, 1}) {
        *parameters[p] = at * std::exp(static_cast<double>(sign * k * kStep));
        slope += sign * kWeight[k - 1] * dense_nll(series, moved) / kStep;
      }
    }
    *parameters[p] = at;
    EXPECT_NEAR(likelihood.gradient[p], static_cast<double>(slope),
                2e-5 * (1 + std::abs(likelihood.gradient[p])))
        << likelihood.method << ", parameter " << p;
  }
}

TEST(GlobalColumns, nll_and_gradient_equal_the_dense_model_over_every_representation) {
  Random random(6);
  int seen = 0;
  for (const Mean mean : {Mean::zero, Mean::constant, Mean::linear}) {
    Case c;
    c.time = support::make_times(random, 40, support::Times::irregular, 1.0);
    for (std::size_t i = 0; i < 40; ++i) c.value.push_back(std::sin(0.7 * c.time[i]) + 0.3 * random.normal());
    c.model.noise = 0.1;
    c.model.mean = mean;
    const auto with = [&](const char* kernel, Method method, double tolerance) {
      Case other = c;
      other.model.kernel = kernel;
      other.cut.method = method;
      other.cut.tolerance = tolerance;
      return other;
    };
    const char* const kSe = "0.7*se(lengthscale=2)";
    expect_dense(with(kSe, Method::exact, 0.01), "exact");
    expect_dense(with(kSe, Method::band, 1e-9), "band");
    expect_dense(with(kSe, Method::dual, 1e-6), "dual");
    expect_dense(with("0.7*matern32(lengthscale=3)", Method::automatic, 1e-9), "markov, one term");
    expect_dense(with("0.7*matern12(lengthscale=3) + 0.2*matern52(lengthscale=9)", Method::automatic, 1e-9),
                 "markov, two terms");
    seen += 5;
  }
  EXPECT_EQ(seen, 15);
}

TEST(GlobalColumns, other_models_take_them_as_well) {
  // FITC with an inducing input at every point, and Vecchia with all neighbours, are the exact GP.
  Random random(7);
  Case c;
  c.time = support::make_times(random, 30, support::Times::regular, 1.0);
  for (std::size_t i = 0; i < 30; ++i) c.value.push_back(random.normal());
  c.model = {"0.7*matern32(lengthscale=1.5)", 0.2, Mean::constant};
  for (const Method method : {Method::fitc, Method::vecchia}) {
    c.cut.method = method;
    c.cut.inducing = 30;
    c.cut.neighbours = 29;
    expect_dense(c, method == Method::fitc ? "fitc" : "vecchia");
  }
}

}  // namespace
