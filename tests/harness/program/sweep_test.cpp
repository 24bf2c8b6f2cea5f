// ohm sweep through the real program: seeded bugs, engines, jobs, and the lines that repeat faults.
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "tests/harness/program/program_test.h"
#include "tests/support/checkout_paths.h"
#include "tests/support/golden.h"
#include "tests/support/schema_check.h"

namespace ohm {
namespace {

using test::contains;
using test::golden_path;
using test::ProgramResult;
using Json = nlohmann::json;

std::string corpus(const std::string& name) { return golden_path("sweep/" + name + ".lua"); }

using Sweep = test::ProgramTest;

/// The verdict that each seeded bug has to get; its good twin gets none but good ones.
const std::map<std::string, std::map<std::string, std::string>>& seeded_bugs() {
  static const std::map<std::string, std::map<std::string, std::string>> kBugs = {
      {"errors",
       {{"swallowed_step", "swallowed"},
        {"logged_only", "swallowed"},
        {"default_value", "swallowed"},
        {"host_fallback", "swallowed"},
        {"rank_brings_nothing", "swallowed"},
        {"string_error", "wrong_error"},
        {"assertion", "wrong_error"},
        {"error_in_handler", "wrong_error"},
        {"unchecked_nil", "wrong_error"},
        {"table_error", "wrong_error"},
        {"rank_stays_away", "wrong_error"}}},
      {"memory",
       {{"outputs_kept", "leak"},
        {"error_kept", "leak"},
        {"half_a_cache", "leak"},
        {"in_place", "leak"},
        {"gradients_kept", "leak"},
        {"inspected_kept", "leak"},
        {"suspended", "leak"},
        {"retry_in_handler", "leak"},
        {"retry_with_history", "leak"},
        {"no_room_for_retry", "wrong_error"}}},
      {"training",
       {{"gradient_accumulated", "recovered_different"},
        {"half_applied_step", "recovered_different"},
        {"other_batch", "recovered_different"},
        {"skipped_batch", "swallowed"},
        {"unscaled_halves", "recovered_different"},
        {"learning_rate_lowered", "recovered_different"},
        {"momentum_lost", "recovered_different"},
        {"other_dropout", "recovered_different"}}},
      {"state", {{"autocast_left_on", "corrupt"},     {"gradients_left_off", "corrupt"},
                 {"gradients_set_off", "corrupt"},    {"inference_left_on", "corrupt"},
                 {"memory_left_limited", "corrupt"},  {"benchmark_unread", "corrupt"},
                 {"counter_kept", "corrupt"},         {"flag_left_up", "corrupt"},
                 {"function_kept", "corrupt"},        {"nested_kept", "corrupt"},
                 {"benchmark_left_on", "corrupt"},    {"any_bits_left_on", "corrupt"},
                 {"cudnn_left_off", "corrupt"},       {"stream_left_current", "corrupt"},
                 {"fault_of_its_own", "corrupt"},     {"half_made", "corrupt"},
                 {"nothing_in_its_place", "corrupt"}, {"endless_retry", "hang"},
                 {"endless_halving", "hang"},         {"endless_wait", "hang"}}},
      {"models",
       {{"left_in_evaluation", "corrupt"},
        {"hook_left", "corrupt"},
        {"left_frozen", "corrupt"},
        {"half_step_kept", "corrupt"},
        {"stepped_once_more", "corrupt"},
        {"half_step_of_weights", "corrupt"}}}};
  return kBugs;
}

std::set<std::string> bad_verdicts(const Json& variant) {
  std::set<std::string> verdicts;
  for (const auto& [name, count] : variant["verdicts"].items()) {
    if (count != 0 && name != "clean_error" && name != "recovered_same") verdicts.insert(name);
  }
  return verdicts;
}

class SeededBugs : public test::ProgramTest, public testing::WithParamInterface<std::string> {};

TEST_P(SeededBugs, AreFoundAndTheirGoodTwinsAreNot) {
  const ProgramResult ran =
      ohm({"sweep", corpus(GetParam()), "--points", "all", "--form", "both", "--json"});
  EXPECT_EQ(ran.code, 1) << ran.err;
  const Json result = Json::parse(ran.out);
  const Json schema =
      Json::parse(test::read_file(OHM_SOURCE_DIR "/reports/json/ohm.sweep.schema.json"));
  EXPECT_EQ(test::SchemaCheck(schema).errors(result), "");
  std::map<std::string, std::set<std::string>> found;
  for (const Json& variant : result["scenarios"][0]["variants"]) {
    EXPECT_TRUE(variant["error"].is_null()) << variant;
    EXPECT_GT(variant["faults"], 0) << variant["name"];
    found[variant["name"]] = bad_verdicts(variant);
  }
  const std::map<std::string, std::string>& bugs = seeded_bugs().at(GetParam());
  EXPECT_EQ(found.size(), 2 * bugs.size());
  for (const auto& [bug, verdict] : bugs) {
    EXPECT_EQ(found[bug + "_bad"], std::set<std::string>{verdict}) << bug;
    EXPECT_EQ(found[bug + "_good"], std::set<std::string>()) << bug;
  }
}

INSTANTIATE_TEST_SUITE_P(Corpus, SeededBugs,
                         testing::Values("errors", "memory", "training", "state", "models"),
                         [](const auto& info) { return info.param; });

TEST_F(Sweep, FindsThatTheRuntimeSurvivesItsOwnFailures) {
  const ProgramResult ran =
      ohm({"sweep", corpus("survival"), "--points", "all", "--form", "both", "--host"});
  EXPECT_EQ(ran.code, 0) << ran.out;
  EXPECT_TRUE(contains(ran.out, "every verdict is good\n")) << ran.out;
}

TEST_F(Sweep, HasAtLeastThirtyPairsOfSeededBugs) {
  std::size_t pairs = 0;
  for (const auto& [file, bugs] : seeded_bugs()) pairs += bugs.size();
  EXPECT_GE(pairs, 30U);
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

TEST_F(Sweep, FindsTheLeastMemoryThatIsEnough) {
  const std::string script = folder_.write("least.lua", R"lua(
local function run(d)
  local a = ohm.empty(3, 1024, 1024, {device = d})
  a = nil
  local b = ohm.empty(5, 1024, 1024, {device = d})
end
return ohm.scenario {
  name = "least", summary = "12 MiB, then 20 MiB", limits = {"num_ooms == 0"},
  problems = {large = function(d) ohm.zeros(128, 1024, 1024, {device = d}) end},
  controls = {two = run},
}
)lua");
  const ProgramResult ran = ohm({"sweep", script, "--bytes", "--json"});
  EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
  const Json variant = Json::parse(ran.out)["scenarios"][0]["variants"][0];
  // Both segments at once, or the first one given back for the second; the card has no context.
  EXPECT_EQ(variant["without_retry"]["bytes"], 32 << 20);
  EXPECT_EQ(variant["with_retries"]["bytes"], 20 << 20);
  EXPECT_EQ(variant["with_retries"]["fails"]["requested_bytes"], 20 << 20);
  EXPECT_EQ(variant["without_retry"]["shortage"], "retry");
}

TEST_F(Sweep, NamesNoCommandForACardWithoutMemory) {
  const std::string script = folder_.write("least.lua", R"lua(
return ohm.scenario {
  name = "least", summary = "Nothing, and an error that is handled", limits = {"num_ooms == 0"},
  gpu = {profile = "tiny-64m"},
  problems = {
    nothing = function() end,
    handled = function(d) pcall(ohm.empty, 3, 1024, 1024, {device = d}) end,
  },
}
)lua");
  const ProgramResult ran = ohm({"sweep", script, "--bytes", "--role", "problem", "--json"});
  EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
  const Json variants = Json::parse(ran.out)["scenarios"][0]["variants"];
  for (const Json& variant : variants) {
    const Json& least = variant["with_retries"];
    const bool is_handled = variant["name"] == "handled";
    EXPECT_EQ(least["shortage"], is_handled ? "handled_oom" : "no_device");
    EXPECT_EQ(least["fails_rerun"].is_null(), !is_handled);
  }
}

TEST_F(Sweep, WhatTheAllocatorSurvivesIsNoOtherWay) {
  const ProgramResult ran =
      ohm({"sweep", test::golden_path("sweep/survival.lua"), "--case", "data_parallel", "--level",
           "segment", "--points", "all", "--form", "both", "--depth", "2"});
  EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
  EXPECT_TRUE(contains(ran.out, "benign")) << ran.out;
}

TEST_F(Sweep, FindsTheLeastMemoryOfWhatTakesAFractionOfIt) {
  folder_.write("half.lua", test::scenario_with_problem(R"lua(
  ohm.cuda.set_per_process_memory_fraction(0.5)
  local kept = {}
  for i = 1, 5 do kept[i] = ohm.ones(1024, 1024, {device = device}) end)lua"));
  const ProgramResult ran = ohm({"sweep", "half.lua", "--role", "problem", "--bytes", "--json"});
  ASSERT_EQ(ran.code, 0) << ran.err;
  const Json least = Json::parse(ran.out)["scenarios"][0]["variants"][0]["with_retries"];
  EXPECT_EQ(least["bytes"], 40 << 20) << "a segment of 20 MiB is half of it";
  for (const char* size : {"40MiB", "38MiB"}) {
    const bool is_enough = size == std::string("40MiB");
    const ProgramResult run =
        ohm({"run", "half.lua", "--gpu", std::string("tiny-64m,capacity=") + size, "--json"});
    const Json variant = Json::parse(run.out)["scenarios"][0]["variants"][0];
    EXPECT_EQ(variant["outcome"] == "oom", !is_enough) << size << variant;
  }
}

TEST_F(Sweep, FindsNoLeastMemoryForWhatHitsACapOrEndsTooLate) {
  folder_.write("endless.lua", test::scenario_with_problem("  while true do end"));
  EXPECT_EQ(
      ohm({"sweep", "endless.lua", "--role", "problem", "--bytes", "--instructions", "1000"}).code,
      3);
  const ProgramResult late = ohm({"sweep", "endless.lua", "--role", "problem", "--bytes",
                                  "--timeout", "0.2", "--instructions", "1000000000000"});
  EXPECT_EQ(late.code, 124);
  EXPECT_TRUE(contains(late.out, "the search took longer than 0.2 s")) << late.out;
}

TEST_F(Sweep, EndsTheSearchForTheLeastMemoryWithTheSignal) {
  folder_.write("endless.lua", test::scenario_with_problem("  while true do end"));
  test::Program program(folder_.path().string(), {"sweep", "endless.lua", "--role", "problem",
                                                  "--bytes", "--instructions", "1000000000000"});
  program.wait_for_work(0.3);
  program.send(SIGINT);
  const ProgramResult ran = program.wait();
  EXPECT_EQ(ran.code, 130) << ran.err;
  EXPECT_TRUE(contains(ran.out, "the search was interrupted")) << ran.out;
}

// ---- faults of a run ----------------------------------------------------------------------------

using Faults = test::ProgramTest;

constexpr const char* kFaultScenario = R"lua(
local fault = ohm.fault
local function values(d)
  local x = ohm.ones(1024, {device = d})
  local first = pcall(function()
    local _ <close> = fault.with(fault.nth(1) & fault.size(">=4KiB"))
    return x * 2
  end)
  local after = pcall(function() return x * 2 end)
  local inside = fault.with("nth(2)", function()
    local a = pcall(function() return x + 1 end)
    local b = pcall(function() return x + 2 end)
    return (a and 1 or 0) + (b and 2 or 0)
  end)
  return {first = first, after = after, inside = inside, text = tostring(
    fault.persistent(fault.nth(1)) & fault.site("~conv") & fault.p(0.5, {seed = 7}))}
end
return ohm.scenario {
  name = "faults", summary = "Faults that a script asks for", limits = {"num_ooms == 0"},
  problems = {oom = {run = function(d) ohm.ones(4, {device = d}) end, fault = ohm.fault.nth(1)}},
  checks = {scripted = {run = values, limits = {"num_ooms == 2"}}},
}
)lua";

TEST_F(Faults, AreScriptedAndEndWithTheirGuard) {
  const ProgramResult ran = ohm({"run", folder_.write("faults.lua", kFaultScenario), "--json"});
  EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
}

TEST_F(Faults, SweepAFunctionOfTheScript) {
  const std::string script = folder_.write("body.lua", R"lua(
local kept = {}
local function run(d)
  local function clean() return (ohm.ones(16, {device = d}) * 2):sum():item() end
  local function leaking()
    kept[1] = ohm.ones(16, {device = d})
    local sum = (kept[1] * 2):sum():item()
    kept = {}
    return sum
  end
  local good, bad = ohm.fault.sweep(clean, "persistent"), ohm.fault.sweep(leaking)
  return {calls = good.calls, clean = good.clean_error, leaks = bad.leak}
end
return ohm.scenario {
  name = "body", summary = "A function, swept", limits = {"num_ooms == 0"},
  problems = {large = function(d) ohm.zeros(128, 1024, 1024, {device = d}) end},
  checks = {swept = {run = run, limits = {"num_ooms == 6"}}},
}
)lua");
  const ProgramResult ran = ohm({"run", script});
  EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
}

TEST_F(Faults, AFunctionThatTriesForEverIsAHang) {
  const std::string script = folder_.write("stubborn.lua", R"lua(
local function run(d)
  local function stubborn()
    while true do
      if pcall(ohm.ones, 16, {device = d}) then return 1 end
    end
  end
  local threads = function() return coroutine.wrap(stubborn)() end
  local first = ohm.fault.sweep(stubborn, "persistent")
  local inside = ohm.fault.sweep(threads, "persistent")
  -- What comes after is run as ever.
  local good = ohm.fault.sweep(function() return ohm.ones(16, {device = d}):sum():item() end)
  return {hang = first.hang, inside = inside.hang, calls = good.calls, clean = good.clean_error}
end
return ohm.scenario {
  name = "stubborn", summary = "A loop that does not end", limits = {"num_ooms == 0"},
  problems = {large = function(d) ohm.zeros(128, 1024, 1024, {device = d}) end},
  checks = {swept = {run = run, limits = {"num_ooms >= 1"},
                     returns = {hang = 1, inside = 1, calls = 2, clean = 2}}},
}
)lua");
  const ProgramResult ran = ohm({"run", script, "--timeout", "20"});
  EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
}

TEST_F(Faults, LeaveSnapshotsThatReplay) {
  const std::string script = folder_.write("faults.lua", kFaultScenario);
  const std::string snapshot = file("faults.pickle");
  for (const char* const plan : {"nth(2)", "level(segment) & nth(1)", "level(segment) & from(1)"}) {
    ohm({"run", script, "--case", "scripted", "--fault", plan, "--snapshot", snapshot});
    const ProgramResult replayed = ohm({"replay", snapshot, "--verify"});
    EXPECT_EQ(replayed.code, 0) << plan << replayed.out << replayed.err;
  }
}

TEST_F(Faults, NeighboursTakeTheCardForSomeSteps) {
  const std::string script = folder_.write("steps.lua", R"lua(
local function run(d)
  local failed = 0
  for _ = 1, 4 do
    if not pcall(function() return ohm.ones(8, 1024, 1024, {device = d}) end) then
      failed = failed + 1
    end
    ohm.cuda.empty_cache()
    ohm.step()
  end
  return {failed = failed}
end
return ohm.scenario {
  name = "steps", summary = "A neighbour on the card", limits = {"num_ooms == 0"},
  problems = {crowded = {run = run, fault = "neighbour(40MiB, 2, 3)"
}
}
,
    checks = {twice = {run = run, fault = "neighbour(40MiB, 2, 3)", limits = {"num_ooms == 2"}},
              alone = {run = run, limits = {"num_ooms == 0"}}},
}
)lua");
  const ProgramResult ran = ohm({"run", script});
  EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
}

}  // namespace
}  // namespace ohm
