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
#include <utility>

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

}  // namespace

void require_writable(const std::string& path) {
  if (path == "-") return;
  const fs::path target = target_of(path);
  if (fs::is_directory(target)) refuse(path, EISDIR);
  if (is_special(target)) return;
  if (path.ends_with('/')) refuse(path, EISDIR);
  if (access(folder_of(target).c_str(), W_OK | X_OK) != 0) refuse(path, errno);
}

void require_other_than(const std::string& path, const std::string& input) {
  if (path == "-" || input == "-" || is_special(target_of(path))) return;
  std::error_code ignored;
  const bool same =
      fs::equivalent(path, input, ignored) ||
      fs::absolute(path, ignored).lexically_normal() == fs::absolute(input, ignored).lexically_normal();
  if (same)
    throw std::invalid_argument(fmt::format("{} would be replaced: name another file to write", input));
}

void write_stdout(std::string_view text) {
  if (const int failure = write_all(STDOUT_FILENO, text)) refuse("to standard output", failure);
}

FileWriter::FileWriter(const std::string& path) : path_(path) {
  if (path == "-") {
    descriptor_ = STDOUT_FILENO;
    return;
  }
  require_writable(path);
  target_ = target_of(path).string();
  replaces_ = !is_special(target_);
  if (!replaces_) {
    descriptor_ = open(target_.c_str(), O_WRONLY | O_CLOEXEC);
    if (descriptor_ < 0) refuse(path_, errno);
    return;
  }
#ifdef O_TMPFILE
  if (access("/proc/self/fd", X_OK) == 0)  // the way to give it a name
    descriptor_ = open(folder_of(target_).c_str(), O_WRONLY | O_TMPFILE | O_CLOEXEC, 0666);
#endif
  if (descriptor_ < 0) open_beside();
}

void FileWriter::open_beside() {
  for (int attempt = 0; descriptor_ < 0; ++attempt) {  // a name nobody uses; the usual permissions
    beside_ = fmt::format("{}.{}-{}.part", target_, getpid(), attempt);
    descriptor_ = open(beside_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor_ >= 0) return;
    const int reason = errno;
    if (reason == EEXIST && attempt < 100) continue;
    beside_.clear();
    refuse(path_, reason);
  }
}

/// A name can be given only where there is none, and taken over only by a name: link, then rename.
void FileWriter::name_it() {
  const std::string own = fmt::format("/proc/self/fd/{}", descriptor_);
  for (int attempt = 0; beside_.empty(); ++attempt) {
    const std::string name = fmt::format("{}.{}-{}.part", target_, getpid(), attempt);
    if (linkat(AT_FDCWD, own.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) == 0)
      beside_ = name;
    else if (errno != EEXIST || attempt == 100)
      refuse(path_, errno);
  }
}

void FileWriter::write(std::string_view text) {
  if (const int failure = write_all(descriptor_, text))
    refuse(path_ == "-" ? "to standard output" : path_, failure);
}

void FileWriter::commit() {
  if (path_ == "-") return;
  int failure = replaces_ && fsync(descriptor_) != 0 ? errno : 0;
  if (failure == 0 && replaces_) name_it();
  if (close(std::exchange(descriptor_, -1)) != 0 && failure == 0) failure = errno;
  if (failure == 0 && replaces_ && std::rename(beside_.c_str(), target_.c_str()) != 0) failure = errno;
  if (failure != 0) refuse(path_, failure);
  beside_.clear();
}

FileWriter::~FileWriter() {
  if (descriptor_ >= 0 && path_ != "-") close(descriptor_);
  if (!beside_.empty()) unlink(beside_.c_str());
}

void write_file(const std::string& path, std::string_view text) {
  FileWriter file(path);
  file.write(text);
  file.commit();
}

}  // namespace bandgp
