#include "allocator_shim/fault/faulty_device_memory.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "allocator_shim/base/bytes.h"
#include "allocator_shim/caching/caching_allocator.h"
#include "allocator_shim/device/virtual_gpu.h"
#include "allocator_shim/device/virtual_streams.h"
#include "allocator_shim/fault/capacity_limit.h"
#include "allocator_shim/fault/fault_plan.h"

namespace ohm {
namespace {

AllocationRequest request_of(std::size_t bytes) {
  AllocationRequest request;
  request.bytes = bytes;
  return request;
}

TEST(FaultyDeviceMemory, MakesTheLadderReleaseItsCacheAndTryAgain) {
  VirtualGpu gpu(1_GiB, {});
  FaultPlan plan = FaultPlan::parse("level(segment) & nth(2)");
  FaultyDeviceMemory device(gpu, plan, 0);
  VirtualStreams streams;
  CachingAllocator allocator(device, streams, {});
  allocator.free(allocator.allocate(request_of(3_MiB)).block);
  allocator.allocate(request_of(30_MiB));
  const MemoryStats& stats = allocator.stats();
  EXPECT_EQ(plan.faults(), 1U);
  EXPECT_EQ(stats.num_alloc_retries, 1);
  EXPECT_EQ(stats.num_ooms, 0);
  EXPECT_EQ(stats.reserved_bytes[0].current, 30_MiB);
}

TEST(FaultyDeviceMemory, IsOutOfMemoryWhenTheRetryFailsToo) {
  VirtualGpu gpu(1_GiB, {});
  FaultPlan plan = FaultPlan::parse("level(segment) & from(1)");
  FaultyDeviceMemory device(gpu, plan, 0);
  VirtualStreams streams;
  CachingAllocator allocator(device, streams, {});
  EXPECT_THROW(allocator.allocate(request_of(1)), OutOfMemory);
  EXPECT_EQ(plan.faults(), 2U);
  EXPECT_EQ(gpu.info().free_bytes, 1_GiB);
}

TEST(FaultyDeviceMemory, RefusesToMapChunks) {
  VirtualGpu gpu(1_GiB, {});
  FaultPlan plan = FaultPlan::parse("level(map) & nth(1)");
  FaultyDeviceMemory device(gpu, plan, 0);
  VirtualStreams streams;
  CachingAllocatorOptions options;
  options.settings = parse_settings("expandable_segments:True");
  CachingAllocator allocator(device, streams, options);
  allocator.allocate(request_of(1));
  EXPECT_EQ(allocator.stats().num_alloc_retries, 1);
  EXPECT_EQ(allocator.stats().reserved_bytes[0].current, 2_MiB);
}

TEST(CapacityLimit, ShowsAndGrantsLess) {
  VirtualGpuOptions options;
  options.context_bytes = 4_MiB;
  VirtualGpu gpu(1_GiB, options);
  CapacityLimit limited(gpu, 64_MiB);
  EXPECT_EQ(limited.info().total_bytes, 64_MiB);
  EXPECT_EQ(limited.info().free_bytes, 60_MiB);
  EXPECT_FALSE(limited.allocate_segment(62_MiB));
  EXPECT_TRUE(limited.allocate_segment(40_MiB));
  const DeviceAddress range = limited.reserve_range(72_MiB);
  EXPECT_FALSE(limited.map(range, 22_MiB, 2_MiB));
  EXPECT_TRUE(limited.map(range, 20_MiB, 2_MiB));
  EXPECT_EQ(limited.info().free_bytes, 0U);
}

TEST(CapacityLimit, IsThatOfTheDeviceWhenTheDeviceHasLess) {
  VirtualGpu gpu(32_MiB, {});
  CapacityLimit limited(gpu, 64_MiB);
  EXPECT_EQ(limited.info().total_bytes, 32_MiB);
  EXPECT_EQ(limited.info().free_bytes, 32_MiB);
}

TEST(CapacityLimit, LeavesRoomForTheContext) {
  VirtualGpuOptions options;
  options.context_bytes = 4_MiB;
  VirtualGpu gpu(1_GiB, options);
  EXPECT_THROW(CapacityLimit(gpu, 3_MiB), std::invalid_argument);
}

}  // namespace
}  // namespace ohm
