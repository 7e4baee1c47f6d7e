// SPDX-License-Identifier: Apache-2.0
// The lines of a text that carry data: not blank, no comments, without line ends.  Only a window of the text
// is held.
#pragma once
#include <string_view>
#include <vector>

#include "bandgp/base/index.hpp"
#include "bandgp/io/byte_source.hpp"

namespace bandgp {

class Lines {
 public:
  explicit Lines(ByteSource& source);
  /// The view holds until the next call.  Throws std::invalid_argument: a zero byte, or a line of more than
  /// 16 MB, which no table of numbers has.
  bool next(std::string_view& line);
  Index number() const { return number_; }  // of the line given last, from 1

 private:
  void refill();

  ByteSource& source_;
  std::vector<char> window_;
  std::size_t begin_ = 0, end_ = 0;  // what is left of the window
  bool at_end_ = false;
  Index number_ = 0;
};

}  // namespace bandgp
