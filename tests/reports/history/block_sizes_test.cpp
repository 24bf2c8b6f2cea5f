#include "reports/history/block_sizes.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <unordered_map>
#include <vector>

#include "allocator_shim/base/bytes.h"
#include "allocator_shim/snapshot/snapshot_reader.h"
#include "tests/reports/history/torch_files.h"
#include "tests/support/checkout_paths.h"

namespace ohm::reports {
namespace {

TraceEntry entry(EventAction action, std::uint64_t address, std::uint64_t bytes) {
  TraceEntry entry;
  entry.action = action;
  entry.address = address;
  entry.bytes = bytes;
  return entry;
}

class BlockSizesTest : public testing::Test {
 protected:
  BlockSizesTest() { snapshot_.device_traces.resize(1); }

  BlockSizes sizes() const { return {snapshot_, RecordedBeginning(snapshot_, 0)}; }

  Snapshot snapshot_;
};

TEST_F(BlockSizesTest, ALargeBlockKeepsARestOfAtMostAMebibyte) {
  BlockSizes sizes = this->sizes();
  sizes.follow(entry(EventAction::segment_alloc, kBase, 20_MiB));
  EXPECT_EQ(18_MiB, sizes.follow(entry(EventAction::alloc, kBase, 18_MiB)));
  sizes.follow(entry(EventAction::free_completed, kBase, 18_MiB));
  EXPECT_EQ(20_MiB, sizes.follow(entry(EventAction::alloc, kBase, 19_MiB)));
}

TEST_F(BlockSizesTest, ASmallBlockIsSplitToTheUnit) {
  BlockSizes sizes = this->sizes();
  sizes.follow(entry(EventAction::segment_alloc, kBase, 2_MiB));
  EXPECT_EQ(1024U, sizes.follow(entry(EventAction::alloc, kBase, 700)));
  EXPECT_EQ(512U, sizes.follow(entry(EventAction::alloc, kBase + 1024, 1)));
}

TEST_F(BlockSizesTest, WhatIsFreeOfNeighboursIsOneBlockWithinASegment) {
  BlockSizes sizes = this->sizes();
  for (const std::uint64_t segment : {kBase, kBase + 20_MiB}) {
    sizes.follow(entry(EventAction::segment_alloc, segment, 20_MiB));
  }
  sizes.follow(entry(EventAction::alloc, kBase, 8_MiB));
  sizes.follow(entry(EventAction::alloc, kBase + 8_MiB, 12_MiB));
  for (const std::uint64_t block : {kBase, kBase + 8_MiB}) {
    sizes.follow(entry(EventAction::free_completed, block, 0));
  }
  // Not the 40 MiB that are free without a gap, of which a rest would be split.
  EXPECT_EQ(20_MiB, sizes.follow(entry(EventAction::alloc, kBase, 19_MiB + 512)));
}

TEST_F(BlockSizesTest, SettingsCount) {
  SnapshotSettings& settings = snapshot_.allocator_settings.emplace();
  settings.expandable_segments = true;
  settings.roundup_power2_divisions.fill(4);
  BlockSizes sizes = this->sizes();
  sizes.follow(entry(EventAction::segment_map, kBase, 20_MiB));
  EXPECT_EQ(20_MiB, sizes.follow(entry(EventAction::alloc, kBase, 17_MiB)));
  sizes.follow(entry(EventAction::free_completed, kBase, 17_MiB));
  settings.roundup_power2_divisions.fill(0);
  BlockSizes exact = this->sizes();
  exact.follow(entry(EventAction::segment_map, kBase, 20_MiB));
  EXPECT_EQ(20_MiB - 512, exact.follow(entry(EventAction::alloc, kBase, 20_MiB - 512)));
}

std::vector<std::string> recorded_snapshots() {
  std::vector<std::string> files;
  for (const auto& file : std::filesystem::directory_iterator(OHM_RECORDINGS_DIR "/snapshots")) {
    if (file.path().extension() == ".pickle") files.push_back(file.path());
  }
  return files;
}

/// Blocks whose size the snapshot tells, as they are still there at its end, and which it was
/// found otherwise.
TEST(RecordedBlockSizes, AreThoseThatTheAllocatorGave) {
  std::size_t compared = 0;
  for (const std::string& file : recorded_snapshots()) {
    const Snapshot snapshot = read_snapshot_file(file);
    for (std::size_t device = 0; device < snapshot.device_traces.size(); ++device) {
      BlockSizes sizes(snapshot, RecordedBeginning(snapshot, device));
      std::unordered_map<std::uint64_t, std::uint64_t> found;
      for (const TraceEntry& entry : snapshot.device_traces[device]) {
        const std::uint64_t bytes = sizes.follow(entry);
        if (entry.action == EventAction::alloc) found[entry.address] = bytes;
      }
      for (const SnapshotSegment& segment : snapshot.segments) {
        if (static_cast<std::size_t>(segment.device) != device) continue;
        for (const SnapshotBlock& block : segment.blocks) {
          if (block.state == BlockView::State::inactive || !found.contains(block.address)) continue;
          EXPECT_EQ(block.bytes, found[block.address]) << file << " at " << block.address;
          ++compared;
        }
      }
    }
  }
  EXPECT_LT(100U, compared);
}

}  // namespace
}  // namespace ohm::reports
