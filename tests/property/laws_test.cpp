// SPDX-License-Identifier: Apache-2.0
// Laws that hold at any n, where no dense matrix could say what is right: traces, homogeneity, symmetries of
// the model, the same bits from run to run, no allocation after the first evaluation.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <iostream>

#include "bandgp/band/cholesky.hpp"
#include "bandgp/band/selected_inverse.hpp"
#include "support/effort.hpp"
#include "support/isa.hpp"
#include "support/problems.hpp"

// --- every allocation of this executable is counted: operator new, std::vector and AlignedBuffer all end
// here ----------

#if defined(__GLIBC__) && !defined(BANDGP_SANITIZED)
#define BANDGP_COUNTS_ALLOCATIONS 1
namespace {
std::atomic<long> allocations{0};
}
extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);

void* malloc(std::size_t size) noexcept {
  ++allocations;
  return __libc_malloc(size);
}
void* calloc(std::size_t count, std::size_t size) noexcept {
  ++allocations;
  return __libc_calloc(count, size);
}
void* realloc(void* p, std::size_t size) noexcept {
  ++allocations;
  return __libc_realloc(p, size);
}
void* memalign(std::size_t alignment, std::size_t size) noexcept {
  ++allocations;
  return __libc_memalign(alignment, size);
}
void* aligned_alloc(std::size_t alignment, std::size_t size) noexcept {
  ++allocations;
  return __libc_memalign(alignment, size);
}
int posix_memalign(void** out, std::size_t alignment, std::size_t size) noexcept {
  ++allocations;
  *out = __libc_memalign(alignment, size);
  return *out == nullptr ? 12 : 0;  // ENOMEM
}
}
#endif

namespace {

using namespace bandgp;
using simd::kPanel;
using support::Case;
using support::Random;
using support::Real;
using support::Times;
using support::u;

constexpr std::size_t kMany = support::kSanitized ? 3000 : 20000;

/// For loops over kernels or cuts on one thread: under sanitizers at short effort a third of kMany.
std::size_t many_times() { return support::kSanitized && support::short_effort() ? kMany / 3 : kMany; }

/// Irregular times a unit apart, a slow wave with noise; everything is kept within eight times the
/// length-scale.
Case long_series(Random& random, std::size_t n, const char* kernel, Mean mean) {
  Case c;
  c.time = support::make_times(random, n, Times::irregular, 1);
  for (const double t : c.time) c.value.push_back(std::sin(0.3 * t) + 0.3 * random.normal());
  c.model.kernel = parse_kernel(kernel);
  c.model.noise = 0.1;
  c.model.mean = mean;
  c.cut = {.rule = Cut::Rule::reach, .reach = 20.25};
  return c;
}

/// Row sums of K over the smallest noise: above the condition number.
Real condition(const Case& c) {
  Real area = 0;  // at least one point in 0.05, one in 1 on average
  for (const Term& term : c.model.kernel.terms)
    area += static_cast<Real>(term.variance) * (2 + 6 * term.lengthscale);
  return 1 + area / c.model.noise;
}

Likelihood evaluate_case(const Case& c) {
  const EvaluationResult result = evaluate(support::make_series(c), c.model, c.cut);
  EXPECT_FALSE(result.failure);
  return result.likelihood;
}

TEST(Laws, the_trace_of_the_inverse_times_the_matrix_is_n) {
  Random random(1);
  const std::size_t n = kMany + 3;
  const std::vector<double> x = support::make_times(random, n, Times::irregular, 1);
  const Kernel kernel = parse_kernel("1*se(lengthscale=2) + 0.5*matern32(lengthscale=1)");
  const double noise = 0.05;
  Envelope envelope;
  envelope.keep_reach(x, 16);
  support::for_each_isa([&] {
    PanelBand a, copy;
    for (PanelBand* matrix : {&a, &copy}) {
      matrix->shape(envelope);
      std::fill_n(matrix->column(0, 0), envelope.doubles(), 0.0);
      for (Index i = 0; i < envelope.padded_size(); ++i) {
        const auto row = static_cast<std::size_t>(i);
        for (Index j = envelope.first(i); row < n && j < i; ++j)
          (*matrix)(i, j) = kernel(x[row] - x[static_cast<std::size_t>(j)]);
        (*matrix)(i, i) = row < n ? kernel.variance() + noise : 1;
      }
    }
    ASSERT_FALSE(factorize(a, a.all()));
    SelectedInverse inversion;
    inversion.start(a, a);
    inversion.run(a.all());
    Real trace = 0;
    for (Index i = 0; i < envelope.size(); ++i) {
      Real row = static_cast<Real>(a(i, i)) * copy(i, i);
      for (Index j = envelope.first(i); j < i; ++j) row += 2 * static_cast<Real>(a(i, j)) * copy(i, j);
      trace += row;
    }
    const Real per_row = u * (1.5L * 20 / noise);  // the condition number
    EXPECT_CLOSE(trace, static_cast<Real>(n), per_row * static_cast<Real>(n));
    std::cout << simd::isa_name(simd::active())
              << ": tr(A^-1 A) / n - 1 = " << static_cast<double>(trace / static_cast<Real>(n) - 1) << '\n';
  });
}

/// A is homogeneous of degree 1 in all variances, the noise included: Σ ∂NLL/∂log variance = ½(n − q).
void expect_homogeneous(const Case& c) {
  SCOPED_TRACE(testing::Message() << c);
  const Likelihood result = evaluate_case(c);
  Real sum = 0;
  for (std::size_t i = 0; i < result.gradient.size(); i += 2)
    sum += result.gradient[i];  // variances, and last the noise
  const Real n = static_cast<Real>(c.size());
  EXPECT_CLOSE(sum, (n - result.q) / 2, u * condition(c) * (n + result.q));
}

TEST(Laws, the_derivatives_by_all_variances_add_up_to_half_n_minus_q) {
  Random random(2);
  for (const Mean mean : {Mean::zero, Mean::constant, Mean::linear}) {
    for (const char* kernel :
         {"1*se(lengthscale=2)",
          "0.5*matern52(lengthscale=2) + 0.5*se(lengthscale=1) + 0.2*wendland2(lengthscale=5)"}) {
      const Case c = long_series(random, many_times(), kernel, mean);
      support::for_each_isa([&] { expect_homogeneous(c); });
    }
  }
}

TEST(Laws, the_derivatives_add_up_at_a_million_points_slow) {
  Random random(3);
  const std::size_t n = support::kSanitized ? 20000 : 1000000;
  Case c;
  for (std::size_t i = 0; i < n; ++i) {
    c.time.push_back(static_cast<double>(i) + random.uniform(-0.3, 0.3));
    c.value.push_back(std::sin(0.1 * static_cast<double>(i)) + 0.3 * random.normal());
  }
  c.model.kernel = parse_kernel("1*se(lengthscale=4)");
  c.model.noise = 0.1;
  c.cut = {.rule = Cut::Rule::bandwidth, .bandwidth = 32};
  expect_homogeneous(c);
}

/// What a symmetry may cost: two evaluations, each with a backward error of u ‖A‖.
Real rounding(const Case& c, const Likelihood& result) {
  return 2 * u * condition(c) * (static_cast<Real>(c.size()) + result.q);
}

TEST(Laws, the_loss_knows_its_symmetries) {
  Random random(4);
  for (const Mean mean : {Mean::zero, Mean::constant, Mean::linear}) {
    const Case c = long_series(random, kMany, "1*se(lengthscale=2) + 0.5*matern32(lengthscale=1)", mean);
    const Likelihood before = evaluate_case(c);
    const Real allowed = rounding(c, before);
    const auto expect_same = [&](const Case& other, const char* what, Real difference = 0) {
      SCOPED_TRACE(testing::Message() << what << ", mean " << mean_name(mean));
      EXPECT_CLOSE(evaluate_case(other).nll, before.nll + difference, allowed + 4 * u * std::abs(difference));
    };
    {
      Case other = c;  // by a power of two, so that no time is rounded
      for (double& t : other.time) t = std::ldexp(std::round(std::ldexp(t, 20)), -20);
      Case rounded = other;
      for (double& t : other.time) t += 65536;
      EXPECT_CLOSE(evaluate_case(other).nll, evaluate_case(rounded).nll, allowed) << "shifted";
    }
    {
      Case other = c;
      for (double& t : other.time) t = -t;
      expect_same(other, "reversed");
    }
    {
      Case other = c;
      for (std::size_t i = other.size(); i-- > 1;) {
        const auto j = static_cast<std::size_t>(random.integer(0, static_cast<Index>(i)));
        std::swap(other.time[i], other.time[j]);
        std::swap(other.value[i], other.value[j]);
      }
      expect_same(other, "rows in another order");
    }
    {
      Case other = c;
      std::swap(other.model.kernel.terms[0], other.model.kernel.terms[1]);
      expect_same(other, "terms in another order");
    }
    {
      Case other = c;
      other.model.kernel.terms[0].variance *= 0.25;
      other.model.kernel.terms.push_back(other.model.kernel.terms[0]);
      other.model.kernel.terms[2].variance *= 3;
      expect_same(other, "a term in two parts");
    }
    {
      Case other = c;
      for (double& t : other.time) t *= 37.3;
      for (Term& term : other.model.kernel.terms) term.lengthscale *= 37.3;
      other.cut.reach *= 37.3;
      expect_same(other, "times and length-scales in another unit");
    }
    {
      Case other = c;
      const double unit = 1e-7;
      for (double& y : other.value) y *= unit;
      for (Term& term : other.model.kernel.terms) term.variance *= unit * unit;
      other.model.noise *= unit * unit;
      expect_same(other, "values in another unit",
                  static_cast<Real>(c.size()) * std::log(static_cast<Real>(unit)));
    }
    {
      Case other = c;
      other.variance.assign(c.size(), 0.03);
      other.model.noise -= 0.03;
      expect_same(other, "part of the noise known for every point");
    }
    if (mean != Mean::zero) {
      Case other = c;
      for (std::size_t i = 0; i < c.size(); ++i)
        other.value[i] += 12 + (mean == Mean::linear ? 0.01 * c.time[i] : 0);
      expect_same(other, "another mean");
    }
  }
}

TEST(Laws, series_too_far_apart_to_see_each_other_add_up) {
  Random random(5);
  Case first = long_series(random, kMany / 2 + 5, "1*matern52(lengthscale=2)", Mean::zero), second = first;
  for (double& y : second.value) y = random.normal();
  Case both = first;
  for (std::size_t i = 0; i < second.size(); ++i) {
    both.time.push_back(second.time[i] + 1e6);
    both.value.push_back(second.value[i]);
  }
  const Likelihood a = evaluate_case(first), b = evaluate_case(second), sum = evaluate_case(both);
  // Adding 1e6 rounds the times by 1e6 u, which is what the length-scale's derivative makes of it.
  const Real moved = 1e6L * u * static_cast<Real>(both.size());
  EXPECT_CLOSE(sum.nll, a.nll + b.nll, rounding(both, sum) + moved);
}

TEST(Laws, a_smaller_tolerance_never_keeps_less_and_comes_closer) {
  Random random(6);
  for (const char* kernel : {"1*se(lengthscale=3)", "1*matern32(lengthscale=1) + 1*se(lengthscale=2)"}) {
    Case c = long_series(random, kMany / 4, kernel, Mean::constant);
    c.cut = {.tolerance = 1e-9};
    const double exact = evaluate_case(c).nll;
    double reach = 0;
    for (const double tolerance : {10.0, 1.0, 0.1, 0.01, 1e-3, 1e-5}) {
      c.cut.tolerance = tolerance;
      const Likelihood result = evaluate_case(c);
      EXPECT_GE(result.reach, reach);
      reach = result.reach;
      EXPECT_LE(result.certificate.nll_error.value(), tolerance);
      EXPECT_CLOSE(result.nll, exact, tolerance + 1e-9 + rounding(c, result));
    }
  }
}

std::vector<std::uint64_t> bits(const std::vector<double>& numbers) {
  std::vector<std::uint64_t> words(numbers.size());
  std::memcpy(words.data(), numbers.data(), sizeof(double) * numbers.size());
  return words;
}

std::vector<std::uint64_t> bits(const Likelihood& result) {
  std::vector<double> numbers = result.gradient;
  numbers.insert(numbers.end(), {result.nll, result.q, result.log_determinant, result.condition,
                                 result.certificate.rho.value(), result.certificate.nll_error.value(),
                                 result.certificate.mean_error.value()});
  return bits(numbers);
}

TEST(Laws, the_same_input_gives_the_same_bits) {
  Random random(7);
  Case c =
      long_series(random, many_times(), "1*se(lengthscale=2) + 0.5*matern12(lengthscale=1)", Mean::linear);
  for (const Cut& cut : {c.cut, Cut{.tolerance = 0.01}, Cut{.rule = Cut::Rule::lemma},
                         Cut{.rule = Cut::Rule::bandwidth, .bandwidth = 33}}) {
    c.cut = cut;
    support::for_each_isa([&] {
      const auto first = bits(evaluate_case(c));
      EXPECT_EQ(bits(evaluate_case(c)), first);
      // An evaluator that has seen other parameters gives the same bits as a fresh one.
      const Series series = support::make_series(c);
      Evaluator evaluator(series, c.model.mean,
                          std::make_unique<BandRepresentation>(to_internal(c.cut, series.units), 1e10));
      Likelihood fresh, used;
      const InternalModel model = to_internal(c.model, series.units);
      ASSERT_FALSE(evaluator.evaluate(model, true, fresh));
      InternalModel other = model;
      other.noise *= 3;
      other.kernel.terms[0].lengthscale *= 0.7;
      ASSERT_FALSE(evaluator.evaluate(other, true, used));
      ASSERT_FALSE(evaluator.evaluate(model, true, used));
      EXPECT_EQ(bits(used), bits(fresh));
    });
  }
}

TEST(Laws, a_second_thread_changes_no_bit) {
  Random random(9);
  Case c = long_series(random, kMany, "1*se(lengthscale=2) + 0.5*matern12(lengthscale=1)", Mean::linear);
  c.time[70] = c.time[71];
  const auto series = std::make_shared<const Series>(support::make_series(c));
  for (const Cut& cut : {c.cut, Cut{.tolerance = 0.01}, Cut{.rule = Cut::Rule::lemma},
                         Cut{.rule = Cut::Rule::bandwidth, .bandwidth = 100}}) {
    const EvaluationResult one = evaluate(*series, c.model, cut, 0, 1);
    ASSERT_FALSE(one.failure);
    for (int repeat = 0; repeat < 5; ++repeat) {
      const EvaluationResult two = evaluate(*series, c.model, cut, 0, 2);
      ASSERT_FALSE(two.failure);
      ASSERT_EQ(bits(two.likelihood), bits(one.likelihood));
    }
  }
  {  // the row of a pivot that fails, wherever that is
    Case bad = c;
    bad.cut = {.rule = Cut::Rule::bandwidth, .bandwidth = 3};
    bad.model.noise = 1e-3;
    for (const std::size_t from : {std::size_t{0}, kMany / 2, kMany - 50}) {
      for (std::size_t i = 0; i < c.size(); ++i) bad.time[i] = static_cast<double>(i) * 50;  // harmless
      for (std::size_t i = from; i < from + 40; ++i)
        bad.time[i] = static_cast<double>(from) * 50 + static_cast<double>(i - from) * 0.3;
      const Series other = support::make_series(bad);
      const EvaluationResult one = evaluate(other, bad.model, bad.cut, 0, 1),
                             two = evaluate(other, bad.model, bad.cut, 0, 2);
      ASSERT_TRUE(one.failure && two.failure);
      EXPECT_GE(one.failure->row, static_cast<Index>(from));
      EXPECT_LT(one.failure->row, static_cast<Index>(from) + 40);
      EXPECT_EQ(two.failure->row, one.failure->row);
    }
  }
  std::vector<double> times;
  for (int i = 0; i < 3000; ++i) times.push_back(random.uniform(-50, 1.1 * static_cast<double>(kMany)));
  const auto posterior = [&](Index threads) {
    return Posterior(series, c.model,
                     std::make_unique<BandRepresentation>(InternalCut{.tolerance = 0.01}, 1e10, threads));
  };
  Posterior one = posterior(1), two = posterior(2);
  const Prediction a = one.predict(times), b = two.predict(times);
  EXPECT_EQ(bits(a.mean), bits(b.mean));
  EXPECT_EQ(bits(a.variance), bits(b.variance));
  const LeaveOneOut left_a = one.leave_one_out(), left_b = two.leave_one_out();
  EXPECT_EQ(bits(left_a.mean), bits(left_b.mean));
  EXPECT_EQ(bits(left_a.variance), bits(left_b.variance));
  times.resize(20);
  EXPECT_EQ(bits(one.sample(times, 3, 1)), bits(two.sample(times, 3, 1)));
}

TEST(Laws, only_the_first_evaluation_allocates) {
#ifndef BANDGP_COUNTS_ALLOCATIONS
  GTEST_SKIP() << "allocations are not counted in this build";
#else
  {  // the counter itself
    const long before = allocations;
    void* volatile aligned = std::aligned_alloc(64, 128);
    int* volatile single = new int(1);
    EXPECT_EQ(allocations - before, 2);
    delete single;
    std::free(aligned);
  }
  Random random(8);
  for (const bool ties : {false, true}) {
    Case c = long_series(random, 5000, "1*se(lengthscale=2) + 0.5*matern12(lengthscale=1)", Mean::linear);
    if (ties) c.time[100] = c.time[101];
    const Series series = support::make_series(c);
    const InternalModel model = to_internal(c.model, series.units);
    for (const Cut& cut : {Cut{.tolerance = 0.01}, Cut{.rule = Cut::Rule::reach, .reach = 12},
                           Cut{.rule = Cut::Rule::bandwidth, .bandwidth = 20}}) {
      Evaluator evaluator(
          series, c.model.mean,
          std::make_unique<BandRepresentation>(to_internal(cut, series.units), 1e10, ties ? 2 : 1));
      Likelihood result;
      ASSERT_FALSE(evaluator.evaluate(model, true, result));
      InternalModel nearby = model;  // a step of an optimiser towards a narrower band
      nearby.kernel.terms[0].lengthscale *= 0.9;
      nearby.noise *= 1.5;
      const long before = allocations;
      const bool failed = evaluator.evaluate(model, true, result).has_value() ||
                          evaluator.evaluate(nearby, true, result).has_value() ||
                          evaluator.evaluate(model, false, result).has_value();
      const long after = allocations;
      EXPECT_FALSE(failed);
      EXPECT_EQ(after - before, 0) << "rule " << static_cast<int>(cut.rule) << (ties ? ", equal times" : "");
    }
  }
#endif
}

}  // namespace
