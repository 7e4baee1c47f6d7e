// SPDX-License-Identifier: Apache-2.0
#include "bandgp/period/periods.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "bandgp/period/lines.hpp"

namespace bandgp {
namespace {

/// Frequencies for each observation beyond which a grid does not go.
constexpr Index kMostPerPoint = 8, kLeastMost = Index{1} << 14;
/// Least share of the sampled power at which sampling counts as periodic.
constexpr double kSamplingPower = 0.1;
constexpr std::size_t kMostSampling = 6;
/// An alias this far behind, in nats, is excluded by the data.
constexpr double kExcluded = 6;
/// A hump is looked for within this part of a frequency on either side.
constexpr double kHump = 0.15;

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

double shortest_period(const Samples& samples, const PeriodOptions& options) {
  return options.shortest > 0 ? options.shortest : 2 * samples.spacing;
}

/// What noise alone gains on average at every frequency: the median over up to two octaves on either side,
/// which few lines do not move, over ln 2.  Frequencies count by their logarithms, and near an end of the
/// grid the octaves are as many on the other side, but for the last one: noise that falls steadily with
/// frequency has its median in the middle.
class NoiseLevel {
 public:
  NoiseLevel(const FrequencyGrid& grid, std::span<const double> gains, double span, double least)
      : grid_(grid), span_(span) {
    constexpr double kNode = 1.189207115002721;  // 2^¼
    std::vector<double> sample;
    const double last = static_cast<double>(grid.last());
    for (double node = static_cast<double>(grid.first);; node *= kNode) {
      const auto [low, high] = around(node);
      constexpr int kSamples = 512;
      const double factor = std::pow(high / low, 1.0 / kSamples);
      sample.clear();
      double place = low;
      for (int k = 0; k <= kSamples; ++k, place *= factor) {
        const Index i = static_cast<Index>(std::llround(place)) - grid.first;
        sample.push_back(gains[at(std::clamp(i, Index{0}, grid.count - 1))]);
      }
      const auto middle = sample.begin() + static_cast<std::ptrdiff_t>(sample.size() / 2);
      std::nth_element(sample.begin(), middle, sample.end());
      node_.push_back(std::log(node));
      level_.push_back(std::log(std::max(least, *middle / std::numbers::ln2)));
      if (node >= last) break;
    }
  }

  double at_index(Index i) const {
    const double place = std::log(static_cast<double>(grid_.first + i));
    const double spacing = node_.size() > 1 ? node_[1] - node_[0] : 1;
    const double nodes = (place - node_[0]) / spacing;
    const auto k = std::min(static_cast<std::size_t>(nodes), level_.size() - 1);
    if (k + 1 >= level_.size()) return std::exp(level_.back());
    const double part = nodes - static_cast<double>(k);
    return std::exp((1 - part) * level_[k] + part * level_[k + 1]);
  }
  /// The number of independent frequencies, equally weighted, of which the median would be as uncertain.
  double independent(Index i) const {
    const auto [low, high] = around(static_cast<double>(grid_.first + i));
    const double octaves = std::log(high / low);
    return span_ * grid_.step * octaves * octaves / (1 / low - 1 / high);
  }
  std::vector<double> all() const {
    std::vector<double> level(at(grid_.count));
    for (Index i = 0; i < grid_.count; ++i) level[at(i)] = at_index(i);
    return level;
  }

 private:
  /// The frequencies, in steps of the grid, of whose gains the median is taken.
  std::pair<double, double> around(double node) const {
    constexpr double kLeast = 2, kMost = 4;
    const auto first = static_cast<double>(grid_.first), last = static_cast<double>(grid_.last());
    const double factor = std::clamp(std::min(node / first, last / node), kLeast, kMost);
    return {std::max(first, node / factor), std::min(last, node * factor)};
  }

  FrequencyGrid grid_;
  double span_;
  std::vector<double> node_, level_;
};

/// Natural logarithm of the probability that noise exceeds `ratio` times its level somewhere on the grid.
/// At one frequency the ratio is distributed like F(2, ν), ν for what the level is estimated from.  The
/// number of independent frequencies is Baluev's, of one octave; all octaves have the same share of the
/// probability, so that a long period need not stand out from all the short ones that there could be.
class FalseAlarm {
 public:
  FalseAlarm(const Samples& samples, const FrequencyGrid& grid, Index fitted)
      : freedom_(static_cast<double>(samples.size() - fitted)) {
    double mean = 0, square = 0;
    for (std::size_t i = 0; i < samples.time.size(); ++i) mean += samples.weight[i] * samples.time[i];
    for (std::size_t i = 0; i < samples.time.size(); ++i) {
      const double t = samples.time[i] - mean;
      square += samples.weight[i] * t * t;
    }
    octaves_ = std::max(1.0, std::log2(grid.at(grid.count - 1) / grid.at(0)));
    per_frequency_ = std::numbers::ln2 * std::sqrt(4 * std::numbers::pi * square);
  }
  double log_probability(double ratio, double frequency, double independent) const {
    const double nu = std::max(1.0, std::min(freedom_, independent));
    const double single = -0.5 * nu * std::log1p(2 * ratio / nu);
    const double trials =
        octaves_ * std::max(1.0, per_frequency_ * frequency) * std::sqrt(std::max(ratio, 1.0));
    const double rate = single + std::log(trials);
    return rate < -30 ? rate : std::log(-std::expm1(-std::exp(rate)));
  }

 private:
  double freedom_, octaves_ = 1, per_frequency_ = 0;
};

struct Range {
  double low, high;
  bool holds(double f) const { return f >= low && f <= high; }
  bool meets(const Range& other) const { return low <= other.high && other.low <= high; }
};

bool is_top(std::span<const double> gains, Index i) {
  const auto n = static_cast<Index>(gains.size());
  return (i == 0 || gains[at(i)] >= gains[at(i - 1)]) && (i + 1 == n || gains[at(i)] > gains[at(i + 1)]);
}

/// The top of the parabola through three neighbouring gains, as an index.
double top_of(std::span<const double> gains, Index i) {
  if (i == 0 || i + 1 == std::ssize(gains)) return static_cast<double>(i);
  const double below = gains[at(i - 1)], here = gains[at(i)], above = gains[at(i + 1)];
  const double bend = below - 2 * here + above;
  const double off = bend < 0 ? 0.5 * (below - above) / bend : 0;
  return static_cast<double>(i) + std::clamp(off, -0.5, 0.5);
}

/// Where the times of the observations repeat themselves: the tops of the spectral window.
std::vector<double> sampling_of(std::span<const double> window, const FrequencyGrid& grid, double span) {
  const double apart = 3 / span;
  std::vector<Index> tops;
  for (Index i = std::llround(apart / grid.step); i + 1 < std::ssize(window); ++i) {
    if (window[at(i)] >= kSamplingPower && is_top(window, i)) tops.push_back(i);
  }
  std::ranges::stable_sort(tops, [&](Index a, Index b) { return window[at(a)] > window[at(b)]; });
  std::vector<double> frequencies;
  for (const Index i : tops) {
    if (frequencies.size() == kMostSampling) break;
    const double f = top_of(window, i) * grid.step;
    const bool far =
        std::ranges::none_of(frequencies, [&](double other) { return std::abs(f - other) < apart; });
    if (far) frequencies.push_back(f);
  }
  return frequencies;
}

/// One series while its peaks are found one after the other.
class Search {
 public:
  Search(const Samples& samples, const PeriodOptions& options, const FrequencyGrid& grid)
      : samples_(samples),
        options_(options),
        grid_(grid),
        baseline_(samples, options.baseline),
        lines_(samples, baseline_),
        periodogram_(samples, baseline_, grid),
        alarm_(samples, grid, baseline_.count() + 3),
        total_(lines_.residual_square()) {
    window_sum_.push_back(0);
    for (const double w : periodogram_.window()) window_sum_.push_back(window_sum_.back() + w);
  }

  Periods run() {
    Periods result;
    result.grid = grid_;
    double square = 0;
    for (std::size_t i = 0; i < samples_.value.size(); ++i)
      square += samples_.weight[i] * samples_.value[i] * samples_.value[i];
    constexpr double kRounding = 1e-26;  // what is left of a straight line
    if (!(total_ > kRounding * square)) return result;
    result.sampling = sampling_of(periodogram_.window(), grid_, samples_.span);
    sampling_ = result.sampling;
    for (const double frequency : options_.without) {
      if (frequency <= grid_.at(grid_.count - 1) && !is_taken(frequency)) lines_.add_at(frequency);
    }
    gains_ = periodogram_.gains(lines_.residual());
    result.power = gains_;
    while (found_.size() < options_.most_peaks && !(options_.cancelled && options_.cancelled()) &&
           take_next()) {
      if (options_.progress) options_.progress(found_.size());
    }
    if (lines_.size() > 0) {
      lines_.polish(3);
      gains_ = periodogram_.gains(lines_.residual());
    }
    const NoiseLevel level = level_of(gains_);
    finish_peaks(level);
    result.rest = gains_;
    result.level = level.all();
    for (auto* spectrum : {&result.power, &result.rest, &result.level}) {
      for (double& g : *spectrum) g /= total_;
    }
    std::ranges::stable_sort(found_,
                             [](const Found& a, const Found& b) { return a.peak.power > b.peak.power; });
    for (Found& one : found_) result.peaks.push_back(std::move(one.peak));
    name_harmonics(result.peaks);
    return result;
  }

 private:
  struct Found {
    Peak peak;
    std::size_t line = 0;  // where it does not wander
    double gain = 0;
    std::vector<Alias> rivals;  // their leads are gains as yet
  };

  double resolution() const { return 1 / samples_.span; }
  /// Frequencies of the grid within 1/span.
  double neighbours() const { return resolution() / grid_.step; }
  Index index_of(double frequency) const {
    const Index i = static_cast<Index>(std::llround(frequency / grid_.step)) - grid_.first;
    return std::clamp(i, Index{0}, grid_.count - 1);
  }
  NoiseLevel level_of(std::span<const double> gains) const {
    constexpr double kRounding = 1e-16;  // of the transforms: gains below are not noise of the data
    return {grid_, gains, samples_.span, kRounding * total_};
  }

  bool is_taken(double frequency) const {
    for (std::size_t l = 0; l < lines_.size(); ++l) {
      if (std::abs(frequency - lines_.frequency(l)) < resolution()) return true;
    }
    return std::ranges::any_of(humps_, [&](const Range& hump) { return hump.holds(frequency); });
  }

  double log_alarm(const NoiseLevel& level, Index i, double gain) const {
    return alarm_.log_probability(gain / level.at_index(i), grid_.at(i), level.independent(i));
  }

  /// The highest top that noise does not explain and of which the data hold two periods.  Where noise may
  /// explain all of them the likeliest is next: without a line, the noise around it may be less than it
  /// seems.
  std::optional<Index> next_top(const NoiseLevel& level) const {
    const double limit = std::log(options_.false_alarm);
    std::optional<Index> highest, likeliest;
    double least = 0;
    for (Index i = 0; i < grid_.count; ++i) {
      if (!is_top(gains_, i) || (highest && gains_[at(i)] <= gains_[at(*highest)])) continue;
      const double f = grid_.at(i);
      if (f * samples_.span < 2 * (1 - 1e-9) || is_taken(f)) continue;
      const double alarm = log_alarm(level, i, gains_[at(i)]);
      if (alarm < limit) highest = i;
      if (alarm < least) likeliest = i, least = alarm;
    }
    return highest ? highest : likeliest;
  }

  /// Finds one peak more, or what is left of one; false where noise explains all that is left.
  bool take_next() {
    const NoiseLevel level = level_of(gains_);
    const std::optional<Index> top = next_top(level);
    if (!top) return false;
    const double limit = std::log(options_.false_alarm);
    const double alarm = log_alarm(level, *top, gains_[at(*top)]);
    Found found;
    found.gain = gains_[at(*top)];
    found.peak.log10_false_alarm = alarm / std::numbers::ln10;
    found.peak.frequency = (static_cast<double>(grid_.first) + top_of(gains_, *top)) * grid_.step;
    const double f = grid_.at(*top), half = kHump * f;
    const Excess excess = excess_in(gains_, level, {f - half, f + half});
    if (!is_hump(gains_, excess, *top, half)) return take_line(*top, found);
    if (alarm >= limit) return false;
    const auto [range, is_bend] = measure_hump(gains_, excess, half, found);
    const Range hump{std::min(range.low, f - resolution()), std::max(range.high, f + resolution())};
    // What is left beside a line whose amplitude changes, or of a hump, is no oscillation of its own.
    const bool is_left_over =
        std::ranges::any_of(humps_, [&](const Range& other) { return other.meets(hump); }) ||
        std::ranges::any_of(found_, [&](const Found& other) {
          return !other.peak.wanders && hump.holds(other.peak.frequency);
        });
    humps_.push_back(hump);
    if (!is_left_over && !is_bend) found_.push_back(std::move(found));
    return true;
  }

  /// Takes a line out of the series, unless it does not stand out of the noise that is then left.
  bool take_line(Index top, Found& found) {
    const Lines before = lines_;
    found.rivals = rivals_of(gains_, found);
    found.line = lines_.size();
    lines_.add(found.peak.frequency);
    std::vector<double> gains = periodogram_.gains(lines_.residual());
    const double alarm = log_alarm(level_of(gains), top, found.gain);
    if (alarm >= std::log(options_.false_alarm)) {
      lines_.take_back(before);
      return false;
    }
    found.peak.log10_false_alarm = alarm / std::numbers::ln10;
    gains_ = std::move(gains);
    found_.push_back(std::move(found));
    return true;
  }

  /// The excess of gains over noise near one frequency, and its running sums.
  struct Excess {
    Index first = 0;  // index of the first frequency
    std::vector<double> sum = {0};
    double between(Index low, Index high) const { return sum[at(high + 1 - first)] - sum[at(low - first)]; }
    Index last() const { return first + static_cast<Index>(sum.size()) - 2; }
  };
  Excess excess_in(std::span<const double> gains, const NoiseLevel& level, const Range& range) const {
    Excess excess{index_of(range.low)};
    for (Index i = excess.first; i <= index_of(range.high); ++i)
      excess.sum.push_back(excess.sum.back() + std::max(0.0, gains[at(i)] - level.at_index(i)));
    return excess;
  }

  /// Whether a top belongs to a hump: one that has far more power than a line of the top's height would have,
  /// with the sidelobes that the times of the observations give it, and of which the top does not stand out
  /// from its neighbours as one of several lines would.
  bool is_hump(std::span<const double> gains, const Excess& excess, Index top, double half) const {
    constexpr double kLeastElements = 6, kLeastShare = 0.3, kChance = 1e-3;
    constexpr Index kNear = 2, kFar = 12;  // neighbours, in 1/span
    if (2 * half < kLeastElements * resolution()) return false;
    const double gain = gains[at(top)];
    const auto reach = static_cast<std::size_t>(half / grid_.step);
    const double of_line = 2 * window_sum_[std::min(reach + 1, window_sum_.size() - 1)] - 1;
    if (gain * of_line >= kLeastShare * excess.between(excess.first, excess.last())) return false;
    std::vector<double> near;
    const Index element = std::max<Index>(1, std::llround(neighbours()));
    for (Index off = kNear * element; off <= kFar * element; ++off) {
      if (top - off >= 0) near.push_back(gains[at(top - off)]);
      if (top + off < grid_.count) near.push_back(gains[at(top + off)]);
    }
    if (near.empty()) return false;
    const auto middle = near.begin() + static_cast<std::ptrdiff_t>(near.size() / 2);
    std::nth_element(near.begin(), middle, near.end());
    const double nu = static_cast<double>(near.size()) / neighbours();
    const double stands_out = gain / (*middle / std::numbers::ln2);
    return 2 * half / resolution() * std::pow(1 + 2 * stands_out / nu, -0.5 * nu) > kChance;
  }

  struct Hump {
    Range range;           // of frequencies in which nothing else is looked for
    bool is_bend = false;  // it does not fall to a third on both sides: a bend of the spectrum, and no peak
  };
  /// Measures a hump around its smoothed top, out to where it has fallen to a third.
  Hump measure_hump(std::span<const double> gains, const Excess& excess, double half, Found& found) const {
    constexpr double kEdge = 0.3;
    const Index smooth = std::max<Index>(1, std::llround(half / 6 / grid_.step));
    const Index first = excess.first, last = excess.last();
    const auto smoothed = [&](Index i) {
      return excess.between(std::max(first, i - smooth), std::min(last, i + smooth));
    };
    Index top = first;
    double highest = 0;
    for (Index i = first; i <= last; ++i) {
      const double here = smoothed(i);
      if (here > highest) highest = here, top = i;
    }
    Index low = top, high = top;
    while (low > first && smoothed(low - 1) > kEdge * highest) --low;
    while (high < last && smoothed(high + 1) > kEdge * highest) ++high;
    const double sum = excess.between(low, high);
    double centre = 0, second = 0, spread = 0;
    const auto share = [&](Index i) { return excess.between(i, i) / sum; };
    for (Index i = low; i <= high; ++i) centre += share(i) * grid_.at(i);
    for (Index i = low; i <= high; ++i) {
      const double off = grid_.at(i) - centre;
      second += share(i) * off * off;
      spread += gains[at(i)] * gains[at(i)] * off * off;
    }
    Peak& peak = found.peak;
    peak.wanders = true;
    peak.frequency = centre;
    // Gains of noise have their mean as standard deviation, and neighbours within 1/span are about one.
    peak.frequency_error = std::sqrt(0.5 * neighbours() * spread) / sum;
    peak.width = std::sqrt(second);
    found.gain = sum / neighbours();
    const double beyond = 0.5 * (grid_.at(high) - grid_.at(low));
    return {{grid_.at(low) - beyond, grid_.at(high) + beyond}, low == first || high == last};
  }

  /// The best tops where sampling puts aliases, with what the peak has beyond them.
  std::vector<Alias> rivals_of(std::span<const double> gains, const Found& found) const {
    std::vector<Alias> rivals;
    const double f = found.peak.frequency, reach = resolution();
    for (const double repeat : sampling_) {
      for (const double alias : {std::abs(f - repeat), f + repeat}) {
        if (alias < grid_.at(0) || alias > grid_.at(grid_.count - 1) || std::abs(alias - f) < 2 * reach)
          continue;
        Index best = index_of(alias - reach);
        for (Index i = best; i <= index_of(alias + reach); ++i) {
          if (gains[at(i)] > gains[at(best)]) best = i;
        }
        const double frequency = (static_cast<double>(grid_.first) + top_of(gains, best)) * grid_.step;
        const bool is_new = std::ranges::none_of(
            rivals, [&](const Alias& other) { return std::abs(other.frequency - frequency) < reach; });
        if (is_new) rivals.push_back({frequency, found.gain - gains[at(best)]});
      }
    }
    return rivals;
  }

  /// What can only be told with the noise that all peaks leave.
  void finish_peaks(const NoiseLevel& level) {
    const std::vector<double> variance =
        lines_.size() > 0 ? lines_.frequency_variances() : std::vector<double>{};
    for (Found& found : found_) {
      Peak& peak = found.peak;
      peak.power = found.gain / total_;
      if (peak.wanders) {
        peak.amplitude = std::sqrt(2 * found.gain);
        continue;
      }
      peak.frequency = lines_.frequency(found.line);
      const double noise = level.at_index(index_of(peak.frequency));
      peak.frequency_error = std::sqrt(noise * variance[found.line]);
      peak.amplitude = lines_.amplitude(found.line);
      for (Alias rival : found.rivals) {
        rival.lead /= noise;
        if (rival.lead < kExcluded) peak.aliases.push_back(rival);
      }
      std::ranges::stable_sort(peak.aliases, {}, &Alias::lead);
    }
  }

  /// A peak at a multiple of a frequency is a harmonic of the peak there, unless it has far more power: then
  /// the multiple is a coincidence, or an oscillation of its own like the day in a week.
  void name_harmonics(std::vector<Peak>& peaks) const {
    constexpr Index kMostMultiple = 24;
    constexpr double kLeastPower = 0.5, kErrors = 3, kOfWandering = 0.05;
    for (Peak& peak : peaks) {
      for (std::size_t p = 0; p < peaks.size() && !peak.fundamental; ++p) {
        const Peak& other = peaks[p];
        const double multiple = std::round(peak.frequency / other.frequency);
        if (multiple < 2 || multiple > kMostMultiple || other.power < kLeastPower * peak.power) continue;
        if (other.fundamental) continue;
        const bool wanders = peak.wanders || other.wanders;
        const double error = std::hypot(peak.frequency_error, multiple * other.frequency_error);
        const double allowed = wanders ? std::max(kErrors * error, kOfWandering * peak.frequency / multiple)
                                       : kErrors * error + 0.25 * resolution();
        // Multiples closer to each other than this would meet a peak anywhere.
        if (allowed > 0.2 * other.frequency) continue;
        if (std::abs(peak.frequency - multiple * other.frequency) > allowed) continue;
        peak.fundamental = p;
        peak.harmonic = static_cast<Index>(multiple);
      }
    }
  }

  const Samples& samples_;
  const PeriodOptions& options_;
  FrequencyGrid grid_;
  BaselineColumns baseline_;
  Lines lines_;
  Periodogram periodogram_;
  FalseAlarm alarm_;
  double total_;
  std::vector<double> window_sum_;  // of the spectral window, up to each index
  std::vector<double> sampling_;
  std::vector<double> gains_;  // of what the lines leave
  std::vector<Found> found_;
  std::vector<Range> humps_;
};

}  // namespace

FrequencyGrid grid_for(const Samples& samples, const PeriodOptions& options) {
  constexpr Index kLeastPoints = 5;
  if (samples.size() < kLeastPoints || !(samples.span > 0)) return {};
  FrequencyGrid grid;
  const double longest = options.longest > 0 ? options.longest : samples.span;
  grid.step = 1 / (static_cast<double>(options.per_peak) * std::max(samples.span, longest));
  grid.first = std::max<Index>(1, std::llround(std::ceil(1 / (longest * grid.step) * (1 - 1e-9))));
  const auto most = static_cast<double>(std::max(kLeastMost, kMostPerPoint * samples.size()));
  const double last = std::floor(1 / (shortest_period(samples, options) * grid.step) * (1 + 1e-9));
  grid.count = std::max<Index>(0, static_cast<Index>(std::min(last, most)) - grid.first + 1);
  return grid;
}

Periods find_periods(const Samples& samples, const PeriodOptions& options) {
  const FrequencyGrid grid = grid_for(samples, options);
  if (grid.count < 1) return {};
  Periods periods = Search(samples, options, grid).run();
  periods.shortest_was_raised =
      shortest_period(samples, options) * (grid.at(grid.count - 1) + grid.step) < 1 - 1e-9;
  return periods;
}

}  // namespace bandgp
