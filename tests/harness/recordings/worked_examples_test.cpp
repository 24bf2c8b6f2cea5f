// Worked examples whose bytes are known: programs that check themselves, and one that a real GPU
// ran.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <iterator>
#include <map>
#include <string>

#include "allocator_shim/snapshot/snapshot_reader.h"
#include "tests/harness/recordings/recordings.h"
#include "tests/support/golden.h"

namespace ohm::test {
namespace {

TwinRun run_worked(const std::string& name) {
  return run_twin(*find_twin(name), kRecordedVersions[0], kRecordedGpus[0]);
}

class WorkedExample : public testing::TestWithParam<std::string> {};

TEST_P(WorkedExample, HasItsBytes) { EXPECT_EQ(run_worked(GetParam()).error, ""); }

INSTANTIATE_TEST_SUITE_P(Programs, WorkedExample, testing::ValuesIn(twins_named("worked_")),
                         [](const auto& info) { return info.param; });

// A history as the lines of a recording.
Lines lines_of(const Snapshot& snapshot) {
  std::map<std::uint64_t, std::uint64_t> segments;  // their numbers, by address
  const auto place = [&](const TraceEntry& entry) {
    const auto segment = std::prev(segments.upper_bound(entry.address));
    return fmt::format("{} {}", segment->second, entry.address - segment->first);
  };
  Lines lines;
  for (const TraceEntry& entry : snapshot.device_traces.at(0)) {
    switch (entry.action) {
      case EventAction::segment_alloc:
        lines.push_back(fmt::format("S {} {}", entry.bytes, segments.size()));
        segments.emplace(entry.address, segments.size());
        break;
      case EventAction::alloc:
        lines.push_back(fmt::format("+ {} {}", entry.bytes, place(entry)));
        break;
      case EventAction::free_completed:
        lines.push_back(fmt::format("- {}", place(entry)));
        break;
      default:
        EXPECT_EQ(entry.action, EventAction::free_requested);
    }
  }
  return lines;
}

// Three forward passes of Linear(10000, 50000), without gradients, on an H100.
TEST(WorkedExamples, LinearAllocatesAsARealGpuDid) {
  const Snapshot recorded = read_snapshot_file(golden_path("snapshots/linear_no_grad.pickle"));
  EXPECT_EQ(recorded.device_traces.at(0).size(), 33);
  EXPECT_EQ(run_worked("worked_linear_no_grad").gpus.at(0), lines_of(recorded));
}

}  // namespace
}  // namespace ohm::test
