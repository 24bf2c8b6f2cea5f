#include "allocator_shim/interpose/gpu_system.h"

#include <fmt/format.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <numeric>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "allocator_shim/interpose/device_model.h"

namespace ohm::interpose {
namespace {

thread_local int current_device = 0;

/// What the host refuses is, for the program, memory that the card has not. That it is the host's
/// has to be said.
Status refused(const HostRefusal& refusal) {
  fmt::print(stderr, "ohm: {}\n", refusal.what());
  return Status::out_of_memory;
}

/// What `make` makes of a variable of the environment. The program ends where that cannot be read:
/// no GPU is better than another one than was asked for.
template <class Make>
auto made_of(const char* variable, Make&& make) {
  const char* const value = std::getenv(variable);
  try {
    return make(std::string_view(value == nullptr ? "" : value));
  } catch (const std::exception& error) {
    fmt::print(stderr, "ohm: {}: {}\n", variable, error.what());
    std::_Exit(EXIT_FAILURE);
  }
}

GpuSystem* make_system() {
  FaultPlan faults = made_of(kFaultVariable, [](std::string_view plan) {
    return plan.empty() ? FaultPlan() : FaultPlan::parse(plan, PlannedCalls::device);
  });
  return made_of(kGpusVariable, [&](std::string_view selection) {
    return new GpuSystem(selection.empty() ? kDefaultGpu : selection,
                         std::getenv("CUDA_VISIBLE_DEVICES"), std::move(faults));
  });
}

/// Which GPUs of the machine a list of them names, in its order.
std::vector<int> visible_numbers(const char* list, int machine_count) {
  std::vector<int> numbers;
  if (list == nullptr) {
    for (int number = 0; number < machine_count; ++number) numbers.push_back(number);
    return numbers;
  }
  for (std::string_view rest = list; !rest.empty();) {
    const std::string_view word = rest.substr(0, rest.find(','));
    const int number = device_named(word, machine_count);
    const bool is_new = std::find(numbers.begin(), numbers.end(), number) == numbers.end();
    if (number < 0 || !is_new) break;
    numbers.push_back(number);
    rest.remove_prefix(std::min(rest.size(), word.size() + 1));
  }
  return numbers;
}

using RangeMap = std::map<DeviceAddress, std::size_t>;

/// The range that holds the address, or the end.
RangeMap::const_iterator holder(const RangeMap& ranges, DeviceAddress address) {
  auto above = ranges.upper_bound(address);
  if (above == ranges.begin()) return ranges.end();
  --above;
  return address - above->first < above->second ? above : ranges.end();
}

/// Made at its first use, which another thread may be in the middle of when this one forks: held
/// then, as all of its state is. A static variable of a function would be left incomplete in the
/// child, which waits for it for ever.
std::mutex first_use;
std::atomic<GpuSystem*> made_system = nullptr;

void hold_for_fork() {
  first_use.lock();
  if (GpuSystem* const system = made_system) system->lock();
}

void release_after_fork() {
  if (GpuSystem* const system = made_system) system->unlock();
  first_use.unlock();
}

[[gnu::constructor]] void follow_forks() {
  pthread_atfork(hold_for_fork, release_after_fork, release_after_fork);
}

}  // namespace

GpuSystem& GpuSystem::of_process() {
  if (GpuSystem* const system = made_system.load(std::memory_order_acquire)) return *system;
  const std::scoped_lock lock(first_use);
  if (made_system == nullptr) made_system.store(make_system(), std::memory_order_release);
  return *made_system;
}

GpuSystem::GpuSystem(std::string_view selection, const char* visible, FaultPlan faults)
    : faults_(std::move(faults)) {
  const GpuSelection gpus = parse_gpu_selection(selection);
  profile_ = gpus.profile;
  machine_count_ = gpus.count.value_or(1);
  for (const int number : visible_numbers(visible, machine_count_)) {
    gpus_.emplace_back().number = number;
    if (capacity_of(number) <= profile_.context_bytes) {
      throw std::invalid_argument(
          fmt::format("{} leaves nothing beside the context", faults_.text()));
    }
  }
}

std::size_t GpuSystem::capacity_of(int number) const {
  const std::size_t whole = profile_.capacity_bytes;
  return std::min(whole, faults_.capacity_bytes_of(number).value_or(whole));
}

int GpuSystem::visible_device(int number) const {
  const auto found = std::find_if(gpus_.begin(), gpus_.end(),
                                  [&](const Gpu& gpu) { return gpu.number == number; });
  return found == gpus_.end() ? -1 : static_cast<int>(found - gpus_.begin());
}

int GpuSystem::current() const { return current_device; }

Status GpuSystem::set_current(int device) {
  if (!has(device)) return Status::invalid_device;
  current_device = device;
  return Status::success;
}

VirtualGpu& GpuSystem::used(int device) {
  Gpu& gpu = gpus_[static_cast<std::size_t>(device)];
  if (!gpu.memory) {
    VirtualGpuOptions options;
    options.context_bytes = profile_.context_bytes;
    options.device = gpu.number;
    options.values = ValueMode::keeps_values;
    options.address_origin = AddressOrigin::host;
    options.process_id = static_cast<std::uint32_t>(getpid());
    try {
      gpu.memory = std::make_unique<VirtualGpu>(capacity_of(gpu.number), options);
    } catch (const HostRefusal& refusal) {
      refused(refusal);
      std::_Exit(EXIT_FAILURE);
    }
  }
  return *gpu.memory;
}

bool GpuSystem::is_refused(std::size_t bytes) const {
  bool (*const asked)(std::size_t) = is_refused_;
  return asked != nullptr && asked(bytes);
}

bool GpuSystem::fails_by_plan(FaultLevel level, int device, std::size_t bytes) {
  FaultCandidate call;
  call.level = level;
  call.device = number_in_machine(device);
  call.bytes = bytes;
  return faults_.should_fail(call);
}

bool GpuSystem::refuses_request(int device, std::size_t bytes) {
  const std::lock_guard guard(mutex_);
  return has(device) && fails_by_plan(FaultLevel::request, device, bytes);
}

GpuSystem::Gpu* GpuSystem::owner(DeviceAddress address) {
  for (Gpu& gpu : gpus_) {
    if (gpu.memory && gpu.memory->may_hand_out(address)) return &gpu;
  }
  return nullptr;
}

/// What else the card would hold decides where its memory ends.
Status GpuSystem::no_room(int device) {
  note_assumption(device, Assumption::process_context);
  return Status::out_of_memory;
}

Status GpuSystem::allocate(int device, std::size_t bytes, DeviceAddress& address) {
  address = 0;
  if (bytes != 0 && is_refused(bytes)) return Status::out_of_memory;
  const std::lock_guard guard(mutex_);
  if (!has(device)) return Status::invalid_device;
  if (bytes == 0) return Status::success;
  if (bytes > profile_.capacity_bytes) return Status::out_of_memory;
  const std::size_t rounded = AddressSpace::round_up(bytes);
  if (fails_by_plan(FaultLevel::segment, device, rounded)) return Status::out_of_memory;
  try {
    const std::optional<DeviceAddress> granted = used(device).allocate_segment(rounded);
    if (!granted) return no_room(device);
    address = *granted;
  } catch (const HostRefusal& refusal) {
    return refused(refusal);
  }
  gpus_[static_cast<std::size_t>(device)].segments.emplace(address, rounded);
  return Status::success;
}

Status GpuSystem::free(DeviceAddress address) {
  if (address == 0) return Status::success;
  const std::lock_guard guard(mutex_);
  Gpu* gpu = owner(address);
  if (gpu == nullptr) return Status::invalid_value;
  const auto segment = gpu->segments.find(address);
  if (segment == gpu->segments.end()) return Status::invalid_value;
  gpu->memory->free_segment(address, segment->second);
  gpu->segments.erase(segment);
  return Status::success;
}

std::optional<DeviceRange> GpuSystem::find(DeviceAddress address) {
  const std::lock_guard guard(mutex_);
  const Gpu* gpu = owner(address);
  if (gpu == nullptr) return std::nullopt;
  const int device = static_cast<int>(gpu - gpus_.data());
  for (const RangeMap* ranges : {&gpu->segments, &gpu->ranges}) {
    const auto found = holder(*ranges, address);
    if (found != ranges->end()) return DeviceRange{device, found->first, found->second};
  }
  return std::nullopt;
}

/// Several mappings may follow each other without a gap.
bool GpuSystem::is_mapped(const Gpu& gpu, DeviceAddress address, std::size_t bytes) {
  const DeviceAddress end = address + bytes;
  auto mapping = gpu.mappings.upper_bound(address);
  if (mapping == gpu.mappings.begin()) return false;
  DeviceAddress covered = (--mapping)->first;
  while (mapping != gpu.mappings.end() && mapping->first == covered) {
    covered += mapping->second.bytes;
    if (covered >= end) return true;
    ++mapping;
  }
  return false;
}

Place GpuSystem::place_of(const void* pointer, std::size_t bytes) {
  const auto address = reinterpret_cast<DeviceAddress>(pointer);
  const std::lock_guard guard(mutex_);
  const Gpu* gpu = owner(address);
  if (gpu == nullptr) return Place::host;
  const auto segment = holder(gpu->segments, address);
  const bool is_allocated =
      segment != gpu->segments.end() && bytes <= segment->first + segment->second - address;
  return is_allocated || is_mapped(*gpu, address, bytes) ? Place::device : Place::nowhere;
}

DeviceMemoryInfo GpuSystem::info(int device) {
  note_assumption(device, Assumption::process_context);
  const std::lock_guard guard(mutex_);
  return used(device).info();
}

std::size_t GpuSystem::used_bytes(int device) {
  const std::lock_guard guard(mutex_);
  const Gpu& gpu = gpus_[static_cast<std::size_t>(device)];
  if (!gpu.memory) return 0;
  const DeviceMemoryInfo info = gpu.memory->info();
  return info.total_bytes - info.free_bytes;
}

std::size_t GpuSystem::allocated_bytes(int device) {
  const std::lock_guard guard(mutex_);
  const auto& segments = gpus_[static_cast<std::size_t>(device)].segments;
  return std::accumulate(segments.begin(), segments.end(), std::size_t{0},
                         [](std::size_t sum, const auto& segment) { return sum + segment.second; });
}

Status GpuSystem::reserve(int device, std::size_t bytes, DeviceAddress& address) {
  const std::lock_guard guard(mutex_);
  address = 0;
  if (!has(device)) return Status::invalid_device;
  if (bytes == 0) return Status::invalid_value;
  const std::size_t rounded = AddressSpace::round_up(bytes);
  try {
    address = used(device).reserve_range(rounded);
  } catch (const std::runtime_error&) {
    return Status::out_of_memory;
  }
  gpus_[static_cast<std::size_t>(device)].ranges.emplace(address, rounded);
  return Status::success;
}

Status GpuSystem::release_range(DeviceAddress address) {
  const std::lock_guard guard(mutex_);
  Gpu* gpu = owner(address);
  if (gpu == nullptr) return Status::invalid_value;
  const auto range = gpu->ranges.find(address);
  if (range == gpu->ranges.end()) return Status::invalid_value;
  gpu->memory->release_range(address, range->second);
  gpu->ranges.erase(range);
  return Status::success;
}

Status GpuSystem::create(int device, std::size_t bytes, PhysicalMemory*& memory) {
  memory = nullptr;
  if (is_refused(bytes)) return Status::out_of_memory;
  const std::lock_guard guard(mutex_);
  if (!has(device)) return Status::invalid_device;
  if (bytes == 0 || bytes % AddressSpace::kGranuleBytes != 0) return Status::invalid_value;
  if (fails_by_plan(FaultLevel::map, device, bytes)) return Status::out_of_memory;
  if (!used(device).create_chunk(bytes)) return no_room(device);
  memory = std::make_unique<PhysicalMemory>(PhysicalMemory{device, bytes}).release();
  return Status::success;
}

void GpuSystem::drop(PhysicalMemory* memory) {
  if (--memory->references > 0) return;
  used(memory->device).release_chunk(memory->bytes);
  const std::unique_ptr<PhysicalMemory> owned(memory);
}

Status GpuSystem::release(PhysicalMemory* memory) {
  if (memory == nullptr) return Status::invalid_value;
  const std::lock_guard guard(mutex_);
  drop(memory);
  return Status::success;
}

Status GpuSystem::map(DeviceAddress address, std::size_t bytes, PhysicalMemory* memory) {
  if (memory == nullptr) return Status::invalid_value;
  const std::lock_guard guard(mutex_);
  Gpu* gpu = owner(address);
  if (gpu == nullptr || bytes != memory->bytes) return Status::invalid_value;
  const auto range = holder(gpu->ranges, address);
  const bool fits = range != gpu->ranges.end() && address - range->first + bytes <= range->second;
  if (!fits || gpu->mappings.count(address) != 0) return Status::invalid_value;
  try {
    gpu->memory->map_chunk(address, bytes);
  } catch (const HostRefusal& refusal) {
    return refused(refusal);
  }
  gpu->mappings.emplace(address, Mapping{bytes, memory});
  ++memory->references;
  return Status::success;
}

Status GpuSystem::unmap(DeviceAddress address, std::size_t bytes) {
  const std::lock_guard guard(mutex_);
  Gpu* gpu = owner(address);
  if (gpu == nullptr) return Status::invalid_value;
  // One call may end several mappings that follow each other.
  auto mapping = gpu->mappings.find(address);
  for (const DeviceAddress end = address + bytes; address < end;) {
    if (mapping == gpu->mappings.end() || mapping->first != address) return Status::invalid_value;
    gpu->memory->unmap_chunk(address, mapping->second.bytes);
    drop(mapping->second.memory);
    address += mapping->second.bytes;
    mapping = gpu->mappings.erase(mapping);
  }
  return Status::success;
}

void GpuSystem::add_pinned(const void* address, std::size_t bytes) {
  const std::lock_guard guard(mutex_);
  pinned_[reinterpret_cast<DeviceAddress>(address)] = bytes;
}

bool GpuSystem::remove_pinned(const void* address) {
  const std::lock_guard guard(mutex_);
  return pinned_.erase(reinterpret_cast<DeviceAddress>(address)) > 0;
}

bool GpuSystem::is_pinned(const void* address) {
  const std::lock_guard guard(mutex_);
  return holder(pinned_, reinterpret_cast<DeviceAddress>(address)) != pinned_.end();
}

}  // namespace ohm::interpose
