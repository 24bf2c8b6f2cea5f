#include "reports/console/console_retention.h"

#include <gtest/gtest.h>

#include <string>

namespace ohm::reports {
namespace {

VariantResult kept_by_a_total() {
  VariantResult variant;
  variant.name = "sum";
  RetentionResult retention;
  retention.device = "cuda:0";
  retention.bytes = 3 << 20;
  retention.other_bytes = 512;
  RetainedResult entry;
  entry.variable = "total";
  entry.function = "validate";
  entry.line = 9;
  entry.bytes = 2 << 20;
  entry.path = {"total", "grad_fn AddBackward0", "saved relu"};
  retention.entries = {entry};
  variant.retention = retention;
  return variant;
}

ReportStyle narrow_style() {
  ReportStyle style;
  style.color = false;
  style.columns = 80;
  return style;
}

TEST(ConsoleRetention, SaysWhichVariableKeepsWhatAndHow) {
  EXPECT_EQ(
      "  sum: what its variables keep alive at the peak, of 3.00 MiB on cuda:0\n"
      "       2.00 MiB  total (validate, line 9)\n"
      "                 total → grad_fn AddBackward0 → saved relu\n"
      "          512 B  no variable: temporaries of what was running\n",
      console_retention("sum", kept_by_a_total(), narrow_style()));
}

TEST(ConsoleRetention, ShowsTheLargestOnesUnlessAllAreWanted) {
  VariantResult variant = kept_by_a_total();
  variant.retention->entries.resize(7, variant.retention->entries.front());
  EXPECT_NE(std::string::npos,
            console_retention("sum", variant, narrow_style()).find("and 3 more variables"));
  ReportStyle verbose = narrow_style();
  verbose.detail = Detail::verbose;
  EXPECT_EQ(std::string::npos, console_retention("sum", variant, verbose).find("more variables"));
}

TEST(ConsoleRetention, NamesOfAnyOriginDoNotCommandTheTerminal) {
  VariantResult variant = kept_by_a_total();
  variant.retention->entries[0].variable = "a\x1b[2Jb\u202e\u202c";
  const std::string text = console_retention("sum", variant, narrow_style());
  EXPECT_EQ(std::string::npos, text.find('\x1b'));
  EXPECT_NE(std::string::npos, text.find("a\\x1B[2Jb\\u202E"));
}

TEST(ConsoleRetention, IsSilentWhereNothingWasLookedAt) {
  EXPECT_EQ("", console_retention("sum", VariantResult(), narrow_style()));
}

}  // namespace
}  // namespace ohm::reports
