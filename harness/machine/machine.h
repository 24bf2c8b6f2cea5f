// The devices of one run, put together:
//
//   peak tracking -> request faults -> caching allocator -> segment faults -> virtual GPU
//
// for each GPU, with a share of a real card instead of the virtual GPU where the run is on one; on
// the host's memory peak tracking with request faults behind it, and another such pair for pinned
// memory. A machine belongs to one process and one variant: it is fresh, and its figures are
// of that variant alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "allocator_shim/caching/caching_allocator.h"
#include "allocator_shim/device/gpu_profile.h"
#include "allocator_shim/device/host_memory_allocator.h"
#include "allocator_shim/device/pinned_host_allocator.h"
#include "allocator_shim/device/virtual_gpu.h"
#include "allocator_shim/fault/fault_injector.h"
#include "allocator_shim/fault/fault_plan.h"
#include "allocator_shim/fault/faulty_allocator.h"
#include "allocator_shim/observe/event_record.h"
#include "allocator_shim/snapshot/recorded_snapshot.h"
#include "harness/machine/machine_options.h"
#include "harness/machine/neighbour.h"
#include "harness/machine/peak_tracking_adaptor.h"
#include "reports/model/run_result.h"
#include "runtime/tensor/context.h"

namespace ohm {
struct CudaTraffic;
}  // namespace ohm

namespace ohm::cuda {
class PinnedMemory;
}  // namespace ohm::cuda

namespace ohm::engine {

class CudaDevices;

class Machine {
 public:
  /// Host memory that values may take: beyond it the host is out of memory, as an error of the
  /// script and not as the end of the computer.
  static constexpr std::size_t kHostCapacityBytes = std::size_t{4} << 30U;
  /// The same where nothing is touched.
  static constexpr std::size_t kSizeOnlyHostCapacityBytes = std::size_t{1} << 40U;

  /// With a host, and no GPUs yet. Throws std::invalid_argument for a spec that makes no sense,
  /// GpuUnavailable where real cards are asked for and missing.
  explicit Machine(const MachineOptions& options);
  ~Machine();
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  /// The GPUs appear in the context.
  void add_gpus();
  /// Others than the options said, which are the same without their GPUs.
  void add_gpus_of(const MachineOptions& options);

  /// Told of every out-of-memory error, while all that was alive is; `device` is -1 for the host.
  using OnOutOfMemory = std::function<void(int device, const OutOfMemoryReport& report)>;
  void on_out_of_memory(OnOutOfMemory callback) { on_out_of_memory_ = std::move(callback); }

  /// Told of every allocation on one of the GPUs that are there now.
  void on_allocation(const std::function<void(int device)>& callback);

  /// To be installed with a ContextGuard by the caller that runs on this machine.
  Context& context() { return context_; }
  const ExecutionState& context_state() const { return context_.state; }
  int gpu_count() const { return static_cast<int>(gpus_.size()); }

  /// What the runtime asks; -1 is the host.
  RequestAllocator& requests(int device);
  /// Whatever makes calls fail, now and later.
  FaultInjector& faults() { return faults_; }

  /// What ops without a kernel made the real cards give to the host, of all GPUs.
  const CudaTraffic& cuda_traffic() const { return *cuda_traffic_; }

  /// A line of the program that is running, and the name of its function, where it has one. Of the
  /// program: to be used before it goes on.
  struct ProgramFrame {
    std::string_view file;
    int line = 0;
    std::string_view function;
  };
  /// Where the program is: its frames, the outermost first. The owner of the program says how to
  /// find out.
  using ProgramStack = std::function<std::vector<ProgramFrame>()>;
  void on_program_stack(ProgramStack stack) { program_stack_ = std::move(stack); }
  std::vector<ProgramFrame> program_stack() const {
    return program_stack_ ? program_stack_() : std::vector<ProgramFrame>();
  }

  /// Puts a plan in force besides those of the options, until the result goes, which must be before
  /// the machine. Its neighbours come and go with the steps. Throws std::invalid_argument for a
  /// plan with a capacity: a device keeps what it has.
  std::shared_ptr<const void> inject(const std::string& plan);

  /// Those of the options that were to make calls fail and met none of them, as they were written.
  std::vector<std::string> unused_faults() const;
  /// How many calls the plans made fail so far, those of inject() included.
  std::uint64_t planned_faults() const;
  /// The plans of the options count from the start again.
  void restart_faults();
  /// The plans of the options fail nothing any more; their capacities stay.
  void drop_faults();

  /// A step begins, counted from 1: neighbours on the cards come and go.
  void begin_step(std::int64_t step);

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
  static constexpr std::size_t kAllHistory = std::numeric_limits<std::size_t>::max();
  /// As the program asked for it: how many events it keeps of each GPU; 0 when it never started the
  /// history, or stopped it.
  std::size_t history_entries() const { return is_history_started_ ? history_.max_entries : 0; }
  /// As PyTorch does it after a snapshot: the next one shows when it was.
  void record_snapshot();

  /// Out-of-memory errors so far, of all GPUs and the host.
  std::int64_t ooms() const { return ooms_; }

  std::int64_t allocated_bytes(int gpu) const;
  /// The figures of the first process on every GPU up to now, with the out-of-memory errors of
  /// all. allocated_at_end_bytes is what is allocated now.
  std::vector<DeviceResult> device_results() const;
  /// The host's up to now.
  HostResult host_result() const;

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
  /// Where the memory of a card ended depends on what the process takes of it.
  void rest_on_context(int gpu);
  void start_process();
  void end_process();
  void move_neighbours();
  std::function<void(const OutOfMemoryReport&)> teller_of_errors(PeakTrackingAdaptor& tracker,
                                                                 int device);
  void note_oom(int device, const OutOfMemoryReport& report);

  MachineOptions options_;
  OnOutOfMemory on_out_of_memory_;
  ProgramStack program_stack_;
  SiteTable sites_;
  EventRecord events_;
  SnapshotHistory history_;
  bool is_history_started_ = false;  ///< by the program
  std::list<FaultPlan> fault_plans_;
  FaultInjector faults_;
  std::int64_t step_ = 1;
  std::int64_t ooms_ = 0;
  std::unique_ptr<CudaDevices> cuda_;  ///< null: the GPUs are virtual
  std::shared_ptr<CudaTraffic> cuda_traffic_;
  ValueBudget values_;
  HostMemoryAllocator host_memory_;
  FaultyAllocator faulty_host_;
  PeakTrackingAdaptor host_;
  std::unique_ptr<cuda::PinnedMemory> driver_pinned_;  ///< null: the host's own will do
  FaultyAllocator faulty_pinned_;
  PeakTrackingAdaptor pinned_host_;
  PinnedHostAllocator pinned_;
  std::vector<std::shared_ptr<SharedGpuMemory>> gpu_memory_;  ///< by index
  std::deque<Neighbour> neighbours_;                          ///< on the cards, by index
  Gpus ended_;  ///< of processes that ended: what they allocated may outlive them
  std::vector<WaitingProcess> waiting_;  ///< the first process in front
  Gpus gpus_;                            ///< of the process that runs
  Context context_;                      ///< last: what it holds is given back to the devices above
};

}  // namespace ohm::engine
