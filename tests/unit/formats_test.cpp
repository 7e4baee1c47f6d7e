// SPDX-License-Identifier: Apache-2.0
// Column choice, gzip, NPY and EDF.  EDF files are written here byte by byte, after the standard.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>
#include <zlib.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "bandgp/io/csv.hpp"
#include "bandgp/io/read_table.hpp"

namespace {

using namespace bandgp;
using Values = std::vector<double>;
using Names = std::vector<std::string>;

class Formats : public testing::Test {
 protected:
  void TearDown() override { std::filesystem::remove(path_); }
  Table read(const std::string& content, const ReadOptions& options = {}) {
    std::ofstream(path_, std::ios::binary) << content;
    return read_table(path_, options);
  }
  std::string error_of(const std::string& content, const ReadOptions& options = {}) {
    try {
      read(content, options);
    } catch (const std::invalid_argument& error) {
      const std::string text = error.what();
      EXPECT_EQ(text.find('\n'), text.npos);
      return text.starts_with(path_ + ": ") ? text.substr(path_.size() + 2) : text;
    }
    return "no error";
  }
  std::string path_ =
      fmt::format("{}bandgp_formats_test.{}", testing::TempDir(), getpid());  // the ending says nothing
};

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

std::string zipped(const std::string& text) {
  std::string out(text.size() + 1000, '\0');
  z_stream stream{};
  deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

// --- which columns
// -----------------------------------------------------------------------------------------------

TEST_F(Formats, columns_are_taken_where_there_is_no_doubt_and_told) {
  const auto taken = [&](const std::string& text, const ReadOptions& options = {}) {
    const Table table = read(text, options);
    return table.time_column + "|" + table.value_column + "|" + table.error_column;
  };
  EXPECT_EQ(taken("1,2\n"), "1|2|");
  EXPECT_EQ(taken("1 2 3\n"), "1|2|");
  EXPECT_EQ(taken("minute,with_gaps,complete\n1,2,3\n"), "minute|with_gaps|");
  EXPECT_EQ(taken("a,b,time\n1,2,3\n", {.y = "b"}), "time|b|");
  EXPECT_EQ(taken("flux,flux_err,time\n1,2,3\n"), "time|flux|");
  EXPECT_EQ(taken("t,a,b,c\n1,2,3,4\n", {.y = "c"}), "t|c|");
  EXPECT_EQ(taken("a,Time [s],b,c\n1,2,3,4\n", {.y = "c"}), "Time [s]|c|");
  EXPECT_EQ(taken("id,when,y,z\n1,2003-01-01,3,4\n"), "when|y|");
  EXPECT_EQ(taken("isig,datetime\n1,2003-01-01\n"), "datetime|isig|");
  EXPECT_EQ(taken("1,2003-01-01\n"), "2|1|");
  EXPECT_EQ(taken("t,y,e\n1,2,3\n", {.yerr = "e"}), "t|y|e");
  EXPECT_EQ(read("minute,with_gaps,complete\n1,2,3\n").unused, (Names{"complete"}));
}

TEST_F(Formats, columns_that_would_be_a_guess_are_asked_for) {
  EXPECT_EQ(error_of("year,month,decyear,SN\n1,2,3,4\n"),
            "which column holds the times? Name it by x, the values by y; columns: year, month, decyear, SN");
  EXPECT_EQ(error_of("year,month,decyear,SN\n1,2,3,4\n", {.y = "SN"}),
            "which column holds the times? Name it by x; columns: year, month, decyear, SN");
  EXPECT_EQ(error_of("isig,datetime,glucose\n1,2003-01-01,3\n"),
            "which column holds the values? Name it by y; columns: isig, datetime, glucose");
  EXPECT_EQ(error_of("1,2,3,4\n"),
            "which column holds the times? Name it by x, the values by y; columns: 1, 2, 3, 4");
  EXPECT_TRUE(has(error_of("start,end,v\n2003-01-01,2003-01-02,3\n"), "which column holds the times?"));
  std::string wide = "time";
  for (int i = 0; i < 500; ++i) wide += fmt::format(",channel {}", i);
  const std::string long_list = error_of(wide + "\n");
  EXPECT_EQ(long_list, "no data rows");
  std::string row = "\n1";
  for (int i = 0; i < 500; ++i) row += ",2";
  EXPECT_TRUE(has(error_of(wide + row + "\n"), "... (501 in all)"));
}

TEST_F(Formats, semicolons_of_the_sunspot_archive) {
  const Table table = read("1749;01;1749.042;  96.7; -1.0;   -1;1\n1749;02;1749.123; 104.3; -1.0;   -1;1\n",
                           {.x = "3", .y = "4"});
  EXPECT_EQ(table.time, (Values{1749.042, 1749.123}));
  EXPECT_EQ(table.value, (Values{96.7, 104.3}));
}

// --- bytes
// -------------------------------------------------------------------------------------------------------

TEST_F(Formats, gzip_is_undone_whatever_the_name_says) {
  EXPECT_EQ(read(zipped("t,y\n1,2\n")).value, (Values{2}));
  EXPECT_EQ(read(zipped("t,y\n1,2\n") + zipped("3,4\n")).value, (Values{2, 4}));  // two members
  const std::string whole = zipped("t,y\n1,2\n");
  EXPECT_EQ(error_of(whole.substr(0, whole.size() - 5)), "is cut off: its gzip data end early");
  std::string damaged = whole;
  damaged[whole.size() - 6] ^= 1;
  EXPECT_EQ(error_of(damaged), "has damaged gzip data");
}

TEST_F(Formats, what_is_not_a_table_ends_early_and_says_so) {
  EXPECT_TRUE(has(error_of(std::string(100000, '\0')), "zero byte"));
  EXPECT_TRUE(has(error_of(zipped(std::string(50000000, '\0'))), "zero byte"));
  EXPECT_TRUE(has(error_of(std::string(20000000, 'x')), "longer than 16 MB"));
  EXPECT_TRUE(has(error_of("PK\x03\x04zip"), "zip archive"));
  EXPECT_TRUE(has(error_of("\xFF\xFEt,y"), "UTF-16"));
  EXPECT_TRUE(has(error_of("\x89HDF\r\n"), "HDF5"));
  EXPECT_TRUE(has(error_of("1,2\n", {.channel = "C3"}), "channel does not apply"));
  EXPECT_THROW(read_table("/no/such/file"), std::runtime_error);
}

TEST_F(Formats, lines_longer_than_the_window_are_whole) {
  std::string row = "1";
  for (int i = 0; i < 200000; ++i) row += ",2";  // 400 kB
  const Table table = read(row + "\n" + row + "\n", {.x = "1", .y = "200001"});
  EXPECT_EQ(table.value, (Values{2, 2}));
}

// --- NPY
// ---------------------------------------------------------------------------------------------------------

std::string npy_header(const std::string& dictionary, int major = 1) {
  std::string text = std::string("\x93NUMPY") + static_cast<char>(major) + '\0';
  for (int i = 0; i < (major == 1 ? 2 : 4); ++i) text += static_cast<char>(dictionary.size() >> (8 * i));
  return text + dictionary;
}

template <class T>
std::string npy(const std::string& type, const std::string& shape, bool fortran,
                const std::vector<T>& numbers, int major = 1) {
  std::string text = npy_header(fmt::format("{{'descr': '{}', 'fortran_order': {}, 'shape': {}, }}   \n",
                                            type, fortran ? "True" : "False", shape),
                                major);
  for (const T number : numbers) {
    std::string bytes(sizeof(T), '\0');
    std::memcpy(bytes.data(), &number, sizeof(T));
    if ((type[0] == '>') != (std::endian::native == std::endian::big))
      bytes = std::string(bytes.rbegin(), bytes.rend());
    text += bytes;
  }
  return text;
}

TEST_F(Formats, npy_of_every_type_and_order) {
  const Table table = read(npy<double>("<f8", "(3, 2)", false, {0, 1, 2, 3.5, 4, NAN}));
  EXPECT_EQ(table.time, (Values{0, 2, 4}));
  EXPECT_EQ(table.value[1], 3.5);
  EXPECT_TRUE(std::isnan(table.value[2]));
  EXPECT_EQ(read(npy<double>(">f8", "(2, 2)", true, {0, 1, 5, 6})).value, (Values{5, 6}));
  EXPECT_EQ(read(npy<float>("<f4", "(2,)", false, {0.5F, -1}), {.step = 2}).value, (Values{0.5, -1}));
  EXPECT_EQ(read(npy<float>(">f4", "(2,)", false, {0.5F, -1}), {.step = 2}).time, (Values{0, 2}));
  EXPECT_EQ(read(npy<std::int16_t>(">i2", "(2,)", false, {-300, 7}), {.step = 1}).value, (Values{-300, 7}));
  EXPECT_EQ(read(npy<std::int32_t>("<i4", "(2,)", false, {-70000, 7}, 2), {.step = 1}).value,
            (Values{-70000, 7}));
  EXPECT_EQ(read(npy<std::int64_t>(">i8", "(2,)", false, {-(1LL << 40), 7}, 3), {.step = 1}).value,
            (Values{-1099511627776, 7}));
  EXPECT_EQ(read(npy<std::uint8_t>("|u1", "(2,)", false, {200, 7}), {.step = 1}).value, (Values{200, 7}));
  EXPECT_EQ(read(zipped(npy<double>("<f8", "(1, 2)", false, {1, 2}))).value, (Values{2}));
  const Table columns =
      read(npy<double>("<f8", "(1, 4)", false, {1, 2, 3, 4}), {.x = "2", .y = "4", .yerr = "3"});
  EXPECT_EQ(columns.time, (Values{2}));
  EXPECT_EQ(columns.variance, (Values{9}));
  const Table dates = read(npy<std::int64_t>("<i8", "(2, 2)", false, {19580329, 1, 19580405, 2}));
  EXPECT_EQ(dates.time, (Values{0, 7}));
}

TEST_F(Formats, npy_that_is_not_read_says_why) {
  const auto shaped = [](const std::string& type, const std::string& shape) {
    return npy<double>(type, shape, false, {1, 2});
  };
  EXPECT_TRUE(has(error_of(shaped("<f8", "(2,)")), "by step"));
  EXPECT_TRUE(has(error_of(npy_header(
                      "{'descr': [('t', '<f8'), ('y', '<f8')], 'fortran_order': False, 'shape': (1,), }")),
                  "structured"));
  for (const std::string type : {"<c16", "|O", "<M8[ns]", "|b1", "<f2", "<U5", "f8", "<f16"})
    EXPECT_TRUE(has(error_of(shaped(type, "(1, 2)")), "of type")) << type;
  EXPECT_TRUE(has(error_of(shaped("<f8", "()")), "0 dimensions"));
  EXPECT_TRUE(has(error_of(shaped("<f8", "(1, 1, 2)")), "3 dimensions"));
  EXPECT_EQ(error_of(shaped("<f8", "(0, 2)")), "no data rows");
  EXPECT_EQ(error_of(shaped("<f8", "(2, 2)")), "has 16 bytes of numbers, its header announces 32");
  EXPECT_EQ(error_of(shaped("<f8", "(1, 1)"), {.step = 1}),
            "has 16 bytes of numbers, its header announces 8");
  EXPECT_TRUE(has(error_of(shaped("<f8", "(999999999999, 999999999)")), "memory"));
  EXPECT_TRUE(has(error_of(shaped("<f8", "(99999999999999999999999, 2)")), "damaged"));
  EXPECT_TRUE(
      has(error_of(std::string("\x93NUMPY\x02\x00\xFF\xFF\xFF\x7F", 12)), "more than any array needs"));
  EXPECT_TRUE(has(error_of(std::string("\x93NUMPY\x01\x00\xFF", 9)), "cut off"));
  EXPECT_TRUE(has(error_of(std::string("\x93NUMPY\x09\x00", 8)), "NumPy's format 9"));
  EXPECT_TRUE(has(error_of(npy_header("{}")), "no descr"));
  EXPECT_EQ(error_of(npy<double>("<f8", "(1, 3)", false, {1, 2, -3}), {.yerr = "3"}),
            "row 1: error -3 is negative; skip_bad drops such lines and counts them");
  EXPECT_TRUE(has(error_of(npy<double>("<f8", "(2, 1001)", false, Values(2002))), "transposed"));
}

// --- EDF
// ---------------------------------------------------------------------------------------------------------

struct Signal {
  std::string label;
  std::vector<std::int16_t> samples;  // of all records
};

std::string edf(const std::vector<Signal>& signals, int records, const std::string& reserved = "",
                const std::string& duration = "2") {
  const auto pad = [](std::string text, std::size_t width) { return text.append(width - text.size(), ' '); };
  const std::size_t count = signals.size();
  std::string text = pad("0", 8) + pad("X X X X", 80) + pad("Startdate 31-DEC-2002 X X X", 80) +
                     "31.12.0201.00.00" + pad(std::to_string(256 * (count + 1)), 8) + pad(reserved, 44) +
                     pad(std::to_string(records), 8) + pad(duration, 8) + pad(std::to_string(count), 4);
  const auto each = [&](std::size_t width, auto value) {
    for (const Signal& signal : signals) text += pad(value(signal), width);
  };
  const auto fixed = [](const char* value) { return [value](const Signal&) { return std::string(value); }; };
  const auto samples = [&](const Signal& signal) {
    return signal.samples.size() / static_cast<std::size_t>(records);
  };
  each(16, [](const Signal& signal) { return signal.label; });
  each(80, fixed(""));
  each(8, [](const Signal& signal) { return std::string(signal.label == "EDF Annotations" ? "" : "uV"); });
  each(8, fixed("-3276.8"));
  each(8, fixed("3276.7"));
  each(8, fixed("-32768"));
  each(8, fixed("32767"));
  each(80, fixed(""));
  each(8, [&](const Signal& signal) { return std::to_string(samples(signal)); });
  each(32, fixed(""));
  for (std::size_t r = 0; r < static_cast<std::size_t>(records); ++r)
    for (const Signal& signal : signals)
      for (std::size_t i = 0; i < samples(signal); ++i) {
        const auto value = static_cast<std::uint16_t>(signal.samples[r * samples(signal) + i]);
        text += static_cast<char>(value & 255);
        text += static_cast<char>(value >> 8);
      }
  return text;
}

Signal annotations(const std::vector<std::string>& onsets) {  // "+2\x14\x14" and zeros, 16 bytes a record
  Signal signal{"EDF Annotations", {}};
  for (const std::string& onset : onsets) {
    std::string bytes = onset + "\x14\x14";
    bytes.resize(16, '\0');
    for (std::size_t i = 0; i < 16; i += 2)
      signal.samples.push_back(static_cast<std::int16_t>(static_cast<unsigned char>(bytes[i]) |
                                                         static_cast<unsigned char>(bytes[i + 1]) << 8));
  }
  return signal;
}

TEST_F(Formats, edf_channels_have_times_in_seconds_and_physical_values) {
  const Signal fast{"EEG C3", {0, 10, 20, 30, 40, 50, -60, 70}}, slow{"Resp", {100, -32768}};
  const Table only = read(edf({fast}, 2));
  EXPECT_EQ(only.time, (Values{0, 0.5, 1, 1.5, 2, 2.5, 3, 3.5}));
  EXPECT_EQ(only.value_name, "EEG C3");
  EXPECT_EQ(only.axis.unit, "s");
  for (std::size_t i = 0; i < 8; ++i) EXPECT_NEAR(only.value[i], 0.1 * fast.samples[i], 1e-9);
  const Table named = read(edf({fast, slow}, 2), {.time_unit = "min", .channel = "Resp"});
  EXPECT_EQ(named.time, (Values{0, 2 / 60.0}));
  EXPECT_NEAR(named.value[1], -3276.8, 1e-9);
  EXPECT_EQ(named.unused, (Names{"EEG C3"}));
  EXPECT_EQ(read(zipped(edf({fast}, 2))).time.size(), 8u);
  EXPECT_EQ(read(edf({fast, annotations({"+0", "+2"})}, 2, "EDF+C")).time.size(), 8u);
  EXPECT_EQ(read(edf({fast}, 2, "EDF+C_Online")).time.size(), 8u);  // claims EDF+, has no annotations
}

TEST_F(Formats, edf_that_is_not_read_says_why) {
  const Signal fast{"EEG C3", {0, 10, 20, 30}}, slow{"Resp", {100, 200}};
  EXPECT_EQ(error_of(edf({fast, slow}, 2)), "name one of its channels by channel: EEG C3, Resp");
  EXPECT_EQ(error_of(edf({fast, slow}, 2), {.channel = "C4"}), "no channel \"C4\"; channels: EEG C3, Resp");
  EXPECT_TRUE(has(error_of(edf({fast, fast}, 2), {.channel = "EEG C3"}), "2 channels"));
  EXPECT_TRUE(has(error_of(edf({fast, annotations({"+0", "+9"})}, 2, "EDF+D")), "discontinuous"));
  EXPECT_TRUE(has(error_of(edf({fast}, 2), {.y = "2"}), "by channel"));
  EXPECT_TRUE(has(error_of(edf({fast}, 2), {.time_format = "%Y"}), "time_format"));
  EXPECT_TRUE(has(error_of(edf({fast}, 2), {.time_unit = "week"}), "time_unit"));
  const std::string whole = edf({fast}, 2);
  EXPECT_TRUE(has(error_of(whole.substr(0, whole.size() - 1)), "cut off"));
  EXPECT_TRUE(has(error_of(whole.substr(0, 300)), "cut off"));
  std::string hostile = whole;
  hostile.replace(236, 8, "99999999");  // records
  EXPECT_TRUE(has(error_of(hostile), "cut off"));
  EXPECT_THROW(read_times(path_, {}, {}), std::invalid_argument);
}

}  // namespace
