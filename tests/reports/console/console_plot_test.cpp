// Memory in characters: plots, breakdowns, source lines.
#include "reports/console/console_plot.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "reports/console/console_breakdown.h"
#include "reports/console/console_report.h"
#include "reports/text/text_layout.h"

namespace ohm::reports {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr const char* kFile = "scenarios/x.lua";

/// Allocated bytes rise from 0 to 4 KiB; the limit is 3 KiB.
ScenarioResult rising() {
  ScenarioResult scenario;
  scenario.name = "x";
  scenario.file = kFile;
  scenario.source = {"-- one", "local a = f()", "-- three", "-- four", "-- five", "local b = g()"};
  VariantResult variant;
  variant.name = "grows";
  variant.verdict = Verdict::passed;
  LimitResult limit;
  limit.limit = "peak_allocated_bytes < 3 KiB";
  limit.bound = 3072;
  variant.limits = {limit};
  MemoryHistory history;
  history.events = 8;
  DeviceMemoryHistory device;
  device.device = "cuda:0";
  for (int i = 1; i <= 8; ++i) device.allocated_high.push_back(512 * i);
  history.devices = {device};
  variant.history = history;
  DeviceResult figures;
  figures.device = "cuda:0";
  figures.capacity_bytes = 1'000'000;
  figures.peak_allocated_bytes = 4096;
  figures.peak_by_category[static_cast<std::size_t>(Category::activation)] = 4096;
  PeakResult peak;
  peak.step = 2;
  peak.holders = {{3072, 3, Category::activation, "relu", kFile, 2, "local a = f()"},
                  {1024, 1, Category::activation, "add", kFile, 6, "local b = g()"}};
  figures.peak = peak;
  variant.devices = {figures};
  scenario.variants = {variant};
  return scenario;
}

ReportStyle narrow() {
  ReportStyle style;
  style.columns = 40;
  return style;
}

TEST(ConsolePlot, DrawsTheCurveAndTheLimitThroughIt) {
  EXPECT_EQ(
      "  grows (problem) on cuda:0: 4.00 KiB at\n"
      "  most\n"
      "    4.00 KiB │                   ⢀⣀⣀⣀⣿⣿⣿\n"
      "    3.00 KiB ┼╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌⢠⣤⣤⣼⣿⣿⣿⣿⣿⣿\n"
      "             │             ⣶⣶⣶⣾⣿⣿⣿⣿⣿⣿⣿⣿⣿\n"
      "             │      ⢀⣀⣀⣀⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿\n"
      "             │   ⢠⣤⣤⣼⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿\n"
      "             │⣶⣶⣶⣾⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿\n"
      "           0 └──────────────────────────\n"
      "                                8 events\n",
      console_plots(rising(), narrow()));
}

TEST(ConsolePlot, IsAsWideAsTheTerminal) {
  for (const std::size_t columns : {40U, 80U, 131U}) {
    ReportStyle style;
    style.columns = columns;
    std::istringstream lines(console_plots(rising(), style));
    std::size_t widest = 0;
    for (std::string line; std::getline(lines, line);) {
      widest = std::max(widest, display_width(line));
    }
    EXPECT_EQ(columns, widest);
  }
}

TEST(ConsolePlot, WithoutAHistoryThereIsNothingToDraw) {
  ScenarioResult scenario = rising();
  scenario.variants[0].history.reset();
  EXPECT_THAT(console_plots(scenario, {}), IsEmpty());
}

TEST(ConsoleBreakdown, SaysWhatWasAliveAtThePeak) {
  const std::string text = console_peaks(rising().variants[0], {});
  EXPECT_THAT(text, HasSubstr("grows at its peak on cuda:0, in step 2: 4.00 KiB (4,096 bytes)"));
  EXPECT_THAT(text, HasSubstr("activation          4.00 KiB  100.0 %"));
  EXPECT_THAT(text, HasSubstr("3 × relu  scenarios/x.lua:2"));
}

TEST(ConsoleBreakdown, PutsTheBytesBesideTheLines) {
  const ScenarioResult scenario = rising();
  EXPECT_EQ(
      "  scenarios/x.lua, and what its lines hold at the peak of grows\n"
      "                    1 │ -- one\n"
      "       3.00 KiB     2 │ local a = f()\n"
      "                    3 │ -- three\n"
      "                      …\n"
      "                    5 │ -- five\n"
      "       1.00 KiB     6 │ local b = g()\n",
      console_source(scenario, scenario.variants[0], {}));
}

TEST(ConsoleBreakdown, WithoutTheFileShowsTheLinesThatAreKnown) {
  ScenarioResult scenario = rising();
  scenario.source.clear();
  const std::string text = console_source(scenario, scenario.variants[0], {});
  EXPECT_THAT(text, HasSubstr("2 │ local a = f()"));
  EXPECT_THAT(text, Not(HasSubstr("-- one")));
}

TEST(ConsoleReport, ShowsPicturesOnlyWhereAsked) {
  ReportStyle style;
  EXPECT_THAT(console_scenario(rising(), style), Not(HasSubstr("│")));
  style.peaks = true;
  EXPECT_THAT(console_scenario(rising(), style), HasSubstr("what its lines hold"));
  style.plots = true;
  EXPECT_THAT(console_scenario(rising(), style), HasSubstr("⣿"));
}

}  // namespace
}  // namespace ohm::reports
