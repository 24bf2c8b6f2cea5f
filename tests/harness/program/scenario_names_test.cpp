// The names of scenarios stand for their files, in every command and from any folder.
#include <filesystem>

#include "tests/harness/program/program_test.h"
#include "tests/support/checkout_paths.h"

namespace ohm {
namespace {

using test::contains;
using test::ProgramResult;

// The folder of the tests has none of the scenarios.
class ScenarioNames : public test::ProgramTest {};

const std::string kShipped = OHM_SOURCE_DIR "/scenarios/unreleased_variables.lua";

TEST_F(ScenarioNames, WorkInEveryCommandThatTakesFiles) {
  const std::vector<std::vector<std::string>> commands = {
      {"run", "unreleased_variables", "--case", "problem"},
      {"list", "unreleased_variables"},
      {"explain", "unreleased_variables"},
      {"baseline", "check", "unreleased_variables"},
      {"baseline", "show", "unreleased_variables"},
      {"smi", "unreleased_variables"},
      {"sweep", "unreleased_variables", "--points", "sample=3"},
      {"fit", "batch_size", "--vary", "batch=4..64", "--case", "problem"}};
  for (const std::vector<std::string>& command : commands) {
    const ProgramResult ran = ohm(command);
    EXPECT_EQ(0, ran.code) << command.front() << ran.err << ran.out;
  }
  EXPECT_TRUE(contains(ohm({"list", "unreleased_variables"}).out, kShipped));
}

TEST_F(ScenarioNames, AFileOfThatNameWinsAndAFolderDoesNot) {
  folder_.write("monitoring", test::kGoodScenario);
  EXPECT_TRUE(contains(ohm({"run", "monitoring"}).out, "\nmonitoring · 1 × tiny-64m"));
  std::filesystem::create_directory(folder_.path() / "fragmentation");
  EXPECT_TRUE(contains(ohm({"list", "fragmentation"}).out, "/scenarios/fragmentation.lua"));
}

TEST_F(ScenarioNames, AreThoseOfTheScenariosFolderFirst) {
  std::filesystem::create_directory(folder_.path() / "scenarios");
  folder_.write("scenarios/monitoring.lua", test::kGoodScenario);
  EXPECT_TRUE(contains(ohm({"list", "monitoring"}).out, "  scenarios/monitoring.lua · "));
  EXPECT_TRUE(contains(ohm({"list", "fragmentation"}).out, "/scenarios/fragmentation.lua"));
}

TEST_F(ScenarioNames, AreSuggestedForOthers) {
  for (const auto& [typed, meant] : std::vector<std::pair<std::string, std::string>>{
           {"leaked_los_graph", "leaked_loss_graph"},
           {"leaked-loss-graph", "leaked_loss_graph"},
           {"Fragmentation", "fragmentation"},
           {"checkpointing", "gradient_checkpointing"},
           {"scenarios/monitoring.lua", "monitoring, the scenario that comes with ohm"}}) {
    const ProgramResult ran = ohm({"run", typed});
    EXPECT_EQ(3, ran.code) << typed;
    EXPECT_TRUE(contains(ran.out, "did you mean " + meant + "?")) << ran.out << ran.err;
  }
  EXPECT_TRUE(contains(ohm({"explain", "checkpointing"}).err,
                       "(did you mean \"gradient_checkpointing\"?)"));
  EXPECT_TRUE(contains(ohm({"fragmentation"}).err, "(did you mean ohm run fragmentation?)"));
  EXPECT_TRUE(contains(ohm({"run", "zzzz"}).out, "ohm list prints the scenarios"));
}

}  // namespace
}  // namespace ohm
