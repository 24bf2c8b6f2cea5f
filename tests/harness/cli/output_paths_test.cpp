#include "harness/cli/output_paths.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "harness/cli/command.h"
#include "harness/cli/report_outputs.h"
#include "tests/support/temp_folder.h"

namespace ohm::cli {
namespace {

class OutputPathsTest : public testing::Test {
 protected:
  std::string file(const std::string& name) const { return folder_.file(name); }

  test::TempFolder folder_;
};

TEST_F(OutputPathsTest, RefuseAFileThatIsReadOrWrittenAlready) {
  OutputPaths paths({file("read.lua")});
  EXPECT_THROW(paths.add("--report", file("read.lua")), UsageError);
  EXPECT_THROW(paths.add("--report", file("./read.lua")), UsageError);
  paths.add("--report", file("out.json"));
  EXPECT_THROW(paths.add("--snapshot", file("out.json")), UsageError);
}

TEST_F(OutputPathsTest, KnowAFileThatIsNotThereYetByAnyOfItsNames) {
  for (const char* const other : {"./new.json", "../ohm/new.json", "there/../new.json"}) {
    std::filesystem::create_directories(file("ohm/there"));
    const auto before = std::filesystem::current_path();
    std::filesystem::current_path(file("ohm"));
    OutputPaths paths({});
    paths.add("--report", "new.json");
    EXPECT_THROW(paths.add("--snapshot", other), UsageError) << other;
    std::filesystem::current_path(before);
  }
}

TEST_F(OutputPathsTest, AreNeededOnceOnlyForFiles) {
  OutputPaths paths({"/dev/null"});
  for (const char* const path : {"-", "-", "/dev/null", "/dev/null", "", ""}) {
    EXPECT_NO_THROW(paths.add("--report", path)) << path;
  }
}

TEST_F(OutputPathsTest, ReportsOfEveryCommandKeepToThem) {
  OutputPaths paths({file("read.lua")});
  const std::vector<std::string> over_input = {"json=" + file("read.lua")};
  EXPECT_THROW(run_outputs(over_input, paths), UsageError);
  EXPECT_THROW(sweep_outputs(over_input, paths), UsageError);
  EXPECT_THROW(json_outputs(over_input, paths), UsageError);
}

TEST_F(OutputPathsTest, FormatOfAFileIsThatOfItsExtension) {
  EXPECT_EQ("html", format_of_file("-o", "out.html"));
  EXPECT_EQ("junit", format_of_file("-o", "out.xml"));
  EXPECT_THROW(format_of_file("-o", "out.png"), UsageError);
}

}  // namespace
}  // namespace ohm::cli
