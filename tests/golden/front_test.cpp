// SPDX-License-Identifier: Apache-2.0
// Elements and the front: NLL, gradient and solves of sums of SE and Markov terms against the dense model in
// long double, and the same code in both precisions on longer series.
#include "bandgp/front/front.hpp"

#include <gtest/gtest.h>

#include "support/dense_gp.hpp"
#include "support/effort.hpp"
#include "support/random.hpp"

namespace {

using namespace bandgp;
using support::Random;

/// SE, times the cosine of a multiple of a period where there is one.
struct Smooth {
  double variance, lengthscale, period = 0;
  Index harmonic = 0;
};
/// A Matérn term, times a cosine where there is a period; or a damped oscillator where there is a quality.
struct Rough {
  int states;
  double variance, lengthscale, period = 0, quality = 0;
};
struct Problem {
  std::vector<Smooth> smooth;
  std::vector<Rough> rough;
  std::vector<double> time, value, noise;
};

Problem make_problem(Random& random, std::size_t n, std::vector<Smooth> smooth, std::vector<Rough> rough,
                     double noise, bool gaps) {
  Problem p{std::move(smooth), std::move(rough), {}, {}, {}};
  double t = 0;
  for (std::size_t i = 0; i < n; ++i) {
    t += random.uniform(0.1, 1.9) + (gaps && random.chance(0.01) ? random.uniform(30, 500) : 0);
    p.time.push_back(t);
    p.value.push_back(std::sin(0.05 * t) + std::sqrt(noise) * random.normal());
    p.noise.push_back(noise * std::exp(0.5 * random.normal()));
  }
  return p;
}

/// A grid and polynomials that leave out less than double precision shows.
template <class Real>
void lay_out(const Problem& p, front::Front<Real>& front) {
  std::vector<front::Gaussians> bases;
  std::vector<markov::StateTerm> terms;
  for (const Smooth& term : p.smooth) {
    const double spacing = 0.36 * term.lengthscale;
    bases.push_back({spacing, term.lengthscale,
                     std::sqrt(term.variance * spacing / term.lengthscale * std::sqrt(2 / std::numbers::pi)),
                     5.6 * term.lengthscale, term.lengthscale > 10 * p.smooth.back().lengthscale ? 10 : 18,
                     term.period > 0 ? 1 / term.period : 0, term.harmonic});
  }
  using markov::StateKind;
  for (const Rough& term : p.rough) {
    const double rate = std::sqrt(2.0 * term.states - 1) / term.lengthscale;
    if (term.quality > 0)
      terms.push_back({2, term.variance, 0, StateKind::oscillator, 1 / term.period, term.quality});
    else if (term.period > 0)
      terms.push_back({2 * term.states, term.variance, rate, StateKind::turning, 1 / term.period});
    else
      terms.push_back({term.states, term.variance, rate});
  }
  front.lay_out(p.time.data(), std::ssize(p.time), bases, terms, 3);
}

template <class Real>
struct Computed {
  bool positive = false;
  Real nll = 0;
  std::vector<Real>
      gradient;  // variance and length-scale of every smooth term, then of every rough one, noise
  std::vector<Real> solved;
  Index chunks = 0;
};
template <class Real>
Computed<Real> compute(const Problem& p, Index threads = 1) {
  front::Front<Real> front(threads);
  lay_out(p, front);
  const auto n = std::ssize(p.time);
  const Index stride = round_up(front.reduced_size(), 8) + front.carried_size();
  std::vector<Real> column(static_cast<std::size_t>(stride)), noise(p.noise.begin(), p.noise.end());
  std::copy(p.value.begin(), p.value.end(), column.begin());
  const front::Columns<Real> b{column.data(), 1, stride};
  Computed<Real> result;
  result.chunks = front.chunks();
  result.positive = front.factor(noise.data(), b);
  Real q = 0;
  for (Index i = 0; i < front.reduced_size(); ++i)
    q += column[static_cast<std::size_t>(i)] * column[static_cast<std::size_t>(i)];
  result.nll = (front.log_determinant() + q) / 2;
  typename front::Front<Real>::Slopes slopes;
  front.gradient(b, slopes);
  for (std::size_t t = 0; t < p.smooth.size(); ++t) {
    result.gradient.push_back(slopes.basis_variance[t]);
    result.gradient.push_back(slopes.basis_lengthscale[t]);
    if (p.smooth[t].period > 0) result.gradient.push_back(slopes.basis_period[t]);
  }
  for (std::size_t t = 0; t < p.rough.size(); ++t) {
    result.gradient.push_back(slopes.state_variance[t]);
    if (p.rough[t].quality == 0) result.gradient.push_back(slopes.state_lengthscale[t]);
    if (p.rough[t].period > 0) result.gradient.push_back(slopes.state_period[t]);
    if (p.rough[t].quality > 0) result.gradient.push_back(slopes.state_quality[t]);
  }
  result.gradient.push_back(0);
  for (Index i = 0; i < n; ++i)
    result.gradient.back() += slopes.noise[static_cast<std::size_t>(i)] * noise[static_cast<std::size_t>(i)];
  front.solve(b);
  result.solved.assign(column.begin(), column.begin() + n);
  return result;
}

dense::Real value(const Smooth& term, dense::Real lag) {
  const dense::Real value = term.variance * dense::shape_value("se", lag / term.lengthscale);
  const dense::Real angle =
      2 * std::numbers::pi_v<dense::Real> * static_cast<dense::Real>(term.harmonic) * lag;
  return term.period > 0 ? value * std::cos(angle / term.period) : value;
}
dense::Real value(const Rough& term, dense::Real lag) {
  const char* const names[] = {"matern12", "matern32", "matern52"};
  const dense::Real s = term.period > 0 ? 2 * std::numbers::pi_v<dense::Real> * lag / term.period : 0;
  if (term.quality == 0)
    return term.variance * dense::shape_value(names[term.states - 1], lag / term.lengthscale) * std::cos(s);
  const dense::Real a = s / (2 * static_cast<dense::Real>(term.quality)), b = std::sqrt(s * s - a * a);
  return term.variance * std::exp(-a) * (std::cos(b) + (b > 0 ? a * std::sin(b) / b : 0));
}
dense::Matrix covariance(const Problem& p, dense::Real noise_factor) {
  const std::size_t n = p.time.size();
  dense::Matrix a(n, n);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      const dense::Real lag = std::abs(static_cast<dense::Real>(p.time[i]) - p.time[j]);
      for (const Smooth& term : p.smooth) a(i, j) += value(term, lag);
      for (const Rough& term : p.rough) a(i, j) += value(term, lag);
    }
    a(i, i) += noise_factor * p.noise[i];
  }
  return a;
}
dense::Real dense_nll(const Problem& p, dense::Real noise_factor = 1) {
  const auto factor = dense::cholesky(covariance(p, noise_factor));
  const dense::Vector y(p.value.begin(), p.value.end());
  dense::Real nll = dense::dot(y, dense::solve(*factor, y)) / 2;
  for (std::size_t i = 0; i < y.size(); ++i) nll += std::log((*factor)(i, i));
  return nll;
}
/// By the log of a parameter, with differences of the eighth order.
template <class Moved>
dense::Real slope(const Moved& moved) {
  const dense::Real weight[] = {4.0L / 5, -1.0L / 5, 4.0L / 105, -1.0L / 280}, h = 1e-3L;
  dense::Real sum = 0;
  for (int k = 0; k < 4; ++k)
    sum += weight[k] * (moved(std::exp((k + 1) * h)) - moved(std::exp(-(k + 1) * h)));
  return sum / h;
}
std::vector<dense::Real> dense_gradient(const Problem& p) {
  std::vector<dense::Real> gradient;
  const auto by = [&](auto member) {
    gradient.push_back(slope([&](dense::Real factor) {
      Problem moved = p;
      double& value = member(moved);
      value = static_cast<double>(value * factor);
      return dense_nll(moved);
    }));
  };
  for (std::size_t t = 0; t < p.smooth.size(); ++t) {
    by([t](Problem& m) -> double& { return m.smooth[t].variance; });
    by([t](Problem& m) -> double& { return m.smooth[t].lengthscale; });
    if (p.smooth[t].period > 0) by([t](Problem& m) -> double& { return m.smooth[t].period; });
  }
  for (std::size_t t = 0; t < p.rough.size(); ++t) {
    by([t](Problem& m) -> double& { return m.rough[t].variance; });
    if (p.rough[t].quality == 0) by([t](Problem& m) -> double& { return m.rough[t].lengthscale; });
    if (p.rough[t].period > 0) by([t](Problem& m) -> double& { return m.rough[t].period; });
    if (p.rough[t].quality > 0) by([t](Problem& m) -> double& { return m.rough[t].quality; });
  }
  gradient.push_back(slope([&](dense::Real factor) { return dense_nll(p, factor); }));
  return gradient;
}

struct Sum {
  const char* name;
  std::vector<Smooth> smooth;
  std::vector<Rough> rough;
};
const std::vector<Sum>& sums() {
  static const std::vector<Sum> all = {
      {"se(20)", {{1, 20}}, {}},
      {"matern12(2)", {}, {{1, 1, 2}}},
      {"se(20) + matern12(500)", {{1, 20}}, {{1, 1, 500}}},
      {"se(200) + matern12(2)", {{1, 200}}, {{1, 1, 2}}},
      {"se(30) + matern32(10000)", {{1, 30}}, {{2, 1, 1e4}}},
      {"se(20) + matern52(3000)", {{1, 20}}, {{3, 1, 3000}}},
      {"se(200) + se(10)", {{1, 200}, {1, 10}}, {}},
      {"se(200) + se(10) + matern12(3) + matern32(60)", {{1, 200}, {0.5, 10}}, {{1, 1, 3}, {2, 0.3, 60}}},
      {"se(1.5) + matern12(500)", {{1, 1.5}}, {{1, 1, 500}}},
      // The first two have polynomials times waves.
      {"two harmonics of 30 beside se, all of length 100",
       {{1, 100, 30, 1}, {0.3, 100, 30, 2}, {0.5, 100}},
       {}},
      {"se(100)*cos(30) + se(80)*cos(13)", {{1, 100, 30, 1}, {0.5, 80, 13, 1}}, {}},
      {"se(20)*cos(7) + matern12(500)", {{1, 20, 7, 1}}, {{1, 1, 500}}},
      {"se(20) + sho(9, 5) + matern12(30)", {{1, 20}}, {{2, 1, 1, 9, 5}, {1, 0.3, 30}}},
      {"se(20) + matern32(50)*cos(9)", {{1, 20}}, {{2, 1, 50, 9}}},
      {"se(40)*cos(11) + matern12(3) + matern52(70)*cos(17)",
       {{1, 40, 11, 1}},
       {{1, 0.3, 3}, {3, 1, 70, 17}}}};
  return all;
}

TEST(Front, nll_gradient_and_solves_equal_the_dense_ones) {
  Random random(15);
  int seen = 0;
  const std::size_t n = support::kSanitized ? 60 : support::short_effort() ? 100 : 300;
  for (const Sum& sum : sums()) {
    for (const bool gaps : {false, true}) {
      SCOPED_TRACE(testing::Message() << sum.name << (gaps ? " with gaps" : ""));
      const Problem p = make_problem(random, n, sum.smooth, sum.rough, 0.1, gaps);
      const Computed<double> computed = compute<double>(p);
      ASSERT_TRUE(computed.positive);
      const dense::Real truth = dense_nll(p);
      EXPECT_LT(std::abs(computed.nll - static_cast<double>(truth)),
                1e-11 * (static_cast<double>(n) + std::abs(static_cast<double>(truth))));
      const std::vector<dense::Real> gradient = dense_gradient(p);
      for (std::size_t i = 0; i < gradient.size(); ++i) {
        const double expected = static_cast<double>(gradient[i]);
        EXPECT_LT(std::abs(computed.gradient[i] - expected),
                  1e-9 * (std::abs(expected) + 1e-3 * static_cast<double>(n)))
            << i;
      }
      const auto factor = dense::cholesky(covariance(p, 1));
      const dense::Vector alpha = dense::solve(*factor, dense::Vector(p.value.begin(), p.value.end()));
      for (std::size_t i = 0; i < n; ++i)
        EXPECT_LT(std::abs(computed.solved[i] - static_cast<double>(alpha[i])),
                  1e-9 * (1 + std::abs(static_cast<double>(alpha[i]))))
            << i;
      ++seen;
    }
  }
  EXPECT_EQ(seen, 2 * std::ssize(sums()));
}

TEST(Front, variances_of_the_curve_and_of_its_parts_equal_the_dense_ones) {
  // Test points are points that say nothing, among the others.
  Random random(18);
  for (const Sum& sum : sums()) {
    Problem data = make_problem(random, 60, sum.smooth, sum.rough, 0.1, true), all = data;
    std::vector<bool> wanted(all.time.size());
    for (int k = 0; k < 25; ++k) {
      const double t = random.uniform(data.time.front() - 20, data.time.back() + 20);
      const auto at = std::ranges::lower_bound(all.time, t) - all.time.begin();
      all.time.insert(all.time.begin() + at, t);
      all.noise.insert(all.noise.begin() + at, 1e100);
      wanted.insert(wanted.begin() + at, true);
    }
    front::Front<double> front;
    lay_out(all, front);
    const Index stride = round_up(front.reduced_size(), 8) + front.carried_size();
    ASSERT_TRUE(front.factor(all.noise.data(), {nullptr, 0, stride})) << sum.name;
    const auto factor = dense::cholesky(covariance(data, 1));
    // The whole curve, the first smooth term, the last rough one.
    for (const int part : {0, 1, 2}) {
      if ((part == 1 && sum.smooth.empty()) || (part == 2 && sum.rough.empty())) continue;
      std::vector<bool> bases(sum.smooth.size(), part == 0);
      if (part == 1) bases[0] = true;
      std::vector<double> select(static_cast<std::size_t>(front.states().size()));
      if (part == 0 && !select.empty()) select[0] = 1;
      if (part == 2) {
        const std::size_t last = sum.rough.size() - 1;
        // Of two terms the second has its own state; of one it is the sum.
        select[static_cast<std::size_t>(front.states().offset(last))] = 1;
      }
      const std::vector<double> variance = front.variances(wanted, bases, select);
      const auto k = [&](dense::Real lag) {
        dense::Real all_values = 0;
        for (std::size_t t = 0; t < sum.smooth.size(); ++t)
          if (part == 0 || (part == 1 && t == 0)) all_values += value(sum.smooth[t], std::abs(lag));
        for (std::size_t t = 0; t < sum.rough.size(); ++t)
          if (part == 0 || (part == 2 && t + 1 == sum.rough.size()))
            all_values += value(sum.rough[t], std::abs(lag));
        return all_values;
      };
      for (std::size_t i = 0; i < all.time.size(); ++i) {
        if (!wanted[i]) continue;
        dense::Vector cross;
        for (const double t : data.time) cross.push_back(k(static_cast<dense::Real>(all.time[i]) - t));
        const dense::Real truth = k(0) - dense::dot(cross, dense::solve(*factor, cross));
        EXPECT_LT(std::abs(variance[i] - static_cast<double>(truth)), 1e-9) << sum.name << ", part " << part;
      }
    }
  }
}

TEST(Front, short_chunks_beside_long_smooth_states_lose_nothing) {
  // Multipliers before their weights, or states before their multipliers, would be wrong by nats here.
  Random random(16);
  for (const Rough& rough : {Rough{3, 1, 1e5}, Rough{3, 1, 500}, Rough{2, 1, 1e4}, Rough{1, 1, 500}}) {
    for (const double shortest : {20.0, 2.0, 0.02}) {  // the last has a point or none in a chunk
      const Problem p = make_problem(random, 120, {{1, 20}, {1e-3, shortest}}, {rough}, 0.1, false);
      const Computed<double> computed = compute<double>(p);
      ASSERT_TRUE(computed.positive) << rough.states << ", " << shortest;
      EXPECT_LT(std::abs(computed.nll - static_cast<double>(dense_nll(p))), 1e-8)
          << rough.states << ", " << shortest;
      if (shortest < 1) {
        EXPECT_EQ(computed.chunks, 120);
      }
    }
  }
}

TEST(Front, far_from_zero_is_as_good_as_near_it) {
  // Times that can be moved by 2³² without rounding: 10⁹ spacings of the shortest term.
  Random random(19);
  // Three spacings of these are no double: cells that counted in them would drift away from their nodes.
  const Sum all[] = {{"se(17.3)", {{1, 17.3}}, {}},
                     {"se(17.3) + matern12(500)", {{1, 17.3}}, {{1, 1, 500}}},
                     {"se(200) + se(13.7)", {{1, 200}, {1, 13.7}}, {}},
                     {"se(170.3)*cos(31)", {{1, 170.3, 31, 1}}, {}},
                     {"se(17.3)*cos(31) + sho(9, 5)", {{1, 17.3, 31, 1}}, {{2, 1, 1, 9, 5}}}};
  for (const Sum& sum : all) {
    // Dense and sparse stretches, whose chunks have their places from a table and on their own.
    Problem near = make_problem(random, 300, sum.smooth, sum.rough, 0.01, false);
    double at = 0;
    for (std::size_t i = 0; i < near.time.size(); ++i)
      near.time[i] = at += std::round(256 * random.uniform(0.1, 1.9) * (i / 40 % 2 == 0 ? 1 : 10)) / 256;
    Problem far = near;
    for (double& t : far.time) t += 0x1p32;
    const Computed<double> here = compute<double>(near), there = compute<double>(far);
    EXPECT_NEAR(there.nll, here.nll, 1e-11 * (300 + std::abs(here.nll))) << sum.name;
    for (std::size_t i = 0; i < here.gradient.size(); ++i)
      EXPECT_NEAR(there.gradient[i], here.gradient[i], 1e-9 * (std::abs(here.gradient[i]) + 0.3)) << sum.name;
  }
}

TEST(Front, near_ties_on_every_edge_of_a_cell_cost_nothing) {
  // A state between two points that almost coincide has no room; chunks end at a wide gap near the edge.
  Random random(21);
  Problem p = make_problem(random, 300, {{1, 20}}, {{1, 1, 2}}, 1e-8, false);
  const double cell = 3 * (0.36 * 20);
  for (double edge = cell; edge < p.time.back(); edge += cell) {
    for (const double t : {edge - 1e-9, edge + 1e-9}) {
      const auto at = std::ranges::lower_bound(p.time, t) - p.time.begin();
      p.time.insert(p.time.begin() + at, t);
      p.value.insert(p.value.begin() + at, std::sin(0.05 * t));
      p.noise.insert(p.noise.begin() + at, 1e-8);
    }
  }
  const Computed<double> rounded = compute<double>(p);
  const Computed<long double> truth = compute<long double>(p);
  ASSERT_TRUE(rounded.positive && truth.positive);
  ASSERT_GT(rounded.chunks, 10);
  EXPECT_LT(std::abs(rounded.nll - static_cast<double>(truth.nll)), 5e-10);
}

TEST(Front, a_constant_right_hand_side_is_solved_like_any_other) {
  // With so many polynomials a column more or less makes a whole lane.
  Random random(22);
  const std::size_t n = 150;
  for (const int states : {1, 2, 3}) {
    const Problem p = make_problem(random, n, {{1, 20}}, {{states, 1, 50}}, 0.1, false);
    const double spacing = 0.36 * 20, amplitude = std::sqrt(spacing / 20 * std::sqrt(2 / std::numbers::pi));
    front::Front<double> front;
    front.lay_out(p.time.data(), static_cast<Index>(n), {{spacing, 20, amplitude, 5.6 * 20, 23 - states}},
                  {{states, 1, std::sqrt(2.0 * states - 1) / 50}}, 3);
    const Index stride = round_up(front.reduced_size(), 8) + round_up(front.carried_size(), 8);
    for (const std::size_t constant : {0U, 1U}) {
      std::vector<double> memory(static_cast<std::size_t>(2 * stride));
      dense::Vector right[2];
      for (std::size_t c = 0; c < 2; ++c) {
        for (std::size_t i = 0; i < n; ++i) {
          const double value = c == constant ? -0.7 : p.value[i];
          memory[c * static_cast<std::size_t>(stride) + i] = value;
          right[c].push_back(value);
        }
      }
      const front::Columns<double> b{memory.data(), 2, stride};
      ASSERT_TRUE(front.factor(p.noise.data(), b));
      front.solve(b);
      const auto factor = dense::cholesky(covariance(p, 1));
      for (std::size_t c = 0; c < 2; ++c) {
        const dense::Vector truth = dense::solve(*factor, right[c]);
        for (std::size_t i = 0; i < n; ++i)
          ASSERT_LT(std::abs(b[static_cast<Index>(c)][i] - static_cast<double>(truth[i])),
                    1e-9 * (1 + std::abs(static_cast<double>(truth[i]))))
              << states << " states, column " << c << ", point " << i;
      }
    }
  }
}

TEST(Front, the_way_back_solves_like_the_solver) {
  Random random(23);
  for (const Sum& sum : sums()) {
    const Problem p = make_problem(random, 200, sum.smooth, sum.rough, 0.1, true);
    front::Front<double> front;
    lay_out(p, front);
    const Index stride = round_up(front.reduced_size(), 8) + round_up(front.carried_size(), 8);
    std::vector<double> column(static_cast<std::size_t>(stride));
    std::ranges::copy(p.value, column.begin());
    ASSERT_TRUE(front.factor(p.noise.data(), {column.data(), 1, stride}));
    std::vector<double> solved = column;
    front.solve({solved.data(), 1, stride});
    front::Front<double>::Slopes slopes;
    front.gradient({column.data(), 1, stride}, slopes, true);
    for (std::size_t i = 0; i < p.time.size(); ++i)
      EXPECT_NEAR(column[i], solved[i], 1e-11 * (1 + std::abs(solved[i]))) << sum.name << ", " << i;
  }
}

TEST(Front, two_threads_compute_the_same_bits_as_one) {
  Random random(20);
  for (const Sum& sum : sums()) {
    const Problem p = make_problem(random, kLeastShared, sum.smooth, sum.rough, 0.1, true);
    const Computed<double> one = compute<double>(p, 1), two = compute<double>(p, 2);
    ASSERT_TRUE(one.positive && two.positive) << sum.name;
    EXPECT_EQ(one.nll, two.nll) << sum.name;
    EXPECT_EQ(one.gradient, two.gradient) << sum.name;
    EXPECT_EQ(one.solved, two.solved) << sum.name;
  }
}

TEST(Front, errors_do_not_grow_with_the_number_of_chunks) {
  Random random(17);
  const std::size_t n = support::kSanitized ? 300 : support::short_effort() ? 3000 : 30000;
  for (const std::size_t which : {0U, 2U, 5U, 8U, 9U, 12U, 13U}) {
    const Sum& sum = sums()[which];
    const Problem p = make_problem(random, n, sum.smooth, sum.rough, 0.1, false);
    const Computed<double> rounded = compute<double>(p);
    const Computed<long double> truth = compute<long double>(p);
    ASSERT_TRUE(rounded.positive && truth.positive) << sum.name;
    EXPECT_LT(std::abs(rounded.nll - static_cast<double>(truth.nll)), 1e-9) << sum.name;
    for (std::size_t i = 0; i < truth.gradient.size(); ++i) {
      const double expected = static_cast<double>(truth.gradient[i]);
      EXPECT_LT(std::abs(rounded.gradient[i] - expected),
                1e-9 * (std::abs(expected) + 1e-3 * static_cast<double>(n)))
          << sum.name << ", " << i;
    }
  }
}

}  // namespace
