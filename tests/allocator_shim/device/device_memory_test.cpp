// What every device has to do, whatever it is made of: the suite runs on each implementation.
#include "allocator_shim/device/device_memory.h"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <utility>

#include "allocator_shim/base/bytes.h"
#include "allocator_shim/device/cuda/cuda_memory.h"
#include "allocator_shim/device/device_memory_adaptor.h"
#include "allocator_shim/device/device_share.h"
#include "allocator_shim/device/virtual_gpu.h"
#include "allocator_shim/fault/capacity_limit.h"
#include "allocator_shim/fault/fault_plan.h"
#include "allocator_shim/fault/faulty_device_memory.h"
#include "tests/support/stand_in_driver/stand_in.h"

namespace ohm {
namespace {

struct DeviceKind {
  std::string name;
  std::function<std::unique_ptr<DeviceMemory>()> make;  ///< of 64 MiB, 4 MiB of it the context
};

std::unique_ptr<DeviceMemory> virtual_gpu(ValueMode values) {
  VirtualGpuOptions options;
  options.context_bytes = 4_MiB;
  options.values = values;
  return std::make_unique<VirtualGpu>(64_MiB, options);
}

/// An adaptor around a device of its own.
template <typename Adaptor>
class Owning final : public DeviceMemoryAdaptor {
 public:
  template <typename... Arguments>
  explicit Owning(std::unique_ptr<DeviceMemory> device, Arguments&&... arguments)
      : DeviceMemoryAdaptor(static_cast<DeviceMemory&>(adaptor_)),
        device_(std::move(device)),
        adaptor_(*device_, std::forward<Arguments>(arguments)...) {}

 private:
  std::unique_ptr<DeviceMemory> device_;
  Adaptor adaptor_;
};

std::unique_ptr<DeviceMemory> limited() {
  VirtualGpuOptions options;
  options.context_bytes = 4_MiB;
  return std::make_unique<Owning<CapacityLimit>>(std::make_unique<VirtualGpu>(80_MiB, options),
                                                 64_MiB);
}

std::unique_ptr<DeviceMemory> faulty_without_faults() {
  static FaultPlan no_faults;
  return std::make_unique<Owning<FaultyDeviceMemory>>(virtual_gpu(ValueMode::size_only), no_faults,
                                                      0);
}

/// A device of the stand-in driver, which checks how it is used.
class CudaCard final : public DeviceMemoryAdaptor {
 public:
  CudaCard() : CudaCard(std::make_unique<Parts>()) {}

 private:
  struct Parts {
    stand_in::StandIn stand_in;
    cuda::CudaMemory memory{stand_in::StandIn::device(), stand_in::StandIn::nvml()};
  };
  explicit CudaCard(std::unique_ptr<Parts> parts)
      : DeviceMemoryAdaptor(parts->memory), parts_(std::move(parts)) {}

  std::unique_ptr<Parts> parts_;
};

/// 64 MiB of a larger device.
class ShareOfACard final : public DeviceMemoryAdaptor {
 public:
  ShareOfACard() : DeviceMemoryAdaptor(static_cast<DeviceMemory&>(memory_)) {}

 private:
  static VirtualGpuOptions options() {
    VirtualGpuOptions options;
    options.context_bytes = 4_MiB;
    return options;
  }

  VirtualGpu card_{1_GiB, {}};
  VirtualGpu share_{64_MiB, options()};
  DeviceShare memory_{card_, share_};
};

class DeviceMemoryConformance : public testing::TestWithParam<DeviceKind> {
 protected:
  std::unique_ptr<DeviceMemory> device_ = GetParam().make();
};

TEST_P(DeviceMemoryConformance, GrantsASegmentOfExactlyWhatIsFree) {
  EXPECT_FALSE(device_->allocate_segment(60_MiB + 512));
  const auto segment = device_->allocate_segment(60_MiB);
  ASSERT_TRUE(segment);
  EXPECT_EQ(device_->info().free_bytes, 0U);
  EXPECT_FALSE(device_->allocate_segment(512));
  device_->free_segment(*segment, 60_MiB);
  EXPECT_EQ(device_->info().free_bytes, 60_MiB);
}

TEST_P(DeviceMemoryConformance, CountsTheContextAsInUse) {
  EXPECT_EQ(device_->context_bytes(), 4_MiB);
  EXPECT_EQ(device_->info().total_bytes, 64_MiB);
  EXPECT_EQ(device_->info().free_bytes, 60_MiB);
  const auto processes = device_->processes();
  ASSERT_EQ(processes.size(), 1U);
  EXPECT_TRUE(processes[0].is_own);
  EXPECT_EQ(processes[0].bytes, 4_MiB);
}

TEST_P(DeviceMemoryConformance, NeverOverlapsSegments) {
  const auto first = device_->allocate_segment(20_MiB);
  const auto second = device_->allocate_segment(2_MiB);
  ASSERT_TRUE(first && second);
  EXPECT_TRUE(*first + 20_MiB <= *second || *second + 2_MiB <= *first);
  device_->free_segment(*first, 20_MiB);
  device_->free_segment(*second, 2_MiB);
}

TEST_P(DeviceMemoryConformance, ReservesMoreAddressesThanItHasMemory) {
  const DeviceAddress range = device_->reserve_range(72_MiB);
  EXPECT_EQ(device_->info().free_bytes, 60_MiB);
  EXPECT_TRUE(device_->map(range, 20_MiB, 20_MiB));
  EXPECT_TRUE(device_->map(range + 20_MiB, 40_MiB, 20_MiB));
  EXPECT_EQ(device_->info().free_bytes, 0U);
  device_->unmap(range, 60_MiB, 20_MiB);
  device_->release_range(range, 72_MiB);
  EXPECT_EQ(device_->info().free_bytes, 60_MiB);
}

TEST_P(DeviceMemoryConformance, MapsNothingWhenTheLastChunkDoesNotFit) {
  const DeviceAddress range = device_->reserve_range(72_MiB);
  EXPECT_FALSE(device_->map(range, 62_MiB, 2_MiB));
  EXPECT_EQ(device_->info().free_bytes, 60_MiB);
  EXPECT_TRUE(device_->map(range, 60_MiB, 2_MiB));
  device_->unmap(range, 60_MiB, 2_MiB);
  device_->release_range(range, 72_MiB);
}

INSTANTIATE_TEST_SUITE_P(
    AllDevices, DeviceMemoryConformance,
    testing::Values(DeviceKind{"SizeOnly", [] { return virtual_gpu(ValueMode::size_only); }},
                    DeviceKind{"KeepsValues", [] { return virtual_gpu(ValueMode::keeps_values); }},
                    DeviceKind{"CapacityLimit", limited},
                    DeviceKind{"FaultyDeviceMemory", faulty_without_faults},
                    DeviceKind{"CudaCard", [] { return std::make_unique<CudaCard>(); }},
                    DeviceKind{"CardShare", [] { return std::make_unique<ShareOfACard>(); }}),
    [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace ohm
