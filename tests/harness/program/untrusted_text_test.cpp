// Texts of a scenario, wherever they end: a terminal, the log of a workflow, Markdown. They command
// nothing, look like nothing else, and end somewhere.
#include <gmock/gmock.h>

#include <sstream>

#include "tests/harness/program/program_test.h"

namespace ohm {
namespace {

using test::ProgramResult;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kEvil = R"lua(-- Something <script>alert(1)</script> goes wrong
--
-- Symptom: <img src=x> and `List<int>`
local function run(device)
  print("::error::printed")
  error("bad\n::error::raised \27[31m \7 \u{202E}abc ##[error]old")
end
return ohm.scenario {
  name = "bad",
  summary = "a <b>\n::error title=x::from a summary \27[2J \u{202E}z ##[warning]w",
  gpu = {profile = "tiny-64m"}, limits = {"num_ooms == 0"},
  problems = {it = run}, mitigations = {ok = function() return {} end}}
)lua";

class UntrustedText : public test::ProgramTest {
 protected:
  UntrustedText() { folder_.write("evil.lua", kEvil); }

  ProgramResult in_a_workflow(const std::vector<std::string>& arguments) const {
    return test::run_program(folder_.path().string(), arguments, [&] {
      ::setenv("GITHUB_ACTIONS", "true", 1);
      ::setenv("GITHUB_STEP_SUMMARY", file("summary.md").c_str(), 1);
    });
  }

  static void expect_harmless(const std::string& text) {
    for (const char* const bad : {"\x1b", "\x07", "\xE2\x80\xAE"}) {
      EXPECT_THAT(text, Not(HasSubstr(bad)));
    }
  }

  /// Commands of ohm's own name a file.
  static void expect_no_commands(const std::string& text) {
    EXPECT_THAT(text, Not(HasSubstr("##[")));
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      line.erase(0, line.find_first_not_of(' '));
      EXPECT_FALSE(line.starts_with("::") && !line.starts_with("::error file=evil.lua")) << line;
    }
  }
};

TEST_F(UntrustedText, CommandsNeitherATerminalNorAWorkflow) {
  const std::vector<std::vector<std::string>> commands = {
      {"run", "evil.lua", "-v"},
      {"list", "evil.lua"},
      {"explain", "evil.lua"},
      {"explain", "evil.lua", "--markdown"},
      {"sweep", "evil.lua"},
      {"fit", "evil.lua", "--vary", "capacity"},
      {"run", "evil.lua", "--report", "markdown=-"},
      {"run", "evil.lua", "--report", "github=-"}};
  for (const std::vector<std::string>& command : commands) {
    SCOPED_TRACE(command.front() + " " + command.back());
    const ProgramResult ran = in_a_workflow(command);
    for (const std::string& text : {ran.out, ran.err}) {
      expect_harmless(text);
      expect_no_commands(text);
    }
    EXPECT_FALSE(ran.out.empty());
  }
  const std::string summary = test::read_file(file("summary.md"));
  EXPECT_THAT(summary, HasSubstr("bad"));
  expect_harmless(summary);
}

TEST_F(UntrustedText, IsNoHtmlInMarkdown) {
  const std::string markdown = ohm({"explain", "evil.lua", "--markdown"}).out;
  EXPECT_THAT(markdown, HasSubstr("&lt;script>"));
  EXPECT_THAT(markdown, HasSubstr("&lt;img src=x> and `List<int>`"));
  EXPECT_THAT(markdown, HasSubstr("a &lt;b>"));
  EXPECT_THAT(markdown, Not(HasSubstr("<script")));
}

TEST_F(UntrustedText, OfAnyLengthIsCutInEveryReport) {
  folder_.write("long.lua", test::scenario_with_problem("  error(('x'):rep(5e7))"));
  const ProgramResult ran = ohm({"run", "long.lua", "-v", "--report", "json=out.json", "--report",
                                 "html=out.html", "--report", "junit=out.xml"});
  EXPECT_EQ(3, ran.code) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("47.68 MiB more)"));
  EXPECT_LT(ran.out.size(), 100'000U);
  for (const char* const name : {"out.json", "out.xml"}) {
    const std::string report = test::read_file(file(name));
    EXPECT_LT(report.size(), 100'000U) << name;
    EXPECT_THAT(report, HasSubstr("47.68 MiB more)")) << name;
  }
  EXPECT_THAT(test::read_file(file("out.html")), HasSubstr("47.68 MiB more)"));
  EXPECT_LT(test::read_file(file("out.html")).size(), 300'000U);
}

}  // namespace
}  // namespace ohm
