// SPDX-License-Identifier: Apache-2.0
#include "bandgp/fit/parameters.hpp"

#include <gtest/gtest.h>

namespace {

using namespace bandgp;

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
  const Model model{"2*se(lengthscale=3)", 0.25}, internal = to_internal(model, kUnits);
  EXPECT_EQ(parameter_values(internal), (std::vector<double>{8, 0.75, 1}));
  EXPECT_EQ(parameter_values(to_user(internal, kUnits)), parameter_values(model));
  const Optionals some = {2, std::nullopt, 1, 8, std::nullopt};
  EXPECT_EQ(to_internal(some, "se + se", kUnits), (Optionals{8, std::nullopt, 4, 2, std::nullopt}));
}

TEST(Parameters, of_one_term_can_be_left_out) {
  const Optionals all = {1, 2, 3, 4, 5, 6, 7};
  EXPECT_EQ(without_term(all, "se + se + matern12", 0), (Optionals{3, 4, 5, 6, 7}));
  EXPECT_EQ(without_term(all, "se + se + matern12", 1), (Optionals{1, 2, 5, 6, 7}));
  EXPECT_EQ(without_term(all, "se + se + matern12", 2), (Optionals{1, 2, 3, 4, 7}));
}

TEST(Parameters, are_normal_numbers_in_the_units_of_the_series_or_refused) {
  EXPECT_TRUE(survives_units({"2*se(lengthscale=3)", 0}, kUnits));
  EXPECT_FALSE(survives_units({"2*se(lengthscale=3)", 1e-320}, kUnits));
  EXPECT_FALSE(survives_units({"1e-320*se(lengthscale=3)", 1}, kUnits));
  EXPECT_FALSE(survives_units({"2*se(lengthscale=3) + 2*se(lengthscale=1e-310)", 1}, kUnits));
  EXPECT_FALSE(survives_units({"2*se(lengthscale=1e308)", 1}, {.time_unit = 0x1p-10}));
}

}  // namespace
