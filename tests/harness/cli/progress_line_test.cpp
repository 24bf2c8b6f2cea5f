// What people read while they wait.
#include "harness/cli/progress_line.h"

#include <gtest/gtest.h>

namespace ohm::cli {
namespace {

TEST(ProgressLine, CountsAndAsSoonAsItCanTellsTheRateAndTheTimeLeft) {
  EXPECT_EQ("[0/38] running", progress_text(0, 38, 1.5));
  EXPECT_EQ("[19/38] 9.5 a second, 2 s left", progress_text(19, 38, 2));
  EXPECT_EQ("[400/1000] 200 a second, 3 s left", progress_text(400, 1000, 2));
  EXPECT_EQ("[1/10] 1.0 a minute, 9 min 0 s left", progress_text(1, 10, 60));
  EXPECT_EQ("[1/200] 2.0 a minute, 1 h 39 min left", progress_text(1, 200, 30));
  EXPECT_EQ("[38/38] 19 a second", progress_text(38, 38, 2));
}

TEST(ProgressLine, WithoutATotalCountsAlone) {
  EXPECT_EQ("[7] 3.5 a second", progress_text(7, 0, 2));
}

}  // namespace
}  // namespace ohm::cli
