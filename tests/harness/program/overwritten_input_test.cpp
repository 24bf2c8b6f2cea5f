// No output takes the place of an input, by whatever name: refused before anything runs.
#include <filesystem>

#include "tests/harness/program/program_test.h"

namespace ohm {
namespace {

using test::contains;
using test::ProgramResult;

class OverwrittenInput : public test::ProgramTest {
 protected:
  OverwrittenInput() {
    std::filesystem::create_directory(file("lib"));
    folder_.write("lib/nets.lua", "return {}\n");
    folder_.write("user.lua", "local nets = require('nets')\n" + std::string(test::kGoodScenario));
    EXPECT_EQ(0, ohm({"baseline", "update", "user.lua", "--force"}).code);
    EXPECT_EQ(0, ohm({"run", "-q", "good.lua", "--report", "json=r.json"}).code);
    EXPECT_EQ(0, ohm({"run", "-q", "good.lua", "--case", "kept", "--snapshot", "s.pickle"}).code);
    std::filesystem::create_symlink("lib/nets.lua", file("symbolic"));
    std::filesystem::create_hard_link(file("lib/nets.lua"), file("hard"));
    std::filesystem::create_hard_link(file("s.pickle"), file("hard.json"));
    std::filesystem::create_symlink("r.json", file("symbolic.json"));
  }

  void expect_refused(const std::vector<std::string>& arguments, const std::string& input) const {
    const std::string before = test::read_file(file(input));
    const ProgramResult ran = ohm(arguments);
    EXPECT_EQ(2, ran.code) << ran.out << ran.err;
    EXPECT_TRUE(contains(ran.out + ran.err, "this command reads")) << ran.out << ran.err;
    EXPECT_TRUE(contains(ran.out + ran.err, input)) << ran.out << ran.err;
    EXPECT_EQ(before, test::read_file(file(input)));
  }
};

TEST_F(OverwrittenInput, ByAReportOfARunIsRefused) {
  expect_refused({"run", "user.lua", "--report", "json=user.lua"}, "user.lua");
  expect_refused({"run", "user.lua", "--report", "json=lib/nets.lua"}, "lib/nets.lua");
  expect_refused({"run", "user.lua", "--report", "json=symbolic"}, "lib/nets.lua");
  expect_refused({"run", "user.lua", "--report", "html=hard"}, "lib/nets.lua");
  expect_refused({"run", "user.lua", "--report", "json=user.baseline"}, "user.baseline");
  expect_refused({"sweep", "user.lua", "--report", "json=hard"}, "lib/nets.lua");
}

TEST_F(OverwrittenInput, ByASnapshotIsRefused) {
  expect_refused({"run", "user.lua", "--case", "kept", "--snapshot", "hard"}, "lib/nets.lua");
  std::filesystem::create_hard_link(file("user.lua"), file("kept.lua"));
  expect_refused({"run", "user.lua", "--snapshot", "{variant}.lua"}, "user.lua");
}

TEST_F(OverwrittenInput, ByWhatReadsResultsIsRefused) {
  expect_refused({"report", "r.json", "-o", "symbolic.json"}, "r.json");
  expect_refused({"merge", "r.json", "-o", "symbolic.json"}, "r.json");
  expect_refused({"replay", "s.pickle", "--report", "json=hard.json"}, "s.pickle");
}

}  // namespace
}  // namespace ohm
