#include "harness/cli/man_page.h"

#include <gtest/gtest.h>

#include "tests/support/text.h"

namespace ohm::cli {
namespace {

DescribedCommand command() {
  DescribedOption jobs{{"-j", "--jobs"}, "", "N", ".5 or 'more'", false, false, {}};
  DescribedOption files{{}, "FILES", "", "What to run", false, true, {}};
  return {"run", "Run scenarios", "ohm run a.lua\nohm run -j 2 b\\c", true, {files, jobs}};
}

TEST(ManPage, HasTheOptionsInTheWordsOfTheHelp) {
  const std::string page = man_page(command());
  EXPECT_TRUE(test::contains(page, ".SH NAME\nohm\\-run \\- Run scenarios\n")) << page;
  EXPECT_TRUE(test::contains(page,
                             "\\fBohm\\fR \\fBrun\\fR [\\fIOPTIONS\\fR] [\\fIFILES\\fR ...] "
                             "[\\fB\\-\\-\\fR \\fICOMMAND\\fR ...]\n"))
      << page;
  EXPECT_TRUE(test::contains(page,
                             ".TP\n\\fB\\-j\\fR, \\fB\\-\\-jobs\\fR \\fIN\\fR\n"
                             "\\&.5 or \\(aqmore\\(aq\n"))
      << page;
  EXPECT_TRUE(test::contains(page, "ohm run a.lua\nohm run \\-j 2 b\\ec\n")) << page;
  EXPECT_TRUE(test::contains(page, ".TP\n\\fB124\\fR\na variant ran longer")) << page;
}

TEST(ManPage, OfTheProgramListsTheCommands) {
  const std::vector<DescribedCommand> all = {command()};
  EXPECT_TRUE(
      test::contains(man_page(all), ".TP\n\\fBrun\\fR (see \\fBohm\\-run\\fR(1))\nRun scenarios\n"))
      << man_page(all);
}

}  // namespace
}  // namespace ohm::cli
