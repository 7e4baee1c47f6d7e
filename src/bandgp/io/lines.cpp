// SPDX-License-Identifier: Apache-2.0
#include "bandgp/io/lines.hpp"

#include <fmt/format.h>

#include <cstring>
#include <stdexcept>

#include "bandgp/io/cells.hpp"

namespace bandgp {
namespace {

constexpr std::size_t kWindow = 1 << 18, kLongest = 1 << 24;

}  // namespace

Lines::Lines(ByteSource& source) : source_(source), window_(kWindow) {
  if (source_.head().starts_with("\xEF\xBB\xBF")) source_.read(window_.data(), 3);  // byte order mark
}

void Lines::refill() {
  std::memmove(window_.data(), window_.data() + begin_, end_ - begin_);
  end_ -= begin_;
  begin_ = 0;
  if (end_ == window_.size()) {
    if (end_ >= kLongest)
      throw std::invalid_argument(
          fmt::format("{}:{}: is longer than 16 MB: not a table of numbers", source_.name(), number_ + 1));
    window_.resize(2 * window_.size());
  }
  const std::size_t room = window_.size() - end_, got = source_.read(window_.data() + end_, room);
  if (got > 0 && std::memchr(window_.data() + end_, '\0', got) != nullptr)
    throw std::invalid_argument(fmt::format(
        "{}: holds a zero byte after line {}: not a table of numbers as text", source_.name(), number_));
  end_ += got;
  at_end_ = got < room;
}

bool Lines::next(std::string_view& line) {
  for (std::size_t searched = 0;;) {
    const char* from = window_.data() + begin_;
    const auto* found = static_cast<const char*>(
        end_ - begin_ > searched ? std::memchr(from + searched, '\n', end_ - begin_ - searched) : nullptr);
    if (found == nullptr && !at_end_) {
      searched = end_ - begin_;
      refill();
      continue;
    }
    if (begin_ == end_) return false;
    const auto length = found != nullptr ? static_cast<std::size_t>(found - from) : end_ - begin_;
    line = {from, length};
    begin_ += found != nullptr ? length + 1 : length;
    searched = 0;
    ++number_;
    while (line.ends_with('\r')) line.remove_suffix(1);
    const std::string_view content = trim(line);
    if (!content.empty() && content.front() != '#') return true;
  }
}

}  // namespace bandgp
