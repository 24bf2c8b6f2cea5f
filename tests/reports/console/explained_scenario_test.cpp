#include "reports/console/explained_scenario.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/reports/sample_result.h"
#include "tests/support/golden.h"

namespace ohm::reports {
namespace {

ExplainedScenario scenario_sample() {
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
  test::expect_golden(explained_text(scenario_sample(), {}), "reports/explained.txt");
}

TEST(ExplainedScenario, HandoutIsTaughtChapterByChapter) {
  std::vector<ExplainedScenario> scenarios(4, scenario_sample());
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
  test::expect_golden(explained_markdown(scenario_sample()), "reports/explained.md");
}

TEST(ExplainedScenario, SaysTheSameOnlyOfWhatIsTheSame) {
  ExplainedScenario scenario;
  scenario.result.name = "s";
  scenario.result.variants = {
      test::sample_variant("problem", Role::problem, Verdict::passed, 1 << 30, "breaks"),
      test::sample_variant("equal", Role::non_fix, Verdict::passed, 1 << 30, "still breaks"),
      test::sample_variant("less", Role::partial, Verdict::passed, (1 << 30) - 3000000, "a bit"),
      test::sample_variant("nothing", Role::check, Verdict::passed, 0, "returns"),
      test::sample_variant("little", Role::check, Verdict::passed, 1 << 20, "returns")};
  for (VariantResult& variant : scenario.result.variants) variant.of = "problem";
  const std::string text = explained_text(scenario, {});
  for (const char* words :
       {"1.00 GiB (the same)  still breaks", "(−0.3 %)", "0 B (−100 %)", "1.00 MiB (−99.9 %)"}) {
    EXPECT_NE(text.find(words), std::string::npos) << words << "\n" << text;
  }
}

TEST(ExplainedScenario, NamesTheAssumptionsThatFiguresRestOn) {
  ExplainedScenario scenario = scenario_sample();
  for (DeviceResult& device : scenario.result.variants[0].devices) {
    device.modelled = {"cudnn_workspace"};
  }
  EXPECT_NE(explained_text(scenario, {}).find("modelled, not exact: cudnn_workspace"),
            std::string::npos);
  EXPECT_NE(explained_markdown(scenario).find("modelled, not exact: cudnn_workspace"),
            std::string::npos);
}

TEST(ExplainedScenario, TextsOfScriptsDoNotReachTheTerminalAsTheyAre) {
  ExplainedScenario scenario = scenario_sample();
  scenario.symptom = "a\x1b[31m";
  scenario.result.variants[0].reason = "b\x1b[31m";
  EXPECT_EQ(explained_text(scenario, {}).find('\x1b'), std::string::npos);
  EXPECT_EQ(explained_markdown(scenario).find('\x1b'), std::string::npos);
}

}  // namespace
}  // namespace ohm::reports
