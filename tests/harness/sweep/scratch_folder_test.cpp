#include "harness/sweep/command/scratch_folder.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <stdexcept>
#include <string>

namespace ohm::engine {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;

std::optional<std::string> environment_value(const char* variable) {
  const char* const value = std::getenv(variable);
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

/// In a folder of its own.
class ScratchFolderTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = fs::temp_directory_path() / "scratch-test-XXXXXX";
    folder_ = mkdtemp(name.data());
    fs::create_directories(folder_ / "data");
    fs::current_path(folder_ / "data");
  }
  void TearDown() override {
    fs::current_path(before_);
    fs::remove_all(folder_);
    temporary_ ? setenv("TMPDIR", temporary_->c_str(), 1) : unsetenv("TMPDIR");
  }
  void set_temporary_folder(const fs::path& path) {
    fs::create_directories(path);
    setenv("TMPDIR", path.c_str(), 1);
  }

  fs::path folder_;

 private:
  fs::path before_ = fs::current_path();
  std::optional<std::string> temporary_ = environment_value("TMPDIR");
};

TEST_F(ScratchFolderTest, CopiesFilesFoldersAndLinksAlone) {
  fs::create_directory("inner");
  std::ofstream("inner/file") << "text";
  fs::create_symlink(fs::current_path() / "inner", "link");
  fs::create_symlink("nowhere", "broken");
  ASSERT_EQ(mkfifo("pipe", 0600), 0);
  const ScratchFolder scratch;
  const fs::path copy = scratch.path();
  EXPECT_EQ(fs::file_size(copy / "inner/file"), 4);
  EXPECT_EQ(fs::read_symlink(copy / "link"), copy / "inner") << "not into the copied folder";
  EXPECT_TRUE(fs::is_symlink(copy / "broken"));
  EXPECT_FALSE(fs::exists(copy / "pipe"));
}

TEST_F(ScratchFolderTest, IsPutBackAsItWasKept) {
  std::ofstream("checkpoint") << "step 1";
  fs::create_symlink(fs::current_path() / "checkpoint", "latest");
  const ScratchFolder scratch;
  const fs::path copy = scratch.path();
  std::ofstream(copy / "lock") << "held";
  const auto time = fs::file_time_type::clock::now() - std::chrono::hours(1);
  fs::last_write_time(copy / "checkpoint", time);
  scratch.keep();
  fs::remove(copy / "lock");
  std::ofstream(copy / "checkpoint") << "step 12";
  std::ofstream(copy / "other") << "new";
  scratch.put_back();
  EXPECT_EQ(fs::file_size(copy / "lock"), 4);
  EXPECT_EQ(fs::file_size(copy / "checkpoint"), 6);
  EXPECT_EQ(fs::last_write_time(copy / "checkpoint"), time) << "the newest is gone on from";
  EXPECT_EQ(fs::read_symlink(copy / "latest"), copy / "checkpoint");
  EXPECT_FALSE(fs::exists(copy / "other"));
}

TEST_F(ScratchFolderTest, RefusesToCopyAFolderIntoItself) {
  set_temporary_folder(fs::current_path() / "tmp");
  EXPECT_THROW(ScratchFolder(), std::invalid_argument);
  set_temporary_folder(fs::current_path());
  EXPECT_THROW(ScratchFolder(), std::invalid_argument);
  set_temporary_folder(folder_ / "data2");
  EXPECT_NO_THROW(ScratchFolder());
}

TEST_F(ScratchFolderTest, MovesWordsThatNameTheFolder) {
  const std::string here = fs::current_path();
  const ScratchFolder scratch;
  const std::string there = scratch.path();
  EXPECT_THAT(
      scratch.moved({here, here + "/x", "--out=" + here + "/x", "-I" + here, "x", here + "2"}),
      ElementsAre(there, there + "/x", "--out=" + there + "/x", "-I" + there, "x", here + "2"));
}

TEST(FolderInWords, IsAWholePath) {
  const auto moved = [](const char* word) { return with_folder_moved(word, "/a", "/new/a"); };
  EXPECT_EQ(moved("/a"), "/new/a");
  EXPECT_EQ(moved("/a/x:/a/y"), "/new/a/x:/new/a/y");
  EXPECT_EQ(moved("cd '/a' && python /a/x.py"), "cd '/new/a' && python /new/a/x.py");
  EXPECT_EQ(moved("file:///a/x"), "file:///new/a/x");
  EXPECT_EQ(moved("/home/a/x"), "/home/a/x");
  EXPECT_EQ(moved("/ab"), "/ab");
  EXPECT_EQ(moved("/a/a"), "/new/a/a");
}

}  // namespace
}  // namespace ohm::engine
