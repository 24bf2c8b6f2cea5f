// cuGetProcAddress and cudaGetDriverEntryPoint: functions of the driver by name.
#include <dlfcn.h>
#include <fmt/format.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <string>

#include "allocator_shim/interpose/exported.h"
#include "allocator_shim/interpose/function_table.h"
#include "allocator_shim/interpose/status.h"
#include "allocator_shim/interpose/stub.h"

using namespace ohm::interpose;

namespace {

/// Functions whose second version takes other arguments, and came in a release after CUDA 12.0.
bool is_before_second_version(const std::string& name, int release) {
  constexpr int kOfLocations = 12'020;
  const bool takes_location = name == "cuMemPrefetchAsync" || name == "cuMemAdvise";
  return takes_location && release > 0 && release < kOfLocations;
}

/// Programs name a function without its version and get the newest that was there in the release
/// they ask for (0: any); hardly anything here is so old that programs still ask for what came
/// before.
Function find_newest(const std::string& name, int release) {
  if (is_before_second_version(name, release)) return find_in_driver(name);
  for (const char* version : {"_v3", "_v2", ""}) {
    if (const Function function = find_in_driver(name + version)) return function;
  }
  return nullptr;
}

/// Once.
void report_stripped_runtime(const char* file) {
  static std::atomic<bool> is_reported = false;
  if (is_reported.exchange(true)) return;
  fmt::print(stderr,
             "ohm: {} contains a CUDA runtime whose symbols are stripped, so it sees no virtual "
             "GPU: build it with nvcc -cudart shared, or do not strip it\n",
             file);
}

}  // namespace

OHM_EXPORTED Status cuGetProcAddress_v2(const char* name, Function* function, int version,
                                        std::uint64_t /*flags*/, int* found) {
  constexpr int kFound = 0;
  constexpr int kNotFound = 1;
  *function = find_newest(name, version);
  if (found != nullptr) *found = *function != nullptr ? kFound : kNotFound;
  return *function != nullptr ? Status::success : Status::not_found;
}

/// Tables that NVIDIA does not document. A copy of CUDA's runtime needs them, and calls this only
/// where it was not redirected: its symbols are not there.
OHM_EXPORTED Status cuGetExportTable(const void** table, const void* /*id*/) {
  *table = nullptr;
  Dl_info caller = {};
  const bool is_known = dladdr(__builtin_return_address(0), &caller) != 0;
  report_stripped_runtime(is_known ? caller.dli_fname : "a library");
  return Status::not_supported;
}

OHM_EXPORTED Status cuGetProcAddress(const char* name, Function* function, int version,
                                     std::uint64_t flags) {
  return cuGetProcAddress_v2(name, function, version, flags, nullptr);
}

/// Unlike the driver's, the answer to an unknown name is in `found` alone.
OHM_EXPORTED Status cudaGetDriverEntryPointByVersion(const char* name, Function* function,
                                                     unsigned version, std::uint64_t flags,
                                                     int* found) {
  GpuSystem::of_process().initialize();
  cuGetProcAddress_v2(name, function, static_cast<int>(version), flags, found);
  return Status::success;
}

OHM_EXPORTED Status cudaGetDriverEntryPoint(const char* name, Function* function,
                                            std::uint64_t flags, int* found) {
  return cudaGetDriverEntryPointByVersion(name, function, 0, flags, found);
}
