// SPDX-License-Identifier: Apache-2.0
#include "bandgp/cli/times.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <stdexcept>

#include "bandgp/base/quote.hpp"
#include "bandgp/cli/numbers.hpp"
#include "bandgp/cli/words.hpp"
#include "bandgp/io/read_table.hpp"
#include "bandgp/series/forecast_times.hpp"

namespace bandgp::cli {
namespace {

[[noreturn]] void refuse(const std::string& what) { throw std::invalid_argument(what); }

}  // namespace

std::string time_text(const Series& series, double time) { return to_text(series.axis, time); }

double parse_time(const Series& series, const std::string& flag, const std::string& text) {
  if (series.axis.is_plain()) return finite_number(flag, text);
  try {
    return bandgp::parse_time(series.axis, text);
  } catch (const std::invalid_argument& error) {
    refuse(fmt::format("{}: {}", flag, words_of(error)));
  }
}

std::vector<double> read_times(const Series& series, const std::string& file, const std::string& x) {
  return bandgp::read_times(file, {.x = x}, series.axis).time;
}

Times Times::grid(const Series& series, const std::string& flag, const std::string& text) {
  const std::size_t first = text.find(','), last = text.rfind(',');
  if (first == text.npos || first == last || text.find(',', first + 1) != last)
    refuse(fmt::format("{} is A,B,STEP, not {}", flag, quote(text)));
  if (!series.axis.is_plain()) {  // moments a step apart are exact on a calendar, sums of doubles are not
    try {
      return Times(parse_grid(series.axis, text));
    } catch (const std::invalid_argument& error) {
      refuse(fmt::format("{}: {}", flag, words_of(error)));
    }
  }
  const double from = parse_time(series, flag, text.substr(0, first));
  const double to = parse_time(series, flag, text.substr(first + 1, last - first - 1));
  const double step = positive_number(flag + " STEP", text.substr(last + 1));
  if (to < from) refuse(fmt::format("{}: {} comes before {}", flag, to, from));
  const double steps = (to - from) / step;
  if (!(steps < 0x1p52)) refuse(fmt::format("{}: {} has more steps than can be counted", flag, quote(text)));
  Times times;
  times.size_ = static_cast<Index>(std::floor(steps * (1 + 1e-15) + 1e-9)) + 1;
  times.start_ = from;
  times.step_ = std::strtold(text.c_str() + last + 1, nullptr);
  return times;
}

double parse_length(const Series& series, const std::string& flag, const std::string& text) {
  if (series.axis.is_plain() && series.axis.unit.empty()) return positive_number(flag, text);
  double length = 0;
  try {
    length = parse_duration(series.axis, text);
  } catch (const std::invalid_argument& error) {
    refuse(fmt::format("{}: {}", flag, words_of(error)));
  }
  if (!(length > 0)) refuse(fmt::format("{}: {} is not positive", flag, quote(text)));
  return length;
}

Times Times::after(const Series& series, const std::string& horizon, const std::string& step) {
  const double by = step.empty() ? 0 : parse_length(series, "--step", step);
  const double far = parse_length(series, "--horizon", horizon);
  try {
    return Times(times_after(series, far, by));
  } catch (const std::invalid_argument& error) {
    refuse(fmt::format("--horizon: {}", error.what()));
  }
}

std::vector<double> Times::slice(Index begin, Index end) const {
  if (!list_.empty()) return {list_.begin() + begin, list_.begin() + end};
  std::vector<double> times;
  times.reserve(static_cast<std::size_t>(end - begin));
  for (Index i = begin; i < end; ++i)
    times.push_back(static_cast<double>(start_ + static_cast<long double>(i) * step_));
  return times;
}

}  // namespace bandgp::cli
