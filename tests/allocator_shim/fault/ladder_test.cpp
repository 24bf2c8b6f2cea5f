// Every rung of the allocator's ladder, reached by failing the one before it.
#include <gtest/gtest.h>

#include "allocator_shim/base/bytes.h"
#include "allocator_shim/caching/caching_allocator.h"
#include "allocator_shim/device/virtual_gpu.h"
#include "allocator_shim/device/virtual_streams.h"
#include "allocator_shim/fault/fault_injector.h"
#include "allocator_shim/fault/faulty_allocator.h"
#include "allocator_shim/fault/faulty_device_memory.h"

namespace ohm {
namespace {

class Ladder : public testing::Test {
 protected:
  void start(std::string_view settings = "") {
    CachingAllocatorOptions options;
    options.settings = parse_settings(settings);
    allocator_.emplace(device_, streams_, options, &events_);
    faulty_.emplace(*allocator_, faults_, 0, &events_);
  }

  Allocation allocate(std::size_t bytes) {
    AllocationRequest request;
    request.bytes = bytes;
    return faulty_->allocate(request);
  }
  void cache(std::size_t bytes) { faulty_->free(allocate(bytes).block); }

  /// From here on `plan` is in force, and counters are of what follows.
  void fail(std::string_view plan) {
    plan_ = FaultPlan::parse(plan);
    faults_.add(plan_);
    allocator_->reset_accumulated_stats();
  }
  const MemoryStats& stats() { return faulty_->stats(); }
  std::int64_t reserved_bytes() { return stats().reserved_bytes[0].current; }

  VirtualGpu gpu_{1_GiB, {}};
  VirtualStreams streams_;
  EventRecord events_;
  FaultInjector faults_;
  FaultPlan plan_;
  FaultyDeviceMemory device_{gpu_, faults_, 0};
  std::optional<CachingAllocator> allocator_;
  std::optional<FaultyAllocator> faulty_;
};

TEST_F(Ladder, CachedBlocksNeedNoDevice) {
  start();
  cache(30_MiB);
  fail("level(segment) & from(1)");
  allocate(30_MiB);
  EXPECT_EQ(plan_.faults(), 0U);
  EXPECT_EQ(stats().num_alloc_retries, 0);
}

TEST_F(Ladder, CallbacksFreeMemoryBeforeTheDeviceIsAsked) {
  start();
  Allocation held = allocate(30_MiB);
  allocator_->add_free_memory_callback([&] {
    if (held.block != nullptr) faulty_->free(std::exchange(held.block, nullptr));
    return true;
  });
  fail("level(segment) & from(1)");
  EXPECT_EQ(allocate(30_MiB).address, held.address);
  EXPECT_EQ(plan_.faults(), 0U);
  EXPECT_EQ(stats().num_alloc_retries, 0);
}

TEST_F(Ladder, GarbageIsCollectedBeforeTheDeviceIsAsked) {
  start("garbage_collection_threshold:0.1");
  allocator_->set_memory_fraction(0.5);
  cache(60_MiB);
  fail("level(segment) & nth(2)");
  allocate(100_MiB);
  EXPECT_EQ(stats().num_device_free, 1);
  EXPECT_EQ(stats().num_alloc_retries, 0);
  EXPECT_EQ(plan_.faults(), 0U);
  EXPECT_EQ(reserved_bytes(), 100_MiB);
}

TEST_F(Ladder, OneFailureReleasesOneOversizeBlockThatIsEnough) {
  start("max_split_size_mb:21");
  cache(30_MiB);
  cache(80_MiB);
  cache(200_MiB);
  fail("level(segment) & nth(1)");
  allocate(100_MiB);
  EXPECT_EQ(plan_.faults(), 1U);
  EXPECT_EQ(stats().num_device_free, 1);
  EXPECT_EQ(stats().num_alloc_retries, 0);
  EXPECT_EQ(reserved_bytes(), 30_MiB + 80_MiB + 100_MiB);
}

TEST_F(Ladder, TwoFailuresReleaseEverythingThatIsCached) {
  start("max_split_size_mb:21");
  cache(30_MiB);
  cache(200_MiB);
  fail("level(segment) & burst(1,2)");
  allocate(100_MiB);
  EXPECT_EQ(plan_.faults(), 2U);
  EXPECT_EQ(stats().num_device_free, 2);
  EXPECT_EQ(stats().num_alloc_retries, 1);
  EXPECT_EQ(reserved_bytes(), 100_MiB);
}

TEST_F(Ladder, ThreeFailuresAreOutOfMemoryMarkedAsInjected) {
  start("max_split_size_mb:21");
  cache(30_MiB);
  cache(200_MiB);
  fail("level(segment) & burst(1,3)");
  try {
    allocate(100_MiB);
    ADD_FAILURE() << "granted";
  } catch (const OutOfMemory& error) {
    EXPECT_TRUE(error.report().injected);
    EXPECT_EQ(error.report().policy, "level(segment) & burst(1,3)");
  }
  EXPECT_EQ(stats().num_alloc_retries, 1);
  EXPECT_EQ(stats().num_ooms, 1);
  EXPECT_EQ(reserved_bytes(), 0);
  EXPECT_EQ(allocate(100_MiB).address, VirtualGpu::kFirstAddress);
}

TEST_F(Ladder, WithoutOversizeBlocksTheSecondFailureIsTheLast) {
  start();
  cache(30_MiB);
  fail("level(segment) & burst(1,2)");
  EXPECT_THROW(allocate(100_MiB), OutOfMemory);
  EXPECT_EQ(plan_.faults(), 2U);
  EXPECT_EQ(stats().num_alloc_retries, 1);
  EXPECT_EQ(stats().num_device_free, 1);
}

TEST_F(Ladder, AnExpandableSegmentMapsAgainAfterItsPagesWereReleased) {
  start("expandable_segments:True");
  cache(30_MiB);
  const Allocation held = allocate(512);
  fail("level(map) & nth(1)");
  allocate(100_MiB);
  EXPECT_EQ(plan_.faults(), 1U);
  EXPECT_EQ(stats().num_alloc_retries, 1);
  EXPECT_EQ(reserved_bytes(), 100_MiB + 2_MiB);
  faulty_->free(held.block);
}

TEST_F(Ladder, ARefusedRequestTakesNoRungAtAll) {
  start();
  cache(30_MiB);
  fail("nth(1)");
  EXPECT_THROW(allocate(100_MiB), OutOfMemory);
  EXPECT_EQ(stats().num_alloc_retries, 0);
  EXPECT_EQ(stats().num_device_free, 0);
  EXPECT_EQ(stats().num_ooms, 1);
  EXPECT_TRUE(events_[events_.size() - 1].is_injected);
  allocate(30_MiB);
  EXPECT_FALSE(events_[events_.size() - 1].is_injected);
}

TEST_F(Ladder, CallsOfTheDeviceBelongToTheRequestThatIsServed) {
  SiteTable sites;
  FaultInjector faults(&sites);
  FaultPlan plan = FaultPlan::parse("level(segment) & site(conv2d)");
  faults.add(plan);
  FaultyDeviceMemory device(gpu_, faults, 0);
  CachingAllocator allocator(device, streams_, {});
  FaultyAllocator faulty(allocator, faults, 0);
  AllocationRequest request;
  request.bytes = 3_MiB;
  faulty.allocate(request);
  EXPECT_EQ(plan.faults(), 0U);
  request.bytes = 30_MiB;
  request.site = sites.intern("a.lua", 3, "conv2d");
  faulty.allocate(request);
  EXPECT_EQ(plan.faults(), 1U);
  EXPECT_EQ(allocator.stats().num_alloc_retries, 1);
}

TEST(FaultInjector, CountsForEverySourceThatIsThere) {
  FaultInjector faults;
  FaultPlan first = FaultPlan::parse("nth(1)");
  FaultPlan second = FaultPlan::parse("nth(2)");
  FaultCandidate candidate;
  candidate.bytes = 512;
  faults.add(first);
  faults.add(second);
  EXPECT_TRUE(faults.should_fail(candidate));
  EXPECT_EQ(faults.text(), "nth(1)");
  faults.remove(first);
  EXPECT_TRUE(faults.should_fail(candidate));
  EXPECT_EQ(faults.text(), "nth(2)");
  EXPECT_EQ(faults.faults(), 2U);
  EXPECT_EQ(first.calls(), 1U);
}

}  // namespace
}  // namespace ohm
