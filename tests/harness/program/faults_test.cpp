// Faults of a run: those that a script asks for, and those of --fault.
#include <string>

#include "tests/harness/program/program_test.h"

namespace ohm {
namespace {

using test::ProgramResult;

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
