// SPDX-License-Identifier: Apache-2.0
#include "bandgp/experiments/store.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <stdexcept>
#include <system_error>

#include "bandgp/experiments/fold_json.hpp"

namespace bandgp {

using Json = nlohmann::ordered_json;

Store::Store(std::string path) : path_(std::move(path)) {
  descriptor_ = open(path_.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (descriptor_ < 0) fail();
  if (flock(descriptor_, LOCK_EX | LOCK_NB) != 0) {
    close(descriptor_);
    throw std::runtime_error(
        fmt::format("{} is in use by another run: wait for it or choose another folder", path_));
  }
  try {
    load();
  } catch (...) {
    close(descriptor_);
    throw;
  }
}

Store::~Store() { close(descriptor_); }

void Store::fail() const {
  throw std::runtime_error(fmt::format("cannot write {}: {}", path_, std::generic_category().message(errno)));
}

void Store::load() {
  std::string text, block(1 << 16, '\0');
  while (true) {
    const ssize_t got = read(descriptor_, block.data(), block.size());
    if (got < 0) fail();
    if (got == 0) break;
    text.append(block, 0, static_cast<std::size_t>(got));
  }
  std::size_t begin = 0;
  for (std::size_t end = 0; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1) {
    const Json line = Json::parse(text.begin() + static_cast<std::ptrdiff_t>(begin),
                                  text.begin() + static_cast<std::ptrdiff_t>(end), nullptr, false);
    const bool whole =
        line.is_object() && line.contains("key") && line["key"].is_string() && line.contains("result");
    if (!whole) continue;  // not ours, or damaged: it is computed again
    if (const auto result = fold_from_json(line["result"])) known_[line["key"].get<std::string>()] = *result;
  }
  if (begin < text.size() && ftruncate(descriptor_, static_cast<off_t>(begin)) != 0) fail();
}

std::optional<FoldResult> Store::find(const std::string& key) const {
  const auto found = known_.find(key);
  return found == known_.end() ? std::nullopt : std::optional(found->second);
}

void Store::add(const std::string& key, const FoldResult& result) {
  const std::string line = Json{{"key", key}, {"result", fold_json(result)}}.dump() + "\n";
  std::size_t written = 0;
  while (written < line.size()) {
    const ssize_t done = write(descriptor_, line.data() + written, line.size() - written);
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) fail();
    written += static_cast<std::size_t>(done);
  }
  known_[key] = result;
}

}  // namespace bandgp
