// Work that several machines share: --shard and ohm merge.
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "tests/harness/program/program_test.h"
#include "tests/support/golden.h"

namespace ohm {
namespace {

using test::contains;
using test::golden_path;
using test::ProgramResult;

std::string corpus(const std::string& name) { return golden_path("sweep/" + name + ".lua"); }

std::string source(const std::string& path) { return std::string(OHM_SOURCE_DIR) + "/" + path; }

class Merge : public test::ProgramTest {
 protected:
  /// Runs all of a command and each of three shards of it; the codes of the shards.
  std::vector<int> run_whole_and_shards(const std::vector<std::string>& command) {
    const auto run = [&](const std::string& shard, const std::string& name) {
      std::vector<std::string> arguments = command;
      arguments.insert(arguments.end(), {"--shard", shard, "--report", "json=" + file(name)});
      return ohm(arguments).code;
    };
    whole_code_ = run("1/1", "whole.json");
    std::vector<int> codes;
    for (int i = 1; i <= 3; ++i) {
      codes.push_back(run(std::to_string(i) + "/3", std::to_string(i) + ".json"));
    }
    return codes;
  }
  ProgramResult merged(const std::vector<std::string>& names) const {
    std::vector<std::string> arguments = {"merge"};
    for (const std::string& name : names) arguments.push_back(file(name));
    return ohm(arguments);
  }
  void expect_merged_is_whole() const {
    const ProgramResult all = merged({"2.json", "1.json", "3.json"});
    EXPECT_EQ(all.code, whole_code_) << all.err;
    EXPECT_EQ(all.out, test::read_file(file("whole.json")));
  }
  void expect_refused(const std::vector<std::string>& names, const std::string& message) const {
    const ProgramResult refused = merged(names);
    EXPECT_EQ(refused.code, 2) << message;
    EXPECT_EQ(refused.out, "") << message;
    EXPECT_TRUE(contains(refused.err, message)) << refused.err;
  }

  int whole_code_ = -1;
};

TEST_F(Merge, MakesTheReportOfTheWholeSweep) {
  run_whole_and_shards({"sweep", corpus("errors"), corpus("state"), "--points", "all"});
  EXPECT_EQ(whole_code_, 1);
  expect_merged_is_whole();
}

TEST_F(Merge, MakesTheReportOfTheWholeRun) {
  // Five files in three shards; one does not pass, one of them has nothing that is selected.
  folder_.write("bad.lua", test::scenario_with_problem("local x = nil; x.y = 1"));
  const std::vector<int> codes = run_whole_and_shards(
      {"run", file("good.lua"), source("scenarios/leaked_loss_graph.lua"), file("bad.lua"),
       source("scenarios/missing_no_grad.lua"), source("scenarios/leaked_loss_graph.lua"),
       "--size-only", "--case", "kept", "--case", "it"});
  EXPECT_EQ(codes, (std::vector<int>{0, 0, 3}));
  EXPECT_EQ(whole_code_, 3);
  expect_merged_is_whole();
}

TEST_F(Merge, FindsNothingWhereNoShardHasAnything) {
  const std::vector<int> codes = run_whole_and_shards({"run", file("good.lua"), "--case", "it"});
  EXPECT_EQ(codes, (std::vector<int>{0, 0, 0}));
  EXPECT_EQ(whole_code_, 5);
  expect_merged_is_whole();
}

TEST_F(Merge, SaysWhichPartAShardIs) {
  const ProgramResult ran = ohm({"run", file("good.lua"), file("good.lua"), "--shard", "2/2"});
  EXPECT_TRUE(contains(ran.out, "shard 2/2: 1 scenario, ")) << ran.out;
  const ProgramResult swept = ohm({"sweep", file("good.lua"), "--shard", "1/2"});
  EXPECT_TRUE(contains(swept.out, "shard 1/2: ")) << swept.out;
}

TEST_F(Merge, RefusesLessThanAllOrMore) {
  run_whole_and_shards({"run", file("good.lua"), file("good.lua"), file("good.lua")});
  expect_refused({"1.json", "2.json"}, "shard 3/3 is missing");
  expect_refused({"1.json", "3.json"}, "shard 2/3 is missing");
  expect_refused({"3.json", "2.json"}, "shard 1/3 is missing");
  expect_refused({"2.json"}, "shard 1/3 is missing");
  expect_refused({"1.json", "2.json", "3.json", "2.json"}, "2.json: shard 2/3 is there twice");
  expect_refused({"1.json", "whole.json"}, "whole.json: no shard: it is of all the work");
  ohm({"run", file("good.lua"), "--shard", "2/2", "--report", "json=" + file("other.json")});
  expect_refused({"1.json", "other.json"}, "other.json: one of 2 shards, where ");
  ohm({"sweep", file("good.lua"), "--shard", "2/3", "--report", "json=" + file("sweep.json")});
  expect_refused({"1.json", "sweep.json"}, "its schema is \"ohm.sweep/1\", not ");
}

TEST_F(Merge, RefusesPartsOfOtherSweeps) {
  const auto sweep = [&](const std::string& shard, const std::string& form, const char* name) {
    ohm({"sweep", corpus("errors"), "--shard", shard, "--form", form, "--report",
         "json=" + file(name)});
  };
  sweep("1/2", "transient", "a.json");
  sweep("2/2", "both", "b.json");
  expect_refused({"a.json", "b.json"}, "b.json: of other work: its form is \"both\", not ");
}

TEST_F(Merge, RefusesWhatIsNoReport) {
  const std::string run_shard = R"({"schema":"ohm.result/1","exit_reason":"passed","shard":)";
  const std::vector<std::pair<std::string, std::string>> wrong = {
      {"return", "no JSON report of a run (ohm.result/1) or of a sweep (ohm.sweep/1)"},
      {R"({"schema":5})", "no JSON report of a run"},
      {R"({"schema":"ohm.sweep/1"})", "a field is missing or wrong"},
      {R"({"schema":"ohm.sweep/1","exit_reason":5})", "exit_reason 5 is unknown"},
      {run_shard + R"({"number":0,"count":1},"scenarios":[]})", "there is no shard 0/1"},
      {run_shard + R"({"number":-1,"count":1},"scenarios":[]})", "number is -1, no count"},
      {run_shard + R"({"number":1,"count":1},"scenarios":[{}]})",
       "its shard does not say which files its scenarios are"},
      {run_shard + R"({"number":1,"count":1,"files":[2,1]},"scenarios":[{},{}]})",
       "its shard has files of another one"}};
  for (const auto& [text, message] : wrong) {
    folder_.write("wrong.json", text);
    expect_refused({"wrong.json"}, message);
  }
  expect_refused({"absent.json"}, "absent.json: No such file or directory");
}

TEST_F(Merge, RefusesHalfAShardOfTheEnvironment) {
  for (const char* const command : {"sweep", "run"}) {
    const auto with = [&](const char* total, const char* index) {
      return test::run_program(folder_.path().string(), {command, file("good.lua")}, [=] {
        ::unsetenv("GTEST_TOTAL_SHARDS");
        if (total != nullptr) ::setenv("GTEST_TOTAL_SHARDS", total, 1);
        ::setenv("GTEST_SHARD_INDEX", index, 1);
      });
    };
    EXPECT_EQ(with("2", "first").code, 2);
    EXPECT_EQ(with("2", "2").code, 2);
    const ProgramResult half = with(nullptr, "0");
    EXPECT_EQ(half.code, 2);
    EXPECT_TRUE(contains(half.err, "GTEST_TOTAL_SHARDS (not set)")) << half.err;
    const ProgramResult second = with("2", "1");
    EXPECT_EQ(second.code, 0) << second.err;
    EXPECT_TRUE(contains(second.out, "shard 2/2: ")) << second.out;
  }
}

}  // namespace
}  // namespace ohm
