// Reports of the real program: in the terminal, for CI, for other tools.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "tests/harness/program/program_test.h"

namespace ohm {
namespace {

using test::ProgramResult;
using ::testing::HasSubstr;
using ::testing::Not;
using Report = test::ProgramTest;

TEST_F(Report, PlotDrawsEveryVariantUnderTheTable) {
  const ProgramResult ran = ohm({"run", "good.lua", "--plot"});
  EXPECT_EQ(0, ran.code) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("kept (problem) on cuda:0: 3.50 KiB at most"));
  EXPECT_THAT(ran.out, HasSubstr("dropped (mitigation) on cuda:0"));
  EXPECT_THAT(ran.out, HasSubstr("⣿"));
  EXPECT_THAT(ohm({"run", "good.lua"}).out, Not(HasSubstr("⣿")));
}

TEST_F(Report, OfAResultSaysWhatWasAliveAndWhatEachLineHolds) {
  ASSERT_EQ(0, ohm({"run", "good.lua", "--report", "json=result.json", "-q"}).code);
  const ProgramResult report = ohm({"report", "result.json"});
  EXPECT_EQ(0, report.code) << report.err;
  EXPECT_THAT(report.out,
              HasSubstr("kept at its peak on cuda:0, in step 6: 3.50 KiB (3,584 bytes)"));
  EXPECT_THAT(report.out, HasSubstr("good.lua, and what its lines hold at the peak of kept"));
  EXPECT_THAT(report.out, HasSubstr("2.50 KiB     5 │ local x = ohm.ones(128, {device = device})"));
  EXPECT_THAT(ohm({"report", "result.json", "--plot"}).err, HasSubstr("has no memory history"));
}

TEST_F(Report, OfAResultWithAHistoryShowsTheLinesAroundAndPlots) {
  ASSERT_EQ(0, ohm({"run", "good.lua", "--history", "--report", "json=result.json", "-q"}).code);
  const ProgramResult report = ohm({"report", "result.json", "--plot"});
  EXPECT_THAT(report.out, HasSubstr("4 │   for i = 1, 5 do"));
  EXPECT_THAT(report.out, HasSubstr("⣿"));
}

TEST_F(Report, TraceHasCountersForDevicesAndSlicesForOps) {
  ASSERT_EQ(0, ohm({"run", "good.lua", "--report", "trace=trace.json", "-q"}).code);
  const auto trace = nlohmann::json::parse(test::read_file(file("trace.json")));
  std::int64_t most = 0;
  std::size_t steps = 0;
  std::size_t ones = 0;
  for (const auto& event : trace.at("traceEvents")) {
    const std::string name = event.at("name");
    if (event.at("ph") == "C" && name == "cuda:0 allocated bytes") {
      std::int64_t sum = 0;
      for (const auto& bytes : event.at("args")) sum += bytes.get<std::int64_t>();
      most = std::max(most, sum);
    }
    steps += event.at("ph") == "X" && name.starts_with("step ") ? 1U : 0U;
    ones += event.at("ph") == "X" && event.contains("args") &&
                    event["args"].value("line", "") == "good.lua:5"
                ? 1U
                : 0U;
  }
  EXPECT_EQ(3584, most);
  EXPECT_EQ(10U, steps);
  EXPECT_GE(ones, 2U);
}

// ---- GitHub Actions -----------------------------------------------------------------------------

/// The scenario without its problem's problem: NotReproduced.
std::string failing() {
  std::string text = test::kGoodScenario;
  text.replace(text.find("if keep then"), 12, "if false then");
  return text;
}

class GithubJob : public Report {
 protected:
  ProgramResult in_job(const std::vector<std::string>& arguments) const {
    return test::run_program(folder_.path().string(), arguments, [this] {
      ::setenv("GITHUB_ACTIONS", "true", 1);
      ::setenv("GITHUB_WORKSPACE", folder_.path().c_str(), 1);
      ::setenv("GITHUB_STEP_SUMMARY", file("summary.md").c_str(), 1);
    });
  }
};

TEST_F(GithubJob, IsToldWhereItFailedAndWhatWasFound) {
  folder_.write("summary.md", "before\n");
  folder_.write("bad.lua", failing());
  const ProgramResult ran = in_job({"run", file("bad.lua")});
  EXPECT_EQ(1, ran.code);
  EXPECT_THAT(ran.err,
              HasSubstr("::error file=bad.lua,line=18,title=good.kept%3A NotReproduced::"));
  const std::string summary = test::read_file(file("summary.md"));
  EXPECT_THAT(summary, testing::StartsWith("before\n## ohm: "));
  EXPECT_THAT(summary, HasSubstr("| ❌ | kept | problem |"));
  EXPECT_THAT(summary, HasSubstr("`ohm run "));
}

TEST_F(GithubJob, StandardOutputStaysPureJson) {
  folder_.write("bad.lua", failing());
  const ProgramResult ran = in_job({"run", "bad.lua", "--json"});
  EXPECT_EQ(1, ran.code);
  EXPECT_EQ("ohm.result/1", nlohmann::json::parse(ran.out).at("schema"));
}

TEST_F(GithubJob, ASummaryThatCannotBeWrittenChangesNothing) {
  const ProgramResult ran = test::run_program(folder_.path().string(), {"run", "good.lua"}, [] {
    ::setenv("GITHUB_ACTIONS", "true", 1);
    ::setenv("GITHUB_STEP_SUMMARY", "/no/such/folder/summary.md", 1);
  });
  EXPECT_EQ(0, ran.code);
  EXPECT_THAT(ran.err, HasSubstr("cannot write the step summary"));
}

TEST_F(GithubJob, ElsewhereNothingIsTold) {
  folder_.write("bad.lua", failing());
  EXPECT_THAT(ohm({"run", "bad.lua"}).err, Not(HasSubstr("::error")));
}

// ---- the snapshot -------------------------------------------------------------------------------

TEST_F(Report, TheSnapshotIsWhatItWasApprovedAs) {
  ASSERT_EQ(0, ohm({"run", "good.lua", "--case", "kept", "--snapshot", "kept.pickle"}).code);
  test::expect_golden(test::read_file(file("kept.pickle")), "reports/sample.pickle");
}

}  // namespace
}  // namespace ohm
