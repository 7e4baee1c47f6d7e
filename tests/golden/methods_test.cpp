// SPDX-License-Identifier: Apache-2.0
// The other methods against their textbook formulas, retyped here in dense long double algebra.
#include <gtest/gtest.h>

#include <functional>

#include "bandgp/methods/inducing_inputs.hpp"
#include "bandgp/methods/make_representation.hpp"
#include "support/truth.hpp"

namespace {

using namespace bandgp;
using dense::Matrix;
using support::Case;
using support::Random;
using support::Real;
using support::Times;

Matrix gram(const dense::Problem& p, const dense::Vector& a, const dense::Vector& b) {
  Matrix k(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    for (std::size_t j = 0; j < b.size(); ++j) k(i, j) = dense::kernel(p, a[i] - b[j]);
  }
  return k;
}

/// The noise of every point: D of A = K + D.
dense::Vector noise_of(const dense::Problem& p) {
  const Matrix a = dense::covariance(p);
  dense::Vector noise;
  for (std::size_t i = 0; i < a.rows; ++i) noise.push_back(a(i, i) - dense::kernel(p, 0));
  return noise;
}

/// Q = K_am (K_mm + jitter)⁻¹ K_mb; the library's jitter, which a formula without one has no use for.
Matrix nystrom(const dense::Problem& p, const dense::Vector& z, const dense::Vector& a,
               const dense::Vector& b) {
  Matrix kmm = gram(p, z, z);
  for (std::size_t j = 0; j < z.size(); ++j)
    kmm(j, j) *= 1 + 4 * 0x1p-53L * static_cast<Real>(z.size() * z.size());
  const Matrix l = *dense::cholesky(kmm), ka = gram(p, a, z), kb = gram(p, b, z);
  Matrix q(a.size(), b.size());
  for (std::size_t j = 0; j < b.size(); ++j) {
    dense::Vector column(z.size());
    for (std::size_t i = 0; i < z.size(); ++i) column[i] = kb(j, i);
    const dense::Vector solved = dense::solve(l, column);
    for (std::size_t i = 0; i < a.size(); ++i) {
      for (std::size_t k = 0; k < z.size(); ++k) q(i, j) += ka(i, k) * solved[k];
    }
  }
  return q;
}

/// A model as a covariance of the data, of tests with the data and among tests, and an addition to the loss.
struct Definition {
  Matrix data, cross, tests;  // n × n, tests × n, tests × tests
  Real extra = 0;
};

using Define = std::function<Definition(const dense::Problem&, const dense::Vector&)>;

Definition low_rank(const dense::Problem& p, const dense::Vector& z, const dense::Vector& xs, bool fitc) {
  Definition d{nystrom(p, z, p.x, p.x), nystrom(p, z, xs, p.x), gram(p, xs, xs), 0};
  const dense::Vector noise = noise_of(p);
  for (std::size_t i = 0; i < p.x.size(); ++i) {
    const Real left = dense::kernel(p, 0) - d.data(i, i);
    if (fitc) d.data(i, i) += left;
    if (!fitc) d.extra += left / (2 * noise[i]);
    d.data(i, i) += noise[i];
  }
  return d;
}

Definition tapered(const dense::Problem& p, const dense::Vector& xs, Real range,
                   Taper::Smoothness smoothness) {
  const auto taper = [&](Real lag) -> Real {
    const Real r = std::abs(lag) / range;
    if (r >= 1) return 0;
    if (smoothness == Taper::Smoothness::c0) return 1 - r;
    if (smoothness == Taper::Smoothness::c2) return std::pow(1 - r, 3) * (1 + 3 * r);
    return std::pow(1 - r, 5) * (1 + 5 * r + 8 * r * r);
  };
  const auto product = [&](const dense::Vector& a, const dense::Vector& b) {
    Matrix k = gram(p, a, b);
    for (std::size_t i = 0; i < a.size(); ++i) {
      for (std::size_t j = 0; j < b.size(); ++j) k(i, j) *= taper(a[i] - b[j]);
    }
    return k;
  };
  Definition d{product(p.x, p.x), product(xs, p.x), product(xs, xs), 0};
  const dense::Vector noise = noise_of(p);
  for (std::size_t i = 0; i < p.x.size(); ++i) d.data(i, i) += noise[i];
  return d;
}

/// A of which the precision is Σ uᵢuᵢᵀ/vᵢ, from the definition.
Matrix vecchia_precision(const dense::Problem& p, std::size_t m) {
  const Matrix a = dense::covariance(p);
  const std::size_t n = p.x.size();
  Matrix precision(n, n);
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t first = i > m ? i - m : 0, count = i - first;
    Matrix sub(count, count);
    dense::Vector cross(count);
    for (std::size_t j = 0; j < count; ++j) {
      cross[j] = a(i, first + j);
      for (std::size_t k = 0; k < count; ++k) sub(j, k) = a(first + j, first + k);
    }
    dense::Vector u(n, 0);
    Real v = a(i, i);
    if (count > 0) {
      const dense::Vector b = dense::solve(*dense::cholesky(sub), cross);
      for (std::size_t j = 0; j < count; ++j) {
        u[first + j] = -b[j];
        v -= cross[j] * b[j];
      }
    }
    u[i] = 1;
    for (std::size_t j = first; j <= i; ++j) {
      for (std::size_t k = first; k <= i; ++k) precision(j, k) += u[j] * u[k] / v;
    }
  }
  return precision;
}

Matrix inverse(const Matrix& a) {
  const Matrix l = *dense::cholesky(a);
  Matrix out(a.rows, a.rows);
  for (std::size_t j = 0; j < a.rows; ++j) {
    dense::Vector e(a.rows, 0);
    e[j] = 1;
    e = dense::solve(l, e);
    for (std::size_t i = 0; i < a.rows; ++i) out(i, j) = e[i];
  }
  return out;
}

Real loss(const Definition& d, const dense::Problem& p) {
  const auto solved = dense::solve_gls(d.data, dense::mean_basis(p, p.x), p.y);
  const Matrix l = *dense::cholesky(d.data);
  Real sum = solved->quadratic + static_cast<Real>(p.y.size()) * std::log(2 * std::numbers::pi_v<Real>);
  for (std::size_t i = 0; i < l.rows; ++i) sum += 2 * std::log(l(i, i));
  return sum / 2 + d.extra;
}

Case random_case(Random& random, std::size_t n) {
  Case c;
  c.time = support::make_times(random, n, static_cast<Times>(random.integer(0, 2)), 1);
  c.value = random.normals(n);
  c.model.kernel = support::make_kernel(random, 2, 3);
  c.model.noise = random.log_uniform(0.02, 1);
  c.model.mean = static_cast<Mean>(random.integer(0, 2));
  if (random.chance(0.3)) {
    for (std::size_t i = 0; i < n; ++i) c.variance.push_back(random.log_uniform(1e-2, 1));
  }
  return c;
}

void expect_near(Real value, Real truth, Real scale, const char* what) {
  EXPECT_NEAR(static_cast<double>(value), static_cast<double>(truth), static_cast<double>(1e-8L * scale))
      << what;
}

/// By log variance and log lengthscale of every term, then log noise: 4th-order differences of the
/// definition.
void expect_slopes(const std::vector<double>& gradient, const dense::Problem& p,
                   const std::function<Real(const dense::Problem&)>& loss_of) {
  const Real scale = 1 + std::abs(loss_of(p));
  for (std::size_t i = 0; i < gradient.size(); ++i) {
    const auto at = [&](Real step) {
      dense::Problem moved = p;
      Real& value = i + 1 == gradient.size() ? moved.noise
                    : i % 2 == 0             ? moved.terms[i / 2].variance
                                             : moved.terms[i / 2].lengthscale;
      value *= std::exp(step);
      return loss_of(moved);
    };
    const Real h = 1e-3L, slope = (8 * (at(h) - at(-h)) - (at(2 * h) - at(-2 * h))) / (12 * h);
    expect_near(gradient[i], slope, scale, "gradient");
  }
}

/// Loss, gradient, predictions and their covariance.
void expect_definition(const Case& c, const Define& define) {
  SCOPED_TRACE(testing::Message() << c << ' ' << method_name(c.cut.method));
  const Series series = support::make_series(c);
  const EvaluationResult result = evaluate(series, c.model, c.cut);
  ASSERT_FALSE(result.failure);
  EXPECT_EQ(result.likelihood.method, method_name(c.cut.method));
  const dense::Problem p = support::exact_problem(c);
  const Real truth = loss(define(p, {}), p);
  expect_near(result.likelihood.nll, truth, 1 + std::abs(truth), "loss");
  expect_slopes(result.likelihood.gradient, p,
                [&](const dense::Problem& at) { return loss(define(at, {}), at); });
  Random random(6);
  const std::vector<double> times = {c.time[1], c.time[3] + 0.3, c.time.front() - 0.7, c.time.back() + 0.4,
                                     0.5 * (c.time[4] + c.time[5])};
  Posterior posterior = support::make_posterior(c);
  const Prediction prediction = posterior.predict(times);
  const std::vector<double> covariance = posterior.covariance(times);
  const dense::Vector xs(times.begin(), times.end());
  const Definition d = define(p, xs);
  const auto solved = *dense::solve_gls(d.data, dense::mean_basis(p, p.x), p.y);
  const dense::Prediction expected = dense::krige(solved, d.cross, d.tests, dense::mean_basis(p, xs));
  for (std::size_t t = 0; t < times.size(); ++t) {
    expect_near(prediction.mean[t], expected.mean[t], 10, "mean");
    for (std::size_t s = 0; s < times.size(); ++s)
      expect_near(covariance[s * times.size() + t], expected.covariance(s, t), 10, "covariance");
    expect_near(prediction.variance[t], expected.covariance(t, t), 10, "variance");
  }
}

Case with(Case c, const Cut& cut) {
  c.cut = cut;
  return c;
}

TEST(Methods, exact_is_the_dense_model) {
  Random random(1);
  for (const std::size_t n : std::vector<std::size_t>{6, 17, 40}) {
    for (int i = 0; i < 4; ++i) {
      expect_definition(with(random_case(random, n), {.method = Method::exact}),
                        [](const dense::Problem& p, const dense::Vector& xs) {
                          return Definition{dense::covariance(p), gram(p, xs, p.x), gram(p, xs, xs), 0};
                        });
    }
  }
}

TEST(Methods, fitc_and_vfe_are_their_formulas) {
  Random random(2);
  for (const Method method : {Method::fitc, Method::vfe}) {
    for (int i = 0; i < 6; ++i) {
      Case c = random_case(random, 40);
      c.cut = {.method = method, .inducing = 7};
      dense::Vector z;
      for (Index j = 0; j < 7; ++j) {
        c.cut.inducing_inputs.push_back(c.time.front() + random.uniform(0, 40));
        z.push_back(c.cut.inducing_inputs.back());
      }
      expect_definition(c, [&](const dense::Problem& p, const dense::Vector& xs) {
        return low_rank(p, z, xs, method == Method::fitc);
      });
    }
  }
}

TEST(Methods, a_taper_is_the_hadamard_product) {
  Random random(3);
  for (const auto smoothness : {Taper::Smoothness::c0, Taper::Smoothness::c2, Taper::Smoothness::c4}) {
    for (int i = 0; i < 4; ++i) {
      const double range = random.log_uniform(2, 30);
      expect_definition(
          with(random_case(random, 40), {.method = Method::taper, .taper = {range, smoothness}}),
          [&](const dense::Problem& p, const dense::Vector& xs) {
            return tapered(p, xs, range, smoothness);
          });
    }
  }
}

TEST(Methods, vecchia_is_its_definition) {
  Random random(4);
  for (const Index m : {1, 3, 10, 39, 60}) {
    for (int i = 0; i < 3; ++i) {
      Case c = random_case(random, 40);
      c.cut = {.method = Method::vecchia, .neighbours = m};
      const Series series = support::make_series(c);
      const EvaluationResult result = evaluate(series, c.model, c.cut);
      ASSERT_FALSE(result.failure);
      const dense::Problem p = support::exact_problem(c);
      const auto loss_of = [&](const dense::Problem& at) {
        Definition d;
        d.data = inverse(vecchia_precision(at, static_cast<std::size_t>(m)));
        return loss(d, at);
      };
      const Real truth = loss_of(p);
      SCOPED_TRACE(testing::Message() << c << " m " << m);
      expect_near(result.likelihood.nll, truth, 1 + std::abs(truth), "loss");
      expect_slopes(result.likelihood.gradient, p, loss_of);
    }
  }
}

/// Each test point given its m nearest observations.
TEST(Methods, vecchia_predicts_from_the_nearest_observations) {
  Random random(5);
  for (const std::size_t m : std::vector<std::size_t>{1, 4, 12, 40}) {
    Case c = random_case(random, 40);
    c.model.mean = Mean::zero;
    c.cut = {.method = Method::vecchia, .neighbours = static_cast<Index>(m)};
    Posterior posterior = support::make_posterior(c);
    const dense::Problem p = support::exact_problem(c);
    std::vector<double> times;
    for (int t = 0; t < 30; ++t) times.push_back(random.uniform(c.time.front() - 3, c.time.back() + 3));
    const Prediction prediction = posterior.predict(times);
    for (std::size_t t = 0; t < times.size(); ++t) {
      std::vector<std::size_t> order(p.x.size());
      for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
      std::ranges::stable_sort(order, {}, [&](std::size_t i) { return std::abs(p.x[i] - times[t]); });
      order.resize(m);
      std::ranges::sort(order);
      const Matrix a = dense::covariance(p);
      Matrix sub(m, m);
      dense::Vector cross(m), y(m);
      for (std::size_t j = 0; j < m; ++j) {
        cross[j] = dense::kernel(p, p.x[order[j]] - times[t]);
        y[j] = p.y[order[j]];
        for (std::size_t k = 0; k < m; ++k) sub(j, k) = a(order[j], order[k]);
      }
      const dense::Vector w = dense::solve(*dense::cholesky(sub), cross);
      expect_near(prediction.mean[t], dense::dot(w, y), 10, "mean");
      expect_near(prediction.variance[t], dense::kernel(p, 0) - dense::dot(w, cross), 10, "variance");
    }
  }
}

TEST(Methods, inducing_gradients_are_differences_of_the_loss) {
  Random random(7);
  for (const Method method : {Method::fitc, Method::vfe}) {
    const Case c = random_case(random, 50);
    const Series series = support::make_series(c);
    std::vector<double> z;
    for (int j = 0; j < 6; ++j)
      z.push_back(series.time.front() + (j + 0.3) * 0.15 * (series.time.back() - series.time.front()));
    const InternalModel internal = to_internal(c.model, series.units);
    const auto at = [&](const std::vector<double>& inputs, std::vector<double>* gradient) {
      Evaluator evaluator(series, c.model.mean,
                          make_representation({.method = method, .inducing_inputs = inputs}, 0));
      Likelihood likelihood;
      EXPECT_FALSE(evaluator.evaluate(internal, gradient != nullptr, likelihood));
      if (gradient != nullptr) {
        const auto slopes = inducing_inputs(evaluator.representation())->input_gradient();
        gradient->assign(slopes.begin(), slopes.end());
      }
      return likelihood.nll;
    };
    std::vector<double> gradient;
    at(z, &gradient);
    ASSERT_EQ(gradient.size(), z.size());
    for (std::size_t j = 0; j < z.size(); ++j) {
      const double h = 1e-4 * (series.time.back() - series.time.front());
      const auto moved = [&](double step) {
        std::vector<double> inputs = z;
        inputs[j] += step;
        return at(inputs, nullptr);
      };
      const double slope = (8 * (moved(h) - moved(-h)) - (moved(2 * h) - moved(-2 * h))) / (12 * h);
      EXPECT_NEAR(gradient[j], slope, 1e-5 * (1 + std::abs(slope)));
    }
  }
}

TEST(Methods, meet_the_exact_one_where_they_must) {
  Random random(8);
  for (int i = 0; i < 20; ++i) {
    const Case c = random_case(random, 30);
    const Series series = support::make_series(c);
    const double exact = evaluate(series, c.model, {.method = Method::exact}).likelihood.nll;
    const auto nll = [&](const Cut& cut) { return evaluate(series, c.model, cut).likelihood.nll; };
    const double scale = 1 + std::abs(exact);
    for (const Index m : {1, 3, 10, 29})
      EXPECT_GE(nll({.method = Method::vfe, .inducing = m}), exact - 1e-9 * scale);
    EXPECT_NEAR(nll({.method = Method::vfe, .inducing = 30}), exact, 1e-8 * scale);
    EXPECT_NEAR(nll({.method = Method::fitc, .inducing = 30}), exact, 1e-8 * scale);
    EXPECT_NEAR(nll({.method = Method::vecchia, .neighbours = 29}), exact, 1e-9 * scale);
    EXPECT_NEAR(nll({.method = Method::band, .rule = Cut::Rule::bandwidth, .bandwidth = 29}), exact,
                1e-10 * scale);
    double before = std::numeric_limits<double>::infinity();
    for (const double range : {1e3, 1e5, 1e7}) {
      const double distance = std::abs(nll({.method = Method::taper, .taper = {range}}) - exact);
      EXPECT_LT(distance, before);
      before = distance;
    }
    EXPECT_NEAR(before, 0, 1e-8 * scale);
  }
}

TEST(Methods, stay_stable_with_many_inducing_inputs) {
  Random random(9);
  Case c;
  c.time = support::make_times(random, 900, Times::irregular, 1);
  for (const double t : c.time) c.value.push_back(std::sin(t / 20) + 0.1 * random.normal());
  c.model = {"1*se(lengthscale=60)", 0.01, Mean::constant};  // 400 inputs, 27 to a length-scale
  const Series series = support::make_series(c);
  const double exact = evaluate(series, c.model, {.method = Method::exact}).likelihood.nll;
  for (const Method method : {Method::fitc, Method::vfe}) {
    const EvaluationResult result = evaluate(series, c.model, {.method = method, .inducing = 400});
    ASSERT_FALSE(result.failure);
    EXPECT_NEAR(result.likelihood.nll, exact, 1e-4);
  }
}

/// A factor that slides over 400 windows of hardly any noise is still that of each window.
TEST(Methods, a_sliding_factor_does_not_drift) {
  Random random(11);
  Case c;
  c.time = support::make_times(random, 400, Times::irregular, 1);
  for (const double t : c.time) c.value.push_back(std::sin(t / 20) + 0.001 * random.normal());
  c.model = {"1*se(lengthscale=60)", 1e-6, Mean::zero};
  c.cut = {.method = Method::vecchia, .neighbours = 60};
  const dense::Problem p = support::exact_problem(c);
  Definition d;
  d.data = inverse(vecchia_precision(p, 60));
  const EvaluationResult result = evaluate(support::make_series(c), c.model, c.cut);
  ASSERT_FALSE(result.failure);
  EXPECT_NEAR(result.likelihood.nll, static_cast<double>(loss(d, p)), 1e-4);
}

FitResult fit_with(const std::shared_ptr<const Series>& series, const Cut& cut) {
  FitOptions options;
  options.cut = cut;
  return fit(series, options);
}

/// Leave-one-out and training are the common code: that they run, and where they must agree with exact.
TEST(Methods, train_and_leave_one_out) {
  Random random(10);
  Case c;
  c.time = support::make_times(random, 250, Times::irregular, 1);
  for (const double t : c.time) c.value.push_back(2 + std::sin(t / 5) + 0.2 * random.normal());
  const auto series = std::make_shared<const Series>(make_series(c.time, c.value));
  const FitResult exact = fit_with(series, {.method = Method::exact});
  ASSERT_EQ(exact.status, FitStatus::converged);
  EXPECT_TRUE(exact.certificate.holds());
  const LeaveOneOut truth = exact.posterior()->leave_one_out();
  for (const Cut& cut :
       {Cut{.method = Method::fitc, .inducing = 125}, Cut{.method = Method::vfe, .inducing = 125},
        Cut{.method = Method::taper, .taper = {5000}}, Cut{.method = Method::vecchia, .neighbours = 60}}) {
    const FitResult other = fit_with(series, cut);
    EXPECT_EQ(other.status, FitStatus::converged) << method_name(cut.method);
    EXPECT_EQ(other.method, method_name(cut.method));
    EXPECT_TRUE(other.certified());
    EXPECT_FALSE(other.certificate.holds());
    EXPECT_NEAR(other.nll, exact.nll, 0.05) << method_name(cut.method);
    const LeaveOneOut loo = other.posterior()->leave_one_out();
    for (std::size_t i = 0; i < loo.mean.size(); ++i) EXPECT_NEAR(loo.mean[i], truth.mean[i], 0.02);
  }
  const FitResult fixed = fit_with(series, {.method = Method::vfe, .inducing = 20});
  const FitResult moved = fit_with(series, {.method = Method::vfe, .inducing = 20, .move_inducing = true});
  EXPECT_LT(moved.nll, fixed.nll - 0.1);
  EXPECT_GE(moved.nll, exact.nll - 1e-6);
  EXPECT_EQ(moved.cut.inducing_inputs.size(), 20U);
  EXPECT_NEAR(moved.posterior()->likelihood().nll, moved.nll, 1e-6);
}

}  // namespace
