// The devices of one run, put together:
//
//   witness -> request faults -> caching allocator -> segment faults -> virtual GPU
//
// for each GPU, and a witness on the host's memory. A machine belongs to one process and one
// variant: it is fresh, and its figures are of that variant alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "allocator_shim/caching/caching_allocator.h"
#include "allocator_shim/device/host_memory_allocator.h"
#include "allocator_shim/device/virtual_gpu.h"
#include "allocator_shim/fault/fault_plan.h"
#include "allocator_shim/observe/event_record.h"
#include "allocator_shim/observe/recorded_snapshot.h"
#include "harness/engine/allocator_witness.h"
#include "harness/engine/scenario.h"
#include "reports/run_result.h"
#include "runtime/tensor/context.h"

namespace ohm::engine {

struct MachineOptions {
  GpuSpec gpu;
  std::vector<std::string> fault_plans;  ///< all in force at once, on the GPUs
  std::uint64_t seed = 0;                ///< of the generators of all devices
};

class Machine {
 public:
  /// Host memory that values may take: beyond it the host is out of memory, as an error of the
  /// script and not as the end of the computer.
  static constexpr std::size_t kHostCapacityBytes = std::size_t{4} << 30U;
  /// The same where nothing is touched.
  static constexpr std::size_t kSizeOnlyHostCapacityBytes = std::size_t{1} << 40U;

  /// With a host, and no GPUs yet. Throws std::invalid_argument for a spec that makes no sense.
  explicit Machine(const MachineOptions& options);
  ~Machine();
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  /// The GPUs appear in the context.
  void add_gpus();

  /// Told of every out-of-memory error, while all that was alive is; `device` is -1 for the host.
  using OnOutOfMemory = std::function<void(int device, const OutOfMemoryReport& report)>;
  void on_out_of_memory(OnOutOfMemory callback) { on_out_of_memory_ = std::move(callback); }

  /// To be installed with a ContextGuard by whoever runs on this machine.
  Context& context() { return context_; }
  const GpuSpec& gpu_spec() const { return options_.gpu; }
  int gpu_count() const { return static_cast<int>(gpus_.size()); }

  /// What the runtime asks; -1 is the host.
  RequestAllocator& requests(int device);
  /// Under the adaptors, for what only the caching allocator knows (settings, segments, fraction).
  CachingAllocator& caching_allocator(int gpu);
  const GpuProfile& profile(int gpu) const;

  /// Another process on the same cards, with contexts, caching allocators and streams of its own.
  /// The program runs in it while the scope lives; the process that started it waits.
  class ProcessScope {
   public:
    explicit ProcessScope(Machine& machine);
    ~ProcessScope();
    ProcessScope(const ProcessScope&) = delete;
    ProcessScope& operator=(const ProcessScope&) = delete;

   private:
    Machine& machine_;
  };

  const SiteTable& sites() const { return sites_; }
  const EventRecord& events() const { return events_; }

  /// What the GPUs hold now and how it came about.
  Snapshot snapshot() const;
  /// From here on snapshots show only later events, and the newest `max_entries` of each GPU.
  void restart_history(std::size_t max_entries);
  /// From here on snapshots show no events, until the history is started again.
  void stop_history();
  /// As PyTorch does it after a snapshot: the next one shows when it was.
  void record_snapshot();

  std::int64_t allocated_bytes(int gpu) const;
  /// The figures of the first process on every GPU up to now, with the out-of-memory errors of
  /// all. allocated_at_end_bytes is what is allocated now.
  std::vector<DeviceResult> device_results() const;

 private:
  struct Gpu;
  using Gpus = std::vector<std::unique_ptr<Gpu>>;
  /// What a process that started another one comes back to.
  struct WaitingProcess {
    Gpus gpus;
    std::vector<DeviceSlot> slots;
    ExecutionState state;
  };

  void add_process();
  void add_gpu(const CachingAllocatorOptions& options);
  void start_process();
  void end_process();

  MachineOptions options_;
  OnOutOfMemory on_out_of_memory_;
  SiteTable sites_;
  EventRecord events_;
  SnapshotHistory history_;
  std::vector<FaultPlan> fault_plans_;
  HostMemoryAllocator host_memory_;
  AllocatorWitness host_;
  std::vector<std::shared_ptr<VirtualCard>> cards_;
  Gpus ended_;  ///< of processes that ended: what they allocated may outlive them
  std::vector<WaitingProcess> waiting_;  ///< the first process in front
  Gpus gpus_;                            ///< of the process that runs
  Context context_;                      ///< last: what it holds is given back to the devices above
};

}  // namespace ohm::engine
