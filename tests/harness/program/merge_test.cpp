// Work that several machines share: --shard and ohm merge.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "tests/harness/program/program_test.h"
#include "tests/support/checkout_paths.h"
#include "tests/support/golden.h"
#include "tests/support/schema_check.h"

namespace ohm {
namespace {

using Json = nlohmann::json;
using test::contains;
using test::golden_path;
using test::ProgramResult;

std::string corpus(const std::string& name) { return golden_path("sweep/" + name + ".lua"); }

std::string source(const std::string& path) { return std::string(OHM_SOURCE_DIR) + "/" + path; }

class Merge : public test::ProgramTest {
 protected:
  /// Runs all of a command and each of its shards; the codes of the shards.
  std::vector<int> run_whole_and_shards(const std::vector<std::string>& command, int shards = 3) {
    const auto run = [&](const std::string& shard, const std::string& name) {
      std::vector<std::string> arguments = command;
      arguments.insert(arguments.end(), {"--shard", shard, "--report", "json=" + file(name)});
      return ohm(arguments).code;
    };
    whole_code_ = run("1/1", "whole.json");
    std::vector<int> codes;
    for (int i = 1; i <= shards; ++i) {
      const std::string shard = std::to_string(i);
      codes.push_back(run(shard + "/" + std::to_string(shards), shard + ".json"));
    }
    return codes;
  }
  ProgramResult merged(const std::vector<std::string>& names) const {
    std::vector<std::string> arguments = {"merge"};
    for (const std::string& name : names) arguments.push_back(file(name));
    return ohm(arguments);
  }
  void expect_merged_is_whole(int shards = 3) const {
    std::vector<std::string> names;
    for (int i = 1; i <= shards; ++i) names.push_back(std::to_string(i) + ".json");
    // Whatever the order of the files.
    std::rotate(names.begin(), names.begin() + shards / 2, names.end());
    const ProgramResult all = merged(names);
    EXPECT_EQ(all.code, whole_code_) << all.err;
    EXPECT_EQ(all.out, test::read_file(file("whole.json"))) << shards << " shards";
  }
  void expect_refused(const std::vector<std::string>& names, const std::string& message) const {
    folder_.write("merged.json", "as before");
    std::vector<std::string> arguments = {"merge", "-o", file("merged.json")};
    for (const std::string& name : names) arguments.push_back(file(name));
    const ProgramResult refused = ohm(arguments);
    EXPECT_EQ(refused.code, 2) << message;
    EXPECT_EQ(refused.out, "") << message;
    EXPECT_TRUE(contains(refused.err, message)) << refused.err;
    EXPECT_EQ(test::read_file(file("merged.json")), "as before");
  }
  /// Runs shard 1/2 or 2/2 of a command; its report is 1.json or 2.json.
  void run_half(int number, const std::vector<std::string>& command,
                const std::vector<std::string>& options = {}) const {
    const std::string half = std::to_string(number);
    std::vector<std::string> arguments = command;
    arguments.insert(arguments.end(),
                     {"--shard", half + "/2", "--report", "json=" + file(half + ".json")});
    arguments.insert(arguments.end(), options.begin(), options.end());
    const ProgramResult ran = ohm(arguments);
    EXPECT_NE(ran.code, 2) << ran.err;
  }
  /// The same of files of the folder.
  void run_half(int number, const std::string& command, const std::vector<std::string>& names,
                const std::vector<std::string>& options = {}) const {
    std::vector<std::string> arguments = {command};
    for (const std::string& name : names) arguments.push_back(file(name));
    run_half(number, arguments, options);
  }
  void expect_halves_merged() const {
    const ProgramResult both = merged({"1.json", "2.json"});
    EXPECT_NE(both.code, 2) << both.err;
  }

  int whole_code_ = -1;
};

TEST_F(Merge, MakesTheReportOfTheWholeSweep) {
  run_whole_and_shards({"sweep", corpus("errors"), corpus("state"), "--points", "all"});
  EXPECT_EQ(whole_code_, 1);
  expect_merged_is_whole();
}

TEST_F(Merge, MakesTheReportOfTheWholeSweepOfAnyNumberOfShards) {
  // Of fewer failures than the most shards: some have nothing to do.
  const std::string scenario = source("scenarios/fragmentation.lua");
  for (const int shards : {7, 20}) {
    run_whole_and_shards({"sweep", scenario, "--size-only", "--points", "all"}, shards);
    expect_merged_is_whole(shards);
  }
}

TEST_F(Merge, MakesTheReportOfTheWholeSweepThatWasPlanned) {
  const std::vector<std::string> sweep = {
      "sweep", corpus("errors"), source("scenarios/forgotten_zero_grad.lua"), "--points", "unique"};
  const auto with = [&](const std::string& option) {
    std::vector<std::string> command = sweep;
    command.insert(command.end(), {option, file("plan")});
    return command;
  };
  const ProgramResult planned = ohm(with("--write-plan"));
  EXPECT_EQ(planned.code, 0) << planned.err;
  const std::string plan = test::read_file(file("plan"));
  run_whole_and_shards(with("--plan"));
  expect_merged_is_whole();
  ohm({"sweep", corpus("errors"), source("scenarios/forgotten_zero_grad.lua"), "--points", "unique",
       "--report", "json=" + file("whole.json")});
  expect_merged_is_whole();
  // Once it is whole it stays as it is: shards that have begun go on with it.
  EXPECT_EQ(ohm(with("--write-plan")).code, 0);
  EXPECT_EQ(test::read_file(file("plan")), plan);
}

TEST_F(Merge, RefusesShardsThatWereCutByAnotherPlan) {
  const std::vector<std::string> sweep = {"sweep", corpus("errors")};
  ASSERT_EQ(ohm({"sweep", corpus("errors"), "--write-plan", file("plan")}).code, 0);
  run_half(1, sweep, {"--plan", file("plan")});
  run_half(2, sweep);
  expect_refused({"1.json", "2.json"}, "its plan is \"\", not \"");
}

TEST_F(Merge, HasNoPlanOfOtherWorkAndNoneThatIsNotFinished) {
  ASSERT_EQ(ohm({"sweep", corpus("errors"), "--write-plan", file("plan")}).code, 0);
  const auto refused = [&](const std::vector<std::string>& command) {
    const ProgramResult result = ohm(command);
    EXPECT_EQ(result.code, 2) << result.err;
    return result.err;
  };
  EXPECT_TRUE(contains(
      refused({"sweep", corpus("errors"), "--points", "all", "--plan", file("plan")}), "--plan: "));
  EXPECT_TRUE(contains(refused({"sweep", corpus("errors"), "--plan", file("none")}), "--plan: "));
  EXPECT_TRUE(contains(
      refused({"sweep", corpus("errors"), "--plan", file("plan"), "--write-plan", file("plan")}),
      "excludes"));
  const std::string whole = test::read_file(file("plan"));
  folder_.write("plan", whole.substr(0, whole.size() / 2));
  EXPECT_TRUE(contains(refused({"sweep", corpus("errors"), "--plan", file("plan")}),
                       "is not finished: run the same command with --write-plan to complete it"));
  EXPECT_EQ(ohm({"sweep", corpus("errors"), "--write-plan", file("plan")}).code, 0);
  EXPECT_NE(ohm({"sweep", corpus("errors"), "--plan", file("plan")}).code, 2);
}

TEST_F(Merge, HasNoPlanThatIsDamaged) {
  ASSERT_EQ(ohm({"sweep", corpus("errors"), "--write-plan", file("plan")}).code, 0);
  std::string damaged = test::read_file(file("plan"));
  // In what a variant does without faults.
  damaged[damaged.find("/unchecked_nil_bad\"") + 40] ^= 1;
  folder_.write("plan", damaged);
  for (const char* option : {"--plan", "--write-plan"}) {
    const ProgramResult refused = ohm({"sweep", corpus("errors"), option, file("plan")});
    EXPECT_EQ(refused.code, 2) << option;
    EXPECT_TRUE(contains(refused.err, "1 of its lines is damaged: remove it, and write it again"))
        << refused.err;
  }
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
  expect_refused({"1.json", "whole.json"}, "whole.json: not a shard: it covers all of the work");
  ohm({"run", file("good.lua"), "--shard", "2/2", "--report", "json=" + file("other.json")});
  expect_refused({"1.json", "other.json"}, "other.json: one of 2 shards, where ");
  ohm({"sweep", file("good.lua"), "--shard", "2/3", "--report", "json=" + file("sweep.json")});
  expect_refused({"1.json", "sweep.json"}, "its schema is \"ohm.sweep/1\", not ");
}

/// What the second shard is made with instead, and what is said of it.
struct OtherWork {
  std::vector<std::string> options;
  std::string difference;
};

std::vector<OtherWork> other_work(const std::string& command) {
  std::vector<OtherWork> all = {
      {{"--seed", "7"}, "its seed is \"7\", not \"0\""},
      {{"--gpu", "tiny-64m,capacity=128MiB"},
       "its gpu is \"tiny-64m,capacity=128MiB, 134217728 bytes, "},
      {{"--alloc-conf", "expandable_segments:True"},
       "its alloc_conf is \"expandable_segments:True\", not \"the scenarios' own\""},
      {{"--rules", "pytorch-2.10"}, "its rules is \"pytorch-2.10\", not \"\""},
      {{"--set", "batch=3"}, "its set is \"batch=3\", not \"\""},
      {{"--size-only"}, "its size_only is \"true\", not \"false\""},
      {{"--case", "kept"}, "its cases is \"kept\", not "},
      {{"--filter", "*.dropped"}, "its filter is \"*.dropped\", not \"\""}};
  const std::vector<OtherWork> of_runs = {
      {{"--fault", "nth(1)"}, "its fault is \"nth(1)\", not \"\""},
      {{"--timestamps"}, "its timestamps is \"true\", not \"false\""},
      {{"--history"}, "its history is \"true\", not \"false\""},
      {{"--fail-fast"}, "its fail_fast is \"true\", not \"false\""}};
  const std::vector<OtherWork> of_sweeps = {
      {{"--role", "problem"}, "its cases is \"problem\", not \"control, mitigation\""},
      {{"--points", "all"}, "its points is \"all\", not \"spread\""},
      {{"--form", "transient"}, "its form is \"transient\", not \"both\""},
      {{"--level", "segment"}, "its level is \"segment\", not \"request\""},
      {{"--host"}, "its host is true, not false"},
      {{"--depth", "2"}, "its depth is 2, not 1"}};
  const std::vector<OtherWork>& own = command == "run" ? of_runs : of_sweeps;
  all.insert(all.end(), own.begin(), own.end());
  return all;
}

class MergeOf : public Merge, public testing::WithParamInterface<std::string> {};

TEST_P(MergeOf, ReadsShardsThatKeepTheSchema) {
  run_half(2, GetParam(), {"good.lua", "good.lua"});
  const std::string kind = GetParam() == "run" ? "result" : "sweep";
  const Json schema =
      Json::parse(test::read_file(source("reports/json/ohm." + kind + ".schema.json")));
  const Json shard = Json::parse(test::read_file(file("2.json")));
  EXPECT_EQ(test::SchemaCheck(schema).errors(shard), "");
  EXPECT_EQ(shard["shard"]["settings"]["seed"], "0");
  EXPECT_EQ(shard["shard"]["inputs"].size(), 2);
}

TEST_F(Merge, ReadsShardsThatWereReportedAgain) {
  run_half(1, "run", {"good.lua", "good.lua"});
  const ProgramResult again = ohm({"report", file("1.json"), "--report", "json=-"});
  EXPECT_EQ(again.out, test::read_file(file("1.json")));
}

TEST_P(MergeOf, RefusesShardsOfOtherSettings) {
  const std::string declared = "ohm.params{batch = 2}\n";
  folder_.write("one.lua", declared + test::kGoodScenario);
  folder_.write("two.lua", declared + test::kGoodScenario);
  run_half(1, GetParam(), {"one.lua", "two.lua"});
  for (const OtherWork& other : other_work(GetParam())) {
    run_half(2, GetParam(), {"one.lua", "two.lua"}, other.options);
    expect_refused({"1.json", "2.json"}, file("2.json") + ": of other work than " + file("1.json") +
                                             ": " + other.difference);
  }
}

TEST_P(MergeOf, TakesShardsOfOtherMachines) {
  std::vector<std::vector<std::string>> same = {{"-j", "1"}, {"-j", "3"}, {"--color", "always"}};
  if (GetParam() == "sweep") same.push_back({"--engine", "exec"});
  run_half(1, GetParam(), {"good.lua", "good.lua"});
  for (const std::vector<std::string>& options : same) {
    run_half(2, GetParam(), {"good.lua", "good.lua"}, options);
    expect_halves_merged();
  }
}

TEST_P(MergeOf, RefusesShardsOfOtherFiles) {
  std::filesystem::create_directory(file("lib"));
  folder_.write("lib/named.lua", "return {}");
  const std::string good = std::string("local named = require \"named\"\n") + test::kGoodScenario;
  folder_.write("one.lua", good);
  folder_.write("two.lua", good);
  run_half(1, GetParam(), {"one.lua", "two.lua"});
  const auto expect_other = [&](const std::vector<std::string>& names, const std::string& why) {
    run_half(2, GetParam(), names);
    expect_refused({"1.json", "2.json"},
                   file("2.json") + ": of other work than " + file("1.json") + ": " + why);
  };
  expect_other({"two.lua", "one.lua"}, "its file 1 is \"" + file("two.lua") + "\", not ");
  expect_other({"one.lua", "good.lua"}, "its file 2 is \"" + file("good.lua") + "\", not ");
  expect_other({"one.lua", "two.lua", "good.lua"}, "its file 3 is \"" + file("good.lua"));
  folder_.write("one.lua", good + "\n-- edited\n");
  expect_other({"one.lua", "two.lua"}, "\"" + file("one.lua") + "\" was edited in between");
  folder_.write("one.lua", good);
  folder_.write("lib/named.lua", "return {edited = true}");
  expect_other({"one.lua", "two.lua"}, "\"" + file("lib/named.lua") + "\" was edited in between");
  folder_.write("lib/named.lua", "return {}");
  run_half(2, GetParam(), {"one.lua", "two.lua"});
  expect_halves_merged();
  run_half(1, GetParam(), {"good.lua", "good.lua"});
  expect_other({"good.lua", "good.lua", "good.lua"}, "its number of files is 3, not 2");
}

TEST_P(MergeOf, RefusesShardsThatDoNotSayWhatTheyAreOf) {
  for (const int old : {1, 2}) {
    for (const int number : {1, 2}) run_half(number, GetParam(), {"good.lua", "good.lua"});
    const std::string name = std::to_string(old) + ".json";
    Json json = Json::parse(test::read_file(file(name)));
    json["shard"].erase("settings");
    json["shard"].erase("inputs");
    folder_.write(name, json.dump());
    expect_refused({"1.json", "2.json"},
                   file(name) +
                       ": its shard does not say of which settings and files it is, as an "
                       "older ohm wrote it");
  }
}

TEST_P(MergeOf, RefusesNullForAListOrAnObject) {
  std::vector<std::string> places = {"/scenarios", "/scenarios/0/variants", "/shard",
                                     "/shard/settings", "/shard/inputs"};
  const std::string variant = "/scenarios/0/variants/0/";
  if (GetParam() == "run") {
    for (const char* const field : {"devices", "limits"}) places.push_back(variant + field);
    places.emplace_back("/scenarios/0/references");
  } else {
    for (const char* const field : {"verdicts", "points", "failed", "points/0/stack"}) {
      places.push_back(variant + field);
    }
  }
  for (const int number : {1, 2}) run_half(number, GetParam(), {"good.lua", "good.lua"});
  for (const char* const name : {"1.json", "2.json"}) {
    const std::string text = test::read_file(file(name));
    for (const std::string& place : places) {
      Json json = Json::parse(text);
      json.at(Json::json_pointer(place)) = nullptr;
      folder_.write(name, json.dump());
      expect_refused({"1.json", "2.json"}, file(name) + ": ");
    }
    folder_.write(name, text);
  }
  expect_halves_merged();
}

INSTANTIATE_TEST_SUITE_P(Command, MergeOf, testing::Values("run", "sweep"),
                         [](const auto& info) { return info.param; });

TEST_F(Merge, RefusesWhatIsNoReport) {
  const std::string run_shard = R"({"schema":"ohm.result/1","exit_reason":"passed","shard":)";
  const std::vector<std::pair<std::string, std::string>> wrong = {
      {"return", "not a JSON report of a run (ohm.result/1), of a sweep (ohm.sweep/1)"},
      {R"({"schema":5})", "not a JSON report of a run"},
      {R"({"schema":"ohm.fit/1","shard":{"number":1,"count":1}})", "a field is missing or wrong"},
      {R"({"schema":"ohm.sweep/1"})", "wrong.json: a field is missing or wrong"},
      {R"({"schema":"ohm.sweep/1","exit_reason":5})", "exit_reason 5 is unknown"},
      {run_shard + R"({"number":0,"count":1},"scenarios":[]})", "there is no shard 0/1"},
      {run_shard + R"({"number":-1,"count":1},"scenarios":[]})", "number is -1, not a count"},
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

TEST_F(Merge, TakesAShardOfTheEnvironmentWhereItIsAskedTo) {
  for (const char* const command : {"sweep", "run"}) {
    const auto second_of_two = [&](const std::vector<std::string>& options) {
      std::vector<std::string> arguments = {command, file("good.lua")};
      arguments.insert(arguments.end(), options.begin(), options.end());
      return test::run_program(folder_.path().string(), arguments, [] {
        for (const char* const others : {"GTEST_TOTAL_SHARDS", "GTEST_SHARD_INDEX"})
          ::unsetenv(others);
        ::setenv("CI_NODE_TOTAL", "2", 1);
        ::setenv("CI_NODE_INDEX", "2", 1);
      });
    };
    const ProgramResult second = second_of_two({"--shard", "auto"});
    EXPECT_EQ(second.code, 0) << second.err;
    EXPECT_TRUE(contains(second.out, "shard 2/2: ")) << second.out;
    const ProgramResult all = second_of_two({});
    EXPECT_FALSE(contains(all.out, "shard 2/2: ")) << all.out;
  }
}

TEST_F(Merge, RefusesAShardOfTheEnvironmentThatIsNone) {
  const ProgramResult half =
      test::run_program(folder_.path().string(), {"run", file("good.lua"), "--shard", "auto"}, [] {
        ::unsetenv("GTEST_TOTAL_SHARDS");
        ::setenv("GTEST_SHARD_INDEX", "0", 1);
      });
  EXPECT_EQ(half.code, 2);
  EXPECT_TRUE(contains(half.err, "--shard: GTEST_TOTAL_SHARDS (not set)")) << half.err;
}

}  // namespace
}  // namespace ohm
