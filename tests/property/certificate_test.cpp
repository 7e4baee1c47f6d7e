// SPDX-License-Identifier: Apache-2.0
// The certificate against brute force: on thousands of random small problems no bound may be broken by the
// dense, exact GP in long double, and no bound may be needlessly wide.  A failure prints the number of its
// problem, which is its seed.
#include "bandgp/bandwidth/certificate.hpp"

#include <gtest/gtest.h>

#include <iostream>

#include "bandgp/bandwidth/choose.hpp"
#include "bandgp/bandwidth/rules.hpp"
#include "support/problems.hpp"

namespace {

using namespace bandgp;
using dense::Vector;
using support::Case;
using support::Random;
using support::Real;
using support::Times;
using support::u;

const auto kProblems =
    static_cast<std::uint64_t>(support::trials(800, 12000));  // of the first test; the others take parts
constexpr Real kLongRoundoff = std::numeric_limits<Real>::epsilon();

/// One point for each distinct time, with its merged variance d̄: what ρ is made of.
struct Merged {
  std::vector<double> x;
  Vector d;

  explicit Merged(const Case& c) {
    const std::vector<Index> rank = support::ranks(c.time);
    const auto n = static_cast<std::size_t>(1 + *std::ranges::max_element(rank));
    x.resize(n);
    Vector precision(n);
    for (std::size_t i = 0; i < c.size(); ++i) {
      const auto at = static_cast<std::size_t>(rank[i]);
      x[at] = c.time[i];
      precision[at] += 1 / (static_cast<Real>(c.model.noise) + (c.variance.empty() ? 0 : c.variance[i]));
    }
    for (const Real p : precision) d.push_back(1 / p);
  }
  std::size_t size() const { return x.size(); }
};

/// Row sums of |K_ij|/√(dᵢdⱼ) over the pairs of distinct times that `kept(i, j)` drops; the largest.
template <class Kept>
Real brute_force_rho(const Merged& points, const dense::Problem& problem, Kept kept) {
  Real largest = 0;
  for (std::size_t i = 0; i < points.size(); ++i) {
    Real sum = 0;
    for (std::size_t j = 0; j < points.size(); ++j) {
      if (i == j || kept(i, j)) continue;
      sum += dense::kernel(problem, static_cast<Real>(points.x[i]) - points.x[j]) /
             std::sqrt(points.d[i] * points.d[j]);
    }
    largest = std::max(largest, sum);
  }
  return largest;
}

Real brute_force_rho(const Case& c, const dense::Problem& problem) {
  const Merged points(c);
  return brute_force_rho(points, problem, [&](std::size_t i, std::size_t j) {
    if (c.cut.rule == Cut::Rule::reach) return std::abs(points.x[i] - points.x[j]) <= c.cut.reach;
    return std::abs(static_cast<Index>(i) - static_cast<Index>(j)) <= c.cut.bandwidth;
  });
}

/// The eigenvector of A's smallest eigenvalue, nearly.
Vector weakest_direction(const dense::Matrix& a) {
  const auto l = dense::cholesky(a);
  Vector v(a.rows, 1);
  for (std::size_t i = 0; i < v.size(); i += 2) v[i] = -1.1L;
  for (int step = 0; l && step < 8; ++step) {
    const Real length = std::sqrt(dense::dot(v, v));
    for (Real& x : v) x /= length;
    v = dense::solve(*l, v);
  }
  return v;
}

/// Times, kernel, cut and errors at random; the errors are then scaled until ρ is what the problem asks for.
Case random_problem(Random& random) {
  const auto n = static_cast<std::size_t>(random.integer(2, 40));
  const double gap = random.log_uniform(0.01, 100);
  Case c;
  c.time = support::make_times(random, n, static_cast<Times>(random.integer(0, 2)), gap);
  c.model.kernel = support::make_kernel(random, 3, gap);
  c.model.noise = 1;
  if (random.chance(0.5)) {
    c.model.noise = random.chance(0.3) ? 0 : 1e-3;
    for (std::size_t i = 0; i < n; ++i) c.variance.push_back(random.log_uniform(1e-3, 1e3));
  }
  if (n > 5 && random.chance(0.15)) {  // equal times
    const auto i = static_cast<std::size_t>(random.integer(1, static_cast<Index>(n) - 3));
    c.time[i] = c.time[i + 1];
    c.time[0] = c.time[1];
  }
  c.model.mean = static_cast<Mean>(random.integer(0, n > 3 ? 2 : 1));
  const bool index = random.chance(0.5);
  c.cut = {.rule = index ? Cut::Rule::bandwidth : Cut::Rule::reach};
  c.cut.bandwidth = random.integer(0, static_cast<Index>(n) - 1);
  c.cut.reach = gap * random.log_uniform(0.3, 20);
  c.value.assign(n, 0.0);
  const Real rho = brute_force_rho(c, support::exact_problem(c));
  if (rho > 0) {
    const double target = random.chance(0.3)   ? random.uniform(0.9, 0.998)
                          : random.chance(0.5) ? random.uniform(0, 1.2)
                                               : random.log_uniform(1e-6, 1);
    const auto factor = static_cast<double>(rho / target);
    // Errors so small that A is singular in double are another matter than the cut.
    if (factor > 1e-9) {
      c.model.noise *= factor;
      for (double& v : c.variance) v *= factor;
    }
  }
  return c;
}

/// Values: noise, a curve, or the worst that can happen to a quadratic form.
void set_values(Random& random, Case& c) {
  const auto kind = random.integer(0, 3);
  const double size = random.log_uniform(0.1, 10);
  if (kind == 0) {
    c.value = random.normals(c.size());
  } else if (kind == 1) {
    for (std::size_t i = 0; i < c.size(); ++i)
      c.value[i] = 3 * std::sin(0.7 * static_cast<double>(i)) + 0.1 * random.normal();
  } else {
    const Vector v =
        weakest_direction(dense::covariance(kind == 2 ? support::exact_problem(c) : support::cut_problem(c)));
    const Real length = std::sqrt(dense::dot(v, v));
    for (std::size_t i = 0; i < c.size(); ++i) c.value[i] = static_cast<double>(v[i] / length);
  }
  for (double& y : c.value) y *= size;
}

/// true error / bound, over all problems.
class Tightness {
 public:
  void add(Real truth, Real bound) {
    if (bound > 0) ratios_.push_back(static_cast<double>(truth / bound));
  }
  void report(const std::string& name) {
    ASSERT_FALSE(ratios_.empty());
    std::ranges::sort(ratios_);
    const double low = ratios_.front(), middle = ratios_[ratios_.size() / 2], high = ratios_.back();
    std::cout << name << ": true error / bound, min " << low << ", median " << middle << ", max " << high
              << " of " << ratios_.size() << '\n';
    testing::Test::RecordProperty(name + "_min", std::to_string(low));
    testing::Test::RecordProperty(name + "_median", std::to_string(middle));
    testing::Test::RecordProperty(name + "_max", std::to_string(high));
    EXPECT_LE(high, 1.0);
  }

 private:
  std::vector<double> ratios_;
};

TEST(Certificate, no_bound_is_ever_broken_by_the_dense_truth) {
  Tightness nll, mean, variance, mean_at, variance_at;
  std::uint64_t certified = 0, nothing_left_out = 0;
  Real largest_rho = 0, widest_rho = 0;
  for (std::uint64_t problem = 0; problem < kProblems; ++problem) {
    Random random(problem);
    Case c = random_problem(random);
    set_values(random, c);
    SCOPED_TRACE(testing::Message() << "problem " << problem << ": " << c);
    const dense::Problem exact = support::exact_problem(c), cut = support::cut_problem(c);
    const dense::Matrix a = dense::covariance(exact), a_cut = dense::covariance(cut),
                        basis = dense::mean_basis(exact, exact.x);
    const Real rho = brute_force_rho(c, exact);

    const Series series = support::make_series(c);
    const EvaluationResult result = evaluate(series, c.model, c.cut);
    const auto truth = dense::solve_gls(a, basis, exact.y), banded = dense::solve_gls(a_cut, basis, exact.y);
    ASSERT_TRUE(truth);
    if (rho >= 1) {
      if (!result.failure) {
        EXPECT_FALSE(result.likelihood.certificate.holds());
        EXPECT_FALSE(result.likelihood.certificate.nll_error.is_finite());
        EXPECT_FALSE(result.likelihood.certificate.mean_error.is_finite());
      } else {
        EXPECT_EQ(result.failure->kind, Failure::Kind::not_positive_definite);
      }
      continue;
    }

    // ρ < 1: positive definite, without exception.
    ASSERT_TRUE(banded);
    ASSERT_FALSE(result.failure);
    const Certificate& certificate = result.likelihood.certificate;
    ASSERT_TRUE(certificate.positive_definite);

    // ρ is never less than the sum over the points, and not much more; `negligible` is what a tolerance of
    // 0.01 nats allows far points to add unseen.
    const auto n = static_cast<Real>(series.size());
    const Real reported = certificate.rho.value(), negligible = 2 * 0.01L / n / 64;
    EXPECT_GE(reported, rho * (1 - 1e-15L));
    if (1.2L * rho + 2 * negligible < 1) {
      EXPECT_LE(reported, 1.2L * rho + 2 * negligible);
      if (rho > 1e-3L) widest_rho = std::max(widest_rho, reported / rho);
    }
    if (!(reported < 1)) continue;
    ASSERT_TRUE(certificate.holds());
    ++certified;
    nothing_left_out += reported == 0 ? 1 : 0;
    largest_rho = std::max(largest_rho, rho);

    // What rounding may add: in long double, and in double.
    Real smallest = std::numeric_limits<Real>::infinity(), norm = 0;
    for (std::size_t i = 0; i < a.rows; ++i) {
      Real sum = 0;
      for (std::size_t j = 0; j < a.rows; ++j) sum += std::abs(a(i, j));
      norm = std::max(norm, sum);
      smallest = std::min(smallest, exact.noise + exact.known(i));
    }
    const Real condition = norm / smallest / (1 - rho),
               size = static_cast<Real>(c.size()) + banded->quadratic;
    const Real long_rounding = 16 * kLongRoundoff * condition, rounding = 4 * u * condition;

    // The loss.
    Real log_ratio = 0;  // log|A| − log|Ã|
    for (std::size_t i = 0; i < a.rows; ++i) log_ratio += 2 * std::log(truth->L(i, i) / banded->L(i, i));
    const Real exact_nll = *dense::nll(exact),
               difference = std::abs(truth->quadratic - banded->quadratic + log_ratio) / 2;
    const Real bound = certificate.nll_error.value();
    EXPECT_LE(difference, bound + long_rounding * size);
    EXPECT_LE(std::abs(exact_nll - result.likelihood.nll),
              bound + rounding * size + 8 * u * std::abs(exact_nll));
    if (bound > 1e3L * long_rounding * size) nll.add(difference, bound);

    // Predictions inside the span.
    const auto [low, high] = std::ranges::minmax(c.time);
    std::vector<double> times;
    for (int t = 0; t < 3; ++t) times.push_back(t == 0 ? random.pick(c.time) : random.uniform(low, high));
    const Vector xs(times.begin(), times.end());
    dense::Matrix cross(xs.size(), c.size()), prior(xs.size(), xs.size());
    for (std::size_t s = 0; s < xs.size(); ++s) {
      for (std::size_t i = 0; i < c.size(); ++i) cross(s, i) = dense::kernel(exact, xs[s] - exact.x[i]);
      for (std::size_t t = 0; t < xs.size(); ++t) prior(s, t) = dense::kernel(exact, xs[s] - xs[t]);
    }
    const dense::Matrix at = dense::mean_basis(exact, xs);
    const dense::Prediction expected = dense::krige(*truth, cross, prior, at),
                            told = dense::krige(*banded, cross, prior, at);
    const Prediction predicted = support::make_posterior(c).predict(times);
    const Real scale = std::sqrt(prior(0, 0) * size), magnitude = std::sqrt(dense::dot(exact.y, exact.y));
    for (std::size_t t = 0; t < xs.size(); ++t) {
      const Real q = banded->quadratic, v = told.variance[t];
      const Real mean_error = std::abs(expected.mean[t] - told.mean[t]),
                 variance_error = std::abs(expected.variance[t] - v);
      const Real widest = std::max(prior(0, 0), v);
      EXPECT_GE(v, -long_rounding * prior(0, 0)) << "banded variance at " << times[t];
      // The sharper forms, at this very point and with nothing left out of K*f.
      const Real mean_bound =
          bandgp::mean_error(certificate.rho, static_cast<double>(q), static_cast<double>(v), 0).value();
      const Real variance_bound = bandgp::variance_error(certificate.rho, static_cast<double>(v), 0).value();
      EXPECT_LE(mean_error, mean_bound + long_rounding * (scale + magnitude)) << "mean at " << times[t];
      EXPECT_LE(variance_error, variance_bound + long_rounding * widest) << "variance at " << times[t];
      if (mean_bound > 1e3L * long_rounding * (scale + magnitude)) mean_at.add(mean_error, mean_bound);
      if (variance_bound > 1e3L * long_rounding * widest) variance_at.add(variance_error, variance_bound);
      // What the user is told, for any point of the span, about what the user gets.
      const Real mean_told = certificate.mean_error.value(),
                 variance_told = certificate.variance_error.value();
      EXPECT_LE(std::abs(expected.mean[t] - predicted.mean[t]), mean_told + rounding * (scale + magnitude))
          << "mean at " << times[t];
      EXPECT_LE(std::abs(expected.variance[t] - predicted.variance[t]), variance_told + rounding * widest)
          << "variance at " << times[t];
      if (mean_told > 1e3L * rounding * (scale + magnitude))
        mean.add(std::abs(expected.mean[t] - predicted.mean[t]), mean_told);
      if (variance_told > 1e3L * rounding * widest)
        variance.add(std::abs(expected.variance[t] - predicted.variance[t]), variance_told);
    }
    if (HasFailure()) return;
  }
  std::cout << kProblems << " problems, " << certified << " certified, " << nothing_left_out
            << " of them with nothing left out; largest rho " << static_cast<double>(largest_rho)
            << ", largest reported rho / rho " << static_cast<double>(widest_rho) << '\n';
  EXPECT_GT(certified, kProblems / 2);
  EXPECT_GT(largest_rho, 0.99L);
  nll.report("nll_error");
  mean_at.report("mean_error_at_a_point");
  variance_at.report("variance_error_at_a_point");
  mean.report("mean_error");
  variance.report("variance_error");
}

/// n points `gap` apart at least, by one SE term: what the paper's rules are for.
Case se_problem(Random& random, bool regular) {
  const auto n = static_cast<std::size_t>(random.integer(2, 40));
  const double gap = random.log_uniform(0.01, 100);
  Case c;
  double t = random.uniform(-1, 1);
  for (std::size_t i = 0; i < n; ++i) {
    c.time.push_back(t);
    t += regular || random.chance(0.5) ? gap : gap * random.uniform(1, 2);
  }
  c.value = random.normals(n);
  c.model.kernel.terms = {{Se{}, random.log_uniform(0.01, 100), gap * random.log_uniform(0.1, 8)}};
  c.model.noise = c.model.kernel.variance() * random.log_uniform(1e-5, 10);
  return c;
}

TEST(Certificate, the_corollary_the_theorem_and_the_lemma_always_give_positive_definite_matrices) {
  int narrower[3] = {};
  for (std::uint64_t problem = 0; problem < kProblems / 4; ++problem) {
    Random random(problem);
    Case c = se_problem(random, problem % 2 == 0);
    if (random.chance(0.3)) {
      for (std::size_t i = 0; i < c.size(); ++i)
        c.variance.push_back(c.model.noise * random.log_uniform(1e-2, 100));
    }
    const Series series = support::make_series(c);
    int rule = 0;
    for (const Cut::Rule name : {Cut::Rule::corollary, Cut::Rule::theorem, Cut::Rule::lemma}) {
      SCOPED_TRACE(testing::Message() << "problem " << problem << ", rule " << rule << ": " << c);
      const EvaluationResult result = evaluate(series, c.model, {.rule = name});
      ASSERT_FALSE(result.failure);
      const Index k = result.likelihood.bandwidth;
      if (k < static_cast<Index>(c.size()) - 1) ++narrower[rule];
      c.cut = {.rule = Cut::Rule::bandwidth, .bandwidth = k};
      ASSERT_TRUE(dense::cholesky(dense::covariance(support::cut_problem(c))));
      const Real rho = brute_force_rho(c, support::exact_problem(c));
      if (name == Cut::Rule::lemma) {  // the smallest k with all row sums below 1
        ASSERT_LT(rho, 1);
        ASSERT_LT(result.likelihood.certificate.rho.value(), 1);
        c.cut.bandwidth = k - 1;
        if (k > 0) {
          ASSERT_GE(brute_force_rho(c, support::exact_problem(c)), 1 - 1.0L / 32);
        }
      }
      ++rule;
    }
  }
  std::cout << "narrower than full: corollary " << narrower[0] << ", theorem " << narrower[1] << ", lemma "
            << narrower[2] << " of " << kProblems / 4 << '\n';
  for (const int count : narrower) EXPECT_GT(count, static_cast<int>(kProblems / 40));
}

TEST(Certificate, the_lemma_gives_positive_definite_matrices_for_every_kernel) {
  for (std::uint64_t problem = 0; problem < kProblems / 4; ++problem) {
    Random random(problem);
    Case c = random_problem(random);
    set_values(random, c);
    SCOPED_TRACE(testing::Message() << "problem " << problem << ": " << c);
    const EvaluationResult result = evaluate(support::make_series(c), c.model, {.rule = Cut::Rule::lemma});
    ASSERT_FALSE(result.failure);
    ASSERT_TRUE(result.likelihood.certificate.holds());
    c.cut = {.rule = Cut::Rule::bandwidth, .bandwidth = result.likelihood.bandwidth};
    ASSERT_LT(brute_force_rho(c, support::exact_problem(c)), 1);
    ASSERT_TRUE(dense::cholesky(dense::covariance(support::cut_problem(c))));
  }
}

TEST(Certificate, a_tolerance_is_always_kept) {
  Tightness promised, kept;
  for (std::uint64_t problem = 0; problem < kProblems / 2; ++problem) {
    Random random(problem);
    Case c = random_problem(random);
    set_values(random, c);
    const double tolerance = random.log_uniform(1e-9, 30);
    c.cut = {.tolerance = tolerance, .index_band = random.chance(0.5)};
    SCOPED_TRACE(testing::Message() << "problem " << problem << ": " << c);
    const EvaluationResult result = evaluate(support::make_series(c), c.model, c.cut);
    ASSERT_FALSE(result.failure);
    const Certificate& certificate = result.likelihood.certificate;
    ASSERT_TRUE(certificate.holds());
    ASSERT_LE(certificate.nll_error.value(), tolerance);
    promised.add(certificate.nll_error.value(), tolerance);
    const dense::Problem exact = support::exact_problem(c);
    const Real truth = *dense::nll(exact), condition = support::condition(dense::covariance(exact));
    const auto n = static_cast<Real>(c.size());
    // Equal times with contradicting values: the dense model sees them in its quadratic form, the merged one
    // does not.
    const Real rounding =
        4 * condition *
        (u * (n + static_cast<Real>(result.likelihood.q)) + kLongRoundoff * (n + std::abs(truth)));
    ASSERT_LE(std::abs(truth - result.likelihood.nll), tolerance + rounding + 8 * u * std::abs(truth));
    if (certificate.rho.value() > 0 && tolerance > 1e3L * rounding)
      kept.add(std::abs(truth - result.likelihood.nll), tolerance);
  }
  promised.report("nll_error_of_tolerance");
  kept.report("true_error_of_tolerance");
}

TEST(Certificate, a_tolerance_is_kept_where_one_point_is_far_more_precise_than_the_rest) {
  Random random(77);
  Case c;
  c.time = support::make_times(random, 300, Times::irregular, 1);
  for (std::size_t i = 0; i < 300; ++i) {
    c.value.push_back(0.01 * random.normal());
    c.variance.push_back(i == 150 ? 1e-22 : 1e-4);
  }
  c.model.kernel = "1e-4*se(lengthscale=5)";
  c.model.noise = 0;
  c.cut.tolerance = 0.01;
  const EvaluationResult result = evaluate(support::make_series(c), c.model, c.cut);
  ASSERT_FALSE(result.failure);
  EXPECT_LE(result.likelihood.certificate.nll_error.value(), 0.01);
}

TEST(Certificate, tails_below_the_smallest_exponential_still_count) {
  Random random(78);
  Case c;
  c.time = support::make_times(random, 300, Times::regular, 1);
  c.value = random.normals(300);
  c.model.kernel = "1e300*se(lengthscale=1)";
  c.model.noise = 1;
  c.cut = {.rule = Cut::Rule::bandwidth, .bandwidth = 38};
  const EvaluationResult result = evaluate(support::make_series(c), c.model, c.cut);
  ASSERT_FALSE(result.failure);
  EXPECT_GE(result.likelihood.certificate.rho.value(), 2e300 * std::exp(-0.5 * 39 * 39));
}

TEST(Certificate, choose_band_gives_the_smallest_band_and_choose_reach_nearly_the_smallest_reach) {
  int exactly = 0, total = 0;
  for (std::uint64_t problem = 0; problem < kProblems / 4; ++problem) {
    Random random(problem);
    const Case c = random_problem(random);
    SCOPED_TRACE(testing::Message() << "problem " << problem << ": " << c);
    const Merged points(c);
    const auto n = static_cast<Index>(points.size());
    std::vector<double> x = points.x, weight;
    double largest = 0;
    for (const Real d : points.d) {
      weight.push_back(static_cast<double>(1 / std::sqrt(d)));
      largest = std::max(largest, weight.back());
    }
    while (x.size() % 8 != 0) {
      x.push_back(x.back() + 1);
      weight.push_back(0);
    }
    const WeightedPoints weighted{n, x.data(), weight.data(), largest};
    const dense::Problem exact = support::exact_problem(c);
    const double target = random.log_uniform(1e-8, 1);
    std::vector<Real> rho;  // by k
    for (Index k = 0; k < n; ++k) {
      rho.push_back(brute_force_rho(points, exact, [k](std::size_t i, std::size_t j) {
        return std::abs(static_cast<Index>(i) - static_cast<Index>(j)) <= k;
      }));
    }
    const auto smallest = [&](Real limit) {
      Index k = 0;
      while (rho[static_cast<std::size_t>(k)] > limit) ++k;  // 0 at n − 1
      return k;
    };
    Envelope envelope;
    const Choice band = choose_band(c.model.kernel, weighted, target, envelope);
    // Far points, through their bound, may take 1/64 of the target.
    ASSERT_GE(band.bandwidth, smallest(target));
    ASSERT_LE(band.bandwidth, smallest(target * (1 - 1.0L / 60)));
    ASSERT_GE(band.row_sum.value(), rho[static_cast<std::size_t>(band.bandwidth)] * (1 - 1e-15L));
    ASSERT_LE(band.row_sum.value(), target);
    ASSERT_EQ(envelope.bandwidth(), band.bandwidth);
    exactly += band.bandwidth == smallest(target) ? 1 : 0;
    ++total;

    const auto left_out = [&](double reach) {
      return brute_force_rho(points, exact, [&](std::size_t i, std::size_t j) {
        return std::abs(points.x[i] - points.x[j]) <= reach;
      });
    };
    const TailBound tail(c.model.kernel, weighted);
    const Choice cut = choose_reach(c.model.kernel, weighted, tail, target, envelope);
    ASSERT_GE(cut.row_sum.value(), left_out(cut.reach) * (1 - 1e-15L));
    ASSERT_LE(cut.row_sum.value(), target);
    for (Index i = 0; i < n; ++i) {
      for (Index j = 0; j <= i; ++j)
        ASSERT_EQ(j >= envelope.first(i),
                  x[static_cast<std::size_t>(i)] - x[static_cast<std::size_t>(j)] <= cut.reach);
    }
    // One per cent less would not do, unless the end of the ladder of candidates is reached: e⁻⁷ of where it
    // starts.
    const bool shortest = cut.reach < 1.001e-3 * tail.reach_for(target / 64);
    if (cut.reach > 0 && !shortest && envelope.bandwidth() > 0) {
      ASSERT_GE(left_out(cut.reach * 0.99), target * (1 - 1.0L / 60)) << "reach " << cut.reach;
    }
  }
  std::cout << "smallest band exactly: " << exactly << " of " << total << '\n';
  EXPECT_GE(exactly, total * 99 / 100);
}

TEST(Certificate, where_nothing_is_left_out_only_the_share_of_far_points_remains) {
  Case c;
  Random random(1);
  c.time = support::make_times(random, 30, Times::irregular, 1);
  c.value = random.normals(30);
  c.model.noise = 0.1;
  for (const char* kernel : {"1*se(lengthscale=50)", "1*se(lengthscale=1)",
                             "1*wendland2(lengthscale=3) + 2*wendland4(lengthscale=2)"}) {
    c.model.kernel = parse_kernel(kernel);
    c.cut = {.rule = Cut::Rule::reach, .reach = c.model.kernel.support()};
    if (std::isinf(c.cut.reach)) c.cut = {.rule = Cut::Rule::bandwidth, .bandwidth = 29};
    const Certificate certificate = evaluate(support::make_series(c), c.model, c.cut).likelihood.certificate;
    EXPECT_LE(certificate.nll_error.value(), 0.01 / 64) << kernel;  // of the default tolerance
  }
}

}  // namespace
