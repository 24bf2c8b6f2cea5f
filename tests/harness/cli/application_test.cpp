#include "harness/cli/application.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/harness/support/fake_scenarios.h"
#include "tests/support/golden.h"

namespace ohm::cli {
namespace {

using test::FakeScenario;

struct Ran {
  int code = 0;
  std::string out;
  std::string err;
};

class ApplicationTest : public testing::Test {
 protected:
  Ran run(const std::vector<std::string>& arguments) {
    std::vector<const char*> argv = {"ohm"};
    for (const std::string& argument : arguments) argv.push_back(argument.c_str());
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    Ran ran;
    ran.code = run_application(static_cast<int>(argv.size()), argv.data(),
                               {scenarios_.loader(), [] { return std::string("---@meta\n"); }});
    std::fflush(stdout);
    ran.out = testing::internal::GetCapturedStdout();
    ran.err = testing::internal::GetCapturedStderr();
    return ran;
  }
  std::string path(const std::string& name) const { return scenarios_.folder().file(name); }

  test::FakeScenarios scenarios_;
};

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST_F(ApplicationTest, PrintsTheTableAndTheSummary) {
  const Ran ran = run({"run", scenarios_.add(test::leak())});
  EXPECT_EQ(0, ran.code) << ran.err;
  EXPECT_TRUE(contains(ran.out, "✓ mitigation  freed")) << ran.out;
  EXPECT_TRUE(contains(ran.out, "1 scenario, 4 variants: 4 passed\n")) << ran.out;
  EXPECT_EQ("", ran.err);
}

TEST_F(ApplicationTest, FailureNamesTheVariantAndHowToRepeatIt) {
  FakeScenario scenario = test::leak();
  scenario.bodies["freed"] = test::growing(5, 512);
  const std::string file = scenarios_.add(scenario);
  const Ran ran = run({"run", file, "--seed", "7", "--gpu", "tiny-64m,count=2"});
  EXPECT_EQ(1, ran.code);
  EXPECT_TRUE(contains(ran.out, "✗ freed failed (LimitExceeded)")) << ran.out;
  EXPECT_TRUE(contains(
      ran.out, "re-run: ohm run " + file + " --case freed --gpu tiny-64m,count=2 --seed 7\n"))
      << ran.out;
}

TEST_F(ApplicationTest, JsonOnStdoutIsAllThatIsThere) {
  const Ran ran = run({"run", "--json", scenarios_.add(test::leak())});
  const auto json = nlohmann::json::parse(ran.out);
  EXPECT_EQ("ohm.result/1", json["schema"]);
  EXPECT_EQ("passed", json["exit_reason"]);
  EXPECT_EQ(4U, json["scenarios"][0]["variants"].size());
}

TEST_F(ApplicationTest, WritesSeveralReports) {
  const Ran ran = run({"run", "--report", "json=" + path("out.json"), "--report",
                       "junit=" + path("out.xml"), scenarios_.add(test::leak())});
  EXPECT_EQ(0, ran.code) << ran.err;
  EXPECT_EQ("passed", nlohmann::json::parse(test::read_file(path("out.json")))["exit_reason"]);
  EXPECT_TRUE(contains(test::read_file(path("out.xml")), "<testcase name=\"freed\""));
  EXPECT_TRUE(contains(ran.out, "4 passed"));
}

TEST_F(ApplicationTest, ReportsOfTwoRunsAreEqualToTheByte) {
  const std::string file = scenarios_.add(test::leak());
  EXPECT_EQ(run({"run", "--json", file, "-j", "1"}).out, run({"run", "--json", file, "-j8"}).out);
}

TEST_F(ApplicationTest, ReportPathThatCannotBeWrittenIsFoundBeforeTheRun) {
  const Ran ran = run({"run", "--report", "json=" + path("no/out.json"),
                       scenarios_.add("never", []() -> FakeScenario { std::abort(); })});
  EXPECT_EQ(2, ran.code);
  EXPECT_EQ("ohm: cannot write " + path("no/out.json") + ": No such file or directory\n", ran.err);
  EXPECT_EQ("", ran.out);
}

TEST_F(ApplicationTest, FullDiskIsReportedAfterTheTable) {
  const Ran ran = run({"run", "--report", "json=/dev/full", scenarios_.add(test::leak())});
  EXPECT_EQ(2, ran.code);
  EXPECT_EQ("ohm: cannot write /dev/full: No space left on device\n", ran.err);
  EXPECT_TRUE(contains(ran.out, "4 passed"));
}

TEST_F(ApplicationTest, SelectsByNameRoleAndFilter) {
  const std::string file = scenarios_.add(test::leak());
  EXPECT_TRUE(contains(run({"run", file, "--case", "freed"}).out, "1 variant: 1 passed"));
  EXPECT_TRUE(
      contains(run({"run", file, "--case=problem", "--case", "controls"}).out, "2 variants"));
  EXPECT_TRUE(contains(run({"run", file, "--filter", "leak.*kept"}).out, "2 variants"));
  const Ran none = run({"run", file, "--case", "no_such"});
  EXPECT_EQ(5, none.code);
  EXPECT_TRUE(contains(none.err, R"(no variant or role is called "no_such")")) << none.err;
}

TEST_F(ApplicationTest, QuietPrintsTheSummaryOnlyWhenAllPass) {
  EXPECT_EQ("1 scenario, 4 variants: 4 passed\n",
            run({"run", "-q", scenarios_.add(test::leak())}).out);
}

TEST_F(ApplicationTest, ColourIsOnlyThereOnRequest) {
  const std::string file = scenarios_.add(test::leak());
  EXPECT_FALSE(contains(run({"run", file}).out, "\x1b["));
  EXPECT_TRUE(contains(run({"run", "--color=always", file}).out, "\x1b[32m"));
  EXPECT_FALSE(contains(run({"run", "--color", "never", file}).out, "\x1b["));
}

struct Mistake {
  std::vector<std::string> arguments;
  const char* error;
};

class Mistakes : public ApplicationTest, public testing::WithParamInterface<Mistake> {};

TEST_P(Mistakes, AreUsageErrorsThatSayWhatToDo) {
  const Ran ran = run(GetParam().arguments);
  EXPECT_EQ(2, ran.code);
  EXPECT_EQ(std::string("ohm: ") + GetParam().error + "\n", ran.err);
  EXPECT_EQ("", ran.out);
}

INSTANTIATE_TEST_SUITE_P(
    All, Mistakes,
    testing::Values(
        Mistake{{"rnu", "x.lua"}, "unknown command \"rnu\" (did you mean \"run\"?)"},
        Mistake{{"help", "rnu"}, "unknown command \"rnu\" (did you mean \"run\"?)"},
        Mistake{{"help", "--man", "rnu"}, "unknown command \"rnu\" (did you mean \"run\"?)"},
        Mistake{{"help", "run", "list"},
                "unexpected argument \"list\"; ohm help --help lists what it takes"},
        Mistake{{"completion"}, "name the shell: bash, zsh, fish"},
        Mistake{{"completion", "bsh"},
                "unknown shell \"bsh\" (did you mean \"bash\"?); there are scripts for bash, zsh, "
                "fish"},
        Mistake{{"x.lua"}, "unknown command \"x.lua\" (did you mean ohm run x.lua?)"},
        Mistake{{"run", "x.lua", "--reprot", "json=x"},
                "unknown option \"--reprot\" (did you mean \"--report\"?); ohm run --help lists "
                "them"},
        Mistake{{"run", "x.lua", "--reprot=json"},
                "unknown option \"--reprot\" (did you mean \"--report\"?); ohm run --help lists "
                "them"},
        Mistake{{"run"}, "name the scenarios, as in leaked_loss_graph or scenarios/*.lua"},
        Mistake{{"run", "x.lua", "--report", "out.json"},
                "--report is NAME=PATH, not \"out.json\""},
        Mistake{
            {"run", "x.lua", "--report", "jsno=out.json"},
            "unknown report format \"jsno\" (did you mean \"json\"?); known: codequality, console, "
            "github, html, json, junit, markdown, trace"},
        Mistake{{"run", "x.lua", "--json", "--report", "junit=-"},
                "only one report can go to standard output"},
        Mistake{{"run", "x.lua", "--gpu", "a100-4g"},
                "--gpu: [gpu] unknown profile \"a100-4g\" (did you mean \"a100-40g\"?)"},
        Mistake{{"run", "x.lua", "--color", "blue"},
                "--color must be auto, always or never, not \"blue\""},
        Mistake{{"run", "x.lua", "-j", "0"}, "--jobs must be at least 1"},
        Mistake{{"run", "x.lua", "--timeout", "-1"},
                "--timeout: must be a number of seconds, or 0 for none"},
        Mistake{{"run", "x.lua", "--seed", "x"},
                R"(--seed: "x" is not a whole number from 0 to 18446744073709551615)"},
        Mistake{{"run", "x.lua", "-q", "-v"}, "--quiet excludes --verbose"}));

TEST_F(ApplicationTest, MistypedFaultPlanIsAUsageError) {
  const Ran ran = run({"run", "x.lua", "--fault", "nht(7)"});
  EXPECT_EQ(2, ran.code);
  EXPECT_TRUE(contains(ran.err, "--fault: ")) << ran.err;
  EXPECT_TRUE(contains(ran.err, "nth")) << ran.err;
}

TEST_F(ApplicationTest, MissingFileIsAScriptErrorWithAHint) {
  scenarios_.add(test::leak());
  const Ran ran = run({"run", path("laek.lua")});
  EXPECT_EQ(3, ran.code);
  EXPECT_TRUE(contains(ran.out, path("laek.lua") + ": no such file")) << ran.out;
  EXPECT_TRUE(contains(ran.out, "did you mean " + path("leak.lua") + "?")) << ran.out;
}

TEST_F(ApplicationTest, HelpShowsExamplesFirst) {
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"--help"}, {"run", "--help"}, {"list", "-h"}, {"gpus", "-h"}}) {
    const Ran ran = run(arguments);
    EXPECT_EQ(0, ran.code);
    const std::size_t examples = ran.out.find("Examples:");
    ASSERT_NE(std::string::npos, examples) << ran.out;
    EXPECT_LT(examples, ran.out.find("Usage:")) << ran.out;
  }
}

TEST_F(ApplicationTest, HelpNamesEveryExitCode) {
  const std::string help = run({"--help"}).out;
  for (const ExitCode& code : kExitCodes) EXPECT_TRUE(contains(help, std::string(code.meaning)));
}

TEST_F(ApplicationTest, ListsScenariosAndWhatTheyCanBeMadeOf) {
  const std::string file = scenarios_.add(test::leak());
  const Ran ran = run({"list", file});
  EXPECT_EQ(0, ran.code);
  EXPECT_TRUE(contains(ran.out, "mitigation  freed       of kept\n")) << ran.out;
  EXPECT_TRUE(contains(ran.out, "1 scenario, 4 variants\n")) << ran.out;
  const auto json = nlohmann::json::parse(run({"list", file, "--json"}).out);
  EXPECT_EQ("ohm.list/1", json["schema"]);
  EXPECT_EQ("kept", json["scenarios"][0]["variants"][0]["name"]);
  EXPECT_TRUE(contains(run({"list", "--measurements"}).out, "growth_bytes_per_step"));
  EXPECT_TRUE(contains(run({"list", "--reporters"}).out, "junit"));
  EXPECT_TRUE(contains(run({"list", "--faults"}).out, "nth(N)"));
}

TEST_F(ApplicationTest, ListGoesOnAfterABrokenScenario) {
  const std::string broken = scenarios_.add(
      "broken", []() -> FakeScenario { throw engine::ScriptError("broken.lua:3: oops"); });
  const Ran ran = run({"list", broken, scenarios_.add(test::leak())});
  EXPECT_EQ(3, ran.code);
  EXPECT_EQ("ohm: broken.lua:3: oops\n", ran.err);
  EXPECT_TRUE(contains(ran.out, "1 scenario, 4 variants\n"));
}

TEST_F(ApplicationTest, ListsTheVirtualGpus) {
  const Ran ran = run({"gpus"});
  EXPECT_EQ(0, ran.code);
  EXPECT_TRUE(contains(ran.out, "a100-40g")) << ran.out;
}

TEST_F(ApplicationTest, SearchesTheVirtualGpus) {
  const Ran ran = run({"gpus", "RTX 40"});
  EXPECT_EQ(0, ran.code);
  EXPECT_TRUE(contains(ran.out, "rtx4090-24g")) << ran.out;
  EXPECT_FALSE(contains(ran.out, "a100-40g")) << ran.out;
  EXPECT_TRUE(contains(run({"gpus", "hbm3", "--json"}).out, "\"name\": \"h100-80g\""));
  const Ran none = run({"gpus", "voodoo"});
  EXPECT_EQ(5, none.code);
  EXPECT_EQ("ohm: no virtual GPU has \"voodoo\" in its name; ohm gpus lists all of them\n",
            none.err);
}

TEST_F(ApplicationTest, HelpIsThatOfTheCommand) {
  EXPECT_EQ(run({"run", "--help"}).out, run({"help", "run"}).out);
  EXPECT_EQ(run({"--help"}).out, run({"help"}).out);
  EXPECT_EQ(0, run({"help", "run"}).code);
}

TEST_F(ApplicationTest, ManPagesAndCompletionsAreThoseOfTheTable) {
  const std::string help = run({"help", "exec"}).out;
  const std::string page = run({"help", "--man", "exec"}).out;
  const std::string offers = run({"completion", "--", "ohm", "exec", "-"}).out;
  for (const std::string flag : {"host-limit", "allow-missing", "gate"}) {
    EXPECT_TRUE(contains(help, "--" + flag)) << flag;
    EXPECT_TRUE(contains(offers, "--" + flag + "\t")) << offers;
  }
  EXPECT_TRUE(contains(page, "\\fB\\-\\-allow\\-missing\\fR\n")) << page;
  EXPECT_TRUE(contains(run({"help", "--man"}).out, "\\fBohm\\-exec\\fR(1)"));
  EXPECT_TRUE(contains(run({"completion", "--", "ohm", "fi"}).out, "fit\t"));
}

}  // namespace
}  // namespace ohm::cli
