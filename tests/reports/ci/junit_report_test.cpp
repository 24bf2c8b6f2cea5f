// JUnit XML, beside its golden file.
#include "reports/ci/junit_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ohm::reports {
namespace {

using ::testing::HasSubstr;

TEST(JunitReport, NamesTheFileThatALoadErrorIsIn) {
  ScenarioResult scenario;
  scenario.file = "scenarios/leak.lua";
  scenario.error = ErrorResult{"unexpected symbol", "scenarios/lib/model.lua", 7, {}, {}};
  RunResult result;
  result.scenarios = {scenario};
  EXPECT_THAT(junit_report(result, {}), HasSubstr("file=\"scenarios/lib/model.lua\" line=\"7\""));
  result.scenarios[0].error->file.clear();
  EXPECT_THAT(junit_report(result, {}), HasSubstr("file=\"scenarios/leak.lua\" line=\"7\""));
}

}  // namespace
}  // namespace ohm::reports
