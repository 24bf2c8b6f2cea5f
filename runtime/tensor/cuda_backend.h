// The runtime's means on the CUDA device that a GPU is on.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "allocator_shim/device/cuda/cuda_device.h"
#include "allocator_shim/observe/out_of_memory.h"
#include "runtime/cuda/device_groups.h"
#include "runtime/cuda/device_libraries.h"
#include "runtime/kernels/cuda/cuda_kernels.h"

namespace ohm {

/// Values that were up to date on the device alone and that the host asked for.
struct MovedValues {
  std::int64_t times = 0;
  std::int64_t bytes = 0;
};
struct CudaTraffic {
  /// By op; "" is the program itself.
  std::map<std::string, MovedValues, std::less<>> to_host;
};

struct CudaBackend {
  std::shared_ptr<const cuda::CudaDevice> device;
  std::shared_ptr<const CudaKernels> kernels;        ///< null in a build without a CUDA toolkit
  std::shared_ptr<CudaTraffic> traffic;              ///< null: it is not counted
  std::shared_ptr<cuda::DeviceLibraries> libraries;  ///< null: none are used
  std::shared_ptr<cuda::DeviceGroups> groups;        ///< of all devices; null: none are made
  /// Told, before it is thrown, that a library found no memory; empty: not told.
  std::function<void(const OutOfMemoryReport& report)> on_out_of_memory = {};
};

}  // namespace ohm
