// Snapshots as results: recorded ones, and small ones whose beginning is not in their history.
#include "reports/history/snapshot_result.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "allocator_shim/snapshot/snapshot_reader.h"
#include "tests/support/golden.h"

namespace ohm::reports {
namespace {

constexpr std::uint64_t kBase = 0x7f0000000000;
constexpr std::uint64_t kSegment = 2'097'152;

TraceEntry entry(EventAction action, std::uint64_t address, std::uint64_t bytes) {
  TraceEntry entry;
  entry.action = action;
  entry.address = address;
  entry.bytes = bytes;
  return entry;
}

/// One segment that was there before; a block of before is freed, one of 700 bytes is made.
Snapshot small_snapshot() {
  Snapshot snapshot;
  snapshot.details.emplace_back();
  SnapshotSegment segment;
  segment.address = kBase;
  segment.bytes = kSegment;
  segment.blocks = {
      {kBase, 1024, 1024, kNoStack, kNoText, BlockView::State::inactive},
      {kBase + 1024, 1024, 700, kNoStack, kNoText, BlockView::State::active_allocated},
      {kBase + 2048, kSegment - 2048, 0, kNoStack, kNoText, BlockView::State::inactive}};
  snapshot.segments = {segment};
  snapshot.device_traces = {{entry(EventAction::alloc, kBase + 1024, 700),
                             entry(EventAction::free_requested, kBase, 1000),
                             entry(EventAction::free_completed, kBase, 1000)}};
  return snapshot;
}

TEST(SnapshotResult, FindsWhatWasThereBeforeTheHistory) {
  const RunResult result = snapshot_result(small_snapshot(), "folder/small.pickle");
  ASSERT_EQ(1U, result.scenarios.size());
  EXPECT_EQ("small", result.scenarios[0].name);
  const VariantResult& variant = result.scenarios[0].variants.at(0);
  const DeviceResult& device = variant.devices.at(0);
  EXPECT_EQ(1024 + 1024, device.peak_allocated_bytes);
  EXPECT_EQ(1024, device.allocated_at_end_bytes);
  EXPECT_EQ(static_cast<std::int64_t>(kSegment), device.peak_reserved_bytes);
  EXPECT_EQ(4U, variant.history->events);
  EXPECT_EQ((std::vector<std::int64_t>{1024, 2048, 1024, 1024}),
            variant.history->devices[0].allocated_high);
}

/// A forward pass through layers, each of which keeps three blocks, called by a training loop. What
/// occurs once in each is not what each begins with.
Snapshot forward_pass(int layers) {
  Snapshot snapshot;
  snapshot.details.emplace_back();
  StackTable& tables = snapshot.tables;
  const auto frame = [&](const char* function, int line) {
    StackFrame frame;
    frame.name = tables.intern(function);
    frame.filename = tables.intern("train.py");
    frame.line = line;
    return tables.intern(frame);
  };
  std::vector<TraceEntry>& trace = snapshot.device_traces.emplace_back();
  std::uint64_t address = kBase;
  const auto allocate = [&](std::vector<FrameId> frames) {
    TraceEntry made = entry(EventAction::alloc, address, 1024);
    made.stack = tables.intern(frames);
    trace.push_back(made);
    address += 1024;
  };
  const FrameId loop = frame("train", 63);
  trace.push_back(entry(EventAction::segment_alloc, kBase, kSegment));
  for (int i = 0; i < layers; ++i) {
    for (int twice = 0; twice < 2; ++twice) {
      allocate({frame("attention", 31), frame("forward", 53), loop});
    }
    allocate({frame("mlp", 37), frame("forward", 53), loop});
  }
  for (int twice = 0; twice < 2; ++twice) allocate({frame("forward", 54), loop});
  return snapshot;
}

TEST(SnapshotResult, LayersAreNotSteps) {
  const RunResult result = snapshot_result(forward_pass(12), "forward.pickle");
  const VariantResult& variant = result.scenarios[0].variants.at(0);
  EXPECT_EQ(0, variant.steps);
  EXPECT_TRUE(variant.findings.empty());
}

TEST(SnapshotResult, TellsWhatWasAliveWhenMemoryRanOut) {
  Snapshot snapshot = small_snapshot();
  // After the first allocation, before what was there earlier went.
  snapshot.device_traces[0].insert(snapshot.device_traces[0].begin() + 1,
                                   entry(EventAction::oom, 512, 1U << 20U));
  const RunResult result = snapshot_result(snapshot, "small.pickle");
  const VariantResult& variant = result.scenarios[0].variants.at(0);
  ASSERT_TRUE(variant.oom.has_value());
  EXPECT_EQ("cuda:0", variant.oom->device);
  EXPECT_EQ(1 << 20, variant.oom->requested_bytes);
  ASSERT_EQ(1U, variant.oom->holders.size());
  EXPECT_EQ(1024 + 1024, variant.oom->holders[0].bytes);
  EXPECT_EQ(2, variant.oom->holders[0].count);
  EXPECT_FALSE(variant.oom->injected);
}

TEST(SnapshotResult, UndoesSegmentsToTheirBeginning) {
  Snapshot snapshot = small_snapshot();
  snapshot.device_traces[0].push_back(
      entry(EventAction::segment_free, kBase + 16 * kSegment, kSegment));
  const RunResult result = snapshot_result(snapshot, "x.pickle");
  const DeviceMemoryHistory& history = result.scenarios[0].variants[0].history->devices[0];
  const auto both = static_cast<std::int64_t>(2 * kSegment);
  EXPECT_EQ((std::vector<std::int64_t>{both, both, both, both, both / 2}), history.reserved_high);
}

TEST(SnapshotResult, SaysInWhichStepThePeakIs) {
  constexpr std::uint64_t kSteps = 6;
  Snapshot snapshot;
  snapshot.details.emplace_back();
  snapshot.device_traces.emplace_back();
  std::vector<TraceEntry>& trace = snapshot.device_traces[0];
  for (std::uint64_t step = 0; step < kSteps; ++step) {
    trace.push_back(entry(EventAction::alloc, kBase, 4096));
    trace.push_back(entry(EventAction::alloc, kBase + (step + 1) * kSegment, 512));
    trace.push_back(entry(EventAction::free_requested, kBase, 4096));
    trace.push_back(entry(EventAction::free_completed, kBase, 4096));
  }
  const RunResult result = snapshot_result(snapshot, "x.pickle");
  const VariantResult& variant = result.scenarios[0].variants[0];
  EXPECT_EQ(static_cast<std::int64_t>(kSteps), variant.steps);
  EXPECT_EQ(static_cast<std::int64_t>(kSteps), variant.devices[0].peak->step);
}

TEST(SnapshotResult, RecordedSnapshotsAddUp) {
  for (const char* name : {"finetune", "linear_no_grad", "lm_forward_ctx128", "lm_forward_fp32",
                           "lm_inference_ctx128"}) {
    SCOPED_TRACE(name);
    const std::string path = test::golden_path(std::string("snapshots/") + name + ".pickle");
    const Snapshot snapshot = read_snapshot_file(path);
    const RunResult result = snapshot_result(snapshot, path);
    std::int64_t reserved = 0;
    std::int64_t allocated = 0;
    for (const SnapshotSegment& segment : snapshot.segments) {
      reserved += static_cast<std::int64_t>(segment.bytes);
      allocated += static_cast<std::int64_t>(segment.allocated_bytes);
    }
    std::int64_t reserved_at_end = 0;
    std::int64_t allocated_at_end = 0;
    const VariantResult& variant = result.scenarios[0].variants[0];
    for (std::size_t i = 0; i < variant.devices.size(); ++i) {
      const DeviceResult& device = variant.devices[i];
      reserved_at_end += variant.history->devices[i].reserved_high.back();
      allocated_at_end += device.allocated_at_end_bytes;
      std::int64_t held = 0;
      for (const HolderResult& holder : device.peak->holders) held += holder.bytes;
      EXPECT_EQ(device.peak_allocated_bytes, held);
    }
    EXPECT_EQ(reserved, reserved_at_end);
    EXPECT_EQ(allocated, allocated_at_end);
  }
}

TEST(SnapshotResult, LayersOfOneForwardPassAreNoStepsThatGrow) {
  for (const char* name : {"finetune", "lm_forward_ctx128", "lm_inference_ctx128"}) {
    SCOPED_TRACE(name);
    const std::string path = test::golden_path(std::string("snapshots/") + name + ".pickle");
    const RunResult result = snapshot_result(read_snapshot_file(path), path);
    const VariantResult& variant = result.scenarios[0].variants[0];
    EXPECT_EQ(0, variant.steps);
    for (const FindingResult& finding : variant.findings) {
      EXPECT_EQ("stranded split segments", finding.pitfall) << finding.what;
    }
  }
}

}  // namespace
}  // namespace ohm::reports
