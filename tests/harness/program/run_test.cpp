// ohm run from the outside: tables, reports, selection, determinism.
#include <array>
#include <nlohmann/json.hpp>

#include "tests/harness/program/program_test.h"

namespace ohm {
namespace {

using Json = nlohmann::json;
using test::contains;
using test::ProgramResult;
using WholeRun = test::ProgramTest;

TEST_F(WholeRun, ReproducesTheProblemAndProvesTheFix) {
  const ProgramResult ran = ohm({"run", "good.lua"});
  EXPECT_EQ(0, ran.code) << ran.out << ran.err;
  EXPECT_TRUE(contains(ran.out, "✓ problem     kept")) << ran.out;
  EXPECT_TRUE(contains(ran.out, "✓ mitigation  dropped")) << ran.out;
  EXPECT_TRUE(contains(ran.out, "1 scenario, 2 variants: 2 passed\n")) << ran.out;
  EXPECT_EQ("", ran.err);
}

TEST_F(WholeRun, WritesTheSameBytesForAnyNumberOfJobsAndOnEveryRun) {
  for (const char* jobs : {"1", "1", "8"}) {
    const std::string report = std::string("json=") + jobs + ".json";
    const ProgramResult ran = ohm({"run", "good.lua", "good.lua", "-j", jobs, "--report", report,
                                   "--report", std::string("junit=") + jobs + ".xml"});
    EXPECT_EQ(0, ran.code) << ran.err;
  }
  EXPECT_EQ(test::read_file(file("1.json")), test::read_file(file("8.json")));
  EXPECT_EQ(test::read_file(file("1.xml")), test::read_file(file("8.xml")));
  EXPECT_EQ(ohm({"run", "good.lua", "-j1"}).out, ohm({"run", "good.lua", "-j8"}).out);
}

TEST_F(WholeRun, BrokenMitigationFailsAndIsNamed) {
  std::string broken = test::kGoodScenario;
  broken.replace(broken.find("run(device, false)"), 18, "run(device, true) ");
  folder_.write("broken.lua", broken);
  const ProgramResult ran = ohm({"run", "broken.lua"});
  EXPECT_EQ(1, ran.code);
  EXPECT_TRUE(contains(ran.out, "✗ dropped failed (LimitExceeded)")) << ran.out;
  EXPECT_TRUE(contains(ran.out, "re-run: ohm run broken.lua --case dropped\n")) << ran.out;
}

TEST_F(WholeRun, HarmlessProblemFailsAndIsNamed) {
  std::string harmless = test::kGoodScenario;
  harmless.replace(harmless.find("run(device, true)"), 17, "run(device, false)");
  folder_.write("harmless.lua", harmless);
  const ProgramResult ran = ohm({"run", "harmless.lua"});
  EXPECT_EQ(1, ran.code);
  EXPECT_TRUE(contains(ran.out, "✗ kept failed (NotReproduced)")) << ran.out;
}

TEST_F(WholeRun, SetsWhatAScenarioDeclares) {
  folder_.write("sized.lua",
                "local params = ohm.params {blocks = 4}\n"
                "local function fill(device)\n"
                "  return {x = ohm.ones(params.blocks * 128, {device = device}):sum():item()}\n"
                "end\n"
                "return ohm.scenario {name = 'sized', gpu = {profile = 'tiny-64m'},\n"
                "  checks = {it = {run = fill, limits = {'peak_allocated_bytes <= 3 KiB'}}}}\n");
  EXPECT_EQ(0, ohm({"run", "sized.lua"}).code);
  const ProgramResult larger = ohm({"run", "sized.lua", "--set", "blocks=8"});
  EXPECT_EQ(1, larger.code) << larger.out;
  EXPECT_TRUE(contains(larger.out, "re-run: ohm run sized.lua --case it --set blocks=8\n"))
      << larger.out;
  EXPECT_TRUE(contains(larger.out, " · blocks = 8 instead of 4\n")) << larger.out;
  const ProgramResult mistyped = ohm({"run", "sized.lua", "--set", "block=8"});
  EXPECT_EQ(2, mistyped.code);
  EXPECT_EQ(
      "ohm: --set block: sized.lua declares no parameter of that name (did you mean \"blocks\"?)\n",
      mistyped.err);
  EXPECT_EQ(2, ohm({"run", "sized.lua", "--set", "blocks"}).code);
  EXPECT_EQ(2, ohm({"run", "sized.lua", "--set", "blocks=many"}).code);
  EXPECT_TRUE(contains(ohm({"list", "sized.lua"}).out, "parameter   blocks = 4\n"));
}

TEST_F(WholeRun, SetsAParameterInTheScenariosThatDeclareIt) {
  const auto declaring = [](const std::string& parameters) {
    return "local params = ohm.params {" + parameters +
           "}\n"
           "return ohm.scenario {name = 's', gpu = {profile = 'tiny-64m'},\n"
           "  checks = {it = {run = function() return {n = params.n or 0} end,\n"
           "    returns = {n = params.n or 0}}}}\n";
  };
  folder_.write("a.lua", declaring("n = 1"));
  folder_.write("b.lua", declaring("m = 2"));
  const ProgramResult ran = ohm({"run", "a.lua", "b.lua", "--set", "n=3"});
  EXPECT_EQ(0, ran.code) << ran.out << ran.err;
  EXPECT_TRUE(contains(ran.out, "returns n = 3\n")) << ran.out;
  EXPECT_TRUE(contains(ran.out, "returns n = 0\n")) << ran.out;
  const ProgramResult nowhere = ohm({"run", "a.lua", "b.lua", "--set", "k=3"});
  EXPECT_EQ(2, nowhere.code);
  EXPECT_EQ("ohm: --set k: these scenarios declare no parameter of that name\n", nowhere.err);
}

TEST_F(WholeRun, RerunLineRepeatsTheFailure) {
  const ProgramResult first = ohm({"run", "good.lua", "--fault", "nth(3)", "--case", "dropped"});
  EXPECT_EQ(1, first.code) << first.out;
  EXPECT_TRUE(contains(first.out, "re-run: ohm run good.lua --case dropped --fault 'nth(3)'\n"))
      << first.out;
  EXPECT_TRUE(contains(first.out, "(injected by nth(3))")) << first.out;
}

TEST_F(WholeRun, SaysThatAFaultMadeNothingFail) {
  const std::vector<std::string> run = {"run",    "good.lua", "--fault", "nth(4000)",
                                        "--case", "dropped",  "--json"};
  const ProgramResult ran = ohm(run);
  EXPECT_TRUE(
      contains(ran.err, "ohm: the fault nth(4000) never fired in 1 variant: good.dropped\n"))
      << ran.err;
  const Json variants = Json::parse(ran.out)["scenarios"][0]["variants"];
  for (const Json& variant : variants) {
    EXPECT_EQ(variant["unused_faults"], Json({"nth(4000)"})) << variant["name"];
  }
  std::vector<std::string> struck = run;
  struck[3] = "nth(1)";
  EXPECT_FALSE(contains(ohm(struck).err, "made nothing fail"));
  struck[3] = "neighbour(1MiB, 1, 2)";
  EXPECT_FALSE(contains(ohm(struck).err, "made nothing fail"));
}

TEST_F(WholeRun, ReaderThatGoesAwayLosesNoReport) {
  const ProgramResult ran = test::run_program(folder_.path().string(),
                                              {"run", "good.lua", "--report", "json=out.json"}, [] {
                                                std::array<int, 2> ends{};
                                                if (::pipe(ends.data()) != 0) ::_exit(126);
                                                ::close(ends[0]);
                                                ::dup2(ends[1], STDOUT_FILENO);
                                              });
  EXPECT_EQ(2, ran.code);
  EXPECT_EQ("ohm: cannot write to standard output: Broken pipe\n", ran.err);
  EXPECT_TRUE(contains(test::read_file(file("out.json")), "\"exit_reason\": \"passed\""));
}

TEST_F(WholeRun, PrintsTheTightestLimitThatHolds) {
  folder_.write(
      "loose.lua",
      "local function allocating(n)\n"
      "  return function(d) local x = ohm.ones(n, {device = d}) return {one = 1} end\n"
      "end\n"
      "return ohm.scenario {name = 'loose', gpu = {profile = 'tiny-64m'},\n"
      "  limits = {'peak_allocated_bytes <= 3KiB'},\n"
      "  problems = {large = allocating(1024)}, mitigations = {small = allocating(256)}}\n");
  const ProgramResult ran = ohm({"run", "loose.lua", "--tighten"});
  EXPECT_EQ(0, ran.code) << ran.out;
  EXPECT_TRUE(
      contains(ran.out, "peak_allocated_bytes <= 3KiB: peak_allocated_bytes <= 1024 holds (small)"))
      << ran.out;
  EXPECT_FALSE(contains(ohm({"run", "loose.lua"}).out, "<= 1024"));
}

TEST_F(WholeRun, ListsWhatThereIs) {
  const ProgramResult ran = ohm({"list", "good.lua"});
  EXPECT_EQ(0, ran.code) << ran.err;
  EXPECT_TRUE(contains(ran.out, "limit       growth_bytes_per_step == 0")) << ran.out;
  EXPECT_TRUE(contains(ran.out, "1 scenario, 2 variants\n")) << ran.out;
}

}  // namespace
}  // namespace ohm
