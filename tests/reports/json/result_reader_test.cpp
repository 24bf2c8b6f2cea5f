#include "reports/json/result_reader.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "reports/json/json_report.h"
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
  EXPECT_EQ(sample_text(), json_report(read_result(sample_text()), {}));
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
  EXPECT_EQ("$: no result of ohm run: it has no \"schema\"", refusal("[1, 2]"));
  EXPECT_EQ("$: its schema is \"ohm.replay/1\", not ohm.result/1",
            refusal(R"({"schema": "ohm.replay/1"})"));
  EXPECT_EQ("$.scenarios[0].variants[0]: has no \"role\"",
            refusal_of([](Json& json) { json["scenarios"][0]["variants"][0].erase("role"); }));
  EXPECT_EQ("$.scenarios[0].variants[1]: \"role\" is \"cure\", which is none of its words",
            refusal_of([](Json& json) { json["scenarios"][0]["variants"][1]["role"] = "cure"; }));
  EXPECT_EQ("$.scenarios[0].variants[0].devices[0]: \"num_ooms\" is no integer: \"one\"",
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
    EXPECT_TRUE(refusal(whole.substr(0, length)).starts_with("no JSON, or cut off")) << length;
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
