// A machine for tests of the runtime whose GPUs are shares of cards of the stand-in driver, with a
// context installed for as long as the machine lives.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "allocator_shim/base/bytes.h"
#include "allocator_shim/caching/caching_allocator.h"
#include "allocator_shim/device/cuda/cuda_memory.h"
#include "allocator_shim/device/cuda/cuda_streams.h"
#include "allocator_shim/device/device_share.h"
#include "allocator_shim/device/host_memory_allocator.h"
#include "allocator_shim/device/virtual_gpu.h"
#include "runtime/cuda/device_groups.h"
#include "runtime/kernels/cuda/kernel_module.h"
#include "runtime/tensor/context.h"
#include "runtime/tensor/cuda_backend.h"
#include "tests/support/stand_in_driver/stand_in.h"

namespace ohm::test {

class CudaMachine {
 public:
  static constexpr std::size_t kWorkspaceBytes = 1_MiB;

  /// `words` describe the machine behind the driver (stand_in_driver.h).
  explicit CudaMachine(int gpus = 1, const std::string& words = "devices=2 capacity=268435456",
                       ValueMode values = ValueMode::keeps_values,
                       const cuda::LibraryPlaces& libraries = stand_in::StandIn::libraries())
      : stand_in_(words),
        host_({.capacity_bytes = 1_GiB, .values = values}, nullptr),
        guard_(context_) {
    context_.host.allocator = &host_;
    context_.sites = &sites_;
    context_.keeps_values = values == ValueMode::keeps_values;
    const auto driver = stand_in::StandIn::driver();
    const auto groups = std::make_shared<cuda::DeviceGroups>(libraries.nccl);
    for (int device = 0; device < gpus; ++device) {
      const auto card = std::make_shared<const cuda::CudaDevice>(driver, device);
      gpus_.push_back(std::make_unique<Gpu>(card, device, values, libraries));
      gpus_.back()->backend.groups = groups;
      DeviceSlot slot;
      slot.allocator = &gpus_.back()->allocator;
      slot.streams = &gpus_.back()->streams;
      slot.pools = &gpus_.back()->allocator;
      slot.backend = &gpus_.back()->backend;
      slot.cublas_workspace_bytes = kWorkspaceBytes;
      context_.gpus.push_back(slot);
    }
    context_.seed(0);
  }
  ~CudaMachine() { context_.gpus.clear(); }
  CudaMachine(const CudaMachine&) = delete;
  CudaMachine& operator=(const CudaMachine&) = delete;

  Context& context() { return context_; }
  cuda::DeviceLibraries& libraries(int gpu = 0) {
    return *gpus_.at(static_cast<std::size_t>(gpu))->backend.libraries;
  }
  const stand_in::StandIn& stand_in() const { return stand_in_; }
  /// Copies between host and card so far, and between cards or on one.
  int uploads() const { return stand_in_.calls("cuMemcpyHtoD_v2"); }
  int downloads() const { return stand_in_.calls("cuMemcpyDtoH_v2"); }
  int copies_on_cuda() const { return stand_in_.calls("cuMemcpyDtoD_v2"); }
  int copies_to_peers() const { return stand_in_.calls("cuMemcpyPeer"); }

 private:
  struct Gpu {
    Gpu(const std::shared_ptr<const cuda::CudaDevice>& card, int device, ValueMode values,
        const cuda::LibraryPlaces& libraries)
        : backend{card,    kernels_on(card),
                  nullptr, std::make_shared<cuda::DeviceLibraries>(card, libraries),
                  nullptr, std::make_shared<DeferredErrors>(card)},
          card_memory(card),
          virtual_gpu(128_MiB, {.device = device, .values = values}),
          share(card_memory, virtual_gpu),
          streams(card),
          allocator(share, streams, options_for(device), nullptr) {}
    static std::shared_ptr<const CudaKernels> kernels_on(
        const std::shared_ptr<const cuda::CudaDevice>& card) {
      return std::make_shared<const kernels::KernelModule>(card);
    }
    static CachingAllocatorOptions options_for(int device) {
      CachingAllocatorOptions result;
      result.device = device;
      return result;
    }
    CudaBackend backend;
    cuda::CudaMemory card_memory;
    VirtualGpu virtual_gpu;
    DeviceShare share;
    cuda::CudaStreams streams;
    CachingAllocator allocator;
  };

  stand_in::StandIn stand_in_;
  SiteTable sites_;
  HostMemoryAllocator host_;
  std::vector<std::unique_ptr<Gpu>> gpus_;
  Context context_;
  ContextGuard guard_;
};

}  // namespace ohm::test
