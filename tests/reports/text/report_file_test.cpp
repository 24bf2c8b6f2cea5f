#include "reports/text/report_file.h"

#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <stdexcept>
#include <string>

#include "tests/support/golden.h"
#include "tests/support/temp_folder.h"

namespace ohm::reports {
namespace {

namespace fs = std::filesystem;

class ReportFileTest : public testing::Test {
 protected:
  std::string path(const std::string& name) const { return folder_.file(name); }
  void write(const std::string& name, const std::string& text) const { folder_.write(name, text); }
  std::size_t files() const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(folder_.path()), fs::directory_iterator()));
  }
  static std::string error_of(const std::string& path) {
    try {
      ReportFile file(path);
    } catch (const std::runtime_error& error) {
      return error.what();
    }
    return "no error";
  }

  test::TempFolder folder_;
};

TEST_F(ReportFileTest, ReplacesTheFileAtOnce) {
  write("out.json", "old");
  ReportFile file(path("out.json"));
  EXPECT_EQ("old", test::read_file(path("out.json")));
  file.commit("new");
  EXPECT_EQ("new", test::read_file(path("out.json")));
  EXPECT_EQ(1U, files());
}

TEST_F(ReportFileTest, LeavesNothingBehindWhenItIsNotCommitted) {
  write("out.json", "old");
  { const ReportFile file(path("out.json")); }
  EXPECT_EQ("old", test::read_file(path("out.json")));
  EXPECT_EQ(1U, files());
}

TEST_F(ReportFileTest, SeveralAreReplacedAllOrNotAtAll) {
  write("a.json", "old a");
  ReportFile a(path("a.json"));
  ReportFile b(path("b.json"));
  ReportFile c(path("c.json"));
  for (ReportFile* file : {&a, &b, &c}) file->write("new");
  fs::create_directories(path("c.json"));  // meanwhile
  const std::array<ReportFile*, 3> all = {&a, &b, &c};
  try {
    ReportFile::commit_all(all);
    FAIL() << "no error";
  } catch (const std::runtime_error& error) {
    EXPECT_EQ("cannot write " + path("c.json") + ": Is a directory", std::string(error.what()));
  }
  EXPECT_EQ("old a", test::read_file(path("a.json")));
  EXPECT_FALSE(fs::exists(path("b.json")));
  fs::remove(path("c.json"));
  ReportFile again(path("c.json"));
  again.write("new");
  const std::array<ReportFile*, 1> one = {&again};
  ReportFile::commit_all(one);
  EXPECT_EQ("new", test::read_file(path("c.json")));
}

TEST_F(ReportFileTest, KeepsThePermissionsOfTheFile) {
  write("out.json", "old");
  fs::permissions(path("out.json"), fs::perms::owner_read | fs::perms::owner_write);
  ReportFile(path("out.json")).commit("new");
  EXPECT_EQ(fs::perms::owner_read | fs::perms::owner_write,
            fs::status(path("out.json")).permissions());
}

TEST_F(ReportFileTest, FollowsALink) {
  write("real.json", "old");
  fs::create_symlink(path("real.json"), path("link.json"));
  ReportFile(path("link.json")).commit("new");
  EXPECT_TRUE(fs::is_symlink(path("link.json")));
  EXPECT_EQ("new", test::read_file(path("real.json")));
}

TEST_F(ReportFileTest, FindsAPathThatCannotBeWrittenBeforeTheRun) {
  EXPECT_EQ("cannot write " + path("no/out.json") + ": No such file or directory",
            error_of(path("no/out.json")));
  EXPECT_EQ("cannot write " + folder_.path().string() + ": Is a directory",
            error_of(folder_.path().string()));
  EXPECT_EQ("cannot write a report: its path is empty", error_of(""));
}

TEST_F(ReportFileTest, ReportsAFullDisk) {
  ReportFile file("/dev/full");
  try {
    file.commit("new");
    FAIL() << "no error";
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ("cannot write /dev/full: No space left on device", error.what());
  }
}

}  // namespace
}  // namespace ohm::reports
