// SPDX-License-Identifier: Apache-2.0
#include "bandgp/io/write_file.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <stdexcept>

namespace bandgp {
namespace {

namespace fs = std::filesystem;

/// A folder of its own, gone at the end.
struct Folder {
  fs::path path = fs::path(testing::TempDir()) / ("bandgp-write-" + std::to_string(getpid()));
  Folder() {
    fs::remove_all(path);
    fs::create_directory(path);
  }
  ~Folder() { fs::remove_all(path); }
  std::string at(const char* name) const { return (path / name).string(); }
  std::size_t entries() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(path), fs::directory_iterator()));
  }
};

std::string content(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST(FileWriter, appears_whole_or_not_at_all) {
  const Folder folder;
  write_file(folder.at("a"), "old");
  {
    FileWriter file(folder.at("a"));
    file.write("new ");
    file.write("text");
    EXPECT_EQ(content(folder.at("a")), "old");
  }
  EXPECT_EQ(content(folder.at("a")), "old") << "without commit() nothing happened";
  EXPECT_EQ(folder.entries(), 1U);
  FileWriter file(folder.at("a"));
  file.write("new ");
  file.write("text");
  file.commit();
  EXPECT_EQ(content(folder.at("a")), "new text");
  EXPECT_EQ(folder.entries(), 1U);
}

TEST(FileWriter, has_the_usual_permissions) {
  const Folder folder;
  const mode_t mask = umask(022);
  write_file(folder.at("a"), "x");
  umask(mask);
  EXPECT_EQ(static_cast<int>(fs::status(folder.at("a")).permissions()), 0644);
}

TEST(FileWriter, refuses_at_once) {
  const Folder folder;
  EXPECT_THROW(FileWriter(folder.at("no/such")), std::runtime_error);
  EXPECT_THROW(FileWriter(folder.path.string()), std::runtime_error);
  EXPECT_THROW(
      {
        FileWriter full("/dev/full");
        full.write("x");
        full.commit();
      },
      std::runtime_error);
  EXPECT_EQ(folder.entries(), 0U);
}

}  // namespace
}  // namespace bandgp
