#include "allocator_shim/device/cuda/cuda_memory.h"

#include <gtest/gtest.h>

#include <memory>

#include "allocator_shim/base/bytes.h"
#include "allocator_shim/caching/caching_allocator.h"
#include "allocator_shim/caching/settings.h"
#include "allocator_shim/device/cuda/cuda_streams.h"
#include "allocator_shim/device/cuda/pinned_memory.h"
#include "allocator_shim/device/device_share.h"
#include "allocator_shim/device/host_memory_allocator.h"
#include "tests/support/stand_in_driver/stand_in.h"

namespace ohm::cuda {
namespace {

using stand_in::StandIn;

TEST(CudaMemory, GivesBackAllThatItHolds) {
  const StandIn stand_in;
  {
    CudaMemory memory(StandIn::device());
    ASSERT_TRUE(memory.allocate_segment(20_MiB));
    const DeviceAddress range = memory.reserve_range(72_MiB);
    ASSERT_TRUE(memory.map(range, 4_MiB, 2_MiB));
    EXPECT_GT(stand_in.held_bytes(), 0U);
  }
  EXPECT_EQ(stand_in.held_bytes(), 0U);
}

TEST(CudaMemory, FreesNothingTwiceOnceItHasLeftTheDevice) {
  const StandIn stand_in;
  CudaMemory memory(StandIn::device());
  const auto segment = memory.allocate_segment(20_MiB);
  const DeviceAddress range = memory.reserve_range(20_MiB);
  ASSERT_TRUE(segment && memory.map(range, 2_MiB, 2_MiB));
  memory.leave_device();
  EXPECT_EQ(stand_in.held_bytes(), 0U);
  memory.free_segment(*segment, 20_MiB);
  memory.unmap(range, 2_MiB, 2_MiB);
  memory.release_range(range, 20_MiB);
}

TEST(CudaMemory, ThrowsWhatIsNotAShortageOfMemory) {
  const StandIn stand_in("fail=cuMemAlloc_v2:0:801 fail=cuMemCreate:0:801");
  CudaMemory memory(StandIn::device());
  EXPECT_THROW(memory.allocate_segment(2_MiB), DriverError);
  const DeviceAddress range = memory.reserve_range(20_MiB);
  EXPECT_THROW(memory.map(range, 2_MiB, 2_MiB), DriverError);
}

TEST(CudaMemory, AsksForWhatIsKeptElsewhereBeforeItIsShort) {
  const StandIn stand_in("fail=cuMemAlloc_v2:0:2 fail=cuMemAlloc_v2:2:2 fail=cuMemCreate:0:2");
  CudaMemory memory(StandIn::device());
  int asked = 0;
  memory.on_shortage([&] { return ++asked != 2; });
  const auto segment = memory.allocate_segment(2_MiB);
  ASSERT_TRUE(segment);
  EXPECT_EQ(asked, 1);
  EXPECT_FALSE(memory.allocate_segment(2_MiB)) << "nothing was kept";
  const DeviceAddress range = memory.reserve_range(20_MiB);
  EXPECT_TRUE(memory.map(range, 2_MiB, 2_MiB));
  EXPECT_EQ(asked, 3);
}

TEST(CudaMemory, KeepsNothingOfAMappingThatFails) {
  const StandIn stand_in("fail=cuMemMap:0:801");
  CudaMemory memory(StandIn::device());
  const DeviceAddress range = memory.reserve_range(20_MiB);
  EXPECT_THROW(memory.map(range, 2_MiB, 2_MiB), DriverError);
  EXPECT_EQ(memory.info().free_bytes, 60_MiB);
}

TEST(CudaMemory, AsksNothingOfADeviceThatIsBroken) {
  const StandIn stand_in("fail=cuMemAlloc_v2:1:700");
  auto memory = std::make_unique<CudaMemory>(StandIn::device());
  const auto segment = memory->allocate_segment(2_MiB);
  ASSERT_TRUE(segment);
  EXPECT_THROW(memory->allocate_segment(2_MiB), DriverError);
  EXPECT_NO_THROW(memory->free_segment(*segment, 2_MiB));
  memory.reset();
  EXPECT_EQ(stand_in.calls("cuMemFree_v2"), 0);
}

TEST(CudaMemory, TellsWhichProcessesHoldMemory) {
  const StandIn stand_in("others=1");
  CudaMemory memory(StandIn::device(), StandIn::nvml());
  ASSERT_TRUE(memory.allocate_segment(20_MiB));
  EXPECT_EQ(memory.context_bytes(), 4_MiB);
  const auto processes = memory.processes();
  ASSERT_EQ(processes.size(), 2U);
  EXPECT_TRUE(processes[0].is_own);
  EXPECT_EQ(processes[0].bytes, 24_MiB);
}

// ---- with an allocator on it --------------------------------------------------------------------

struct OnDevice {
  std::shared_ptr<const CudaDevice> device = StandIn::device();
  CudaMemory memory{device, StandIn::nvml()};
  CudaStreams streams{device};
};

TEST(CudaMemory, CarriesTheCachingAllocatorThroughAnOutOfMemoryError) {
  const StandIn stand_in;
  OnDevice on;
  CachingAllocator allocator(on.memory, on.streams, {});
  const Allocation first = allocator.allocate({40_MiB});
  EXPECT_THROW(allocator.allocate({40_MiB}), OutOfMemory);
  EXPECT_EQ(allocator.stats().num_ooms, 1);
  allocator.free(first.block);
  // What was freed is cached; the larger request needs it back from the device first.
  const Allocation second = allocator.allocate({50_MiB});
  EXPECT_EQ(stand_in.calls("cuMemFree_v2"), 1);
  allocator.free(second.block);
}

TEST(CudaMemory, CarriesExpandableSegments) {
  const StandIn stand_in;
  OnDevice on;
  CachingAllocatorOptions options;
  options.settings = parse_settings("expandable_segments:True", options.rules);
  {
    CachingAllocator allocator(on.memory, on.streams, options);
    const Allocation block = allocator.allocate({30_MiB});
    EXPECT_EQ(stand_in.calls("cuMemAlloc_v2"), 0);
    EXPECT_EQ(stand_in.calls("cuMemMap"), 2);
    allocator.free(block.block);
    allocator.empty_cache();
    EXPECT_EQ(stand_in.calls("cuMemUnmap"), 2);
  }
  EXPECT_EQ(on.memory.info().free_bytes, 60_MiB);
}

TEST(CudaStreams, FreesAForeignStreamsBlockOnceTheDeviceHasCaughtUp) {
  const StandIn stand_in;
  OnDevice on;
  CachingAllocator allocator(on.memory, on.streams, {});
  const Allocation block = allocator.allocate({2_MiB});
  allocator.record_stream(block.block, 3);
  on.streams.occupy(3);
  allocator.free(block.block);
  const Allocation other = allocator.allocate({2_MiB});
  EXPECT_NE(other.address, block.address) << "stream 3 still uses it";
  on.streams.synchronize(3);
  const Allocation again = allocator.allocate({2_MiB});
  EXPECT_EQ(again.address, block.address);
  EXPECT_GE(stand_in.calls("cuEventSynchronize"), 1);
}

TEST(CudaStreams, MakesAStreamWaitForAnother) {
  const StandIn stand_in;
  CudaStreams streams(StandIn::device());
  const StreamEvent event = streams.record(1);
  streams.wait_for(2, 1, event);
  EXPECT_EQ(stand_in.calls("cuStreamWaitEvent"), 1);
  streams.wait(1, event);
  streams.wait_for(2, 1, event);
  EXPECT_EQ(stand_in.calls("cuStreamWaitEvent"), 1) << "it has passed already";
  EXPECT_TRUE(streams.is_complete(1, event));
}

TEST(CudaStreams, UsesEventsAgain) {
  const StandIn stand_in;
  CudaStreams streams(StandIn::device());
  for (int i = 0; i < 10; ++i) streams.synchronize(1);
  EXPECT_EQ(stand_in.calls("cuEventCreate"), 1);
  EXPECT_EQ(stand_in.calls("cuStreamCreate"), 1);
}

TEST(PinnedMemory, IsTheDriversAndCountedAsTheHosts) {
  const StandIn stand_in;
  {
    HostMemoryOptions options;
    options.values = ValueMode::keeps_values;
    HostMemoryAllocator host(options);
    PinnedMemory locked(host, StandIn::device());
    const Allocation block = locked.allocate({1_MiB});
    static_cast<char*>(block.values)[1_MiB - 1] = 1;
    EXPECT_EQ(host.stats().allocated_bytes[0].current, static_cast<std::int64_t>(1_MiB));
    locked.free(block.block);
    EXPECT_EQ(stand_in.calls("cuMemFreeHost"), 1);
    locked.allocate({1_MiB});
  }
  EXPECT_EQ(stand_in.held_bytes(), 0U);
}

TEST(PinnedMemory, IsGivenBackWhereNoContextIsCurrent) {
  const StandIn stand_in;
  HostMemoryAllocator host({});
  const auto device = StandIn::device();
  PinnedMemory locked(host, device);
  const Allocation block = locked.allocate({1_MiB});
  device->driver().functions().context_set_current(nullptr);
  locked.free(block.block);  // the stand-in notes a call without a context as misuse
  EXPECT_EQ(stand_in.calls("cuMemFreeHost"), 1);
}

TEST(PinnedMemory, HasNoValuesWhereNoneAreKept) {
  const StandIn stand_in;
  HostMemoryAllocator host({});
  PinnedMemory locked(host, StandIn::device());
  EXPECT_EQ(locked.allocate({1_MiB}).values, nullptr);
  EXPECT_EQ(stand_in.calls("cuMemHostAlloc"), 1);
}

TEST(PinnedMemory, IsOutOfMemoryWhenTheDriverIs) {
  const StandIn stand_in("fail=cuMemHostAlloc:0:2");
  HostMemoryAllocator host({});
  PinnedMemory locked(host, StandIn::device());
  EXPECT_THROW(locked.allocate({1_MiB}), OutOfMemory);
  EXPECT_EQ(host.stats().allocated_bytes[0].current, 0);
}

// ---- a part of a device -------------------------------------------------------------------------

TEST(DeviceShare, KeepsValuesWhereTheVirtualGpuDoes) {
  const StandIn stand_in;
  CudaMemory device(StandIn::device());
  VirtualGpuOptions options;
  options.values = ValueMode::keeps_values;
  VirtualGpu share(16_MiB, options);
  DeviceShare memory(device, share);
  const auto first = memory.allocate_segment(2_MiB);
  const DeviceAddress range = memory.reserve_range(8_MiB);
  ASSERT_TRUE(first && memory.map(range, 4_MiB, 2_MiB));
  auto* const value = static_cast<char*>(memory.host_pointer(range + 3_MiB));
  *value = 'x';
  EXPECT_EQ(value, static_cast<char*>(memory.host_pointer(range)) + 3_MiB);
  EXPECT_NE(memory.host_pointer(*first), memory.host_pointer(range));
}

TEST(DeviceShare, RefusesWhatItsOwnCapacityHasNoRoomFor) {
  const StandIn stand_in;
  CudaMemory device(StandIn::device());
  VirtualGpuOptions options;
  options.context_bytes = 1_MiB;
  VirtualGpu share(9_MiB, options);
  DeviceShare memory(device, share);
  EXPECT_EQ(memory.info().free_bytes, 8_MiB);
  const auto segment = memory.allocate_segment(6_MiB);
  ASSERT_TRUE(segment);
  EXPECT_EQ(device.info().free_bytes, 54_MiB);
  EXPECT_FALSE(memory.allocate_segment(4_MiB));
  memory.free_segment(*segment, 6_MiB);
  EXPECT_EQ(device.info().free_bytes, 60_MiB);
}

TEST(DeviceShare, RefusesWhatTheDeviceHasNoRoomFor) {
  const StandIn stand_in;
  CudaMemory device(StandIn::device());
  VirtualGpu share(1_GiB, {});
  DeviceShare memory(device, share);
  EXPECT_FALSE(memory.allocate_segment(62_MiB));
  EXPECT_EQ(share.info().free_bytes, 1_GiB) << "nothing is kept of what was refused";
  EXPECT_EQ(memory.info().free_bytes, 60_MiB);
  const DeviceAddress range = memory.reserve_range(128_MiB);
  EXPECT_FALSE(memory.map(range, 62_MiB, 2_MiB));
  EXPECT_EQ(share.info().free_bytes, 1_GiB);
  memory.release_range(range, 128_MiB);
}

}  // namespace
}  // namespace ohm::cuda
