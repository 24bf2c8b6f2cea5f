// The files of NVIDIA's driver in /dev: which of them a machine with these GPUs has.
#include <charconv>
#include <string_view>

#include "allocator_shim/interpose/exported.h"
#include "allocator_shim/interpose/gpu_system.h"

using namespace ohm::interpose;

/// For file_calls.cpp, in the library that is preloaded: the minor number of /dev/nvidia0 and of
/// /dev/nvidiactl; -1: there is no such file.
OHM_EXPORTED int ohm_minor_of_device_file(const char* path) {
  constexpr int kMinorOfControl = 255;
  constexpr std::string_view kPrefix = "/dev/nvidia";
  std::string_view name = path;
  if (!name.starts_with(kPrefix)) return -1;
  name.remove_prefix(kPrefix.size());
  if (name == "ctl") return kMinorOfControl;
  int number = 0;
  const auto [end, failed] = std::from_chars(name.data(), name.data() + name.size(), number);
  const bool is_number = failed == std::errc() && end == name.data() + name.size();
  return is_number && number < GpuSystem::of_process().machine_count() ? number : -1;
}
