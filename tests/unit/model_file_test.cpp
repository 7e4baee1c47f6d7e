// SPDX-License-Identifier: Apache-2.0
#include "bandgp/io/model_file.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <random>
#include <stdexcept>

#include "bandgp/io/base64.hpp"
#include "bandgp/io/checksum.hpp"
#include "support/effort.hpp"
#include "support/random.hpp"

namespace {

using namespace bandgp;
using Json = nlohmann::ordered_json;
using Values = std::vector<double>;

/// Every block is in use: unsorted epoch times, equal times, known errors.
std::shared_ptr<const Series> full_series(bool center) {
  std::mt19937_64 random(3);
  std::normal_distribution<double> normal;
  Values time, value, variance;
  for (int i = 0; i < 24; ++i) {
    const double t = 1.7e9 + 37.0 * ((i * 7) % 24) + 0.1 * i;
    time.push_back(t);
    value.push_back(1e3 + 20 * std::sin(t / 150) + normal(random));
    variance.push_back(0.1 + 0.01 * i);
  }
  time[5] = time[6];
  time[9] = time[10] = time[11];
  value[3] = std::numeric_limits<double>::quiet_NaN();
  return std::make_shared<const Series>(make_series(time, value, variance, {.center = center}));
}

FitResult full_fit(const std::string& kernel, Mean mean) {
  FitOptions options;
  options.kernel = parse_kernel(kernel);
  options.mean = mean;
  return fit(full_series(mean != Mean::zero), options);
}

const FitResult& small_fit() {
  static const FitResult result = full_fit("se", Mean::constant);
  return result;
}

std::string error_of(const std::string& text) {
  try {
    from_model_text(text, "m.json");
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "no error";
}

bool same_bits(const Values& a, const Values& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (std::bit_cast<std::uint64_t>(a[i]) != std::bit_cast<std::uint64_t>(b[i])) return false;
  }
  return true;
}

void expect_same(const FitResult& a, const FitResult& b) {
  EXPECT_EQ(a.status, b.status);
  EXPECT_EQ(a.message, b.message);
  EXPECT_EQ(to_text(a.model.kernel), to_text(b.model.kernel));
  EXPECT_EQ(a.model.noise, b.model.noise);
  EXPECT_EQ(a.model.mean, b.model.mean);
  ASSERT_EQ(a.standard_errors.size(), b.standard_errors.size());
  for (std::size_t i = 0; i < a.standard_errors.size(); ++i) {
    const bool none = std::isnan(a.standard_errors[i]) && std::isnan(b.standard_errors[i]);
    EXPECT_TRUE(none || a.standard_errors[i] == b.standard_errors[i]);
  }
  EXPECT_TRUE(a.nll == b.nll || (std::isnan(a.nll) && std::isnan(b.nll)));
  EXPECT_TRUE(same_bits(a.gradient, b.gradient));
  EXPECT_TRUE(same_bits(a.mean, b.mean));
  EXPECT_EQ(a.certificate.positive_definite, b.certificate.positive_definite);
  EXPECT_EQ(a.certificate.rho.value(), b.certificate.rho.value());
  EXPECT_EQ(a.certificate.nll_error.value(), b.certificate.nll_error.value());
  EXPECT_EQ(a.certificate.mean_error.value(), b.certificate.mean_error.value());
  EXPECT_EQ(a.certificate.variance_error.value(), b.certificate.variance_error.value());
  EXPECT_EQ(a.bandwidth, b.bandwidth);
  EXPECT_EQ(a.reach, b.reach);
  EXPECT_EQ(a.condition, b.condition);
  EXPECT_EQ(a.evaluations, b.evaluations);
  EXPECT_EQ(a.rejected_not_positive_definite, b.rejected_not_positive_definite);
  EXPECT_EQ(a.rejected_too_large, b.rejected_too_large);
  EXPECT_EQ(a.seconds, b.seconds);
  EXPECT_EQ(a.cut.rule, b.cut.rule);
  EXPECT_EQ(a.cut.bandwidth, b.cut.bandwidth);
  EXPECT_EQ(a.cut.reach, b.cut.reach);
  EXPECT_EQ(a.cut.tolerance, b.cut.tolerance);
  EXPECT_EQ(a.cut.index_band, b.cut.index_band);
  const Series &s = *a.series, &t = *b.series;
  EXPECT_TRUE(same_bits({s.units.time_origin, s.units.time_unit, s.units.value_origin, s.units.value_unit},
                        {t.units.time_origin, t.units.time_unit, t.units.value_origin, t.units.value_unit}));
  EXPECT_TRUE(same_bits(s.time, t.time) && same_bits(s.value, t.value) && same_bits(s.variance, t.variance));
  EXPECT_TRUE(s.group == t.group && s.row == t.row);
  EXPECT_EQ(s.axis, t.axis);
  EXPECT_EQ(a.source.file, b.source.file);
  EXPECT_EQ(a.source.time_name, b.source.time_name);
  EXPECT_EQ(a.source.value_name, b.source.value_name);
  EXPECT_EQ(a.source.bad_lines, b.source.bad_lines);
  ASSERT_EQ(a.trace.size(), b.trace.size());
  for (std::size_t i = 0; i < a.trace.size(); ++i) {
    const TraceEntry &e = a.trace[i], &f = b.trace[i];
    EXPECT_TRUE(e.evaluation == f.evaluation && e.stage == f.stage && e.n == f.n &&
                e.bandwidth == f.bandwidth && e.kernel == f.kernel);
    EXPECT_TRUE(same_bits({e.nll, e.seconds}, {f.nll, f.seconds}) && same_bits(e.parameters, f.parameters));
  }
  EXPECT_EQ(s.report.rows, t.report.rows);
  EXPECT_EQ(s.report.dropped, t.report.dropped);
  EXPECT_EQ(s.report.merged, t.report.merged);
  EXPECT_EQ(s.report.used, t.report.used);
  EXPECT_EQ(s.report.was_sorted, t.report.was_sorted);
  EXPECT_TRUE(
      same_bits({s.report.min_gap, s.report.mean_gap, s.report.max_gap, s.report.span, s.report.first_time},
                {t.report.min_gap, t.report.mean_gap, t.report.max_gap, t.report.span, t.report.first_time}));
}

/// The model's text with one field replaced and the checksum made good again.
std::string with(const std::string& pointer, const Json& value) {
  Json json = Json::parse(to_model_text(small_fit()));
  json.erase("checksum");
  json[Json::json_pointer(pointer)] = value;
  return with_checksum(json.dump(1));
}

TEST(Base64, equals_hand_values_and_reads_back) {
  EXPECT_EQ(to_base64(Values{}), "");
  EXPECT_EQ(to_base64(Values{1.0}), "AAAAAAAA8D8=");
  EXPECT_EQ(to_base64(std::vector<Index>{1, -1}), "AQAAAAAAAAD//////////w==");
  EXPECT_EQ(to_base64(std::vector<Index>{0, 0, 0}), std::string(32, 'A'));
  EXPECT_EQ(to_base64(std::vector<float>{1.0F}), "AACAPw==");
  EXPECT_EQ(to_base64(std::vector<std::uint16_t>{1, 65535}), "AQD//w==");
  std::mt19937_64 random(1);
  for (std::size_t count = 0; count < 20; ++count) {
    std::vector<Index> values(count);
    for (Index& value : values) value = static_cast<Index>(random());
    const std::string text = to_base64(values);
    EXPECT_EQ(text.size(), base64_length(count));
    EXPECT_EQ(indices_from_base64(text), values);
  }
}

TEST(Base64, anything_but_its_own_writing_is_refused) {
  for (const char* text :
       {"A", "AAAA", "AAAAAAAA8D8", "AAAAAAAA8D9=", "AAAA AAA8D8=", "AAAAAAAA8D==", "AAAAAAA-8D8=",
        "=AAAAAAA8D8=", "====", "AAAAAAAAAAA=AAAAAAAAAAA=", "AQAAAAAAAAD//////////x=="}) {
    EXPECT_FALSE(doubles_from_base64(text).has_value()) << text;
  }
}

TEST(Checksum, equals_published_values) {
  EXPECT_EQ(fnv1a(""), 0xcbf29ce484222325U);
  EXPECT_EQ(fnv1a("a"), 0xaf63dc4c8601ec8cU);
  EXPECT_EQ(fnv1a("foobar"), 0x85944171f73967e8U);
}

TEST(ModelFile, everything_survives_bit_by_bit) {
  for (const auto& [kernel, mean] :
       {std::pair{"se", Mean::constant}, std::pair{"se + matern12", Mean::linear},
        std::pair{"wendland2", Mean::zero}}) {
    FitResult saved = full_fit(kernel, mean);
    saved.source = {"a \"file\".csv", "t\n", "größe", 3};
    saved.trace[1].nll = std::numeric_limits<double>::infinity();
    const std::string text = to_model_text(saved);
    const FitResult loaded = from_model_text(text, "m.json");
    expect_same(saved, loaded);
    EXPECT_EQ(to_model_text(loaded), text);
  }
}

TEST(ModelFile, of_a_very_long_trace_the_end_is_kept) {
  FitResult saved = small_fit();
  const TraceEntry last = saved.trace.back();
  for (int i = 1; i <= 20000; ++i) {
    saved.trace.push_back(last);
    saved.trace.back().evaluation = last.evaluation + i;
  }
  const std::string text = to_model_text(saved);
  EXPECT_LT(text.size(), 2'000'000U);
  const FitResult loaded = from_model_text(text, "m.json");
  EXPECT_EQ(loaded.trace.size(), 8192U);
  EXPECT_EQ(loaded.trace.back().evaluation, last.evaluation + 20000);
  EXPECT_EQ(to_model_text(loaded), text);
}

TEST(ModelFile, names_in_any_encoding_do_not_cost_the_model) {
  FitResult saved = small_fit();
  saved.source.value_name = "temp\xe9rature";  // Latin-1
  EXPECT_EQ(from_model_text(to_model_text(saved), "m.json").source.value_name, "temp\xef\xbf\xbdrature");
}

TEST(ModelFile, files_from_before_trace_and_source_are_read) {
  Json json = Json::parse(to_model_text(small_fit()));
  for (const char* key : {"checksum", "trace", "source", "data_checksum"}) json.erase(key);
  FitResult expected = small_fit();
  expected.trace.clear();
  const FitResult loaded = from_model_text(with_checksum(json.dump(1)), "m.json");
  expect_same(expected, loaded);
  EXPECT_EQ(loaded.data_checksum, series_checksum(*small_fit().series));
}

TEST(ModelFile, the_checksum_of_a_series_tells_it_from_others) {
  const Series& series = *small_fit().series;
  Series other = series;
  EXPECT_EQ(series_checksum(other), series_checksum(series));
  other.value[3] = std::nextafter(other.value[3], 1e9);
  EXPECT_NE(series_checksum(other), series_checksum(series));
  other = series;
  other.units.time_origin += 1;
  EXPECT_NE(series_checksum(other), series_checksum(series));
}

TEST(ModelFile, predicts_bit_by_bit_as_before) {
  const FitResult loaded = from_model_text(to_model_text(small_fit()), "m.json");
  Values times;
  for (int i = -20; i < 120; ++i) times.push_back(1.7e9 + 11.3 * i);
  Posterior &before = *small_fit().posterior(), &after = *loaded.posterior();
  const Prediction a = before.predict(times), b = after.predict(times);
  EXPECT_TRUE(same_bits(a.mean, b.mean));
  EXPECT_TRUE(same_bits(a.variance, b.variance));
  EXPECT_TRUE(same_bits(a.variance_observed, b.variance_observed));
  EXPECT_TRUE(same_bits(before.sample(times, 1, 5), after.sample(times, 1, 5)));
}

TEST(ModelFile, a_fit_that_failed_is_kept_as_it_is) {
  FitResult failed = small_fit();
  failed.status = FitStatus::not_positive_definite;
  failed.message = "the band is too narrow: ρ ≥ 1";
  failed.nll = kUnset;
  failed.gradient.clear();
  failed.mean.clear();
  failed.standard_errors = Values(3, kUnset);
  failed.certificate = {};
  failed.condition = std::numeric_limits<double>::infinity();
  failed.cut = {.rule = Cut::Rule::bandwidth, .bandwidth = 3};
  expect_same(failed, from_model_text(to_model_text(failed), "m.json"));
  failed.cut = {.rule = Cut::Rule::reach, .reach = 0.1, .tolerance = 1e-300, .index_band = true};
  failed.certificate.positive_definite = true;
  failed.certificate.rho = UpperBound::of(3e-310);
  expect_same(failed, from_model_text(to_model_text(failed), "m.json"));
}

TEST(ModelFile, every_truncation_is_refused) {
  const std::string text = to_model_text(small_fit());
  // Under sanitizers at short effort every eighth length, and all that end near either end of the text.
  const std::size_t step = support::kSanitized && support::short_effort() ? 8 : 1;
  std::size_t seen = 0;
  for (std::size_t length = 0; length < text.size(); ++length) {
    const bool near_an_end = length < 100 || length + 100 > text.size();
    if (!near_an_end && length % step != 0) continue;
    EXPECT_NE(error_of(text.substr(0, length)), "no error") << length;
    ++seen;
  }
  EXPECT_GE(seen, text.size() / step);
}

TEST(ModelFile, every_altered_byte_is_noticed) {
  const std::string text = to_model_text(small_fit());
  std::string altered = text;
  // Every bit of every byte; at short effort one bit of each byte, under sanitizers of every fifth.
  const bool one_bit = support::short_effort();
  const std::size_t step = one_bit && support::kSanitized ? 5 : 1;
  std::size_t seen = 0;
  for (std::size_t at = 0; at < text.size(); at += step) {
    for (int bit = one_bit ? 1 << at % 8 : 1; bit <= 128; bit *= one_bit ? 256 : 2) {
      ++seen;
      altered[at] = static_cast<char>(text[at] ^ bit);
      const std::string error = error_of(altered);
      ASSERT_NE(error, "no error") << "byte " << at << ", bit " << bit;
      ASSERT_EQ(error.find('\n'), error.npos) << error;
      ASSERT_EQ(error.rfind("m.json: ", 0), 0U) << error;
    }
    altered[at] = text[at];
  }
  EXPECT_EQ(seen, (one_bit ? 1 : 8) * ((text.size() + step - 1) / step));
  EXPECT_EQ(error_of(altered), "no error");
}

std::string version_1(const std::string& name) {
  std::ifstream file(BANDGP_SOURCE_DIR "/tests/golden/model_v1/" + name + ".json");
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(ModelFile, version_1_is_read_and_written_again_as_version_2) {
  for (const char* name : {"se_dual_without_data", "se_band", "se_matern12_mixed", "matern32", "wendland2",
                           "sum_with_errors_and_ties", "timestamps", "fitc"}) {
    const Json file = Json::parse(version_1(name));
    ASSERT_EQ(file["format_version"], 1) << name;
    const FitResult fit = from_model_text(version_1(name), name);
    EXPECT_EQ(to_text(fit.model.kernel), file["kernel"].get<std::string>()) << name;
    ASSERT_EQ(fit.trace.size(), static_cast<std::size_t>(fit.evaluations)) << name;
    const std::string shapes = shapes_text(fit.model.kernel);
    for (const TraceEntry& entry : fit.trace) {
      EXPECT_EQ(entry.parameters.size() == parameter_names(fit.model.kernel).size(), entry.kernel == shapes);
      EXPECT_TRUE(entry.kernel == shapes || entry.kernel.empty());  // of fewer terms: not told which
    }
    const std::string again = to_model_text(fit);
    EXPECT_EQ(Json::parse(again)["format_version"], 2) << name;
    expect_same(from_model_text(again, "again"), fit);
  }
  EXPECT_TRUE(std::ranges::any_of(from_model_text(version_1("sum_with_errors_and_ties"), "").trace,
                                  [](const TraceEntry& entry) { return entry.kernel.empty(); }));
}

TEST(ModelFile, version_1_is_not_trusted_either) {
  Json file = Json::parse(version_1("se_band"));
  const std::size_t traced = from_model_text(version_1("se_band"), "").trace.size();
  const auto error_with = [&](const std::vector<Index>& terms) {
    file["trace"]["terms"] = to_base64(terms);
    file.erase("checksum");
    return error_of(with_checksum(file.dump(1)));
  };
  for (const Index terms : {0, 2, -1})
    EXPECT_EQ(error_with(std::vector<Index>(traced, terms)), "m.json: trace has counts that cannot be");
  EXPECT_EQ(error_with(std::vector<Index>(traced - 1, 1)), "m.json: trace has blocks of different lengths");
}

TEST(ModelFile, has_the_parameters_by_name_for_readers_that_know_no_kernels) {
  const Json file = Json::parse(to_model_text(small_fit()));
  const Model& model = small_fit().model;
  EXPECT_EQ(file["parameters"], Json({{"variance", model.kernel.terms[0].variance},
                                      {"lengthscale", model.kernel.terms[0].lengthscale},
                                      {"noise", model.noise}}));
}

TEST(ModelFile, says_what_is_wrong_before_the_checksum) {
  EXPECT_EQ(error_of(""), "m.json: is truncated or damaged: not JSON");
  EXPECT_EQ(error_of("t,y\n1,2\n"), "m.json: is truncated or damaged: not JSON");
  EXPECT_EQ(error_of("[1]"), "m.json: is not a bandgp model");
  EXPECT_EQ(error_of("{}"), "m.json: is not a bandgp model");
  EXPECT_EQ(error_of(R"({"format": "other"})"), "m.json: is not a bandgp model");
  for (const char* version : {"3", "0"})
    EXPECT_EQ(error_of(fmt::format(R"({{"format": "bandgp-model", "format_version": {}}})", version)),
              fmt::format("m.json: has format version {}; this program reads versions 1 to 2", version));
  EXPECT_EQ(error_of(Json::parse(to_model_text(small_fit())).dump()),
            "m.json: was altered or damaged: its checksum does not hold");
  EXPECT_EQ(error_of(std::string(100000, '[')), "m.json: is truncated or damaged: not JSON");
}

TEST(ModelFile, the_checksum_alone_is_not_trusted) {
  const Series& series = *small_fit().series;
  const auto changed = [](auto values, std::size_t at, auto value) {
    values[at] = value;
    return to_base64(values);
  };
  const auto shorter = [](auto values) {
    values.pop_back();
    return to_base64(values);
  };
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  const std::vector<TraceEntry>& trace = small_fit().trace;
  const std::size_t traced = trace.size();
  const std::vector<Index> ones(traced, 1);
  std::vector<Index> evaluations;
  Values seconds, parameters;
  for (const TraceEntry& entry : trace) {
    evaluations.push_back(entry.evaluation);
    seconds.push_back(entry.seconds);
    parameters.insert(parameters.end(), entry.parameters.begin(), entry.parameters.end());
  }
  const std::vector<std::tuple<std::string, Json, std::string>> cases = {
      {"/source", 3, "source is not an object"},
      {"/source/file", 3, "source.file is not a text"},
      {"/source/bad_lines", -1, "source.bad_lines"},
      {"/data_checksum", "0123456789abcdef", "data_checksum is not that of blocks"},
      {"/data_checksum", "short", "data_checksum is not 16"},
      {"/trace", nullptr, "trace is not an object"},
      {"/trace/nll", "AAAA", "trace.nll is not base64"},
      {"/trace/nll", to_base64(Values(traced - 1, 1.0)), "different lengths"},
      {"/trace/nll", to_base64(Values(traced, kNaN)), "trace.nll"},
      {"/trace/stage", changed(ones, 2, Index{0}), "does not go forward"},
      {"/trace/stage", to_base64(std::vector<Index>(traced, -1)), "counts that cannot be"},
      {"/trace/evaluation", to_base64(ones), "does not go forward"},
      {"/trace/evaluation", changed(evaluations, traced - 1, Index{1} << 40), "counts that cannot be"},
      {"/trace/n", to_base64(std::vector<Index>(traced, 0)), "counts that cannot be"},
      {"/trace/bandwidth", to_base64(std::vector<Index>(traced, -1)), "counts that cannot be"},
      {"/trace/count", to_base64(std::vector<Index>(traced, 2)), "trace.count does not fit trace.kernels"},
      {"/trace/count", to_base64(std::vector<Index>(traced - 1, 3)), "different lengths"},
      {"/trace/kernel", to_base64(std::vector<Index>(traced, -1)), "trace.kernel does not fit"},
      {"/trace/kernel", to_base64(std::vector<Index>(traced, 1)), "trace.kernel does not fit"},
      {"/trace/kernels", Json::array({"se +"}), "expected a shape"},
      {"/trace/kernels", Json::array({3}), "trace.kernels is not a list of texts"},
      {"/trace/kernels", "se", "trace.kernels is not a list"},
      {"/trace/kernels", Json::array({"se + se"}), "trace.count does not fit trace.kernels"},
      {"/parameters/lengthscale", 3.5, "parameters are not those of kernel and noise"},
      {"/parameters", nullptr, "parameters are not those of kernel and noise"},
      {"/trace/seconds", changed(seconds, 0, -1.0), "trace.seconds"},
      {"/trace/seconds", changed(seconds, 0, 1e9), "does not go forward"},
      {"/trace/parameters", changed(parameters, 0, -1.0), "trace.parameters"},
      {"/trace/parameters", shorter(parameters), "trace.parameters does not fit"},
      {"/trace/parameters", to_base64(Values(3 * traced + 1, 1.0)), "trace.parameters does not fit"},
      {"/kernel", "se", "is not set"},
      {"/kernel", "1*se(lengthscale=1e-320)", "kernel"},
      {"/kernel", 3, "kernel is not a text"},
      {"/noise", -1, "noise"},
      {"/noise", nullptr, "noise is not a number"},
      {"/mean", "cubic", "mean"},
      {"/mean", "zero", "centred"},
      {"/mean_coefficients", {1, 2, 3}, "mean_coefficients"},
      {"/standard_errors/variance", -1, "standard error"},
      {"/standard_errors", {{"variance", 1}}, "standard_errors.lengthscale is missing"},
      {"/certificate/rho", -0.5, "certificate.rho is negative"},
      {"/certificate/positive_definite", 1, "not true or false"},
      {"/bandwidth", 100000, "bandwidth"},
      {"/bandwidth", 1.5, "bandwidth"},
      {"/bandwidth", 18446744073709551615U, "bandwidth"},
      {"/reach", -1, "reach is negative"},
      {"/status", "happy", "status \"happy\" is not known"},
      {"/message", "two\nlines", "message"},
      {"/message", "\x1b[2J", "message"},
      {"/evaluations", 1e10, "evaluations"},
      {"/evaluations", 10000000000, "evaluations"},
      {"/seconds", -1, "seconds"},
      {"/cut/rule", "envelope", "cut.rule"},
      {"/cut/tolerance", 0, "tolerance"},
      {"/cut/method", "magic", "method"},
      {"/method", 7, "method"},
      {"/cut/bandwidth", -3, "cut.bandwidth"},
      {"/units/time_unit", 3, "time_unit is not a power of two"},
      {"/units/time_unit", 0, "time_unit"},
      {"/units/value_unit", -2, "value_unit"},
      {"/units/value_unit", 5e-324, "value_unit"},
      {"/units/time_origin", 5, "series does not describe"},
      {"/series/rows", 3, "row"},
      {"/series/used", 3, "series.rows"},
      {"/series/min_gap", 1, "series does not describe"},
      {"/series", nullptr, "series is not an object"},
      {"/blocks/time", "", "blocks.time is empty"},
      {"/blocks/time", "AAAA", "blocks.time is not base64"},
      {"/blocks/time", shorter(series.time), "blocks"},
      {"/blocks/time", changed(series.time, 2, kNaN), "blocks.time is not finite"},
      {"/blocks/time", changed(series.time, 2, series.time[1]), "blocks.time does not increase"},
      {"/blocks/time", changed(series.time, 0, -1.0), "series does not describe"},
      {"/blocks/value", shorter(series.value), "blocks"},
      {"/blocks/value", changed(series.value, 0, std::numeric_limits<double>::infinity()),
       "blocks.value is not finite"},
      {"/blocks/variance", shorter(series.variance), "blocks.variance does not fit"},
      {"/blocks/variance", changed(series.variance, 0, -1.0), "blocks.variance"},
      {"/blocks/group", "", "blocks.group"},
      {"/blocks/group", shorter(series.group), "blocks.group"},
      {"/blocks/group", changed(series.group, 3, Index{1} << 60), "blocks.group"},
      {"/blocks/group", changed(series.group, 3, Index{-1}), "blocks.group"},
      {"/blocks/group", changed(series.group, 3, series.group[2]), "blocks.group"},
      {"/blocks/row", shorter(series.row), "blocks.row"},
      {"/blocks/row", changed(series.row, 0, Index{-1}), "blocks.row"},
      {"/blocks/row", changed(series.row, 0, Index{24}), "blocks.row"},
      {"/blocks/row", changed(series.row, 0, series.row[1]), "blocks.row"},
  };
  EXPECT_EQ(error_of(with("/message", "as good as before")), "no error");
  for (const auto& [pointer, value, says] : cases) {
    const std::string error = error_of(with(pointer, value));
    EXPECT_NE(error.find(says), error.npos) << pointer << " = " << value << ": " << error;
    EXPECT_EQ(error.find('\n'), error.npos) << error;
  }
}

TEST(ModelFile, the_time_axis_survives_and_its_absence_means_plain_numbers) {
  Table table;
  for (int i = 0; i < 30; ++i) {
    table.time.push_back(0.25 * i);
    table.value.push_back(std::sin(0.7 * i));
  }
  table.axis = {"d", "%d-%m-%Y %H:%M:%S%:z", 1041292800, 120, 3};
  const FitResult fitted = fit(table, {});
  const FitResult back = from_model_text(to_model_text(fitted), "m.json");
  expect_same(fitted, back);
  EXPECT_EQ(to_text(back.series->axis, 0.25), "31-12-2002 08:00:00.000+02:00");

  Json json = Json::parse(to_model_text(fitted));
  json.erase("checksum");
  json.erase("time_axis");
  EXPECT_EQ(from_model_text(with_checksum(json.dump(1)), "old.json").series->axis, TimeAxis{});
}

TEST(ModelFile, a_time_axis_that_does_not_fit_together_is_refused) {
  const auto refused = [](const std::string& pointer, const Json& value) {
    EXPECT_NE(error_of(with(pointer, value)).find("time_axis"), std::string::npos) << pointer << value;
  };
  refused("/time_axis", nullptr);
  refused("/time_axis", 5);
  refused("/time_axis/unit", "week");
  refused("/time_axis/unit", 1);
  refused("/time_axis/format", "%Q");
  refused("/time_axis/format", "%Y-%m-%d");  // no unit
  refused("/time_axis/format", "%Y\x01");
  refused("/time_axis/origin", 1);
  refused("/time_axis/origin", 1.5);
  refused("/time_axis/zone", 60);
  refused("/time_axis/digits", 3);
  // The series of small_fit is at 1.7e9: no such day after 1970.
  refused("/time_axis",
          Json{{"unit", "d"}, {"format", "%Y-%m-%d"}, {"origin", 0}, {"zone", 0}, {"digits", 0}});
  EXPECT_EQ(error_of(with("/time_axis/unit", "s")), "no error");
}

TEST(ModelFile, is_saved_whole_or_not_at_all) {
  namespace fs = std::filesystem;
  const fs::path folder = fs::path(testing::TempDir()) / "bandgp_model_file_test";
  fs::remove_all(folder);
  fs::create_directory(folder);
  const std::string path = folder / "m.json";
  std::ofstream(path) << "old";
  save_model(small_fit(), path);
  expect_same(small_fit(), load_model(path));
  EXPECT_THROW(save_model(small_fit(), folder / "none" / "m.json"), std::runtime_error);
  EXPECT_THROW(save_model(small_fit(), folder), std::runtime_error);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder), fs::directory_iterator()), 1);
  EXPECT_THROW(load_model(folder / "none.json"), std::invalid_argument);
  EXPECT_THROW(load_model(folder), std::invalid_argument);
  EXPECT_THROW(load_model("/dev/zero"), std::invalid_argument);
  fs::remove_all(folder);
}

/// 12000 points under a long length-scale: the dual form is smaller than the data, and the file holds it
/// alone.
FitResult long_fit() {
  support::Random random(9);
  std::vector<double> time, value;
  for (int i = 0; i < 12000; ++i) {
    time.push_back(1e6 + i + (i > 6000 ? 5000 : 0) + 0.3 * std::sin(7.0 * i));
    value.push_back(40 + std::sin(i / 300.0) + 0.1 * random.normal());
  }
  FitOptions options;
  options.standard_errors = false;
  return fit(std::make_shared<const Series>(make_series(time, value)), options);
}

TEST(ModelFile, a_dual_form_predicts_without_the_data_bit_by_bit) {
  const FitResult fit = long_fit();
  ASSERT_EQ(fit.method, "dual");
  const std::string text = to_model_text(fit);
  EXPECT_LT(text.size(), 12000U * 8 * 2);  // less than times and values alone
  const FitResult loaded = from_model_text(text, "model");
  ASSERT_TRUE(loaded.dual);
  EXPECT_EQ(loaded.series->size(), 0);
  std::vector<double> times;
  for (double t = 1e6 - 500; t < 1e6 + 9000; t += 37.7) times.push_back(t);
  Posterior &before = *fit.posterior(), &after = *loaded.posterior();
  const Prediction a = before.predict(times), b = after.predict(times);
  EXPECT_EQ(a.mean, b.mean);
  EXPECT_EQ(a.variance, b.variance);
  EXPECT_EQ(before.covariance(times), after.covariance(times));
  EXPECT_EQ(before.mean_coefficients(), after.mean_coefficients());
  EXPECT_EQ(before.functions(2, 3)[1](times), after.functions(2, 3)[1](times));
  EXPECT_THROW((void)after.leave_one_out(), std::invalid_argument);
  EXPECT_EQ(to_model_text(loaded), text);
}

TEST(ModelFile, a_dual_form_that_does_not_fit_together_is_refused) {
  const std::string text = to_model_text(long_fit());
  const DualState dual = *from_model_text(text, "model").dual;
  const auto changed = [&](const char* pointer, const Json& value) {
    Json json = Json::parse(text);
    json.erase("checksum");
    json[Json::json_pointer(pointer)] = value;
    return error_of(with_checksum(json.dump(1)));
  };
  const auto shorter = [](std::vector<double> values) {
    values.pop_back();
    return to_base64(values);
  };
  const std::vector<std::tuple<const char*, Json, std::string>> cases = {
      {"/dual", nullptr, "neither data nor a dual form"},
      {"/dual/spacing", 0, "dual.spacing"},
      {"/dual/spacing", -1, "dual.spacing"},
      {"/dual/vectors", 0, "dual.vectors"},
      {"/dual/vectors", 13, "dual.vectors"},
      {"/dual/bandwidth", 100000, "dual.bandwidth"},
      {"/dual/g", 1e-320, "dual.g"},
      {"/dual/beta", {1}, "dual.beta"},
      {"/dual/factor", shorter(dual.factor), "dual.factor"},
      {"/dual/weights", shorter(dual.weights), "dual.weights"},
      {"/dual/inverse_diagonal", shorter(dual.inverse_diagonal), "dual.runs"},
      {"/dual/runs", to_base64(std::vector<double>{0, 1e18}), "dual.runs"},
      {"/dual/runs", to_base64(std::vector<double>{5, 1}), "dual.runs"},
      {"/dual/runs", to_base64(std::vector<double>{0, 1.5}), "dual.runs"},
      {"/kernel", "1*matern12(lengthscale=100)", "one se term"},
  };
  for (const auto& [pointer, value, says] : cases)
    EXPECT_NE(changed(pointer, value).find(says), std::string::npos)
        << pointer << ": " << changed(pointer, value);
}

}  // namespace
