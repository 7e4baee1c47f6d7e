// SPDX-License-Identifier: Apache-2.0
// The periodogram against least squares in long double, frequency by frequency; periods found in simulated
// series and in real ones.
#include "bandgp/period/periods.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <filesystem>

#include "bandgp/io/read_table.hpp"
#include "support/effort.hpp"
#include "support/random.hpp"

namespace {

using namespace bandgp;
using support::Random;
using Values = std::vector<double>;
using Wide = long double;
constexpr Wide kTau = 6.283185307179586476925286766559005768L;

struct Series3 {
  Values time, value, variance;
};

Samples samples(const Series3& given) {
  return samples_of(make_series(given.time, given.value, given.variance));
}

/// Times without any pattern, with seasons that are missing, or nearly regular with rows left out.
Values irregular_times(Random& random, Index n, int kind) {
  Values time;
  double t = random.uniform(-50, 1e4);
  while (std::ssize(time) < n) {
    t += kind == 2 ? 1 : -std::log(1 - random.unit());
    const bool missing = kind == 1 ? std::fmod(std::abs(t), 60) > 35 : kind == 2 && random.chance(0.3);
    if (!missing) time.push_back(kind == 2 ? t + random.uniform(-0.2, 0.2) : t);
  }
  return time;
}

/// Weighted least squares by Gram–Schmidt, twice: the sum of squares that these columns leave of the values.
Wide left_over(const std::vector<std::vector<Wide>>& columns, const Values& value,
               const std::vector<Wide>& weight) {
  const std::size_t n = value.size();
  std::vector<std::vector<Wide>> basis;
  const auto dot = [&](const std::vector<Wide>& a, const std::vector<Wide>& b) {
    Wide sum = 0;
    for (std::size_t i = 0; i < n; ++i) sum += weight[i] * a[i] * b[i];
    return sum;
  };
  const auto remove = [&](std::vector<Wide>& rest) {
    for (int pass = 0; pass < 2; ++pass) {
      for (const std::vector<Wide>& q : basis) {
        const Wide part = dot(q, rest);
        for (std::size_t i = 0; i < n; ++i) rest[i] -= part * q[i];
      }
    }
  };
  for (std::vector<Wide> column : columns) {
    const Wide before = dot(column, column);
    remove(column);
    const Wide norm = dot(column, column);
    if (norm < 1e-12L * before) continue;  // sine and cosine are one at half of a regular sampling rate
    for (Wide& x : column) x /= std::sqrt(norm);
    basis.push_back(column);
  }
  std::vector<Wide> rest(value.begin(), value.end());
  remove(rest);
  return dot(rest, rest);
}

struct Direct {
  Wide none, with;  // what is left without and with the sinusoid
};

Direct direct_at(const Series3& given, Baseline baseline, Wide frequency) {
  const std::size_t n = given.time.size();
  std::vector<Wide> weight(n, 1);
  Wide sum = 0;
  for (std::size_t i = 0; i < n; ++i) {
    if (!given.variance.empty()) weight[i] = 1 / Wide{given.variance[i]};
    sum += weight[i];
  }
  for (Wide& w : weight) w /= sum;
  std::vector<std::vector<Wide>> columns(1, std::vector<Wide>(n, 1));
  if (baseline == Baseline::linear) columns.emplace_back(given.time.begin(), given.time.end());
  const Wide none = left_over(columns, given.value, weight);
  std::vector<Wide> cosine, sine;
  for (const double t : given.time) {
    const Wide angle = kTau * frequency * (Wide{t} - Wide{given.time[0]});
    cosine.push_back(std::cos(angle));
    sine.push_back(std::sin(angle));
  }
  columns.push_back(cosine);
  columns.push_back(sine);
  return {none, left_over(columns, given.value, weight)};
}

TEST(NonuniformFft, equals_the_sums_in_long_double) {
  Random random(1);
  for (const Index modes : {1, 7, 50, 333, 2000}) {
    const Index n = random.integer(1, 300);
    Values x, v;
    Wide size = 0;
    for (Index j = 0; j < n; ++j) {
      x.push_back(j == 0 ? 0 : j == 1 ? std::nextafter(1.0, 0.0) : random.unit());
      v.push_back(random.normal());
      size += std::abs(Wide{v.back()});
    }
    NonuniformFft transform(modes);
    for (int round = 0; round < 2; ++round) {  // nothing is left from one transform to the next
      const auto sums = transform(x, v);
      ASSERT_EQ(std::ssize(sums), modes + 1);
      for (Index k = 0; k <= modes; ++k) {
        Wide real = 0, imaginary = 0;
        for (std::size_t j = 0; j < x.size(); ++j) {
          const Wide angle = kTau * static_cast<Wide>(k) * Wide{x[j]};
          real += Wide{v[j]} * std::cos(angle);
          imaginary -= Wide{v[j]} * std::sin(angle);
        }
        const auto& sum = sums[static_cast<std::size_t>(k)];
        const Wide error = std::hypot(Wide{sum.real()} - real, Wide{sum.imag()} - imaginary);
        ASSERT_LT(error, 1e-10L * size) << "modes " << modes << ", k " << k;
      }
    }
  }
}

TEST(Periodogram, equals_least_squares_in_long_double) {
  Random random(2);
  const int trials = support::trials(8, 40);
  int seen = 0;
  for (int trial = 0; trial < trials; ++trial) {
    Series3 given;
    given.time = trial % 4 == 3 ? Values() : irregular_times(random, random.integer(12, 150), trial % 3);
    for (int i = 0; trial % 4 == 3 && i < 64; ++i) given.time.push_back(0.5 * i);  // regular
    const double trend = random.normal(), period = random.log_uniform(3, 30);
    for (const double t : given.time) {
      given.value.push_back(1e3 + 0.05 * trend * t + std::sin(6.283 / period * t) + random.normal());
      if (trial % 2 == 1) given.variance.push_back(random.log_uniform(0.01, 10));
    }
    const Samples made = samples(given);
    for (const Baseline baseline : {Baseline::constant, Baseline::linear}) {
      const BaselineColumns columns(made, baseline);
      const Index per_peak = random.integer(3, 6);
      const double step = 1 / (static_cast<double>(per_peak) * made.span);
      const FrequencyGrid grid{step, per_peak, static_cast<Index>(0.5 / made.spacing / step) - per_peak + 1};
      Periodogram periodogram(made, columns, grid);
      const Values gains = periodogram.gains(columns.remove_from(made, made.value));
      ASSERT_EQ(std::ssize(gains), grid.count);
      for (Index i = 0; i < grid.count; i += 1 + grid.count / 60) {
        const Direct direct = direct_at(given, baseline, Wide{grid.at(i)});
        const Wide true_gain = direct.none - direct.with;
        // The transform's error is 1e-10 of Σ|weight·value|, twice; sinusoids are far from a baseline here.
        EXPECT_NEAR(static_cast<double>(gains[static_cast<std::size_t>(i)] / direct.none),
                    static_cast<double>(true_gain / direct.none), 1e-8)
            << "trial " << trial << ", frequency " << grid.at(i);
        ++seen;
      }
    }
  }
  EXPECT_GT(seen, 20 * trials);
}

TEST(Periodogram, its_window_is_the_transform_of_the_weights) {
  Random random(3);
  Series3 given{irregular_times(random, 40, 0), random.normals(40), {}};
  const Samples made = samples(given);
  const BaselineColumns columns(made, Baseline::constant);
  const FrequencyGrid grid{1 / (4 * made.span), 2, 50};
  const Periodogram periodogram(made, columns, grid);
  ASSERT_EQ(periodogram.window().size(), 2 * 51 + 1u);
  for (std::size_t k = 0; k < periodogram.window().size(); ++k) {
    Wide real = 0, imaginary = 0;
    for (const double t : made.time) {
      const Wide angle = kTau * static_cast<Wide>(k) * Wide{grid.step} * Wide{t};
      real += std::cos(angle) / 40;
      imaginary += std::sin(angle) / 40;
    }
    EXPECT_NEAR(periodogram.window()[k], static_cast<double>(real * real + imaginary * imaginary), 1e-9);
  }
}

/// A sinusoid, perhaps with a harmonic, a trend and errors of its points, and noise of which it stands out.
struct Simulated {
  Series3 series;
  double frequency = 0;
};
Simulated simulated(Random& random, int trial) {
  Simulated result;
  Series3& series = result.series;
  const Index n = random.integer(120, 600);
  series.time = irregular_times(random, n, trial % 3);
  const double span = series.time.back() - series.time.front();
  const double period = random.log_uniform(4, span / 6), phase = random.uniform(0, 6.28);
  result.frequency = 1 / period;
  const bool has_errors = random.chance(0.5);
  const double stands_out = random.log_uniform(40, 400);  // mean gain over that of noise
  const double amplitude = std::sqrt(4 * stands_out / static_cast<double>(n));
  const double harmonic = random.chance(0.5) ? random.uniform(0, 0.5) : 0;
  const double trend = random.normal() * 3 / span;
  for (const double t : series.time) {
    const double noise = has_errors ? random.log_uniform(0.5, 2) : 1;
    const double angle = 2 * std::numbers::pi * t / period + phase;
    series.value.push_back(100 + trend * t + amplitude * (std::sin(angle) + harmonic * std::cos(2 * angle)) +
                           noise * random.normal());
    if (has_errors) series.variance.push_back(noise * noise);
  }
  return result;
}

TEST(Periods, are_recovered_within_their_errors) {
  Random random(4);
  const int trials = support::trials(20, 400);
  int right = 0, within = 0, seen = 0;
  double squares = 0;
  for (int trial = 0; trial < trials; ++trial) {
    const Simulated truth = simulated(random, trial);
    const Samples made = samples(truth.series);
    const Periods found = find_periods(made);
    ++seen;
    if (found.peaks.empty()) continue;
    const Peak& top = found.peaks.front();
    if (std::abs(top.frequency - truth.frequency) > 1 / made.span) continue;
    ++right;
    const double off = (top.period() - 1 / truth.frequency) / top.period_error();
    squares += off * off;
    if (std::abs(off) <= 3) ++within;
  }
  ASSERT_EQ(seen, trials);
  EXPECT_GE(right, 0.98 * trials);
  EXPECT_GE(within, 0.95 * trials);
  // Nor are the errors far too large.
  EXPECT_GT(squares / right, 0.5);
  std::printf("right maximum %d, within three errors %d of %d, mean square of the deviation %.2f\n", right,
              within, trials, squares / right);
}

TEST(Periods, noise_makes_no_more_peaks_than_it_is_said_to) {
  Random random(5);
  const int trials = support::trials(40, 600);
  int alarms = 0;
  for (int trial = 0; trial < trials; ++trial) {
    const Index n = random.integer(60, 300);
    Series3 given{irregular_times(random, n, trial % 3), random.normals(static_cast<std::size_t>(n)), {}};
    alarms += find_periods(samples(given), {.false_alarm = 0.05}).peaks.empty() ? 0 : 1;
  }
  const double expected = 0.05 * trials;
  EXPECT_LE(alarms, expected + 3 * std::sqrt(expected));
  std::printf("peaks in %d of %d series of noise, at a probability of 0.05\n", alarms, trials);
}

/// Noise of which every value keeps a part of the one before.
Values red_noise(Random& random, std::size_t n, double keep) {
  Values value(n);
  double level = random.normal() / std::sqrt(std::max(1e-3, 1 - keep * keep));
  for (double& y : value) y = level = keep * level + random.normal();
  return value;
}

/// Where the level of noise has to be estimated from few frequencies, and falls steeply, the probability is
/// right to a factor of three.
TEST(Periods, nor_does_red_noise_beyond_a_factor_of_three) {
  Random random(15);
  const int trials = support::trials(40, 400);
  for (const double keep : {0.8, 0.98, 1.0}) {
    int alarms = 0;
    for (int trial = 0; trial < trials; ++trial) {
      const auto n = static_cast<std::size_t>(random.integer(200, 2000));
      Series3 given{Values(n), red_noise(random, n, keep), {}};
      for (std::size_t i = 0; i < n; ++i) given.time[i] = static_cast<double>(i);
      alarms += find_periods(samples(given), {.false_alarm = 0.01}).peaks.empty() ? 0 : 1;
    }
    EXPECT_LE(alarms, 0.03 * trials + 3 * std::sqrt(0.03 * trials)) << keep;
    std::printf("peaks in %d of %d series of red noise, at a probability of 0.01\n", alarms, trials);
  }
}

TEST(Periods, two_close_lines_and_a_harmonic_are_told_apart) {
  Random random(6);
  Series3 given;
  for (int i = 0; i < 3000; ++i) {  // a tide, in hours: M2, S2 and an overtide of M2
    const double t = i + random.uniform(-0.3, 0.3), tau = 2 * std::numbers::pi;
    given.time.push_back(t);
    given.value.push_back(2 * std::cos(tau * t / 12.4206) + 0.8 * std::sin(tau * t / 12) +
                          0.3 * std::cos(tau * t / 6.2103 + 1) + 0.2 * random.normal());
  }
  const Periods found = find_periods(samples(given));
  ASSERT_EQ(found.peaks.size(), 3u);
  const double periods[] = {12.4206, 12, 6.2103}, amplitudes[] = {2, 0.8, 0.3};
  for (std::size_t i = 0; i < 3; ++i) {
    const Peak& peak = found.peaks[i];
    EXPECT_NEAR(peak.period(), periods[i], 4 * peak.period_error());
    EXPECT_NEAR(peak.amplitude, amplitudes[i], 0.03);
    EXPECT_FALSE(peak.wanders);
    EXPECT_LT(peak.log10_false_alarm, -20);
  }
  EXPECT_FALSE(found.peaks[0].fundamental);
  EXPECT_FALSE(found.peaks[1].fundamental);
  EXPECT_EQ(found.peaks[2].fundamental, 0u);
  EXPECT_EQ(found.peaks[2].harmonic, 2);
}

TEST(Periods, nights_make_aliases_that_are_told) {
  Random random(7);
  Series3 given;
  const double period = 0.43;
  for (int night = 0; night < 40; ++night) {
    for (int i = 0; i < 2; ++i) {
      const double t = night + random.uniform(0, 0.08);
      given.time.push_back(t);
      given.value.push_back(std::sin(2 * std::numbers::pi * t / period) + 0.3 * random.normal());
    }
  }
  const Periods found = find_periods(samples(given), {.shortest = 0.2});
  ASSERT_FALSE(found.sampling.empty());
  EXPECT_NEAR(found.sampling.front(), 1, 0.02);
  ASSERT_FALSE(found.peaks.empty());
  const Peak& top = found.peaks.front();
  const auto near = [](double f, double other) { return std::abs(f - other) < 1.0 / 40; };
  bool told = near(top.frequency, 1 / period);
  for (const Alias& alias : top.aliases) told = told || near(alias.frequency, 1 / period);
  EXPECT_TRUE(told);
  EXPECT_FALSE(top.aliases.empty());
}

TEST(Periods, a_phase_that_wanders_makes_one_hump) {
  Random random(8);
  Series3 given;
  double phase = 0;
  for (int i = 0; i < 20000; ++i) {
    phase += 2 * std::numbers::pi / 25 + 0.06 * random.normal();
    given.time.push_back(i);
    given.value.push_back(std::cos(phase) + 0.5 * random.normal());
  }
  const Periods found = find_periods(samples(given));
  ASSERT_EQ(found.peaks.size(), 1u);
  const Peak& top = found.peaks.front();
  EXPECT_TRUE(top.wanders);
  // The phase after the whole time has the deviation 0.06 √n, hence the frequency that of the mean rate.
  const double mean_rate = phase / (2 * std::numbers::pi) / 20000;
  EXPECT_NEAR(top.frequency, mean_rate,
              3 * std::hypot(top.frequency_error, 0.06 / (2 * std::numbers::pi) / std::sqrt(20000.0)));
  EXPECT_LT(top.period_error(), 0.2);
}

TEST(Periods, of_little_or_nothing_there_are_none) {
  const auto peaks = [](const Values& time, const Values& value) {
    return find_periods(samples({time, value, {}})).peaks.size();
  };
  EXPECT_EQ(peaks({1}, {2}), 0u);
  EXPECT_EQ(peaks({1, 2, 3, 4}, {2, 1, 2, 1}), 0u);
  EXPECT_EQ(peaks({1, 2, 3, 4, 5, 6, 7, 8}, {2, 2, 2, 2, 2, 2, 2, 2}), 0u);
  EXPECT_EQ(peaks({1, 1, 1, 1, 1, 1}, {1, 2, 3, 4, 5, 6}), 0u);
  EXPECT_EQ(peaks({1, 2, 3, 4, 5, 6, 7, 8}, {1, 2, 3, 4, 5, 6, 7, 8}), 0u);  // a trend
}

TEST(Periods, errors_of_zero_have_a_finite_weight) {
  Series3 given;
  for (int i = 0; i < 50; ++i) {
    given.time.push_back(i);
    given.value.push_back(std::sin(i));
    given.variance.push_back(i % 2);
  }
  const Samples made = samples(given);
  double sum = 0;
  for (const double w : made.weight) {
    EXPECT_GT(w, 0);
    sum += w;
  }
  EXPECT_NEAR(sum, 1, 1e-14);
  EXPECT_GT(made.weight[0], made.weight[1]);
}

// --- real series
// ---------------------------------------------------------------------------------------------

struct Known {
  const char* file;
  ReadOptions reading;
  std::vector<std::array<double, 2>> periods;  // from, to; in the table's unit of time
};

class KnownPeriods : public testing::TestWithParam<Known> {};

TEST_P(KnownPeriods, are_found_without_being_told) {
  const char* folder = std::getenv("BANDGP_DATA");
  const std::filesystem::path path = std::filesystem::path(folder == nullptr ? "" : folder) / GetParam().file;
  if (folder == nullptr || !std::filesystem::exists(path)) GTEST_SKIP() << "skipped: no data at " << path;
  if (support::kSanitized && std::filesystem::file_size(path) > 1'000'000)
    GTEST_SKIP() << "skipped: 100,000 points and more under a sanitizer";
  const Table table = read_table(path.string(), GetParam().reading);
  const Periods found = find_periods(samples_of(make_series(table)));
  // Oscillations of their own are asked for: harmonics of others do not count.
  for (std::size_t k = 0; k < GetParam().periods.size(); ++k) {
    const auto [from, to] = GetParam().periods[k];
    bool seen = false;
    for (const Peak& peak : found.peaks)
      seen = seen || (!peak.fundamental && peak.period() >= from && peak.period() <= to);
    EXPECT_TRUE(seen) << path << ": no period from " << from << " to " << to;
    if (k == 0 && !found.peaks.empty()) {
      EXPECT_GE(found.peaks[0].period(), from) << path;
      EXPECT_LE(found.peaks[0].period(), to) << path;
    }
  }
}

// The first of each is the most powerful one.
INSTANTIATE_TEST_SUITE_P(
    Real, KnownPeriods,
    testing::Values(
        Known{"co2/co2-ppm-daily.csv", {}, {{364.5, 366}}},
        Known{"co2/statsmodels_co2_weekly.csv", {}, {{364.5, 366}}},
        Known{"electricity/PJME_hourly.csv", {}, {{0.9999, 1.0001}, {6.99, 7.01}}},
        Known{"sunspots/sunspots_3315_1749-01_2025-03.csv", {.x = "decyear", .y = "SN"}, {{10, 11.2}}},
        Known{"ecg/mitbih100_mV.csv.gz", {}, {{0.77, 0.82}}},  // 2273 beats in 1805.6 s: 0.794 s
        Known{
            "../forecast/births_usa_1969.csv.gz", {.y = "births", .step = 1}, {{6.999, 7.001}, {360, 370}}}),
    [](const auto& given) {
      std::string name = std::filesystem::path(given.param.file).filename().string();
      name = name.substr(0, name.find('.'));
      std::ranges::replace_if(
          name, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '_');
      return name;
    });

}  // namespace
