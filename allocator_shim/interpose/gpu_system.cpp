#include "allocator_shim/interpose/gpu_system.h"

#include <fmt/format.h>
#include <pthread.h>
#include <sys/mman.h>
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

/// Managed memory that is on no device.
constexpr int kHostLocation = -1;
/// More addresses than any host has memory for.
constexpr std::size_t kMostManagedBytes = std::size_t{1} << 46U;

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

std::size_t bytes_of(std::size_t bytes) { return bytes; }
template <typename Range>
std::size_t bytes_of(const Range& range) {
  return range.bytes;
}

/// The range that holds the address, or the end.
template <typename Map>
auto holder(Map& ranges, DeviceAddress address) {
  auto above = ranges.upper_bound(address);
  if (above == ranges.begin()) return ranges.end();
  --above;
  return address - above->first < bytes_of(above->second) ? above : ranges.end();
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

void release_in_child() {
  if (GpuSystem* const system = made_system) system->lose_by_fork();
  release_after_fork();
}

[[gnu::constructor]] void follow_forks() {
  pthread_atfork(hold_for_fork, release_after_fork, release_in_child);
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

std::optional<FaultError> GpuSystem::fault_of_call(std::string_view name) {
  FaultCandidate call;
  call.level = FaultLevel::call;
  call.call = name;
  call.device = has(current()) ? number_in_machine(current()) : 0;
  const std::lock_guard guard(mutex_);
  if (!faults_.should_fail(call)) return std::nullopt;
  return faults_.last_error();
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

/// Memory that programs can do without is given up for memory that they ask for: what pools have
/// cached, and what is managed and may be elsewhere. False: there was none.
bool GpuSystem::make_room(int device, std::size_t bytes) {
  const std::size_t before = used(device).info().free_bytes;
  for (MemoryPool* pool : live_pools_) {
    if (pool->device == device) trim(*pool, 0);
  }
  for (auto& [address, range] : managed_) {
    if (range.device == device && used(device).info().free_bytes < bytes) leave(range);
  }
  return used(device).info().free_bytes > before;
}

Status GpuSystem::take(int device, std::size_t bytes, DeviceAddress& address) {
  try {
    std::optional<DeviceAddress> granted = used(device).allocate_segment(bytes);
    if (!granted && make_room(device, bytes)) granted = used(device).allocate_segment(bytes);
    if (!granted) return no_room(device);
    address = *granted;
  } catch (const HostRefusal& refusal) {
    return refused(refusal);
  }
  return Status::success;
}

Status GpuSystem::allocate(int device, std::size_t bytes, DeviceAddress& address) {
  address = 0;
  if (bytes != 0 && is_refused(bytes)) return Status::out_of_memory;
  const Context* const context = current_context();
  const std::lock_guard guard(mutex_);
  if (!has(device)) return Status::invalid_device;
  if (bytes == 0) return Status::success;
  if (bytes > profile_.capacity_bytes) return Status::out_of_memory;
  const std::size_t rounded = AddressSpace::round_up(bytes);
  if (fails_by_plan(FaultLevel::segment, device, rounded)) return Status::out_of_memory;
  const Status status = take(device, rounded, address);
  if (status != Status::success) return status;
  gpus_[static_cast<std::size_t>(device)].segments[address] = {bytes, rounded, context, nullptr};
  return Status::success;
}

void GpuSystem::free_segment(Gpu& gpu, std::map<DeviceAddress, Segment>::iterator segment) {
  const auto [address, freed] = *segment;
  gpu.segments.erase(segment);
  if (freed.pool == nullptr) {
    gpu.memory->free_segment(address, freed.taken_bytes);
    return;
  }
  freed.pool->used_bytes -= freed.taken_bytes;
  freed.pool->cached.emplace(freed.taken_bytes, address);
}

Status GpuSystem::free(DeviceAddress address) {
  if (address == 0) return Status::success;
  const std::lock_guard guard(mutex_);
  Gpu* gpu = owner(address);
  if (gpu == nullptr) return free_managed(address);
  const auto segment = gpu->segments.find(address);
  if (segment == gpu->segments.end()) return Status::invalid_value;
  free_segment(*gpu, segment);
  return Status::success;
}

void GpuSystem::free_all(int device, const Context* context) {
  const std::lock_guard guard(mutex_);
  Gpu& gpu = gpus_[static_cast<std::size_t>(device)];
  for (auto segment = gpu.segments.begin(); segment != gpu.segments.end();) {
    const auto next = std::next(segment);
    if (context == nullptr || segment->second.context == context) free_segment(gpu, segment);
    segment = next;
  }
  if (context != nullptr) return;
  for (MemoryPool* pool : live_pools_) {
    if (pool->device == device) trim(*pool, 0);
  }
}

MemoryPool* GpuSystem::default_pool(int device) {
  const std::lock_guard guard(mutex_);
  if (!has(device)) return nullptr;
  Gpu& gpu = gpus_[static_cast<std::size_t>(device)];
  if (gpu.default_pool == nullptr) {
    gpu.default_pool = pools_.create();
    gpu.default_pool->device = device;
    live_pools_.push_back(gpu.default_pool);
  }
  return gpu.default_pool;
}

MemoryPool* GpuSystem::current_pool(int device) {
  MemoryPool* const first = default_pool(device);
  if (first == nullptr) return nullptr;
  const std::lock_guard guard(mutex_);
  MemoryPool* const chosen = gpus_[static_cast<std::size_t>(device)].current_pool;
  return chosen == nullptr ? first : chosen;
}

Status GpuSystem::choose_pool(int device, MemoryPool* pool) {
  const std::lock_guard guard(mutex_);
  if (!has(device)) return Status::invalid_device;
  if (!is_pool(pool) || pool->device != device) return Status::invalid_value;
  gpus_[static_cast<std::size_t>(device)].current_pool = pool;
  return Status::success;
}

MemoryPool* GpuSystem::create_pool(int device) {
  const std::lock_guard guard(mutex_);
  MemoryPool* const pool = has(device) ? pools_.create() : nullptr;
  if (pool == nullptr) return nullptr;
  pool->device = device;
  live_pools_.push_back(pool);
  return pool;
}

Status GpuSystem::destroy_pool(MemoryPool* pool) {
  const std::lock_guard guard(mutex_);
  if (!is_pool(pool)) return Status::invalid_value;
  Gpu& gpu = gpus_[static_cast<std::size_t>(pool->device)];
  if (gpu.default_pool == pool) return Status::invalid_value;
  trim(*pool, 0);
  // What is still allocated of it is freed by its own address.
  for (auto& [address, segment] : gpu.segments) {
    if (segment.pool == pool) segment.pool = nullptr;
  }
  if (gpu.current_pool == pool) gpu.current_pool = nullptr;
  std::erase(live_pools_, pool);
  pools_.destroy(pool);
  return Status::success;
}

Status GpuSystem::allocate_from(MemoryPool* pool, std::size_t bytes, DeviceAddress& address) {
  address = 0;
  if (bytes != 0 && is_refused(bytes)) return Status::out_of_memory;
  const Context* const context = current_context();
  const std::lock_guard guard(mutex_);
  if (!is_pool(pool) || bytes == 0) return Status::invalid_value;
  if (bytes > profile_.capacity_bytes) return Status::out_of_memory;
  const std::size_t rounded = AddressSpace::round_up(bytes);
  if (fails_by_plan(FaultLevel::segment, pool->device, rounded)) return Status::out_of_memory;
  if (const auto cached = pool->take(rounded)) {
    address = *cached;
  } else {
    const Status status = take(pool->device, rounded, address);
    if (status != Status::success) return status;
    pool->note_reserved(rounded);
  }
  pool->note_used(rounded);
  gpus_[static_cast<std::size_t>(pool->device)].segments[address] = {bytes, rounded, context, pool};
  return Status::success;
}

void GpuSystem::trim(MemoryPool& pool, std::size_t kept_bytes) {
  while (pool.reserved_bytes > kept_bytes && !pool.cached.empty()) {
    const auto block = pool.cached.begin();
    used(pool.device).free_segment(block->second, block->first);
    pool.reserved_bytes -= block->first;
    pool.cached.erase(block);
  }
}

Status GpuSystem::trim_pool(MemoryPool* pool, std::size_t kept_bytes) {
  return with_pool(pool, [&](MemoryPool& one) {
    trim(one, kept_bytes);
    return Status::success;
  });
}

void GpuSystem::trim_pools() {
  const std::lock_guard guard(mutex_);
  for (MemoryPool* pool : live_pools_) trim(*pool, pool->release_threshold);
}

Status GpuSystem::allocate_managed(std::size_t bytes, DeviceAddress& address) {
  address = 0;
  if (is_refused(bytes)) return Status::out_of_memory;
  const std::lock_guard guard(mutex_);
  if (bytes > kMostManagedBytes) return Status::out_of_memory;
  const std::size_t rounded = AddressSpace::round_up(bytes);
  if (fails_by_plan(FaultLevel::segment, current(), rounded)) return Status::out_of_memory;
  constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  void* const mapped = mmap(nullptr, rounded, PROT_READ | PROT_WRITE, kFlags, -1, 0);
  if (mapped == MAP_FAILED) return Status::out_of_memory;
  address = reinterpret_cast<DeviceAddress>(mapped);
  managed_[address] = {rounded};
  used(current());
  return Status::success;
}

Status GpuSystem::free_managed(DeviceAddress address) {
  const auto range = managed_.find(address);
  if (range == managed_.end()) return Status::invalid_value;
  leave(range->second);
  munmap(reinterpret_cast<void*>(address), range->second.bytes);
  managed_.erase(range);
  return Status::success;
}

bool GpuSystem::is_managed(const void* address) {
  const std::lock_guard guard(mutex_);
  return holder(managed_, reinterpret_cast<DeviceAddress>(address)) != managed_.end();
}

void GpuSystem::leave(ManagedRange& range) {
  if (range.resident_bytes > 0) used(range.device).release_chunk(range.resident_bytes);
  range.resident_bytes = 0;
  range.device = -1;
}

Status GpuSystem::prefetch(DeviceAddress address, std::size_t bytes, int device) {
  const std::lock_guard guard(mutex_);
  const auto found = holder(managed_, address);
  if (found == managed_.end() || bytes == 0) return Status::invalid_value;
  if (bytes > found->first + found->second.bytes - address) return Status::invalid_value;
  if (device != kHostLocation && !has(device)) return Status::invalid_device;
  ManagedRange& range = found->second;
  if (device != range.device) leave(range);
  if (device == kHostLocation) return Status::success;
  // What does not fit stays where it is.
  const std::size_t wanted = AddressSpace::round_up(bytes);
  const std::size_t more = wanted - std::min(wanted, range.resident_bytes);
  if (used(device).info().free_bytes < more) {
    const int before = std::exchange(range.device, kHostLocation);
    make_room(device, more);
    range.device = before;
  }
  const std::size_t left = used(device).info().free_bytes;
  const std::size_t moved =
      std::min(more, left / AddressSpace::kGranuleBytes * AddressSpace::kGranuleBytes);
  if (moved > 0 && used(device).create_chunk(moved)) {
    range.device = device;
    range.resident_bytes += moved;
  }
  return Status::success;
}

std::optional<DeviceRange> GpuSystem::find(DeviceAddress address) {
  const std::lock_guard guard(mutex_);
  const Gpu* gpu = owner(address);
  if (gpu == nullptr) return std::nullopt;
  const int device = static_cast<int>(gpu - gpus_.data());
  const auto segment = holder(gpu->segments, address);
  if (segment != gpu->segments.end()) {
    return DeviceRange{device, segment->first, segment->second.bytes};
  }
  const auto range = holder(gpu->ranges, address);
  if (range != gpu->ranges.end()) return DeviceRange{device, range->first, range->second};
  return std::nullopt;
}

/// Several mappings may follow each other without a gap.
bool GpuSystem::is_mapped(const Gpu& gpu, DeviceAddress address, std::size_t bytes) {
  const DeviceAddress end = address + bytes;
  auto mapping = gpu.mappings.upper_bound(address);
  if (mapping == gpu.mappings.begin()) return false;
  DeviceAddress covered = (--mapping)->first;
  while (mapping != gpu.mappings.end() && mapping->first == covered &&
         mapping->second.is_accessible) {
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
  if (gpu == nullptr) {
    const auto managed = holder(managed_, address);
    if (managed == managed_.end()) return Place::host;
    const bool fits = bytes <= managed->first + managed->second.bytes - address;
    return fits ? Place::managed : Place::nowhere;
  }
  const auto segment = holder(gpu->segments, address);
  const bool is_allocated =
      segment != gpu->segments.end() && bytes <= segment->first + segment->second.bytes - address;
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
  return std::accumulate(
      segments.begin(), segments.end(), std::size_t{0},
      [](std::size_t sum, const auto& segment) { return sum + segment.second.taken_bytes; });
}

Status GpuSystem::reserve(int device, std::size_t bytes, DeviceAddress& address) {
  const std::lock_guard guard(mutex_);
  address = 0;
  if (!has(device)) return Status::invalid_device;
  if (bytes == 0 || bytes % AddressSpace::kGranuleBytes != 0) return Status::invalid_value;
  try {
    address = used(device).reserve_range(bytes);
  } catch (const std::runtime_error&) {
    return Status::out_of_memory;
  }
  gpus_[static_cast<std::size_t>(device)].ranges.emplace(address, bytes);
  return Status::success;
}

Status GpuSystem::release_range(DeviceAddress address) {
  const std::lock_guard guard(mutex_);
  Gpu* gpu = owner(address);
  if (gpu == nullptr) return Status::invalid_value;
  const auto range = gpu->ranges.find(address);
  if (range == gpu->ranges.end()) return Status::invalid_value;
  const auto mapping = gpu->mappings.lower_bound(address);
  const bool is_mapped = mapping != gpu->mappings.end() && mapping->first - address < range->second;
  if (is_mapped) return Status::invalid_value;
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
  memory = physical_.create(device, bytes);
  return memory != nullptr ? Status::success : Status::out_of_memory;
}

void GpuSystem::drop(PhysicalMemory* memory) {
  if (--memory->references > 0) return;
  used(memory->device).release_chunk(memory->bytes);
  physical_.destroy(memory);
}

Status GpuSystem::release(PhysicalMemory* memory) {
  const std::lock_guard guard(mutex_);
  if (!is_physical(memory) || memory->is_released) return Status::invalid_value;
  memory->is_released = true;
  drop(memory);
  return Status::success;
}

Status GpuSystem::map(DeviceAddress address, std::size_t bytes, PhysicalMemory* memory) {
  const std::lock_guard guard(mutex_);
  if (!is_physical(memory)) return Status::invalid_value;
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

Status GpuSystem::set_access(DeviceAddress address, std::size_t bytes, bool is_accessible) {
  const std::lock_guard guard(mutex_);
  Gpu* gpu = owner(address);
  if (gpu == nullptr || bytes == 0) return Status::invalid_value;
  const DeviceAddress end = address + bytes;
  const auto first = gpu->mappings.find(address);
  auto mapping = first;
  for (DeviceAddress at = address; at < end; ++mapping) {
    if (mapping == gpu->mappings.end() || mapping->first != at) return Status::invalid_value;
    at += mapping->second.bytes;
  }
  for (auto one = first; one != mapping; ++one) one->second.is_accessible = is_accessible;
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

bool GpuSystem::add_pinned(const void* address, std::size_t bytes, Pinned how) {
  const auto begin = reinterpret_cast<DeviceAddress>(address);
  const std::lock_guard guard(mutex_);
  const auto next = pinned_.lower_bound(begin);
  const bool meets_next = next != pinned_.end() && next->first - begin < bytes;
  if (meets_next || holder(pinned_, begin) != pinned_.end()) return false;
  pinned_[begin] = {bytes, how};
  return true;
}

bool GpuSystem::remove_pinned(const void* address, Pinned how) {
  const std::lock_guard guard(mutex_);
  const auto found = pinned_.find(reinterpret_cast<DeviceAddress>(address));
  if (found == pinned_.end() || found->second.how != how) return false;
  pinned_.erase(found);
  return true;
}

bool GpuSystem::is_pinned(const void* address) {
  const std::lock_guard guard(mutex_);
  return holder(pinned_, reinterpret_cast<DeviceAddress>(address)) != pinned_.end();
}

}  // namespace ohm::interpose
