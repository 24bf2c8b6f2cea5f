#include "allocator_shim/device/value_budget.h"

#include <gtest/gtest.h>

#include "allocator_shim/base/bytes.h"
#include "allocator_shim/device/host_memory_allocator.h"
#include "allocator_shim/device/virtual_gpu.h"

namespace ohm {
namespace {

AllocationRequest request_for(std::size_t bytes) {
  AllocationRequest request;
  request.bytes = bytes;
  return request;
}

VirtualGpuOptions gpu_options(ValueMode values, ValueBudget& budget) {
  VirtualGpuOptions options;
  options.values = values;
  options.budget = &budget;
  return options;
}

TEST(ValueBudget, SaysWhatIsTakenAndWhatToDo) {
  ValueBudget budget(4_MiB);
  budget.take(3_MiB);
  try {
    budget.take(2_MiB);
    ADD_FAILURE() << "granted";
  } catch (const HostRefusal& refusal) {
    EXPECT_STREQ(refusal.what(),
                 "[values] values may take 4.00 MiB of this computer's memory: 3.00 MiB are taken, "
                 "and 2.00 MiB more are needed; --value-memory SIZE allows more, --size-only "
                 "(gpu = {values = false}) keeps sizes alone");
  }
  budget.take(1_MiB);
}

TEST(ValueBudget, IsSharedByTheHostAndTheGpus) {
  ValueBudget budget(4_MiB);
  HostMemoryAllocator host({1_GiB, ValueMode::keeps_values, &budget});
  VirtualGpu gpu(64_MiB, gpu_options(ValueMode::keeps_values, budget));
  const Allocation values = host.allocate(request_for(2_MiB));
  const auto segment = gpu.allocate_segment(2_MiB);
  EXPECT_THROW(host.allocate(request_for(1)), HostRefusal);
  EXPECT_THROW(gpu.allocate_segment(2_MiB), HostRefusal);
  host.free(values.block);
  EXPECT_EQ(gpu.allocate_segment(2_MiB), *segment + 2_MiB);
  gpu.free_segment(*segment, 2_MiB);
  EXPECT_NE(host.allocate(request_for(2_MiB)).values, nullptr);
}

TEST(ValueBudget, ARefusalTakesNothingOfTheDevice) {
  ValueBudget budget(2_MiB);
  VirtualGpu gpu(64_MiB, gpu_options(ValueMode::keeps_values, budget));
  EXPECT_THROW(gpu.allocate_segment(4_MiB), HostRefusal);
  const DeviceAddress range = gpu.reserve_range(4_MiB);
  EXPECT_THROW(gpu.map(range, 4_MiB, 2_MiB), HostRefusal);
  EXPECT_EQ(gpu.info().free_bytes, 64_MiB);
  gpu.release_range(range, 4_MiB);
  EXPECT_EQ(gpu.allocate_segment(2_MiB), VirtualGpu::kFirstAddress);
  HostMemoryAllocator host({1_GiB, ValueMode::keeps_values, &budget});
  EXPECT_THROW(host.allocate(request_for(64)), HostRefusal);
  EXPECT_EQ(host.stats().allocation[0].allocated, 0);
}

TEST(ValueBudget, IsGivenBackByDevicesThatEnd) {
  ValueBudget budget(2_MiB);
  { VirtualGpu(64_MiB, gpu_options(ValueMode::keeps_values, budget)).allocate_segment(2_MiB); }
  { HostMemoryAllocator({1_GiB, ValueMode::keeps_values, &budget}).allocate(request_for(2_MiB)); }
  budget.take(2_MiB);
}

TEST(ValueBudget, IsNotForSizes) {
  ValueBudget budget(0);
  VirtualGpu gpu(64_MiB, gpu_options(ValueMode::size_only, budget));
  HostMemoryAllocator host({1_GiB, ValueMode::size_only, &budget});
  EXPECT_TRUE(gpu.allocate_segment(2_MiB));
  host.free(host.allocate(request_for(1_MiB)).block);
}

}  // namespace
}  // namespace ohm
