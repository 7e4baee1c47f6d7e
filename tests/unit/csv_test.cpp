// SPDX-License-Identifier: Apache-2.0
#include "bandgp/io/csv.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using namespace bandgp;
using Values = std::vector<double>;

/// How a message ends where the line can be left out.
const std::string kSkip = "; skip_bad drops such lines and counts them";

Table read(const std::string& text, const CsvOptions& options = {}) {
  std::istringstream in(text);
  return read_csv(in, "data.csv", options);
}

std::string error_of(const std::string& text, const CsvOptions& options = {}) {
  try {
    read(text, options);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "no error";
}

/// Reads `text` and expects times 1, 2.5 and values −3, 4e2.
void expect_plain(const std::string& text) {
  const Table table = read(text);
  EXPECT_EQ(table.time, (Values{1, 2.5})) << text;
  EXPECT_EQ(table.value, (Values{-3, 400})) << text;
  EXPECT_TRUE(table.variance.empty());
  EXPECT_EQ(table.bad_lines, 0);
}

TEST(Csv, reads_every_delimiter_with_and_without_header) {
  expect_plain("1,-3\n2.5,4e2\n");
  expect_plain("1;-3\n2.5;4e2\n");
  expect_plain("1\t-3\n2.5\t4e2\n");
  expect_plain("1 -3\n2.5 4e2\n");
  expect_plain("  1   -3\n2.5 \t 4e2  \n");
  expect_plain("t,y\n1,-3\n2.5,4e2\n");
  expect_plain("t;y\n1;-3\n2.5;4e2\n");
  expect_plain("t y\n1 -3\n2.5 4e2\n");
  expect_plain("time, s\tvalue; V\n1\t-3\n2.5\t4e2\n");  // a tab beats what may be text
}

TEST(Csv, tolerates_byte_order_mark_line_ends_blank_lines_comments_quotes_and_spaces) {
  expect_plain("\xEF\xBB\xBFt,y\n1,-3\n2.5,4e2\n");
  expect_plain("t,y\r\n1,-3\r\n2.5,4e2\r\n");
  expect_plain("1,-3\n2.5,4e2");
  expect_plain("# made by hand; a, b\n\n  \nt,y\n# more\n1,-3\n\n  # indented\n2.5,4e2\n\n");
  expect_plain("\"t\",\"y\"\n\"1\",\"-3\"\n \" 2.5 \" , \"4e2\" \n");
  expect_plain("\"a, b; c\",y\n1,-3\n2.5,4e2\n");
  expect_plain("\"a b\" y\n1 -3\n\"2.5\"\t\"4e2\"\n");
  expect_plain(" 1 , -3 \n +2.5 , +4E+2\n");
}

TEST(Csv, gives_the_names_of_the_header) {
  const Table named = read("\"the \"\"time\"\"\", spots \n1,2\n");
  EXPECT_EQ(named.time_name, "the \"time\"");
  EXPECT_EQ(named.value_name, "spots");
  const Table bare = read("1,2\n");
  EXPECT_EQ(bare.time_name, "");
  EXPECT_EQ(bare.value_name, "");
}

TEST(Csv, a_first_line_of_numbers_and_missing_marks_is_data) {
  const Table table = read("1,NA\n2,3\n");
  ASSERT_EQ(table.time.size(), 2u);
  EXPECT_TRUE(std::isnan(table.value[0]));
}

TEST(Csv, takes_columns_by_name_or_number) {
  const std::string text = "a,b,2,d\n1,10,100,0.5\n2,20,200,0.25\n";
  const Table by_name = read(text, {.x = "b", .y = "a", .yerr = "d"});
  EXPECT_EQ(by_name.time, (Values{10, 20}));
  EXPECT_EQ(by_name.value, (Values{1, 2}));
  EXPECT_EQ(by_name.variance, (Values{0.25, 0.0625}));
  EXPECT_EQ(by_name.time_name, "b");
  EXPECT_EQ(read(text, {.x = "a", .y = "4"}).value, (Values{0.5, 0.25}));
  EXPECT_EQ(read(text, {.x = "a", .y = "2"}).value, (Values{100, 200}));  // a name goes before a number
  EXPECT_EQ(read("1,10,100\n2,20,200\n", {.x = "3", .y = "1"}).time, (Values{100, 200}));
}

TEST(Csv, columns_that_are_not_asked_for_may_hold_anything) {
  const Table table = read("t,label,y\n1,2002-12-31,5\n2,,6\n", {.y = "y"});
  EXPECT_EQ(table.value, (Values{5, 6}));
}

TEST(Csv, missing_marks_become_nan_in_every_column) {
  for (const std::string mark :
       {"", "NA", "na", "NaN", "nan", "inf", "-inf", "+Inf", "Infinity", "-", "\"\"", "\"NA\""}) {
    const Table table = read("t,y,e\n1,2,3\n" + mark + "," + mark + "," + mark + "\n", {.yerr = "e"});
    ASSERT_EQ(table.time.size(), 2u) << mark;
    EXPECT_TRUE(std::isnan(table.time[1])) << mark;
    EXPECT_TRUE(std::isnan(table.value[1])) << mark;
    EXPECT_TRUE(std::isnan(table.variance[1])) << mark;
  }
}

TEST(Csv, without_a_time_column_times_are_steps_and_a_bad_line_keeps_its_place) {
  const Table table = read("y\n5\n6\noops\nNA\n7\n", {.step = 0.5, .skip_bad = true});
  EXPECT_EQ(table.time, (Values{0, 0.5, 1.5, 2}));
  EXPECT_EQ(table.value[3], 7);
  EXPECT_TRUE(std::isnan(table.value[2]));
  EXPECT_EQ(table.bad_lines, 1);
  EXPECT_EQ(table.time_name, "");
  EXPECT_EQ(table.value_name, "y");
  EXPECT_EQ(read("a,b\n1,2\n", {.y = "b", .step = 1}).value, (Values{2}));
}

TEST(Csv, numbers_are_rounded_correctly) {
  const Table table = read("0.1,1e-21\n1700000000.123456789,5e-324\n1e-400,-1.7976931348623157e308\n.5,5.\n");
  EXPECT_EQ(table.time, (Values{0.1, 1700000000.123456789, 0, 0.5}));
  EXPECT_EQ(table.value, (Values{1e-21, 5e-324, -1.7976931348623157e308, 5}));
}

TEST(Csv, what_is_not_a_number_is_told_with_its_place) {
  EXPECT_EQ(
      error_of("t;y\n1;2\n2;12,5\n"),
      "data.csv:3: \"12,5\" is not a number (column y); decimal commas are not read: write 12.5, for example "
      "by  tr , . < FILE");
  EXPECT_EQ(error_of("# c\n1,2\n\nx,3\n"), "data.csv:4: \"x\" is not a number (column 1)" + kSkip);
  EXPECT_EQ(error_of("t,y\n1,5\noops,5\n"), "data.csv:3: \"oops\" is not a number (column t)" + kSkip);
  EXPECT_EQ(error_of("t,y\noops,5\n"),
            "data.csv:2: \"oops\" is neither a number nor a date (column t); x names the column of times");
  EXPECT_EQ(error_of("t,y\noops,5\n", {.x = "t"}),
            "data.csv:2: \"oops\" is neither a number nor a date (column t)" + kSkip);
  EXPECT_EQ(
      error_of("t;y\n1;\"1,234.5\"\n"),
      "data.csv:2: \"1,234.5\" is not a number (column y); thousands separators are not read: write 1234.5");
  for (const std::string text :
       {"1.2.3", "1e", "0x10", "--1", "+-1", "++1", "+", ".", "1 2", "nan(1)", "infx", "1d3"})
    EXPECT_EQ(error_of("t,y\n1," + text + "\n"),
              "data.csv:2: \"" + text + "\" is not a number (column y)" + kSkip);
}

TEST(Csv, a_message_stays_one_printable_line) {
  EXPECT_EQ(error_of("t,y\n1,\x01\xC3\xA9\n"), "data.csv:2: \"???\" is not a number (column y)" + kSkip);
  EXPECT_EQ(error_of("t,y\n1," + std::string(500, 'z') + "\n"),
            "data.csv:2: \"" + std::string(40, 'z') + "...\" is not a number (column y)" + kSkip);
}

TEST(Csv, a_number_that_overflows_is_malformed) {
  EXPECT_EQ(error_of("t,y\n1,1e999\n"), "data.csv:2: \"1e999\" overflows (column y)" + kSkip);
  EXPECT_EQ(error_of("t,y\n-1e309,1\n"), "data.csv:2: \"-1e309\" overflows (column t)" + kSkip);
  EXPECT_EQ(error_of("t,y,e\n1,1,1e200\n", {.yerr = "e"}),
            "data.csv:2: error \"1e200\" overflows when squared (column e)" + kSkip);
}

TEST(Csv, a_negative_error_is_malformed) {
  EXPECT_EQ(error_of("t,y,e\n1,1,-0.5\n", {.yerr = "e"}),
            "data.csv:2: error \"-0.5\" is negative (column e)" + kSkip);
  EXPECT_EQ(read("t,y,e\n1,1,0\n", {.yerr = "e"}).variance, (Values{0}));
}

TEST(Csv, a_line_with_another_number_of_cells_is_malformed) {
  EXPECT_EQ(error_of("t,y\n1,2\n1,2,3\n"), "data.csv:3: has 3 cells, the first line has 2" + kSkip);
  EXPECT_EQ(error_of("1,2\n\n1\n"), "data.csv:3: has 1 cell, the first line has 2" + kSkip);
  EXPECT_EQ(error_of("1,2\n1,2,\n"), "data.csv:2: has 3 cells, the first line has 2" + kSkip);
  EXPECT_EQ(read("1,2,\n3,4,\n").time, (Values{1, 3}));  // the same on every line: an empty column
}

TEST(Csv, quotes_must_be_closed) {
  EXPECT_EQ(error_of("t,y\n1,\"2\n"), "data.csv:2: has a quote that is not closed" + kSkip);
  EXPECT_EQ(error_of("t,y\n1,\"2\"3\n"), "data.csv:2: has text after a closing quote" + kSkip);
  EXPECT_EQ(error_of("\"t,y\n1,2\n", {.skip_bad = true}), "data.csv:1: has a quote that is not closed");
}

TEST(Csv, skip_bad_drops_malformed_lines_whole_and_counts_them) {
  const Table table =
      read("t,y,e\n1,2,3\n2,x,3\n3,4\n4,5,-1\n5,1e999,1\n6,\"7,8\n7,8,9\n", {.yerr = "e", .skip_bad = true});
  EXPECT_EQ(table.time, (Values{1, 7}));
  EXPECT_EQ(table.value, (Values{2, 8}));
  EXPECT_EQ(table.variance, (Values{9, 81}));
  EXPECT_EQ(table.bad_lines, 5);
}

TEST(Csv, a_column_that_is_not_there_is_told_with_those_that_are) {
  EXPECT_EQ(error_of("t,y,\n1,2,3\n", {.y = "flux"}), "data.csv: no column \"flux\"; columns: t, y, 3");
  EXPECT_EQ(error_of("t,y\n1,2\n", {.yerr = "3"}), "data.csv: no column \"3\"; columns: t, y");
  EXPECT_EQ(error_of("t,y\n1,2\n", {.x = "0"}), "data.csv: no column \"0\"; columns: t, y");
  EXPECT_EQ(error_of("1,2\n", {.x = "t"}), "data.csv: no column \"t\"; columns: 1, 2");
  EXPECT_EQ(error_of("a,a\n1,2\n", {.x = "a"}), "data.csv: column \"a\" is there twice; give its number");
}

TEST(Csv, one_column_needs_a_step) {
  EXPECT_EQ(error_of("y\n1\n2\n"), "data.csv: has one column only; give the spacing of its values by step");
  EXPECT_EQ(error_of("1,2\n", {.step = -1}), "step is -1, must be finite and positive");
  EXPECT_EQ(error_of("1,2\n", {.x = "1", .step = 1}),
            "a time column and a step are given; only one of them can hold");
}

TEST(Csv, a_file_without_data_is_refused) {
  for (const std::string text : {"", "\n\n", "# only a comment\n", "t,y\n", "\xEF\xBB\xBF"})
    EXPECT_EQ(error_of(text), "data.csv: no data rows") << text;
  EXPECT_EQ(error_of("t,y\n1,x\n", {.skip_bad = true}), "data.csv: no data rows");
}

TEST(Csv, reads_files_longer_than_one_block_and_names_them_in_errors) {
  const std::string path = testing::TempDir() + "bandgp_csv_test.csv";
  const Index rows = 200000;  // 2.6 MB
  {
    std::ofstream out(path);
    out << "t,y\n";
    for (Index i = 0; i < rows; ++i) out << i << "," << 0.5 * static_cast<double>(i) << "\n";
  }
  const Table table = read_csv(path);
  ASSERT_EQ(table.time.size(), static_cast<std::size_t>(rows));
  for (std::size_t i = 0; i < table.time.size(); ++i)
    if (table.time[i] != static_cast<double>(i)) FAIL() << "row " << i;
  EXPECT_EQ(table.value[1001], 500.5);
  std::ofstream(path, std::ios::app) << "oops,1\n";
  try {
    read_csv(path);
    FAIL() << "no error";
  } catch (const std::invalid_argument& error) {
    EXPECT_EQ(error.what(), path + ":200002: \"oops\" is not a number (column t)" + kSkip);
  }
  std::remove(path.c_str());
}

TEST(Csv, a_file_that_cannot_be_read_is_told_with_the_reason) {
  const auto error = [](const std::string& path) -> std::string {
    try {
      read_csv(path);
    } catch (const std::runtime_error& failure) {
      return failure.what();
    }
    return "no error";
  };
  EXPECT_EQ(error("/no/such/file.csv"), "cannot open /no/such/file.csv: No such file or directory");
  EXPECT_EQ(error("/"), "cannot read /: Is a directory");
}

TEST(Csv, what_is_not_named_is_the_first_column_that_nothing_else_uses) {
  const Table by_x = read("y,t\n5,1\n6,2\n", {.x = "t"});
  EXPECT_EQ(by_x.time, (std::vector<double>{1, 2}));
  EXPECT_EQ(by_x.value, (std::vector<double>{5, 6}));
  const Table by_y = read("y,t\n5,1\n6,2\n", {.y = "1"});
  EXPECT_EQ(by_y.time, (std::vector<double>{1, 2}));
  EXPECT_NE(error_of("a,b\n1,2\n", {.x = "a", .y = "a"}).find("two of time, value and error"),
            std::string::npos);
  EXPECT_NE(error_of("a,b\n1,2\n", {.yerr = "b"}).find("no column left"), std::string::npos);
}

TEST(Csv, a_first_line_with_a_number_in_it_is_data_and_may_be_malformed) {
  EXPECT_NE(error_of("0,1.2x\n1,2\n").find(":1"), std::string::npos);
}

TEST(Csv, with_a_step_and_several_columns_the_values_must_be_named) {
  EXPECT_EQ(error_of("t,y\n1,2\n", {.step = 1}),
            "data.csv: has several columns; with step, name the values by y");
  EXPECT_EQ(read("t,y\n1,2\n", {.y = "y", .step = 1}).value, (Values{2}));
}

}  // namespace
