// CUDA's runtime: kernels are registered and launched, and compute nothing.
#include <array>
#include <cstddef>
#include <vector>

#include "allocator_shim/interpose/device_model.h"
#include "allocator_shim/interpose/entry_call.h"
#include "allocator_shim/interpose/exported.h"
#include "allocator_shim/interpose/gpu_system.h"
#include "allocator_shim/interpose/launch_limits.h"
#include "allocator_shim/interpose/modules.h"
#include "allocator_shim/interpose/objects.h"
#include "allocator_shim/interpose/registered_kernels.h"
#include "allocator_shim/interpose/status.h"
#include "allocator_shim/interpose/toolkit_version.h"
#include "allocator_shim/interpose/work_in_flight.h"

using namespace ohm::interpose;

namespace {

/// Of a launch with <<<>>>: pushed before its arguments are computed, which may launch others.
struct CallConfiguration {
  Dimensions grid, block;
  std::size_t shared_bytes;
  Stream* stream;
};

/// cudaLaunchAttribute, of which one is read: whether blocks wait for each other.
struct LaunchAttribute {
  static constexpr int kCooperative = 2;
  int id;
  std::array<char, 4> padding;
  std::array<int, 16> value;
};

/// cudaLaunchConfig_t.
struct LaunchConfiguration {
  Dimensions grid, block;
  std::size_t shared_bytes;
  Stream* stream;
  const LaunchAttribute* attributes;
  unsigned attribute_count;

  bool is_cooperative() const {
    for (unsigned i = 0; attributes != nullptr && i < attribute_count; ++i) {
      if (attributes[i].id == LaunchAttribute::kCooperative) return attributes[i].value[0] != 0;
    }
    return false;
  }
};

thread_local std::vector<CallConfiguration> configurations;

/// cudaFuncAttributes, up to its reserved end.
struct FunctionAttributes {
  std::size_t shared_bytes, constant_bytes, local_bytes;
  int max_threads, registers, ptx_version, binary_version, cache_mode_ca, max_dynamic_shared_bytes,
      shared_carveout;
  std::array<int, 22> clusters_and_reserved;
};

/// Handles of kernels are their functions; the driver's are kernels, too.
bool is_launchable(const void* function) {
  return is_registered(function) || is_kernel(static_cast<const Kernel*>(function));
}

}  // namespace

OHM_VERSION(register_image_12, __cudaRegisterFatBinary, "libcudart.so.12")
void** register_image_12(void* image) {
  set_toolkit_of_process(kToolkit12);
  return register_image(image);
}

OHM_DEFAULT_VERSION(register_image_13, __cudaRegisterFatBinary, "libcudart.so.13")
void** register_image_13(void* image) {
  set_toolkit_of_process(kToolkit13);
  return register_image(image);
}

OHM_EXPORTED void __cudaRegisterFunction(void** image, const char* function, char* /*kernel*/,
                                         const char* name, int /*most_threads*/, void* /*thread*/,
                                         void* /*block*/, void* /*block_size*/, void* /*grid_size*/,
                                         int* /*warp_size*/) {
  register_kernel(image, function, name);
}

OHM_EXPORTED unsigned __cudaPushCallConfiguration(Dimensions grid, Dimensions block,
                                                  std::size_t shared_bytes, Stream* stream) {
  configurations.push_back({grid, block, shared_bytes, stream});
  return 0;
}

OHM_EXPORTED Status __cudaPopCallConfiguration(Dimensions* grid, Dimensions* block,
                                               std::size_t* shared_bytes, Stream** stream) {
  if (configurations.empty()) return noted(Status::invalid_value);
  const CallConfiguration& last = configurations.back();
  *grid = last.grid;
  *block = last.block;
  *shared_bytes = last.shared_bytes;
  *stream = last.stream;
  configurations.pop_back();
  return Status::success;
}

OHM_EXPORTED Status cudaGetKernel(const void** kernel, const void* function) {
  OHM_RUNTIME_CALL;
  if (kernel == nullptr) return noted(Status::invalid_value);
  if (!is_launchable(function)) return noted(Status::invalid_device_function);
  *kernel = function;
  return Status::success;
}

OHM_EXPORTED Status __cudaGetKernel(const void** kernel, const void* function) {
  OHM_RUNTIME_CALL;
  return cudaGetKernel(kernel, function);
}

OHM_EXPORTED Status cudaGetFuncBySymbol(const void** kernel, const void* function) {
  OHM_RUNTIME_CALL;
  return cudaGetKernel(kernel, function);
}

OHM_EXPORTED Status cudaLaunchKernel(const void* function, Dimensions grid, Dimensions block,
                                     void** /*arguments*/, std::size_t shared_bytes,
                                     Stream* stream) {
  OHM_RUNTIME_CALL;
  if (!is_launchable(function)) return noted(Status::invalid_device_function);
  if (!is_stream(stream)) return noted(Status::invalid_handle);
  if (!is_default(stream) && stream->device != gpus().current()) {
    return noted(Status::invalid_handle);
  }
  if (is_legacy(stream) && breaks_ordered_capture()) return noted(Status::capture_implicit);
  const Capture* const capture = capture_of(stream);
  if (capture != nullptr && capture->is_invalid) return noted(Status::capture_invalidated);
  if (is_registered(function) &&
      shared_bytes > static_cast<std::size_t>(allowed_shared_bytes(function))) {
    return noted(Status::invalid_value);
  }
  const Status status = check_launch(LaunchApi::runtime, grid, block, shared_bytes);
  if (status == Status::success) note_work(stream);
  return noted(status);
}

OHM_EXPORTED Status __cudaLaunchKernel(const void* kernel, Dimensions grid, Dimensions block,
                                       void** arguments, std::size_t shared_bytes, Stream* stream) {
  return cudaLaunchKernel(kernel, grid, block, arguments, shared_bytes, stream);
}

OHM_EXPORTED Status cudaLaunchCooperativeKernel(const void* kernel, Dimensions grid,
                                                Dimensions block, void** arguments,
                                                std::size_t shared_bytes, Stream* stream) {
  OHM_RUNTIME_CALL;
  const Status status = check_cooperative(LaunchApi::runtime, grid, block, shared_bytes);
  if (status != Status::success) return noted(status);
  return cudaLaunchKernel(kernel, grid, block, arguments, shared_bytes, stream);
}

OHM_EXPORTED Status cudaLaunchKernelExC(const LaunchConfiguration* configuration,
                                        const void* function, void** arguments) {
  OHM_RUNTIME_CALL;
  if (configuration == nullptr) return noted(Status::invalid_value);
  const auto launch =
      configuration->is_cooperative() ? cudaLaunchCooperativeKernel : cudaLaunchKernel;
  return launch(function, configuration->grid, configuration->block, arguments,
                configuration->shared_bytes, configuration->stream);
}

OHM_EXPORTED Status cudaFuncSetAttribute(const void* function, int attribute, int value) {
  OHM_RUNTIME_CALL;
  constexpr int kDynamicSharedBytes = 8;
  constexpr int kAttributes = 16;
  if (!is_launchable(function)) return noted(Status::invalid_device_function);
  const bool is_too_large = attribute == kDynamicSharedBytes &&
                            value > architecture_of(gpus().profile()).shared_bytes_optin;
  constexpr int kCarveout = 9;
  constexpr int kMostPercent = 100;
  const bool is_number = attribute == kCarveout ? value >= -1 && value <= kMostPercent : value >= 0;
  const bool is_wrong =
      attribute < kDynamicSharedBytes || attribute > kAttributes || is_too_large || !is_number;
  if (is_wrong) return noted(Status::invalid_value);
  if (attribute == kDynamicSharedBytes) allow_shared_bytes(function, value);
  return Status::success;
}

OHM_EXPORTED Status cudaFuncGetName(const char** name, const void* function) {
  OHM_RUNTIME_CALL;
  if (name == nullptr) return noted(Status::invalid_value);
  *name = driver_name_of_kernel(static_cast<const Kernel*>(function));
  return *name != nullptr ? Status::success : noted(Status::invalid_device_function);
}

OHM_EXPORTED Status cudaFuncSetCacheConfig(const void* function, int /*configuration*/) {
  OHM_RUNTIME_CALL;
  return is_launchable(function) ? Status::success : noted(Status::invalid_device_function);
}

OHM_EXPORTED Status cudaFuncGetAttributes(FunctionAttributes* attributes, const void* function) {
  OHM_RUNTIME_CALL;
  if (attributes == nullptr) return noted(Status::invalid_value);
  if (!is_launchable(function)) return noted(Status::invalid_device_function);
  const ohm::GpuProfile& profile = gpus().profile();
  const int card = 10 * profile.compute_capability[0] + profile.compute_capability[1];
  const KernelArchitectures code =
      architectures_of(function, card).value_or(KernelArchitectures{card, card});
  *attributes = {};
  attributes->max_threads = kMaxBlockThreads;
  attributes->registers = kKernelRegisters;
  attributes->binary_version = code.binary;
  attributes->ptx_version = code.ptx;
  attributes->max_dynamic_shared_bytes = allowed_shared_bytes(function);
  return Status::success;
}

OHM_EXPORTED Status cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int* blocks, const void* function, int threads, std::size_t shared_bytes, unsigned /*flags*/) {
  OHM_RUNTIME_CALL;
  if (blocks == nullptr || threads <= 0) return noted(Status::invalid_value);
  if (!is_launchable(function)) return noted(Status::invalid_device_function);
  *blocks =
      threads > kMaxBlockThreads ? 0 : resident_blocks(gpus().profile(), threads, shared_bytes);
  return Status::success;
}

OHM_EXPORTED Status cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* function,
                                                                  int threads,
                                                                  std::size_t shared_bytes) {
  OHM_RUNTIME_CALL;
  return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, threads,
                                                                shared_bytes, 0);
}

/// What is left for each of so many blocks of a multiprocessor.
OHM_EXPORTED Status cudaOccupancyAvailableDynamicSMemPerBlock(std::size_t* bytes,
                                                              const void* function, int blocks,
                                                              int threads) {
  OHM_RUNTIME_CALL;
  if (bytes == nullptr || blocks <= 0 || threads <= 0) return noted(Status::invalid_value);
  if (!is_launchable(function)) return noted(Status::invalid_device_function);
  *bytes = shared_bytes_of_each(gpus().profile(), blocks);
  return Status::success;
}

OHM_EXPORTED Status cudaOccupancyMaxActiveClusters(int* clusters, const void* /*function*/,
                                                   const LaunchConfiguration* /*configuration*/) {
  OHM_RUNTIME_CALL;
  if (clusters == nullptr) return noted(Status::invalid_value);
  *clusters = 1;
  return Status::success;
}
