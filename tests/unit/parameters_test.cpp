// SPDX-License-Identifier: Apache-2.0
#include "bandgp/fit/parameters.hpp"

#include <gtest/gtest.h>

#include <type_traits>

#include "bandgp/gp/posterior.hpp"
#include "bandgp/methods/make_representation.hpp"

namespace {

using namespace bandgp;

// What is in the user's units cannot be given where a series' internal ones are wanted, nor the other way.
template <class To, class From>
constexpr bool kTakes = std::is_constructible_v<To, From> || std::is_convertible_v<From, To>;
static_assert(!kTakes<Model, InternalModel> && !kTakes<InternalModel, Model>);
static_assert(!kTakes<Cut, InternalCut> && !kTakes<InternalCut, Cut>);
static_assert(!kTakes<Optionals, InternalOptionals> && !kTakes<InternalOptionals, Optionals>);

template <class AnyModel>
constexpr bool kEvaluates =
    std::is_invocable_v<decltype(&Evaluator::evaluate), Evaluator&, AnyModel, bool, Likelihood&>;
static_assert(kEvaluates<InternalModel> && !kEvaluates<Model>);

template <class AnyModel>
constexpr bool kPredicts = std::is_constructible_v<Posterior, std::shared_ptr<const Series>, AnyModel,
                                                   std::unique_ptr<Representation>>;
static_assert(kPredicts<Model> && !kPredicts<InternalModel>);

template <class AnyCut>
constexpr bool kRepresents = std::is_invocable_v<decltype(&make_representation), AnyCut, double, Index>;
static_assert(kRepresents<InternalCut> && !kRepresents<Cut>);

const Units kUnits{.time_origin = 3, .time_unit = 4, .value_origin = 5, .value_unit = 0.5};

TEST(Parameters, of_a_model_have_name_unit_and_a_value_that_can_be_set) {
  Model model{"2*se(lengthscale=3) + 0.5*matern12(lengthscale=7)", 0.25};
  const auto all = parameters(model);
  ASSERT_EQ(all.size(), 5u);
  const std::vector<std::string> names = parameter_names(model.kernel);
  const std::vector<double> values = {2, 3, 0.5, 7, 0.25};
  const Unit v = Unit::variance, t = Unit::time;
  const std::vector<Unit> units = {v, t, v, t, v};
  for (std::size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(all[i].name, names[i]);
    EXPECT_EQ(all[i].kind->unit, units[i]) << names[i];
    EXPECT_EQ(*all[i].value, values[i]) << names[i];
  }
  EXPECT_EQ(all.back().kind, &noise_parameter());
  EXPECT_EQ(parameter_values(model), values);
  *all[3].value = 8;
  EXPECT_EQ(model.kernel.terms[1].lengthscale, 8);
  set_parameter(model, 4, 1);
  EXPECT_EQ(model.noise, 1);
}

TEST(Parameters, change_units_by_what_they_are_measured_in) {
  EXPECT_EQ(unit_size(Unit::variance, kUnits), 0.25);
  EXPECT_EQ(unit_size(Unit::time, kUnits), 4);
  EXPECT_EQ(unit_size(Unit::none, kUnits), 1);
  const Model model{"2*se(lengthscale=3)", 0.25};
  const InternalModel internal = to_internal(model, kUnits);
  EXPECT_EQ(parameter_values(internal), (std::vector<double>{8, 0.75, 1}));
  EXPECT_EQ(parameter_values(to_user(internal, kUnits)), parameter_values(model));
  const Optionals some = {2, std::nullopt, 1, 8, std::nullopt};
  EXPECT_EQ(to_internal(some, "se + se", kUnits), (InternalOptionals{8, std::nullopt, 4, 2, std::nullopt}));
}

TEST(Parameters, of_a_cut_change_units_where_they_have_one) {
  const Cut cut{.method = Method::vfe,
                .rule = CutRule::reach,
                .bandwidth = 2,
                .reach = 8,
                .tolerance = 0.5,
                .index_band = true,
                .inducing = 7,
                .move_inducing = true,
                .inducing_inputs = {3, 11},
                .neighbours = 9,
                .taper = {.range = 12, .smoothness = Taper::Smoothness::c4}};
  const InternalCut internal = to_internal(cut, kUnits);
  EXPECT_EQ(internal.reach, 2);
  EXPECT_EQ(internal.inducing_inputs, (std::vector<double>{0, 2}));
  EXPECT_EQ(internal.taper.range, 3);
  EXPECT_EQ(internal.method, cut.method);
  EXPECT_EQ(internal.rule, cut.rule);
  EXPECT_EQ(internal.bandwidth, cut.bandwidth);
  EXPECT_EQ(internal.tolerance, cut.tolerance);
  EXPECT_EQ(internal.index_band, cut.index_band);
  EXPECT_EQ(internal.inducing, cut.inducing);
  EXPECT_EQ(internal.move_inducing, cut.move_inducing);
  EXPECT_EQ(internal.neighbours, cut.neighbours);
  EXPECT_EQ(internal.taper.smoothness, cut.taper.smoothness);
}

TEST(Parameters, of_one_term_can_be_left_out) {
  const InternalOptionals all = {1, 2, 3, 4, 5, 6, 7};
  EXPECT_EQ(without_term(all, "se + se + matern12", 0), (InternalOptionals{3, 4, 5, 6, 7}));
  EXPECT_EQ(without_term(all, "se + se + matern12", 1), (InternalOptionals{1, 2, 5, 6, 7}));
  EXPECT_EQ(without_term(all, "se + se + matern12", 2), (InternalOptionals{1, 2, 3, 4, 7}));
}

TEST(Parameters, are_normal_numbers_in_the_units_of_the_series_or_refused) {
  EXPECT_TRUE(survives_units({"2*se(lengthscale=3)", 0}, kUnits));
  EXPECT_FALSE(survives_units({"2*se(lengthscale=3)", 1e-320}, kUnits));
  EXPECT_FALSE(survives_units({"1e-320*se(lengthscale=3)", 1}, kUnits));
  EXPECT_FALSE(survives_units({"2*se(lengthscale=3) + 2*se(lengthscale=1e-310)", 1}, kUnits));
  EXPECT_FALSE(survives_units({"2*se(lengthscale=1e308)", 1}, {.time_unit = 0x1p-10}));
}

}  // namespace
