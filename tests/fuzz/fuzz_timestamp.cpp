// SPDX-License-Identifier: Apache-2.0
// A pattern, a line end, a text.  Whatever reads, alone or by the pattern, is a moment whose text on any axis
// is that moment again.
#include <array>
#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <string>

#include "bandgp/series/time_axis.hpp"
#include "bandgp/series/time_pattern.hpp"

namespace {

using namespace bandgp;

void require(bool holds) {
  if (!holds) std::abort();
}

void round_trip(const std::string& format, const Moment& moment, int zone) {
  require(moment.seconds >= kEarliest && moment.seconds < kLatest && moment.nanos >= 0 &&
          moment.nanos < 1000000000);
  for (const char* unit : {"s", "min", "h", "d", "y"}) {
    const std::int64_t start = moment.seconds - (moment.seconds - kEarliest) % 86400;
    const TimeAxis axis{unit, format, start, TimePattern(format).has('z') ? zone : 0, 0};
    require_valid(axis);
    const double time = time_of(axis, moment);
    require(parse_time(axis, to_text(axis, time)) == time);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string all(reinterpret_cast<const char*>(data), size);
  const std::size_t line = all.find('\n');
  const std::string pattern_text = all.substr(0, line), text = line == all.npos ? "" : all.substr(line + 1);
  if (const auto written = read_timestamp(text))
    for (const DateOrder order : {DateOrder::day_first, DateOrder::month_first})
      if (const auto moment = to_moment(*written, order)) {
        // On the axis of a file that is written so, the text is the same time.
        const TimePattern pattern(pattern_of(*written, order));
        const TimeAxis axis{"d", pattern.text(), 0, 0, 0};
        require(parse_time(axis, text) == time_of(axis, *moment));
        round_trip(pattern.text(), *moment, written->fields.zone);
      }
  const TimeAxis days{"d", "%Y-%m-%d", 1009843200, 0, 0};
  for (const TimeAxis& axis : {days, TimeAxis{}}) {
    try {
      require(parse_grid(axis, text).size() <= 100000000);
    } catch (const std::invalid_argument&) {
    }
  }
  try {
    const TimePattern pattern(pattern_text);
    if (const auto moment = pattern.parse(text)) round_trip(pattern.text(), *moment, 0);
    const TimePattern fine(pattern.with_seconds());
  } catch (const std::invalid_argument& error) {
    require(std::string(error.what()).find('\n') == std::string::npos);
  }
  return 0;
}
