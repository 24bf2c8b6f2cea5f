#include "reports/ci/workflow_commands.h"

#include <gtest/gtest.h>

namespace ohm::reports {
namespace {

TEST(WorkflowCommands, AreNoneInTextForPeople) {
  EXPECT_EQ("a\n\\::error::b\n  \\::x", without_workflow_commands("a\n::error::b\n  ::x"));
  EXPECT_EQ("\\::add-mask::c", without_workflow_commands("::add-mask::c"));
  EXPECT_EQ("a #\\#[error]b", without_workflow_commands("a ##[error]b"));
  EXPECT_EQ("a\r\\::b", without_workflow_commands("a\r::b"));
}

TEST(WorkflowCommands, OtherTextStaysAsItIs) {
  for (const char* const text : {"", "a::b", "a ::b\n", "# [x] ##", "###", ":\n:"}) {
    EXPECT_EQ(text, without_workflow_commands(text));
  }
}

}  // namespace
}  // namespace ohm::reports
