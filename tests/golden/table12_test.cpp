// SPDX-License-Identifier: Apache-2.0
// What one term and two terms reach on real series, trained by fit() from the data
// alone.  The digits are those of a dense model; half a unit of the last one is allowed.
// Four places of the page are corrected here, each checked at its optimum with the dense model:
// NLL 1123.885 of the sunspots with se + se rounds to 1123.89 (page: 1123.88); the NLPD of EEG 36 with se +
// se is −4169.4 at the minimum itself (page: −4169.5); and for EEG 1 and EEG 36 with
// se the page has local minima, 262 and 458 nats above those found here (that of EEG 1 is reached from a
// start inside its valley).
#include <gtest/gtest.h>
#include <zlib.h>

#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <map>
#include <numeric>
#include <sstream>

#include "bandgp/fit/fit.hpp"
#include "bandgp/io/csv.hpp"
#include "support/close.hpp"
#include "support/dense_lapack.hpp"
#include "support/numpy_permutation.hpp"

namespace {

using namespace bandgp;
using Values = std::vector<double>;

TEST(NumpyPermutation, equals_that_of_numpy) {
  using Order = std::vector<std::size_t>;
  struct Published {
    std::size_t n;
    Order first, last;
  };
  const Published published[] = {
      {10, {4, 6, 2, 7, 3, 5}, {3, 5, 9, 0, 8, 1}},
      {3315, {2511, 446, 3038, 28, 1016, 1386}, {1974, 29, 2232, 1825, 3023, 607}},
      {4000, {672, 2292, 1819, 3611, 46, 1125}, {3497, 2232, 3576, 1825, 3023, 607}},
  };
  for (const Published& p : published) {
    const Order order = support::numpy_permutation(0, p.n);
    EXPECT_EQ(Order(order.begin(), order.begin() + 6), p.first) << p.n;
    EXPECT_EQ(Order(order.end() - 6, order.end()), p.last) << p.n;
  }
  support::NumpyPcg64 generator(0);
  EXPECT_EQ(generator.next64(), 11749869230777074271U);
  EXPECT_EQ(generator.next64(), 4976686463289251617U);
}

/// Folder of the data; empty where there is none.
std::filesystem::path data_folder() {
  const char* data = std::getenv("BANDGP_DATA");
  return data == nullptr ? "" : data;
}

std::string unzip(const std::filesystem::path& path) {
  std::string text, block(1 << 16, '\0');
  gzFile file = gzopen(path.c_str(), "rb");
  if (file == nullptr) return text;
  for (int got = 0; (got = gzread(file, block.data(), static_cast<unsigned>(block.size()))) > 0;)
    text.append(block, 0, static_cast<std::size_t>(got));
  gzclose(file);
  return text;
}

Values sunspots(const std::filesystem::path& path) {
  return read_csv(path, {.x = "decyear", .y = "SN"}).value;
}

Values eeg(const std::filesystem::path& path) {
  std::istringstream text(unzip(path));
  const Values all = read_csv(text, path, {.x = "time", .y = "EEG C4-REF"}).value;
  return all.size() < 6000 ? Values() : Values(all.begin() + 2000, all.begin() + 6000);
}

/// Every time is used once: a fifth held out, the rest for training; values standardised by the latter.
struct Split {
  Values train_time, train, test_time, test;
};

Split split(const Values& values) {
  const std::vector<std::size_t> order = support::numpy_permutation(0, values.size());
  std::vector<bool> held_out(values.size());
  for (std::size_t i = 0; i < values.size() / 5; ++i) held_out[order[i]] = true;
  Split result;
  for (std::size_t i = 0; i < values.size(); ++i) {
    (held_out[i] ? result.test_time : result.train_time).push_back(static_cast<double>(i));
    (held_out[i] ? result.test : result.train).push_back(values[i]);
  }
  const auto n = static_cast<double>(result.train.size());
  const double mean = std::accumulate(result.train.begin(), result.train.end(), 0.0) / n;
  double square = 0;
  for (const double y : result.train) square += (y - mean) * (y - mean) / n;
  for (double& y : result.train) y = (y - mean) / std::sqrt(square);
  for (double& y : result.test) y = (y - mean) / std::sqrt(square);
  return result;
}

/// A row of the table with the unit of each last digit.
struct Row {
  const char *name, *series, *kernel;
  double nll, nll_unit, nmse, nmse_unit, nlpd;
  std::map<std::string, double> init = {};
  friend std::ostream& operator<<(std::ostream& out, const Row& row) { return out << row.name; }
};

constexpr const char* kSunspots = "sunspots/sunspots_3315_1749-01_2025-03.csv";
constexpr const char* kEeg36 = "eeg/helsinki_eeg36_30s.csv.gz";
constexpr const char* kEeg1 = "eeg/helsinki_eeg1_30s.csv.gz";
const std::map<std::string, double> kOtherValley = {{"variance", 1}, {"lengthscale", 8}, {"noise", 0.01}};
const Row kRows[] = {
    {"sunspots_se", kSunspots, "se", 1249.88, 0.01, 0.1450, 1e-4, 281.9},
    {"sunspots_matern32", kSunspots, "matern32", 1221.46, 0.01, 0.1360, 1e-4, 257.7},
    {"sunspots_se_se", kSunspots, "se + se", 1123.89, 0.01, 0.1200, 1e-4, 206.5},
    {"sunspots_se_matern12", kSunspots, "se + matern12", 1123.17, 0.01, 0.1196, 1e-4, 204.4},
    {"eeg36_se", kEeg36, "se", -5675.1, 0.1, 4.2e-5, 1e-6, -3201.8},
    {"eeg36_se_se", kEeg36, "se + se", -8762.4, 0.1, 1e-5, 1e-5, -4169.4},
    {"eeg1_se", kEeg1, "se", -3643.9, 0.1, 3.1e-4, 1e-5, -2699.5},
    {"eeg1_se_other_valley", kEeg1, "se", -3382.1, 0.1, 1.4e-3, 1e-4, -1457.6, kOtherValley},
    {"eeg1_se_se", kEeg1, "se + se", -5284.9, 0.1, 1.4e-4, 1e-5, -2993.4},
};

class Table12 : public testing::TestWithParam<Row> {};

TEST_P(Table12, is_reproduced_to_the_digits_printed) {
  const Row& row = GetParam();
  const std::filesystem::path path = data_folder() / row.series;
  const bool is_eeg = row.series != kSunspots;
  if (data_folder().empty() || !std::filesystem::exists(path)) GTEST_SKIP() << "skipped: no data at " << path;
  if (support::kSanitized && row.name != std::string("sunspots_se"))
    GTEST_SKIP() << "skipped: minutes under a sanitizer";
  const Values values = is_eeg ? eeg(path) : sunspots(path);
  ASSERT_EQ(values.size(), is_eeg ? 4000U : 3315U);
  const Split data = split(values);
  ASSERT_EQ(data.test.size(), is_eeg ? 800U : 663U);

  FitOptions options;
  options.kernel = parse_kernel(row.kernel);
  options.mean = Mean::zero;
  options.init = row.init;
  options.standard_errors = false;
  const auto series =
      std::make_shared<const Series>(make_series(data.train_time, data.train, {}, {.center = false}));
  const FitResult result = fit(series, options);
  EXPECT_EQ(result.status, FitStatus::converged) << result.message;
  EXPECT_TRUE(result.certified());

  Posterior& posterior = *result.posterior();
  const Prediction prediction = posterior.predict(data.test_time, false);
  Values covariance = posterior.covariance(data.test_time);
  for (std::size_t i = 0; i < data.test.size(); ++i)
    covariance[i * (data.test.size() + 1)] += result.model.noise;
  const double nlpd = lapack::joint_nlpd(data.test, prediction.mean, covariance);
  double error = 0, spread = 0, mean = 0;
  const auto m = static_cast<double>(data.test.size());
  for (const double y : data.test) mean += y / m;
  for (std::size_t i = 0; i < data.test.size(); ++i) {
    error += std::pow(data.test[i] - prediction.mean[i], 2);
    spread += std::pow(data.test[i] - mean, 2);
  }
  std::cout << row << ": NLL " << result.nll << ", NMSE " << error / spread << ", joint NLPD " << nlpd << ", "
            << to_text(result.model.kernel) << ", noise " << result.model.noise << ", bandwidth "
            << result.bandwidth << ", " << result.evaluations << " evaluations, " << result.seconds << " s\n";
  EXPECT_CLOSE(result.nll, row.nll, 0.51 * row.nll_unit);
  EXPECT_CLOSE(error / spread, row.nmse, 0.51 * row.nmse_unit);
  EXPECT_CLOSE(nlpd, row.nlpd, 0.051);
}

INSTANTIATE_TEST_SUITE_P(theory, Table12, testing::ValuesIn(kRows),
                         [](const testing::TestParamInfo<Row>& row) { return std::string(row.param.name); });

}  // namespace
