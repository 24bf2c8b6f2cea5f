#include "reports/ci/workflow_commands.h"

#include <gtest/gtest.h>

#include <string>

namespace ohm::reports {
namespace {

TEST(WorkflowCommands, AreNoneInTextForPeople) {
  EXPECT_EQ("a\n\\::error::b\n  \\::x", without_workflow_commands("a\n::error::b\n  ::x"));
  EXPECT_EQ("\\::add-mask::c", without_workflow_commands("::add-mask::c"));
  EXPECT_EQ("a #\\#[error]b", without_workflow_commands("a ##[error]b"));
  EXPECT_EQ("a\r\\::b", without_workflow_commands("a\r::b"));
}

TEST(WorkflowCommands, AreNoneBehindBlanksOfUnicode) {
  for (const char* const blank : {"\t", "\v", "\u0085", "\u00A0", "\u1680", "\u2003", "\u2028",
                                  "\u202F", "\u205F", "\u3000", "\u200B", "\uFEFF"}) {
    EXPECT_EQ(std::string("a\n ") + blank + "\\::error::b",
              without_workflow_commands(std::string("a\n ") + blank + "::error::b"));
  }
}

TEST(WorkflowCommands, AreSpelledInMarkupAndJsonWithTheSameMeaning) {
  EXPECT_EQ("<a>\n&#58;:error&#35;#[b]", without_workflow_commands("<a>\n::error##[b]", kAsMarkup));
  EXPECT_EQ("{\n \"::a\\u0023#[b]\"", without_workflow_commands("{\n \"::a##[b]\"", kAsJson));
}

TEST(WorkflowCommands, OtherTextStaysAsItIs) {
  for (const char* const text : {"", "a::b", "a ::b\n", "# [x] ##", "###", ":\n:"}) {
    EXPECT_EQ(text, without_workflow_commands(text));
  }
}

}  // namespace
}  // namespace ohm::reports
