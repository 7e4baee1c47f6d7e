// SPDX-License-Identifier: Apache-2.0
#include "bandgp/base/message.hpp"

#include <gtest/gtest.h>

#include <set>

#include "bandgp/base/error.hpp"
#include "bandgp/fit/fit.hpp"
#include "bandgp/io/read_table.hpp"

namespace bandgp {
namespace {

std::string shouted(Option option, std::string_view value) {
  std::string text = "<" + std::string(option_name(option));
  if (!value.empty()) text.append("|").append(value);
  return text + ">";
}

TEST(Message, every_code_has_a_name_of_its_own) {
  std::set<std::string_view> names;
  for (int code = 0; code < static_cast<int>(MessageCode::count_); ++code)
    EXPECT_TRUE(names.insert(code_name(static_cast<MessageCode>(code))).second) << code;
}

TEST(Message, options_are_spelt_by_whoever_speaks) {
  const Message message{MessageCode::stage_too_large,
                        {{"what", "a band of 9 neighbours"},
                         {"n", Index{1000}},
                         {"bytes", 2e9},
                         {"seconds", 3.0},
                         {"allowed", 1e9}},
                        {{MessageCode::use_automatic_method},
                         {MessageCode::thin_series, {{"thin", 0.25}, {"neighbours", 200.0}}}}};
  EXPECT_EQ(words(message),
            "a band of 9 neighbours on 1000 points needs 2.0 GB and about 3 s an evaluation, 1.0 GB are "
            "allowed; method=auto needs no such band; thin=0.25 would bring it to about 200 neighbours");
  EXPECT_EQ(words(message.advice, shouted),
            "<method|auto> needs no such band; <thin|0.25> would bring it to about 200 neighbours");
  EXPECT_EQ(plain_spelling(Option::fix, "noise=1e-06"), "fix noise=1e-06");
  EXPECT_EQ(plain_spelling(Option::time_format, ""), "time_format");
}

TEST(Message, place_and_column_surround_the_sentence) {
  const Message message{MessageCode::unknown_date,
                        {{"cell", "\"31/12/02\""}, {"column", "when"}, {"place", "a.csv:2"}}};
  EXPECT_EQ(words(message, shouted),
            "a.csv:2: \"31/12/02\" is neither a number nor a date in a form that is known; <time_format> "
            "tells how it is written, such as <time_format|%d/%m/%y> (column when)");
}

TEST(Error, is_caught_as_a_standard_exception_and_keeps_its_fields) {
  try {
    const Series series = make_series(std::vector<double>{0, 1, 2}, std::vector<double>{5, 5, 5});
    fit(std::make_shared<const Series>(series), {});
    FAIL() << "equal values were fitted";
  } catch (const std::invalid_argument& caught) {
    const auto* error = dynamic_cast<const Error*>(&caught);
    ASSERT_NE(error, nullptr);
    EXPECT_EQ(error->message().code, MessageCode::equal_values);
    EXPECT_EQ(error->message().count("observations"), 3);
    EXPECT_EQ(error->message().number("value"), 5);
    EXPECT_EQ(words(error->message()), caught.what());
  }
}

}  // namespace
}  // namespace bandgp
