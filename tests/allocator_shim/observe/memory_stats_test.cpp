#include "allocator_shim/observe/memory_stats.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace ohm {
namespace {

TEST(MemoryStats, FlattensToPyTorchsKeysInSortedOrder) {
  MemoryStats stats;
  stats.allocated_bytes[static_cast<std::size_t>(StatPool::large_pool)].increase(4096);
  stats.num_ooms = 3;
  const auto flat = stats.flatten();
  // Nine pooled stats of twelve figures, two plain ones of four, six scalars.
  EXPECT_EQ(flat.size(), 9 * 12 + 2 * 4 + 6);
  EXPECT_TRUE(std::is_sorted(flat.begin(), flat.end()));
  const auto value = [&](const std::string& key) {
    const auto found = std::find_if(flat.begin(), flat.end(),
                                    [&](const auto& entry) { return entry.first == key; });
    return found == flat.end() ? -99 : found->second;
  };
  EXPECT_EQ(value("allocated_bytes.large_pool.peak"), 4096);
  EXPECT_EQ(value("allocated_bytes.all.peak"), 0);
  EXPECT_EQ(value("num_ooms"), 3);
  EXPECT_EQ(value("oversize_segments.freed"), 0);
  EXPECT_EQ(value("max_split_size"), -1);
}

TEST(MemoryStats, ResetPeakKeepsTheCurrentValue) {
  MemoryStats stats;
  stats.oversize_segments.increase(5);
  stats.oversize_segments.decrease(3);
  stats.reset_peak();
  EXPECT_EQ(stats.oversize_segments, (Stat{2, 2, 5, 3}));
}

TEST(MemoryStats, ResetAccumulatedKeepsCurrentAndPeak) {
  MemoryStats stats;
  Stat& segments = stats.segment[0];
  segments.increase(5);
  segments.decrease(3);
  stats.num_device_alloc = 5;
  stats.num_alloc_retries = 1;
  stats.reset_accumulated();
  EXPECT_EQ(segments, (Stat{2, 5, 0, 0}));
  EXPECT_EQ(stats.num_device_alloc, 0);
  EXPECT_EQ(stats.num_alloc_retries, 0);
}

}  // namespace
}  // namespace ohm
