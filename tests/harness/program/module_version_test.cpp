// A run sees one version of each file, however long it takes.
#include <sys/stat.h>

#include <filesystem>

#include "tests/harness/program/program_test.h"

namespace ohm {
namespace {

using test::contains;
using test::ProgramResult;

/// Loading waits in an endless loop's stead: the first variant is long enough to edit the module.
constexpr const char* kScenario = R"lua(
local name = MODULE
require(name)
local function run(device, steps)
  for i = 1, steps do local x = ohm.ones(4, {device = device}) end
  return {version = require(name).version}
end
return ohm.scenario {name = "versions", gpu = {profile = "tiny-64m"}, limits = {"num_ooms == 0"},
  checks = {
    a_first = {run = function(device) return run(device, 200000) end, returns = {version = 1}},
    b_second = {run = function(device) return run(device, 1) end, returns = {version = 1}}}}
)lua";

class ModuleVersion : public test::ProgramTest, public testing::WithParamInterface<const char*> {};

TEST_P(ModuleVersion, IsThatOfTheBeginningOfTheRun) {
  std::filesystem::create_directory(file("lib"));
  folder_.write("lib/part.lua", "return {version = 1}\n");
  std::string scenario = kScenario;
  scenario.replace(scenario.find("MODULE"), 6, GetParam());
  folder_.write("versions.lua", scenario);
  test::Program program(folder_.path().string(), {"run", "versions.lua", "-j1"});
  program.wait_for_work(0.05);  // the first variant's
  folder_.write("lib/part.lua", "return {version = 2}\n");
  const ProgramResult ran = program.wait();
  EXPECT_EQ(0, ran.code) << ran.out << ran.err;
  EXPECT_TRUE(contains(ran.out, "2 passed")) << ran.out;
}

INSTANTIATE_TEST_SUITE_P(Names, ModuleVersion,
                         testing::Values("nil or require('part') and 'part'", "'pa' .. 'rt'"));

}  // namespace
}  // namespace ohm
