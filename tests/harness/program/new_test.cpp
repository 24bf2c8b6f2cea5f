// ohm new through the real program: from nothing to a scenario of one's own.
#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/harness/program/program_test.h"

namespace ohm {
namespace {

using test::contains;
using test::ProgramResult;
using test::read_file;
using New = test::ProgramTest;

std::string replaced(std::string text, const std::string& old_text, const std::string& new_text) {
  const std::size_t at = text.find(old_text);
  EXPECT_NE(at, std::string::npos) << old_text;
  if (at != std::string::npos) text.replace(at, old_text.size(), new_text);
  return text;
}

TEST_F(New, LeadsToAPassingScenarioOfOnesOwn) {
  const ProgramResult made = ohm({"new", "my_leak"});
  EXPECT_EQ(0, made.code) << made.err;
  EXPECT_TRUE(contains(made.out, "next: ohm run my_leak.lua\n")) << made.out;
  const ProgramResult ran = ohm({"run", "my_leak.lua"});
  EXPECT_EQ(0, ran.code) << ran.out;
  EXPECT_TRUE(contains(ran.out, "1 scenario, 3 variants: 3 passed\n")) << ran.out;
  EXPECT_EQ(0, ohm({"run", "my_leak.lua", "--set", "batch=128"}).code);
  EXPECT_EQ(0, ohm({"explain", "my_leak.lua"}).code);

  // The steps of docs/writing-scenarios.md: another mitigation, which must compute the same.
  const std::string text = read_file(file("my_leak.lua"));
  folder_.write("my_leak.lua",
                replaced(text, "  mitigations = {\n",
                         "  mitigations = {\n    detached = function(d) return predict(d, "
                         "function(out) return out:detach() end) end,\n"));
  const ProgramResult still_grows = ohm({"run", "my_leak.lua", "--case", "detached"});
  EXPECT_EQ(1, still_grows.code);
  EXPECT_TRUE(contains(still_grows.out, "✗ detached failed (LimitExceeded)")) << still_grows.out;
  folder_.write("my_leak.lua", replaced(text, "limits = {\"growth_bytes_per_step == 0\"}",
                                        "limits = {\"growth_bytes_per_step <= 4 KiB\"}"));
  EXPECT_EQ(0, ohm({"run", "my_leak.lua"}).code);
}

TEST_F(New, TellsEditorsEverythingThatScriptsCanCall) {
  ASSERT_EQ(0, ohm({"new", "mine"}).code);
  const std::string definitions = read_file(file(".ohm/ohm.lua"));
  for (const std::string part :
       {"---@meta\n", "function Tensor:relu(inplace)", "function ohm.cuda.memory_allocated(...)",
        "---@return ohm.Module\nfunction ohm.nn.Linear(in_features, out_features",
        "---@return ohm.Optimizer\nfunction ohm.optim.AdamW(", "ohm.float16 = \"float16\"",
        "function ohm.nn.functional.cross_entropy(", "---@field mitigations?"}) {
    EXPECT_TRUE(contains(definitions, part)) << part;
  }
  // It is Lua: the script host compiles it.
  folder_.write("check.lua", "local f = assert(load([==========[\n" + definitions +
                                 "]==========]))\nreturn ohm.scenario {name = 'check',\n"
                                 "  checks = {it = {run = function() return {ok = f ~= nil} end,\n"
                                 "    returns = {ok = true}}}}\n");
  const ProgramResult compiled = ohm({"run", "check.lua"});
  EXPECT_EQ(0, compiled.code) << compiled.out;
  const auto settings = nlohmann::json::parse(read_file(file(".luarc.json")));
  EXPECT_EQ(".ohm", settings["workspace.library"][0]);
}

TEST_F(New, OverwritesNothing) {
  ASSERT_EQ(0, ohm({"new", "mine"}).code);
  folder_.write(".luarc.json", "{}\n");
  const std::string scenario = read_file(file("mine.lua"));
  const ProgramResult again = ohm({"new", "mine"});
  EXPECT_EQ(2, again.code);
  EXPECT_EQ("ohm: mine.lua already exists; it is left as it is\n", again.err);
  EXPECT_EQ(scenario, read_file(file("mine.lua")));
  const ProgramResult other = ohm({"new", "other"});
  EXPECT_EQ(0, other.code) << other.err;
  EXPECT_EQ("{}\n", read_file(file(".luarc.json")));
  EXPECT_TRUE(contains(other.out, ".luarc.json  already exists")) << other.out;
}

TEST_F(New, ChecksTheNameAndTheFolder) {
  const std::string long_name(65, 'a');
  for (const std::string& name :
       {std::string("My-Leak"), std::string("7up"), std::string("a b"), std::string("x.lua"),
        std::string("a/b"), std::string("../x"), std::string("_x"), long_name, std::string("ä")}) {
    const ProgramResult ran = ohm({"new", name});
    EXPECT_EQ(2, ran.code) << name;
    EXPECT_TRUE(contains(ran.err, "is not a valid scenario name")) << ran.err;
  }
  EXPECT_EQ(2, ohm({"new"}).code);
  EXPECT_TRUE(contains(ohm({"new", "x", "--folder", "none"}).err, "there is no such folder"));
  EXPECT_EQ(0, ohm({"new", "x", "--folder", "."}).code);
}

}  // namespace
}  // namespace ohm
