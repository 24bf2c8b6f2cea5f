// ohm sweep through the real program: points and forms, engines and jobs, waivers, and the lines
// that repeat faults.
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/harness/program/program_test.h"
#include "tests/harness/program/sweep_corpus.h"

namespace ohm {
namespace {

using test::bad_verdicts;
using test::contains;
using test::corpus;
using test::ProgramResult;
using Json = nlohmann::json;

using Sweep = test::ProgramTest;

TEST_F(Sweep, FindsThatTheRuntimeSurvivesItsOwnFailures) {
  const ProgramResult ran =
      ohm({"sweep", corpus("survival"), "--points", "all", "--form", "both", "--host"});
  EXPECT_EQ(ran.code, 0) << ran.out;
  EXPECT_TRUE(contains(ran.out, "every verdict is good\n")) << ran.out;
}

TEST_F(Sweep, LetsNoStateVouchForAnotherOne) {
  // Half of the failures leave a flag up: each is found, with any share of them looked at.
  for (const std::string variant : {"flag_left_up_bad", "function_kept_bad", "nested_kept_bad",
                                    "benchmark_left_on_bad", "cudnn_left_off_bad"}) {
    const auto bad_verdicts_with = [&](const std::vector<std::string>& options) {
      std::vector<std::string> sweep = {"sweep",    corpus("state"), "--case", variant,
                                        "--points", "all",           "--json"};
      sweep.insert(sweep.end(), options.begin(), options.end());
      return Json::parse(ohm(sweep).out)["scenarios"][0]["variants"][0]["verdicts"]["corrupt"];
    };
    EXPECT_EQ(bad_verdicts_with({"-j", "1"}), 3) << variant;
    EXPECT_EQ(bad_verdicts_with({"-j", "2"}), 3) << variant;
    EXPECT_EQ(bad_verdicts_with({"--engine", "exec"}), 3) << variant;
    EXPECT_EQ(bad_verdicts_with({"--shard", "1/2"}), 2) << variant;
    EXPECT_EQ(bad_verdicts_with({"--shard", "2/2"}), 1) << variant;
  }
}

TEST_F(Sweep, TriesTheFirstAMiddleAndTheLastPassInBothFormsByDefault) {
  const std::string script = folder_.write("loop.lua", test::scenario_with_problem(R"lua(
  for _ = 1, 9 do ohm.empty(16, {device = device}) end
)lua"));
  const auto with = [&](std::vector<std::string> options) {
    options.insert(options.begin(), {"sweep", script, "--role", "problem"});
    return ohm(options).out;
  };
  const std::string usual = with({});
  EXPECT_TRUE(contains(usual, "6 faults of 9 calls at 1 point: 6 clean_error")) << usual;
  EXPECT_TRUE(contains(usual, "(spread points, transient and persistent)\n")) << usual;
  EXPECT_TRUE(contains(usual,
                       "not tried: 12 of 18 failures (other passes of the same points); "
                       "--points all --form both tries them\n"))
      << usual;
  const std::string unique = with({"--points", "unique"});
  EXPECT_TRUE(contains(unique, "1 fault of 9 calls at 1 point: 1 clean_error")) << unique;
  EXPECT_TRUE(contains(unique,
                       "not tried: 17 of 18 failures (other passes of the same points, "
                       "persistent failures)"))
      << unique;
  EXPECT_FALSE(contains(with({"--points", "all", "--form", "both"}), "not tried"));
  const Json json = Json::parse(with({"--json"}))["scenarios"][0]["variants"][0];
  EXPECT_EQ(json["not_tried"], 12);
  EXPECT_EQ(json["beyond_budget"], 0);
}

TEST_F(Sweep, GivesTheLineThatRepeatsAFault) {
  const ProgramResult ran = ohm({"sweep", corpus("errors"), "--case", "unchecked_nil_bad"});
  EXPECT_EQ(ran.code, 1);
  const std::size_t begin = ran.out.find("--fault ohm:");
  ASSERT_NE(begin, std::string::npos) << ran.out;
  const std::size_t word = begin + std::string("--fault ").size();
  const std::string plan = ran.out.substr(word, ran.out.find('\n', begin) - word);
  const ProgramResult again =
      ohm({"run", corpus("errors"), "--case", "unchecked_nil_bad", "--fault", plan});
  EXPECT_TRUE(contains(again.out, "attempt to index a nil value")) << again.out;
}

TEST_F(Sweep, FailsASecondRequestWhileTheFirstFailureIsHandled) {
  const ProgramResult ran = ohm({"sweep", corpus("state"), "--case", "endless_retry_good",
                                 "--depth", "2", "--points", "unique", "--json"});
  EXPECT_EQ(ran.code, 0) << ran.out;
  const Json variant = Json::parse(ran.out)["scenarios"][0]["variants"][0];
  // Three points; behind the first failure (no handler) nothing follows, behind the second and the
  // third the retry passes both of its points.
  EXPECT_EQ(variant["verdicts"]["clean_error"], 1);
  EXPECT_EQ(variant["verdicts"]["recovered_same"], 2 + 4);
}

TEST_F(Sweep, CountsWhatTheAllocatorSurvivesAsBenign) {
  const ProgramResult ran = ohm({"sweep", corpus("errors"), "--case", "assertion_good", "--level",
                                 "segment", "--points", "unique", "--json"});
  EXPECT_EQ(ran.code, 0) << ran.out;
  const Json variant = Json::parse(ran.out)["scenarios"][0]["variants"][0];
  EXPECT_EQ(variant["faults"], 1);
  EXPECT_EQ(variant["benign"], 1);
  EXPECT_EQ(variant["verdicts"]["recovered_same"], 1);
}

TEST_F(Sweep, JudgesByEventsWhereThereAreNoValues) {
  const ProgramResult ran = ohm({"sweep", corpus("training"), "--case", "gradient_accumulated_good",
                                 "--case", "skipped_batch_bad", "--size-only", "--json"});
  const Json variants = Json::parse(ran.out)["scenarios"][0]["variants"];
  for (const Json& variant : variants) EXPECT_EQ(variant["values"], false);
  EXPECT_EQ(bad_verdicts(variants[0]), std::set<std::string>()) << variants[0];
}

TEST_F(Sweep, ACallThatTheVariantsOwnFaultFailsIsNoOtherRun) {
  const std::string script = folder_.write("planned.lua", R"lua(
local function run(d)
  local x = ohm.ones(16, {device = d})
  local function try() return x * 2 + 1 end
  local ok, y = pcall(try)
  if not ok then y = try() end
  return {y = y:cpu()}
end
return ohm.scenario {
  name = "planned", summary = "A retry that was written for one failure", limits = {"num_ooms == 1"},
  problems = {large = function(d) ohm.zeros(128, 1024, 1024, {device = d}) end},
  controls = {retry = {run = run, fault = "nth(3)"}},
}
)lua");
  for (const char* const option : {"--seed=0", "--size-only"}) {
    const ProgramResult ran = ohm({"sweep", script, "--points=all", "--form=both", option});
    EXPECT_EQ(ran.code, 0) << option << ran.out << ran.err;
    EXPECT_TRUE(contains(ran.out, " recovered_same")) << ran.out;
  }
}

TEST_F(Sweep, ListsPointsUnderNoHandlerAsStacks) {
  const ProgramResult ran =
      ohm({"sweep", corpus("errors"), "--case", "assertion_good", "--report", "stacks=-"});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_TRUE(contains(ran.out, "errors;assertion_good;")) << ran.out;
  EXPECT_TRUE(contains(ran.out, "errors.lua:5;mul 1\n")) << ran.out;
}

TEST_F(Sweep, WaivesAVerdictForAReason) {
  const std::string script = folder_.write("waived.lua", R"lua(
local function run(d)
  local ok = pcall(function() return ohm.ones(16, {device = d}) * 2 end)
  return {ok = ok}
end
return ohm.scenario {
  name = "waived", summary = "A failure that does not matter", limits = {"num_ooms == 0"},
  problems = {large = function(d) ohm.zeros(128, 1024, 1024, {device = d}) end},
  controls = {
    quiet = {run = run, waive = {{verdict = "swallowed", reason = "it says so itself"}}},
  },
}
)lua");
  const ProgramResult ran = ohm({"sweep", script});
  EXPECT_EQ(ran.code, 0) << ran.out;
  EXPECT_TRUE(contains(ran.out, "4 waived by 1 waiver\n")) << ran.out;
}

TEST_F(Sweep, RefusesWaiversThatWouldWaiveNothing) {
  const std::vector<std::pair<std::string, std::string>> kWaivers = {
      {"{verdict = 'leak', reason = 'x'}", "waive must be a list of tables"},
      {"{{reason = 'x'}}", "field 'verdict' must be one of recovered_different"},
      {"{{verdict = 'leek', reason = 'x'}}", "got \"leek\" (did you mean \"leak\"?)"},
      {"{{verdict = 'leak', reason = ' '}}", "has no reason"},
      {"{{verdict = 'leak'}}", "has no reason"},
      {"{{point = '3f9c', verdict = 'leak', reason = 'x'}}", "got \"3f9c\""}};
  for (const auto& [waiver, message] : kWaivers) {
    folder_.write("waived.lua",
                  "return ohm.scenario {name = 'waived', limits = {'num_ooms == 0'},\n"
                  "  controls = {it = {run = function() end, waive = " +
                      waiver + "}}}\n");
    const ProgramResult ran = ohm({"sweep", "waived.lua"});
    EXPECT_EQ(ran.code, 3) << waiver;
    EXPECT_TRUE(contains(test::on_one_line(ran.out), message)) << ran.out << ran.err;
  }
}

TEST_F(Sweep, RefusesWhatMakesNoSense) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> kCases = {
      {{"--points", "some"}, "--points: \"some\" is not spread, unique, all or sample=N"},
      {{"--points", "sample=0"}, "--points: \"sample=0\" is not spread, unique, all or sample=N"},
      {{"--form", "long"}, "--form must be one of transient, persistent, both, not \"long\""},
      {{"--engine", "spoon"}, "--engine must be one of fork, exec, not \"spoon\""},
      {{"--level", "block"}, "--level must be one of request, segment, map"},
      {{"--depth", "3"}, "--depth must be 1 or 2"},
      {{"--role", "controll"}, "not \"controll\" (did you mean \"control\"?)"},
      {{"--report", "xml=a"}, "unknown report format \"xml\""}};
  for (const auto& [options, message] : kCases) {
    std::vector<std::string> arguments = {"sweep", corpus("errors")};
    arguments.insert(arguments.end(), options.begin(), options.end());
    const ProgramResult ran = ohm(arguments);
    EXPECT_EQ(ran.code, 2) << message;
    EXPECT_TRUE(contains(ran.err, message)) << ran.err;
  }
}

TEST_F(Sweep, EndsVariantsThatDoNotEndWithoutAFault) {
  folder_.write("endless.lua", test::scenario_with_problem("  while true do end"));
  const ProgramResult late = ohm({"sweep", "endless.lua", "--role", "problem", "--timeout", "0.2",
                                  "--instructions", "1000000000000"});
  EXPECT_EQ(late.code, 124) << late.out;
  EXPECT_TRUE(contains(late.out, "without faults took longer than 0.2 s")) << late.out;
  EXPECT_FALSE(contains(late.out, "every verdict is good")) << late.out;
}

TEST_F(Sweep, CutsTheTextOfAnError) {
  const std::string script = folder_.write("long.lua", test::scenario_with_problem(R"lua(
  local ok = pcall(ohm.ones, 64, 64, {device = device})
  if not ok then error(("x"):rep(5 * 1024 * 1024), 0) end
)lua"));
  const ProgramResult ran = ohm({"sweep", script, "--role", "problem", "--json"});
  EXPECT_EQ(ran.code, 1) << ran.err;
  EXPECT_LT(ran.out.size(), 10000U);
  const Json variant = Json::parse(ran.out)["scenarios"][0]["variants"][0];
  EXPECT_EQ(variant["verdicts"]["wrong_error"], 2) << variant;
}

TEST_F(Sweep, WhatTheAllocatorSurvivesIsNoOtherWay) {
  const ProgramResult ran = ohm({"sweep", corpus("survival"), "--case", "data_parallel", "--level",
                                 "segment", "--points", "all", "--form", "both", "--depth", "2"});
  EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
  EXPECT_TRUE(contains(ran.out, "benign")) << ran.out;
}

}  // namespace
}  // namespace ohm
