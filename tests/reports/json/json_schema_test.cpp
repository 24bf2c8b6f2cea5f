// The JSON report against the schema that is shipped.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "reports/json/json_report.h"
#include "tests/reports/sample_result.h"
#include "tests/support/golden.h"
#include "tests/support/schema_check.h"

namespace ohm::reports {
namespace {

using Json = nlohmann::json;
using test::SchemaCheck;

Json schema() { return Json::parse(test::read_file(OHM_RESULT_SCHEMA)); }
Json sample() { return Json::parse(json_report(test::sample_result(), {})); }

TEST(JsonReport, KeepsTheSchemaThatIsShipped) {
  const Json the_schema = schema();
  EXPECT_EQ("", SchemaCheck(the_schema).errors(sample()));
}

TEST(JsonReport, SchemaRefusesUnknownMissingAndWrongMembers) {
  const Json the_schema = schema();
  Json result = sample();
  result["extra"] = 1;
  result["scenarios"][0].erase("file");
  result["scenarios"][0]["verdict"] = "perhaps";
  result["scenarios"][0]["variants"][0]["steps"] = "50";
  EXPECT_EQ(
      "$: \"extra\" is not in the schema\n"
      "$.scenarios[0]: no \"file\"\n"
      "$.scenarios[0].variants[0].steps: \"50\" is not \"integer\"\n"
      "$.scenarios[0].verdict: \"perhaps\" is not in "
      "[\"passed\",\"failed\",\"error\",\"skipped\"]\n",
      SchemaCheck(the_schema).errors(result));
}

TEST(JsonReport, EveryNameOfAClosedSetIsInTheSchema) {
  const Json definitions = schema()["$defs"];
  const auto expect_all = [&](const char* definition, const auto& names) {
    Json expected = Json::array();
    for (const std::string_view name : names) expected.push_back(std::string(name));
    EXPECT_EQ(expected, definitions[definition]["enum"]) << definition;
  };
  expect_all("verdict", kVerdictNames);
  expect_all("outcome", kOutcomeNames);
  expect_all("equivalence", kEquivalenceNames);
  expect_all("unit", kUnitNames);
  expect_all("category", kCategoryNames);
  std::vector<std::string_view> roles(kRoleNames.size());
  std::transform(kRoleNames.begin(), kRoleNames.end(), roles.begin(),
                 [](const RoleName& role) { return role.name; });
  expect_all("role", roles);
  std::vector<std::string_view> reasons(kExitCodes.size());
  std::transform(kExitCodes.begin(), kExitCodes.end(), reasons.begin(),
                 [](const ExitCode& code) { return code.reason; });
  expect_all("exit_reason", reasons);
}

TEST(JsonReport, SaysWhatIsNotFiniteInWords) {
  RunResult result = test::sample_result();
  result.scenarios[0].variants[0].limits[0].measured = std::numeric_limits<double>::infinity();
  const Json json = Json::parse(json_report(result, {}));
  EXPECT_EQ("inf", json["scenarios"][0]["variants"][0]["limits"][0]["measured"]);
}

}  // namespace
}  // namespace ohm::reports
