// What GitHub Actions reads: exact commands, few annotations, a summary that is not too large.
#include "reports/ci/github_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/reports/sample_result.h"

namespace ohm::reports {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

RunResult failures(std::size_t count) {
  ScenarioResult scenario;
  scenario.name = "many";
  scenario.file = "scenarios/many.lua";
  scenario.verdict = Verdict::failed;
  for (std::size_t i = 0; i < count; ++i) {
    VariantResult variant = test::sample_variant("v" + std::to_string(i), Role::mitigation,
                                                 Verdict::failed, 1024, "breaks a limit");
    variant.failure_type = FailureType::limit_exceeded;
    scenario.variants.push_back(std::move(variant));
  }
  RunResult result;
  result.scenarios = {scenario};
  return result;
}

std::ptrdiff_t lines(const std::string& text) { return std::count(text.begin(), text.end(), '\n'); }

TEST(GithubAnnotations, EscapeWhatACommandIsMadeOf) {
  RunResult result = failures(1);
  result.scenarios[0].file = "a,b:c%.lua";
  result.scenarios[0].variants[0].reason = "100 % of\r\nthis: that, too";
  result.scenarios[0].variants[0].rerun = "again";
  EXPECT_EQ(
      "::error file=a%2Cb%3Ac%25.lua,line=20,title=many.v0%3A LimitExceeded::100 %25 "
      "of\\x0D%0Athis: "
      "that, too%0Are-run: again\n",
      github_annotations(result, {}));
}

TEST(GithubAnnotations, WarnOfValuesThatWereNotComputed) {
  RunResult result = failures(1);
  VariantResult& variant = result.scenarios[0].variants[0];
  for (int line = 9; line < 15; ++line) {
    variant.unknown_values.push_back({UnknownUse::shape, "train.py", line, "", 1, line});
  }
  const std::string text = github_annotations(result, {});
  EXPECT_EQ(4, lines(text));
  EXPECT_THAT(text, StartsWith("::error "));
  EXPECT_THAT(text, HasSubstr("\n::warning file=train.py,line=9,title=many%3A values not computed::"
                              "shape at train.py:9 depends on values that were not computed\n"));
}

TEST(GithubAnnotations, AreTheWorstNineAndHowManyMore) {
  RunResult result = failures(30);
  result.scenarios[0].variants[25].verdict = Verdict::error;
  result.scenarios[0].variants[25].failure_type = FailureType::none;
  result.scenarios[0].variants[25].outcome = Outcome::crashed;
  const std::string text = github_annotations(result, {});
  EXPECT_EQ(10, lines(text));
  EXPECT_THAT(text,
              StartsWith("::error file=scenarios/many.lua,line=20,title=many.v25%3A crashed"));
  EXPECT_THAT(text, HasSubstr("::error title=ohm::21 more; the log has all of them\n"));
  EXPECT_EQ(10, lines(github_annotations(failures(10), {})));
  EXPECT_THAT(github_annotations(failures(10), {}), Not(HasSubstr("more;")));
}

TEST(GithubAnnotations, NameTheLineThatWasOutOfMemory) {
  RunResult result = failures(1);
  result.scenarios[0].variants[0].oom = test::sample_oom();
  EXPECT_THAT(github_annotations(result, {}), HasSubstr("leaked_loss_graph.lua,line=8,"));
}

TEST(GithubAnnotations, ARunThatPassedHasNone) {
  EXPECT_EQ("", github_annotations(RunResult{}, {}));
}

TEST(GithubSummary, NeverGoesBeyondWhatGithubTakes) {
  RunResult result = failures(40);
  const ScenarioResult one = result.scenarios[0];
  for (int i = 0; i < 400; ++i) result.scenarios.push_back(one);
  const std::string text = github_summary(result, {});
  EXPECT_LT(text.size(), kMostSummaryBytes);
  EXPECT_GT(text.size(), kMostSummaryBytes / 2);
  EXPECT_THAT(text, HasSubstr(" more; a summary has no more room."));
}

TEST(GithubSummary, TextsOfScriptsAreNoMarkup) {
  RunResult result = failures(1);
  result.scenarios[0].variants[0].reason = "a | b <script> [x](y)";
  EXPECT_THAT(github_summary(result, {}), HasSubstr("a \\| b &lt;script\\> \\[x\\](y)"));
}

}  // namespace
}  // namespace ohm::reports
