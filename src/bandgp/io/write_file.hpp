// SPDX-License-Identifier: Apache-2.0
// A file appears whole or not at all.
#pragma once
#include <string>
#include <string_view>

namespace bandgp {

/// A file that is written piece by piece and takes its name at the end: until commit() nothing of that name
/// is touched, and without it nothing is left, even if the program is killed (where the file system knows
/// files without a name; elsewhere a `.part` file stays behind then).  `-` is standard output; a device or a
/// pipe is written to as it is.  All members throw std::runtime_error `cannot write …: why`.
class FileWriter {
 public:
  explicit FileWriter(const std::string& path);
  ~FileWriter();
  FileWriter(const FileWriter&) = delete;
  FileWriter& operator=(const FileWriter&) = delete;

  void write(std::string_view text);
  /// Forces what was written to the disk and puts it in the place of the target.
  void commit();

 private:
  void open_beside();
  void name_it();

  std::string path_, target_;  // as given, and behind symbolic links
  std::string beside_;         // the name it has meanwhile; empty: none
  int descriptor_ = -1;
  bool replaces_ = false;  // false: standard output, a device or a pipe
};

/// All of it at once.
void write_file(const std::string& path, std::string_view text);

/// Throws the same error now if write_file would fail for want of a folder or of permission.
void require_writable(const std::string& path);

/// Throws std::invalid_argument where writing `path` would replace `input`, a file that is read (or another
/// that is written): an output must not cost the data.
void require_other_than(const std::string& path, const std::string& input);

/// Standard output, all of it or std::runtime_error.
void write_stdout(std::string_view text);

}  // namespace bandgp
