// The JSON report against the schema that is shipped: the part of JSON Schema that it uses.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "reports/json_report.h"
#include "tests/reports/sample_result.h"
#include "tests/support/golden.h"

namespace ohm::reports {
namespace {

using Json = nlohmann::json;

class SchemaCheck {
 public:
  explicit SchemaCheck(const Json& schema) : root_(schema) {}

  /// Where and why `value` breaks the schema; empty when it does not.
  std::string errors(const Json& value) const { return errors(value, root_, "$"); }

 private:
  const Json& resolved(const Json& schema) const {
    if (!schema.contains("$ref")) return schema;
    const std::string reference = schema["$ref"];
    return root_.at(Json::json_pointer(reference.substr(1)));
  }

  static bool is_of_type(const Json& value, const std::string& type) {
    if (type == "object") return value.is_object();
    if (type == "array") return value.is_array();
    if (type == "string") return value.is_string();
    if (type == "boolean") return value.is_boolean();
    if (type == "integer") return value.is_number_integer();
    if (type == "number") return value.is_number();
    return type == "null" && value.is_null();
  }

  static bool is_of_any_type(const Json& value, const Json& types) {
    if (types.is_string()) return is_of_type(value, types);
    return std::any_of(types.begin(), types.end(),
                       [&](const Json& type) { return is_of_type(value, type); });
  }

  std::string errors(const Json& value, const Json& unresolved, const std::string& at) const {
    const Json& schema = resolved(unresolved);
    if (schema.contains("type") && !is_of_any_type(value, schema["type"])) {
      return at + ": " + value.dump() + " is not " + schema["type"].dump() + "\n";
    }
    if (schema.contains("enum")) {
      const Json& allowed = schema["enum"];
      const bool is_allowed = std::find(allowed.begin(), allowed.end(), value) != allowed.end();
      if (!is_allowed) return at + ": " + value.dump() + " is not in " + allowed.dump() + "\n";
    }
    std::string all;
    if (value.is_object()) all += object_errors(value, schema, at);
    if (value.is_array() && schema.contains("items")) {
      for (std::size_t i = 0; i < value.size(); ++i) {
        all += errors(value[i], schema["items"], fmt::format("{}[{}]", at, i));
      }
    }
    return all;
  }

  std::string object_errors(const Json& value, const Json& schema, const std::string& at) const {
    std::string all;
    for (const Json& name : schema.value("required", Json::array())) {
      if (value.contains(name.get<std::string>())) continue;
      all += fmt::format("{}: no {}\n", at, name.dump());
    }
    const Json properties = schema.value("properties", Json::object());
    for (const auto& [name, member] : value.items()) {
      if (properties.contains(name)) {
        all += errors(member, properties[name], fmt::format("{}.{}", at, name));
      } else {
        all += fmt::format("{}: \"{}\" is not in the schema\n", at, name);
      }
    }
    return all;
  }

  const Json& root_;
};

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
