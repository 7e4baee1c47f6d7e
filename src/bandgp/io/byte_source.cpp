// SPDX-License-Identifier: Apache-2.0
#include "bandgp/io/byte_source.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <stdexcept>

#include "bandgp/base/machine.hpp"

namespace bandgp {
namespace {

constexpr unsigned kBlock = 1 << 18;

}  // namespace

double largest_content() {
  static const double bytes = physical_memory() / 4;
  return bytes;
}

ByteSource::ByteSource(const std::string& path) : name_(path == "-" ? "standard input" : path) {
  const int descriptor = path == "-" ? dup(STDIN_FILENO) : open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0)
    throw std::runtime_error(fmt::format("cannot open {}: {}", name_, std::strerror(errno)));
  file_ = gzdopen(descriptor, "rb");  // what does not begin as gzip comes through as it is
  if (file_ == nullptr) {
    close(descriptor);
    throw std::runtime_error(fmt::format("cannot open {}: out of memory", name_));
  }
  gzbuffer(file_, kBlock);
}

ByteSource::~ByteSource() {
  if (file_ != nullptr) gzclose(file_);
}

std::size_t ByteSource::read_more(char* to, std::size_t most) {
  if (in_ != nullptr) {
    in_->read(to, static_cast<std::streamsize>(most));
    return static_cast<std::size_t>(in_->gcount());
  }
  std::size_t done = 0;
  while (done < most) {
    errno = 0;
    const auto wanted = static_cast<unsigned>(std::min<std::size_t>(most - done, 1 << 30));
    const int got = gzread(file_, to + done, wanted);
    int error = Z_OK;
    gzerror(file_, &error);
    if (error == Z_ERRNO || (got < 0 && error == Z_OK))
      throw std::runtime_error(fmt::format("cannot read {}: {}", name_, std::strerror(errno)));
    if (error == Z_BUF_ERROR) throw std::invalid_argument(name_ + ": is cut off: its gzip data end early");
    if (got < 0 || (error != Z_OK && error != Z_STREAM_END))
      throw std::invalid_argument(name_ + ": has damaged gzip data");
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  return done;
}

std::size_t ByteSource::read(char* to, std::size_t most) {
  const std::size_t held = std::min(most, ahead_.size());
  std::memcpy(to, ahead_.data(), held);
  ahead_.erase(0, held);
  return held + (held < most ? read_more(to + held, most - held) : 0);
}

std::string_view ByteSource::head() {
  constexpr std::size_t kHead = 1024;
  if (ahead_.empty()) {
    ahead_.resize(kHead);
    ahead_.resize(read_more(ahead_.data(), kHead));
  }
  return ahead_;
}

std::string ByteSource::read_all() {
  std::string content;
  for (std::size_t block = 1 << 20;; block = std::min<std::size_t>(2 * block, 1 << 28)) {
    const std::size_t size = content.size();
    content.resize(size + block);
    const std::size_t got = read(content.data() + size, block);
    content.resize(size + got);
    if (static_cast<double>(content.size()) > largest_content())
      throw std::invalid_argument(fmt::format(
          "{}: has more than {:.1f} GB, a quarter of this machine's memory", name_, largest_content() / 1e9));
    if (got < block) return content;
  }
}

}  // namespace bandgp
