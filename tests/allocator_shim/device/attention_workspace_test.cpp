#include "allocator_shim/device/attention_workspace.h"

#include <gtest/gtest.h>

#include <sstream>
#include <string>

#include "tests/support/golden.h"

namespace ohm {
namespace {

constexpr int kMultiprocessorsOfHopper = 132;

TEST(AttentionWorkspace, IsWhatWasMeasured) {
  std::istringstream lines(test::read_file(test::golden_path("cudnn/attention_workspaces.txt")));
  int measured = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line[0] == '#') continue;
    AttentionShape shape;
    std::size_t bytes = 0;
    std::istringstream(line) >> shape.query_heads >> shape.value_heads >> shape.queries >>
        shape.keys >> shape.value_width >> bytes;
    EXPECT_EQ(attention_forward_workspace_bytes(shape, kMultiprocessorsOfHopper), bytes) << line;
    ++measured;
  }
  EXPECT_GT(measured, 500);
}

TEST(AttentionWorkspace, OfOneQueryEndsWhereTheCardIsFull) {
  const auto of_heads = [](std::int64_t heads) {
    return attention_forward_workspace_bytes({heads, heads, 1, 16'384, 128},
                                             kMultiprocessorsOfHopper);
  };
  EXPECT_EQ(of_heads(66), 66 * 4 * 130 * 4 + 128 + 2 * (1152 - 66 * 16));
  EXPECT_EQ(of_heads(67), 0);
}

}  // namespace
}  // namespace ohm
