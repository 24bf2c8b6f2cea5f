// NVML: the devices, their memory, and the processes on them.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>

#include "allocator_shim/interpose/device_model.h"
#include "allocator_shim/interpose/entry_call.h"
#include "allocator_shim/interpose/exported.h"
#include "allocator_shim/interpose/gpu_system.h"
#include "allocator_shim/interpose/objects.h"
#include "allocator_shim/interpose/toolkit_version.h"

using namespace ohm::interpose;

namespace {

constexpr int kInvalidArgument = 2;
constexpr int kNotFound = 6;
constexpr int kInsufficientSize = 7;
constexpr int kGpuIsLost = 15;

/// NVML looks at GPUs without initializing CUDA.
GpuSystem& machine() { return GpuSystem::of_process(); }

/// A handle says which GPU of the machine it is of: here all of them are seen.
using Device = std::uintptr_t;
int number_of(Device device) { return static_cast<int>(device) - 1; }
bool is_there(int number) { return number >= 0 && number < machine().machine_count(); }

int found(int number, Device* device) {
  if (!is_there(number)) return kNotFound;
  if (is_device_lost(number)) return kGpuIsLost;
  *device = static_cast<Device>(number) + 1;
  return kLibrarySuccess;
}

int write_text(char* to, unsigned length, const std::string& text) {
  if (text.size() >= length) return kInsufficientSize;
  std::snprintf(to, length, "%s", text.c_str());
  return kLibrarySuccess;
}

struct MemoryInfo {
  std::uint64_t total, free, used;
};

struct MemoryInfo2 {
  unsigned version;
  std::uint64_t total, reserved, free, used;
};

MemoryInfo memory_of(int number) {
  const std::uint64_t total = machine().profile().capacity_bytes;
  std::uint64_t used = 0;
  for (const auto& process : machine().processes_on(number)) used += process.bytes;
  return {total, total - std::min(total, used), used};
}

struct Process1 {
  unsigned id;
  std::uint64_t used_bytes;
};

struct Process2 {
  unsigned id;
  std::uint64_t used_bytes;
  unsigned gpu_instance, compute_instance;
};

/// This one, when it has used the device, and those that share it.
template <typename Process>
int list_processes(Device device, unsigned* count, Process* processes) {
  if (!is_there(number_of(device))) return kInvalidArgument;
  if (is_device_lost(number_of(device))) return kGpuIsLost;
  const auto all = machine().processes_on(number_of(device));
  const unsigned room = *count;
  *count = static_cast<unsigned>(all.size());
  if (room < *count) return kInsufficientSize;
  for (std::size_t i = 0; i < all.size(); ++i) {
    processes[i] = {};
    processes[i].id = all[i].id;
    processes[i].used_bytes = all[i].bytes;
  }
  return kLibrarySuccess;
}

}  // namespace

OHM_EXPORTED int nvmlDeviceGetCount_v2(unsigned* count) {
  *count = static_cast<unsigned>(machine().machine_count());
  return kLibrarySuccess;
}

OHM_EXPORTED int nvmlDeviceGetHandleByIndex_v2(unsigned index, Device* device) {
  return found(static_cast<int>(index), device);
}

OHM_EXPORTED int nvmlDeviceGetHandleByPciBusId_v2(const char* bus, Device* device) {
  return found(device_of_pci_bus_id(bus), device);
}

OHM_EXPORTED int nvmlDeviceGetHandleByUUID(const char* uuid, Device* device) {
  for (int number = 0; number < machine().machine_count(); ++number) {
    if (uuid_text(number) == uuid) return found(number, device);
  }
  return kNotFound;
}

OHM_EXPORTED int nvmlDeviceGetIndex(Device device, unsigned* index) {
  *index = static_cast<unsigned>(number_of(device));
  return kLibrarySuccess;
}

OHM_EXPORTED int nvmlDeviceGetUUID(Device device, char* text, unsigned length) {
  return write_text(text, length, uuid_text(number_of(device)));
}

OHM_EXPORTED int nvmlDeviceGetName(Device /*device*/, char* text, unsigned length) {
  return write_text(text, length, product_name(machine().profile()));
}

OHM_EXPORTED int nvmlDeviceGetCudaComputeCapability(Device /*device*/, int* major, int* minor) {
  *major = machine().profile().compute_capability[0];
  *minor = machine().profile().compute_capability[1];
  return kLibrarySuccess;
}

OHM_EXPORTED int nvmlDeviceGetMemoryInfo(Device device, MemoryInfo* memory) {
  if (is_device_lost(number_of(device))) return kGpuIsLost;
  *memory = memory_of(number_of(device));
  return kLibrarySuccess;
}

OHM_EXPORTED int nvmlDeviceGetMemoryInfo_v2(Device device, MemoryInfo2* memory) {
  if (is_device_lost(number_of(device))) return kGpuIsLost;
  const MemoryInfo info = memory_of(number_of(device));
  *memory = {memory->version, info.total, 0, info.free, info.used};
  return kLibrarySuccess;
}

OHM_EXPORTED int nvmlDeviceGetComputeRunningProcesses(Device device, unsigned* count,
                                                      Process1* processes) {
  return list_processes(device, count, processes);
}

OHM_EXPORTED int nvmlDeviceGetComputeRunningProcesses_v2(Device device, unsigned* count,
                                                         Process2* processes) {
  return list_processes(device, count, processes);
}

OHM_EXPORTED int nvmlDeviceGetComputeRunningProcesses_v3(Device device, unsigned* count,
                                                         Process2* processes) {
  return list_processes(device, count, processes);
}

OHM_EXPORTED int nvmlDeviceGetP2PStatus(Device /*device*/, Device /*peer*/, int /*capability*/,
                                        int* status) {
  constexpr int kPossible = 0;
  *status = kPossible;
  return kLibrarySuccess;
}

OHM_EXPORTED int nvmlSystemGetCudaDriverVersion_v2(int* version) {
  *version = kToolkit13.cuda;
  return kLibrarySuccess;
}

OHM_EXPORTED int nvmlSystemGetCudaDriverVersion(int* version) {
  return nvmlSystemGetCudaDriverVersion_v2(version);
}

OHM_EXPORTED int nvmlSystemGetDriverVersion(char* text, unsigned length) {
  return write_text(text, length, "595.00");  // the first with CUDA 13.2
}
