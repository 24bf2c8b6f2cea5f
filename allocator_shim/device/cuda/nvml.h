// NVML, NVIDIA's library for monitoring: who holds what of a device, seen from outside. Opened
// while the program runs; it needs no context and takes nothing of a device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "allocator_shim/device/cuda/shared_library.h"
#include "allocator_shim/device/device_memory.h"

namespace ohm::cuda {

using NvmlResult = int;  ///< 0 is success
using NvmlDevice = struct OpaqueNvmlDevice*;

/// Its second version, which tells what the driver keeps for itself from what is used, as
/// nvidia-smi does.
struct NvmlMemory {
  unsigned version = sizeof(NvmlMemory) | 2U << 24U;
  unsigned long long total = 0;
  unsigned long long reserved = 0;
  unsigned long long free = 0;
  unsigned long long used = 0;
};

struct NvmlUtilization {
  unsigned gpu = 0;
  unsigned memory = 0;
};

struct NvmlProcess {
  unsigned id = 0;
  unsigned long long bytes = 0;
  unsigned gpu_instance = 0;
  unsigned compute_instance = 0;
};

inline constexpr NvmlResult kNvmlInsufficientSize = 7;
/// What NVML says instead of a process's bytes where it may not tell.
inline constexpr unsigned long long kNvmlUnknownBytes = ~0ULL;

// ROW(name here, symbol, parameters...)
#define OHM_FOR_EACH_NVML_FUNCTION(ROW)                                                          \
  ROW(init, "nvmlInit_v2", void)                                                                 \
  ROW(shutdown, "nvmlShutdown", void)                                                            \
  ROW(device_count, "nvmlDeviceGetCount_v2", unsigned*)                                          \
  ROW(device_by_index, "nvmlDeviceGetHandleByIndex_v2", unsigned, NvmlDevice*)                   \
  ROW(device_by_bus_id, "nvmlDeviceGetHandleByPciBusId_v2", const char*, NvmlDevice*)            \
  ROW(device_name, "nvmlDeviceGetName", NvmlDevice, char*, unsigned)                             \
  ROW(memory_info, "nvmlDeviceGetMemoryInfo_v2", NvmlDevice, NvmlMemory*)                        \
  ROW(utilization, "nvmlDeviceGetUtilizationRates", NvmlDevice, NvmlUtilization*)                \
  ROW(processes, "nvmlDeviceGetComputeRunningProcesses_v3", NvmlDevice, unsigned*, NvmlProcess*) \
  ROW(driver_version, "nvmlSystemGetDriverVersion", char*, unsigned)

struct NvmlFunctions {
#define OHM_ROW(member, symbol, ...) NvmlResult (*member)(__VA_ARGS__) = nullptr;
  OHM_FOR_EACH_NVML_FUNCTION(OHM_ROW)
#undef OHM_ROW
};

/// A device as nvidia-smi lists it.
struct MonitoredDevice {
  std::string name;
  std::size_t used_bytes = 0;
  std::size_t total_bytes = 0;
  int utilization_percent = 0;
};

class Nvml {
 public:
  /// Throws GpuUnavailable that says what is missing.
  explicit Nvml(const std::string& path);
  ~Nvml();
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  /// Of the driver: "580.65.06".
  std::string driver_version() const;
  /// In nvidia-smi's order. Throws std::runtime_error.
  std::vector<MonitoredDevice> devices() const;
  /// Processes with a context on the device, as NVML orders them; `is_own` says which is `own_id`.
  /// Empty where NVML does not know the device or may not tell.
  std::vector<DeviceProcess> processes(const std::string& pci_bus_id, std::uint32_t own_id) const;

 private:
  void check(NvmlResult code, const char* call) const;

  SharedLibrary library_;
  NvmlFunctions functions_;
};

}  // namespace ohm::cuda
