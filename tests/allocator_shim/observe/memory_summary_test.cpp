#include "allocator_shim/observe/memory_summary.h"

#include <gtest/gtest.h>

#include "allocator_shim/base/bytes.h"

namespace ohm {
namespace {

void increase(PooledStat& stat, StatPool pool, std::int64_t amount) {
  stat[static_cast<std::size_t>(StatPool::all)].increase(amount);
  stat[static_cast<std::size_t>(pool)].increase(amount);
}

TEST(MemorySummary, LooksAsPyTorchsAfterOneSmallTensor) {
  MemoryStats stats;
  for (PooledStat* const count :
       {&stats.allocation, &stats.active, &stats.segment, &stats.inactive_split}) {
    increase(*count, StatPool::small_pool, 1);
  }
  for (PooledStat* const bytes : {&stats.allocated_bytes, &stats.active_bytes}) {
    increase(*bytes, StatPool::small_pool, 512);
  }
  increase(stats.requested_bytes, StatPool::small_pool, 4);
  increase(stats.reserved_bytes, StatPool::small_pool, 2_MiB);
  increase(stats.inactive_split_bytes, StatPool::small_pool, 2_MiB - 512);
  EXPECT_EQ("\n" + memory_summary(stats, 0), R"(
|===========================================================================|
|                  PyTorch CUDA memory summary, device ID 0                 |
|---------------------------------------------------------------------------|
|            CUDA OOMs: 0            |        cudaMalloc retries: 0         |
|===========================================================================|
|        Metric         | Cur Usage  | Peak Usage | Tot Alloc  | Tot Freed  |
|---------------------------------------------------------------------------|
| Allocated memory      |    512 B   |    512 B   |    512 B   |      0 B   |
|       from large pool |      0 B   |      0 B   |      0 B   |      0 B   |
|       from small pool |    512 B   |    512 B   |    512 B   |      0 B   |
|---------------------------------------------------------------------------|
| Active memory         |    512 B   |    512 B   |    512 B   |      0 B   |
|       from large pool |      0 B   |      0 B   |      0 B   |      0 B   |
|       from small pool |    512 B   |    512 B   |    512 B   |      0 B   |
|---------------------------------------------------------------------------|
| Requested memory      |      4 B   |      4 B   |      4 B   |      0 B   |
|       from large pool |      0 B   |      0 B   |      0 B   |      0 B   |
|       from small pool |      4 B   |      4 B   |      4 B   |      0 B   |
|---------------------------------------------------------------------------|
| GPU reserved memory   |   2048 KiB |   2048 KiB |   2048 KiB |      0 B   |
|       from large pool |      0 KiB |      0 KiB |      0 KiB |      0 B   |
|       from small pool |   2048 KiB |   2048 KiB |   2048 KiB |      0 B   |
|---------------------------------------------------------------------------|
| Non-releasable memory |   2047 KiB |   2047 KiB |   2047 KiB |      0 B   |
|       from large pool |      0 KiB |      0 KiB |      0 KiB |      0 B   |
|       from small pool |   2047 KiB |   2047 KiB |   2047 KiB |      0 B   |
|---------------------------------------------------------------------------|
| Allocations           |       1    |       1    |       1    |       0    |
|       from large pool |       0    |       0    |       0    |       0    |
|       from small pool |       1    |       1    |       1    |       0    |
|---------------------------------------------------------------------------|
| Active allocs         |       1    |       1    |       1    |       0    |
|       from large pool |       0    |       0    |       0    |       0    |
|       from small pool |       1    |       1    |       1    |       0    |
|---------------------------------------------------------------------------|
| GPU reserved segments |       1    |       1    |       1    |       0    |
|       from large pool |       0    |       0    |       0    |       0    |
|       from small pool |       1    |       1    |       1    |       0    |
|---------------------------------------------------------------------------|
| Non-releasable allocs |       1    |       1    |       1    |       0    |
|       from large pool |       0    |       0    |       0    |       0    |
|       from small pool |       1    |       1    |       1    |       0    |
|---------------------------------------------------------------------------|
| Oversize allocations  |       0    |       0    |       0    |       0    |
|---------------------------------------------------------------------------|
| Oversize GPU segments |       0    |       0    |       0    |       0    |
|===========================================================================|
)");
}

TEST(MemorySummary, TakesTheUnitFromTheRowOfAllPools) {
  MemoryStats stats;
  increase(stats.allocated_bytes, StatPool::large_pool, 3_GiB);
  increase(stats.allocated_bytes, StatPool::small_pool, 512);
  increase(stats.allocation, StatPool::small_pool, 750'000);
  const std::string summary = memory_summary(stats, 3);
  EXPECT_NE(summary.find("| Allocated memory      |   3072 MiB |"), std::string::npos);
  EXPECT_NE(summary.find("|       from small pool |      0 MiB |"), std::string::npos);
  EXPECT_NE(summary.find("| Allocations           |     750 K  |"), std::string::npos);
  EXPECT_NE(summary.find("device ID 3 "), std::string::npos);
}

TEST(MemorySummary, LeavesThePoolsOutWhenAbbreviated) {
  const std::string summary = memory_summary({}, 0, SummaryRows::abbreviated);
  EXPECT_EQ(summary.find("pool"), std::string::npos);
  EXPECT_NE(summary.find("Non-releasable allocs"), std::string::npos);
}

}  // namespace
}  // namespace ohm
