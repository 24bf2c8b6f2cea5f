#include "allocator_shim/observe/stack_table.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace ohm {
namespace {

TEST(StackTable, GivesEqualContentsOneId) {
  StackTable table;
  const TextId forward = table.intern("forward");
  EXPECT_EQ(table.intern("forward"), forward);
  EXPECT_NE(table.intern("backward"), forward);
  EXPECT_EQ(table.text(forward), "forward");

  const FrameId frame = table.intern(StackFrame{table.intern("model.py"), forward, 42});
  EXPECT_EQ(table.intern(StackFrame{table.intern("model.py"), forward, 42}), frame);
  const FrameId other = table.intern(StackFrame{table.intern("model.py"), forward, 43});
  EXPECT_NE(other, frame);
  EXPECT_EQ(table.frame_count(), 2U);

  const std::vector<FrameId> frames = {frame, other, frame};
  const StackId stack = table.intern(frames);
  EXPECT_EQ(table.intern(std::vector<FrameId>{frame, other, frame}), stack);
  EXPECT_NE(table.intern(std::vector<FrameId>{frame, other}), stack);
  const auto kept = table.stack(stack);
  EXPECT_EQ(std::vector<FrameId>(kept.begin(), kept.end()), frames);
}

TEST(StackTable, HasTheEmptyTextAndTheEmptyStackFromTheStart) {
  StackTable table;
  EXPECT_EQ(table.intern(""), kNoText);
  EXPECT_EQ(table.text(kNoText), "");
  EXPECT_EQ(table.intern(std::vector<FrameId>()), kNoStack);
  EXPECT_TRUE(table.stack(kNoStack).empty());
}

TEST(StackTable, KeepsWhatItHandedOutWhereItIs) {
  StackTable table;
  const std::string_view first = table.text(table.intern("the first text"));
  std::vector<std::pair<TextId, std::string>> texts;
  for (int i = 0; i < 50'000; ++i) {
    std::string text = "text " + std::to_string(i);
    const TextId id = table.intern(text);
    texts.emplace_back(id, std::move(text));
  }
  const std::string longer_than_a_chunk(1'000'000, 'x');
  const TextId long_id = table.intern(longer_than_a_chunk);
  const TextId after_id = table.intern("after the long one");

  const StackTable moved = std::move(table);
  EXPECT_EQ(first, "the first text");
  for (const auto& [id, text] : texts) ASSERT_EQ(moved.text(id), text);
  EXPECT_EQ(moved.text(long_id), longer_than_a_chunk);
  EXPECT_EQ(moved.text(after_id), "after the long one");
}

}  // namespace
}  // namespace ohm
