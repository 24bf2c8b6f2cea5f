#include "allocator_shim/device/cuda/nvml.h"

#include <fmt/format.h>

#include <array>
#include <stdexcept>

namespace ohm::cuda {
namespace {

NvmlFunctions nvml_functions_of(const SharedLibrary& library) {
  NvmlFunctions functions;
#define OHM_ROW(member, symbol, ...) library.find(symbol, functions.member);
  OHM_FOR_EACH_NVML_FUNCTION(OHM_ROW)
#undef OHM_ROW
  return functions;
}

}  // namespace

Nvml::Nvml(const std::string& path)
    : library_(path, "NVML"), functions_(nvml_functions_of(library_)) {
  const NvmlResult initialized = functions_.init();
  if (initialized == 0) return;
  throw GpuUnavailable(fmt::format("{}: nvmlInit_v2 failed with {}", path, initialized));
}

Nvml::~Nvml() { functions_.shutdown(); }

void Nvml::check(NvmlResult code, const char* call) const {
  if (code == 0) return;
  throw std::runtime_error(fmt::format("{}: {} failed with {}", library_.path(), call, code));
}

std::string Nvml::driver_version() const {
  std::array<char, 96> text{};
  check(functions_.driver_version(text.data(), static_cast<unsigned>(text.size())),
        "nvmlSystemGetDriverVersion");
  return text.data();
}

std::vector<MonitoredDevice> Nvml::devices() const {
  unsigned count = 0;
  check(functions_.device_count(&count), "nvmlDeviceGetCount_v2");
  std::vector<MonitoredDevice> devices;
  for (unsigned index = 0; index < count; ++index) {
    NvmlDevice device = nullptr;
    check(functions_.device_by_index(index, &device), "nvmlDeviceGetHandleByIndex_v2");
    std::array<char, 96> name{};
    check(functions_.device_name(device, name.data(), static_cast<unsigned>(name.size())),
          "nvmlDeviceGetName");
    NvmlMemory memory;
    check(functions_.memory_info(device, &memory), "nvmlDeviceGetMemoryInfo_v2");
    NvmlUtilization utilization;  // not told of a device that is split into instances: 0
    functions_.utilization(device, &utilization);
    devices.push_back({name.data(), memory.used, memory.total, static_cast<int>(utilization.gpu)});
  }
  return devices;
}

std::vector<DeviceProcess> Nvml::processes(const std::string& pci_bus_id,
                                           std::uint32_t own_id) const {
  NvmlDevice device = nullptr;
  if (functions_.device_by_bus_id(pci_bus_id.c_str(), &device) != 0) return {};
  std::vector<NvmlProcess> found(16);
  NvmlResult result = kNvmlInsufficientSize;
  while (result == kNvmlInsufficientSize) {
    auto count = static_cast<unsigned>(found.size());
    result = functions_.processes(device, &count, found.data());
    // Others may come in the meantime.
    found.resize(result == kNvmlInsufficientSize ? 2 * found.size() + count : count);
  }
  std::vector<DeviceProcess> processes;
  if (result != 0) return processes;
  for (const NvmlProcess& process : found) {
    const std::size_t bytes = process.bytes == kNvmlUnknownBytes ? 0 : process.bytes;
    processes.push_back({process.id, process.id == own_id, bytes});
  }
  return processes;
}

}  // namespace ohm::cuda
