// NVML's functions, on the same cards.
#include <unistd.h>

#include <cstring>
#include <string>

#include "allocator_shim/device/cuda/nvml.h"
#include "tests/support/stand_in_driver/machine.h"

namespace ohm::stand_in::nvml {

using namespace cuda;  // NOLINT(google-build-using-namespace): the signatures are written in it

#define OHM_ROW(member, symbol, ...) \
  __attribute__((visibility("default"))) NvmlResult member(__VA_ARGS__) __asm__(symbol);
OHM_FOR_EACH_NVML_FUNCTION(OHM_ROW)
#undef OHM_ROW

namespace {

constexpr NvmlResult kInvalidArgument = 2;
constexpr NvmlResult kNotFound = 6;

/// Cards count from 1 here: a null pointer is none.
unsigned index_of(NvmlDevice device) {
  return static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(device)) - 1;
}

std::size_t used_bytes(unsigned index) {
  const Machine& now = machine();
  return index < now.cards.size() ? now.cards[index].memory->used_bytes() : 0;
}

NvmlResult copy_text(const std::string& text, char* to, unsigned room) {
  if (text.size() >= room) return kNvmlInsufficientSize;
  std::memcpy(to, text.c_str(), text.size() + 1);
  return 0;
}

}  // namespace

NvmlResult init() { return machine().begin("nvmlInit_v2", false); }
NvmlResult shutdown() { return machine().begin("nvmlShutdown", false); }

NvmlResult device_count(unsigned* count) {
  *count = static_cast<unsigned>(machine().devices);
  return 0;
}

NvmlResult device_by_index(unsigned index, NvmlDevice* device) {
  if (index >= static_cast<unsigned>(machine().devices)) return kInvalidArgument;
  *device = reinterpret_cast<NvmlDevice>(static_cast<std::uintptr_t>(index) + 1);
  return 0;
}

NvmlResult device_by_bus_id(const char* bus_id, NvmlDevice* device) {
  for (int index = 0; index < machine().devices; ++index) {
    if (bus_id != "0000:0" + std::to_string(index) + ":00.0") continue;
    return device_by_index(static_cast<unsigned>(index), device);
  }
  return kNotFound;
}

NvmlResult device_name(NvmlDevice device, char* name, unsigned room) {
  return copy_text(machine().name_of(index_of(device)), name, room);
}

NvmlResult memory_info(NvmlDevice device, NvmlMemory* memory) {
  if (memory->version != NvmlMemory().version) return kInvalidArgument;
  memory->total = machine().capacity_bytes;
  memory->reserved = machine().reserved_bytes;
  memory->used = used_bytes(index_of(device));
  memory->free = memory->total - memory->reserved - memory->used;
  return 0;
}

NvmlResult utilization(NvmlDevice /*device*/, NvmlUtilization* utilization) {
  *utilization = {37, 5};
  return 0;
}

/// This process, and others of which NVML may not tell what they hold.
NvmlResult processes(NvmlDevice device, unsigned* count, NvmlProcess* processes) {
  if (const NvmlResult error = machine().begin("nvmlDeviceGetComputeRunningProcesses_v3", false)) {
    return error;
  }
  const unsigned room = *count;
  *count = 1 + machine().others;
  if (room < *count) return kNvmlInsufficientSize;
  processes[0] = {static_cast<unsigned>(::getpid()), used_bytes(index_of(device)), 0, 0};
  for (unsigned other = 1; other < *count; ++other) {
    processes[other] = {other, kNvmlUnknownBytes, 0, 0};
  }
  return 0;
}

NvmlResult driver_version(char* text, unsigned room) { return copy_text("580.00", text, room); }

}  // namespace ohm::stand_in::nvml
