#include "allocator_shim/device/cuda/cuda_device.h"

#include <fmt/format.h>

#include <stdexcept>
#include <utility>

#include "allocator_shim/base/assert.h"

namespace ohm::cuda {
namespace {

DeviceHandle handle_of(const Driver& driver, int ordinal) {
  if (ordinal < 0 || ordinal >= driver.device_count()) {
    throw std::out_of_range(
        fmt::format("there is no card {}: the driver has {}", ordinal, driver.device_count()));
  }
  DeviceHandle device = 0;
  driver.check(driver.functions().device_get(&device, ordinal), "cuDeviceGet");
  return device;
}

int attribute(const Driver& driver, int which, DeviceHandle device) {
  int value = 0;
  driver.check(driver.functions().device_attribute(&value, which, device), "cuDeviceGetAttribute");
  return value;
}

}  // namespace

CudaDeviceProperties device_properties(const Driver& driver, int ordinal) {
  const DeviceHandle device = handle_of(driver, ordinal);
  const DriverFunctions& functions = driver.functions();
  CudaDeviceProperties properties;
  std::array<char, 256> text{};
  const auto room = static_cast<int>(text.size());
  driver.check(functions.device_name(text.data(), room, device), "cuDeviceGetName");
  properties.name = text.data();
  driver.check(functions.device_pci_bus_id(text.data(), room, device), "cuDeviceGetPCIBusId");
  properties.pci_bus_id = text.data();
  driver.check(functions.device_total_memory(&properties.total_bytes, device),
               "cuDeviceTotalMem_v2");
  properties.compute_capability = {attribute(driver, kComputeCapabilityMajor, device),
                                   attribute(driver, kComputeCapabilityMinor, device)};
  properties.multiprocessors = attribute(driver, kMultiprocessorCount, device);
  properties.threads_per_multiprocessor = attribute(driver, kMaxThreadsPerMultiprocessor, device);
  return properties;
}

CudaDevice::CudaDevice(std::shared_ptr<const Driver> driver, int ordinal)
    : driver_(std::move(driver)),
      ordinal_(ordinal),
      device_(handle_of(*driver_, ordinal)),
      properties_(device_properties(*driver_, ordinal)) {
  driver_->check(driver_->functions().context_retain(&context_, device_),
                 "cuDevicePrimaryCtxRetain");
}

CudaDevice::~CudaDevice() {
  if (driver_->is_usable()) driver_->functions().context_release(device_);
}

const DriverFunctions& CudaDevice::current() const {
  driver_->check(driver_->functions().context_set_current(context_), "cuCtxSetCurrent");
  return driver_->functions();
}

bool CudaDevice::make_current() const noexcept {
  return driver_->is_usable() && driver_->functions().context_set_current(context_) == kSuccess;
}

DeviceMemoryInfo CudaDevice::memory_info() const {
  DeviceMemoryInfo info;
  driver_->check(current().memory_info(&info.free_bytes, &info.total_bytes), "cuMemGetInfo_v2");
  return info;
}

void CudaDevice::synchronize() const {
  driver_->check(current().context_synchronize(), "cuCtxSynchronize");
}

void CudaDevice::write(Pointer to, const void* from, std::size_t bytes) const {
  driver_->check(current().copy_to_device(to, from, bytes), "cuMemcpyHtoD_v2");
}

void CudaDevice::read(void* to, Pointer from, std::size_t bytes) const {
  driver_->check(current().copy_from_device(to, from, bytes), "cuMemcpyDtoH_v2");
}

void CudaDevice::copy(Pointer to, Pointer from, std::size_t bytes) const {
  driver_->check(current().copy_on_device(to, from, bytes), "cuMemcpyDtoD_v2");
}

void CudaDevice::copy_from(const CudaDevice& other, Pointer to, Pointer from,
                           std::size_t bytes) const {
  if (other.context_ == context_) return copy(to, from, bytes);
  driver_->check(current().copy_to_peer(to, context_, from, other.context_, bytes), "cuMemcpyPeer");
}

void CudaDevice::fill(Pointer to, std::uint32_t pattern, std::size_t item_bytes,
                      std::size_t count) const {
  const DriverFunctions& functions = current();
  switch (item_bytes) {
    case 1:
      driver_->check(functions.set_bytes(to, static_cast<unsigned char>(pattern), count),
                     "cuMemsetD8_v2");
      return;
    case 2:
      driver_->check(functions.set_halves(to, static_cast<unsigned short>(pattern), count),
                     "cuMemsetD16_v2");
      return;
    default:
      OHM_ASSERT(item_bytes == 4, "an item is of 1, 2 or 4 bytes");
      driver_->check(functions.set_words(to, pattern, count), "cuMemsetD32_v2");
  }
}

bool CudaDevice::enable_peer_access(const CudaDevice& other) const {
  int can_access = 0;
  driver_->check(driver_->functions().peer_can_access(&can_access, device_, other.device_),
                 "cuDeviceCanAccessPeer");
  if (can_access == 0) return false;
  const Result result = current().peer_enable_access(other.context_, 0);
  if (result != kPeerAccessAlreadyEnabled) driver_->check(result, "cuCtxEnablePeerAccess");
  return true;
}

}  // namespace ohm::cuda
