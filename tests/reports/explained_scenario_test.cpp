#include "reports/explained_scenario.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/reports/sample_result.h"
#include "tests/support/golden.h"

namespace ohm::reports {
namespace {

ExplainedScenario sample() {
  ExplainedScenario scenario;
  scenario.result = test::sample_result().scenarios.front();
  scenario.symptom = "memory grows a little with every iteration";
  scenario.cause = "A loss holds its graph.";
  scenario.what_to_do = "add up numbers.";
  scenario.chapter = "leaks";
  scenario.pytorch = "total_loss += loss.item()";
  scenario.keras = "metrics are numbers.";
  return scenario;
}

TEST(ExplainedScenario, IsPrintedAsApproved) {
  test::expect_golden(explained_text(sample(), {}), "reports/explained.txt");
}

TEST(ExplainedScenario, HandoutIsTaughtChapterByChapter) {
  std::vector<ExplainedScenario> scenarios(4, sample());
  scenarios[0].chapter = "unheard of";
  scenarios[1].chapter = "gpus";
  scenarios[3].chapter = "basics";
  const char* const names[] = {"zero", "one", "two", "three"};
  for (std::size_t i = 0; i < scenarios.size(); ++i) scenarios[i].result.name = names[i];
  const std::string text = handout(scenarios);
  std::size_t last = 0;
  for (const char* heading :
       {"## Where the memory goes\n\n### three: ", "## Things that live too long\n\n### two: ",
        "## Several GPUs\n\n### one: ", "## More\n\n### zero: "}) {
    const std::size_t at = text.find(heading, last);
    ASSERT_NE(at, std::string::npos) << heading << "\n" << text;
    last = at;
  }
  test::expect_golden(explained_markdown(sample()), "reports/explained.md");
}

TEST(ExplainedScenario, NamesTheAssumptionsThatFiguresRestOn) {
  ExplainedScenario scenario = sample();
  for (DeviceResult& device : scenario.result.variants[0].devices) {
    device.modelled = {"cudnn_workspace"};
  }
  EXPECT_NE(explained_text(scenario, {}).find("modelled, not exact: cudnn_workspace"),
            std::string::npos);
  EXPECT_NE(explained_markdown(scenario).find("modelled, not exact: cudnn_workspace"),
            std::string::npos);
}

TEST(ExplainedScenario, TextsOfScriptsDoNotReachTheTerminalAsTheyAre) {
  ExplainedScenario scenario = sample();
  scenario.symptom = "a\x1b[31m";
  scenario.result.variants[0].reason = "b\x1b[31m";
  EXPECT_EQ(explained_text(scenario, {}).find('\x1b'), std::string::npos);
  EXPECT_EQ(explained_markdown(scenario).find('\x1b'), std::string::npos);
}

}  // namespace
}  // namespace ohm::reports
