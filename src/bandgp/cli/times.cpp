// SPDX-License-Identifier: Apache-2.0
#include "bandgp/cli/times.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <stdexcept>

#include "bandgp/base/quote.hpp"
#include "bandgp/cli/numbers.hpp"
#include "bandgp/io/csv.hpp"

namespace bandgp::cli {
namespace {

[[noreturn]] void refuse(const std::string& what) { throw std::invalid_argument(what); }

}  // namespace

std::string time_text(const Series& /*series*/, double time) { return fmt::format("{}", time); }

double parse_time(const Series& /*series*/, const std::string& flag, const std::string& text) {
  return finite_number(flag, text);
}

std::vector<double> read_times(const Series& /*series*/, const std::string& file, const std::string& x) {
  // For the reader of tables a lone column is one of values, at times that a step would give.
  const Table table = read_csv(file, {.y = x.empty() ? "1" : x, .step = 1});
  for (std::size_t i = 0; i < table.value.size(); ++i) {
    if (std::isnan(table.value[i]))
      refuse(fmt::format("{}: row {} has no time", file == "-" ? "standard input" : file, i + 1));
  }
  return table.value;
}

Times Times::grid(const Series& series, const std::string& flag, const std::string& text) {
  const std::size_t first = text.find(','), last = text.rfind(',');
  if (first == text.npos || first == last || text.find(',', first + 1) != last)
    refuse(fmt::format("{} is A,B,STEP, not {}", flag, quote(text)));
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

std::vector<double> Times::slice(Index begin, Index end) const {
  if (!list_.empty()) return {list_.begin() + begin, list_.begin() + end};
  std::vector<double> times;
  times.reserve(static_cast<std::size_t>(end - begin));
  for (Index i = begin; i < end; ++i)
    times.push_back(static_cast<double>(start_ + static_cast<long double>(i) * step_));
  return times;
}

}  // namespace bandgp::cli
