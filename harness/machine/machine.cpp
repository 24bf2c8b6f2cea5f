#include "harness/machine/machine.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "allocator_shim/base/assert.h"
#include "allocator_shim/caching/settings.h"
#include "allocator_shim/caching/snapshot_settings.h"
#include "allocator_shim/device/cuda/cuda_memory.h"
#include "allocator_shim/device/cuda/cuda_streams.h"
#include "allocator_shim/device/cuda/pinned_memory.h"
#include "allocator_shim/device/device_share.h"
#include "allocator_shim/device/gpu_profile.h"
#include "allocator_shim/device/queued_streams.h"
#include "allocator_shim/fault/capacity_limit.h"
#include "allocator_shim/fault/faulty_device_memory.h"
#include "harness/machine/cuda_devices.h"
#include "runtime/tensor/context.h"
#include "runtime/tensor/cuda_backend.h"

namespace ohm::engine {

namespace {

ValueMode value_mode(const GpuSpec& gpu) {
  return gpu.values ? ValueMode::keeps_values : ValueMode::size_only;
}

VirtualGpuOptions gpu_options(const GpuProfile& profile, int index, const MachineOptions& machine,
                              std::uint32_t process_id) {
  VirtualGpuOptions options;
  options.context_bytes = profile.context_bytes;
  options.device = index;
  options.values = value_mode(machine.gpu);
  options.address_order = machine.address_order;
  options.process_id = process_id;
  return options;
}

GpuProfile profile_of(const MachineOptions& options) {
  GpuProfile profile = options.gpu_profile();
  profile.capacity_bytes = options.gpu.capacity_bytes.value_or(profile.capacity_bytes);
  return profile;
}

HostMemoryOptions host_options(const GpuSpec& gpu, ValueBudget& budget) {
  return {gpu.values ? Machine::kHostCapacityBytes : Machine::kSizeOnlyHostCapacityBytes,
          value_mode(gpu), &budget};
}

std::string cuda_name(const cuda::CudaDevice& device) {
  return fmt::format("{}, driver for CUDA {}", device.properties().name,
                     cuda::version_text(device.driver().version()));
}

std::unique_ptr<CudaDevices> cuda_devices_of(const MachineOptions& options) {
  return options.cuda ? std::make_unique<CudaDevices>(*options.cuda) : nullptr;
}

std::unique_ptr<cuda::PinnedMemory> driver_pinned(RequestAllocator& host, CudaDevices* devices) {
  return devices == nullptr ? nullptr
                            : std::make_unique<cuda::PinnedMemory>(host, devices->device(0));
}

}  // namespace

/// One card and what stands on it: every part is given the one before.
struct Machine::Gpu {
  Gpu(GpuProfile of_profile, const std::shared_ptr<SharedGpuMemory>& gpu_memory,
      const VirtualGpuOptions& options, CudaDevices* cuda)
      : profile(std::move(of_profile)), index(options.device), device(gpu_memory, options) {
    if (cuda == nullptr) {
      streams = std::make_unique<QueuedStreams>();
      return;
    }
    backend = cuda->backend(index);
    cuda_memory = std::make_unique<cuda::CudaMemory>(backend.device);
    if (backend.kernels) {
      cuda_memory->on_shortage([kernels = backend.kernels] { return kernels->release_scratch(); });
    }
    streams = std::make_unique<cuda::CudaStreams>(backend.device);
    segment_adaptors.push_back(std::make_unique<DeviceShare>(*cuda_memory, device));
  }

  GpuProfile profile;
  int index;
  VirtualGpu device;
  CudaBackend backend;                            ///< that it is on; empty: it is virtual
  std::unique_ptr<cuda::CudaMemory> cuda_memory;  ///< that it is a share of; null: it is virtual
  std::unique_ptr<DeviceStreams> streams;
  std::vector<std::unique_ptr<DeviceMemory>> segment_adaptors;  ///< the last one is on top
  std::unique_ptr<CachingAllocator> caching;
  std::unique_ptr<FaultyAllocator> requests;
  std::unique_ptr<PeakTrackingAdaptor> tracker;

  DeviceMemory& memory() {
    return segment_adaptors.empty() ? static_cast<DeviceMemory&>(device) : *segment_adaptors.back();
  }
  void leave_device() {
    device.leave_device();
    if (cuda_memory) cuda_memory->leave_device();
  }
};

Machine::Machine(const MachineOptions& options)
    : options_(options),
      faults_(&sites_),
      cuda_(cuda_devices_of(options)),
      cuda_traffic_(std::make_shared<CudaTraffic>()),
      values_(options.value_bytes),
      host_memory_(host_options(options.gpu, values_), &events_),
      faulty_host_(host_memory_, faults_, -1, &events_),
      host_(faulty_host_),
      driver_pinned_(driver_pinned(host_memory_, cuda_.get())),
      faulty_pinned_(
          driver_pinned_ ? static_cast<RequestAllocator&>(*driver_pinned_) : host_memory_, faults_,
          -1, &events_),
      pinned_host_(faulty_pinned_),
      pinned_(pinned_host_) {
  faulty_host_.on_out_of_memory(teller_of_errors(host_, -1));
  faulty_pinned_.on_out_of_memory(teller_of_errors(pinned_host_, -1));
  for (const std::string& plan : options_.fault_plans) {
    faults_.add(fault_plans_.emplace_back(FaultPlan::parse(plan)));
  }
  context_.sites = &sites_;
  context_.keeps_values = options_.gpu.values;
  context_.host.allocator = &host_;
  context_.pinned = &pinned_;
  context_.seed(options_.seed);
}

Machine::~Machine() = default;

std::function<void(const OutOfMemoryReport&)> Machine::teller_of_errors(
    PeakTrackingAdaptor& tracker, int device) {
  return [this, &tracker, device](const OutOfMemoryReport& report) {
    tracker.note_out_of_memory();
    note_oom(device, report);
  };
}

void Machine::note_oom(int device, const OutOfMemoryReport& report) {
  ++ooms_;
  if (device >= 0 && !report.injected) rest_on_context(device);
  if (on_out_of_memory_) on_out_of_memory_(device, report);
}

void Machine::add_gpus() {
  const std::size_t capacity_bytes = profile_of(options_).capacity_bytes;
  for (int index = 0; index < options_.gpu.count; ++index) {
    gpu_memory_.push_back(std::make_shared<SharedGpuMemory>(capacity_bytes));
    neighbours_.emplace_back(gpu_memory_.back(), index);
  }
  add_process();
  move_neighbours();
}

void Machine::add_gpus_of(const MachineOptions& options) {
  OHM_ASSERT(is_same_without_gpus(options_, options), "GPUs are added to the machine they are of");
  options_ = options;
  add_gpus();
}

void Machine::add_process() {
  CachingAllocatorOptions options;
  options.rules = rule_set_or_default(options_.gpu.rules);
  context_.rules = options.rules;
  options.settings = parse_settings(options_.gpu.alloc_conf.value_or(""), options.rules);
  for (int index = 0; index < options_.gpu.count; ++index) {
    options.device = index;
    add_gpu(options);
  }
  context_.seed(options_.seed);
}

// ---- faults that come and go --------------------------------------------------------------------

std::shared_ptr<const void> Machine::inject(const std::string& text) {
  FaultPlan parsed = FaultPlan::parse(text);
  for (int index = 0; index < gpu_count(); ++index) {
    if (!parsed.capacity_bytes_of(index)) continue;
    throw std::invalid_argument(
        fmt::format("[fault] {}: a capacity is set in the variant's fault or gpu", text));
  }
  const auto plan = fault_plans_.insert(fault_plans_.end(), std::move(parsed));
  faults_.add(*plan);
  move_neighbours();
  return {nullptr, [this, plan](const void*) {
            faults_.remove(*plan);
            fault_plans_.erase(plan);
            move_neighbours();
          }};
}

std::vector<std::string> Machine::unused_faults() const {
  std::vector<std::string> unused;
  // They came first, and scripts' plans come and go behind them.
  auto plan = fault_plans_.begin();
  for (std::size_t i = 0; i < options_.fault_plans.size(); ++i, ++plan) {
    if (plan->is_unused()) unused.push_back(plan->text());
  }
  return unused;
}

std::uint64_t Machine::planned_faults() const {
  std::uint64_t faults = 0;
  for (const FaultPlan& plan : fault_plans_) faults += plan.faults();
  return faults;
}

void Machine::restart_faults() {
  auto plan = fault_plans_.begin();
  for (const std::string& text : options_.fault_plans) *plan++ = FaultPlan::parse(text);
  move_neighbours();
}

void Machine::drop_faults() {
  auto plan = fault_plans_.begin();
  for (std::size_t i = 0; i < options_.fault_plans.size(); ++i) *plan++ = FaultPlan();
  move_neighbours();
}

void Machine::begin_step(std::int64_t step) {
  step_ = step;
  move_neighbours();
}

void Machine::move_neighbours() {
  int index = 0;
  for (Neighbour& neighbour : neighbours_) {
    std::size_t bytes = 0;
    for (const FaultPlan& plan : fault_plans_) bytes += plan.neighbour_bytes_of(index, step_);
    neighbour.hold(bytes);
    ++index;
  }
}

void Machine::add_gpu(const CachingAllocatorOptions& options) {
  const int index = options.device;
  const GpuProfile profile = profile_of(options_);
  const auto process_id = static_cast<std::uint32_t>(1 + waiting_.size());
  VirtualGpuOptions virtual_gpu = gpu_options(profile, index, options_, process_id);
  // Values of a share of a real card are in the card's memory.
  if (!cuda_) virtual_gpu.budget = &values_;
  auto gpu = std::make_unique<Gpu>(profile, gpu_memory_.at(static_cast<std::size_t>(index)),
                                   virtual_gpu, cuda_.get());
  // The record is of the first process: another one has the same addresses for other memory.
  EventRecord* const events = waiting_.empty() ? &events_ : nullptr;
  for (const FaultPlan& plan : fault_plans_) {
    if (const std::optional<std::size_t> capacity = plan.capacity_bytes_of(index)) {
      gpu->segment_adaptors.push_back(std::make_unique<CapacityLimit>(gpu->memory(), *capacity));
    }
  }
  gpu->segment_adaptors.push_back(
      std::make_unique<FaultyDeviceMemory>(gpu->memory(), faults_, index));
  gpu->caching = std::make_unique<CachingAllocator>(gpu->memory(), *gpu->streams, options, events);
  gpu->requests = std::make_unique<FaultyAllocator>(*gpu->caching, faults_, index, events);
  gpu->tracker = std::make_unique<PeakTrackingAdaptor>(*gpu->requests);
  gpu->requests->on_out_of_memory(teller_of_errors(*gpu->tracker, index));
  gpu->backend.on_out_of_memory = teller_of_errors(*gpu->tracker, index);

  DeviceSlot slot;
  slot.allocator = gpu->tracker.get();
  slot.streams = gpu->streams.get();
  slot.pools = gpu->caching.get();
  gpu->backend.traffic = cuda_traffic_;
  if (gpu->backend.device) slot.backend = &gpu->backend;
  slot.cublas_workspace_bytes = profile.cublas_workspace_bytes;
  slot.cudnn_workspace_bytes = cudnn_workspace_bytes(profile);
  slot.has_measured_cudnn = profile.has_measured_cudnn;
  slot.has_recurrent_reserve = profile.has_recurrent_reserve;
  if (!gpu->profile.convolution_workspaces.empty()) {
    slot.convolution_workspaces = &gpu->profile.convolution_workspaces;
  }
  slot.multiprocessors = profile.multiprocessors;
  slot.threads_per_multiprocessor = profile.threads_per_multiprocessor;
  slot.compute_capability = profile.compute_capability;
  context_.gpus.push_back(std::move(slot));
  gpus_.push_back(std::move(gpu));
}

void Machine::rest_on_context(int gpu) {
  const auto index = static_cast<std::size_t>(gpu);
  if (gpus_.at(index)->profile.context_bytes == 0) return;
  context_.gpus.at(index).assumptions.add(Assumption::process_context);
}

void Machine::start_process() {
  WaitingProcess& parent = waiting_.emplace_back();
  parent.gpus = std::exchange(gpus_, {});
  parent.slots = std::exchange(context_.gpus, {});
  const ExecutionState& current = context_.state;
  ExecutionState fresh;
  fresh.file = current.file;
  fresh.line = current.line;
  parent.state = std::exchange(context_.state, std::move(fresh));
  try {
    add_process();
  } catch (...) {
    end_process();
    throw;
  }
}

void Machine::end_process() {
  std::vector<DeviceSlot>& of_parent = waiting_.back().slots;
  for (std::size_t gpu = 0; gpu < context_.gpus.size() && gpu < of_parent.size(); ++gpu) {
    of_parent[gpu].assumptions.add(context_.gpus[gpu].assumptions);
  }
  context_.gpus.clear();  // its libraries' workspaces go
  for (std::unique_ptr<Gpu>& gpu : gpus_) {
    gpu->leave_device();
    ended_.push_back(std::move(gpu));
  }
  WaitingProcess& parent = waiting_.back();
  gpus_ = std::move(parent.gpus);
  context_.gpus = std::move(parent.slots);
  context_.state = std::move(parent.state);
  waiting_.pop_back();
}

Machine::ProcessScope::ProcessScope(Machine& machine) : machine_(machine) {
  machine_.start_process();
}

Machine::ProcessScope::~ProcessScope() { machine_.end_process(); }

RequestAllocator& Machine::requests(int device) {
  if (device < 0) return host_;
  return *gpus_.at(static_cast<std::size_t>(device))->tracker;
}

CachingAllocator& Machine::caching_allocator(int gpu) {
  return *gpus_.at(static_cast<std::size_t>(gpu))->caching;
}

const GpuProfile& Machine::profile(int gpu) const {
  return gpus_.at(static_cast<std::size_t>(gpu))->profile;
}

Snapshot Machine::snapshot() const {
  std::vector<std::vector<SegmentView>> segments;
  for (const auto& gpu : gpus_) segments.push_back(gpu->caching->segments());
  const AllocatorSettings settings =
      gpus_.empty() ? AllocatorSettings() : gpus_.front()->caching->settings();
  const RuleSet& rules = context_.rules;
  return snapshot_of(segments, events_, sites_, snapshot_settings(settings, rules), history_,
                     rules.has_later_snapshot_keys);
}

void Machine::restart_history(std::size_t max_entries) {
  history_ = {events_.dropped() + events_.size(), max_entries};
  is_history_started_ = true;
}

void Machine::stop_history() {
  history_ = {0, 0};
  is_history_started_ = false;
}

void Machine::record_snapshot() {
  for (int index = 0; index < gpu_count(); ++index) {
    const PooledStat& active = caching_allocator(index).stats().active_bytes;
    MemoryEvent event;
    event.action = EventAction::snapshot;
    event.device = static_cast<std::int8_t>(index);
    event.bytes = static_cast<std::uint64_t>(active[0].current);
    events_.add(event);
  }
}

void Machine::on_allocation(const std::function<void(int device)>& callback) {
  for (int index = 0; index < gpu_count(); ++index) {
    gpus_[static_cast<std::size_t>(index)]->tracker->on_allocation(
        [callback, index] { callback(index); });
  }
}

std::int64_t Machine::allocated_bytes(int gpu) const {
  const MemoryStats& stats = gpus_.at(static_cast<std::size_t>(gpu))->tracker->stats();
  return stats.allocated_bytes[static_cast<std::size_t>(StatPool::all)].current;
}

std::vector<DeviceResult> Machine::device_results() const {
  std::vector<DeviceResult> results;
  const Gpus& first_process = waiting_.empty() ? gpus_ : waiting_.front().gpus;
  const std::vector<DeviceSlot>& slots = waiting_.empty() ? context_.gpus : waiting_.front().slots;
  for (int index = 0; index < gpu_count(); ++index) {
    const Gpu& gpu = *first_process[static_cast<std::size_t>(index)];
    const TrackedFigures figures = gpu.tracker->figures();
    DeviceResult result;
    result.device = Device::cuda(index).str();
    result.profile = gpu.profile.name;
    if (gpu.backend.device) result.card = cuda_name(*gpu.backend.device);
    result.capacity_bytes = static_cast<std::int64_t>(gpu.tracker->info().total_bytes);
    result.values = options_.gpu.values;
    result.rules = gpu.caching->rules().name;
    result.alloc_conf = gpu.caching->settings().text;
    result.peak_allocated_bytes = figures.peak_allocated_bytes;
    result.peak_reserved_bytes = figures.peak_reserved_bytes;
    result.allocated_at_end_bytes = allocated_bytes(index);
    result.num_ooms = figures.num_ooms;
    for (const std::unique_ptr<Gpu>& ended : ended_) {
      if (ended->index == index) result.num_ooms += ended->tracker->figures().num_ooms;
    }
    result.num_alloc_retries = figures.num_alloc_retries;
    result.num_device_alloc = figures.num_device_alloc;
    result.peak_by_category = figures.peak_by_category;
    result.modelled = slots[static_cast<std::size_t>(index)].assumptions.names();
    results.push_back(std::move(result));
  }
  return results;
}

HostResult Machine::host_result() const {
  const TrackedFigures figures = host_.figures();
  HostResult result;
  result.peak_allocated_bytes = figures.peak_allocated_bytes;
  result.allocated_at_end_bytes =
      host_.stats().allocated_bytes[static_cast<std::size_t>(StatPool::all)].current;
  result.pinned_bytes = pinned_.pinned_stats().reserved_bytes.allocated;
  result.num_ooms = figures.num_ooms + pinned_host_.figures().num_ooms;
  return result;
}

}  // namespace ohm::engine
