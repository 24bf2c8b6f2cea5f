// Work that was killed, and goes on: --resume.

#include <algorithm>
#include <csignal>
#include <string>
#include <vector>

#include "tests/harness/program/program_test.h"
#include "tests/support/checkout_paths.h"
#include "tests/support/golden.h"

namespace ohm {
namespace {

using test::contains;
using test::golden_path;
using test::Program;
using test::ProgramResult;

class Resume : public test::ProgramTest {
 protected:
  ProgramResult with(std::vector<std::string> command,
                     const std::vector<std::string>& options) const {
    command.insert(command.end(), options.begin(), options.end());
    return ohm(command);
  }
  /// Lines of the file in which it is kept what is known.
  std::size_t lines_kept() const {
    const std::string text = test::read_file(file("known"));
    return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
  }
  /// Kills the command as soon as it keeps so many lines, and everything that it started.
  void kill_at(std::size_t lines, const std::vector<std::string>& command) const {
    std::vector<std::string> arguments = command;
    arguments.insert(arguments.end(), {"--resume", file("known"), "--json"});
    Program program(folder_.path().string(), arguments);
    program.wait_until([&] { return lines_kept() >= lines; });
    program.send(SIGKILL);
    program.wait();
  }
  void expect_same_bytes_after_kills(const std::vector<std::string>& command) const {
    const ProgramResult whole = with(command, {"--json"});
    for (const std::size_t lines : {1U, 60U, 120U}) kill_at(lines, command);
    const ProgramResult resumed = with(command, {"--resume", file("known"), "--json"});
    EXPECT_EQ(resumed.code, whole.code) << resumed.err;
    EXPECT_EQ(resumed.out, whole.out);
    // All that is known is kept: nothing is added once more.
    const std::string kept = test::read_file(file("known"));
    EXPECT_EQ(with(command, {"--resume", file("known"), "--json"}).out, whole.out);
    EXPECT_EQ(test::read_file(file("known")), kept);
  }
  std::string refusal(const std::vector<std::string>& arguments) const {
    const ProgramResult refused = ohm(arguments);
    EXPECT_EQ(refused.code, 2) << refused.out;
    return refused.err;
  }
};

TEST_F(Resume, OfAKilledSweepEndsWithTheSameBytes) {
  expect_same_bytes_after_kills({"sweep", golden_path("sweep/errors.lua"),
                                 golden_path("sweep/state.lua"), "--form", "both", "-j", "2"});
}

TEST_F(Resume, OfAKilledSweepByProcessesEndsWithTheSameBytes) {
  expect_same_bytes_after_kills(
      {"sweep", golden_path("sweep/errors.lua"), "--form", "both", "--engine", "exec", "-j", "2"});
}

TEST_F(Resume, OfAKilledRunEndsWithTheSameBytes) {
  const std::string catalogue = OHM_SOURCE_DIR "/scenarios/";
  expect_same_bytes_after_kills({"run", file("good.lua"), catalogue + "leaked_loss_graph.lua",
                                 catalogue + "fragmentation.lua", "--size-only"});
}

TEST_F(Resume, RefusesOtherWork) {
  const std::vector<std::string> sweep = {"sweep", file("good.lua"), "--resume", file("known")};
  EXPECT_EQ(ohm(sweep).code, 0);
  EXPECT_TRUE(contains(refusal({"run", file("good.lua"), "--resume", file("known")}),
                       R"(of other work: its cases is "control, mitigation", not "")"));
  EXPECT_TRUE(
      contains(refusal({"sweep", file("good.lua"), "--depth", "2", "--resume", file("known")}),
               R"(its depth is "1", not "2")"));
  EXPECT_TRUE(
      contains(refusal({"sweep", file("good.lua"), "--shard", "1/2", "--resume", file("known")}),
               R"(its shard is "1/1", not "1/2")"));
  folder_.write("good.lua", std::string(test::kGoodScenario) + "\n");
  EXPECT_TRUE(contains(refusal(sweep), "good.lua was edited since it was written"));
  EXPECT_TRUE(
      contains(refusal({"sweep", file("good.lua"), "--resume", file("good.lua")}), "good.lua"));
}

TEST_F(Resume, DoesDamagedWorkAgainAndSaysSo) {
  const std::vector<std::string> sweep = {"sweep", file("good.lua"), "--resume", file("known")};
  const ProgramResult first = ohm(sweep);
  std::string kept = test::read_file(file("known"));
  kept[kept.rfind("0/dropped")] = '9';
  folder_.write("known", kept);
  const ProgramResult again = ohm(sweep);
  EXPECT_EQ(again.out, first.out);
  EXPECT_TRUE(contains(again.err, "1 damaged line is skipped; the work is repeated"));
}

}  // namespace
}  // namespace ohm
