// Bad input of commands that read results, baselines and snapshots: a clear error, the documented
// exit code, files as they were.
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <filesystem>

#include "tests/harness/program/program_test.h"

namespace ohm {
namespace {

using test::ProgramResult;
using ::testing::HasSubstr;
using BadReportInput = test::ProgramTest;

struct BadFile {
  const char* name;
  std::string text;
  const char* says;
};

std::vector<BadFile> bad_files() {
  return {
      {"newer.json", R"({"schema": "ohm.result/2", "scenarios": []})",
       "its schema is ohm.result/2, this program reads ohm.result/1"},
      {"cut.json", R"({"schema": "ohm.result/1", "exit_rea)", "not JSON, or cut off"},
      {"other.json", R"({"schema": "ohm.sweep/1"})", "its schema is \"ohm.sweep/1\""},
      {"list.json", "[1, 2]", "it has no \"schema\""},
      {"empty.json", "", "not JSON, or cut off"},
      {"words.json", R"({"schema": "ohm.result/1", "exit_reason": "passed", "scenarios": 7})",
       "\"scenarios\" is not a list"},
      {"cut.pickle", std::string("\x80\x04\x95\x10", 4), "cut.pickle"},
      {"code.pickle", std::string("\x80\x04\x8c\x02os\x8c\x06system\x93.", 16), "code.pickle"},
      {"list.pickle", std::string("\x80\x04].", 4), "list.pickle"},
  };
}

TEST_F(BadReportInput, IsAClearErrorOfReportAndDiff) {
  ASSERT_EQ(0, ohm({"run", "good.lua", "--report", "json=good.json", "-q"}).code);
  folder_.write("out.html", "mine");
  for (const BadFile& bad : bad_files()) {
    SCOPED_TRACE(bad.name);
    folder_.write(bad.name, bad.text);
    const ProgramResult report = ohm({"report", bad.name, "-o", "out.html"});
    EXPECT_EQ(3, report.code) << report.out;
    EXPECT_THAT(report.err, HasSubstr(bad.name));
    EXPECT_THAT(report.err, HasSubstr(bad.says));
    EXPECT_EQ(3, ohm({"diff", bad.name, "good.json"}).code);
    EXPECT_EQ(3, ohm({"diff", "good.json", bad.name}).code);
  }
  EXPECT_EQ("mine", test::read_file(file("out.html")));
}

TEST_F(BadReportInput, WhatIsNotThereIsNamed) {
  for (const char* command : {"report", "diff", "replay"}) {
    std::vector<std::string> arguments = {command, "gone.json"};
    if (arguments[0] == "diff") arguments.emplace_back("gone.json");
    const ProgramResult ran = ohm(arguments);
    EXPECT_EQ(3, ran.code) << command;
    EXPECT_THAT(ran.err, HasSubstr("gone.json"));
  }
  EXPECT_EQ(3, ohm({"report", "."}).code);
  EXPECT_EQ(2, ohm({"report"}).code);
  EXPECT_EQ(2, ohm({"diff", "one.json"}).code);
}

TEST_F(BadReportInput, APathThatCannotBeWrittenIsAUsageErrorBeforeTheRun) {
  for (const char* path : {"html=/no/such/folder/out.html", "html=good.lua/out.html"}) {
    const ProgramResult ran = ohm({"run", "good.lua", "--report", path});
    EXPECT_EQ(2, ran.code) << path;
    EXPECT_EQ("", ran.out) << path;
  }
}

TEST_F(BadReportInput, ADeviceWithoutSpaceLeavesTheFileAsItWas) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "there is no /dev/full";
  const ProgramResult ran = ohm({"run", "good.lua", "--report", "html=/dev/full"});
  EXPECT_EQ(2, ran.code);
  EXPECT_THAT(ran.err, HasSubstr("/dev/full"));
}

TEST_F(BadReportInput, BaselinesThatWereEditedIntoNonsenseHoldNothing) {
  ASSERT_EQ(0, ohm({"baseline", "update", "good.lua"}).code);
  const std::string good = test::read_file(file("good.baseline"));
  const std::vector<std::pair<std::string, const char*>> edits = {
      {"", "is empty"},
      {"hello\n", "a baseline begins with ohm.baseline/2"},
      {"ohm.baseline/9\n", "its format is ohm.baseline/9, this program reads ohm.baseline/2"},
      {"ohm.baseline/2\n  steps 4\n", "figures before the first variant"},
      {"ohm.baseline/2\nvariant a\nvariant a\n", "a appears twice"},
      {"ohm.baseline/2\nvariant kept\n  cuda:0 peak_allocated_bytes -4\n",
       "\"-4\" is not a figure"},
      {"ohm.baseline/2\nvariant kept\n  cuda:0 peak 4\n", "\"peak\" is not a figure"},
      {"ohm.baseline/2\nvariant kept\n  cuda:0 holds 4 in 1 relu []\n",
       "\"relu\" is not a category"},
      {"ohm.baseline/2\nvariant kept\n  outcome fine\n", "\"fine\" is not an outcome"},
      {std::string("ohm.baseline/2\nvariant \x01\xff\n  steps x\n"), "\"x\" is not a figure"},
  };
  for (const auto& [text, says] : edits) {
    folder_.write("good.baseline", text);
    for (const char* command : {"run", "check", "show"}) {
      std::vector<std::string> arguments = {"run", "good.lua"};
      if (std::string(command) != "run") arguments = {"baseline", command, "good.lua"};
      const ProgramResult ran = ohm(arguments);
      EXPECT_EQ(3, ran.code) << command << ": " << text;
      EXPECT_THAT(ran.out + ran.err, HasSubstr(says)) << command;
    }
    EXPECT_EQ(text, test::read_file(file("good.baseline")));
  }
  // What is written anew is what it was.
  EXPECT_EQ(0, ohm({"baseline", "update", "good.lua"}).code);
  EXPECT_EQ(good, test::read_file(file("good.baseline")));
}

TEST_F(BadReportInput, ResultsOfTwoRuleSetsAreNotTakenForEqual) {
  ASSERT_EQ(0, ohm({"run", "good.lua", "--report", "json=a.json", "-q"}).code);
  ASSERT_EQ(
      0, ohm({"run", "good.lua", "--rules", "pytorch-2.10", "--report", "json=b.json", "-q"}).code);
  const ProgramResult diff = ohm({"diff", "a.json", "b.json", "--exit-code"});
  EXPECT_EQ(1, diff.code);
  EXPECT_THAT(diff.out, HasSubstr("the rules of cuda:0 was pytorch-2.15, is pytorch-2.10"));
}

}  // namespace
}  // namespace ohm
