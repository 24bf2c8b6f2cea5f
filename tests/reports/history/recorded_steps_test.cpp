#include "reports/history/recorded_steps.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

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
