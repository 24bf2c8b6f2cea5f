// Where allocator settings come from, what they change, and that every report shows them.
#include <cstdlib>

#include "tests/harness/program/program_test.h"

namespace ohm {
namespace {

using test::contains;
using test::ProgramResult;

// 1,300 KiB: rounded to 512 bytes as it is, to 1,536 KiB in quarters of a power of two.
class AllocatorSettings : public test::ProgramTest {
 protected:
  void write_scenario(const std::string& gpu_fields) {
    folder_.write("conf.lua",
                  "return ohm.scenario {name = 'conf', gpu = {" + gpu_fields +
                      "},\n"
                      "  limits = {'peak_allocated_bytes == 1300 KiB'},\n"
                      "  controls = {plain = function(device)\n"
                      "    local x = ohm.empty(1300 * 256, {device = device})\n  end},\n"
                      "  checks = {any = {limits = {'num_ooms == 0'}, run = function() end}}}\n");
  }
};

TEST_F(AllocatorSettings, OptionStandsAboveTheScenariosOwn) {
  write_scenario("alloc_conf = 'max_split_size_mb:32'");
  const ProgramResult own = ohm({"run", "conf.lua"});
  EXPECT_EQ(0, own.code) << own.out;
  EXPECT_TRUE(contains(own.out, "pytorch-2.15 with max_split_size_mb:32\n")) << own.out;

  const std::string settings = "roundup_power2_divisions:4";
  const ProgramResult ran = ohm({"run", "conf.lua", "--alloc-conf", settings});
  EXPECT_EQ(1, ran.code);
  EXPECT_TRUE(contains(ran.out, "1.50 MiB")) << ran.out;
  EXPECT_TRUE(contains(ran.out, "pytorch-2.15 with " + settings + "\n")) << ran.out;
  EXPECT_TRUE(contains(ran.out, "--case plain --alloc-conf " + settings + "\n")) << ran.out;
}

TEST_F(AllocatorSettings, EnvironmentStandsBelowTheScenariosOwnAndIsSaid) {
  ::setenv("PYTORCH_CUDA_ALLOC_CONF", "roundup_power2_divisions:4", 1);
  write_scenario("");
  const ProgramResult ran = ohm({"run", "conf.lua"});
  write_scenario("alloc_conf = ''");
  const ProgramResult own = ohm({"run", "conf.lua"});
  ::setenv("PYTORCH_CUDA_ALLOC_CONF", "no_such:1", 1);
  const ProgramResult wrong = ohm({"run", "conf.lua"});
  ::unsetenv("PYTORCH_CUDA_ALLOC_CONF");
  EXPECT_EQ(1, ran.code);
  EXPECT_EQ("ohm: allocator settings from PYTORCH_CUDA_ALLOC_CONF: roundup_power2_divisions:4\n",
            ran.err);
  EXPECT_TRUE(contains(ran.out, "--alloc-conf roundup_power2_divisions:4\n")) << ran.out;
  EXPECT_EQ(0, own.code) << own.out;
  EXPECT_EQ(2, wrong.code);
  EXPECT_EQ(
      "ohm: PYTORCH_CUDA_ALLOC_CONF: Unrecognized key 'no_such' in Accelerator allocator config.\n",
      wrong.err);
}

TEST_F(AllocatorSettings, WrongOnesAreRefusedInPyTorchsWordsBeforeAnythingRuns) {
  write_scenario("");
  const ProgramResult conf = ohm({"run", "conf.lua", "--alloc-conf", "no_such:1"});
  EXPECT_EQ(2, conf.code);
  EXPECT_EQ("ohm: --alloc-conf: Unrecognized key 'no_such' in Accelerator allocator config.\n",
            conf.err);
  const ProgramResult earlier =
      ohm({"run", "conf.lua", "--alloc-conf", "no_such:1", "--rules", "pytorch-2.6"});
  EXPECT_EQ(2, earlier.code);
  EXPECT_EQ("ohm: --alloc-conf: Unrecognized CachingAllocator option: no_such\n", earlier.err);
  const ProgramResult rules = ohm({"run", "conf.lua", "--rules", "pytorch-2.12"});
  EXPECT_EQ(2, rules.code);
  EXPECT_EQ(
      "ohm: --rules: [allocator] unknown rule set \"pytorch-2.12\" (did you mean "
      "\"pytorch-2.10\"?)\n",
      rules.err);
}

TEST_F(AllocatorSettings, RulesChangeWhatPyTorchChangedAndAreShown) {
  folder_.write("full.lua", test::scenario_with_problem(
                                "  return {x = ohm.empty(1 << 30, {device = device})}"));
  const ProgramResult latest = ohm({"run", "full.lua", "-v"});
  EXPECT_TRUE(contains(latest.out, "pytorch-2.15\n")) << latest.out;
  EXPECT_TRUE(contains(latest.out, " PYTORCH_CUDA_ALLOC_CONF=")) << latest.out;
  const ProgramResult earlier =
      ohm({"run", "full.lua", "-v", "--rules", "pytorch-2.10", "--report", "json=out.json"});
  EXPECT_TRUE(contains(earlier.out, "pytorch-2.10\n")) << earlier.out;
  EXPECT_TRUE(contains(earlier.out, " PYTORCH_ALLOC_CONF=")) << earlier.out;
  EXPECT_TRUE(contains(test::read_file(file("out.json")), "\"rules\": \"pytorch-2.10\""));
}

TEST_F(AllocatorSettings, SegmentsAreWhereTheOrderOfAddressesPutsThem) {
  folder_.write(
      "order.lua",
      "return ohm.scenario {name = 'order', gpu = {profile = 'tiny-64m', values = false},\n"
      "  checks = {order = {limits = {'num_ooms == 0'}, run = function(device)\n"
      "    local a = ohm.empty(3 << 20, {device = device})\n"
      "    local b = ohm.empty(3 << 20, {device = device})\n"
      "    assert(a:data_ptr() < b:data_ptr())\n"
      "  end}}}\n");
  EXPECT_EQ(0, ohm({"run", "order.lua"}).code);
  EXPECT_EQ(0, ohm({"run", "order.lua", "--addresses", "ascending"}).code);
  EXPECT_NE(0, ohm({"run", "order.lua", "--addresses", "descending"}).code);
  const ProgramResult wrong = ohm({"run", "order.lua", "--addresses", "upward"});
  EXPECT_EQ(2, wrong.code);
  EXPECT_EQ("ohm: --addresses: must be \"ascending\" or \"descending\", not \"upward\"\n",
            wrong.err);
}

TEST_F(AllocatorSettings, ScriptSetsThemAndAMemoryFractionAsInPyTorch) {
  folder_.write("set.lua",
                test::scenario_with_check(
                    "  ohm.cuda.memory._set_allocator_settings('roundup_power2_divisions:4')\n"
                    "  local x = ohm.empty(1300 * 256, {device = device})\n"
                    "  assert(ohm.cuda.memory_allocated() == 1536 * 1024)\n"
                    "  assert(not pcall(ohm.cuda.set_per_process_memory_fraction, 1.5))\n"
                    "  ohm.cuda.set_per_process_memory_fraction(0.5, device)\n"
                    "  x = nil\n"
                    "  x = ohm.empty(40 << 18, {device = device})",
                    "CUDA out of memory"));
  const ProgramResult ran = ohm({"run", "set.lua", "-v"});
  EXPECT_EQ(0, ran.code) << ran.out << ran.err;
  EXPECT_TRUE(contains(ran.out, "32.00 MiB allowed; ")) << ran.out;
}

}  // namespace
}  // namespace ohm
