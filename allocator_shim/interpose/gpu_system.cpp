#include "allocator_shim/interpose/gpu_system.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <numeric>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "allocator_shim/interpose/address_ranges.h"
#include "allocator_shim/interpose/device_model.h"

namespace ohm::interpose {
namespace {

thread_local int current_device = 0;

/// Whether the driver puts it into a granule with others.
bool is_small(std::size_t bytes) { return bytes <= AddressSpace::kGranuleBytes / 2; }

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

}  // namespace

Status refused(const HostRefusal& refusal) {
  fmt::print(stderr, "ohm: {}\n", refusal.what());
  return Status::out_of_memory;
}

GpuSystem::GpuSystem(std::string_view selection, const char* visible, FaultPlan faults,
                     GpuTable* table)
    : faults_(std::move(faults)), table_(table) {
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

std::vector<std::uint64_t> GpuSystem::capacities() const {
  std::vector<std::uint64_t> capacities;
  for (const Gpu& gpu : gpus_) capacities.push_back(capacity_of(gpu.number));
  return capacities;
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

/// A GPU comes to life, with the context of this process; out of memory: other processes leave no
/// room for it.
Status GpuSystem::open(int device) {
  Gpu& gpu = gpus_[static_cast<std::size_t>(device)];
  if (gpu.memory) return Status::success;
  VirtualGpuOptions options;
  options.context_bytes = profile_.context_bytes;
  options.device = gpu.number;
  options.values = ValueMode::keeps_values;
  options.address_origin = AddressOrigin::host;
  options.process_id = static_cast<std::uint32_t>(getpid());
  const std::size_t capacity = capacity_of(gpu.number);
  try {
    gpu.memory =
        table_ == nullptr
            ? std::make_unique<VirtualGpu>(capacity, options)
            : std::make_unique<VirtualGpu>(
                  std::make_shared<TabledGpuMemory>(*table_, gpu.number, capacity), options);
  } catch (const HostRefusal& refusal) {
    refused(refusal);
    std::_Exit(EXIT_FAILURE);
  } catch (const std::invalid_argument&) {
    return no_room(device);
  }
  return Status::success;
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
  const Status opened = open(device);
  if (opened != Status::success) return opened;
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

Status GpuSystem::allocate(int device, std::size_t bytes, const Context* context,
                           DeviceAddress& address) {
  address = 0;
  if (bytes != 0 && is_refused(bytes)) return Status::out_of_memory;
  const std::lock_guard guard(mutex_);
  if (!has(device)) return Status::invalid_device;
  if (bytes == 0) return Status::success;
  if (bytes > profile_.capacity_bytes) return not_granted(device, bytes, NotGranted::by_card);
  const std::size_t rounded = AddressSpace::round_up(bytes);
  if (fails_by_plan(FaultLevel::segment, device, rounded)) {
    return not_granted(device, bytes, NotGranted::by_plan);
  }
  std::size_t segment_bytes = 0;
  if (take_block(device, bytes, address, segment_bytes) != Status::success) {
    return not_granted(device, bytes, NotGranted::by_card);
  }
  const std::size_t taken_bytes = is_small(bytes) ? SegmentedMemory::in_units(bytes) : rounded;
  gpus_[static_cast<std::size_t>(device)].blocks[address] = {bytes, taken_bytes, context, nullptr};
  record_request(device, address, bytes, segment_bytes);
  return Status::success;
}

/// `segment_bytes`: what is taken of the card for it.
Status GpuSystem::take_block(int device, std::size_t bytes, DeviceAddress& address,
                             std::size_t& segment_bytes) {
  SegmentedMemory& small = gpus_[static_cast<std::size_t>(device)].small_blocks;
  if (is_small(bytes)) {
    if (const auto shared = small.take(SegmentedMemory::in_units(bytes))) {
      address = *shared;
      return Status::success;
    }
  }
  const Status status = take(device, AddressSpace::round_up(bytes), address);
  if (status != Status::success) return status;
  segment_bytes = AddressSpace::round_up(bytes);
  if (!is_small(bytes)) return Status::success;
  small.add_segment(address, segment_bytes);
  address = *small.take(SegmentedMemory::in_units(bytes));
  return Status::success;
}

void GpuSystem::free_block(Gpu& gpu, std::map<DeviceAddress, Block>::iterator block) {
  const auto [address, freed] = *block;
  gpu.blocks.erase(block);
  const std::uint32_t site = recorded_site();
  if (DeviceRecord* const record = DeviceRecord::of_process()) record->remove_block(address, site);
  if (freed.pool == nullptr && !is_small(freed.bytes)) {
    return give_back(*gpu.memory, address, freed.taken_bytes, site);
  }
  if (freed.pool == nullptr) return free_small_block(gpu, address, freed, site);
  freed.pool->used_bytes -= freed.taken_bytes;
  freed.pool->memory.give_back(address, freed.taken_bytes);
  if (freed.pool->is_destroyed) end_pool(freed.pool);
}

void GpuSystem::free_small_block(Gpu& gpu, DeviceAddress address, const Block& block,
                                 std::uint32_t site) {
  gpu.small_blocks.give_back(address, block.taken_bytes);
  if (const auto segment = gpu.small_blocks.remove_free_segment()) {
    give_back(*gpu.memory, segment->address, segment->bytes, site);
  }
}

Status GpuSystem::free(DeviceAddress address) {
  if (address == 0) return Status::success;
  const std::lock_guard guard(mutex_);
  Gpu* gpu = owner(address);
  if (gpu == nullptr) return free_managed(address);
  const auto block = gpu->blocks.find(address);
  if (block == gpu->blocks.end()) return failed_free(address);
  free_block(*gpu, block);
  return Status::success;
}

void GpuSystem::free_all(int device, const Context* context) {
  const std::lock_guard guard(mutex_);
  Gpu& gpu = gpus_[static_cast<std::size_t>(device)];
  for (auto block = gpu.blocks.begin(); block != gpu.blocks.end();) {
    const auto next = std::next(block);
    if (context == nullptr || block->second.context == context) free_block(gpu, block);
    block = next;
  }
  if (context != nullptr) return;
  for (MemoryPool* pool : live_pools_) {
    if (pool->device == device) trim(*pool, 0);
  }
}

std::optional<DeviceRange> GpuSystem::find(DeviceAddress address) {
  const std::lock_guard guard(mutex_);
  const Gpu* gpu = owner(address);
  if (gpu == nullptr) return std::nullopt;
  const int device = static_cast<int>(gpu - gpus_.data());
  const auto block = holder(gpu->blocks, address);
  if (block != gpu->blocks.end()) {
    return DeviceRange{device, block->first, block->second.bytes};
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
  const auto block = holder(gpu->blocks, address);
  const bool is_allocated =
      block != gpu->blocks.end() && bytes <= block->first + block->second.bytes - address;
  // A graph's launches use what its nodes have freed since.
  const bool is_of_graphs =
      gpu->graph_pool != nullptr && gpu->graph_pool->memory.contains(address, bytes);
  const bool is_there = is_allocated || is_of_graphs || is_mapped(*gpu, address, bytes);
  return is_there ? Place::device : Place::nowhere;
}

const Context* GpuSystem::context_of(DeviceAddress address) {
  const std::lock_guard guard(mutex_);
  const Gpu* const gpu = owner(address);
  if (gpu == nullptr) return nullptr;
  const auto block = holder(gpu->blocks, address);
  return block == gpu->blocks.end() ? nullptr : block->second.context;
}

Status GpuSystem::info(int device, DeviceMemoryInfo& info) {
  note_assumption(device, Assumption::process_context);
  const std::lock_guard guard(mutex_);
  const Status status = open(device);
  if (status == Status::success) info = used(device).info();
  return status;
}

std::vector<SharedGpuMemory::Process> GpuSystem::processes_on(int number) {
  const std::lock_guard guard(mutex_);
  if (table_ != nullptr) return table_->processes(number);
  const int device = visible_device(number);
  if (device < 0 || !gpus_[static_cast<std::size_t>(device)].memory) return {};
  const DeviceMemoryInfo info = used(device).info();
  return {{static_cast<std::uint32_t>(getpid()), info.total_bytes - info.free_bytes}};
}

std::size_t GpuSystem::allocated_bytes(int device) {
  const std::lock_guard guard(mutex_);
  const auto& blocks = gpus_[static_cast<std::size_t>(device)].blocks;
  return std::accumulate(
      blocks.begin(), blocks.end(), std::size_t{0},
      [](std::size_t sum, const auto& block) { return sum + block.second.taken_bytes; });
}

}  // namespace ohm::interpose
