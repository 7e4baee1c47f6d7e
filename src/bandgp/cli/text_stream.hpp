// SPDX-License-Identifier: Apache-2.0
// Rows of numbers as text, written as they come: a table of any length passes through a small buffer.
#pragma once
#include <fmt/format.h>

#include <functional>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bandgp/io/write_file.hpp"

namespace bandgp::cli {

class TextStream {
 public:
  explicit TextStream(const std::string& path) : file_(path) {}

  void text(std::string_view text) {
    buffer_.append(text.data(), text.data() + text.size());
    if (buffer_.size() > kFull) flush();
  }
  /// Shortest text that reads back as the same number.
  void number(double value) { fmt::format_to(std::back_inserter(buffer_), "{}", value); }
  void finish() {
    flush();
    file_.commit();
  }

 private:
  static constexpr std::size_t kFull = 1 << 16;
  void flush() {
    file_.write({buffer_.data(), buffer_.size()});
    buffer_.clear();
  }
  FileWriter file_;
  fmt::memory_buffer buffer_;
};

/// {"rows": n, "name": [numbers], …}
/// The first column as text, where there is a way to write it so.
void write_json(TextStream& out, std::span<const std::string> names,
                std::span<const std::vector<double>> columns,
                const std::function<std::string(double)>& first_text = {});

}  // namespace bandgp::cli
