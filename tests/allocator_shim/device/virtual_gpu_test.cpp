#include "allocator_shim/device/virtual_gpu.h"

#include <gtest/gtest.h>

#include <cstring>
#include <stdexcept>

#include "allocator_shim/base/bytes.h"
#include "allocator_shim/device/virtual_streams.h"

namespace ohm {
namespace {

TEST(VirtualGpu, HandsOutTheLowestGapThatFits) {
  VirtualGpu gpu(64_MiB, {});
  const DeviceAddress base = VirtualGpu::kFirstAddress;
  EXPECT_EQ(gpu.allocate_segment(2_MiB), base);
  EXPECT_EQ(gpu.allocate_segment(20_MiB), base + 2_MiB);
  EXPECT_EQ(gpu.allocate_segment(2_MiB), base + 22_MiB);
  gpu.free_segment(base, 2_MiB);
  gpu.free_segment(base + 2_MiB, 20_MiB);
  EXPECT_EQ(gpu.allocate_segment(24_MiB), base + 24_MiB);
  EXPECT_EQ(gpu.allocate_segment(22_MiB), base);
}

TEST(VirtualGpu, CanHandOutAddressesFromTheTop) {
  VirtualGpuOptions options;
  options.address_order = AddressOrder::highest_gap;
  VirtualGpu gpu(64_MiB, options);
  const DeviceAddress top = VirtualGpu::kFirstAddress + std::size_t{16} * 64_MiB;
  EXPECT_EQ(gpu.allocate_segment(2_MiB), top - 2_MiB);
  EXPECT_EQ(gpu.allocate_segment(20_MiB), top - 22_MiB);
  EXPECT_EQ(gpu.allocate_segment(2_MiB), top - 24_MiB);
  EXPECT_EQ(gpu.reserve_range(4_MiB), top - 28_MiB);
  gpu.free_segment(top - 2_MiB, 2_MiB);
  gpu.free_segment(top - 22_MiB, 20_MiB);
  EXPECT_EQ(gpu.allocate_segment(24_MiB), top - 52_MiB);
  EXPECT_EQ(gpu.allocate_segment(10_MiB), top - 10_MiB);
  EXPECT_EQ(gpu.allocate_segment(12_MiB), top - 22_MiB);
}

TEST(VirtualGpu, RoundsAddressesButNotMemoryUpToGranules) {
  VirtualGpu gpu(64_MiB, {});
  EXPECT_EQ(gpu.allocate_segment(512), VirtualGpu::kFirstAddress);
  EXPECT_EQ(gpu.allocate_segment(512), VirtualGpu::kFirstAddress + 2_MiB);
  EXPECT_EQ(gpu.info().free_bytes, 64_MiB - 1024);
}

TEST(VirtualGpu, CanHandOutAddressesOnce) {
  VirtualGpuOptions options;
  options.address_order = AddressOrder::never_reused;
  VirtualGpu gpu(64_MiB, options);
  const auto first = gpu.allocate_segment(2_MiB);
  gpu.free_segment(*first, 2_MiB);
  EXPECT_EQ(gpu.allocate_segment(2_MiB), *first + 2_MiB);
}

TEST(VirtualGpu, BeginsAtItsOwnAddress) {
  VirtualGpuOptions options;
  options.device = 3;
  VirtualGpu gpu(64_MiB, options);
  EXPECT_EQ(gpu.allocate_segment(2_MiB), 0x7f0000000000 + (DeviceAddress{3} << 40U));
}

TEST(VirtualGpu, CanHaveTheAddressesOfTheHostMemoryBehindThem) {
  VirtualGpuOptions options;
  options.values = ValueMode::keeps_values;
  options.address_origin = AddressOrigin::host;
  options.device = 1;
  VirtualGpu gpu(64_MiB, options);
  const DeviceAddress address = *gpu.allocate_segment(2_MiB);
  EXPECT_EQ(address, VirtualGpu::kFirstHostAddress + VirtualGpu::kHostAddressesPerDevice);
  EXPECT_EQ(gpu.host_pointer(address), reinterpret_cast<void*>(address));
  std::memset(reinterpret_cast<void*>(address), 1, 2_MiB);
  EXPECT_TRUE(gpu.may_hand_out(address));
  EXPECT_FALSE(gpu.may_hand_out(address - 1));
}

TEST(VirtualGpu, TakesOtherHostAddressesWhereItsOwnAreInUse) {
  VirtualGpuOptions options;
  options.values = ValueMode::keeps_values;
  options.address_origin = AddressOrigin::host;
  VirtualGpu first(64_MiB, options);
  VirtualGpu second(64_MiB, options);
  EXPECT_NE(*first.allocate_segment(2_MiB), *second.allocate_segment(2_MiB));
}

TEST(VirtualGpu, MemoryCanBeCreatedApartFromItsAddresses) {
  VirtualGpuOptions options;
  options.values = ValueMode::keeps_values;
  VirtualGpu gpu(64_MiB, options);
  const DeviceAddress range = gpu.reserve_range(64_MiB);
  EXPECT_TRUE(gpu.create_chunk(60_MiB));
  EXPECT_EQ(gpu.info().free_bytes, 4_MiB);
  EXPECT_FALSE(gpu.create_chunk(6_MiB));
  gpu.map_chunk(range, 60_MiB);
  std::memset(gpu.host_pointer(range), 1, 60_MiB);
  gpu.unmap_chunk(range, 60_MiB);
  EXPECT_EQ(gpu.info().free_bytes, 4_MiB) << "it is still there";
  gpu.release_chunk(60_MiB);
  EXPECT_EQ(gpu.info().free_bytes, 64_MiB);
}

TEST(VirtualGpu, TakesCapacityAndContextFromItsProfile) {
  const GpuProfile& profile = find_gpu_profile("k80-12g");
  VirtualGpu gpu(profile, 0, ValueMode::size_only);
  EXPECT_EQ(gpu.info().total_bytes, 11'996'954'624U);
  EXPECT_EQ(gpu.info().free_bytes, 11'996'954'624U - 450_MiB);
}

TEST(VirtualGpu, RefusesAContextThatDoesNotFit) {
  VirtualGpuOptions options;
  options.context_bytes = 65_MiB;
  EXPECT_THROW(VirtualGpu(64_MiB, options), std::invalid_argument);
}

TEST(VirtualGpu, KeepsValuesThroughItsHostPointer) {
  VirtualGpuOptions options;
  options.values = ValueMode::keeps_values;
  VirtualGpu gpu(80_GiB, options);  // more than the host has: only touched pages cost
  const auto segment = gpu.allocate_segment(40_GiB);
  ASSERT_TRUE(segment);
  auto* const last = static_cast<char*>(gpu.host_pointer(*segment + 40_GiB - 4));
  std::memcpy(last, "end", 4);
  EXPECT_STREQ(last, "end");
  gpu.free_segment(*segment, 40_GiB);
  // The same addresses again, and no trace of what was there.
  EXPECT_EQ(gpu.allocate_segment(40_GiB), segment);
  EXPECT_EQ(last[0], '\0');
}

TEST(VirtualGpu, HasNoHostPointerWhenItOnlyCounts) {
  VirtualGpu gpu(64_MiB, {});
  EXPECT_EQ(gpu.host_pointer(*gpu.allocate_segment(2_MiB)), nullptr);
}

TEST(VirtualGpu, SharesACardWithOtherProcesses) {
  const auto device = std::make_shared<SharedGpuMemory>(64_MiB);
  VirtualGpuOptions options;
  options.context_bytes = 4_MiB;
  options.process_id = 11;
  VirtualGpu first(device, options);
  {
    options.process_id = 12;
    VirtualGpu second(device, options);
    EXPECT_TRUE(second.allocate_segment(40_MiB));
    EXPECT_EQ(first.info().free_bytes, 16_MiB);
    EXPECT_FALSE(first.allocate_segment(20_MiB));
    const auto processes = first.processes();
    ASSERT_EQ(processes.size(), 2U);
    EXPECT_TRUE(processes[0].is_own);
    EXPECT_EQ(processes[1].id, 12U);
    EXPECT_EQ(processes[1].bytes, 44_MiB);
  }
  // The process ended: its context and its segments are free again.
  EXPECT_EQ(first.info().free_bytes, 60_MiB);
  EXPECT_EQ(first.processes().size(), 1U);
}

TEST(VirtualGpu, LeavesItsCardWithAllThatItHolds) {
  const auto device = std::make_shared<SharedGpuMemory>(64_MiB);
  VirtualGpuOptions options;
  options.context_bytes = 1_MiB;
  VirtualGpu first(device, options);
  options.process_id = 2;
  VirtualGpu second(device, options);
  const auto segment = second.allocate_segment(20_MiB);
  EXPECT_EQ(first.info().free_bytes, 42_MiB);
  second.leave_device();
  EXPECT_EQ(first.info().free_bytes, 63_MiB);
  EXPECT_EQ(first.processes().size(), 1U);
  second.free_segment(*segment, 20_MiB);
  EXPECT_EQ(first.info().free_bytes, 63_MiB);
}

TEST(VirtualGpu, CanHideItsProcesses) {
  VirtualGpuOptions options;
  options.process_listing = ProcessListing::unavailable;
  EXPECT_TRUE(VirtualGpu(64_MiB, options).processes().empty());
}

TEST(VirtualStreams, CompleteOnlyWhenTheProgramWaits) {
  VirtualStreams streams;
  const StreamEvent first = streams.record(1);
  const StreamEvent second = streams.record(1);
  const StreamEvent other = streams.record(2);
  EXPECT_FALSE(streams.is_complete(1, first));
  streams.wait(1, second);
  EXPECT_TRUE(streams.is_complete(1, first));
  EXPECT_FALSE(streams.is_complete(2, other));
  streams.synchronize_all();
  EXPECT_TRUE(streams.is_complete(2, other));
  EXPECT_FALSE(streams.is_complete(2, streams.record(2)));
}

}  // namespace
}  // namespace ohm
