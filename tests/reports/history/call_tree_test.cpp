#include "reports/history/call_tree.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "reports/history/history_check.h"
#include "reports/history/history_detail.h"

namespace ohm::reports {
namespace {

struct TreeFrame {
  const char* file;
  int line;
  const char* function;
};

StackId stack_of(StackTable& tables, const std::vector<TreeFrame>& innermost_first) {
  std::vector<FrameId> ids;
  for (const TreeFrame& one : innermost_first) {
    StackFrame frame;
    frame.filename = tables.intern(one.file);
    frame.line = one.line;
    frame.name = tables.intern(one.function);
    ids.push_back(tables.intern(frame));
  }
  return tables.intern(ids);
}

/// "file:line function" of each call, the innermost first.
std::vector<std::string> stack_at(const MemoryHistory& history, std::uint32_t call) {
  std::vector<std::string> lines;
  for (; call != 0; call = history.calls[call - 1].caller) {
    const HistoryLine& line = history.lines[history.calls[call - 1].line];
    lines.push_back(line.file + ":" + std::to_string(line.line) + " " + line.function);
  }
  return lines;
}

const std::vector<TreeFrame> kForward = {{"/x/torch/nn/modules/linear.py", 9, "forward"},
                                         {"/home/me/train.py", 3, "step"},
                                         {"/home/me/train.py", 30, "main"}};
const std::vector<TreeFrame> kBackward = {{"/home/me/train.py", 4, "step"},
                                          {"/home/me/train.py", 30, "main"}};

TEST(CallTree, StacksThatBeginAlikeShareTheirCalls) {
  StackTable tables;
  const UserFiles files;
  CallTree tree(tables, files);
  const std::uint32_t forward = tree.of(stack_of(tables, kForward));
  const std::uint32_t backward = tree.of(stack_of(tables, kBackward));
  EXPECT_EQ(forward, tree.of(stack_of(tables, kForward)));
  EXPECT_EQ(0U, tree.of(kNoStack));
  MemoryHistory history;
  tree.move_to(history);
  EXPECT_EQ(4U, history.calls.size());
  EXPECT_EQ((std::vector<std::string>{"/x/torch/nn/modules/linear.py:9 forward",
                                      "/home/me/train.py:3 step", "/home/me/train.py:30 main"}),
            stack_at(history, forward));
  EXPECT_EQ((std::vector<std::string>{"/home/me/train.py:4 step", "/home/me/train.py:30 main"}),
            stack_at(history, backward));
}

TEST(CallTree, LinesOfLibrariesAndNativeOnesAreNotTheProgramsOwn) {
  StackTable tables;
  const UserFiles files;
  CallTree tree(tables, files);
  tree.of(stack_of(tables, {{"??", 0, "at::_ops::addmm::call"},
                            {"/x/torch/nn/functional.py", 5, "linear"},
                            {"/home/me/train.py", 3, "step"}}));
  MemoryHistory history;
  tree.move_to(history);
  ASSERT_EQ(3U, history.lines.size());
  EXPECT_TRUE(history.lines[0].is_own);
  EXPECT_FALSE(history.lines[1].is_own);
  EXPECT_FALSE(history.lines[2].is_own);
}

TEST(CallTree, AReducedHistoryKeepsTheStacksOfItsSites) {
  StackTable tables;
  const UserFiles files;
  CallTree tree(tables, files);
  MemoryHistory history;
  history.events = 10;
  history.sites = {{"a.py", 1, "x", "", tree.of(stack_of(tables, kForward))},
                   {"b.py", 1, "y", "", tree.of(stack_of(tables, kBackward))}};
  tree.move_to(history);
  history.devices.resize(1);
  history.devices[0].blocks = {{0, 10, 0, 512, 1, Category::other}};
  reduce(history, {});
  ASSERT_EQ(1U, history.sites.size());
  EXPECT_EQ(2U, history.calls.size());
  EXPECT_EQ(2U, history.lines.size());
  EXPECT_EQ((std::vector<std::string>{"/home/me/train.py:4 step", "/home/me/train.py:30 main"}),
            stack_at(history, history.sites[0].call));
}

TEST(CallTree, AHistoryWhoseStacksHaveNoEndIsRefused) {
  MemoryHistory history;
  history.lines = {{"a.py", 1, "f"}};
  history.calls = {{0, 0}, {0, 1}};
  history.sites = {{"a.py", 1, "f", "", 2}};
  EXPECT_NO_THROW(check_history(history));
  history.calls = {{0, 2}, {0, 1}};
  EXPECT_THROW(check_history(history), std::invalid_argument);
  history.calls = {{0, 0}, {1, 1}};
  EXPECT_THROW(check_history(history), std::invalid_argument);
  history.calls = {{0, 0}};
  EXPECT_THROW(check_history(history), std::invalid_argument);
}

TEST(CallTree, WhatCallsHaveInCommonIsALineOfTheProgramsOwn) {
  StackTable tables;
  const UserFiles files;
  CallTree tree(tables, files);
  const std::uint32_t forward = tree.of(stack_of(tables, kForward));
  const std::uint32_t backward = tree.of(stack_of(tables, kBackward));
  const std::uint32_t other = tree.of(stack_of(tables, {{"/home/me/serve.py", 1, "main"}}));
  EXPECT_EQ(tree.caller(backward, 1), tree.caller(forward, 2));
  EXPECT_EQ(0U, tree.caller(backward, 5));
  MemoryHistory history;
  tree.move_to(history);
  EXPECT_EQ(3, common_own_line(history, {forward})->line);
  EXPECT_EQ(30, common_own_line(history, {forward, backward})->line);
  EXPECT_EQ(nullptr, common_own_line(history, {forward, other}));
  EXPECT_EQ(nullptr, common_own_line(history, {forward, 0}));
  EXPECT_EQ(nullptr, common_own_line(history, {}));
}

}  // namespace
}  // namespace ohm::reports
