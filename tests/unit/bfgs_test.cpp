// SPDX-License-Identifier: Apache-2.0
#include "bandgp/optimize/bfgs.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "support/close.hpp"

namespace {

using namespace bandgp;
using Point = std::vector<double>;
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

double rosenbrock(std::span<const double> x, std::span<double> gradient) {
  double value = 0;
  std::ranges::fill(gradient, 0.0);
  for (std::size_t i = 0; i + 1 < x.size(); ++i) {
    const double a = 1 - x[i], b = x[i + 1] - x[i] * x[i];
    value += a * a + 100 * b * b;
    gradient[i] += -2 * a - 400 * b * x[i];
    gradient[i + 1] += 200 * b;
  }
  return value;
}

/// ½ Σ curvature·(x − minimum)² + coupling·Π over the first two.
struct Quadratic {
  Point curvature, minimum;
  double coupling = 0;
  double operator()(std::span<const double> x, std::span<double> gradient) const {
    double value = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double d = x[i] - minimum[i];
      value += 0.5 * curvature[i] * d * d;
      gradient[i] = curvature[i] * d;
    }
    if (coupling != 0) {
      value += coupling * (x[0] - minimum[0]) * (x[1] - minimum[1]);
      gradient[0] += coupling * (x[1] - minimum[1]);
      gradient[1] += coupling * (x[0] - minimum[0]);
    }
    return value;
  }
};

/// Stops by the length of the step alone.
BfgsOptions strict() {
  BfgsOptions options;
  options.value_tolerance = 0;
  return options;
}
BfgsOptions with_curvature(const Point& inverse_hessian) {
  BfgsOptions options = strict();
  options.inverse_hessian = inverse_hessian;
  return options;
}
BfgsOptions in_box(const Point& lower, const Point& upper) {
  BfgsOptions options = strict();
  options.lower = lower;
  options.upper = upper;
  return options;
}

void expect_near(const Point& x, const Point& expected, double allowed) {
  ASSERT_EQ(x.size(), expected.size());
  for (std::size_t i = 0; i < x.size(); ++i) EXPECT_CLOSE(x[i], expected[i], allowed) << "variable " << i;
}

TEST(Bfgs, walks_down_the_valley_of_rosenbrock) {
  for (const Point& start : {Point{-1.2, 1}, Point{5, -3}, Point{0, 0, 0, 0, 0}, Point{-1.2, 1, -1.2, 1}}) {
    const BfgsResult result = minimize(rosenbrock, start, {});
    EXPECT_EQ(result.status, BfgsStatus::converged);
    EXPECT_LT(result.evaluations, start.size() == 2 ? 80 : 200);
    EXPECT_LT(result.value, 1e-8);
    expect_near(result.x, Point(start.size(), 1.0), 1e-4);
    EXPECT_EQ(result.rejected, 0);
  }
}

TEST(Bfgs, result_is_consistent) {
  int calls = 0;
  const BfgsResult result = minimize(
      [&calls](std::span<const double> x, std::span<double> g) {
        ++calls;
        return rosenbrock(x, g);
      },
      {-1.2, 1}, {});
  EXPECT_EQ(result.evaluations, calls);
  Point gradient(2);
  EXPECT_EQ(result.value, rosenbrock(result.x, gradient));
  EXPECT_EQ(result.gradient, gradient);
  ASSERT_EQ(result.inverse_hessian.size(), 4U);
  EXPECT_CLOSE(result.inverse_hessian[1], result.inverse_hessian[2], 1e-9);
  // The inverse Hessian at (1, 1) is [0.5 1; 1 2.005]; BFGS knows it to a few per cent.
  EXPECT_CLOSE(result.inverse_hessian[0], 0.5, 0.05);
  EXPECT_CLOSE(result.inverse_hessian[3], 2.005, 0.2);
}

TEST(Bfgs, a_good_inverse_hessian_makes_ill_scaled_quadratics_two_evaluations) {
  for (const double scale : {1.0, 1e6, 1e-6}) {
    const Quadratic f{{1e6 * scale, scale, 1e-3 * scale}, {0.3, -1, 1.5}};
    const BfgsResult result =
        minimize(f, {0, 0, 0}, with_curvature({1e-6 / scale, 0, 0, 0, 1 / scale, 0, 0, 0, 1e3 / scale}));
    EXPECT_EQ(result.status, BfgsStatus::converged);
    EXPECT_LE(result.evaluations, 3);
    expect_near(result.x, f.minimum, 1e-6);
  }
}

TEST(Bfgs, an_inverse_hessian_off_by_a_factor_costs_a_few_evaluations_more) {
  for (const double factor : {0.1, 0.5, 2.0, 10.0}) {
    const Quadratic f{{1e4, 1}, {0.3, -1}};
    const BfgsResult result = minimize(f, {0, 0}, with_curvature({1e-4 * factor, 0, 0, factor}));
    EXPECT_EQ(result.status, BfgsStatus::converged) << factor;
    EXPECT_LE(result.evaluations, 15) << factor;
    expect_near(result.x, f.minimum, 1e-5);
  }
}

TEST(Bfgs, an_inverse_hessian_that_is_not_positive_definite_is_forgotten) {
  const Quadratic f{{1, 4}, {1, 2}};
  const BfgsResult result = minimize(f, {0, 0}, with_curvature({-1, 0, 0, -1}));
  EXPECT_EQ(result.status, BfgsStatus::converged);
  expect_near(result.x, {1, 2}, 1e-4);
}

TEST(Bfgs, an_ill_scaled_quadratic_without_help_is_solved_too) {
  const Quadratic f{{1e5, 1}, {0.3, -1}, 100};
  const BfgsResult result = minimize(f, {-1, 2}, strict());
  EXPECT_EQ(result.status, BfgsStatus::converged);
  EXPECT_LT(result.evaluations, 60);
  expect_near(result.x, f.minimum, 1e-5);
}

TEST(Bfgs, a_minimum_outside_the_box_is_found_at_its_edge) {
  // One variable ends at its bound, the other minimises what is left: d₁ = −(coupling/curvature) d₀.
  for (const double coupling : {0.0, 1.0, -1.0}) {
    const Quadratic f{{2, 3}, {5, -1}, coupling};
    const BfgsResult result = minimize(f, {0, 0}, in_box({-3, -9}, {1, 9}));
    EXPECT_EQ(result.status, BfgsStatus::converged) << coupling;
    EXPECT_LT(result.evaluations, 40) << coupling;
    EXPECT_EQ(result.x[0], 1) << coupling;
    EXPECT_CLOSE(result.x[1], -1 + 4 * coupling / 3, 1e-5) << coupling;
  }
}

TEST(Bfgs, a_corner_of_the_box_is_found) {
  const Quadratic f{{2, 3, 1}, {5, -7, 0.5}};
  const BfgsResult result = minimize(f, {0, 0, 0}, in_box({-1, -1, -1}, {1, 1, 1}));
  EXPECT_EQ(result.status, BfgsStatus::converged);
  EXPECT_EQ(result.x[0], 1);
  EXPECT_EQ(result.x[1], -1);
  EXPECT_CLOSE(result.x[2], 0.5, 1e-4);
}

TEST(Bfgs, a_variable_leaves_a_bound_that_does_not_hold_it) {
  const Quadratic f{{2, 3}, {0.5, 0.25}};
  const BfgsResult result = minimize(f, {-1, 1}, in_box({-1, -1}, {1, 1}));
  EXPECT_EQ(result.status, BfgsStatus::converged);
  expect_near(result.x, f.minimum, 1e-4);
}

TEST(Bfgs, a_start_outside_the_box_is_moved_into_it_and_every_point_stays_there) {
  const Point lower = {-0.5, -0.25}, upper = {2, 0.75};
  const BfgsResult result = minimize(
      [&](std::span<const double> x, std::span<double> gradient) {
        for (std::size_t i = 0; i < 2; ++i) EXPECT_TRUE(lower[i] <= x[i] && x[i] <= upper[i]);
        return rosenbrock(x, gradient);
      },
      {-40, 60}, in_box(lower, upper));
  EXPECT_EQ(result.status, BfgsStatus::converged);
  EXPECT_EQ(result.x[1], 0.75);
  EXPECT_CLOSE(result.x[0], 0.866470, 1e-5);  // the root of 2(x−1) + 400x(x²−0.75) near √0.75
}

TEST(Bfgs, a_box_of_one_point_converges_at_once) {
  const BfgsResult result = minimize(rosenbrock, {3, 3}, in_box({0, 1}, {0, 1}));
  EXPECT_EQ(result.status, BfgsStatus::converged);
  EXPECT_EQ(result.x, (Point{0, 1}));
}

TEST(Bfgs, infinite_regions_are_rejected_and_counted) {
  // Steps from the right overshoot into x < 0, where there is no value; the minimum is close to the edge.
  int infinite = 0;
  const auto f = [&infinite](std::span<const double> x, std::span<double> gradient) {
    if (x[0] <= 0) {
      ++infinite;
      gradient[0] = kNan;  // not read
      return kInfinity;
    }
    gradient[0] = 1 - 0.01 / x[0];
    return x[0] - 0.01 * std::log(x[0]);
  };
  const BfgsResult result = minimize(f, {1.5}, strict());
  EXPECT_EQ(result.status, BfgsStatus::converged);
  EXPECT_CLOSE(result.x[0], 0.01, 1e-5);
  EXPECT_GT(infinite, 0);
  EXPECT_EQ(result.rejected, infinite);
}

TEST(Bfgs, nan_is_rejected_like_infinity) {
  int seen = 0;
  const auto f = [&seen](std::span<const double> x, std::span<double> gradient) {
    if (x[0] < 0.7) {
      ++seen;
      return kNan;
    }
    gradient[0] = 2 * (x[0] - 1);
    return (x[0] - 1) * (x[0] - 1);
  };
  const BfgsResult result = minimize(f, {2.5}, with_curvature({1}));
  EXPECT_EQ(result.status, BfgsStatus::converged);
  EXPECT_CLOSE(result.x[0], 1, 1e-5);
  EXPECT_GT(seen, 0);
  EXPECT_EQ(result.rejected, seen);
}

TEST(Bfgs, a_start_without_a_value_stalls_after_one_evaluation) {
  for (const double value : {kInfinity, kNan}) {
    const BfgsResult result =
        minimize([value](std::span<const double>, std::span<double>) { return value; }, {1, 2}, {});
    EXPECT_EQ(result.status, BfgsStatus::stalled);
    EXPECT_EQ(result.evaluations, 1);
    EXPECT_EQ(result.rejected, 1);
    EXPECT_EQ(result.x, (Point{1, 2}));
    EXPECT_FALSE(std::isfinite(result.value));
  }
}

TEST(Bfgs, a_gradient_that_is_not_finite_rejects_the_point) {
  for (const double slope : {kNan, kInfinity, 1e200}) {
    const auto broken = [slope](std::span<const double> x, std::span<double> gradient) {
      gradient[0] = x[0] < 0.5 ? slope : 2 * (x[0] - 1);
      return (x[0] - 1) * (x[0] - 1);
    };
    const BfgsResult inside = minimize(broken, {2}, with_curvature({0.9}));  // the first step ends at 0.2
    EXPECT_EQ(inside.status, BfgsStatus::converged) << slope;
    EXPECT_CLOSE(inside.x[0], 1, 1e-5);
    EXPECT_EQ(inside.rejected, 1) << slope;
    const BfgsResult start = minimize(broken, {0}, {});
    EXPECT_EQ(start.status, BfgsStatus::stalled) << slope;
    EXPECT_EQ(start.evaluations, 1) << slope;
  }
}

TEST(Bfgs, cancelling_stops_before_the_next_evaluation_and_keeps_the_best) {
  int calls = 0;
  const auto counted = [&calls](std::span<const double> x, std::span<double> g) {
    ++calls;
    return rosenbrock(x, g);
  };
  BfgsOptions options;
  options.cancelled = [&calls] { return calls >= 7; };
  const BfgsResult result = minimize(counted, {-1.2, 1}, options);
  EXPECT_EQ(result.status, BfgsStatus::cancelled);
  EXPECT_EQ(calls, 7);
  EXPECT_EQ(result.evaluations, 7);
  EXPECT_LT(result.value, 24.2);  // that of the start
  Point gradient(2);
  EXPECT_EQ(result.value, rosenbrock(result.x, gradient));
}

TEST(Bfgs, cancelled_or_out_of_evaluations_before_the_first_it_returns_the_start) {
  BfgsOptions cancelled, none;
  cancelled.cancelled = [] { return true; };
  none.max_evaluations = 0;
  const BfgsResult a = minimize(rosenbrock, {-1.2, 1}, cancelled), b = minimize(rosenbrock, {-1.2, 1}, none);
  EXPECT_EQ(a.status, BfgsStatus::cancelled);
  EXPECT_EQ(b.status, BfgsStatus::out_of_evaluations);
  for (const BfgsResult& result : {a, b}) {
    EXPECT_EQ(result.evaluations, 0);
    EXPECT_EQ(result.x, (Point{-1.2, 1}));
  }
}

TEST(Bfgs, out_of_evaluations_returns_the_best_so_far) {
  for (const int allowed : {1, 2, 5, 10}) {
    BfgsOptions options;
    options.max_evaluations = allowed;
    const BfgsResult result = minimize(rosenbrock, {-1.2, 1}, options);
    EXPECT_EQ(result.status, BfgsStatus::out_of_evaluations);
    EXPECT_EQ(result.evaluations, allowed);
    EXPECT_LE(result.value, 24.2 + 1e-12);
    Point gradient(2);
    EXPECT_EQ(result.value, rosenbrock(result.x, gradient));
    EXPECT_EQ(result.gradient, gradient);
  }
}

TEST(Bfgs, at_the_minimum_it_stays_there) {
  const Quadratic f{{2, 3}, {5, -1}};
  const BfgsResult exact = minimize(f, {5, -1}, {});
  EXPECT_EQ(exact.status, BfgsStatus::converged);
  EXPECT_EQ(exact.evaluations, 1);
  EXPECT_EQ(exact.x, (Point{5, -1}));
  // A distance below the tolerance, known through the inverse Hessian: no evaluation is spent on it.
  const BfgsResult close = minimize(f, {5 + 1e-8, -1}, with_curvature({0.5, 0, 0, 1. / 3}));
  EXPECT_EQ(close.status, BfgsStatus::converged);
  EXPECT_EQ(close.evaluations, 1);
}

TEST(Bfgs, no_step_is_longer_than_asked_for) {
  double largest = 0;
  Point last = {0, 0};
  const Quadratic f{{1, 1}, {100, -100}};
  BfgsOptions options = with_curvature({1, 0, 0, 1});
  options.largest_step = 3;
  const BfgsResult result = minimize(
      [&](std::span<const double> x, std::span<double> g) {
        for (std::size_t i = 0; i < 2; ++i) largest = std::max(largest, std::abs(x[i] - last[i]));
        last.assign(x.begin(), x.end());
        return f(x, g);
      },
      {0, 0}, options);
  EXPECT_EQ(result.status, BfgsStatus::converged);
  expect_near(result.x, f.minimum, 1e-4);
  EXPECT_LE(largest, 2 * 3 + 1e-12);  // a step that still falls steeply may be doubled
}

TEST(Bfgs, noise_in_the_value_ends_the_search_instead_of_looping) {
  // The value wobbles by 1e-9, the gradient does not know: no descent is left near the minimum.
  const auto f = [](std::span<const double> x, std::span<double> gradient) {
    gradient[0] = 2 * x[0] + 1e-4;
    return x[0] * x[0] + 1e-9 * std::sin(1e7 * x[0]);
  };
  BfgsOptions options = strict();
  options.step_tolerance = 1e-12;
  const BfgsResult result = minimize(f, {1}, options);
  EXPECT_TRUE(result.status == BfgsStatus::converged || result.status == BfgsStatus::stalled);
  EXPECT_LT(result.evaluations, 150);
  EXPECT_LT(std::abs(result.x[0]), 2e-4);
}

}  // namespace
