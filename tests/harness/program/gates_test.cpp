// Gates that CI trusts have to prove that they can fail: each defect is injected into a scenario
// that passes, and must be caught.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/support/checkout_paths.h"
#include "tests/support/program.h"
#include "tests/support/text.h"

namespace ohm::test {
namespace {

using ::testing::HasSubstr;

/// `line` runs in each step of the mitigation; `size` is the width of its layer.
std::string scenario(const std::string& line, const std::string& size = "256",
                     const std::string& result = "loss:item()") {
  return R"(local nn, F = ohm.nn, ohm.nn.functional
local kept = {}
local function train(device, keep, change)
  local net = nn.Linear(64, )" +
         size + R"(, {device = device})
  local x, loss = nil, nil
  for step = 1, 6 do
    x = ohm.ones(32, 64, {device = device})
    loss = net(x):mean()
    keep(loss)
    if change then )" +
         line + R"( end
    ohm.step()
  end
  return {loss = change and )" +
         result + R"( or loss:item()}
end
return ohm.scenario {
  name = "gate", summary = "A scenario for gates",
  gpu = {profile = "tiny-64m", count = 2},
  limits = {"growth_bytes_per_step == 0"},
  problems = {kept = function(d) return train(d, function(l) kept[#kept + 1] = l end) end},
  mitigations = {dropped = {
    limits = {"peak_allocated_bytes < 1 MiB"},
    run = function(d) return train(d, function() end, true) end,
  }},
  controls = {balanced = {run = function(d)
    for step = 1, 4 do
      for gpu = 0, 1 do ohm.zeros(1024, {device = "cuda:" .. gpu}) end
      ohm.step()
    end
  end, limits = {"imbalance <= 1.1"}}},
}
)";
}

class Gates : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_.write("gate.lua", scenario("x = x"));
    ASSERT_EQ(0, run({"run", "gate.lua"}).code) << run({"run", "gate.lua"}).out;
  }

  ProgramResult run(const std::vector<std::string>& arguments) const {
    return run_program(folder_.path(), arguments);
  }
  ProgramResult run_changed(const std::string& text) {
    folder_.write("gate.lua", text);
    return run({"run", "gate.lua"});
  }

  TempFolder folder_;
};

TEST_F(Gates, CatchALeak) {
  const ProgramResult result = run_changed(scenario("kept[#kept + 1] = loss"));
  EXPECT_EQ(1, result.code);
  EXPECT_THAT(result.out, HasSubstr("growth_bytes_per_step == 0"));
}

TEST_F(Gates, CatchAPeakAboveTheLimit) {
  const ProgramResult result =
      run_changed(scenario("local y = ohm.zeros(1024, 256, {device = device})"));
  EXPECT_EQ(1, result.code);
  EXPECT_THAT(result.out, HasSubstr("peak_allocated_bytes < 1 MiB"));
}

TEST_F(Gates, CatchABrokenEquivalence) {
  const ProgramResult result = run_changed(scenario("x = x", "256", "loss:item() + 1"));
  EXPECT_EQ(1, result.code);
  EXPECT_THAT(result.out, HasSubstr("NotEquivalent"));
}

TEST_F(Gates, CatchAnImbalance) {
  std::string text = scenario("x = x");
  text.replace(text.find("zeros(1024,"), 11, "zeros(1024 * (1 + gpu),");
  const ProgramResult result = run_changed(text);
  EXPECT_EQ(1, result.code);
  EXPECT_THAT(result.out, HasSubstr("imbalance <= 1.1"));
}

TEST_F(Gates, CatchARegressionOf512BytesAndNameItsLine) {
  ASSERT_EQ(0, run({"baseline", "update", "gate.lua"}).code);
  ASSERT_EQ(0, run({"baseline", "check", "gate.lua"}).code);
  ASSERT_EQ(0, run({"run", "gate.lua", "--require-baseline"}).code);
  // Under every limit, and with the same values.
  folder_.write("gate.lua", scenario("kept.one = kept.one or ohm.zeros(1, {device = device})"));
  const ProgramResult result = run({"run", "gate.lua"});
  EXPECT_EQ(1, result.code);
  EXPECT_THAT(result.out, HasSubstr("BaselineRegression"));
  EXPECT_THAT(result.out, HasSubstr("gate.lua:10"));
  const ProgramResult check = run({"baseline", "check", "gate.lua"});
  EXPECT_EQ(1, check.code);
  EXPECT_THAT(check.out, HasSubstr("+512 B"));
  EXPECT_THAT(check.out, HasSubstr("gate.lua:10 (new)"));
}

struct CutShort {
  const char* name;
  const char* source;
  int code;
};

class WhatCannotRun : public Gates, public testing::WithParamInterface<CutShort> {};

TEST_P(WhatCannotRun, EndsABaselineCheckAsItEndsARun) {
  folder_.write("gate.lua", GetParam().source);
  EXPECT_EQ(GetParam().code, run({"run", "gate.lua", "--timeout", "0.2"}).code);
  const ProgramResult check = run({"baseline", "check", "gate.lua", "--timeout", "0.2"});
  EXPECT_EQ(GetParam().code, check.code) << check.out << check.err;
  EXPECT_NE("", check.err);
}

constexpr CutShort kCutShort[] = {
    {"AnEndlessFile", "while true do ohm.zeros(1) end", 124},
    {"AnEndlessVariant",
     "return ohm.scenario {name = 'gate', limits = {'num_ooms == 0'}, gpu = {profile = "
     "'tiny-64m'},\n"
     "  problems = {endless = function() while true do ohm.zeros(1) end end}}",
     124},
    {"AFileWithAnError", "error('x')", 3},
    {"AVariantWithAnError",
     "return ohm.scenario {name = 'gate', limits = {'num_ooms == 0'}, gpu = {profile = "
     "'tiny-64m'},\n"
     "  problems = {wrong = function() error('x') end}}",
     3},
};

INSTANTIATE_TEST_SUITE_P(All, WhatCannotRun, testing::ValuesIn(kCutShort),
                         [](const auto& info) { return info.param.name; });

TEST_F(Gates, ABaselineHoldsWhenLinesMove) {
  ASSERT_EQ(0, run({"baseline", "update", "gate.lua"}).code);
  EXPECT_EQ(0, run_changed("\n\n-- moved down\n" + scenario("x = x")).code);
}

TEST_F(Gates, AMissingBaselineFailsWhereOneIsRequired) {
  const ProgramResult result = run({"run", "gate.lua", "--require-baseline"});
  EXPECT_EQ(1, result.code);
  EXPECT_THAT(result.out, HasSubstr("there is no baseline"));
  EXPECT_EQ(1, run({"baseline", "check", "gate.lua"}).code);
}

TEST_F(Gates, AVariantOfTheBaselineThatIsNotThereAnyMoreIsNeverAPass) {
  ASSERT_EQ(0, run({"baseline", "update", "gate.lua"}).code);
  std::ofstream(folder_.file("gate.baseline"), std::ios::app)
      << "\nvariant was_here\n  machine none\n  outcome completed\n  steps 0\n";
  const ProgramResult result = run({"run", "gate.lua"});
  EXPECT_EQ(3, result.code);
  EXPECT_THAT(result.out,
              HasSubstr("was_here: this variant of the baseline is not in the scenario"));
  const ProgramResult check = run({"baseline", "check", "gate.lua"});
  EXPECT_EQ(1, check.code);
  EXPECT_THAT(check.out, HasSubstr("was_here: this variant of the baseline"));
  ASSERT_EQ(0, run({"baseline", "update", "gate.lua"}).code);
  EXPECT_EQ(0, run({"run", "gate.lua"}).code);
}

TEST_F(Gates, AnotherMachineIsNeverAPass) {
  ASSERT_EQ(0, run({"baseline", "update", "gate.lua"}).code);
  std::string text = scenario("x = x");
  text.replace(text.find("count = 2"), 9, "count = 2, alloc_conf = \"expandable_segments:True\"");
  const ProgramResult result = run_changed(text);
  EXPECT_EQ(1, result.code);
  EXPECT_THAT(on_one_line(result.out), HasSubstr("another machine: the"));
  EXPECT_EQ(2, run({"run", "gate.lua", "--require-baseline", "--size-only"}).code);
}

TEST_F(Gates, ARatchetFailsOnImprovements) {
  folder_.write("gate.lua", scenario("kept.one = kept.one or ohm.zeros(1, {device = device})"));
  ASSERT_EQ(0, run({"baseline", "update", "gate.lua"}).code);
  folder_.write("gate.lua", scenario("x = x"));
  EXPECT_EQ(0, run({"baseline", "check", "gate.lua"}).code);
  const ProgramResult result = run({"baseline", "check", "gate.lua", "--ratchet"});
  EXPECT_EQ(1, result.code);
  EXPECT_THAT(result.out, HasSubstr("run ohm baseline update"));
}

TEST_F(Gates, CiDoesNotWriteBaselinesUnlessForced) {
  const auto in_ci = [] { ::setenv("CI", "true", 1); };
  EXPECT_EQ(2, run_program(folder_.path(), {"baseline", "update", "gate.lua"}, in_ci).code);
  EXPECT_EQ("", read_file(folder_.file("gate.baseline")));
  EXPECT_EQ(0,
            run_program(folder_.path(), {"baseline", "update", "gate.lua", "--force"}, in_ci).code);
  EXPECT_NE("", read_file(folder_.file("gate.baseline")));
}

TEST_F(Gates, ABrokenBaselineIsNoBaselineThatHolds) {
  folder_.write("gate.baseline", "ohm.baseline/2\nvariant dropped\n  steps many\n");
  for (const char* command : {"run", "baseline"}) {
    std::vector<std::string> arguments = {command};
    if (arguments[0] == "baseline") arguments.emplace_back("check");
    arguments.emplace_back("gate.lua");
    const ProgramResult result = run(arguments);
    EXPECT_EQ(3, result.code) << command;
    EXPECT_THAT(result.out + result.err,
                HasSubstr("gate.baseline: line 3: \"many\" is not a figure"));
  }
  EXPECT_EQ("ohm.baseline/2\nvariant dropped\n  steps many\n",
            read_file(folder_.file("gate.baseline")));
}

TEST_F(Gates, DiffNamesWhatChangedBetweenTwoRuns) {
  ASSERT_EQ(0, run({"run", "gate.lua", "--report", "json=a.json"}).code);
  folder_.write("gate.lua", scenario("kept.one = kept.one or ohm.zeros(1, {device = device})"));
  ASSERT_EQ(0, run({"run", "gate.lua", "--report", "json=b.json"}).code);
  const ProgramResult diff = run({"diff", "a.json", "b.json"});
  EXPECT_EQ(0, diff.code);
  EXPECT_THAT(diff.out, HasSubstr("gate.dropped"));
  EXPECT_THAT(diff.out, HasSubstr("gate.lua:10 (new)"));
  EXPECT_EQ(1, run({"diff", "--exit-code", "a.json", "b.json"}).code);
  EXPECT_EQ(0, run({"diff", "--exit-code", "a.json", "a.json"}).code);
}

TEST_F(Gates, ChecksAgainstARevisionOfTheRepository) {
  const auto git = [&](const std::string& words) {
    return std::system(("git -C " + folder_.path().string() + " -c user.name=a -c user.email=a@b " +
                        words + " >/dev/null 2>&1")
                           .c_str());
  };
  if (git("init") != 0) GTEST_SKIP() << "git is not installed";
  git("add gate.lua");
  ASSERT_EQ(0, git("commit -m first"));
  EXPECT_EQ(0, run({"baseline", "check", "gate.lua", "--against", "HEAD"}).code);
  folder_.write("gate.lua", scenario("kept.one = kept.one or ohm.zeros(1, {device = device})"));
  const ProgramResult result = run({"baseline", "check", "gate.lua", "--against", "HEAD"});
  EXPECT_EQ(1, result.code);
  EXPECT_THAT(result.out, HasSubstr("gate.lua:10 (new)"));
  EXPECT_EQ(3, run({"baseline", "check", "gate.lua", "--against", "no-such-revision"}).code);
  std::filesystem::create_directory(folder_.file("later"));
  std::filesystem::copy(folder_.file("gate.lua"), folder_.file("later/gate.lua"));
  const ProgramResult later = run({"baseline", "check", "later/gate.lua", "--against", "HEAD"});
  EXPECT_EQ(0, later.code) << later.err;
  EXPECT_THAT(later.out, HasSubstr("later/gate.lua: not in HEAD"));
}

TEST_F(Gates, WhatOthersDidOnTheirBranchSinceIsNotCompared) {
  const auto git = [&](const std::string& words) {
    return std::system(("git -C " + folder_.path().string() + " -c user.name=a -c user.email=a@b " +
                        words + " >/dev/null 2>&1")
                           .c_str());
  };
  if (git("init") != 0) GTEST_SKIP() << "git is not installed";
  git("add gate.lua");
  ASSERT_EQ(0, git("commit -m first"));
  ASSERT_EQ(0, git("checkout -b others"));
  folder_.write("gate.lua", scenario("x = x", "128"));
  ASSERT_EQ(0, git("commit -a -m smaller"));
  ASSERT_EQ(0, git("checkout -"));
  EXPECT_EQ(0, run({"baseline", "check", "gate.lua", "--against", "others"}).code);
}

TEST(Catalogue, ShipsWithItsBaselines) {
  const std::filesystem::path scenarios = std::string(OHM_SOURCE_DIR) + "/scenarios";
  std::vector<std::string> arguments = {"baseline", "show"};
  for (const auto& entry : std::filesystem::directory_iterator(scenarios)) {
    if (entry.path().extension() == ".lua") arguments.push_back(entry.path().string());
  }
  ASSERT_GT(arguments.size(), 30U);
  const ProgramResult shown = run_program(OHM_SOURCE_DIR, arguments);
  EXPECT_EQ(0, shown.code) << shown.err << "ohm baseline update scenarios/*.lua writes them";
}

}  // namespace
}  // namespace ohm::test
