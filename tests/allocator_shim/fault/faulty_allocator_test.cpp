#include "allocator_shim/fault/faulty_allocator.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "allocator_shim/base/bytes.h"
#include "allocator_shim/caching/caching_allocator.h"
#include "allocator_shim/device/virtual_gpu.h"
#include "allocator_shim/device/virtual_streams.h"
#include "allocator_shim/fault/fault_injector.h"
#include "allocator_shim/fault/fault_plan.h"
#include "allocator_shim/fault/faulty_device_memory.h"

namespace ohm {
namespace {

class FaultyAllocatorTest : public testing::Test {
 protected:
  AllocationRequest request_of(std::size_t bytes) {
    AllocationRequest request;
    request.bytes = bytes;
    request.category = Category::activation;
    request.site = 5;
    return request;
  }

  VirtualGpu gpu_{1_GiB, {}};
  VirtualStreams streams_;
  EventRecord events_;
  CachingAllocator allocator_{gpu_, streams_, {}, &events_};
};

TEST_F(FaultyAllocatorTest, RefusesTheRequestThatThePlanNames) {
  FaultPlan plan = FaultPlan::parse("nth(2)");
  FaultyAllocator faulty(allocator_, plan, 0, &events_);
  const Allocation first = faulty.allocate(request_of(3_MiB));
  try {
    faulty.allocate(request_of(4_MiB));
    ADD_FAILURE() << "granted";
  } catch (const OutOfMemory& error) {
    const OutOfMemoryReport& report = error.report();
    EXPECT_TRUE(report.injected);
    EXPECT_EQ(report.policy, "nth(2)");
    EXPECT_EQ(report.requested_bytes, 4_MiB);
    EXPECT_EQ(report.segment_bytes, 20_MiB);
    EXPECT_EQ(report.allocated_bytes, 3_MiB);
    EXPECT_EQ(report.reserved_bytes, 20_MiB);
    EXPECT_EQ(report.free_bytes, 1_GiB - 20_MiB);
    EXPECT_EQ(report.category, Category::activation);
    EXPECT_EQ(report.site, 5U);
    EXPECT_TRUE(report.message.starts_with("CUDA out of memory. Tried to allocate 20.00 MiB. "));
  }
  const Allocation third = faulty.allocate(request_of(4_MiB));
  EXPECT_EQ(third.address, first.address + 3_MiB);
  faulty.free(first.block);
  faulty.free(third.block);
}

TEST_F(FaultyAllocatorTest, ChangesNothingButTheOomCounterAndTheRecord) {
  FaultPlan plan = FaultPlan::parse("persistent(size(>=1MiB))");
  FaultyAllocator faulty(allocator_, plan, 0, &events_);
  const MemoryStats before = allocator_.stats();
  for (int i = 0; i < 3; ++i) EXPECT_THROW(faulty.allocate(request_of(1_MiB)), OutOfMemory);
  EXPECT_EQ(allocator_.stats().flatten(), before.flatten());
  EXPECT_EQ(faulty.stats().num_ooms, 3);
  ASSERT_EQ(events_.size(), 3U);
  EXPECT_EQ(events_[2].action, EventAction::oom);
  EXPECT_EQ(events_[2].bytes, 1_MiB);
  faulty.reset_accumulated_stats();
  EXPECT_EQ(faulty.stats().num_ooms, 0);
}

TEST_F(FaultyAllocatorTest, MarksAFailureThatThePlanCausedFurtherDown) {
  VirtualGpu gpu(64_MiB, {});
  VirtualStreams streams;
  FaultPlan plan = FaultPlan::parse("level(segment) & size(>=30MiB) & from(1)");
  FaultyDeviceMemory memory(gpu, plan, 0);
  CachingAllocator caching(memory, streams, {});
  FaultyAllocator faulty(caching, plan, 0);
  const auto is_injected = [&](std::size_t bytes) {
    try {
      faulty.allocate(request_of(bytes));
    } catch (const OutOfMemory& error) {
      return error.report().injected;
    }
    throw std::logic_error("it was granted");
  };
  EXPECT_TRUE(is_injected(30_MiB));
  for (int i = 0; i < 3; ++i) faulty.allocate(request_of(20_MiB));
  EXPECT_FALSE(is_injected(20_MiB));
}

TEST_F(FaultyAllocatorTest, TellsOfEveryErrorWhileAllIsStillAlive) {
  FaultPlan plan = FaultPlan::parse("nth(3)");
  FaultyAllocator faulty(allocator_, plan, 0, &events_);
  std::vector<std::pair<bool, std::size_t>> told;  // injected, blocks that are alive
  faulty.on_out_of_memory([&](const OutOfMemoryReport& report) {
    told.emplace_back(report.injected, faulty.live_blocks().size());
  });
  const Allocation kept = faulty.allocate(request_of(3_MiB));
  EXPECT_THROW(faulty.allocate(request_of(2_GiB)), OutOfMemory);
  EXPECT_THROW(faulty.allocate(request_of(3_MiB)), OutOfMemory);
  EXPECT_EQ(told, (std::vector<std::pair<bool, std::size_t>>{{false, 1}, {true, 1}}));
  faulty.free(kept.block);
}

TEST_F(FaultyAllocatorTest, ThePurposeOfARequestIsItsLevel) {
  const std::vector<std::pair<RequestPurpose, std::string>> kCases = {
      {RequestPurpose::tensor, "request"},
      {RequestPurpose::workspace, "workspace"},
      {RequestPurpose::collective, "collective"},
      {RequestPurpose::pinned, "pinned"}};
  for (const auto& [purpose, level] : kCases) {
    for (const auto& [other, name] : kCases) {
      FaultPlan plan = FaultPlan::parse("persistent(size(>=1)) & level(" + name + ")");
      FaultyAllocator faulty(allocator_, plan, 0);
      AllocationRequest request = request_of(512);
      request.purpose = purpose;
      // A chain at the level of requests means all of those for GPU memory.
      const bool is_any = other == RequestPurpose::tensor && purpose != RequestPurpose::pinned;
      if (is_any || other == purpose) {
        EXPECT_THROW(faulty.allocate(request), OutOfMemory) << level << ", " << name;
      } else {
        faulty.free(faulty.allocate(request).block);
      }
    }
  }
}

TEST_F(FaultyAllocatorTest, TheOpOfARequestDoesNotSayWhatItIsFor) {
  SiteTable sites;
  FaultInjector faults(&sites);
  FaultPlan plan = FaultPlan::parse("level(collective)");
  faults.add(plan);
  FaultyAllocator faulty(allocator_, faults, 0);
  AllocationRequest request = request_of(512);
  request.site = sites.intern("a.lua", 3, "gather");
  faulty.free(faulty.allocate(request).block);
  request.purpose = RequestPurpose::collective;
  EXPECT_THROW(faulty.allocate(request), OutOfMemory);
}

TEST_F(FaultyAllocatorTest, DoesNotCountRequestsForNothing) {
  FaultPlan plan = FaultPlan::parse("nth(1)");
  FaultyAllocator faulty(allocator_, plan, 0);
  EXPECT_EQ(faulty.allocate(request_of(0)).block, nullptr);
  EXPECT_THROW(faulty.allocate(request_of(1)), OutOfMemory);
}

}  // namespace
}  // namespace ohm
