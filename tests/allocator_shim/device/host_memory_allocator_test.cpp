#include "allocator_shim/device/host_memory_allocator.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>

#include "allocator_shim/base/bytes.h"

namespace ohm {
namespace {

AllocationRequest request_of(std::size_t bytes, Category category = Category::other) {
  AllocationRequest request;
  request.bytes = bytes;
  request.category = category;
  return request;
}

TEST(HostMemoryAllocator, CountsWhatWasAskedFor) {
  HostMemoryAllocator host({});
  const Allocation first = host.allocate(request_of(100));
  const Allocation second = host.allocate(request_of(28));
  host.free(first.block);
  const MemoryStats& stats = host.stats();
  EXPECT_EQ(stats.allocated_bytes[0], (Stat{28, 128, 128, 100}));
  EXPECT_EQ(stats.allocation[0], (Stat{1, 2, 2, 1}));
  host.free(second.block);
}

TEST(HostMemoryAllocator, GivesNothingForNothing) {
  HostMemoryAllocator host({});
  EXPECT_EQ(host.allocate(request_of(0)).block, nullptr);
  host.free(nullptr);
  EXPECT_EQ(host.stats().allocation[0].allocated, 0);
}

TEST(HostMemoryAllocator, IsOutOfMemoryBeyondItsCapacity) {
  HostMemoryAllocator host({1_MiB, ValueMode::size_only});
  const Allocation half = host.allocate(request_of(512_KiB));
  EXPECT_EQ(host.info().free_bytes, 512_KiB);
  try {
    host.allocate(request_of(512_KiB + 1, Category::input));
    ADD_FAILURE() << "granted";
  } catch (const OutOfMemory& error) {
    EXPECT_EQ(error.report().device, -1);
    EXPECT_EQ(error.report().requested_bytes, 512_KiB + 1);
    EXPECT_EQ(error.report().free_bytes, 512_KiB);
    EXPECT_EQ(error.report().category, Category::input);
    EXPECT_STREQ(error.what(),
                 "DefaultCPUAllocator: can't allocate memory: you tried to allocate 524289 bytes. "
                 "Error code 12 (Cannot allocate memory)");
  }
  EXPECT_EQ(host.stats().num_ooms, 1);
  host.free(half.block);
  host.free(host.allocate(request_of(1_MiB)).block);
}

TEST(HostMemoryAllocator, BacksValuesWithAlignedMemory) {
  HostMemoryAllocator host({1_GiB, ValueMode::keeps_values});
  const Allocation block = host.allocate(request_of(100));
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block.values) % 64, 0U);
  std::memset(block.values, 1, 100);
  host.free(block.block);
}

TEST(HostMemoryAllocator, KeepsItsCategoriesAndTheirPeak) {
  HostMemoryAllocator host({});
  const auto of = [](const CategoryBytes& bytes, Category category) {
    return bytes[static_cast<std::size_t>(category)];
  };
  const Allocation weight = host.allocate(request_of(64, Category::parameter));
  const Allocation batch = host.allocate(request_of(256, Category::input));
  host.free(batch.block);
  host.set_category(weight.block, Category::gradient);
  EXPECT_EQ(of(host.allocated_bytes_by_category(), Category::parameter), 0);
  EXPECT_EQ(of(host.allocated_bytes_by_category(), Category::gradient), 64);
  EXPECT_EQ(of(host.peak_bytes_by_category(), Category::parameter), 64);
  EXPECT_EQ(of(host.peak_bytes_by_category(), Category::input), 256);
  host.reset_peak_stats();
  EXPECT_EQ(of(host.peak_bytes_by_category(), Category::input), 0);
  EXPECT_EQ(of(host.peak_bytes_by_category(), Category::gradient), 64);
  host.free(weight.block);
}

TEST(HostMemoryAllocator, RecordsItsEvents) {
  EventRecord record;
  HostMemoryAllocator host({}, &record);
  const Allocation block = host.allocate(request_of(600, Category::input));
  host.set_category(block.block, Category::activation);
  host.free(block.block);
  ASSERT_EQ(record.size(), 4U);
  EXPECT_EQ(record[0].action, EventAction::alloc);
  EXPECT_EQ(record[0].bytes, 600U);
  EXPECT_EQ(record[0].block_bytes(), 1024U);
  EXPECT_EQ(record[0].device, -1);
  EXPECT_EQ(record[1].action, EventAction::relabel);
  EXPECT_EQ(record[1].category, Category::activation);
  EXPECT_EQ(record[2].action, EventAction::free_requested);
  EXPECT_EQ(record[3].action, EventAction::free_completed);
}

TEST(HostMemoryAllocator, ListsLiveBlocksInAddressOrder) {
  HostMemoryAllocator host({});
  const Allocation first = host.allocate(request_of(1));
  const Allocation second = host.allocate(request_of(2));
  const Allocation third = host.allocate(request_of(3));
  host.free(second.block);
  const auto blocks = host.live_blocks();
  ASSERT_EQ(blocks.size(), 2U);
  EXPECT_EQ(blocks[0].requested_bytes, 1U);
  EXPECT_EQ(blocks[1].requested_bytes, 3U);
  EXPECT_LT(blocks[0].address, blocks[1].address);
  host.free(third.block);
  host.free(first.block);
}

}  // namespace
}  // namespace ohm
