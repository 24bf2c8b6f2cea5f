// Tests of the real program: a folder of scenarios that each of them has.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/support/program.h"
#include "tests/support/text.h"

namespace ohm::test {

/// A scenario in which everything passes, in Lua.
inline constexpr const char* kGoodScenario = R"lua(
local kept = {}
local function run(device, keep)
  for i = 1, 5 do
    local x = ohm.ones(128, {device = device})
    if keep then kept[i] = x end
    x = nil
    ohm.step()
  end
  return {sum = ohm.ones(4, {device = device}):sum()}
end

return ohm.scenario {
  name = "good",
  summary = "Tensors that a table keeps",
  gpu = {profile = "tiny-64m", values = true},
  limits = {"growth_bytes_per_step == 0"},
  problems = {kept = function(device) return run(device, true) end},
  mitigations = {dropped = function(device) return run(device, false) end},
}
)lua";

/// A scenario with one check, whose function has this body.
inline std::string scenario_with_check(const std::string& body, const std::string& raises = "?") {
  return "local function run(device)\n" + body +
         "\nend\n"
         "return ohm.scenario {name = 'bad', gpu = {profile = 'tiny-64m'},\n"
         "  checks = {it = {run = run, raises = '" +
         raises + "'}}}\n";
}

/// The same with a problem: an error of it is an error of the scenario.
inline std::string scenario_with_problem(const std::string& body) {
  return "local function run(device)\n" + body +
         "\nend\n"
         "return ohm.scenario {name = 'bad', gpu = {profile = 'tiny-64m'},\n"
         "  limits = {'num_ooms == 0'}, problems = {it = run}}\n";
}

class ProgramTest : public testing::Test {
 protected:
  ProgramTest() { folder_.write("good.lua", kGoodScenario); }

  ProgramResult ohm(const std::vector<std::string>& arguments) const {
    return run_program(folder_.path().string(), arguments);
  }
  std::string file(const std::string& name) const { return folder_.file(name); }

  TempFolder folder_;
};

}  // namespace ohm::test
