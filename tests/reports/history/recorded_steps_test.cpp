#include "reports/history/recorded_steps.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "allocator_shim/observe/stack_table.h"

namespace ohm::reports {
namespace {

/// Each of the marks has an event before it, which is its step's or a part of it.
std::vector<std::uint32_t> ends_of(const std::vector<std::string>& marks) {
  Snapshot snapshot;
  snapshot.device_traces.emplace_back();
  const TextId start = snapshot.tables.intern("START");
  const TextId end = snapshot.tables.intern("END");
  std::int64_t time = 0;
  for (const std::string& mark : marks) {
    TraceEntry entry;
    entry.action = EventAction::alloc;
    entry.time_us = ++time;
    snapshot.device_traces[0].push_back(entry);
    const TextId name = snapshot.tables.intern(mark);
    snapshot.external_annotations.push_back({name, start, 0, time});
    snapshot.external_annotations.push_back({name, end, 0, time});
  }
  return marked_step_ends(snapshot, 0);
}

struct CallFrame {
  const char* file;
  const char* function;
  int line;
};

/// Without marks, of requests with these stacks, the outermost frame first.
std::vector<std::uint32_t> ends_of_requests(const std::vector<std::vector<CallFrame>>& stacks) {
  Snapshot snapshot;
  snapshot.device_traces.emplace_back();
  StackTable& tables = snapshot.tables;
  for (const std::vector<CallFrame>& frames : stacks) {
    std::vector<FrameId> ids;
    for (const CallFrame& frame : std::vector<CallFrame>(frames.rbegin(), frames.rend())) {
      ids.push_back(tables.intern(
          StackFrame{tables.intern(frame.file), tables.intern(frame.function), frame.line}));
    }
    TraceEntry entry;
    entry.action = EventAction::alloc;
    entry.stack = tables.intern(ids);
    snapshot.device_traces[0].push_back(entry);
  }
  return step_ends(snapshot, 0);
}

constexpr const char* kModuleFile = "/site/torch/nn/modules/module.py";

TEST(RecordedSteps, AreFoundBehindADecoratorOfPyTorch) {
  std::vector<std::vector<CallFrame>> stacks = {{{"serve.py", "<module>", 3}}};
  const CallFrame call = {"serve.py", "<module>", 20};
  const CallFrame decorator = {"/site/torch/utils/_contextlib.py", "decorate_context", 120};
  for (int request = 0; request < 4; ++request) {
    stacks.push_back({call, decorator, {"serve.py", "reply", 8}});
    stacks.push_back({call, decorator, {"serve.py", "reply", 9}, {kModuleFile, "_call_impl", 1}});
  }
  EXPECT_EQ((std::vector<std::uint32_t>{3, 5, 7, 9}), ends_of_requests(stacks));
}

TEST(RecordedSteps, AreFoundOnOneLineBehindAFewOthers) {
  std::vector<std::vector<CallFrame>> stacks = {{{"serve.py", "<module>", 3}},
                                                {{"serve.py", "<module>", 4}}};
  const CallFrame line = {"serve.py", "<module>", 20};
  for (int request = 0; request < 12; ++request) {
    stacks.push_back({line});
    stacks.push_back(
        {line, {kModuleFile, "_call_impl", 1}, {"/site/torch/nn/linear.py", "forward", 2}});
    stacks.push_back(
        {line, {kModuleFile, "_call_impl", 1}, {"/site/torch/nn/act.py", "forward", 2}});
  }
  EXPECT_EQ(12U, ends_of_requests(stacks).size());
  const std::vector<std::vector<CallFrame>> few(stacks.begin(), stacks.begin() + 14);
  EXPECT_TRUE(ends_of_requests(few).empty()) << "four passes are too few on one line";
}

constexpr const char* kAdam = "Optimizer.step#Adam.step";
constexpr const char* kSgd = "Optimizer.step#SGD.step";

TEST(RecordedSteps, OfOptimizersSideBySideTheFirstMarksThem) {
  EXPECT_EQ((std::vector<std::uint32_t>{1, 3, 5}),
            ends_of({kAdam, kSgd, kAdam, kSgd, kAdam, kSgd}));
}

TEST(RecordedSteps, GoOnWithAnOptimizerThatTakesOver) {
  EXPECT_EQ((std::vector<std::uint32_t>{1, 2, 3, 4, 5}),
            ends_of({kSgd, kSgd, kAdam, kAdam, kAdam}));
}

TEST(RecordedSteps, AreThoseOfTheRangesThatSaySo) {
  EXPECT_EQ((std::vector<std::uint32_t>{2, 4}),
            ends_of({kSgd, "train_step 1", kSgd, "train_step 2", "evaluation_step", kAdam}));
}

}  // namespace
}  // namespace ohm::reports
