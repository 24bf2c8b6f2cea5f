#include "harness/scenario/source_file.h"

#include <gtest/gtest.h>

#include "harness/scenario/scenario_program.h"
#include "tests/support/temp_folder.h"

namespace ohm::engine {
namespace {

class SourceFile : public testing::Test {
 protected:
  static std::string error_of(const std::string& path) {
    try {
      read_source_file(path);
    } catch (const ScriptError& error) {
      return error.what() + (error.hint.empty() ? "" : " | " + error.hint);
    }
    return "no error";
  }

  test::TempFolder folder_;
};

TEST_F(SourceFile, ReadsTextAndDropsAByteOrderMark) {
  EXPECT_EQ("return 1 -- ×\n", read_source_file(folder_.write("a.lua", "return 1 -- ×\n")));
  EXPECT_EQ("return 1", read_source_file(folder_.write("b.lua", "\xEF\xBB\xBFreturn 1")));
}

TEST_F(SourceFile, MissingFileSuggestsOneBesideIt) {
  folder_.write("leaked_loss_graph.lua", "x");
  EXPECT_EQ(folder_.file("leaked_los_graph.lua") + ": no such file | did you mean " +
                folder_.file("leaked_loss_graph.lua") + "?",
            error_of(folder_.file("leaked_los_graph.lua")));
  EXPECT_EQ(folder_.file("no/x.lua") + ": no such file | there is no folder " + folder_.file("no"),
            error_of(folder_.file("no/x.lua")));
}

TEST_F(SourceFile, RefusesWhatIsNoText) {
  const std::string folder = folder_.path().string();
  EXPECT_EQ(folder + ": is a directory | name the files in it: " + folder + "/*.lua",
            error_of(folder));
  EXPECT_EQ(
      folder_.file("empty.lua") + ": is empty | a scenario ends with return ohm.scenario {...}",
      error_of(folder_.write("empty.lua", "")));
  EXPECT_EQ(folder_.file("binary.lua") + ": is a binary file | a scenario is Lua source text",
            error_of(folder_.write("binary.lua", std::string("return\0", 7))));
  EXPECT_EQ(folder_.file("compiled.lua") + ": is a binary file | a scenario is Lua source text",
            error_of(folder_.write("compiled.lua", "\x1bLua")));
  EXPECT_EQ(folder_.file("latin1.lua") + ":2: is not UTF-8 text | save it as UTF-8",
            error_of(folder_.write("latin1.lua", "-- one\n-- \xE9t\xE9\n")));
  EXPECT_EQ("/dev/null: is not a regular file", error_of("/dev/null"));
}

TEST_F(SourceFile, RefusesWhatIsTooLarge) {
  const std::string path = folder_.write("large.lua", std::string(kMaxSourceBytes + 1, ' '));
  EXPECT_EQ(path + ": is too large for a scenario (4194305 bytes)", error_of(path));
}

}  // namespace
}  // namespace ohm::engine
