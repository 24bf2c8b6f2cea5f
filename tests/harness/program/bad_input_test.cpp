// Bad input: a clear error, the documented exit code, and the other scenarios still run.
#include <sys/resource.h>

#include "tests/harness/program/program_test.h"

namespace ohm {
namespace {

using test::contains;
using test::ProgramResult;
using BadInput = test::ProgramTest;

struct BadFile {
  const char* what;
  std::string text;
  std::vector<std::string> says;
};

void PrintTo(const BadFile& bad, std::ostream* out) { *out << bad.what; }

class BadScenario : public BadInput, public testing::WithParamInterface<BadFile> {};

TEST_P(BadScenario, IsAClearErrorAndTheOthersRun) {
  folder_.write("bad.lua", GetParam().text);
  const ProgramResult ran = ohm({"run", "bad.lua", "good.lua"});
  EXPECT_EQ(3, ran.code) << ran.out << ran.err;
  for (const std::string& part : GetParam().says) EXPECT_TRUE(contains(ran.out, part)) << ran.out;
  EXPECT_TRUE(contains(ran.out, "✓ mitigation  dropped")) << ran.out;
}

std::string with_field(const std::string& field) {
  return "return ohm.scenario {name = 'bad', limits = {'num_ooms == 0'},\n"
         "  problems = {it = function(device) end},\n  " +
         field + "}\n";
}

INSTANTIATE_TEST_SUITE_P(
    All, BadScenario,
    testing::Values(
        BadFile{"syntax", "local x =\nlocal y\n", {"bad.lua:2: unexpected symbol near 'local'"}},
        BadFile{"run time",
                test::scenario_with_problem("  local t = nil\n  return t.x"),
                {"bad.lua:3: attempt to index a nil value", "in function"}},
        BadFile{"at load", "error('not today')\n", {"bad.lua:1: not today"}},
        BadFile{"no scenario", "return 1\n", {"ohm.scenario"}},
        BadFile{"unknown field",
                with_field("mitigation = {}"),
                {"mitigation", "did you mean", "mitigations"}},
        BadFile{"unknown global",
                test::scenario_with_problem("  return ohn.ones(1)"),
                {"bad.lua:2:", "ohn", "did you mean", "ohm"}},
        BadFile{"unknown measurement",
                "return ohm.scenario {name = 'bad', limits = {'peak_alocated_bytes < 1 MiB'},\n"
                "  problems = {it = function(device) end}}\n",
                {"bad.lua:", "peak_alocated_bytes", "\"peak_allocated_bytes\""}},
        BadFile{"host memory",
                test::scenario_with_problem("  return {x = ohm.empty(1000000, 1000000)}"),
                {"on cpu"}},
        BadFile{"a check for any error",
                test::scenario_with_check("  error('x')", ""),
                {"raises is empty"}},
        BadFile{"a module in itself",
                test::scenario_with_problem(
                    "  local m = ohm.nn.Module {forward = function(self, x) return x end}\n"
                    "  m.inner = m"),
                {"bad.lua:3:", "would make the module contain itself"}},
        BadFile{"an endless load",
                test::scenario_with_problem("  local piece = string.rep('x', 1e7)\n"
                                            "  load(function() return piece end)"),
                {"exceeded its memory limit of 1.00 GiB"}},
        BadFile{"a mitigation without values",
                "return ohm.scenario {name = 'bad', gpu = {profile = 'tiny-64m', values = true},\n"
                "  limits = {'steps == 0'}, problems = {steps = function() ohm.step() end},\n"
                "  mitigations = {none = function() end}}\n",
                {"it returns nothing to compare"}},
        BadFile{"holes in a list",
                "return ohm.scenario {name = 'bad', gpu = {profile = 'tiny-64m'},\n"
                "  limits = {'num_ooms == 0', [3] = 'peak_allocated_bytes <= 1'},\n"
                "  problems = {none = function() end}}\n",
                {"'limits' must be a list of strings: it has other keys, or holes"}},
        BadFile{"shapes",
                test::scenario_with_problem(
                    "  return ohm.ones(2, 3, {device = device}):matmul(ohm.ones(4, 5, {device = "
                    "device}))"),
                {"bad.lua:2: [matmul]", "[2, 3]", "[4, 5]"}},
        BadFile{
            "devices",
            test::scenario_with_problem("  return ohm.ones(2, {device = device}) + ohm.ones(2)"),
            {"bad.lua:2: [add]", "cuda:0", "cpu"}},
        BadFile{"empty", "", {"bad.lua: is empty"}},
        BadFile{"binary",
                std::string("\x7f") + "ELF" + std::string(8, '\0'),
                {"bad.lua: is a binary file"}},
        BadFile{"not UTF-8", "-- \xE9\nreturn 1\n", {"bad.lua:1: is not UTF-8 text"}},
        BadFile{
            "endless loop", test::scenario_with_problem("  while true do end"), {"instructions"}},
        BadFile{"endless loop at load", "while true do end\n", {"instructions"}},
        BadFile{"endless memory",
                test::scenario_with_problem("  local t = {}\n  while true do t[#t + 1] = "
                                            "string.rep('x', 1e6) .. #t end"),
                {"memory"}},
        BadFile{"one huge string",
                test::scenario_with_problem("  return string.rep('x', 1e10)"),
                {"bad.lua:2: resulting string too large"}},
        BadFile{"endless tensors on the host",
                test::scenario_with_problem("  local t = {}\n  while true do t[#t + 1] = "
                                            "ohm.empty(25000000) end"),
                {"memory"}}));

struct BadOption {
  std::vector<std::string> options;
  int code;
  std::string says;  ///< all of the standard error
};

TEST_F(BadInput, OptionIsNamedWithWhatIsWrongAboutIt) {
  const std::vector<BadOption> kCases = {
      {{"--case", "mitigatoin"},
       5,
       "no variant or role is called \"mitigatoin\" (did you mean \"mitigation\"?)"},
      {{"--filter", "nothing*"}, 5, "no variant matches; run ohm list to see them"},
      {{"--jobs", "abc"}, 2, "--jobs: \"abc\" is not a valid number"},
      {{"--seed", "-1"}, 2, "--seed: \"-1\" is not a whole number from 0 to 18446744073709551615"},
      {{"--seed", "18446744073709551616"},
       2,
       "--seed: \"18446744073709551616\" is not a whole number from 0 to "
       "18446744073709551615"},
      {{"--case", "kept", "--case", "droped"},
       2,
       "--case: no variant or role is called \"droped\" (did you mean \"dropped\"?)"},
      {{"--fault", ""}, 2, "--fault: is empty"}};
  for (const BadOption& bad : kCases) {
    std::vector<std::string> arguments = {"run", "good.lua"};
    arguments.insert(arguments.end(), bad.options.begin(), bad.options.end());
    const ProgramResult ran = ohm(arguments);
    EXPECT_EQ(bad.code, ran.code) << bad.says;
    EXPECT_EQ("ohm: " + bad.says + "\n", ran.err);
  }
}

TEST_F(BadInput, MessageOfAScriptDoesNotReachTheTerminalAsItIs) {
  folder_.write("bad.lua", "error('a\\27[31mred \\255\\7')\n");
  const ProgramResult ran = ohm({"run", "bad.lua"});
  EXPECT_EQ(3, ran.code);
  EXPECT_TRUE(contains(ran.out, "bad.lua:1: a\\x1B[31mred \\xFF\\x07\n")) << ran.out;
}

TEST_F(BadInput, DirectoryAndMissingFileAreErrorsAndTheOthersRun) {
  const ProgramResult ran = ohm({"run", ".", "god.lua", "good.lua"});
  EXPECT_EQ(3, ran.code);
  EXPECT_TRUE(contains(ran.out, ".: is a directory")) << ran.out;
  EXPECT_TRUE(contains(ran.out, "god.lua: no such file")) << ran.out;
  EXPECT_TRUE(contains(ran.out, "did you mean good.lua?")) << ran.out;
  EXPECT_TRUE(contains(ran.out, "✓ mitigation  dropped")) << ran.out;
}

TEST_F(BadInput, LoopThatTheInstructionCapDoesNotEndIsKilledAfterTheTimeout) {
  folder_.write("bad.lua", test::scenario_with_problem("  while true do end"));
  const ProgramResult ran =
      ohm({"run", "bad.lua", "good.lua", "--timeout", "0.5", "--instructions", "100000000000"});
  EXPECT_EQ(124, ran.code);
  EXPECT_TRUE(contains(ran.out, "it ran longer than 0.5 s")) << ran.out;
  EXPECT_TRUE(contains(ran.out, "✓ mitigation  dropped")) << ran.out;
}

TEST_F(BadInput, ReportThatCannotBeWrittenIsFoundBeforeTheRun) {
  const ProgramResult ran = ohm({"run", "good.lua", "--report", "json=no/out.json"});
  EXPECT_EQ(2, ran.code);
  EXPECT_EQ("ohm: cannot write no/out.json: No such file or directory\n", ran.err);
  EXPECT_EQ("", ran.out);
}

TEST_F(BadInput, FullDiskLeavesTheOldReportAsItWas) {
  folder_.write("out.json", "old");
  const ProgramResult ran = test::run_program(
      folder_.path().string(), {"run", "-q", "good.lua", "--report", "json=out.json"}, [] {
        // A file may not grow beyond this: as if the disk were full.
        std::signal(SIGXFSZ, SIG_IGN);
        const rlimit limit = {512, 512};
        ::setrlimit(RLIMIT_FSIZE, &limit);
      });
  EXPECT_EQ(2, ran.code);
  EXPECT_EQ("ohm: cannot write out.json: File too large\n", ran.err);
  EXPECT_TRUE(contains(ran.out, "2 passed")) << ran.out;
  EXPECT_EQ("old", test::read_file(file("out.json")));

  EXPECT_EQ("ohm: cannot write /dev/full: No space left on device\n",
            ohm({"run", "good.lua", "--report", "json=/dev/full"}).err);
}

TEST_F(BadInput, ReportWithoutAStandardOutputIsNotLostInSilence) {
  const ProgramResult ran = test::run_program(
      folder_.path().string(), {"run", "good.lua", "--json"}, [] { ::close(STDOUT_FILENO); });
  EXPECT_EQ(2, ran.code);
  EXPECT_EQ("ohm: cannot write to standard output: Bad file descriptor\n", ran.err);
}

TEST_F(BadInput, InterruptWritesTheResultsSoFar) {
  folder_.write("slow.lua", test::scenario_with_problem("  while true do end"));
  test::Program program(folder_.path().string(),
                        {"run", "good.lua", "slow.lua", "-j1", "--instructions", "1000000000000",
                         "--report", "json=out.json"});
  // The first scenario's table is printed before the second one is started.
  while (!contains(program.out(), "dropped")) ::usleep(1000);
  program.send(SIGINT);
  const ProgramResult ran = program.wait();
  EXPECT_EQ(130, ran.code) << ran.err;
  const std::string json = test::read_file(file("out.json"));
  EXPECT_TRUE(contains(json, "\"exit_reason\": \"interrupted\"")) << json;
  EXPECT_TRUE(contains(json, "\"name\": \"dropped\"")) << json;
}

TEST_F(BadInput, AReportNeverReplacesTheScenarioOrAnotherReport) {
  const ProgramResult onto_scenario = ohm({"run", "good.lua", "--report", "json=./good.lua"});
  EXPECT_EQ(2, onto_scenario.code) << onto_scenario.err;
  EXPECT_EQ(0, ohm({"run", "good.lua"}).code);
  const ProgramResult twice =
      ohm({"run", "good.lua", "--report", "json=a.out", "--report", "junit=a.out"});
  EXPECT_EQ(2, twice.code) << twice.err;
}

}  // namespace
}  // namespace ohm
