#include "reports/json/result_reader.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "reports/json/json_report.h"
#include "tests/reports/filled.h"
#include "tests/reports/sample_result.h"
#include "tests/support/golden.h"
#include "tests/support/temp_folder.h"

namespace ohm::reports {
namespace {

using Json = nlohmann::json;

std::string sample_text() { return json_report(test::sample_result(), {}); }

std::string refusal(const std::string& text) {
  try {
    read_result(text);
  } catch (const ResultError& error) {
    return error.what();
  }
  return "none";
}

template <class Change>
std::string refusal_of(Change&& change) {
  Json json = Json::parse(sample_text());
  change(json);
  return refusal(json.dump());
}

TEST(ResultReader, ReadsAllThatIsWritten) {
  RunResult written = test::filled<RunResult>();
  for (ScenarioResult& scenario : written.scenarios) scenario.heat_maps.clear();  // not in JSON
  const std::string text = json_report(written, {});
  const RunResult read = read_result(text);
  test::Differences differences;
  differences.compare(written, read);
  EXPECT_EQ(std::set<std::string>(), differences.names());
  EXPECT_EQ(text, json_report(read, {}));
  EXPECT_EQ(sample_text(), json_report(read_result(sample_text()), {}));
}

TEST(ResultReader, ReadsParameters) {
  RunResult written = test::sample_result();
  written.scenarios.at(0).parameters = {{"batch", 8, 2}};
  const RunResult read = read_result(json_report(written, {}));
  ASSERT_EQ(read.scenarios.at(0).parameters.size(), 1U);
  EXPECT_EQ(read.scenarios.at(0).parameters[0].name, "batch");
  EXPECT_EQ(read.scenarios.at(0).parameters[0].value, 8);
  EXPECT_EQ(read.scenarios.at(0).parameters[0].default_value, 2);
}

TEST(ResultReader, ReadsResultsOfOlderVersions) {
  Json json = Json::parse(sample_text());
  for (Json& scenario : json["scenarios"]) {
    for (Json& variant : scenario["variants"]) {
      for (Json& device : variant["devices"]) {
        device.erase("rules");
        device.erase("alloc_conf");
      }
    }
  }
  EXPECT_EQ(read_result(json.dump()).scenarios.at(0).variants.at(0).devices.at(0).rules, "");
}

TEST(ResultReader, RefusesHistoriesWhoseColumnsDoNotBelongTogether) {
  const auto refusal_with = [](const auto& change) {
    return refusal_of([&](Json& json) { change(json["scenarios"][0]["variants"][0]["history"]); });
  };
  const std::string place = "$.scenarios[0].variants[0].history";
  EXPECT_EQ(place + ".devices[0].blocks: column \"bytes\" has another length",
            refusal_with([](Json& json) { json["devices"][0]["blocks"]["bytes"] = "1 2"; }));
  EXPECT_EQ(place + ".devices[0].blocks: column \"end\" has another length",
            refusal_with([](Json& json) { json["devices"][0]["blocks"]["begin"] = ""; }));
  EXPECT_EQ(place + ": a memory history whose blocks have a site that is not in its table",
            refusal_with([](Json& json) { json["devices"][0]["blocks"]["site"] = "0 1 2 1"; }));
  EXPECT_EQ(place + ".devices[0].blocks: \"begin\" is not a list of numbers",
            refusal_with([](Json& json) { json["devices"][0]["blocks"]["begin"] = "1 x 3 4"; }));
  EXPECT_EQ(place + ".devices[0].blocks: \"category\" has an unknown word",
            refusal_with([](Json& json) { json["devices"][0]["blocks"]["category"] = "0 1 2 9"; }));
  EXPECT_EQ(place + ": a memory history whose curves have another length",
            refusal_with([](Json& json) { json["events"] = 7; }));
  EXPECT_EQ(place + ": a memory history whose buckets have no events",
            refusal_with([](Json& json) { json["events_per_bucket"] = 0; }));
}

TEST(ResultReader, ReadsWhichFiguresAreModelled) {
  RunResult written = test::sample_result();
  DeviceResult& device = written.scenarios.at(0).variants.at(0).devices.at(0);
  EXPECT_TRUE(device.modelled.empty());
  device.modelled = {"cudnn_workspace"};
  const RunResult read = read_result(json_report(written, {}));
  EXPECT_EQ(read.scenarios.at(0).variants.at(0).devices.at(0).modelled, device.modelled);
}

TEST(ResultReader, PassesOverWhatLaterVersionsAdd) {
  Json json = Json::parse(sample_text());
  json["later"] = 1;
  json["scenarios"][0]["variants"][0]["devices"][0]["later"] = {1, 2};
  EXPECT_EQ(sample_text(), json_report(read_result(json.dump()), {}));
}

TEST(ResultReader, SaysWhereTheFirstMistakeIs) {
  EXPECT_EQ(
      "$: its schema is ohm.result/2, this program reads ohm.result/1: use the ohm that wrote "
      "it, or a newer one",
      refusal_of([](Json& json) { json["schema"] = "ohm.result/2"; }));
  EXPECT_EQ("$: not a result of ohm run: it has no \"schema\"", refusal("[1, 2]"));
  EXPECT_EQ("$: its schema is \"ohm.replay/1\", not ohm.result/1",
            refusal(R"({"schema": "ohm.replay/1"})"));
  EXPECT_EQ("$.scenarios[0].variants[0]: has no \"role\"",
            refusal_of([](Json& json) { json["scenarios"][0]["variants"][0].erase("role"); }));
  EXPECT_EQ("$.scenarios[0].variants[1]: \"role\" is \"cure\", which is none of its words",
            refusal_of([](Json& json) { json["scenarios"][0]["variants"][1]["role"] = "cure"; }));
  EXPECT_EQ("$.scenarios[0].variants[0].devices[0]: \"num_ooms\" is not an integer: \"one\"",
            refusal_of([](Json& json) {
              json["scenarios"][0]["variants"][0]["devices"][0]["num_ooms"] = "one";
            }));
  EXPECT_EQ(
      "$.scenarios[0].variants[0].history: a memory history whose curves have another length",
      refusal_of([](Json& json) { json["scenarios"][0]["variants"][0]["history"]["events"] = 9; }));
}

TEST(ResultReader, RefusesEveryTextThatIsCutOff) {
  const std::string whole = sample_text();
  for (std::size_t length = 0; length + 2 < whole.size(); length += 97) {
    EXPECT_TRUE(refusal(whole.substr(0, length)).starts_with("not JSON, or cut off")) << length;
  }
}

TEST(ResultReader, NamesTheFileThatItCannotRead) {
  const test::TempFolder folder;
  try {
    read_result_file(folder.file("missing.json"));
    FAIL() << "no error";
  } catch (const ResultError& error) {
    EXPECT_EQ("cannot read " + folder.file("missing.json") + ": No such file or directory",
              std::string(error.what()));
  }
  EXPECT_THROW(read_result_file(folder.file("")), ResultError);
}

}  // namespace
}  // namespace ohm::reports
