// The driver's functions. Their symbols and signatures come from the table that ohm looks them up
// by: one that is missing here does not link, one that differs does not compile.
#include <algorithm>
#include <cstring>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "allocator_shim/device/cuda/driver_functions.h"
#include "runtime/ops/kernels/line_twins.h"
#include "runtime/ops/kernels/loop_twins.h"
#include "tests/support/stand_in_driver/machine.h"

namespace ohm::stand_in::driver {

using ops::kernels::LineKernel;
using ops::kernels::LoopKernel;
using namespace cuda;  // NOLINT(google-build-using-namespace): the signatures are written in it

#define OHM_ROW(member, header_name, symbol, ...) \
  __attribute__((visibility("default"))) Result member(__VA_ARGS__) __asm__(symbol);
OHM_FOR_EACH_DRIVER_FUNCTION(OHM_ROW)
#undef OHM_ROW

namespace {

Card* card_of(DeviceHandle device) {
  Machine& now = machine();
  const bool exists = device >= 0 && device < static_cast<int>(now.cards.size());
  return exists ? &now.cards[static_cast<std::size_t>(device)] : nullptr;
}

Result copy_text(const std::string& text, char* to, int room) {
  if (static_cast<int>(text.size()) >= room) return kInvalidValue;
  std::memcpy(to, text.c_str(), text.size() + 1);
  return kSuccess;
}

}  // namespace

// ---- the driver and its cards -------------------------------------------------------------------

Result init(unsigned flags) {
  Machine& now = machine();
  if (const int error = now.begin("cuInit", false)) return error;
  if (flags != 0) return now.wrong("cuInit with flags");
  if (now.devices == 0) return kNoDevice;
  now.is_initialized = true;
  while (static_cast<int>(now.cards.size()) < now.devices) {
    now.cards.emplace_back(static_cast<int>(now.cards.size()));
  }
  return kSuccess;
}

Result driver_version(int* version) {
  *version = machine().version;
  return kSuccess;
}

Result error_name(Result code, const char** name) {
  *name = code == kIllegalAddress ? "CUDA_ERROR_ILLEGAL_ADDRESS" : "CUDA_ERROR_STAND_IN";
  return kSuccess;
}

Result error_text(Result code, const char** text) {
  *text = code == kIllegalAddress ? "an illegal memory access was encountered" : "as it was told";
  return kSuccess;
}

Result device_count(int* count) {
  *count = machine().devices;
  return machine().is_initialized ? kSuccess : kNotInitialized;
}

Result device_get(DeviceHandle* device, int ordinal) {
  if (card_of(ordinal) == nullptr) return machine().wrong("cuDeviceGet of no card");
  *device = ordinal;
  return kSuccess;
}

Result device_name(char* name, int room, DeviceHandle device) {
  return copy_text("Stand-in " + std::to_string(device), name, room);
}

Result device_attribute(int* value, int which, DeviceHandle /*device*/) {
  switch (which) {
    case kMultiprocessorCount:
      *value = 108;
      return kSuccess;
    case kMaxThreadsPerMultiprocessor:
      *value = 2048;
      return kSuccess;
    case kComputeCapabilityMajor:
      *value = 8;
      return kSuccess;
    case kComputeCapabilityMinor:
      *value = 0;
      return kSuccess;
    default:
      return kInvalidValue;
  }
}

Result device_total_memory(std::size_t* bytes, DeviceHandle /*device*/) {
  *bytes = machine().capacity_bytes;
  return kSuccess;
}

Result device_pci_bus_id(char* text, int room, DeviceHandle device) {
  return copy_text("0000:0" + std::to_string(device) + ":00.0", text, room);
}

// ---- contexts -----------------------------------------------------------------------------------

Result context_retain(ContextHandle* context, DeviceHandle device) {
  Machine& now = machine();
  if (const int error = now.begin("cuDevicePrimaryCtxRetain", false)) return error;
  Card* const card = card_of(device);
  if (card == nullptr) return now.wrong("a context on no card");
  if (!card->context) {
    VirtualGpuOptions options;
    options.context_bytes = now.context_bytes;
    options.device = device;
    options.values = ValueMode::keeps_values;
    card->context = std::make_unique<VirtualGpu>(card->memory, options);
  }
  ++card->context_uses;
  *context = reinterpret_cast<ContextHandle>(card);
  return kSuccess;
}

Result context_release(DeviceHandle device) {
  Card* const card = card_of(device);
  if (card == nullptr || card->context_uses == 0) {
    return machine().wrong("a context released that nobody holds");
  }
  if (--card->context_uses > 0) return kSuccess;
  if (machine().current == card) machine().current = nullptr;
  const bool is_empty = card->segments.empty() && card->ranges.empty();
  card->segments.clear();
  card->ranges.clear();
  card->mapped.clear();
  card->context.reset();
  return is_empty ? kSuccess : machine().wrong("a context released with memory in it");
}

Result context_set_current(ContextHandle context) {
  Machine& now = machine();
  if (const int error = now.begin("cuCtxSetCurrent", false)) return error;
  now.current = reinterpret_cast<Card*>(context);
  return kSuccess;
}

Result context_synchronize() { return machine().begin("cuCtxSynchronize"); }

Result peer_can_access(int* can_access, DeviceHandle device, DeviceHandle peer) {
  *can_access = static_cast<int>(device != peer);
  return kSuccess;
}

Result peer_enable_access(ContextHandle /*context*/, unsigned flags) {
  Machine& now = machine();
  if (const int error = now.begin("cuCtxEnablePeerAccess")) return error;
  if (flags != 0) return now.wrong("peer access with flags");
  return now.calls["cuCtxEnablePeerAccess"] > 1 ? kPeerAccessAlreadyEnabled : kSuccess;
}

// ---- memory -------------------------------------------------------------------------------------

Result memory_info(std::size_t* free_bytes, std::size_t* total_bytes) {
  Machine& now = machine();
  if (const int error = now.begin("cuMemGetInfo_v2")) return error;
  std::size_t unmapped = 0;
  for (const auto& [handle, bytes] : now.chunks) unmapped += bytes;
  *free_bytes = now.card().context->info().free_bytes - unmapped;
  *total_bytes = now.capacity_bytes;
  return kSuccess;
}

Result memory_allocate(Pointer* address, std::size_t bytes) {
  Machine& now = machine();
  if (const int error = now.begin("cuMemAlloc_v2")) return error;
  if (bytes == 0) return now.wrong("cuMemAlloc of nothing");
  const auto segment = now.card().context->allocate_segment(bytes);
  if (!segment) return kOutOfMemory;
  now.card().segments.emplace(*segment, bytes);
  *address = *segment;
  return kSuccess;
}

Result memory_free(Pointer address) {
  Machine& now = machine();
  if (const int error = now.begin("cuMemFree_v2")) return error;
  const auto found = now.card().segments.find(address);
  if (found == now.card().segments.end()) return now.wrong("cuMemFree of what is no segment here");
  now.card().context->free_segment(address, found->second);
  now.card().segments.erase(found);
  return kSuccess;
}

Result address_reserve(Pointer* address, std::size_t bytes, std::size_t /*alignment*/,
                       Pointer /*hint*/, unsigned long long /*flags*/) {
  Machine& now = machine();
  if (const int error = now.begin("cuMemAddressReserve")) return error;
  if (bytes % AddressSpace::kGranuleBytes != 0) return now.wrong("a range of no whole granules");
  *address = now.card().context->reserve_range(bytes);
  now.card().ranges.emplace(*address, bytes);
  return kSuccess;
}

Result address_free(Pointer address, std::size_t bytes) {
  Machine& now = machine();
  if (const int error = now.begin("cuMemAddressFree")) return error;
  const auto found = now.card().ranges.find(address);
  if (found == now.card().ranges.end() || found->second != bytes) {
    return now.wrong("cuMemAddressFree of what is no range");
  }
  const auto mapped = now.card().mapped.lower_bound(address);
  if (mapped != now.card().mapped.end() && mapped->first < address + bytes) {
    return now.wrong("cuMemAddressFree of a range with memory in it");
  }
  now.card().context->release_range(address, bytes);
  now.card().ranges.erase(found);
  return kSuccess;
}

Result chunk_granularity(std::size_t* bytes, const AllocationProperties* properties, int which) {
  Machine& now = machine();
  if (const int error = now.begin("cuMemGetAllocationGranularity")) return error;
  if (properties->location.type != kDeviceLocation || which != kMinimumGranularity) {
    return now.wrong("the granularity of something else");
  }
  *bytes = AddressSpace::kGranuleBytes;
  return kSuccess;
}

Result chunk_create(AllocationHandle* handle, std::size_t bytes,
                    const AllocationProperties* properties, unsigned long long flags) {
  Machine& now = machine();
  if (const int error = now.begin("cuMemCreate")) return error;
  const bool makes_sense = properties->type == kPinnedAllocation &&
                           properties->location.type == kDeviceLocation &&
                           properties->location.id == now.card().index && flags == 0 &&
                           bytes % AddressSpace::kGranuleBytes == 0;
  if (!makes_sense) return now.wrong("cuMemCreate with properties that make no sense");
  if (bytes > now.card().context->info().free_bytes) return kOutOfMemory;
  *handle = now.next_chunk++;
  now.chunks.emplace(*handle, bytes);
  return kSuccess;
}

Result chunk_release(AllocationHandle handle) {
  Machine& now = machine();
  if (const int error = now.begin("cuMemRelease")) return error;
  if (now.chunks.erase(handle) == 0) return now.wrong("cuMemRelease of no handle");
  return kSuccess;
}

Result chunk_map(Pointer address, std::size_t bytes, std::size_t offset, AllocationHandle handle,
                 unsigned long long flags) {
  Machine& now = machine();
  if (const int error = now.begin("cuMemMap")) return error;
  const auto chunk = now.chunks.find(handle);
  if (chunk == now.chunks.end() || chunk->second != bytes || offset != 0 || flags != 0) {
    return now.wrong("cuMemMap of what was not created so");
  }
  const auto after = now.card().ranges.upper_bound(address);
  const bool in_range = after != now.card().ranges.begin() &&
                        address + bytes <= std::prev(after)->first + std::prev(after)->second;
  if (!in_range) return now.wrong("cuMemMap outside any range");
  if (now.card().mapped.count(address) > 0) return now.wrong("cuMemMap twice");
  now.card().context->map(address, bytes, bytes);
  now.card().mapped.emplace(address, bytes);
  return kSuccess;
}

Result chunk_unmap(Pointer address, std::size_t bytes) {
  Machine& now = machine();
  if (const int error = now.begin("cuMemUnmap")) return error;
  const auto found = now.card().mapped.find(address);
  if (found == now.card().mapped.end() || found->second != bytes) {
    return now.wrong("cuMemUnmap of what was not mapped so");
  }
  now.card().context->unmap(address, bytes, bytes);
  now.card().mapped.erase(found);
  return kSuccess;
}

Result chunk_set_access(Pointer address, std::size_t bytes, const AccessDescription* access,
                        std::size_t count) {
  Machine& now = machine();
  if (const int error = now.begin("cuMemSetAccess")) return error;
  std::size_t mapped = 0;
  for (auto at = now.card().mapped.lower_bound(address);
       at != now.card().mapped.end() && at->first < address + bytes; ++at) {
    mapped += at->second;
  }
  if (mapped != bytes || count != 1 || access->flags != kReadWriteAccess) {
    return now.wrong("cuMemSetAccess of what is not mapped");
  }
  return kSuccess;
}

Result host_allocate(void** memory, std::size_t bytes, unsigned flags) {
  Machine& now = machine();
  if (const int error = now.begin("cuMemHostAlloc")) return error;
  if (flags != kPortableHostMemory) return now.wrong("page-locked memory of another kind");
  auto block = std::make_unique<char[]>(bytes);
  *memory = block.get();
  now.host_blocks.emplace(*memory, std::move(block));
  return kSuccess;
}

Result host_free(void* memory) {
  Machine& now = machine();
  if (const int error = now.begin("cuMemFreeHost")) return error;
  if (now.host_blocks.erase(memory) == 0) return now.wrong("cuMemFreeHost of what is not");
  return kSuccess;
}

// ---- streams and events -------------------------------------------------------------------------

namespace {

bool is_stream(StreamHandle stream) {
  return stream == nullptr || machine().streams.count(stream) > 0;
}

}  // namespace

Result stream_create(StreamHandle* stream, unsigned flags) {
  Machine& now = machine();
  if (const int error = now.begin("cuStreamCreate")) return error;
  if (flags != kNonBlockingStream) return now.wrong("a stream that waits for the default one");
  *stream = reinterpret_cast<StreamHandle>(new char);
  now.streams.insert(*stream);
  return kSuccess;
}

Result stream_destroy(StreamHandle stream) {
  Machine& now = machine();
  if (const int error = now.begin("cuStreamDestroy_v2")) return error;
  if (now.streams.erase(stream) == 0) return now.wrong("cuStreamDestroy of no stream");
  delete reinterpret_cast<char*>(stream);
  return kSuccess;
}

Result stream_synchronize(StreamHandle stream) {
  Machine& now = machine();
  if (const int error = now.begin("cuStreamSynchronize")) return error;
  return is_stream(stream) ? kSuccess : now.wrong("no stream", kInvalidHandle);
}

Result stream_wait_event(StreamHandle stream, EventHandle event, unsigned /*flags*/) {
  Machine& now = machine();
  if (const int error = now.begin("cuStreamWaitEvent")) return error;
  const auto found = now.events.find(event);
  if (!is_stream(stream) || found == now.events.end() || !found->second.is_recorded) {
    return now.wrong("cuStreamWaitEvent for what was not recorded", kInvalidHandle);
  }
  return kSuccess;
}

Result event_create(EventHandle* event, unsigned flags) {
  Machine& now = machine();
  if (const int error = now.begin("cuEventCreate")) return error;
  if (flags != kEventWithoutTiming) return now.wrong("an event that takes the time");
  *event = reinterpret_cast<EventHandle>(new char);
  now.events[*event] = {};
  return kSuccess;
}

Result event_destroy(EventHandle event) {
  Machine& now = machine();
  if (const int error = now.begin("cuEventDestroy_v2", false)) return error;
  if (now.events.erase(event) == 0) return now.wrong("cuEventDestroy of no event");
  delete reinterpret_cast<char*>(event);
  return kSuccess;
}

Result event_record(EventHandle event, StreamHandle stream) {
  Machine& now = machine();
  if (const int error = now.begin("cuEventRecord")) return error;
  if (!is_stream(stream) || now.events.count(event) == 0) return now.wrong("cuEventRecord");
  now.events[event] = {stream, true};
  return kSuccess;
}

/// Never done by itself: who relies on it has to wait.
Result event_query(EventHandle event) {
  Machine& now = machine();
  if (const int error = now.begin("cuEventQuery")) return error;
  if (now.events.count(event) == 0) return now.wrong("cuEventQuery of no event");
  return kNotReady;
}

Result event_synchronize(EventHandle event) {
  Machine& now = machine();
  if (const int error = now.begin("cuEventSynchronize")) return error;
  const auto found = now.events.find(event);
  if (found == now.events.end() || !found->second.is_recorded) {
    return now.wrong("cuEventSynchronize of what was not recorded");
  }
  return kSuccess;
}

// ---- copies and kernels -------------------------------------------------------------------------

namespace {

constexpr Result kInvalidImage = 200;

void* memory_at(Pointer address, std::size_t bytes) {
  return memory_at(machine().card(), address, bytes);
}

/// One of the two is there.
struct Kernel {
  std::string symbol;
  const LoopKernel* loop = nullptr;
  const LineKernel* line = nullptr;
};

const std::vector<Kernel>& kernels() {
  static const std::vector<LoopKernel> loops = ops::kernels::loop_kernels();
  static const std::vector<LineKernel> lines = ops::kernels::line_kernels();
  static const std::vector<Kernel> all = [] {
    std::vector<Kernel> made;
    for (const LoopKernel& loop : loops) made.push_back({loop.symbol(), &loop, nullptr});
    for (const LineKernel& line : lines) made.push_back({line.symbol(), nullptr, &line});
    return made;
  }();
  return all;
}

template <class T>
Result fill(Pointer to, T item, std::size_t count) {
  if (to % sizeof item != 0) return machine().wrong("a misaligned fill");
  auto* const memory = static_cast<T*>(memory_at(to, count * sizeof item));
  if (memory == nullptr) return kInvalidValue;
  std::fill_n(memory, count, item);
  return kSuccess;
}

}  // namespace

Result copy_to_device(Pointer to, const void* from, std::size_t bytes) {
  if (const int error = machine().begin("cuMemcpyHtoD_v2")) return error;
  void* const memory = memory_at(to, bytes);
  if (memory == nullptr) return kInvalidValue;
  std::memcpy(memory, from, bytes);
  return kSuccess;
}

Result copy_from_device(void* to, Pointer from, std::size_t bytes) {
  if (const int error = machine().begin("cuMemcpyDtoH_v2")) return error;
  const void* const memory = memory_at(from, bytes);
  if (memory == nullptr) return kInvalidValue;
  std::memcpy(to, memory, bytes);
  return kSuccess;
}

Result copy_on_device(Pointer to, Pointer from, std::size_t bytes) {
  if (const int error = machine().begin("cuMemcpyDtoD_v2")) return error;
  void* const target = memory_at(to, bytes);
  const void* const source = memory_at(from, bytes);
  if (target == nullptr || source == nullptr) return kInvalidValue;
  if (to < from + bytes && from < to + bytes) return machine().wrong("a copy over itself");
  std::memcpy(target, source, bytes);
  return kSuccess;
}

Result copy_to_peer(Pointer to, ContextHandle to_context, Pointer from, ContextHandle from_context,
                    std::size_t bytes) {
  if (const int error = machine().begin("cuMemcpyPeer")) return error;
  void* const target = memory_at(*reinterpret_cast<Card*>(to_context), to, bytes);
  const void* const source = memory_at(*reinterpret_cast<Card*>(from_context), from, bytes);
  if (target == nullptr || source == nullptr) return kInvalidValue;
  std::memcpy(target, source, bytes);
  return kSuccess;
}

Result set_bytes(Pointer to, unsigned char item, std::size_t count) {
  if (const int error = machine().begin("cuMemsetD8_v2")) return error;
  return fill(to, item, count);
}

Result set_halves(Pointer to, unsigned short item, std::size_t count) {
  if (const int error = machine().begin("cuMemsetD16_v2")) return error;
  return fill(to, item, count);
}

Result set_words(Pointer to, unsigned item, std::size_t count) {
  if (const int error = machine().begin("cuMemsetD32_v2")) return error;
  return fill(to, item, count);
}

Result module_load(ModuleHandle* module, const void* image) {
  Machine& now = machine();
  if (const int error = now.begin("cuModuleLoadData")) return error;
  constexpr unsigned kFatbin = 0xba55ed50;
  unsigned magic = 0;
  std::memcpy(&magic, image, sizeof magic);
  if (magic != kFatbin) return kInvalidImage;
  auto loaded = std::make_unique<char>();
  *module = reinterpret_cast<ModuleHandle>(loaded.get());
  now.modules.emplace(*module, std::move(loaded));
  return kSuccess;
}

Result module_unload(ModuleHandle module) {
  Machine& now = machine();
  if (const int error = now.begin("cuModuleUnload")) return error;
  if (now.modules.erase(module) == 0) return now.wrong("cuModuleUnload of no module");
  return kSuccess;
}

Result module_function(FunctionHandle* function, ModuleHandle module, const char* name) {
  Machine& now = machine();
  if (const int error = now.begin("cuModuleGetFunction")) return error;
  if (now.modules.count(module) == 0) return now.wrong("cuModuleGetFunction of no module");
  for (const Kernel& kernel : kernels()) {
    if (kernel.symbol != name) continue;
    *function = reinterpret_cast<FunctionHandle>(const_cast<Kernel*>(&kernel));
    return kSuccess;
  }
  return kNotFound;
}

namespace {

/// Puts the address of the operand's memory on this side in its place; false, and a note, where it
/// reaches outside what was allocated.
bool to_host(const CardLoop& loop, CardOperand& operand) {
  if (operand.is_number) return true;
  std::int64_t last = 0;
  for (int dim = 0; dim < loop.dims; ++dim) {
    if (operand.strides[dim] < 0) machine().wrong("a stride backwards");
    last += (loop.sizes[dim] - 1) * operand.strides[dim];
  }
  const std::size_t bytes = (static_cast<std::size_t>(last) + 1) * item_bytes(operand.dtype);
  operand.address = reinterpret_cast<std::uintptr_t>(memory_at(operand.address, bytes));
  return operand.address != 0;
}

bool to_host(LineOperand& operand) {
  if (operand.address == 0) return true;
  const std::size_t bytes = static_cast<std::size_t>(operand.count) * item_bytes(operand.dtype);
  operand.address = reinterpret_cast<std::uintptr_t>(memory_at(operand.address, bytes));
  return operand.address != 0;
}

/// What a kernel wrote first.
struct Written {
  void* memory = nullptr;
  std::size_t item_bytes = 0;
};

// False where it would reach outside what was allocated.
bool run(const LoopKernel& kernel, const void* call, const void* parameters, Written& written) {
  CardLoop loop = *static_cast<const CardLoop*>(call);
  bool is_there = to_host(loop, loop.out);
  for (int i = 0; i < kernel.inputs; ++i) is_there = to_host(loop, loop.in[i]) && is_there;
  if (!is_there) return false;
  kernel.twin(loop, parameters);
  written = {reinterpret_cast<void*>(loop.out.address), item_bytes(loop.out.dtype)};
  return true;
}

bool run(const LineKernel& kernel, const void* call, const void* parameters, Written& written) {
  CardLines lines = *static_cast<const CardLines*>(call);
  bool is_there = true;
  for (int i = 0; i < lines.operand_count; ++i) {
    is_there = to_host(lines.operands[i]) && is_there;
  }
  if (!is_there) return false;
  kernel.twin(lines, parameters);
  written = {reinterpret_cast<void*>(lines.operands[0].address),
             item_bytes(lines.operands[0].dtype)};
  return true;
}

}  // namespace

Result launch(FunctionHandle function, unsigned blocks, unsigned blocks_y, unsigned blocks_z,
              unsigned threads, unsigned threads_y, unsigned threads_z, unsigned /*shared_bytes*/,
              StreamHandle /*stream*/, void** arguments, void** /*extra*/) {
  Machine& now = machine();
  if (const int error = now.begin("cuLaunchKernel")) return error;
  const bool makes_sense = blocks > 0 && blocks_y == 1 && blocks_z == 1 && threads > 0 &&
                           threads <= 1024 && threads_y == 1 && threads_z == 1;
  if (!makes_sense) return now.wrong("cuLaunchKernel with another grid");
  const auto& kernel = *reinterpret_cast<const Kernel*>(function);
  Written written;
  const bool is_allowed = kernel.loop != nullptr
                              ? run(*kernel.loop, arguments[0], arguments[1], written)
                              : run(*kernel.line, arguments[0], arguments[1], written);
  if (!is_allowed) return kIllegalAddress;
  if (now.wrong_kernel == kernel.symbol) std::memset(written.memory, 0x3c, written.item_bytes);
  return kSuccess;
}

}  // namespace ohm::stand_in::driver
