// ohm sweep through the real program: every level at which something can fail, and what a handler
// covers.
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "tests/harness/program/program_test.h"
#include "tests/support/checkout_paths.h"

namespace ohm {
namespace {

using test::contains;
using test::ProgramResult;
using Json = nlohmann::json;

std::string scenario(const std::string& name) {
  return OHM_SOURCE_DIR "/scenarios/" + name + ".lua";
}

using SweepReach = test::ProgramTest;

// ---- levels -------------------------------------------------------------------------------------

constexpr const char* kLevels = R"lua(
local function doubled(d) return {sum = (ohm.ones(1024, {device = d}) * 2):sum()} end
local function pinned(d)
  local host = ohm.ones(1024):pin_memory()
  return {sum = (host:to(d) * 2):sum()}
end
local function product(d)
  local a = ohm.ones(64, 64, {device = d})
  return {sum = ohm.matmul(a, a):sum()}
end
local function ranks()
  ohm.distributed.spawn(2, function(rank)
    local d = "cuda:" .. rank
    local net = ohm.nn.parallel.DistributedDataParallel(ohm.nn.Linear(4, 4):to(d))
    net(ohm.ones(2, 4, {device = d})):sum():backward()
  end)
end
return ohm.scenario {
  name = "levels", summary = "A call at each level", limits = {"num_ooms == 0"},
  gpu = {profile = "a100-40g", capacity = "1 GiB", values = true, count = 2},
  problems = {large = function(d) ohm.zeros(1024, 1024, 1024, {device = d}) end},
  controls = {
    request = doubled, segment = doubled, pinned = pinned, workspace = product,
    collective = ranks,
    map = {gpu = {alloc_conf = "expandable_segments:True"}, run = doubled},
  },
}
)lua";

class EachLevel : public SweepReach, public testing::WithParamInterface<std::string> {};

TEST_P(EachLevel, FailsAndIsSurvived) {
  const ProgramResult ran = ohm({"sweep", folder_.write("levels.lua", kLevels), "--case",
                                 GetParam(), "--level", GetParam(), "--form", "both", "--json"});
  EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
  const Json variant = Json::parse(ran.out)["scenarios"][0]["variants"][0];
  EXPECT_GT(variant["faults"], 0);
  EXPECT_GT(variant["verdicts"]["clean_error"], 0);
  for (const Json& point : variant["points"]) EXPECT_EQ(point["level"], GetParam());
}

TEST_P(EachLevel, FailsInARun) {
  const ProgramResult ran = ohm({"run", folder_.write("levels.lua", kLevels), "--case", GetParam(),
                                 "--fault", "level(" + GetParam() + ") & from(1)", "--json"});
  const Json variant = Json::parse(ran.out)["scenarios"][0]["variants"][0];
  ASSERT_TRUE(variant.contains("oom")) << ran.out;
  const Json& oom = variant["oom"];
  EXPECT_EQ(oom["injected"], true);
  EXPECT_EQ(oom["device"] == "cpu", GetParam() == "pinned") << oom["device"];
}

INSTANTIATE_TEST_SUITE_P(Levels, EachLevel,
                         testing::Values("request", "segment", "map", "pinned", "workspace",
                                         "collective"),
                         [](const auto& instance) { return instance.param; });

constexpr const char* kTwoGathers = R"lua(
local function indexed(d)
  local x = ohm.ones(4, 4, {device = d})
  local index = ohm.zeros(4, 4, {device = d, dtype = "int64"})
  return {sum = (x:gather(1, index) + x:scatter(1, index, 2.0)):sum()}
end
local function data_parallel()
  local net = ohm.nn.DataParallel(ohm.nn.Linear(4, 4):to("cuda:0"), {device_ids = {0, 1}})
  local loss = net(ohm.ones(4, 4, {device = "cuda:0"})):sum()
  loss:backward()
  return {sum = loss}
end
return ohm.scenario {
  name = "two_gathers", summary = "Ops and collectives of the same names",
  limits = {"num_ooms == 0"},
  gpu = {profile = "a100-40g", capacity = "1 GiB", values = true, count = 2},
  problems = {large = function(d) ohm.zeros(1024, 1024, 1024, {device = d}) end},
  controls = {indexed = indexed, data_parallel = data_parallel},
}
)lua";

TEST_F(SweepReach, ACollectiveIsWhatMovesTensorsNotWhatHasItsName) {
  const std::string file = folder_.write("two_gathers.lua", kTwoGathers);
  const auto fails = [&](const std::string& name, const std::string& op) {
    const ProgramResult ran = ohm({"run", file, "--case", name, "--fault",
                                   "level(collective) & from(1) & site(" + op + ")", "--json"});
    return Json::parse(ran.out)["scenarios"][0]["variants"][0].contains("oom");
  };
  for (const char* op : {"gather", "scatter"}) EXPECT_FALSE(fails("indexed", op)) << op;
  for (const char* op : {"broadcast", "gather", "reduce_add", "scatter"}) {
    EXPECT_TRUE(fails("data_parallel", op)) << op;
  }
}

// ---- coverage -----------------------------------------------------------------------------------

Json variant_named(const Json& result, const std::string& name) {
  for (const Json& variant : result["scenarios"][0]["variants"]) {
    if (variant["name"] == name) return variant;
  }
  return nullptr;
}

std::int64_t recovered_points(const Json& variant) {
  std::int64_t recovered = 0;
  for (const Json& point : variant["points"]) recovered += point["unhandled"] == 0 ? 1 : 0;
  return recovered;
}

TEST_F(SweepReach, ShowsWhatAHandlerCoversAndCosts) {
  // Of the later passes some meet the failure that the variants bring along.
  const std::vector<std::string> sweep = {
      "sweep",  scenario("oom_recovery"), "--case",   "injected",
      "--case", "injected_halve",         "--points", "unique"};
  const auto with = [&](const std::vector<std::string>& options) {
    std::vector<std::string> words = sweep;
    words.insert(words.end(), options.begin(), options.end());
    return ohm(words);
  };
  const ProgramResult table = with({"--report", "json=" + file("sweep.json")});
  EXPECT_EQ(table.code, 0) << table.out;
  const Json result = Json::parse(test::read_file(file("sweep.json")));
  const Json before = variant_named(result, "injected");
  const Json after = variant_named(result, "injected_halve");
  EXPECT_EQ(recovered_points(before), 0);
  EXPECT_GT(recovered_points(after), 0);
  EXPECT_EQ(after["of"], "injected");
  EXPECT_GE(after["peak_after_faults_bytes"], after["peak_bytes"]);
  EXPECT_GT(after["repeated_calls"], 0);
  const std::string line = "  injected -> injected_halve\n      points under a handler: 0 of " +
                           std::to_string(before["points"].size()) + " -> " +
                           std::to_string(recovered_points(after)) + " of " +
                           std::to_string(after["points"].size()) + "; peak: ";
  EXPECT_TRUE(contains(table.out, line)) << line << table.out;
}

std::set<std::string> uncovered(const std::string& stacks, const std::string& variant) {
  std::set<std::string> lines;
  std::istringstream text(stacks);
  for (std::string line; std::getline(text, line);) {
    const std::string head = "oom_recovery;" + variant + ";";
    if (line.starts_with(head)) lines.insert(line.substr(head.size()));
  }
  return lines;
}

TEST_F(SweepReach, ListsThePointsUnderNoHandlerBeforeAndAfterTheMitigation) {
  const std::string stacks = ohm({"sweep", scenario("oom_recovery"), "--case", "injected", "--case",
                                  "injected_skip", "--points", "unique", "--report", "stacks=-"})
                                 .out;
  const std::set<std::string> before = uncovered(stacks, "injected");
  const std::set<std::string> after = uncovered(stacks, "injected_skip");
  // The step is under the handler; the net and the batches are made outside of it.
  EXPECT_FALSE(after.empty());
  EXPECT_LT(after.size(), before.size());
  for (const std::string& line : after) EXPECT_TRUE(contains(line, "nets.lua:")) << line;
}

}  // namespace
}  // namespace ohm
