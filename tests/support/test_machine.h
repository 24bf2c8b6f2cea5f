// A machine for tests of the runtime: host memory and virtual GPUs, with an event record each and
// a runtime context installed for as long as the machine lives.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "allocator_shim/caching/caching_allocator.h"
#include "allocator_shim/device/gpu_profile.h"
#include "allocator_shim/device/host_memory_allocator.h"
#include "allocator_shim/device/pinned_host_allocator.h"
#include "allocator_shim/device/queued_streams.h"
#include "allocator_shim/device/virtual_gpu.h"
#include "allocator_shim/observe/event_record.h"
#include "allocator_shim/observe/site.h"
#include "runtime/tensor/context.h"

namespace ohm::test {

struct MachineOptions {
  int gpus = 1;
  std::size_t capacity_bytes = std::size_t{80} << 30U;
  std::size_t host_capacity_bytes = std::size_t{64} << 30U;
  ValueMode values = ValueMode::size_only;
  std::size_t cublas_workspace_bytes = 0;  ///< 0: workspaces are left out
};

class TestMachine {
 public:
  explicit TestMachine(const MachineOptions& options = {})
      : host_({.capacity_bytes = options.host_capacity_bytes, .values = options.values}, nullptr),
        pinned_(host_),
        guard_(context_) {
    context_.host.allocator = &host_;
    context_.pinned = &pinned_;
    context_.sites = &sites_;
    context_.keeps_values = options.values == ValueMode::keeps_values;
    for (int device = 0; device < options.gpus; ++device) {
      gpus_.push_back(std::make_unique<Gpu>(device, options));
      DeviceSlot slot;
      slot.allocator = &gpus_.back()->allocator;
      slot.streams = &gpus_.back()->streams;
      slot.pools = &gpus_.back()->allocator;
      slot.cublas_workspace_bytes = options.cublas_workspace_bytes;
      context_.gpus.push_back(slot);
    }
    context_.seed(0);
  }
  ~TestMachine() {
    // Workspaces live in the context and must go before the allocators that they came from.
    context_.gpus.clear();
  }
  TestMachine(const TestMachine&) = delete;
  TestMachine& operator=(const TestMachine&) = delete;

  Context& context() { return context_; }
  RequestAllocator& host() { return host_; }
  PinnedHostAllocator& pinned() { return pinned_; }
  RequestAllocator& gpu(std::size_t device = 0) { return gpus_[device]->allocator; }
  const EventRecord& events(std::size_t device = 0) const { return gpus_[device]->events; }

  std::int64_t allocated_bytes(std::size_t device = 0) {
    return gpu(device).stats().allocated_bytes[0].current;
  }
  std::int64_t peak_bytes(std::size_t device = 0) {
    return gpu(device).stats().allocated_bytes[0].peak;
  }

 private:
  struct Gpu {
    Gpu(int device, const MachineOptions& options)
        : memory(options.capacity_bytes, {.device = device, .values = options.values}),
          allocator(memory, streams, options_for(device), &events) {}
    static CachingAllocatorOptions options_for(int device) {
      CachingAllocatorOptions result;
      result.device = device;
      return result;
    }
    VirtualGpu memory;
    QueuedStreams streams;
    EventRecord events;
    CachingAllocator allocator;
  };

  SiteTable sites_;
  HostMemoryAllocator host_;
  PinnedHostAllocator pinned_;
  std::vector<std::unique_ptr<Gpu>> gpus_;
  Context context_;
  ContextGuard guard_;
};

}  // namespace ohm::test
