#include "reports/reporter.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>
#include <stdexcept>
#include <string>

#include "reports/text/text_layout.h"
#include "reports/text/unknown_values_text.h"
#include "tests/reports/sample_result.h"
#include "tests/support/golden.h"
#include "tests/support/text.h"

namespace ohm::reports {
namespace {

std::string rendered(const std::string& name, const ReportStyle& style = {}) {
  return find_reporter(name).render(test::sample_result(), style);
}

/// Without what is compressed: its bytes depend on the version of zlib.
std::string without_data(const std::string& report) {
  static const std::regex data("(class=\"data\">)[A-Za-z0-9+/=]*");
  return std::regex_replace(report, data, "$1");
}

TEST(Reporter, EveryFormatOfTheRegistryHasAGolden) {
  for (const Reporter& reporter : reporters()) {
    const std::string name(reporter.name);
    SCOPED_TRACE(name);
    test::expect_golden(without_data(rendered(name)), "reports/sample." + name);
  }
}

TEST(Reporter, UnknownFormatSuggestsTheNearest) {
  try {
    find_reporter("jnuit");
    FAIL() << "no error";
  } catch (const std::invalid_argument& error) {
    EXPECT_STREQ(
        "unknown report format \"jnuit\" (did you mean \"junit\"?); known: codequality, console, "
        "github, html, json, junit, markdown, trace",
        error.what());
  }
}

TEST(ConsoleReport, IsNoWiderThanTheTerminal) {
  for (const std::size_t columns : {80U, 100U, 140U}) {
    ReportStyle style;
    style.columns = columns;
    style.detail = Detail::verbose;
    std::istringstream lines(rendered("console", style));
    for (std::string line; std::getline(lines, line);) {
      // A command to copy stays on one line.
      const bool is_command = line.find("re-run:") != std::string::npos;
      EXPECT_TRUE(is_command || display_width(line) <= columns) << line;
    }
  }
}

TEST(ConsoleReport, ColourAddsEscapesAndChangesNothingElse) {
  ReportStyle style;
  style.color = true;
  const std::string coloured = rendered("console", style);
  std::string bare;
  for (std::size_t i = 0; i < coloured.size(); ++i) {
    if (coloured[i] == '\x1b') {
      i = coloured.find('m', i);
    } else {
      bare += coloured[i];
    }
  }
  EXPECT_NE(coloured, bare);
  EXPECT_EQ(rendered("console"), bare);
}

TEST(ConsoleReport, QuietShowsFailuresAndTheSummaryOnly) {
  ReportStyle style;
  style.detail = Detail::quiet;
  const std::string text = rendered("console", style);
  EXPECT_EQ(std::string::npos, text.find("unbalanced_data_parallel"));
  EXPECT_EQ(std::string::npos, text.find("what was alive"));
  EXPECT_NE(std::string::npos, text.find("half_the_steps"));
  EXPECT_NE(std::string::npos, text.find("3 scenarios, 6 variants: 4 passed, 1 failed, 1 error"));
}

TEST(Reporters, NameTheAssumptionsThatFiguresRestOn) {
  RunResult result = test::sample_result();
  for (VariantResult& variant : result.scenarios.at(0).variants) {
    for (DeviceResult& device : variant.devices) device.modelled = {"cudnn_workspace"};
  }
  for (const std::string name : {"console", "html", "json", "junit", "markdown"}) {
    SCOPED_TRACE(name);
    EXPECT_EQ(std::string::npos, rendered(name).find("cudnn_workspace"));
    EXPECT_NE(std::string::npos, find_reporter(name).render(result, {}).find("cudnn_workspace"));
  }
}

TEST(Reporters, SayWhichLinesReadValuesThatWereNotComputed) {
  RunResult result = test::sample_result();
  VariantResult& variant = result.scenarios.at(0).variants.at(0);
  variant.unknown_values = {{UnknownUse::shape, "train.py", 9, "0 of <5> rows selected", 1, 1}};
  variant.findings = {unknown_values_finding(variant)};
  for (const std::string name : {"console", "html", "json", "junit", "markdown", "github"}) {
    SCOPED_TRACE(name);
    const std::string text = test::on_one_line(find_reporter(name).render(result, {}));
    EXPECT_NE(std::string::npos, text.find("values that were not computed"));
    EXPECT_TRUE(name != "html" || text.find("<5>") == std::string::npos);
  }
}

TEST(Reporters, SpellWhatWouldBeACommandInTheirOwnLanguage) {
  RunResult result = test::sample_result();
  result.scenarios.at(0).name = "##[error]";
  result.scenarios.at(0).variants.at(0).name = "##[error]";
  const auto logged = [&](std::string_view name) {
    return without_workflow_commands(find_reporter(name).render(result, {}),
                                     *command_spelling(name));
  };
  EXPECT_EQ(nullptr, command_spelling("github"));
  EXPECT_EQ(nlohmann::json::parse(logged("json"))["scenarios"][0]["name"], "##[error]");
  for (const std::string name : {"html", "junit"}) {
    SCOPED_TRACE(name);
    EXPECT_NE(std::string::npos, logged(name).find("&#35;#[error]"));
  }
  EXPECT_NE(std::string::npos, logged("console").find("#\\#[error]"));
  for (const SweepReporter& reporter : sweep_reporters()) {
    EXPECT_NE(nullptr, command_spelling(reporter.name)) << reporter.name;
  }
}

}  // namespace
}  // namespace ohm::reports
