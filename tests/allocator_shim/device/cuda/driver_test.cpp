#include "allocator_shim/device/cuda/driver.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "tests/support/stand_in_driver/stand_in.h"

namespace ohm::cuda {
namespace {

using stand_in::StandIn;
using testing::HasSubstr;

std::string refusal_of(const std::function<void()>& body) {
  try {
    body();
  } catch (const GpuUnavailable& refusal) {
    return refusal.what();
  }
  return "nothing is missing";
}

TEST(CudaDriver, SaysWhichLibraryIsMissing) {
  EXPECT_THAT(
      refusal_of([] { Driver driver("libthere-is-no-such-driver.so.1"); }),
      HasSubstr("NVIDIA's driver is not here: libthere-is-no-such-driver.so.1: cannot open"));
}

TEST(CudaDriver, SaysWhichFunctionALibraryLacks) {
  EXPECT_THAT(refusal_of([] { Driver driver("libm.so.6"); }),
              HasSubstr("libm.so.6 has no cuInit: it is too old"));
}

TEST(CudaDriver, SaysThatItIsTooOld) {
  const StandIn stand_in("version=11040");
  EXPECT_EQ(refusal_of([] { Driver driver(StandIn::path()); }),
            "the driver is for CUDA 11.4: ohm needs one for 12.0 or newer");
}

TEST(CudaDriver, SaysThatThereIsNoDevice) {
  const StandIn stand_in("devices=0");
  EXPECT_EQ(refusal_of([] { Driver driver(StandIn::path()); }), "the driver finds no CUDA device");
}

TEST(CudaDriver, SaysWhyItDoesNotStart) {
  const StandIn stand_in("fail=cuInit:0:802");
  EXPECT_EQ(refusal_of([] { Driver driver(StandIn::path()); }),
            "cuInit: CUDA_ERROR_STAND_IN (as it was told)");
}

TEST(CudaDriver, ReadsWhatACardIsWithoutTakingAnythingOfIt) {
  const StandIn stand_in("devices=2 capacity=83886080");
  const auto driver = StandIn::driver();
  EXPECT_EQ(driver->device_count(), 2);
  EXPECT_EQ(version_text(driver->version()), "13.0");
  const CudaDeviceProperties properties = device_properties(*driver, 1);
  EXPECT_EQ(properties.name, "Stand-in 1");
  EXPECT_EQ(properties.pci_bus_id, "0000:01:00.0");
  EXPECT_EQ(properties.total_bytes, 83886080U);
  EXPECT_EQ(properties.compute_capability, (std::array<int, 2>{8, 0}));
  EXPECT_EQ(stand_in.calls("cuDevicePrimaryCtxRetain"), 0);
  EXPECT_THROW(device_properties(*driver, 2), std::out_of_range);
}

TEST(CudaDriver, NamesAnErrorInTheDriversWords) {
  const StandIn stand_in("fail=cuCtxSynchronize:0:700");
  const auto device = StandIn::device();
  try {
    device->synchronize();
    FAIL() << "it was told to fail";
  } catch (const DriverError& error) {
    EXPECT_EQ(error.code(), 700);
    EXPECT_STREQ(error.what(),
                 "cuCtxSynchronize: CUDA_ERROR_ILLEGAL_ADDRESS (an illegal memory access was "
                 "encountered)");
  }
}

TEST(CudaDriver, TellsOfAStickyErrorBeforeItIsThrown) {
  const StandIn stand_in("fail=cuCtxSynchronize:1:719");
  const auto driver = StandIn::driver();
  std::string told;
  driver->on_sticky_error([&](const std::string& text) { told = text; });
  const CudaDevice device(driver, 0);
  device.synchronize();
  EXPECT_TRUE(driver->is_usable());
  EXPECT_THROW(device.synchronize(), DriverError);
  EXPECT_THAT(told, HasSubstr("cuCtxSynchronize"));
  EXPECT_FALSE(driver->is_usable());
}

TEST(CudaDriver, GoesOnAfterAnErrorThatIsNotSticky) {
  const StandIn stand_in("fail=cuCtxSynchronize:0:801");
  const auto driver = StandIn::driver();
  const CudaDevice device(driver, 0);
  EXPECT_THROW(device.synchronize(), DriverError);
  EXPECT_TRUE(driver->is_usable());
  EXPECT_NO_THROW(device.synchronize());
}

TEST(CudaCard, CountsItsContext) {
  const StandIn stand_in;
  const auto device = StandIn::device();
  EXPECT_EQ(device->memory_info().total_bytes, std::size_t{64} << 20U);
  EXPECT_EQ(device->memory_info().free_bytes, std::size_t{60} << 20U);
}

TEST(CudaCard, ReachesAnotherCardsMemoryOnce) {
  const StandIn stand_in("devices=2");
  const auto driver = StandIn::driver();
  const CudaDevice first(driver, 0);
  const CudaDevice second(driver, 1);
  EXPECT_TRUE(first.enable_peer_access(second));
  EXPECT_TRUE(first.enable_peer_access(second));
  EXPECT_EQ(stand_in.calls("cuCtxEnablePeerAccess"), 2);
}

TEST(Nvml, ListsCardsAndWhatIsInUse) {
  const StandIn stand_in("devices=2");
  const auto device = StandIn::device(1);
  const auto devices = StandIn::nvml()->devices();
  ASSERT_EQ(devices.size(), 2U);
  EXPECT_EQ(devices[1].name, "Stand-in 1");
  EXPECT_EQ(devices[0].used_bytes, 0U);
  EXPECT_EQ(devices[1].used_bytes, std::size_t{4} << 20U);
  EXPECT_EQ(devices[1].total_bytes, std::size_t{64} << 20U);
  EXPECT_EQ(devices[1].utilization_percent, 37);
}

TEST(Nvml, WhatTheDriverKeepsForItselfIsNotInUse) {
  const StandIn stand_in("capacity=67108864 reserved=1048576");
  const auto device = StandIn::device();
  const std::vector<MonitoredDevice> devices = StandIn::nvml()->devices();
  ASSERT_EQ(devices.size(), 1U);
  EXPECT_EQ(devices[0].used_bytes, std::size_t{4} << 20U) << "the context";
  EXPECT_EQ(devices[0].total_bytes, std::size_t{64} << 20U);
}

TEST(Nvml, ListsMoreProcessesThanItHasRoomForAtFirst) {
  const StandIn stand_in("others=40");
  const auto device = StandIn::device();
  const auto processes = StandIn::nvml()->processes("0000:00:00.0", 7);
  ASSERT_EQ(processes.size(), 41U);
  EXPECT_TRUE(processes[7].is_own);
  EXPECT_EQ(processes[40].bytes, 0U) << "unknown to NVML";
}

TEST(Nvml, KnowsNothingOfACardThatIsNotThere) {
  const StandIn stand_in;
  EXPECT_TRUE(StandIn::nvml()->processes("0000:05:00.0", 1).empty());
}

TEST(Nvml, SaysWhichLibraryIsMissing) {
  EXPECT_THAT(refusal_of([] { Nvml nvml("libno-nvml.so.1"); }),
              HasSubstr("NVML is not here: libno-nvml.so.1"));
}

}  // namespace
}  // namespace ohm::cuda
