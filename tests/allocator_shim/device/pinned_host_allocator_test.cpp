#include "allocator_shim/device/pinned_host_allocator.h"

#include <gtest/gtest.h>

#include "allocator_shim/device/host_memory_allocator.h"
#include "allocator_shim/device/queued_streams.h"
#include "allocator_shim/fault/fault_plan.h"
#include "allocator_shim/fault/faulty_allocator.h"

namespace ohm {
namespace {

class PinnedHostAllocatorTest : public testing::Test {
 protected:
  static AllocationRequest request(std::size_t bytes) {
    AllocationRequest wanted;
    wanted.bytes = bytes;
    return wanted;
  }
  std::int64_t host_bytes() const { return host_.stats().allocated_bytes[0].current; }

  HostMemoryAllocator host_{{.capacity_bytes = 1 << 20U}};
  PinnedHostAllocator pinned_{host_};
  QueuedStreams streams_;
};

TEST_F(PinnedHostAllocatorTest, TakesPowersOfTwoFromTheHost) {
  for (const std::size_t bytes : {1U, 2U, 3U, 1000U, 1024U, 1025U}) {
    pinned_.allocate(request(bytes));
  }
  EXPECT_EQ(host_bytes(), 1 + 2 + 4 + 1024 + 1024 + 2048);
  EXPECT_EQ(pinned_.pinned_stats().reserved_bytes.current, host_bytes());
  EXPECT_EQ(pinned_.allocate(request(0)).block, nullptr);
}

TEST_F(PinnedHostAllocatorTest, HandsOutAFreedBlockOfTheSizeTheLastFreedFirst) {
  const Allocation first = pinned_.allocate(request(600));
  const Allocation second = pinned_.allocate(request(700));
  pinned_.free(first.block);
  pinned_.free(second.block);
  EXPECT_EQ(pinned_.pinned_stats().allocated_bytes.current, 0);
  EXPECT_EQ(pinned_.allocate(request(1000)).address, second.address);
  EXPECT_EQ(pinned_.allocate(request(513)).address, first.address);
  EXPECT_EQ(pinned_.pinned_stats().segment.allocated, 2);
  pinned_.allocate(request(512));
  EXPECT_EQ(pinned_.pinned_stats().segment.allocated, 3);
}

TEST_F(PinnedHostAllocatorTest, ABlockWaitsForTheStreamsThatUseIt) {
  constexpr StreamId kSide = 3;
  const Allocation block = pinned_.allocate(request(64));
  streams_.occupy(kSide);
  pinned_.record_use(block.block, streams_, kDefaultStream);
  pinned_.record_use(block.block, streams_, kSide);
  pinned_.free(block.block);
  EXPECT_EQ(pinned_.pinned_stats().allocation.current, 1);
  EXPECT_NE(pinned_.allocate(request(64)).address, block.address);
  streams_.synchronize(kSide);
  EXPECT_EQ(pinned_.allocate(request(64)).address, block.address);
}

TEST_F(PinnedHostAllocatorTest, EmptyingTheCacheGivesFreeBlocksBack) {
  const Allocation kept = pinned_.allocate(request(100));
  pinned_.free(pinned_.allocate(request(5000)).block);
  EXPECT_EQ(host_bytes(), 128 + 8192);
  pinned_.empty_cache();
  EXPECT_EQ(host_bytes(), 128);
  EXPECT_EQ(pinned_.pinned_stats().reserved_bytes.current, 128);
  EXPECT_EQ(pinned_.pinned_stats().reserved_bytes.peak, 128 + 8192);
  pinned_.free(kept.block);
}

TEST_F(PinnedHostAllocatorTest, SaysWhatItsRequestsAreFor) {
  FaultPlan plan = FaultPlan::parse("level(pinned)");
  FaultyAllocator faulty(host_, plan, -1);
  PinnedHostAllocator pinned(faulty);
  faulty.free(faulty.allocate(request(64)).block);
  EXPECT_THROW(pinned.allocate(request(64)), OutOfMemory);
  EXPECT_EQ(plan.faults(), 1U);
}

TEST_F(PinnedHostAllocatorTest, AFullHostIsOutOfMemory) {
  pinned_.allocate(request(600 << 10U));  // takes all of the mebibyte
  EXPECT_THROW(pinned_.allocate(request(1)), OutOfMemory);
  EXPECT_THROW(pinned_.allocate(request(std::size_t{1} << 63U)), OutOfMemory);
}

}  // namespace
}  // namespace ohm
