// SPDX-License-Identifier: Apache-2.0
// The bytes of a file, of standard input or of a stream, in order; gzip is undone on the way (but not in
// streams).
#pragma once
#include <istream>
#include <string>
#include <string_view>

struct gzFile_s;

namespace bandgp {

class ByteSource {
 public:
  /// Opens a file, or standard input for "-".  Throws std::runtime_error where it cannot.
  explicit ByteSource(const std::string& path);
  ByteSource(std::istream& in, std::string name) : in_(&in), name_(std::move(name)) {}
  ~ByteSource();
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;

  /// Fills `to` as far as there are bytes; fewer than `most` only at the end.  Throws std::runtime_error
  /// where reading fails, std::invalid_argument where the gzip data are damaged or end early.
  std::size_t read(char* to, std::size_t most);
  /// The next bytes, up to 1024, which stay to be read.
  std::string_view head();
  /// All that is left.  Throws std::invalid_argument where that is more than a quarter of the machine's
  /// memory.
  std::string read_all();

  const std::string& name() const { return name_; }

 private:
  std::size_t read_more(char* to, std::size_t most);

  gzFile_s* file_ = nullptr;
  std::istream* in_ = nullptr;
  std::string name_, ahead_;
};

/// What is held of a file may take a quarter of the machine's memory: the rest is for computing with it.
double largest_content();

}  // namespace bandgp
