// SPDX-License-Identifier: Apache-2.0
#include "bandgp/cli/period_output.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "bandgp/cli/style.hpp"

namespace bandgp::cli {
namespace {

/// A period as people say it: 24 h rather than 86400 s, where the unit of time is known.
struct Spoken {
  double size = 1;  // of the unit, in units of the axis
  std::string unit;
};
Spoken spoken_unit(const TimeAxis& axis, double period) {
  if (axis.unit.empty()) return {};
  const double own = axis.unit == "ms" ? 0.001 : static_cast<double>(unit_seconds(axis.unit));
  constexpr std::pair<const char*, double> kUnits[] = {{"y", 31557600}, {"d", 86400}, {"h", 3600},
                                                       {"min", 60},     {"s", 1},     {"ms", 0.001}};
  constexpr double kLeast = 1.999;  // of a unit: 36 h rather than 1.5 d
  for (const auto& [unit, seconds] : kUnits) {
    if (period * own >= kLeast * seconds) return {seconds / own, unit};
  }
  return {0.001 / own, "ms"};
}

/// `10.99 ± 0.02`: as many digits as the error has, which has two.
std::string with_error(double value, double error) {
  const double size = std::abs(value);
  if (!(error > 0) || !std::isfinite(error) || size >= 1e7 || size < 1e-4)
    return fmt::format("{:.6g} ± {:.2g}", value, error);
  const int digits = std::clamp(1 - static_cast<int>(std::floor(std::log10(error))), 0, 12);
  return fmt::format("{:.{}f} ± {:.{}f}", value, digits, error, digits);
}

std::string period_words(const TimeAxis& axis, double period, double error) {
  const Spoken spoken = spoken_unit(axis, period);
  return with_error(period / spoken.size, error / spoken.size) +
         (spoken.unit.empty() ? "" : " " + spoken.unit);
}
std::string period_words(const TimeAxis& axis, double period) {
  const Spoken spoken = spoken_unit(axis, period);
  return fmt::format("{:.5g}{}", period / spoken.size, spoken.unit.empty() ? "" : " " + spoken.unit);
}

std::string probability(double log10) {
  if (log10 > -4) return fmt::format("{:.1g}", std::pow(10.0, log10));
  return fmt::format("1e{:.0f}", std::floor(log10));
}

/// What is worth knowing of a peak besides its numbers.
std::string note_on(const Peak& peak, const TimeAxis& axis) {
  std::vector<std::string> notes;
  if (peak.fundamental)
    notes.push_back(fmt::format("1/{} of the period of peak {}", peak.harmonic, *peak.fundamental + 1));
  if (peak.wanders) notes.push_back(fmt::format("wanders, by {:.2g} %", 100 * peak.width / peak.frequency));
  std::string aliases;
  for (const Alias& alias : peak.aliases)
    aliases += (aliases.empty() ? "" : ", ") + period_words(axis, 1 / alias.frequency);
  if (!aliases.empty()) notes.push_back("or its alias " + aliases);
  std::string text;
  for (const std::string& note : notes) text += (text.empty() ? "" : "; ") + note;
  return text;
}

/// Columns in the width that people see, not in bytes.
std::size_t width(const std::string& text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

std::string table(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widest(rows.front().size());
  for (const auto& row : rows) {
    for (std::size_t c = 0; c < row.size(); ++c) widest[c] = std::max(widest[c], width(row[c]));
  }
  std::string text;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t c = 0; c < row.size(); ++c) {
      const std::string blank(widest[c] - width(row[c]), ' ');
      const bool is_text = c + 1 == row.size();
      line += is_text ? row[c] : blank + row[c] + "  ";
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += (text.empty() ? "" : "\n") + line;
  }
  return text;
}

/// The periodogram over the logarithm of the period: the highest amplitude of each column, and below the
/// numbers of the peaks.
std::string drawing(const Periods& periods, const TimeAxis& axis) {
  constexpr std::size_t kColumns = 64, kRows = 6, kEighths = 8;
  const FrequencyGrid& grid = periods.grid;
  const double shortest = 1 / grid.at(grid.count - 1), longest = 1 / grid.at(0);
  const double octaves = std::log(longest / shortest);
  const auto column = [&](double period) {
    const double part = octaves > 0 ? std::log(period / shortest) / octaves : 0.5;
    return static_cast<std::size_t>(std::clamp(part * kColumns, 0.0, kColumns - 1.0));
  };
  std::vector<double> highest(kColumns, -1);
  for (Index i = 0; i < grid.count; ++i) {
    double& top = highest[column(1 / grid.at(i))];
    top = std::max(top, std::sqrt(periods.power[static_cast<std::size_t>(i)]));
  }
  for (std::size_t c = kColumns - 1; c-- > 0;) {  // few frequencies have long periods
    if (highest[c] < 0) highest[c] = highest[c + 1];
  }
  const double most = std::ranges::max(highest);
  constexpr const char* kBlocks[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  std::string text;
  for (std::size_t row = kRows; row-- > 0;) {
    std::string line;
    for (const double amplitude : highest) {
      const double eighths = most > 0 ? std::max(0.0, amplitude) / most * kRows * kEighths : 0;
      const double here = std::clamp(eighths - static_cast<double>(row * kEighths), 0.0, double{kEighths});
      line += kBlocks[static_cast<std::size_t>(std::ceil(here))];
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  std::string marks(kColumns, ' ');
  for (std::size_t p = std::min<std::size_t>(periods.peaks.size(), 9); p-- > 0;)
    marks[column(periods.peaks[p].period())] = static_cast<char>('1' + p);
  marks.erase(marks.find_last_not_of(' ') + 1);
  if (!marks.empty()) text += marks + "\n";
  const std::string from = period_words(axis, shortest), to = period_words(axis, longest);
  const std::size_t used = width(from) + width(to);
  return text + from + std::string(kColumns > used ? kColumns - used : 1, ' ') + to;
}

}  // namespace

Json period_json(const PeriodResult& result, bool cancelled) {
  const Periods& periods = result.periods;
  const FrequencyGrid& grid = periods.grid;
  Json json;
  add_size(json, *result.input.series);
  json["mean"] = result.options.baseline == Baseline::linear ? "linear" : "constant";
  json["false_alarm"] = result.options.false_alarm;
  Json peaks = Json::array();
  for (const Peak& peak : periods.peaks) {
    Json aliases = Json::array();
    for (const Alias& alias : peak.aliases)
      aliases.push_back({{"period", 1 / alias.frequency}, {"lead", alias.lead}});
    peaks.push_back(
        {{"period", peak.period()},
         {"period_error", peak.period_error()},
         {"frequency", peak.frequency},
         {"frequency_error", peak.frequency_error},
         {"amplitude", peak.amplitude},
         {"power", peak.power},
         {"log10_false_alarm", peak.log10_false_alarm},
         {"wanders", peak.wanders},
         {"width", peak.wanders ? Json(peak.width) : Json()},
         {"harmonic", peak.harmonic},
         {"harmonic_of", peak.fundamental ? Json(periods.peaks[*peak.fundamental].period()) : Json()},
         {"aliases", std::move(aliases)}});
  }
  json["peaks"] = std::move(peaks);
  json["sampling_periods"] = Json::array();
  for (const double frequency : periods.sampling) json["sampling_periods"].push_back(1 / frequency);
  json["frequencies"] = {{"first", grid.at(0)}, {"step", grid.step}, {"count", grid.count}};
  json["shortest"] = 1 / grid.at(grid.count - 1);
  json["longest"] = 1 / grid.at(0);
  json["cancelled"] = cancelled;
  json["series"] = series_json(result.input);
  return json;
}

std::string period_text(const PeriodResult& result, bool cancelled) {
  const Periods& periods = result.periods;
  const TimeAxis& axis = result.input.series->axis;
  std::string peaks =
      fmt::format("none that noise makes with a probability below {:g}", result.options.false_alarm);
  if (!periods.peaks.empty()) {
    std::vector<std::vector<std::string>> rows = {{"", "period", "power", "amplitude", "false alarm", ""}};
    for (std::size_t p = 0; p < periods.peaks.size(); ++p) {
      const Peak& peak = periods.peaks[p];
      rows.push_back({std::to_string(p + 1), period_words(axis, peak.period(), peak.period_error()),
                      fmt::format("{:.3g} %", 100 * peak.power), fmt::format("{:.4g}", peak.amplitude),
                      probability(peak.log10_false_alarm), note_on(peak, axis)});
    }
    peaks = table(rows);
  }
  if (cancelled) peaks += "\ninterrupted: there may be more";
  std::string looked = fmt::format("{} to {}, {} frequencies, beside a {} mean",
                                   period_words(axis, 1 / periods.grid.at(periods.grid.count - 1)),
                                   period_words(axis, 1 / periods.grid.at(0)), periods.grid.count,
                                   result.options.baseline == Baseline::linear ? "linear" : "constant");
  if (periods.shortest_was_raised)
    looked += "\nshorter periods would take too many frequencies for so few points";
  std::string text =
      field("Read", input_text(result.input)) + field("Looked at", looked) + field("Peaks", peaks);
  if (!periods.sampling.empty()) {
    std::string sampling;
    for (const double frequency : periods.sampling)
      sampling += (sampling.empty() ? "" : ", ") + period_words(axis, 1 / frequency);
    text += field("Sampling", "repeats itself after " + sampling);
  }
  return text + field("Periodogram", drawing(periods, axis));
}

}  // namespace bandgp::cli
