// SPDX-License-Identifier: Apache-2.0
#include "bandgp/kernel/kernel.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <locale>
#include <random>
#include <stdexcept>
#include <string>

#include "support/dense_gp.hpp"

namespace {

using namespace bandgp;
using Real = long double;
using Limits = std::numeric_limits<double>;

/// Calls f(shape) once for every shape of AnyShape.
template <std::size_t i = 0, class F>
void for_every_shape(F f) {
  if constexpr (i < kShapes) {
    f(std::variant_alternative_t<i, AnyShape>{});
    for_every_shape<i + 1>(f);
  }
}
/// The same for those that only stretch, all of which have a tail.
template <class F>
void for_each_shape(F f) {
  for_every_shape([&]<class S>(S shape) {
    if constexpr (Stretches<S>) f(shape);
  });
}

/// ∫ f over [a, b], Gauss–Legendre with five nodes on `panels` equal panels.
Real integral(const std::function<Real(Real)>& f, Real a, Real b, int panels) {
  const Real inner = std::sqrt(5 - 2 * std::sqrt(10 / 7.0L)) / 3,
             outer = std::sqrt(5 + 2 * std::sqrt(10 / 7.0L)) / 3;
  const Real w_inner = (322 + 13 * std::sqrt(70.0L)) / 900, w_outer = (322 - 13 * std::sqrt(70.0L)) / 900;
  const Real half = (b - a) / (2 * static_cast<Real>(panels));
  Real sum = 0;
  for (int i = 0; i < panels; ++i) {
    const Real mid = a + half * static_cast<Real>(2 * i + 1);
    sum += f(mid) * 128 / 225.0L + w_inner * (f(mid - half * inner) + f(mid + half * inner)) +
           w_outer * (f(mid - half * outer) + f(mid + half * outer));
  }
  return sum * half;
}

std::string error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "no error";
}

std::string parse_error(std::string_view text) {
  return error_of([&] { (void)parse_kernel(text); });
}

TEST(Shape, values_equal_the_long_double_formulas) {
  for_each_shape([]<class S>(S) {
    EXPECT_EQ(S::at(0.0).value, 1);
    for (double r = 0; r < 40; r += 0.0137) {
      const Real exact = dense::shape_value(std::string(S::name), r);
      // exp(−a) turns the rounding of its argument into a relative error of a·u; (1 − r)⁶ that of 1 − r into
      // 6u.
      const Real units = 8 + r * (r + 8);
      EXPECT_LE(std::abs(S::at(r).value - exact), units * Limits::epsilon() * exact + Limits::denorm_min())
          << S::name << " at " << r;
    }
  });
}

TEST(Shape, slopes_equal_differences_of_the_long_double_formulas) {
  for_each_shape([]<class S>(S) {
    EXPECT_EQ(S::at(0.0).slope, 0);
    for (double r = 0.01; r < 12; r += 0.0137) {
      // ∂ρ(r e^{−s})/∂s at s = 0 is −r ρ'(r); fourth order, step small beside the kink of Wendland's at r = 1
      const Real h = 1e-4L;
      const auto f = [&](int k) { return dense::shape_value(std::string(S::name), r * std::exp(-k * h)); };
      const Real slope = (8 * (f(1) - f(-1)) - (f(2) - f(-2))) / (12 * h);
      EXPECT_NEAR(static_cast<double>(S::at(r).slope - slope), 0, 1e-13) << S::name << " at " << r;
    }
  });
}

TEST(Shape, support_is_where_the_value_vanishes) {
  for_each_shape([]<class S>(S) {
    if (std::isinf(S::support)) {
      EXPECT_GT(S::at(20.0).value, 0) << S::name;
    } else {
      EXPECT_EQ(S::at(S::support).value, 0) << S::name;
      EXPECT_EQ(S::at(1.7 * S::support).value, 0) << S::name;
      EXPECT_EQ(S::at(1.7 * S::support).slope, 0) << S::name;
      EXPECT_GT(S::at(0.999 * S::support).value, 0) << S::name;
      EXPECT_EQ(S::tail(S::support).value(), 0) << S::name;
    }
  });
}

TEST(Shape, tails_bound_the_integral_and_exceed_it_by_less_than_a_thousandth) {
  for_each_shape([]<class S>(S) {
    const auto value = [](Real s) { return dense::shape_value(std::string(S::name), s); };
    for (double r = 0; r < (std::isinf(S::support) ? 35 : 1); r += 0.0931) {
      // Past r the integrand falls at least like exp(−c t), c = max(1, r) for se and ≥ 1 else: 60/c leaves
      // 1e-26.
      const Real width = S::name == "se" ? 60 / std::max(1.0L, static_cast<Real>(r)) : 60;
      const Real end = std::isinf(S::support) ? r + width : Real{S::support};
      const Real exact = integral(value, r, end, 600);
      const Real bound = S::tail(r).value();
      EXPECT_GE(bound, exact) << S::name << " at " << r;
      EXPECT_LE(bound, 1.001L * exact) << S::name << " at " << r;
    }
  });
}

TEST(Shape, tails_far_out_are_tiny_and_never_lost_to_underflow) {
  for_each_shape([]<class S>(S) {
    for (const double r : {200.0, 431.0, 746.0, 1e9, 1e160, Limits::infinity()}) {
      EXPECT_LT(S::tail(r).value(), 1e-80) << S::name << " at " << r;
      EXPECT_EQ(S::tail(r).value() > 0, std::isinf(S::support)) << S::name << " at " << r;
    }
    EXPECT_FALSE(S::tail(Limits::quiet_NaN()).is_finite()) << S::name;
  });
  // 745.2/√3: exp(−a) is 0 in double, but (2 + a) exp(−a)/√3 is still 200 times the smallest double
  const Real a = 745.2L;
  EXPECT_GE(static_cast<Real>(Matern32::tail(745.2 / std::numbers::sqrt3).value()),
            (2 + a) * std::exp(-a) / std::sqrt(3.0L));
}

TEST(Kernel, sums_its_terms) {
  const Kernel kernel =
      parse_kernel("0.8*se(lengthscale=20) + 0.1*matern12(lengthscale=2) + 3*wendland4(lengthscale=7)");
  dense::Problem truth;
  truth.terms = {{"se", 0.8, 20}, {"matern12", 0.1, 2}, {"wendland4", 3, 7}};
  EXPECT_DOUBLE_EQ(kernel.variance(), 3.9);
  EXPECT_DOUBLE_EQ(kernel(0), 3.9);
  for (double lag = -30; lag < 30; lag += 0.31)
    EXPECT_NEAR(kernel(lag), static_cast<double>(dense::kernel(truth, lag)), 40 * Limits::epsilon() * 3.9)
        << lag;
}

TEST(Kernel, is_zero_at_any_distance_however_far) {
  for_each_shape([]<class S>(S) {
    const Kernel kernel{{{S{}, 2, 1e-300}}};
    for (const double lag : {1.0, 1e200, Limits::infinity()})
      EXPECT_EQ(kernel(lag), 0) << S::name << " at " << lag;
    EXPECT_EQ(kernel(0), 2) << S::name;
    EXPECT_TRUE(std::isnan(kernel(Limits::quiet_NaN()))) << S::name;
  });
}

TEST(Kernel, support_is_the_longest_and_finite_only_where_all_terms_are_compact) {
  EXPECT_EQ(parse_kernel("wendland2(lengthscale=3) + wendland4(lengthscale=5)").support(), 5);
  EXPECT_EQ(parse_kernel("wendland2(lengthscale=3) + se(lengthscale=1)").support(), Limits::infinity());
  EXPECT_EQ(parse_kernel("matern12").support(), Limits::infinity());
}

TEST(Kernel, knows_whether_it_is_complete) {
  EXPECT_TRUE(parse_kernel("2*se(lengthscale=1)").complete());
  EXPECT_FALSE(parse_kernel("se(lengthscale=1)").complete());
  EXPECT_FALSE(parse_kernel("2*se").complete());
  EXPECT_FALSE(parse_kernel("2*se(lengthscale=1) + se").complete());
}

TEST(Kernel, names_its_parameters_with_numbers_only_when_there_are_several_terms) {
  using Names = std::vector<std::string>;
  EXPECT_EQ(parameter_names(parse_kernel("se")), (Names{"variance", "lengthscale", "noise"}));
  EXPECT_EQ(parameter_names(parse_kernel("se + matern12")),
            (Names{"variance_1", "lengthscale_1", "variance_2", "lengthscale_2", "noise"}));
}

TEST(Parameters, a_term_lists_those_of_its_shape_with_unit_and_range) {
  for_each_shape([]<class S>(S shape) {
    const Term term{shape};
    const std::span<const Parameter> list = term.parameters();
    ASSERT_EQ(list.size(), S::parameters.size()) << S::name;
    ASSERT_EQ(list.size(), 2u) << S::name;
    EXPECT_EQ(list[0].name, "variance");
    EXPECT_EQ(list[0].unit, Unit::variance);
    EXPECT_EQ(list[0].member, &Term::variance);
    EXPECT_DOUBLE_EQ(list[0].range.lower, kVanishingVariance);
    EXPECT_DOUBLE_EQ(list[0].range.upper, std::exp(12));
    EXPECT_EQ(list[1].name, "lengthscale");
    EXPECT_EQ(list[1].unit, Unit::time);
    EXPECT_EQ(list[1].member, &Term::lengthscale);
    EXPECT_EQ(list[1].range.lower, 0.1);
    EXPECT_EQ(list[1].range.upper, 10);
    for (const Parameter& parameter : list) EXPECT_FALSE(parameter.meaning.empty());
  });
  EXPECT_EQ(noise_parameter().name, "noise");
  EXPECT_EQ(noise_parameter().unit, Unit::variance);
  EXPECT_DOUBLE_EQ(noise_parameter().range.lower, std::exp(-34));
  EXPECT_DOUBLE_EQ(noise_parameter().range.upper, std::exp(6));
}

TEST(Parameters, of_a_kernel_are_those_of_its_terms_in_turn) {
  const Kernel kernel = "se + matern12 + wendland2";
  const std::vector<std::string> names = parameter_names(kernel);
  EXPECT_EQ(names, (std::vector<std::string>{"variance_1", "lengthscale_1", "variance_2", "lengthscale_2",
                                             "variance_3", "lengthscale_3", "noise"}));
  EXPECT_EQ(kernel.parameter_count(), 6u);
  EXPECT_EQ(names[kernel.first_parameter(0)], "variance_1");
  EXPECT_EQ(names[kernel.first_parameter(2)], "variance_3");
  EXPECT_EQ(names[kernel.parameter_index(1, &Term::variance)], "variance_2");
  EXPECT_EQ(names[kernel.parameter_index(2, &Term::lengthscale)], "lengthscale_3");
  EXPECT_EQ(names[kernel.first_parameter(3)], "noise");
}

/// The least that a shape can state.
struct Constant {
  static constexpr std::string_view name = "constant";
  static constexpr std::array<std::string_view, 0> aliases = {};
  static constexpr std::string_view title = "Constant";
  static constexpr std::array parameters = {Quantity::variance};
  static constexpr bool bends_at_data = false;
  static ShapeValue<double> at(double) { return {1, 0}; }
};
static_assert(Shape<Constant> && Stretches<Constant> && !Oscillates<Constant> && !TakesFactors<Constant> &&
              !HasTail<Constant> && !HasStates<Constant> && !HasBasis<Constant>);

TEST(Kernel, a_term_says_what_it_can_be_held_in) {
  const auto states = [](const char* text) { return matern_states(parse_kernel(text).terms[0]); };
  EXPECT_EQ(states("matern12"), 1);
  EXPECT_EQ(states("matern32"), 2);
  EXPECT_EQ(states("matern52"), 3);
  for (const char* text : {"se", "wendland2", "sho", "matern12*cos", "matern32*periodic"})
    EXPECT_EQ(states(text), 0) << text;
  for (const char* text : {"matern12", "sho", "matern12*cos", "matern52*periodic"})
    EXPECT_TRUE(has_states(parse_kernel(text).terms[0])) << text;
  for (const char* text : {"se", "se*cos", "periodic", "wendland4"})
    EXPECT_FALSE(has_states(parse_kernel(text).terms[0])) << text;
  EXPECT_TRUE(can_be_banded(parse_kernel("se*cos").terms[0]));
  EXPECT_FALSE(can_be_banded(parse_kernel("sho").terms[0]));
  EXPECT_FALSE(can_be_banded(parse_kernel("periodic").terms[0]));
  EXPECT_FALSE(has_basis(parse_kernel("se*cos").terms[0]));
  for_each_shape([]<class S>(S shape) {
    EXPECT_TRUE(can_be_banded(Term{shape})) << S::name;
    EXPECT_EQ(has_basis(Term{shape}), S::name == "se") << S::name;
  });
}

TEST(Kernel, shape_names_are_all_shapes_in_order) {
  std::vector<std::string_view> names;
  for_every_shape([&]<class S>(S) { names.push_back(S::name); });
  EXPECT_TRUE(std::ranges::equal(shape_names(), names));
  EXPECT_TRUE(std::ranges::equal(factor_names(), std::vector<std::string_view>{"cos", "periodic"}));
  EXPECT_EQ(shapes_text("2*se(lengthscale=3)*cos(period=2) + sho"), "se*cos + sho");
  EXPECT_EQ(shapes_text("2*se(lengthscale=3) + matern12"), "se + matern12");
}

TEST(Kernel, require_valid_names_the_parameter_that_is_wrong) {
  EXPECT_NO_THROW(require_valid(parse_kernel("1*se(lengthscale=2)")));
  EXPECT_EQ(error_of([] { require_valid({}); }), "kernel: has no terms");
  EXPECT_EQ(error_of([] { require_valid(parse_kernel("2*se")); }), "kernel: lengthscale is not set");
  EXPECT_EQ(error_of([] { require_valid(parse_kernel("2*se(lengthscale=1) + se(lengthscale=1)")); }),
            "kernel: variance_2 is not set");
  EXPECT_EQ(error_of([] {
              require_valid(Kernel{{{Se{}, -1, 1}}});
            }),
            "kernel: variance is -1, must be finite and positive");
  EXPECT_EQ(error_of([] {
              require_valid(Kernel{{{Se{}, 1, 0}}});
            }),
            "kernel: lengthscale is 0, must be finite and positive");
  EXPECT_EQ(error_of([] {
              require_valid(Kernel{{{Se{}, 1, Limits::infinity()}}});
            }),
            "kernel: lengthscale is inf, must be finite and positive");
}

TEST(KernelText, reads_every_form_of_the_grammar) {
  const Kernel kernel =
      parse_kernel(" 2.5 * se ( lengthscale = 3 )+matern12(lengthscale=.5,variance=1e-3)\t+ wendland2");
  ASSERT_EQ(kernel.terms.size(), 3u);
  EXPECT_EQ(shape_name(kernel.terms[0].shape), "se");
  EXPECT_EQ(kernel.terms[0].variance, 2.5);
  EXPECT_EQ(kernel.terms[0].lengthscale, 3);
  EXPECT_EQ(shape_name(kernel.terms[1].shape), "matern12");
  EXPECT_EQ(kernel.terms[1].variance, 1e-3);
  EXPECT_EQ(kernel.terms[1].lengthscale, 0.5);
  EXPECT_EQ(shape_name(kernel.terms[2].shape), "wendland2");
  EXPECT_TRUE(std::isnan(kernel.terms[2].variance));
  EXPECT_TRUE(std::isnan(kernel.terms[2].lengthscale));
}

TEST(KernelText, every_shape_is_found_by_its_name) {
  for_every_shape([]<class S>(S) {
    const Kernel kernel = parse_kernel(S::name);
    ASSERT_EQ(kernel.terms.size(), 1u);
    EXPECT_TRUE(std::holds_alternative<S>(kernel.terms[0].shape)) << S::name;
  });
}

TEST(KernelText, is_written_short_and_without_what_is_not_set) {
  EXPECT_EQ(to_text(parse_kernel("0.80*se( lengthscale=2e1)+matern12")), "0.8*se(lengthscale=20) + matern12");
  EXPECT_EQ(to_text(parse_kernel("se(variance=0.1)")), "0.1*se");
  EXPECT_EQ(to_text(parse_kernel("se(lengthscale=0.1)")), "se(lengthscale=0.1)");
}

TEST(KernelText, parses_back_to_the_same_bits) {
  std::mt19937_64 random(7);
  const auto positive = [&] {  // any positive finite double, denormals included; sometimes unset
    for (;;) {
      const std::uint64_t bits = random() >> 1;
      if (bits % 8 == 0) return kUnset;
      const double value = std::bit_cast<double>(bits);
      if (std::isfinite(value) && value > 0) return value;
    }
  };
  const auto same = [](double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); };
  for (int trial = 0; trial < 2000; ++trial) {
    Kernel kernel;
    for (std::size_t i = 0; i <= random() % 16; ++i)
      for_every_shape([&, chosen = random() % kShapes]<class S>(S shape) {
        if (AnyShape(shape).index() != chosen) return;
        Term term{shape};
        if (TakesFactors<S> && random() % 2 == 0)
          term.factor = random() % 2 == 0 ? AnyFactor(CosFactor{}) : AnyFactor(PeriodicFactor{});
        for (const Parameter& parameter : term.parameters()) term.*parameter.member = positive();
        kernel.terms.push_back(term);
      });
    if (trial == 0) kernel.terms[0] = {Se{}, Limits::denorm_min(), Limits::max()};
    if (kernel.terms.size() > 16) kernel.terms.resize(16);
    const Kernel back = parse_kernel(to_text(kernel));
    ASSERT_EQ(back.terms.size(), kernel.terms.size()) << to_text(kernel);
    for (std::size_t i = 0; i < kernel.terms.size(); ++i) {
      EXPECT_TRUE(back.terms[i].same_form(kernel.terms[i]));
      for (double Term::*member :
           {&Term::variance, &Term::lengthscale, &Term::period, &Term::smoothness, &Term::quality})
        EXPECT_TRUE(same(back.terms[i].*member, kernel.terms[i].*member)) << to_text(kernel);
    }
    EXPECT_EQ(to_text(back), to_text(kernel));
  }
}

TEST(KernelText, aliases_and_capitals_are_read_and_never_written) {
  const auto written = [](const char* text) { return to_text(parse_kernel(text)); };
  EXPECT_EQ(written("rbf"), "se");
  EXPECT_EQ(written("RBF + Se"), "se + se");
  EXPECT_EQ(written("Matern32(Lengthscale=3)"), "matern32(lengthscale=3)");
  for (const char* half : {"matern1/2", "matern-1/2", "matern_1/2", "matern-12", "matern_12", "Matern-1/2"})
    EXPECT_EQ(written(half), "matern12") << half;
  EXPECT_EQ(written("2*matern-3/2(lengthscale=3)+matern_5/2"), "2*matern32(lengthscale=3) + matern52");
  EXPECT_EQ(parse_error("matern-1/3").substr(0, 34), "kernel: unknown shape \"matern\" at ");
  EXPECT_EQ(parse_error("se-1"), "kernel: expected \"+\" or the end at 3, found \"-\"");
  EXPECT_EQ(parse_error("matern12/2"), "kernel: expected \"+\" or the end at 9, found \"/\"");
  EXPECT_EQ(parse_error("matern-1/22").substr(0, 34), "kernel: unknown shape \"matern\" at ");
  EXPECT_EQ(parse_error("rbf(Scale=1)"),
            "kernel: unknown parameter \"Scale\" at 5; known: variance, lengthscale");
}

TEST(KernelText, reads_factors_and_oscillating_shapes) {
  const Kernel kernel = parse_kernel(
      "se(lengthscale=3)*cos(period=11) + 2*matern32 * Periodic(smoothness=0.7, period=5) + sho(quality=3)");
  ASSERT_EQ(kernel.terms.size(), 3u);
  EXPECT_EQ(kernel.terms[0].period, 11);
  EXPECT_EQ(kernel.terms[1].smoothness, 0.7);
  EXPECT_EQ(kernel.terms[1].period, 5);
  EXPECT_EQ(kernel.terms[2].quality, 3);
  EXPECT_EQ(
      to_text(kernel),
      "se(lengthscale=3)*cos(period=11) + 2*matern32*periodic(period=5, smoothness=0.7) + sho(quality=3)");
  const std::vector<std::string> expected = {"variance_1",    "lengthscale_1", "period_1",     "variance_2",
                                             "lengthscale_2", "period_2",      "smoothness_2", "variance_3",
                                             "period_3",      "quality_3",     "noise"};
  EXPECT_EQ(parameter_names(kernel), expected);
}

TEST(KernelText, does_not_depend_on_the_locale) {
  struct DecimalComma : std::numpunct<char> {
    char do_decimal_point() const override { return ','; }
  };
  const std::locale before = std::locale::global(std::locale(std::locale(), new DecimalComma));
  const std::string text = to_text(parse_kernel("2.5*se(lengthscale=0.25)"));
  std::locale::global(before);
  EXPECT_EQ(text, "2.5*se(lengthscale=0.25)");
}

TEST(KernelText, unknown_names_are_told_with_those_that_are_known) {
  EXPECT_EQ(parse_error("rbg"),
            "kernel: unknown shape \"rbg\" at 1; known: se, matern12, matern32, matern52, wendland2, "
            "wendland4, sho, periodic");
  EXPECT_EQ(parse_error("se + SEE").substr(0, 35), "kernel: unknown shape \"SEE\" at 6; k");
  EXPECT_EQ(parse_error("se(scale=1)"),
            "kernel: unknown parameter \"scale\" at 4; known: variance, lengthscale");
}

TEST(KernelText, every_syntax_error_says_where_and_what_was_expected) {
  EXPECT_EQ(parse_error(""), "kernel: expected a shape at 1, found the end");
  EXPECT_EQ(parse_error("  "), "kernel: expected a shape at 3, found the end");
  EXPECT_EQ(parse_error("se +"), "kernel: expected a shape at 5, found the end");
  EXPECT_EQ(parse_error("+ se"), "kernel: expected a shape at 1, found \"+\"");
  EXPECT_EQ(parse_error("se ++ se"), "kernel: expected a shape at 5, found \"+\"");
  EXPECT_EQ(parse_error("2"), "kernel: expected \"*\" at 2, found the end");
  EXPECT_EQ(parse_error("2 se"), "kernel: expected \"*\" at 3, found \"s\"");
  EXPECT_EQ(parse_error("2*"), "kernel: expected a shape at 3, found the end");
  EXPECT_EQ(parse_error("2*3*se"), "kernel: expected a shape at 3, found \"3\"");
  EXPECT_EQ(parse_error("se se"), "kernel: expected \"+\" or the end at 4, found \"s\"");
  EXPECT_EQ(parse_error("se*2"), "kernel: expected a factor (cos, periodic) at 4, found \"2\"");
  EXPECT_EQ(parse_error("se*se"), "kernel: unknown factor \"se\" at 4; known: cos, periodic");
  EXPECT_EQ(parse_error("se*cos*cos"), "kernel: expected \"+\" or the end at 7, found \"*\"");
  EXPECT_EQ(parse_error("wendland2*cos"), "kernel: expected \"+\" or the end at 10, found \"*\"");
  EXPECT_EQ(parse_error("sho*cos"), "kernel: expected \"+\" or the end at 4, found \"*\"");
  EXPECT_EQ(parse_error("periodic*cos"), "kernel: expected \"+\" or the end at 9, found \"*\"");
  EXPECT_EQ(parse_error("se*cos(lengthscale=1)"),
            "kernel: unknown parameter \"lengthscale\" at 8; known: period");
  EXPECT_EQ(parse_error("se(period=1)*cos"),
            "kernel: unknown parameter \"period\" at 4; known: variance, lengthscale");
  EXPECT_EQ(parse_error("se)"), "kernel: expected \"+\" or the end at 3, found \")\"");
  EXPECT_EQ(parse_error("se()"), "kernel: expected variance or lengthscale at 4, found \")\"");
  EXPECT_EQ(parse_error("se("), "kernel: expected variance or lengthscale at 4, found the end");
  EXPECT_EQ(parse_error("se(3)"), "kernel: expected variance or lengthscale at 4, found \"3\"");
  EXPECT_EQ(parse_error("se(lengthscale)"), "kernel: expected \"=\" at 15, found \")\"");
  EXPECT_EQ(parse_error("se(lengthscale=)"), "kernel: expected a number at 16, found \")\"");
  EXPECT_EQ(parse_error("se(lengthscale=.)"), "kernel: expected a number at 16, found \".\"");
  EXPECT_EQ(parse_error("se(lengthscale=inf)"), "kernel: expected a number at 16, found \"i\"");
  EXPECT_EQ(parse_error("se(lengthscale=1"), "kernel: expected \",\" or \")\" at 17, found the end");
  EXPECT_EQ(parse_error("se(lengthscale=1;"), "kernel: expected \",\" or \")\" at 17, found \";\"");
  EXPECT_EQ(parse_error("se(lengthscale=1,)"), "kernel: expected variance or lengthscale at 18, found \")\"");
  EXPECT_EQ(parse_error("\xC3\xA9"),
            "kernel: expected a shape at 1, found \"?\"");  // stays one printable line
}

TEST(KernelText, parameters_given_twice_are_refused) {
  EXPECT_EQ(parse_error("2*se(variance=3)"), "kernel: variance given twice at 6");
  EXPECT_EQ(parse_error("se(variance=2,variance=3)"), "kernel: variance given twice at 15");
  EXPECT_EQ(parse_error("se(lengthscale=2, lengthscale=2)"), "kernel: lengthscale given twice at 19");
}

TEST(KernelText, numbers_must_be_finite_and_positive) {
  EXPECT_EQ(parse_error("0*se"), "kernel: variance is 0, must be finite and positive, at 1");
  EXPECT_EQ(parse_error("-2*se"), "kernel: variance is -2, must be finite and positive, at 1");
  EXPECT_EQ(parse_error("se(lengthscale=-0.5)"),
            "kernel: lengthscale is -0.5, must be finite and positive, at 16");
  EXPECT_EQ(parse_error("se(lengthscale=1e999)"),
            "kernel: lengthscale is 1e999, must be finite and positive, at 16");
  EXPECT_EQ(parse_error("se(lengthscale=1e-999)"),
            "kernel: lengthscale is 1e-999, must be finite and positive, at 16");
  EXPECT_EQ(parse_error("se(lengthscale=-inf)"),
            "kernel: lengthscale is -inf, must be finite and positive, at 16");
}

TEST(KernelText, has_at_most_sixteen_terms) {
  std::string text = "se";
  for (int i = 1; i < 16; ++i) text += "+se";
  EXPECT_EQ(parse_kernel(text).terms.size(), 16u);
  EXPECT_EQ(parse_error(text + "+se"), "kernel: more than 16 terms at 49");
}

}  // namespace
