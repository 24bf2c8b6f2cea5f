// The JSON of results against the schemas that are shipped, and these against the fields.
#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <string>

#include "reports/json/fit_json.h"
#include "reports/json/json_report.h"
#include "reports/json/minimum_json.h"
#include "reports/json/replay_json.h"
#include "reports/json/sweep_json.h"
#include "reports/json/verification_json.h"
#include "tests/reports/filled.h"
#include "tests/reports/json/schema_of.h"
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
      "[\"passed\",\"failed\",\"error\",\"skipped\",\"recorded\"]\n",
      SchemaCheck(the_schema).errors(result));
}

TEST(JsonReport, KeepsTheSchemaWithEveryMemberSet) {
  const Json the_schema = schema();
  const std::string report = json_report(test::filled<RunResult>(), {});
  EXPECT_EQ("", SchemaCheck(the_schema).errors(Json::parse(report)));
}

/// The root of the source tree, where schemas lie among the files of ohm's own output.
test::GoldenFiles published() {
  test::GoldenFiles files;
  files.folder += "/../..";
  return files;
}

std::string schema_file(const std::string& kind) {
  return "reports/json/ohm." + kind + ".schema.json";
}

/// Compares, or approves, a schema.
template <class Result>
void expect_schema(const std::string& kind, const std::string& command,
                   test::NotFinite not_finite = test::NotFinite::word) {
  test::SchemaOf schema(not_finite);
  test::expect_golden(schema.text<Result>("ohm." + kind + "/1", command), schema_file(kind),
                      published());
}

TEST(Schemas, AreWhatTheFieldsSay) {
  expect_schema<RunResult>("result", "ohm run");
  expect_schema<SweepResult>("sweep", "ohm sweep");
  expect_schema<FitResult>("fit", "ohm fit", test::NotFinite::null);
  expect_schema<ReplayResult>("replay", "ohm replay");
  expect_schema<MinimumResult>("minimum", "ohm sweep --bytes");
  expect_schema<VerificationResult>("verification", "ohm verify-device");
}

TEST(Schemas, AreKeptByWhatIsWritten) {
  const auto errors = [](const std::string& kind, const std::string& report) {
    const Json schema = Json::parse(test::read_file(published().path_of(schema_file(kind))));
    return SchemaCheck(schema).errors(Json::parse(report));
  };
  EXPECT_EQ("", errors("sweep", sweep_json(test::filled<SweepResult>())));
  EXPECT_EQ("", errors("sweep", sweep_json(SweepResult())));
  EXPECT_EQ("", errors("fit", fit_json(test::filled<FitResult>())));
  EXPECT_EQ("", errors("fit", fit_json(FitResult())));
  EXPECT_EQ("", errors("replay", replay_json(test::filled<ReplayResult>())));
  EXPECT_EQ("", errors("replay", replay_json(ReplayResult())));
  EXPECT_EQ("", errors("minimum", minimum_json(test::filled<MinimumResult>())));
  EXPECT_EQ("", errors("minimum", minimum_json(MinimumResult())));
  EXPECT_EQ("", errors("verification", verification_json(test::filled<VerificationResult>())));
  EXPECT_EQ("", errors("verification", verification_json(VerificationResult())));
}

TEST(JsonReport, SaysWhatIsNotFiniteInWords) {
  RunResult result = test::sample_result();
  result.scenarios[0].variants[0].limits[0].measured = std::numeric_limits<double>::infinity();
  const Json json = Json::parse(json_report(result, {}));
  EXPECT_EQ("inf", json["scenarios"][0]["variants"][0]["limits"][0]["measured"]);
}

}  // namespace
}  // namespace ohm::reports
