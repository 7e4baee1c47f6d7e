// SPDX-License-Identifier: Apache-2.0
// A file appears whole or not at all.
#pragma once
#include <string>
#include <string_view>

namespace bandgp {

/// Writes a new file beside the target, forces it to the disk and renames it; removes it where any of that
/// fails.
/// `-` is standard output; a device or a pipe is written to as it is.  Throws std::runtime_error `cannot
/// write …: why`.
void write_file(const std::string& path, std::string_view text);

/// Throws the same error now if write_file would fail for want of a folder or of permission.
void require_writable(const std::string& path);

/// Standard output, all of it or std::runtime_error.
void write_stdout(std::string_view text);

}  // namespace bandgp
