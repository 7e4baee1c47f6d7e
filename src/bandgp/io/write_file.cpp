// SPDX-License-Identifier: Apache-2.0
#include "bandgp/io/write_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <stdexcept>

namespace bandgp {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(const std::string& path, int reason) {
  throw std::runtime_error(fmt::format("cannot write {}: {}", path, std::strerror(reason)));
}

/// Writes everything to an open descriptor; 0 or the reason.
int write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t done = write(descriptor, text.data(), text.size());
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) return errno;
    text.remove_prefix(static_cast<std::size_t>(done));
  }
  return 0;
}

/// The file behind symbolic links: that is the one to replace.
fs::path target_of(const std::string& path) {
  std::error_code error;
  const fs::path real = fs::weakly_canonical(path, error);
  return error ? fs::path(path) : real;
}

bool is_special(const fs::path& target) {
  std::error_code error;
  const fs::file_status status = fs::status(target, error);
  return fs::exists(status) && !fs::is_regular_file(status);
}

fs::path folder_of(const fs::path& target) {
  return target.has_parent_path() ? target.parent_path() : fs::path(".");
}

void write_in_place(const fs::path& target, const std::string& path, std::string_view text) {
  const int descriptor = open(target.c_str(), O_WRONLY | O_CLOEXEC);
  if (descriptor < 0) refuse(path, errno);
  const int failure = write_all(descriptor, text);
  if (close(descriptor) != 0 || failure != 0) refuse(path, failure != 0 ? failure : errno);
}

}  // namespace

void require_writable(const std::string& path) {
  if (path == "-") return;
  const fs::path target = target_of(path);
  if (fs::is_directory(target)) refuse(path, EISDIR);
  if (is_special(target)) return;
  if (path.ends_with('/')) refuse(path, EISDIR);
  if (access(folder_of(target).c_str(), W_OK | X_OK) != 0) refuse(path, errno);
}

void write_stdout(std::string_view text) {
  if (const int failure = write_all(STDOUT_FILENO, text)) refuse("to standard output", failure);
}

void write_file(const std::string& path, std::string_view text) {
  if (path == "-") return write_stdout(text);
  require_writable(path);
  const fs::path target = target_of(path);
  if (is_special(target)) return write_in_place(target, path, text);

  std::string beside;
  int descriptor = -1;
  for (int attempt = 0; descriptor < 0; ++attempt) {  // a name nobody uses; the usual permissions
    beside = fmt::format("{}.{}-{}.part", target.string(), getpid(), attempt);
    descriptor = open(beside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor < 0 && (errno != EEXIST || attempt == 100)) refuse(path, errno);
  }
  int failure = write_all(descriptor, text);
  if (failure == 0 && fsync(descriptor) != 0) failure = errno;
  if (close(descriptor) != 0 && failure == 0) failure = errno;
  if (failure == 0 && std::rename(beside.c_str(), target.c_str()) != 0) failure = errno;
  if (failure == 0) return;
  unlink(beside.c_str());
  refuse(path, failure);
}

}  // namespace bandgp
