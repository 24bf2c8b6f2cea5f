// The runtime's means on the CUDA device that a GPU is on.
#pragma once

#include <cstddef>
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
#include "runtime/tensor/deferred_errors.h"

namespace ohm {

/// Values that the host read from the device.
struct MovedValues {
  std::int64_t times = 0;
  std::int64_t bytes = 0;
};
/// What is counted of a device.
struct CudaTraffic {
  /// By op; "" is the program itself.
  std::map<std::string, MovedValues, std::less<>> to_host;
  /// Bytes that cuDNN was given, by convolution.
  std::map<std::string, std::size_t> convolution_workspaces;
};

struct CudaBackend {
  std::shared_ptr<const cuda::CudaDevice> device;
  std::shared_ptr<const CudaKernels> kernels;        ///< null in a build without a CUDA toolkit
  std::shared_ptr<CudaTraffic> traffic;              ///< null: it is not counted
  std::shared_ptr<cuda::DeviceLibraries> libraries;  ///< null: none are used
  std::shared_ptr<cuda::DeviceGroups> groups;        ///< of all devices; null: none are made
  std::shared_ptr<DeferredErrors> errors;            ///< null: each op throws its own, and waits
  /// Told, before it is thrown, that a library found no memory; empty: not told.
  std::function<void(const OutOfMemoryReport& report)> on_out_of_memory = {};
};

}  // namespace ohm
