// The real cards that a machine stands on.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "allocator_shim/device/cuda/cuda_device.h"
#include "harness/machine/cuda_libraries.h"
#include "runtime/cuda/device_groups.h"
#include "runtime/cuda/device_libraries.h"
#include "runtime/tensor/cuda_backend.h"

namespace ohm::engine {

/// What the driver says about this computer.
struct FoundCudaDevices {
  int driver_version = 0;                           ///< as cuDriverGetVersion spells it
  std::vector<cuda::CudaDeviceProperties> devices;  ///< in the driver's order
  /// What a process takes of each card for its context, as cuMemGetInfo shows it with nothing else
  /// of ours there: what other processes hold is part of it.
  std::vector<std::size_t> context_bytes;
  /// Why the kernels of this build cannot run here, and the host computes; empty: they can.
  std::string kernels_missing;
};

/// Asks in a process of its own, for a driver cannot be carried across a fork. Kernels that the
/// driver has to compile for a device are compiled here, where no time limit counts. Throws
/// GpuUnavailable that says what is missing.
FoundCudaDevices find_cuda_devices(const CudaLibraries& libraries);

/// NVIDIA's libraries of mathematics on the first card, and NCCL where there are several; each is
/// opened and started in a process of its own. One line for all of them where that process ends.
std::vector<cuda::LibraryState> find_libraries(const CudaLibraries& libraries);

/// The cards of one process. A sticky error ends it, with the driver's words on stderr: nothing
/// that this process could do would reach the card again.
class CudaDevices {
 public:
  /// Throws GpuUnavailable.
  explicit CudaDevices(const CudaLibraries& libraries);

  /// The card that GPU `index` of a machine is on: there may be more GPUs than cards.
  std::shared_ptr<const cuda::CudaDevice> device(int index);
  /// The same with its kernels, which are loaded when they are first asked for, and its libraries.
  /// All GPUs on one card share them. No kernels where those of the build cannot run.
  CudaBackend backend(int index);

 private:
  std::shared_ptr<cuda::Driver> driver_;
  cuda::LibraryPlaces places_;
  // By ordinal; null: not used so far.
  std::vector<std::shared_ptr<const cuda::CudaDevice>> devices_;
  std::vector<std::shared_ptr<const CudaKernels>> kernels_;
  std::vector<std::shared_ptr<cuda::DeviceLibraries>> libraries_;
  std::vector<std::shared_ptr<DeferredErrors>> errors_;
  std::shared_ptr<cuda::DeviceGroups> groups_;
};

}  // namespace ohm::engine
